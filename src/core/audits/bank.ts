import type { StatementEntry } from '../../ledger/columns.ts'
import type { Kind } from '../../ledger/recipes.ts'
import { findPostings, readStatement } from '../../ledger/statement.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import type { BankTransfer, Provider } from '../../provider/port.ts'
import { unwrap } from '../../provider/providers.ts'
import { namedBy } from '../../provider/txid.ts'
import type { Uses } from '../app.ts'
import { nowOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findByIds } from '../payments/store.ts'
import { hasReturned, OVERLAP_MS } from '../reconciliation/rules.ts'
import { findOrders } from '../reconciliation/store.ts'
import { findAskedUntil, findReturnsListed } from '../reconciliation-schedule.ts'
import { find as findRefund, listOfPayments } from '../refunds/store.ts'
import { find as findWithdrawal } from '../withdrawals/store.ts'
import { describeBooked, isOfOne, isReceived, RECEIVED_KINDS, sumOf } from './records.ts'
import { type BookedCharge, chargesOf, spanOfPayments } from './store.ts'

/** A payment counts as missing only if its callback has not arrived for so long. */
const GRACE_MS = 120_000
const WINDOW_MS = 6 * 3600 * 1000
const PAGE = 500

/**
 * Up to this moment, all that the bank has moved should be recorded here. If a real bank loses a
 * callback, the payment is recorded when reconciliation has asked for it.
 */
export async function bankHorizon(
  app: Uses<'db' | 'providers' | 'systemClock'>,
  company: Company,
): Promise<Date> {
  const grace = new Date(nowOf(app, company).getTime() - GRACE_MS)
  if (app.providers.bankOf(company) === app.providers.simulator) return grace
  const asked = await findAskedUntil(app.db, company.id)
  const listed = new Date((asked ?? company.createdAt).getTime() - OVERLAP_MS)
  return listed < grace ? listed : grace
}

/** Checks that each transfer of the bank in a period is booked once, in its amount and charge. */
export async function compareBank(
  app: Uses<'db' | 'providers'>,
  provider: Provider,
  company: Company,
  from: Date,
  to: Date,
): Promise<string[]> {
  const faults: string[] = []
  for (let start = from; start < to; ) {
    const end = new Date(Math.min(start.getTime() + WINDOW_MS, to.getTime()))
    const transfers = unwrap(await provider.listTransfers(company, { from: start, to: end }))
    for (let i = 0; i < transfers.length; i += PAGE) {
      const page = transfers.slice(i, i + PAGE)
      faults.push(...(await compareReceived(app, company.id, page)))
      faults.push(...(await compareSent(app, provider, company.id, page)))
      faults.push(...(await compareReturns(app, provider, company.id, page)))
    }
    start = end
  }
  return faults
}

const differs = ({ direction, amount, endToEndId }: BankTransfer, ours: string) =>
  `the bank has ${direction} ${amount} in ${endToEndId}, our books say ${ours}`

async function compareReceived(
  { db }: Uses<'db'>,
  companyId: Uuid,
  transfers: BankTransfer[],
): Promise<string[]> {
  const received = transfers.filter(({ direction }) => direction === 'received')
  const ids = received.map(({ endToEndId }) => endToEndId)
  const entries = await findPostings(db, companyId, RECEIVED_KINDS, ids)
  const posted = Map.groupBy(entries.filter(isReceived), ({ ref }) => ref)
  const chargeIds = entries.flatMap(({ chargeId }) => chargeId ?? [])
  const charges = await chargesOf(db, companyId, chargeIds)
  return received.flatMap((transfer) => {
    const own = posted.get(transfer.endToEndId) ?? []
    const [posting] = own
    if (!posting || !isOfOne(own) || sumOf(own) !== transfer.amount) {
      return [differs(transfer, describeBooked(own))]
    }
    const charge = charges.get(posting.chargeId ?? '') ?? null
    if (isFor(transfer.txid, posting, charge)) return []
    return [`${transfer.endToEndId} is booked for another charge than the bank has received it for`]
  })
}

/** Whether a posting is for the charge or the static code that the bank's txid names. */
function isFor(txid: string | null, posting: StatementEntry, charge: BookedCharge | null): boolean {
  const named = namedBy(txid)
  if (posting.chargeId === null) return posting.kind === 'PAYMENT_UNMATCHED'
  // Some banks name the txid of a payment only where they show its charge.
  if (txid === null) return true
  if (named === null || charge === null) return false
  return 'charge' in named ? charge.id === named.charge : charge.staticCodeId === named.code
}

