import { bytes, timestamps, uuids } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Charge } from './rules.ts'
import { CHARGE } from './store.ts'

/**
 * A payer by the index of their tax id, as charges and as customers have it, and when they have
 * paid something. Both are the same, except while a secret is replaced.
 */
export type PaidBy = {
  companyId: Uuid
  payerIndex: Buffer
  customerIndex: Buffer
  receivedAt: Date
}

/** What tells whether a charge is the one that a payment is for. */
export type Payable = Pick<Charge, 'id' | 'amount' | 'due' | 'devMode'>

/**
 * So many charges of a payer are looked at, and so many customers with their tax id. If there are
 * more, nobody can say that one of the charges is the only one.
 */
const MAX_OF_PAYER = 500

/**
 * For each payment the charges of its payer that could be paid when it arrived, also those that
 * another payment has paid since. None if there are too many of the payer. A charge of a
 * subscription is left out, because the payer's bank collects it. Takes no locks.
 */
export async function findPayable(tx: Tx, wanted: PaidBy[]): Promise<Payable[][]> {
  const rows = await tx.query<Payable & { position: number; dev_mode: boolean }>({
    name: 'find_payable_of_payers',
    text: `select k.position::int, c.id, c.amount, c.due, c.dev_mode
           from unnest($1::uuid[], $2::bytea[], $3::timestamptz[], $4::bytea[]) with ordinality
             k (company_id, payer_index, received_at, customer_index, position)
           cross join lateral (
             select f.*, count(*) over () as seen from (
               select n.*, p.same from (
                 select q.id, count(*) over () as same from (
                   select u.id from customers u
                   where u.company_id = k.company_id and u.tax_id_index = k.customer_index
                   union
                   select f.customer_id from former_tax_ids f
                   where f.company_id = k.company_id and f.tax_id_index = k.customer_index
                   limit ${MAX_OF_PAYER + 1}) q) p
               cross join lateral (
                 select o.id, o.kind, o.status, o.amount, o.due, o.dev_mode, o.payer_index,
                   o.created_at, o.expires_at, o.payment_date
                 from charges o where o.company_id = k.company_id and o.customer_id = p.id
                 order by o.id desc limit ${MAX_OF_PAYER + 1}) n
               limit ${MAX_OF_PAYER + 1}) f) c
           where c.seen <= ${MAX_OF_PAYER} and c.same <= ${MAX_OF_PAYER}
             and c.payer_index = k.payer_index and c.kind <> 'RECURRING'
             and (c.status in ('OPEN', 'EXPIRED')
               or c.status = 'COMPLETED' and c.payment_date > k.received_at)
             and c.created_at <= k.received_at and c.expires_at >= k.received_at`,
    values: [
      uuids(wanted.map(({ companyId }) => companyId)),
      bytes(wanted.map(({ payerIndex }) => payerIndex)),
      timestamps(wanted.map(({ receivedAt }) => receivedAt)),
      bytes(wanted.map(({ customerIndex }) => customerIndex)),
    ],
  })
  const found = wanted.map((): Payable[] => [])
  for (const { position, dev_mode: devMode, ...charge } of rows) {
    found[position - 1]!.push({ ...charge, devMode })
  }
  return found
}

/** So many charges with a due date are compared in each direction. */
const MAX_DUE = 100

/**
 * Open charges with a due date from before an id, whose amounts are the nearest to what was paid:
 * fine, interest and discounts change an amount little.
 */
export async function findDueNear(
  tx: Tx,
  companyId: Uuid,
  amount: number,
  before: Uuid,
): Promise<Charge[]> {
  const near = (comparison: string, order: string) =>
    `(select * from charges where company_id = $1 and due is not null and status = 'OPEN'
        and amount ${comparison} $2 and id < $3
      order by amount ${order}, id ${order} limit ${MAX_DUE})`
  const rows = await tx.query({
    text: `${near('<=', 'desc')} union all ${near('>', 'asc')}`,
    values: [companyId, amount, before],
  })
  return rows.map(CHARGE.read)
}
