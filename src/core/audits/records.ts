import type { Tx } from '../../db/database.ts'
import type { StatementEntry } from '../../ledger/columns.ts'
import type { Kind } from '../../ledger/recipes.ts'
import { findPostings, readStatement } from '../../ledger/statement.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import type { Income } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import { bookedSource } from '../payments/rules.ts'
import { compareEntries, compareParts, type Moved, movedBy } from './recipients.ts'
import * as store from './store.ts'

const PAGE = 500
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** The part of the books that is compared with the records. */
type Extent = {
  /** Compare the postings after this entry. */
  since: number
  entries: number
  /** Compare the charges that were paid from this moment on. */
  paidFrom: Date
  whole: boolean
}

/**
 * Checks that each posting agrees with its record, and that each booked record has its posting. It
 * only reads, and needs one snapshot.
 */
export async function compareRecords(tx: Tx, company: Company, extent: Extent): Promise<string[]> {
  const faults = await comparePostings(tx, company, extent)
  faults.push(...(await compareEntries(tx, company.id, extent.since)))
  faults.push(...(await compareCharges(tx, company.id, extent.paidFrom)))
  // If not whole, payments are compared by the list of the bank.
  if (extent.whole) faults.push(...(await comparePayments(tx, company.id)))
  return faults
}

async function comparePostings(
  tx: Tx,
  company: Company,
  { since, entries }: Extent,
): Promise<string[]> {
  const faults: string[] = []
  for (let after = since; after < entries; ) {
    const page = await readStatement(tx, company.id, {
      limit: PAGE,
      after,
      order: 'oldest first',
      kind: null,
      account: null,
      from: null,
      to: null,
    })
    const records = await recordsOf(tx, company, page)
    const wrong = page.filter((entry) => !CHECKS[entry.kind](entry, records))
    faults.push(
      ...wrong.map(
        ({ entry, kind, ref, amount }) =>
          `entry ${entry}, ${kind} of ${amount} for ${ref}, is not what its record says`,
      ),
    )
    faults.push(...(await compareParts(tx, company.id, [...records.charges.values()])))
    after = page.at(-1)?.entry ?? entries
  }
  return faults
}

type Records = {
  mode: Company['mode']
  payments: Map<string, store.BookedPayment>
  /** The payments that were booked without a charge, and matched later. */
  matchedLater: Set<string>
  charges: Map<Uuid, store.BookedCharge>
  refunds: Map<Uuid, store.BookedOrder>
  withdrawals: Map<Uuid, store.BookedOrder>
  /** What the entries of recipients say of postings, by kind and reference. */
  parts: Map<string, Moved>
  disputes: Map<Uuid, store.BookedDispute>
}

async function recordsOf(tx: Tx, company: Company, entries: StatementEntry[]): Promise<Records> {
  const { id, mode } = company
  const paid = entries.filter(({ kind }) => /^(CHARGE|FINE|INTEREST|PAYMENT)_/.test(kind))
  const ofParts = entries.filter(isOfRecipients)
  const paymentIds = paid.map(({ ref }) => ref)
  const chargeIds = entries.flatMap(({ chargeId }) => chargeId ?? [])
  const refundIds = entries.flatMap(({ ref }) => fromPublic('rfnd', ref) ?? [])
  const withdrawalIds = entries.flatMap(({ ref }) => fromPublic('wd', ref) ?? [])
  const disputeIds = entries.flatMap(({ ref }) => fromPublic('dispute', ref) ?? [])
  const unmatchedIds = paid.flatMap(({ kind, ref }) => (kind === 'PAYMENT_UNMATCHED' ? [ref] : []))
  const ofCharges = await findPostings(tx, id, ['CHARGE_PAID'], unmatchedIds)
  const matched = ofCharges.filter((entry) => !isReceived(entry))
  return {
    mode,
    payments: await store.paymentsOf(tx, id, bookedSource(company), paymentIds),
    matchedLater: new Set(matched.map(({ ref }) => ref)),
    charges: await store.chargesOf(tx, id, chargeIds),
    refunds: await store.refundsOf(tx, id, refundIds),
    withdrawals: await store.withdrawalsOf(tx, id, withdrawalIds),
    parts: await movedBy(
      tx,
      id,
      ofParts.map(({ ref }) => ref),
    ),
    disputes: await store.disputesOf(tx, id, disputeIds),
  }
}

const isOfRecipients = ({ debit, credit }: StatementEntry): boolean =>
  debit === 'recipients' || credit === 'recipients'

type Check = (entry: StatementEntry, records: Records) => boolean

/** Checks the payment of a posting: its amount, its charge and its state. */
const ofPayment =
  (
    isState: (status: string) => boolean,
    amountOf = ({ amount }: store.BookedPayment): number => amount,
  ): Check =>
  ({ ref, amount, chargeId }, { payments }) => {
    const payment = payments.get(ref)
    if (!payment?.booked || !isState(payment.status)) return false
    return amountOf(payment) === amount && payment.chargeId === chargeId
  }

