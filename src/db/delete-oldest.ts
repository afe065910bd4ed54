import type { Tx } from './database.ts'

/**
 * Deletes rows that ended before a moment, at most `max` and the oldest first. Returns how many:
 * the rest is for the next statement, because one that deletes all might never end in time.
 */
export async function deleteOldest(
  tx: Tx,
  table: string,
  endedAt: string,
  before: Date,
  max: number,
): Promise<number> {
  const [row] = await tx.query<{ deleted: number }>({
    text: `with deleted as (
             delete from ${table} where ctid = any (array(
               select ctid from ${table} where ${endedAt} <= $1
               order by ${endedAt} limit $2 for update skip locked))
             returning company_id
           )
           select count(*) as deleted from deleted`,
    values: [before, max],
  })
  return row!.deleted
}
