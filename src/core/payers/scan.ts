import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** What is read of a table of companies, row by row. */
export type Scanned = {
  table: string
  /** The primary key after the company, with its types. */
  key: readonly (readonly [name: string, type: string])[]
  columns: string
  where?: string
  /** Parameters of the columns, from $2 on. */
  values?: unknown[]
}

const PAGE = 1000

/**
 * Reads all rows of one company in pages, by the primary key. It is for what no index can find, as
 * what is sealed, or a text that says anything: each page costs the same, however many there are.
 */
export async function* scan<R extends Row>(
  tx: Tx,
  companyId: Uuid,
  { table, key, columns, where = 'true', values = [] }: Scanned,
): AsyncGenerator<R[]> {
  const names = key.map(([name]) => name).join(', ')
  let after: unknown[] = []
  for (;;) {
    const first = values.length + 2
    const bounds = key.map(([, type], i) => `$${first + i}::${type}`).join(', ')
    const follows = after.length > 0 ? `and (${names}) > (${bounds})` : ''
    const rows = await tx.query<R>({
      text: `select ${names}, ${columns} from ${table}
             where company_id = $1 and ${where} ${follows} order by ${names} limit ${PAGE}`,
      values: [companyId, ...values, ...after],
    })
    yield rows
    if (rows.length < PAGE) return
    after = key.map(([name]) => rows.at(-1)![name])
  }
}