const ofCharge = (
  { ref, chargeId }: StatementEntry,
  { charges }: Records,
): store.BookedCharge | null => {
  const charge = charges.get(chargeId ?? '')
  return charge?.booked && charge.endToEndId === ref ? charge : null
}

type OrderCheck = (order: store.BookedOrder, amount: number) => boolean

const ofOrder =
  (
    name: 'refunds' | 'withdrawals',
    states: string[] = [],
    isRight: OrderCheck = (order, amount) => order.amount === amount,
  ): Check =>
  ({ ref, amount, chargeId }, records) => {
    const order = records[name].get(fromPublic(name === 'refunds' ? 'rfnd' : 'wd', ref) ?? '')
    if (!order || (states.length > 0 && !states.includes(order.status))) return false
    return isRight(order, amount) && order.chargeId === chargeId
  }

/** What was held for a dispute has a posting of its own. */
const besideDisputed: OrderCheck = (order, amount) => order.amount - order.disputed === amount
const isDisputed: OrderCheck = ({ disputed }, amount) => disputed === amount
const isReturnDisputed: OrderCheck = ({ disputed, isOfBank }, amount) =>
  isOfBank && disputed === amount

const ofDispute =
  (isRight: (dispute: store.BookedDispute, amount: number) => boolean): Check =>
  ({ ref, amount, chargeId }, { disputes }) => {
    const dispute = disputes.get(fromPublic('dispute', ref) ?? '')
    return dispute !== undefined && isRight(dispute, amount) && dispute.chargeId === chargeId
  }

const isHeldAtOpening = ofDispute(({ hold }, amount) => hold === amount)
/** If a refund fails, what was disputed is held again. */
const isHeldAgain = ofOrder('refunds', ['FAILED'], (order, amount) => amount <= order.amount)

const isMatched = ofPayment((status) => status === 'MATCHED')

/** Whether the merchant has settled the charge of a posting with its payment. */
const isSettled: Check = ({ ref, amount, chargeId, debit }, { payments }) => {
  const payment = payments.get(ref)
  if (!payment?.booked || debit !== 'unmatched') return false
  return payment.settledId === chargeId && payment.settled === amount
}

/** A payment that was booked without a charge may have been matched later, by its own posting. */
const wasUnmatched: Check = ({ ref, amount, chargeId }, { payments, matchedLater }) => {
  const payment = payments.get(ref)
  if (!payment?.booked || payment.amount !== amount) return false
  if (payment.status === 'MATCHED') return chargeId === null && matchedLater.has(ref)
  return chargeId === null || payment.chargeId === chargeId
}

/** Money of a charge: its price, a fine or interest. All of it comes from one payment. */
const isPart =
  (part: keyof Income): Check =>
  (entry, records) => {
    const charge = ofCharge(entry, records)
    const whole = charge && { ...entry, amount: charge.received }
    if (!whole || charge.income[part] !== entry.amount) return false
    return isMatched(whole, records) || isSettled(whole, records)
  }

const isReleased: Check = (entry, records) => {
  const charge = ofCharge(entry, records)
  // Refunds and returns may have taken a part from pending before.
  if (!charge || entry.amount > charge.received) return false
  return charge.paymentStatus === 'RECEIVED' || charge.paymentStatus === 'REFUNDED'
}

/** Whether recipients have got as much as a posting says. */
const isGiven: Check = ({ kind, ref, amount }, { parts }) =>
  parts.get(`${kind} ${ref}`)?.moved === amount

/** Whether it was taken from them, by a refund or a return, or of a payout that came back. */
const isTaken: Check = ({ kind, ref, amount }, { parts, withdrawals }) => {
  const payout = withdrawals.get(fromPublic('wd', ref) ?? '')
  if (!payout) return parts.get(`${kind} ${ref}`)?.moved === -amount
  const back = parts.get(`WITHDRAWAL_RELEASED ${ref}`)
  return payout.toRecipient && back?.sum === payout.amount && back.sum - back.moved === amount
}

/** A withdrawal is of the available money, and a payout of the recipient's. */
const ofWithdrawal =
  (...states: string[]): Check =>
  (entry, records) => {
    const { kind, ref, debit, credit, amount } = entry
    const order = records.withdrawals.get(fromPublic('wd', ref) ?? '')
    if (!ofOrder('withdrawals', states)(entry, records)) return false
    const own = debit === 'held' ? credit : debit
    if (!order?.toRecipient) return own === 'available'
    const sum = records.parts.get(`${kind} ${ref}`)?.sum
    return own === 'recipients' && sum === (debit === 'held' ? amount : -amount)
  }

