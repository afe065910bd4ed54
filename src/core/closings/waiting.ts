import type { Tx } from '../../db/database.ts'
import type { Account, Kind } from '../../ledger/recipes.ts'
import { findUnmatchedArrivals, sumByRef } from '../../ledger/statement.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { Listed, ListedDispute, ListedPayment } from './rules.ts'
import { findDisputesBefore, findDisputesOf, findReasons, findRefundsOf } from './store.ts'

/** A list has no more, so that a page and a record have an end. Count and sum are of all. */
const MAX_LISTED = 500

/** Entries with the scheme's id of a payment as their reference. */
const BY_PAYMENT: Kind[] = ['CHARGE_PAID', 'FINE_PAID', 'INTEREST_PAID', 'PAYMENT_ACCEPTED']
/** Entries with the id of a refund, a return or a dispute. */
const BY_ORDER: Kind[] = [
  'REFUND_HELD',
  'REFUND_RELEASED',
  'BANK_RETURN',
  'DISPUTE_HELD',
  'DISPUTE_RELEASED',
  'DISPUTE_ACCEPTED',
  'DISPUTE_LOST',
]

/** What refunds, returns and disputes of payments have added to an account until an entry. */
async function movedByOrders(
  tx: Tx,
  companyId: Uuid,
  account: Account,
  endToEndIds: string[],
  until: number,
): Promise<Map<string, number>> {
  const [refunds, disputes] = [
    await findRefundsOf(tx, companyId, endToEndIds),
    await findDisputesOf(tx, companyId, endToEndIds),
  ]
  const paymentOf = new Map([
    ...refunds.map(({ id, endToEndId }) => [toPublic('rfnd', id), endToEndId] as const),
    ...disputes.map(({ id, endToEndId }) => [toPublic('dispute', id), endToEndId] as const),
  ])
  const moved = await sumByRef(tx, companyId, account, BY_ORDER, [...paymentOf.keys()], until)
  const sums = new Map<string, number>()
  for (const [ref, sum] of moved) {
    const payment = paymentOf.get(ref)!
    sums.set(payment, (sums.get(payment) ?? 0) + sum)
  }
  return sums
}

/**
 * The payments that waited for a decision after an entry, whatever was decided later. Together they
 * are what the account `unmatched` held then.
 */
export async function unmatchedAt(
  tx: Tx,
  companyId: Uuid,
  until: number,
): Promise<Listed<ListedPayment>> {
  const arrivals = await findUnmatchedArrivals(tx, companyId, until)
  const refs = arrivals.map(({ ref }) => ref)
  const used = await sumByRef(tx, companyId, 'unmatched', BY_PAYMENT, refs, until)
  const left = arrivals
    .map(({ ref, amount }) => ({ ref, amount: amount + (used.get(ref) ?? 0) }))
    .filter(({ amount }) => amount > 0)
  const ids = left.map(({ ref }) => ref)
  const moved = await movedByOrders(tx, companyId, 'unmatched', ids, until)
  const waiting = left
    .map(({ ref, amount }) => ({ ref, amount: amount + (moved.get(ref) ?? 0) }))
    .filter(({ amount }) => amount > 0)
  const first = waiting.slice(0, MAX_LISTED)
  const reasons = await findReasons(
    tx,
    companyId,
    first.map(({ ref }) => ref),
  )
  return {
    count: waiting.length,
    sum: waiting.reduce((all, { amount }) => all + amount, 0),
    first: first.map(({ ref, amount }) => {
      const { receivedAt, reason } = reasons.get(ref)!
      return { endToEndId: ref, receivedAt: receivedAt.toISOString(), reason, amount }
    }),
  }
}

/**
 * The disputes that were open at a moment, the end of an entry. What was held for them is together
 * what the account `disputed` held then.
 */
export async function disputesAt(
  tx: Tx,
  companyId: Uuid,
  until: number,
  at: Date,
): Promise<Listed<ListedDispute>> {
  const recorded = await findDisputesBefore(tx, companyId, at)
  const payments = [...new Set(recorded.map(({ endToEndId }) => endToEndId))]
  const heldFor = await movedByOrders(tx, companyId, 'disputed', payments, until)
  const open = recorded
    .filter(({ closedAt }) => closedAt === null || closedAt >= at)
    .map((dispute) => ({ ...dispute, held: heldFor.get(dispute.endToEndId) ?? 0 }))
  return {
    count: open.length,
    sum: open.reduce((all, { held }) => all + held, 0),
    first: open.slice(0, MAX_LISTED).map(({ id, openedAt, amount, held }) => ({
      id: toPublic('dispute', id),
      openedAt: openedAt.toISOString(),
      amount,
      held,
    })),
  }
}
