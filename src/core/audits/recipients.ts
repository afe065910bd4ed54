import type { Row, Tx } from '../../db/database.ts'
import { HAS_POSTING } from '../../ledger/recipients.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type GivenTo, givenOf } from '../charges/split.ts'
import { heldOfCharges } from '../disputes/store.ts'

/** What the entries of recipients say that a posting has moved. */
export type Moved = {
  /** What the account `recipients` has gained by them. */
  moved: number
  /** What they have got together, also what they owed before. */
  sum: number
}

/** By kind and reference of the posting, as `SPLIT_SETTLED E123`. */
export async function movedBy(
  tx: Tx,
  companyId: Uuid,
  refs: string[],
): Promise<Map<string, Moved>> {
  if (refs.length === 0) return new Map()
  const rows = await tx.query<Row & Moved & { name: string }>({
    text: `select e.kind || ' ' || e.ref as name, sum(e.amount)::int8 as sum,
             sum(greatest(e.balance, 0) - greatest(e.balance - e.amount, 0))::int8 as moved
           from recipient_entries e
           where e.company_id = $1 and e.ref = any ($2::text[])
           group by 1`,
    values: [companyId, refs],
  })
  return new Map(rows.map(({ name, moved, sum }) => [name, { moved, sum }]))
}

type Sum = { charge_id: Uuid; recipient_id: Uuid; sum: number }

/** Checks that recipients have of each charge what its terms give them of what is left of it. */
export async function compareParts(
  tx: Tx,
  companyId: Uuid,
  charges: (GivenTo & { id: Uuid })[],
): Promise<string[]> {
  const split = charges.filter((charge) => charge.split !== null)
  if (split.length === 0) return []
  const ids = split.map(({ id }) => id)
  const rows = await tx.query<Sum>({
    text: `select charge_id, recipient_id, sum(amount)::int8 as sum from recipient_entries
           where company_id = $1 and charge_id = any ($2::uuid[]) group by 1, 2`,
    values: [companyId, ids],
  })
  const got = new Map(rows.map((row) => [`${row.charge_id} ${row.recipient_id}`, row.sum]))
  const disputed = await heldOfCharges(tx, companyId, ids)
  return split.flatMap((charge) =>
    givenOf(charge, disputed.get(charge.id) ?? 0).flatMap(({ recipientId, amount }) => {
      const sum = got.get(`${charge.id} ${recipientId}`) ?? 0
      if (sum === amount) return []
      return [`a recipient has got ${sum} of the charge ${charge.endToEndId}, not ${amount}`]
    }),
  )
}

/** SQL: whether an entry `e` is of a charge that names its recipient, or of a payout in the books. */
const HAS_REASON = `case when e.kind in ('WITHDRAWAL_HELD', 'WITHDRAWAL_RELEASED')
  then ${HAS_POSTING}
  else exists (select from charges c where c.company_id = e.company_id and c.id = e.charge_id
    and c.split @> jsonb_build_array(jsonb_build_object('recipientId', e.recipient_id))) end`

/**
 * Checks that entries that were written after a posting go on from the ones before, and that each
 * has its reason: what changes only the debt of a recipient has no posting.
 */
export async function compareEntries(tx: Tx, companyId: Uuid, since: number): Promise<string[]> {
  const [row] = await tx.query<{ broken: number; strange: number }>({
    text: `select count(*) filter (where e.balance <> coalesce(p.balance, 0) + e.amount
               or (p.entry is null and e.entry > 1)) as broken,
             count(*) filter (where not ${HAS_REASON}) as strange
           from recipient_entries e
           left join recipient_entries p on p.company_id = e.company_id
             and p.recipient_id = e.recipient_id and p.entry = e.entry - 1
           where e.company_id = $1 and e.posted > $2`,
    values: [companyId, since],
  })
  const { broken, strange } = row!
  return [
    ...(broken === 0 ? [] : [`${broken} entries of recipients do not follow from the ones before`]),
    ...(strange === 0
      ? []
      : [`${strange} entries of recipients are of no charge that names them, and of no payout`]),
  ]
}
