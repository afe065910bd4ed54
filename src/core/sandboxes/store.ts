import type { ControlTx, Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** A sandbox company that another company has made. */
export type Sandbox = { companyId: Uuid; madeBy: Uuid; expiresAt: Date }

export async function insert(tx: Tx, { companyId, madeBy, expiresAt }: Sandbox): Promise<void> {
  await tx.query({
    text: 'insert into sandboxes (company_id, made_by, expires_at) values ($1, $2, $3)',
    values: [companyId, madeBy, expiresAt],
  })
}

export async function find(
  tx: Tx,
  companyId: Uuid,
  lock: 'for update' | '' = '',
): Promise<Sandbox | null> {
  const [row] = await tx.query<Row & Sandbox>({
    text: `select company_id as "companyId", made_by as "madeBy", expires_at as "expiresAt"
           from sandboxes where company_id = $1 ${lock}`,
    values: [companyId],
  })
  return row ?? null
}

/** How many of a company, which is locked, are not removed, and when the first of them ends. */
export async function countOf(
  tx: Tx,
  madeBy: Uuid,
): Promise<{ count: number; first: Date | null }> {
  const [row] = await tx.query<Row & { count: number; first: Date | null }>({
    text: `select count(*)::int as count, min(expires_at) as first from sandboxes
           where made_by = $1`,
    values: [madeBy],
  })
  return row!
}

/** Companies that are being moved are left alone. */
const IN_PLACE = 'not exists (select from company_moves m where m.company_id = s.company_id)'

/** Those of a company whose keys work. */
export async function listOf(tx: Tx, madeBy: Uuid): Promise<Uuid[]> {
  const rows = await tx.query<{ companyId: Uuid }>({
    text: `select company_id as "companyId" from sandboxes s
           where made_by = $1 and ended_at is null and ${IN_PLACE} order by company_id`,
    values: [madeBy],
  })
  return rows.map(({ companyId }) => companyId)
}

export async function expire(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: 'update sandboxes set expires_at = $2 where company_id = $1',
    values: [companyId, now],
  })
}

/** Those whose time is over and whose keys work, without those that were tried already. */
export async function listExpired(
  tx: Tx,
  now: Date,
  tried: Uuid[],
  limit: number,
): Promise<Uuid[]> {
  const rows = await tx.query<{ companyId: Uuid }>({
    text: `select company_id as "companyId" from sandboxes s
           where expires_at <= $1 and ended_at is null and ${IN_PLACE}
             and company_id <> all ($2::uuid[]) order by expires_at limit $3`,
    values: [now, tried, limit],
  })
  return rows.map(({ companyId }) => companyId)
}

/** From now on its rows may be removed. */
export async function end(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: 'update sandboxes set ended_at = $2 where company_id = $1',
    values: [companyId, now],
  })
}

/** Those that have ended by then, without those that were tried already. */
export async function listEnded(
  tx: Tx,
  before: Date,
  tried: Uuid[],
  limit: number,
): Promise<Uuid[]> {
  const rows = await tx.query<{ companyId: Uuid }>({
    text: `select company_id as "companyId" from sandboxes
           where expires_at <= $1 and ended_at <= $1
             and company_id <> all ($2::uuid[]) order by expires_at limit $3`,
    values: [before, tried, limit],
  })
  return rows.map(({ companyId }) => companyId)
}

/** Nobody is a member of a sandbox by itself, but an operator can invite somebody. */
export async function removeMembers(tx: ControlTx, companyId: Uuid): Promise<void> {
  for (const table of ['person_links', 'memberships']) {
    await tx.query({ text: `delete from ${table} where company_id = $1`, values: [companyId] })
  }
}
