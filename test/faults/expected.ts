import { SANDBOX_OPENING } from '../../src/core/companies/rules.ts'
import type { FullApp } from '../../src/core/full-app.ts'
import { toPublic, type Uuid } from '../../src/lib/ids.ts'
import type { Charged, Divided, Journal, Refunded, Shop } from './journal.ts'
import { SHARE, WEEKLY_VALUE } from './shop.ts'
import { line, read, type TextLines } from './stored.ts'

export type Difference = { missing: TextLines; unexpected: TextLines }

/** Lines are counted: one that is in both lists, but twice in one of them, is a difference. */
export function compare(expected: TextLines, stored: TextLines): Difference {
  const counts = new Map<string, number>()
  for (const one of expected) counts.set(one, (counts.get(one) ?? 0) + 1)
  for (const one of stored) counts.set(one, (counts.get(one) ?? 0) - 1)
  const where = (is: (count: number) => boolean) =>
    [...counts].flatMap(([one, count]) => (is(count) ? [one] : []))
  return { missing: where((count) => count > 0), unexpected: where((count) => count < 0) }
}

export const expectedCharges = (charges: Charged[]): TextLines =>
  charges.map(({ company, id, amount }) => line(company, id, amount))

export const expectedPayments = ({ payments }: Journal): TextLines =>
  payments.map(({ company, name, amount, state }) => line(company, name, amount, state))

export const expectedSales = ({ payments }: Journal): TextLines =>
  payments.flatMap(({ company, name, amount, atCounter }) =>
    atCounter ? [line(company, name, amount)] : [],
  )

type Order = { company: string; id: string; amount: number; state: string }

export const expectedOrders = (orders: Order[]): TextLines =>
  orders.map(({ company, id, amount, state }) => line(company, id, amount, state))

const completed = <T extends Order>(orders: T[]): T[] =>
  orders.filter(({ state }) => state === 'COMPLETED')

/** What must have moved at the bank. */
export const expectedMoves = ({ payments, refunds, withdrawals }: Journal): TextLines => [
  ...payments.map(({ company, name, amount }) => line(company, 'received', name, amount)),
  ...completed(refunds).map(({ company, id, amount, returned }) =>
    line(company, 'returned', returned ?? id, amount),
  ),
  ...completed(withdrawals).map(({ company, id, amount }) => line(company, 'sent', id, amount)),
]

/** Balances by what clients have done, without a look at any posting. */
export function expectedBalances(
  shops: Shop[],
  { payments, refunds, withdrawals, splits }: Journal,
): TextLines {
  const ofCharges = refunds.filter(({ charge }) => charge !== null)
  const byCharge = Map.groupBy(completed(refunds), ({ charge }) => charge)
  return shops.map(({ company }) => {
    const sum = (all: Pick<Order, 'company' | 'amount' | 'state'>[], state: string) =>
      all.reduce(
        (total, one) =>
          one.company === company && one.state === state ? total + one.amount : total,
        0,
      )
    const kept = sum(payments, 'MATCHED') + sum(payments, 'ACCEPTED')
    const gone = sum(ofCharges, 'COMPLETED') + sum(withdrawals, 'COMPLETED')
    const own = splits.filter((split) => split.company === company)
    const recipients = own.reduce(
      (all, split) => all + partOf(split, byCharge.get(split.id) ?? []),
      0,
    )
    const available = SANDBOX_OPENING + kept - gone - recipients
    return line(company, available, 0, 0, sum(payments, 'UNMATCHED'), 0, recipients)
  })
}

/** What a recipient has of a charge: its share of what did not go back, in whole cents. */
function partOf({ amount }: Divided, back: Refunded[]): number {
  const left = back.reduce((all, one) => all - one.amount, amount)
  return Math.floor((left * Math.floor((amount * SHARE) / 10_000)) / amount)
}

/** The first week of each is charged at once, and the next one after all is over. */
export const expectedSubscriptions = ({ subscriptions }: Journal): TextLines =>
  subscriptions.map(({ company, id, state }) => {
    const charges = state === 'APPROVED' ? 1 : 0
    return line(company, id, state, charges, charges)
  })

type ChargeRow = {
  company: Uuid
  id: Uuid
  amount: number
  kind: string
  state: string
  /** Whether a refund of it was taken from money that had been received. */
  received: boolean
}

/**
 * Events as they are due. A charge of which all goes back before its money is withdrawable need
 * never be received; those are the events that may be there.
 */
export async function expectedEvents(
  app: FullApp,
  journal: Journal,
): Promise<{ due: TextLines; possible: TextLines }> {
  const charges = await read<ChargeRow>(
    app,
    `select company_id as company, id, amount, kind, payment_status as state, exists (
       select 1 from refunds r where r.company_id = c.company_id and r.charge_id = c.id
         and r.source = 'available') as received
     from charges c`,
  )
  const eventLine = (type: string, { company, id, amount }: ChargeRow) =>
    line(company, `charge.${type}`, toPublic('charge', id), amount)
  const mustReceive = ({ state, received }: ChargeRow) => state === 'RECEIVED' || received
  const paid = charges.filter(({ kind }) => kind !== 'RECURRING')
  return {
    due: [
      ...['pending', 'processing'].flatMap((type) =>
        charges.map((charge) => eventLine(type, charge)),
      ),
      ...paid.map((charge) => eventLine('paid', charge)),
      ...charges.filter(mustReceive).map((charge) => eventLine('received', charge)),
      ...otherEvents(journal),
    ],
    possible: paid
      .filter((charge) => !mustReceive(charge))
      .map((charge) => eventLine('received', charge)),
  }
}

/** The event of every partial refund has the total of the charge. */
function otherEvents(journal: Journal): TextLines {
  const { charges, payments, refunds, withdrawals, disputes, subscriptions } = journal
  const totals = new Map(charges.map(({ id, amount }) => [id, amount]))
  return [
    ...completed(refunds).flatMap(({ company, charge }) =>
      charge === null ? [] : [line(company, 'charge.refunded', charge, totals.get(charge)!)],
    ),
    ...payments.flatMap(({ company, name, amount, state }) =>
      state === 'MATCHED' ? [] : [line(company, 'payment.unmatched', name, amount)],
    ),
    ...disputes.flatMap(({ company, id, amount, name, state }) => [
      line(company, 'dispute.opened', id, amount),
      line(company, `dispute.${state.toLowerCase()}`, id, amount),
      ...(state === 'LOST' ? [line(company, 'payment.returned', name, amount)] : []),
    ]),
    ...withdrawals.flatMap(({ company, id, amount, state }) =>
      state === 'CANCELED' || state === 'EXPIRED'
        ? []
        : [line(company, `withdrawal.${state.toLowerCase()}`, id, amount)],
    ),
    ...subscriptions.map(({ company, id, state }) => {
      const name = state === 'APPROVED' ? 'authorized' : 'rejected'
      return line(company, `subscription.${name}`, id, WEEKLY_VALUE)
    }),
  ]
}
