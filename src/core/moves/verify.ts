import { txOn } from '../../db/database.ts'
import { prove } from '../../ledger/audit.ts'
import type { Uuid } from '../../lib/ids.ts'
import { OperatorFault } from '../../lib/operator-fault.ts'
import type { Table } from '../company-tables/tables.ts'
import {
  copyKeys,
  countRows,
  digestKeys,
  digestTable,
  type Ends,
  type Key,
  readKeys,
} from './copy.ts'

/** Old rows may be deleted in the new place while it is compared. */
const REPAIRS = 3

/**
 * Compares the copy with one moment of the old place, while the company works there. That takes as
 * long as the company is large. `catchUp` is called at that moment, and copies what has changed
 * before. Returns the last entry of the books that was compared.
 */
export async function verifyCopy(
  ends: Ends,
  companyId: Uuid,
  catchUp: () => Promise<void>,
): Promise<number> {
  const { source, target, tables } = ends
  await source.query('begin isolation level repeatable read, read only')
  // To count in the other place may take longer than a transaction may otherwise be idle.
  await source.query('set local idle_in_transaction_session_timeout = 0')
  try {
    await catchUp()
    await compareCounts(
      ends,
      tables.filter(({ kind }) => kind === 'bulk'),
      companyId,
    )
    const { entries, faults } = await prove(txOn(source), companyId, 0)
    requireNone(faults)
    const [ours, theirs] = await Promise.all([
      digestTable(source, postingsOf(tables), companyId),
      digestTable(target, postingsOf(tables), companyId),
    ])
    if (ours !== theirs) throw new OperatorFault('The copied books differ. Nothing was changed.')
    return entries
  } finally {
    await source.query('rollback')
  }
}

const postingsOf = (tables: Table[]): Table => tables.find(({ name }) => name === 'postings')!

function requireNone(faults: string[]): void {
  if (faults.length === 0) return
  throw new OperatorFault(
    `The books do not agree (${faults.join('; ')}). Nothing was changed: see "vintem ledger audit".`,
  )
}

/** Both places must have the same number of rows of each table. */
async function compareCounts(ends: Ends, compared: Table[], companyId: Uuid): Promise<void> {
  const { source, target } = ends
  const ours = await countRows(source, compared, companyId)
  for (let repairs = 0; ; repairs += 1) {
    const theirs = await countRows(target, compared, companyId)
    const differing = compared.filter(({ name }) => ours.get(name) !== theirs.get(name))
    if (differing.length === 0) return
    if (repairs >= REPAIRS) {
      const names = differing.map(({ name }) => `${name}: ${ours.get(name)}, ${theirs.get(name)}`)
      throw new OperatorFault(`The copies differ (${names.join('; ')}). Nothing was changed.`)
    }
    for (const table of differing) await copyMissing(ends, table, companyId)
  }
}

/** Copies rows that only one of the places has. */
async function copyMissing({ source, target }: Ends, table: Table, companyId: Uuid): Promise<void> {
  const [own, copied] = await Promise.all([
    readKeys(source, table, companyId),
    readKeys(target, table, companyId),
  ])
  const apart = [...own, ...copied].filter(([name]) => own.has(name) !== copied.has(name))
  await copyKeys(
    source,
    target,
    table,
    companyId,
    apart.map(([, key]) => key),
  )
}

/** These rows must be the same in both places. Writers are locked out. */
export async function requireSameRows(
  { source, target }: Ends,
  table: Table,
  companyId: Uuid,
  keys: Key[],
): Promise<void> {
  if (keys.length === 0) return
  const [ours, theirs] = await Promise.all([
    digestKeys(source, table, companyId, keys),
    digestKeys(target, table, companyId, keys),
  ])
  requireSame(table, ours, theirs)
}

/** So must all rows of the tables that were copied last, and the books after an entry agree. */
export async function requireSameEnd(
  { source, target }: Ends,
  late: Table[],
  companyId: Uuid,
  since: number,
): Promise<void> {
  for (const table of late) {
    const [ours, theirs] = await Promise.all([
      digestTable(source, table, companyId),
      digestTable(target, table, companyId),
    ])
    requireSame(table, ours, theirs)
  }
  const { faults } = await prove(txOn(target), companyId, since)
  requireNone(faults)
}

function requireSame({ name }: Table, ours: string, theirs: string): void {
  if (ours === theirs) return
  throw new OperatorFault(`The copies of ${name} differ. Nothing was changed.`)
}