/** What must be true of the record of a posting. */
const CHECKS: Record<Kind, Check> = {
  OPENING: (_, { mode }) => mode === 'sandbox',
  CHARGE_PAID: isPart('price'),
  FINE_PAID: isPart('fine'),
  INTEREST_PAID: isPart('interest'),
  CHARGE_SETTLED: isReleased,
  PAYMENT_UNMATCHED: wasUnmatched,
  PAYMENT_ACCEPTED: ofPayment(
    (status) => status === 'ACCEPTED',
    ({ amount, returned, settled }) => amount - returned - settled,
  ),
  REFUND_HELD: ofOrder('refunds', [], besideDisputed),
  REFUND_PAID: ofOrder('refunds', ['COMPLETED']),
  REFUND_RELEASED: ofOrder('refunds', ['FAILED']),
  BANK_RETURN: ofOrder('refunds', ['COMPLETED'], besideDisputed),
  WITHDRAWAL_HELD: ofWithdrawal(),
  WITHDRAWAL_PAID: ofOrder('withdrawals', ['COMPLETED']),
  WITHDRAWAL_RELEASED: ofWithdrawal('FAILED', 'EXPIRED', 'CANCELED'),
  DISPUTE_HELD: (entry, records) => isHeldAtOpening(entry, records) || isHeldAgain(entry, records),
  DISPUTE_RELEASED: ofDispute(({ isOver, released }, amount) => isOver && released === amount),
  DISPUTE_ACCEPTED: ofOrder('refunds', [], isDisputed),
  DISPUTE_LOST: ofOrder('refunds', ['COMPLETED'], isReturnDisputed),
  SPLIT_SETTLED: (entry, records) => isReleased(entry, records) && isGiven(entry, records),
  SPLIT_TAKEN: isTaken,
  SPLIT_GIVEN: isGiven,
}

/** The kinds of postings of a paid charge. */
const INCOME_KINDS: Kind[] = ['CHARGE_PAID', 'FINE_PAID', 'INTEREST_PAID']

/** Checks that each paid charge has its postings, which add up to its amount. */
async function compareCharges(tx: Tx, companyId: Uuid, from: Date): Promise<string[]> {
  const faults: string[] = []
  for (let after = { paymentDate: from, id: FIRST_ID }; ; ) {
    const charges = await store.listCharges(tx, companyId, after, PAGE)
    const ids = charges.map(({ endToEndId }) => endToEndId!)
    const entries = await findPostings(tx, companyId, INCOME_KINDS, ids)
    const posted = Map.groupBy(entries, ({ ref }) => ref)
    faults.push(...(await compareParts(tx, companyId, charges)))
    for (const { id, endToEndId, received: amount } of charges) {
      const own = posted.get(endToEndId!) ?? []
      if (own.every(({ chargeId }) => chargeId === id) && sumOf(own) === amount) continue
      faults.push(
        `a charge is paid with ${amount} by ${endToEndId}, its posting is not in the books`,
      )
    }
    const last = charges.at(-1)
    if (!last || charges.length < PAGE) return faults
    after = last
  }
}

/** Checks that each booked payment has its posting, or one for each part of it. */
async function comparePayments(tx: Tx, companyId: Uuid): Promise<string[]> {
  const faults: string[] = []
  for (let after = ''; ; ) {
    const payments = await store.listPayments(tx, companyId, after, PAGE)
    const ids = payments.map(({ endToEndId }) => endToEndId)
    const entries = await findPostings(tx, companyId, RECEIVED_KINDS, ids)
    const posted = Map.groupBy(entries.filter(isReceived), ({ ref }) => ref)
    for (const { endToEndId, amount } of payments) {
      const own = posted.get(endToEndId) ?? []
      if (isOfOne(own) && sumOf(own) === amount) continue
      faults.push(`${amount} have arrived in ${endToEndId}, our books say ${describeBooked(own)}`)
    }
    const last = payments.at(-1)
    if (!last || payments.length < PAGE) return faults
    after = last.endToEndId
  }
}

/** Whether a posting is of money that arrived, and not of a payment that was matched later. */
export const isReceived = ({ debit }: StatementEntry): boolean => debit === 'bank'

/** The kinds of postings of received money. */
export const RECEIVED_KINDS: Kind[] = [...INCOME_KINDS, 'PAYMENT_UNMATCHED']

export const sumOf = (entries: { amount: number }[]): number =>
  entries.reduce((sum, { amount }) => sum + amount, 0)

/** Whether money was booked once: for one charge, or as unmatched. */
export const isOfOne = (entries: StatementEntry[]): boolean =>
  new Set(entries.map(({ chargeId, kind }) => `${chargeId} ${kind === 'PAYMENT_UNMATCHED'}`))
    .size === 1

export const describeBooked = (entries: { amount: number }[]): string =>
  entries.map(({ amount }) => amount).join(' and ') || 'nothing'
