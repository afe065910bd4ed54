import type { ControlTx, Tx } from '../../db/database.ts'
import { newId, timeOf, type Uuid } from '../../lib/ids.ts'
import { type Author, type Change, type Entry, INSTALLATION } from './rules.ts'
import { insertEntries } from './store.ts'

export function entryOf(companyId: Uuid, author: Author, change: Change): Entry {
  const id = newId()
  const { action, record = null, details = null } = change
  return { companyId, id, at: timeOf(id), author, action, record, details }
}

/**
 * Adds an entry to the activity log of a company. Call it in the transaction of the change, so that
 * there is no change without its entry. Operations of the API, from a key or from a page by
 * `visit.operate`, have their entries already. Pages call `visit.record(tx, …)` instead.
 */
export const recordActivity = (
  tx: Tx,
  companyId: Uuid,
  author: Author,
  change: Change,
): Promise<void> => tx.beforeCommit(insertEntries, [entryOf(companyId, author, change)])

/** Adds an entry about whoever operates or signs in to the log that operators see. */
export const recordForInstallation = (
  control: ControlTx,
  author: Author,
  change: Change,
): Promise<void> => insertEntries(control, [entryOf(INSTALLATION, author, change)])

/** Adds the same entry to several companies, for a change of a person who belongs to them. */
export async function recordInCompanies(
  tx: Tx,
  companyIds: Uuid[],
  author: Author,
  change: Change,
): Promise<void> {
  if (companyIds.length === 0) return
  await insertEntries(
    tx,
    companyIds.map((companyId) => entryOf(companyId, author, change)),
  )
}
