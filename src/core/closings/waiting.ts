import type { Tx } from '../../db/database.ts'
import type { Account, Kind } from '../../ledger/recipes.ts'
import { findWaiting, sumByRef } from '../../ledger/statement.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { Listed, ListedDispute, ListedPayment } from './rules.ts'
import {
  findDisputesBefore,
  findOrders,
  findOrdersOfUnmatched,
  findReasons,
  type Order,
} from './store.ts'

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

/** What these refunds, returns and disputes of payments have added to an account until an entry. */
async function movedByOrders(
  tx: Tx,
  companyId: Uuid,
  account: Account,
  find: (table: 'refunds' | 'disputes') => Promise<Order[]>,
  until: number,
): Promise<Map<string, number>> {
  const [refunds, disputes] = [await find('refunds'), await find('disputes')]
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
  const find = (table: 'refunds' | 'disputes') => findOrdersOfUnmatched(tx, companyId, table)
  const moved = await movedByOrders(tx, companyId, 'unmatched', find, until)
  const waiting = await findWaiting(tx, companyId, until, BY_PAYMENT, moved, MAX_LISTED)
  const refs = waiting.first.map(({ ref }) => ref)
  const reasons = await findReasons(tx, companyId, refs)
  return {
    ...waiting,
    first: waiting.first.map(({ ref, amount }) => {
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
  const find = (table: 'refunds' | 'disputes') => findOrders(tx, companyId, table, payments)
  const heldFor = await movedByOrders(tx, companyId, 'disputed', find, until)
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
