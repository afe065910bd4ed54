import type { Row, Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { type Balance, EMPTY } from './books.ts'
import { BOOKS } from './columns.ts'
import { ACCOUNTS } from './recipes.ts'
import { balancesAt } from './statement.ts'

/** The result of checking the books: the balance, and all differences that were found. */
export type Proof = {
  entries: number
  balance: Balance
  faults: string[]
}

type SumRow = Row & Balance & { count: number; broken: number | null }

/** SQL: what postings add to an account. */
const gain = (account: string) =>
  `coalesce(sum(amount) filter (where credit = '${account}'), 0)
   - coalesce(sum(amount) filter (where debit = '${account}'), 0)`

/**
 * SQL: whether a posting's balance differs from the one before it plus its own effect. It is null
 * if one of both is of the version before, which did not know the account.
 */
const breaks = (account: string) =>
  `${account} <> lag(${account}, 1, 0::int8) over w
     + case when credit = '${account}' then amount else 0 end
     - case when debit = '${account}' then amount else 0 end`

/**
 * Checks the balance of a company against its postings after an entry that was checked before, or
 * against all if that is 0. They are numbered without a gap, each balance follows from the one
 * before it, and their sum is the balance. It only reads. What it is compared with must be read in
 * the same snapshot.
 */
export async function prove(tx: Tx, companyId: Uuid, since: number): Promise<Proof> {
  const [row] = await tx.query({
    text: `select ${BOOKS.names} from balances where company_id = $1`,
    values: [companyId],
  })
  if (!row) return { ...EMPTY, faults: ['the company has no balance'] }
  const { entries, balance } = BOOKS.read(row)
  const before = (await balancesAt(tx, companyId, [since])).get(since)!
  const sums = await sumSince(tx, companyId, since)
  const faults = ACCOUNTS.filter(
    (account) => balance[account] !== before[account] + Number(sums[account]),
  ).map(
    (account) =>
      `${account} is ${balance[account]}, its postings make ${before[account] + Number(sums[account])}`,
  )
  if (sums.count !== entries - since)
    faults.push(`${entries} entries are not ${since + sums.count}`)
  if (sums.broken !== null) faults.push(`entry ${sums.broken} does not follow from the one before`)
  return { entries, balance, faults }
}

async function sumSince(tx: Tx, companyId: Uuid, since: number): Promise<SumRow> {
  const [row] = await tx.query<SumRow>({
    text: `with numbered as (
             select *, entry <> coalesce(lag(entry) over w, 0) + 1
               or ${ACCOUNTS.map(breaks).join(' or ')} as broken
             from postings where company_id = $1 and entry >= $2
             window w as (order by entry)
           )
           select count(*) as count, ${ACCOUNTS.map((account) => `${gain(account)} as ${account}`).join(', ')},
             min(entry) filter (where broken) as broken
           from numbered where entry > $2`,
    values: [companyId, since],
  })
  return row!
}

/** Companies with new postings, with a difference, or last audited before a moment. */
export async function findUnaudited(
  tx: Tx,
  auditedBefore: Date,
  max: number,
  except: Uuid[],
): Promise<Uuid[]> {
  const rows = await tx.query<{ company_id: Uuid }>({
    text: `select b.company_id from balances b left join audits a using (company_id)
           where (a.company_id is null or b.entries <> a.checked_entry
               or a.difference is not null or a.audited_at <= $1)
             and b.company_id <> all ($3::uuid[])
           order by a.audited_at nulls first limit $2`,
    values: [auditedBefore, max, except],
  })
  return rows.map(({ company_id }) => company_id)
}
