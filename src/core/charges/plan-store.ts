import { bytes } from '../../db/arrays.ts'
import { companyTableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Plan } from './plan-rules.ts'

const PLAN = companyTableOf<Plan>('charge_plans', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  total: ['total', 'cents'],
  chargeIds: ['charge_ids', 'uuids'],
  devMode: ['dev_mode', 'bool'],
  externalId: ['external_id', 'text'],
  description: ['description', 'text'],
  fingerprint: ['fingerprint', 'bytea'],
  createdAt: ['created_at', 'timestamptz'],
})

export const { find, list } = PLAN

const INSERT = PLAN.insertInto('charge_plans')

export async function insert(tx: Tx, plan: Plan): Promise<void> {
  await tx.query({ text: INSERT, values: PLAN.values([plan]) })
}

/** A request by all forms of its fingerprint. */
type PlanRequest = { companyId: Uuid; externalId: string; fingerprints: Buffer[] }

/** The plan that the same request has made before. */
export async function findByRequest(tx: Tx, request: PlanRequest): Promise<Plan | null> {
  const rows = await tx.query({
    text: `select * from charge_plans
           where company_id = $1 and external_id = $2 and fingerprint = any ($3::bytea[])`,
    values: [request.companyId, request.externalId, bytes(request.fingerprints)],
  })
  return rows[0] ? PLAN.read(rows[0]) : null
}

/** Lets the same request make another plan. */
export async function forgetRequest(tx: Tx, { companyId, id }: Plan): Promise<void> {
  await tx.query({
    text: 'update charge_plans set fingerprint = null where company_id = $1 and id = $2',
    values: [companyId, id],
  })
}
