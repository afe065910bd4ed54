import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** Companies whose next event would not come after all that there are. */
export async function findStaleFeeds(tx: Tx): Promise<string[]> {
  const rows = await tx.query<Row & { company: Uuid; table: string }>({
    text: `select distinct company, "table" from (
             select e.company_id as company, 'events' as "table" from events e
             left join feeds f on f.company_id = e.company_id
             where e.position > coalesce(f.last, 0)
             union all
             select r.company_id, 'redeliveries' from redeliveries r
             left join feeds f on f.company_id = r.company_id
             where r.position > coalesce(f.last, 0)) found`,
  })
  return rows.map(
    ({ company, table }) => `the feed of ${company} would not go on after its ${table}`,
  )
}
