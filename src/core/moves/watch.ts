import type pg from 'pg'
import type { Uuid } from '../../lib/ids.ts'
import type { Table } from '../company-tables/tables.ts'

/** How often a table is tried to be locked while others use it, and for how long each time. */
const TRIES = 60
const LOCK_MS = 500

const nameOf = (companyId: Uuid): string => `moving_${companyId.replaceAll('-', '')}`

/**
 * Creates triggers that note which rows of a company change, and that refuse changes where it does
 * not live. Others wait for a moment at most, because each table is locked on its own and briefly.
 */
export async function watchCompany(
  client: pg.ClientBase,
  tables: Table[],
  companyId: Uuid,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select tgrelid::regclass::text as name from pg_trigger where tgname = $1`,
    [nameOf(companyId)],
  )
  const watched = new Set(rows.map(({ name }) => name))
  for (const table of tables) {
    if (!watched.has(table.name)) await patiently(client, () => create(client, table, companyId))
  }
}

async function create(client: pg.ClientBase, table: Table, companyId: Uuid): Promise<void> {
  const { name, company, key, kind } = table
  const columns = key.map(({ column }) => `, '${column}'`).join('')
  const act = kind === 'log' ? 'note_moving_log' : 'watch_moving_company'
  const trigger = (suffix: string, events: string, row: string) =>
    `create trigger ${nameOf(companyId)}${suffix} after ${events} on ${name} for each row
     when (${row}.${company} = '${companyId}')
     execute function ${act}('${companyId}', '${name}'${columns})`
  await client.query(trigger('', kind === 'log' ? 'insert' : 'insert or update', 'new'))
  if (kind !== 'log') await client.query(trigger('_d', 'delete', 'old'))
}

/** Removes the triggers. */
export async function unwatchCompany(client: pg.ClientBase, companyId: Uuid): Promise<void> {
  const { rows } = await client.query<{ name: string; trigger: string }>(
    `select tgrelid::regclass::text as name, tgname as trigger from pg_trigger
     where tgname in ($1, $2) and tgparentid = 0`,
    [nameOf(companyId), `${nameOf(companyId)}_d`],
  )
  for (const { name, trigger } of rows) {
    await patiently(client, () => client.query(`drop trigger if exists ${trigger} on ${name}`))
  }
}

/** Tries until the table is free, so that nobody waits for long behind this. */
async function patiently(client: pg.ClientBase, act: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await client.query('begin')
      await client.query(`set local lock_timeout = ${LOCK_MS}`)
      await act()
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback')
      const isBusy = ['55P03', '40P01'].includes((error as { code?: string }).code ?? '')
      if (!isBusy || tries >= TRIES) throw error
      await client.query('select pg_sleep(0.2)')
    }
  }
}
