import type { Row, Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { clockFilter, hasNoClock, isDueByClock, NOW, valuesOf } from './clocks/own-time.ts'

/** A table whose due rows workers claim. In the SQL of these fields `d` is the due row. */
type Claimable = {
  table: string
  /** The column that, with the company, identifies a row. */
  key: string
  /** The column that says when a row is due. A claim moves it to the end of the lease. */
  dueAt: string
  /** Which rows can be claimed. */
  where: string
  /** Rows for which this is true come after all others. */
  last?: string
  /** An expression over the row as it is before the claim, and its name in the result. */
  before?: string
  /** What a claim writes beside the end of the lease. `claimed.now` is the company's now. */
  set?: string[]
  /** The columns of the result. */
  returning: string
}

export type ClaimRequest = {
  /** Real time. A company with a clock of its own is compared with that clock. */
  now: Date
  lease_s: number
  max: number
  /** If a company is named, only its rows are claimed: its clock is being moved. */
  only: Uuid | null
  /** Companies of which no row is claimed. */
  except: Uuid[]
}

/** The due rows of companies without a clock of their own. */
const dueInRealTime = ({ table, dueAt, where, ...claimable }: Claimable): string =>
  `select ${columnsOf(claimable)}, $1::timestamptz as now from ${table} d
   where ${where} and d.${dueAt} <= $1 and ${hasNoClock('d')} and d.company_id <> all ($4::uuid[])
   order by ${orderOf(dueAt, claimable)} limit $3 for update of d skip locked`

const dueByClock = ({ table, dueAt, where, ...claimable }: Claimable, only: Uuid | null): string =>
  `select ${columnsOf(claimable)}, ${NOW} as now
   from test_clocks t join ${table} d on d.company_id = t.company_id
     and ${where} and ${isDueByClock(`d.${dueAt}`)}
   where ${clockFilter(only, '$5')} and t.company_id <> all ($4::uuid[])
   order by ${orderOf(dueAt, claimable)} limit $3 for update of d skip locked`

const columnsOf = ({ key, before }: Pick<Claimable, 'key' | 'before'>): string =>
  `d.company_id, d.${key}${before ? `, ${before}` : ''}`

const orderOf = (dueAt: string, { last }: Pick<Claimable, 'last'>): string =>
  `${last ? `${last}, ` : ''}d.${dueAt}`

/**
 * Claims due rows: until the lease ends, no other worker does. Rows that another worker is claiming
 * at this moment are left to it.
 */
export function claimRows<R extends Row>(
  tx: Tx,
  claimable: Claimable,
  { now, lease_s, max, only, except }: ClaimRequest,
): Promise<R[]> {
  const { table, key, dueAt, set = [], returning } = claimable
  const parts = [...(only === null ? [dueInRealTime(claimable)] : []), dueByClock(claimable, only)]
  const changes = [`${dueAt} = claimed.until`, ...set]
  const found = parts.map((_, i) => `select * from part${i}`).join(' union all ')
  return tx.query<R>({
    name: `claim_${table}${only === null ? '' : '_of_one'}`,
    text: `with ${parts.map((part, i) => `part${i} as (${part})`).join(', ')},
           claimed as (select f.*, f.now + $2::int8 * interval '1 second' as until from (${found}) f)
           update ${table} d set ${changes.join(', ')}
           from claimed where d.company_id = claimed.company_id and d.${key} = claimed.${key}
           returning ${returning}`,
    values: [now, lease_s, max, except, ...valuesOf(only)],
  })
}
