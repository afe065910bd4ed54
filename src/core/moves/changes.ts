import type pg from 'pg'
import type { Uuid } from '../../lib/ids.ts'
import type { Table } from '../company-tables/tables.ts'
import { copyKeys, type Ends, type Key } from './copy.ts'
import { requireSameRows } from './verify.ts'

/** Copies what has changed since it was copied, until little is left. */
export async function catchUp(ends: Ends, companyId: Uuid): Promise<void> {
  const ENOUGH = 200
  for (let round = 0; round < 1_000; round += 1) {
    const changes = await readChanges(ends, companyId)
    await inTransaction(ends.target, () => copyChanges(ends, companyId, changes))
    await forgetChanges(ends, companyId, changes)
    if (changes.length <= ENOUGH) return
  }
}

/** Copies what has changed at the moment of the transaction in the old place, which only reads. */
export async function copyAt(ends: Ends, companyId: Uuid): Promise<void> {
  for (let after = 0; ; ) {
    const changes = await readChanges(ends, companyId, after)
    if (changes.length === 0) return
    await inTransaction(ends.target, () => copyChanges(ends, companyId, changes))
    after = changes.at(-1)!.id
  }
}

/** Copies the rest while writers are locked out, and compares it. */
export async function copyRest(
  ends: Ends,
  companyId: Uuid,
  inTime: () => Promise<void>,
): Promise<void> {
  for (;;) {
    await inTime()
    const changes = await readChanges(ends, companyId)
    if (changes.length === 0) return
    const byTable = await copyChanges(ends, companyId, changes)
    for (const [table, keys] of byTable) {
      // Logs are written all the time, and copied once more.
      if (table.kind === 'bulk') await requireSameRows(ends, table, companyId, keys)
    }
    await forgetChanges(ends, companyId, changes)
  }
}

type Change = { id: number; name: string; key: Key }

async function readChanges({ source }: Ends, companyId: Uuid, after = 0): Promise<Change[]> {
  const { rows } = await source.query<Change>(
    `select id, table_name as name, key from company_changes
     where company_id = $1 and id > $2 order by id limit 5000`,
    [companyId, after],
  )
  return rows
}

async function copyChanges({ source, target, tables }: Ends, companyId: Uuid, changes: Change[]) {
  const byName = Map.groupBy(changes, ({ name }) => name)
  const byTable = new Map<Table, Key[]>()
  for (const table of tables.filter(({ kind }) => kind !== 'late')) {
    const keys = byName.get(table.name)?.map(({ key }) => key) ?? []
    byTable.set(table, keys)
    await copyKeys(source, target, table, companyId, keys)
  }
  return byTable
}

/** Those that were written meanwhile stay. If the mover is killed before this, all of them do. */
async function forgetChanges({ source }: Ends, companyId: Uuid, changes: Change[]): Promise<void> {
  if (changes.length === 0) return
  await source.query(
    'delete from company_changes where company_id = $1 and id = any ($2::bigint[])',
    [companyId, changes.map(({ id }) => id)],
  )
}

async function inTransaction(client: pg.Client, act: () => Promise<unknown>): Promise<void> {
  await client.query('begin')
  try {
    await act()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
