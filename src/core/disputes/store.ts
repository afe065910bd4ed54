import { uuids } from '../../db/arrays.ts'
import { companyTableOf, type Part, tableOf } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Source } from '../../provider/port.ts'
import { claimDue, type DueKind, type DueRequest } from '../due.ts'
import type { Claim } from '../orders.ts'
import { TASK } from '../tasks.ts'
import type { Dispute, DisputeState } from './rules.ts'

const DISPUTE = companyTableOf<Dispute>('disputes', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  bankId: ['bank_id', 'text'],
  endToEndId: ['end_to_end_id', 'text'],
  paymentSource: ['payment_source', 'text'],
  chargeId: ['charge_id', 'uuid'],
  amount: ['amount', 'cents'],
  reason: ['reason', 'text'],
  status: ['status', 'text'],
  heldFrom: ['held_from', 'text'],
  hold: ['hold', 'cents'],
  held: ['held', 'cents'],
  released: ['released', 'cents'],
  refundId: ['refund_id', 'uuid'],
  deadline: ['deadline', 'timestamptz'],
  noticeAt: ['notice_at', 'timestamptz'],
  defense: ['defense_sealed', 'bytea'],
  defendedAt: ['defended_at', 'timestamptz'],
  sentAt: ['sent_at', 'timestamptz'],
  failure: ['failure', 'text'],
  orderedAt: ['ordered_at', 'timestamptz'],
  attempts: ['attempts', 'int8'],
  nextAttemptAt: ['next_attempt_at', 'timestamptz'],
  openedAt: ['opened_at', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
  closedAt: ['closed_at', 'timestamptz'],
})

/** What identifies a dispute and where it comes from never changes. */
const CHANGING = DISPUTE.without(
  'companyId',
  'id',
  'endToEndId',
  'paymentSource',
  'chargeId',
  'amount',
  'openedAt',
  'createdAt',
)
const UPDATE = `update disputes d set ${CHANGING.assigned('u')}
  from unnest($1::uuid[], $2::uuid[], ${CHANGING.parameters(3)}) u
    (company_id, id, ${CHANGING.names})
  where d.company_id = u.company_id and d.id = u.id`

const SELECT = `select ${DISPUTE.names} from disputes`

export const { find } = DISPUTE

export async function insert(tx: Tx, dispute: Dispute): Promise<void> {
  await tx.query({ text: DISPUTE.insertInto('disputes'), values: DISPUTE.values([dispute]) })
}

export async function update(tx: Tx, dispute: Dispute): Promise<void> {
  const { companyId, id } = dispute
  const values = CHANGING.values([dispute])
  await tx.query({ text: UPDATE, values: [uuids([companyId]), uuids([id]), ...values] })
}

type DisputeFilter = Part & { status: DisputeState | null; chargeId: Uuid | null }

/** The newest first. */
export const list = (tx: Tx, companyId: Uuid, filter: DisputeFilter): Promise<Dispute[]> =>
  DISPUTE.list(tx, companyId, filter)

