import type { Tx } from '../db/database.ts'
import { idsFrom, type Prefix, toPublic, type Uuid } from '../lib/ids.ts'

/** The tables of records that have public ids. */
const TABLES: Record<Prefix, string> = {
  charge: 'charges',
  clnt: 'customers',
  dispute: 'disputes',
  evt: 'events',
  link: 'links',
  plan: 'charge_plans',
  prod: 'products',
  qrs: 'static_codes',
  rcpt: 'recipients',
  rec: 'recurrences',
  rfnd: 'refunds',
  wd: 'withdrawals',
}

/** A record by its public id. */
export type FoundId = { prefix: Prefix; id: Uuid; text: string }

const PUBLIC_ID = /^([a-z]+)_([0-9a-z]{4,26})$/i

const isPrefix = (text: string): text is Prefix => Object.hasOwn(TABLES, text)

/** Records whose public id begins with a text, newest first. Four characters are enough. */
export async function findByPublicId(
  tx: Tx,
  companyId: Uuid,
  text: string,
  limit: number,
): Promise<FoundId[]> {
  const [, prefix, start] = PUBLIC_ID.exec(text.toLowerCase()) ?? []
  const ids = start === undefined ? null : idsFrom(start)
  if (!prefix || !isPrefix(prefix) || !ids) return []
  const rows = await tx.query<{ id: Uuid }>({
    text: `select id from ${TABLES[prefix]} where company_id = $1 and id between $2 and $3
           order by id desc limit $4`,
    values: [companyId, ids.from, ids.to, limit],
  })
  return rows.map(({ id }) => ({ prefix, id, text: toPublic(prefix, id) }))
}
