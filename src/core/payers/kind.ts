import type { ControlTx, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Survey } from './survey.ts'

/** An erasure in one company, or a look at what it would erase. */
export type Job = {
  db: Tx
  control: ControlTx
  vault: Vault
  companyId: Uuid
  /** Null: nothing is erased. */
  erasureId: Uuid | null
  /** Whether it is for all companies, which share some counts of mails. */
  isEverywhere: boolean
  survey: Survey
  now: Date
}

/**
 * A kind of data that may tell who a payer is: all places of the schema where it is kept, and how
 * it is found and erased. Nothing else in the schema does: a test asks that of every column.
 */
export type Kind = {
  name: string
  /** The columns that may have such data, or lead to it. */
  columns: Record<string, readonly string[]>
  /** Counts what there is of the payer, and erases it if the job says so. It can be repeated. */
  run(job: Job): Promise<number>
}

/** Runs a statement that returns the keys of what it finds, or of what it has changed. */
export async function change(
  job: Job,
  { find, erase }: { find: string; erase: string },
  values: unknown[],
): Promise<number> {
  const text = job.erasureId === null ? find : erase
  return (await job.db.query({ text, values })).length
}

/** Deletes rows of a table by their ids, if the job erases. */
export async function removeIds(
  { db, companyId, erasureId }: Job,
  table: 'notes' | 'bank_callbacks' | 'saved_views',
  rows: { id: Uuid }[],
): Promise<void> {
  if (erasureId === null || rows.length === 0) return
  await db.query({
    text: `delete from ${table} where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, rows.map(({ id }) => id)],
  })
}