async function compareSent(
  { db, providers }: Uses<'db' | 'providers'>,
  provider: Provider,
  companyId: Uuid,
  transfers: BankTransfer[],
): Promise<string[]> {
  const ids = transfers.flatMap(({ orderId }) => orderId ?? [])
  const orders = new Map((await findOrders(db, companyId, ids)).map((order) => [order.id, order]))
  // What a bank has returned by itself is compared in `compareReturns`.
  const isOurs = ({ direction, orderId }: BankTransfer) =>
    direction === 'sent' ||
    orders.has(orderId ?? '') ||
    (provider === providers.simulator && orderId !== null)
  const sent = transfers.filter((one) => one.direction !== 'received' && isOurs(one))
  const refs = ids.flatMap((id) => [toPublic('wd', id), toPublic('rfnd', id)])
  const entries = await findPostings(db, companyId, ['WITHDRAWAL_PAID', 'REFUND_PAID'], refs)
  const posted = new Map(entries.map((entry) => [entry.ref, entry]))
  return sent.flatMap((transfer) => {
    const order = orders.get(transfer.orderId ?? '')
    const posting = order && posted.get(toPublic(order.kind, order.id))
    // The money of an open order is held until we know what the bank has done.
    const booked = order?.status === 'PROCESSING' ? order.amount : posting?.amount
    return booked === transfer.amount ? [] : [differs(transfer, String(booked ?? 'nothing'))]
  })
}

/**
 * Checks that what the bank has returned by itself is booked. At a real bank that counts only for
 * returns before the last time that it has listed them, because a later one may be on its way.
 */
async function compareReturns(
  { db, providers }: Uses<'db' | 'providers'>,
  provider: Provider,
  companyId: Uuid,
  transfers: BankTransfer[],
): Promise<string[]> {
  const { source } = provider
  const isReal = provider !== providers.simulator
  // Those that the simulated bank was ordered to make are compared in `compareSent`.
  const isToCompare = ({ direction, orderId }: BankTransfer) =>
    direction === 'returned' && (isReal || orderId === null)
  const returned = transfers.filter(isToCompare)
  const listedAt = isReal && returned.length > 0 ? await findReturnsListed(db, companyId) : null
  if (returned.length === 0 || (isReal && !listedAt)) return []
  const ids = returned.map(({ paymentId }) => paymentId!)
  const known = new Set((await findByIds(db, companyId, source, ids)).map((one) => one.endToEndId))
  const refunds = await listOfPayments(db, companyId, source, ids)
  const until = listedAt && new Date(listedAt.getTime() - OVERLAP_MS)
  return returned.flatMap((transfer) => {
    const { at, paymentId, endToEndId, orderId, amount } = transfer
    if ((until && at >= until) || !known.has(paymentId!)) return []
    const own = refunds.find(({ id, returnId }) => id === orderId || returnId === endToEndId)
    return own?.amount === amount ? [] : [differs(transfer, String(own?.amount ?? 'nothing'))]
  })
}

type Booked = {
  since: number
  until: number
  /** When the bank was connected. What was booked before has moved at another bank. */
  opened: Date
}

/** Checks that the bank has moved all that we booked since an entry. */
export async function compareBooked(
  app: Uses<'db' | 'providers'>,
  provider: Provider,
  company: Company,
  { since, until, opened }: Booked,
): Promise<string[]> {
  const faults: string[] = []
  for (let after = since; after < until; ) {
    const page = await readStatement(app.db, company.id, {
      limit: PAGE,
      after,
      order: 'oldest first',
      kind: null,
      account: null,
      from: null,
      to: null,
    })
    const entries = page.filter(({ entry, createdAt }) => entry <= until && createdAt >= opened)
    faults.push(...(await compareEntries(app, provider, company, entries)))
    after = page.at(-1)?.entry ?? until
  }
  return faults
}