/** The payments that are disputed, by the id of the dispute. */
export async function findPaymentsOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, string>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<{ id: Uuid; endToEndId: string }>({
    text: `select id, end_to_end_id as "endToEndId" from disputes
           where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return new Map(rows.map(({ id, endToEndId }) => [id, endToEndId]))
}

/**
 * Locks the disputes of a payment, the newest first. The charge and the payment are locked before,
 * so that none is added meanwhile.
 */
export async function lockOfPayment(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  endToEndId: string,
): Promise<Dispute[]> {
  const rows = await tx.query({
    name: 'lock_disputes',
    text: `${SELECT} where company_id = $1 and end_to_end_id = $2 and payment_source = $3
           order by id desc for update`,
    values: [companyId, endToEndId, source],
  })
  return rows.map(DISPUTE.read)
}

/** Disputes by the ids that the bank has given them. */
export async function findByBankIds(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  bankIds: string[],
): Promise<Dispute[]> {
  const rows = await tx.query({
    text: `${SELECT} where company_id = $1 and payment_source = $2 and bank_id = any ($3::text[])`,
    values: [companyId, source, bankIds],
  })
  return rows.map(DISPUTE.read)
}

/** When the oldest dispute was opened that is not over and settled; null if there is none. */
export async function oldestOpen(tx: Tx, companyId: Uuid): Promise<Date | null> {
  const [row] = await tx.query<{ at: Date | null }>({
    text: `select min(opened_at) as at from disputes
           where company_id = $1 and (status in ('OPEN', 'DEFENDED') or held > 0)`,
    values: [companyId],
  })
  return row!.at
}

/** How much of charges is held that was pending: that is not released with them. */
export async function heldFromPending(
  tx: Tx,
  companyId: Uuid,
  chargeIds: Uuid[],
): Promise<Map<Uuid, number>> {
  if (chargeIds.length === 0) return new Map()
  const rows = await tx.query<{ charge_id: Uuid; sum: number }>({
    name: 'held_for_disputes',
    text: `select charge_id, sum(held)::bigint as sum from disputes
           where company_id = $1 and charge_id = any ($2::uuid[]) and held > 0
             and held_from = 'pending'
           group by charge_id`,
    values: [companyId, chargeIds],
  })
  return new Map(rows.map(({ charge_id, sum }) => [charge_id, sum]))
}

/** How much of charges is held for disputes, wherever it was held from. */
export async function heldOfCharges(
  tx: Tx,
  companyId: Uuid,
  chargeIds: Uuid[],
): Promise<Map<Uuid, number>> {
  const rows = await tx.query<{ charge_id: Uuid; sum: number }>({
    text: `select charge_id, sum(held)::bigint as sum from disputes
           where company_id = $1 and charge_id = any ($2::uuid[]) and held > 0
           group by charge_id`,
    values: [companyId, chargeIds],
  })
  return new Map(rows.map(({ charge_id, sum }) => [charge_id, sum]))
}

/** How much of a payment without a charge went back, or is on its way. */
export async function sumOfKept(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  endToEndId: string,
): Promise<number> {
  const [row] = await tx.query<{ sum: number }>({
    text: `select coalesce(sum(amount), 0)::bigint as sum from refunds
           where company_id = $1 and end_to_end_id = $2 and payment_source = $3
             and status <> 'FAILED'`,
    values: [companyId, endToEndId, source],
  })
  return row!.sum
}

/** How many disputes of a company are in each state. They are few. */
export const countByState = (
  tx: Tx,
  companyId: Uuid,
): Promise<{ status: DisputeState; count: number }[]> =>
  tx.query<Row & { status: DisputeState; count: number }>({
    text: `select status, count(*)::int8 as count from disputes
           where company_id = $1 group by status`,
    values: [companyId],
  })

/** How many disputes wait for the company, and how much is held for all that are not over. */
export async function countOpen(
  tx: Tx,
  companyId: Uuid,
): Promise<{ open: number; next: Date | null }> {
  const [row] = await tx.query<{ open: number; next: Date | null }>({
    text: `select count(*)::int as open, min(deadline) as next from disputes
           where company_id = $1 and status = 'OPEN'`,
    values: [companyId],
  })
  return row!
}

/** A file of a defense. */
export type StoredFile = {
  companyId: Uuid
  disputeId: Uuid
  position: number
  type: string
  size: number
  sealed: Buffer
}

const FILE = tableOf<StoredFile>({
  companyId: ['company_id', 'uuid'],
  disputeId: ['dispute_id', 'uuid'],
  position: ['position', 'int8'],
  type: ['type', 'text'],
  size: ['size', 'int8'],
  sealed: ['sealed', 'bytea'],
})

/** Replaces the files of a dispute, because a defense that the bank refused is sent anew. */
export async function saveFiles(
  tx: Tx,
  { companyId, id }: Dispute,
  files: StoredFile[],
): Promise<void> {
  await tx.query({
    text: 'delete from dispute_files where company_id = $1 and dispute_id = $2',
    values: [companyId, id],
  })
  if (files.length === 0) return
  await tx.query({ text: FILE.insertInto('dispute_files'), values: FILE.values(files) })
}

/** The files of disputes without their contents. */
export async function listFiles(
  tx: Tx,
  companyId: Uuid,
  disputeIds: Uuid[],
): Promise<Omit<StoredFile, 'sealed'>[]> {
  if (disputeIds.length === 0) return []
  return tx.query({
    text: `select company_id as "companyId", dispute_id as "disputeId", position, type, size
           from dispute_files where company_id = $1 and dispute_id = any ($2::uuid[])
           order by dispute_id, position`,
    values: [companyId, disputeIds],
  })
}

export async function findFile(
  tx: Tx,
  companyId: Uuid,
  disputeId: Uuid,
  position: number,
): Promise<StoredFile | null> {
  const [row] = await tx.query({
    text: `select ${FILE.names} from dispute_files
           where company_id = $1 and dispute_id = $2 and position = $3`,
    values: [companyId, disputeId, position],
  })
  return row ? FILE.read(row) : null
}

/** Erases texts and files of so many defenses of disputes that were closed. Returns how many. */
export async function eraseOldDefenses(tx: Tx, before: Date, max: number): Promise<number> {
  const rows = await tx.query({
    text: `with old as (
             select company_id, id from disputes
             where defense_sealed is not null and closed_at <= $1
             order by closed_at limit $2 for update skip locked
           ), files as (
             delete from dispute_files f using old
             where f.company_id = old.company_id and f.dispute_id = old.id
           )
           update disputes d set defense_sealed = null from old
           where d.company_id = old.company_id and d.id = old.id returning d.id`,
    values: [before, max],
  })
  return rows.length
}

/** Open disputes whose deadline is to be told of. */
export const NOTICES: DueKind = {
  name: 'deadlines of disputes',
  table: 'disputes',
  key: 'id',
  dueAt: 'notice_at',
  where: 'd.notice_at is not null',
}

/** Defenses that a bank gets, or is asked about. */
export const DEFENSES: DueKind = {
  name: TASK.defenses,
  table: 'disputes',
  key: 'id',
  dueAt: 'next_attempt_at',
  where: 'd.next_attempt_at is not null',
  before: 'd.ordered_at is not null as ordered_before',
  set: ['attempts = attempts + 1', 'ordered_at = coalesce(d.ordered_at, f.now)'],
}

export async function claimDefenses(tx: Tx, request: DueRequest): Promise<Claim<Dispute>[]> {
  const returning = 'd.*, f.ordered_before'
  const rows = await claimDue<{ ordered_before: boolean }>(tx, DEFENSES, request, returning)
  return rows.map((row) => {
    const order = DISPUTE.read(row)
    return { companyId: order.companyId, order, orderedBefore: row.ordered_before }
  })
}

/** Ends the lease of a defense until its next attempt, unless another worker has claimed it. */
export async function postpone(tx: Tx, dispute: Dispute, until: Date): Promise<void> {
  const { companyId, id, attempts } = dispute
  await tx.query({
    text: `update disputes set next_attempt_at = $4
           where company_id = $1 and id = $2 and attempts = $3 and next_attempt_at is not null`,
    values: [companyId, id, attempts, until],
  })
}
