import type pg from 'pg'
import type { Uuid } from '../../lib/ids.ts'
import type { Table } from './tables.ts'

/** The class of the advisory locks of whoever moves or removes a company. */
const MOVER = 1986618990

/** Lets the connection remove what nobody else may: rows of companies that are left behind. */
export const LEFT_BEHIND = `set vintem.mover = 'on'`

/** Takes the company for as long as the connection lives; false if another has it. */
export async function lockCompany(client: pg.ClientBase, companyId: Uuid): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'select pg_try_advisory_lock($1, hashtext($2)) as taken',
    [MOVER, companyId],
  )
  return rows[0]!.taken
}

/** Rows of one statement. */
const BATCH = 2_000

/** Deletes the rows of a company, batch by batch. */
export async function removeRows(
  client: pg.ClientBase,
  table: Table,
  companyId: Uuid,
): Promise<void> {
  const { name, company, key } = table
  const columns = key.map(({ column }) => column).join(', ')
  const same = key.map(({ column }) => `t.${column} = d.${column}`).join(' and ')
  for (let deleted = BATCH; deleted === BATCH; ) {
    const result = await client.query(
      key.length === 0
        ? `delete from ${name} where ${company} = $1`
        : `with d as (select ${columns} from ${name} where ${company} = $1 limit ${BATCH})
           delete from ${name} t using d where t.${company} = $1 and ${same}`,
      [companyId],
    )
    deleted = result.rowCount ?? 0
  }
}

/** By these it is known that the company may be removed. They go last, and together. */
const LAST = ['sandboxes', 'companies']

/**
 * Removes a company with all its rows. What plans work for it goes first, so that no task begins
 * with half of it.
 */
export async function removeCompany(
  client: pg.ClientBase,
  tables: Table[],
  companyId: Uuid,
): Promise<void> {
  const plans = tables.filter(({ kind, isReferenced }) => kind === 'late' && !isReferenced)
  for (const table of [...plans, ...tables.toReversed()]) {
    if (!LAST.includes(table.name)) await removeRows(client, table, companyId)
  }
  for (const name of ['setbacks', 'webhook_leases', 'followed_feeds']) {
    await client.query(`delete from ${name} where company_id = $1`, [companyId])
  }
  await client.query('begin')
  await client.query('delete from sandboxes where company_id = $1', [companyId])
  await client.query('delete from companies where id = $1', [companyId])
  await client.query('commit')
}