async function compareEntries(
  app: Uses<'db' | 'providers'>,
  provider: Provider,
  company: Company,
  entries: StatementEntry[],
): Promise<string[]> {
  const arrived = entries.filter((one) => RECEIVED_KINDS.includes(one.kind) && isReceived(one))
  const ids = [...new Set(arrived.map(({ ref }) => ref))]
  const known = await findReceived(app, provider, company, ids)
  // The parts of a payment may be in several pages.
  const parts = await findPostings(app.db, company.id, RECEIVED_KINDS, ids)
  const booked = Map.groupBy(parts.filter(isReceived), ({ ref }) => ref)
  const faults = ids.flatMap((ref) => {
    const amount = sumOf(booked.get(ref)!)
    return known.get(ref) === amount
      ? []
      : [`${amount} of ${ref} are booked, the bank says ${known.get(ref) ?? 'nothing'}`]
  })
  const returned = entries.filter(({ kind }) => kind === 'BANK_RETURN' || kind === 'DISPUTE_LOST')
  for (const { ref, amount } of returned) {
    if (await isReturned(app, provider, company, ref)) continue
    faults.push(`${amount} of ${ref} are booked as returned, the bank has not returned them`)
  }
  for (const entry of entries) {
    const isSent = ORDERS.has(entry.kind) && (await wasSent(app, provider, company, entry))
    if (entry.kind.endsWith('_PAID') && ORDERS.has(entry.kind) && !isSent) {
      faults.push(`${entry.amount} of ${entry.ref} are booked as paid, the bank has not sent them`)
    }
    if (entry.kind.endsWith('_RELEASED') && isSent) {
      faults.push(`${entry.amount} of ${entry.ref} are booked as kept, the bank has sent them`)
    }
  }
  return faults
}

/** The kinds of postings that end an order to the bank. */
const ORDERS = new Set<Kind>([
  'REFUND_PAID',
  'REFUND_RELEASED',
  'WITHDRAWAL_PAID',
  'WITHDRAWAL_RELEASED',
])

/** Up to so many payments are asked for one by one; for more, a list is cheaper. */
const MAX_ONE_BY_ONE = 5

/**
 * The amounts that the bank has received for booked payments. A real bank is asked for the list of
 * the period, and then by id for the payments that are not in it.
 */
async function findReceived(
  { db, providers }: Uses<'db' | 'providers'>,
  provider: Provider,
  company: Company,
  ids: string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const isListed = provider !== providers.simulator && ids.length > MAX_ONE_BY_ONE
  const span = isListed ? await spanOfPayments(db, company.id, provider.source, ids) : null
  const listed = span ? unwrap(await provider.listReceived(company, span)) : []
  const known = new Map(listed.map(({ endToEndId, amount }) => [endToEndId, amount]))
  const rest = ids.filter((id) => !known.has(id))
  const named = rest.length > 0 ? unwrap(await provider.findReceived(company, rest)) : []
  for (const { endToEndId, amount } of named) known.set(endToEndId, amount)
  return known
}

/** Whether the bank has made a return of its own that we booked. */
async function isReturned(
  { db }: Uses<'db'>,
  provider: Provider,
  company: Company,
  ref: string,
): Promise<boolean> {
  const refund = await findRefund(db, company.id, fromPublic('rfnd', ref) ?? '')
  if (!refund) return false
  const [pix] = unwrap(await provider.findReceived(company, [refund.endToEndId]))
  return hasReturned(pix, refund)
}

/** Whether the bank has carried out the order of an entry, in the entry's amount. */
async function wasSent(
  { db, providers }: Uses<'db' | 'providers'>,
  provider: Provider,
  company: Company,
  { kind, ref, amount }: StatementEntry,
): Promise<boolean> {
  const refundId = fromPublic('rfnd', ref)
  if (refundId) {
    const refund = await findRefund(db, company.id, refundId)
    if (refund?.amount !== amount) return false
    const outcome = await provider.findRefund(company, refund)
    // If the bank has rejected it, the money was not sent.
    return outcome.kind !== 'rejected' && unwrap(outcome) !== null
  }
  const withdrawal = await findWithdrawal(db, company.id, fromPublic('wd', ref) ?? '')
  if (!withdrawal) return false
  const payouts = providers.payoutsOf(company)
  // What an operator sends cannot be checked at the bank.
  if (withdrawal.manual || !payouts) return kind === 'WITHDRAWAL_PAID'
  // Only a confirmed withdrawal was ordered.
  if (withdrawal.confirmedAt === null) return false
  const { id, destination: pixKey, bankReference: reference } = withdrawal
  const order = { id, amount, pixKey, reference }
  const outcome = await payouts.findSent(company, order)
  return outcome.kind !== 'rejected' && unwrap(outcome) !== null
}
