import type { Kind } from '../../ledger/recipes.ts'
import { findPostings, readStatement, type StatementEntry } from '../../ledger/statement.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import type { BankTransfer, Provider } from '../../provider/port.ts'
import { unwrap } from '../../provider/providers.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { nowOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { OVERLAP_MS } from '../reconciliation/rules.ts'
import { findOrders } from '../reconciliation/store.ts'
import { findAskedUntil } from '../reconciliation-schedule.ts'
import { find as findRefund } from '../refunds/store.ts'
import { find as findWithdrawal } from '../withdrawals/store.ts'
import { type BookedCharge, chargesOf } from './record-store.ts'
import { ARRIVALS, sayBooked } from './records.ts'
import { spanOfPayments } from './store.ts'

/** A callback is given this long to arrive before its payment is missed. */
const GRACE_MS = 120_000
const WINDOW_MS = 6 * 3600 * 1000
const PAGE = 500

/**
 * Up to this moment, all that the bank has moved should be recorded here. If a real bank loses a
 * callback, the payment is recorded when reconciliation has asked for it.
 */
export async function bankHorizon(app: App, company: Company): Promise<Date> {
  const grace = new Date(nowOf(app, company).getTime() - GRACE_MS)
  if (app.providers.bankOf(company) === app.providers.simulator) return grace
  const asked = await findAskedUntil(app.db, company.id)
  const listed = new Date((asked ?? company.createdAt).getTime() - OVERLAP_MS)
  return listed < grace ? listed : grace
}

/** Whether what the bank has moved in a period is booked once, in its amount, for its charge. */
export async function compareBank(
  app: App,
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
      faults.push(...(await compareSent(app, company.id, page)))
    }
    start = end
  }
  return faults
}

const differs = ({ direction, amount, endToEndId }: BankTransfer, ours: string) =>
  `the bank has ${direction} ${amount} in ${endToEndId}, our books say ${ours}`

async function compareReceived(
  { db }: App,
  companyId: Uuid,
  transfers: BankTransfer[],
): Promise<string[]> {
  const received = transfers.filter(({ direction }) => direction === 'received')
  const ids = received.map(({ endToEndId }) => endToEndId)
  const entries = await findPostings(db, companyId, ARRIVALS, ids)
  const posted = Map.groupBy(entries, ({ ref }) => ref)
  const chargeIds = entries.flatMap(({ chargeId }) => chargeId ?? [])
  const charges = await chargesOf(db, companyId, chargeIds)
  return received.flatMap((transfer) => {
    const own = posted.get(transfer.endToEndId) ?? []
    const [posting] = own
    if (!posting || own.length > 1 || posting.amount !== transfer.amount) {
      return [differs(transfer, sayBooked(own))]
    }
    const charge = charges.get(posting.chargeId ?? '') ?? null
    if (isFor(transfer.txid, posting, charge)) return []
    return [`${transfer.endToEndId} is booked for another charge than the bank has received it for`]
  })
}

/** Whether a posting is about the charge, or the static code, that the bank's txid names. */
function isFor(txid: string | null, posting: StatementEntry, charge: BookedCharge | null): boolean {
  const named = namedBy(txid)
  if (posting.chargeId === null) return posting.kind === 'PAYMENT_UNMATCHED'
  if (named === null || charge === null) return false
  return 'charge' in named ? charge.id === named.charge : charge.staticCodeId === named.code
}

async function compareSent(
  { db }: App,
  companyId: Uuid,
  transfers: BankTransfer[],
): Promise<string[]> {
  // What somebody returned without us is no order of ours; `vintem bank reconcile` shows it.
  const sent = transfers.filter(
    ({ direction, orderId }) =>
      direction === 'sent' || (direction === 'returned' && orderId !== null),
  )
  const ids = sent.flatMap(({ orderId }) => orderId ?? [])
  const orders = new Map((await findOrders(db, companyId, ids)).map((order) => [order.id, order]))
  const refs = ids.flatMap((id) => [toPublic('wd', id), toPublic('rfnd', id)])
  const entries = await findPostings(db, companyId, ['WITHDRAWAL_PAID', 'REFUND_PAID'], refs)
  const posted = new Map(entries.map((entry) => [entry.ref, entry]))
  return sent.flatMap((transfer) => {
    const order = orders.get(transfer.orderId ?? '')
    const posting = order && posted.get(toPublic(order.kind, order.id))
    // Its money is held until we know what the bank has done.
    const booked = order?.status === 'PROCESSING' ? order.amount : posting?.amount
    return booked === transfer.amount ? [] : [differs(transfer, String(booked ?? 'nothing'))]
  })
}

export type Booked = {
  since: number
  until: number
  /** What was booked before the bank was connected has moved elsewhere. */
  opened: Date
}

/** Whether all that we have booked against the bank since an entry has really moved there. */
export async function compareBooked(
  app: App,
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
  app: App,
  provider: Provider,
  company: Company,
  entries: StatementEntry[],
): Promise<string[]> {
  const arrived = entries.filter(({ kind }) => ARRIVALS.includes(kind))
  const known = await findArrived(
    app,
    provider,
    company,
    arrived.map(({ ref }) => ref),
  )
  const faults = arrived.flatMap(({ ref, amount }) =>
    known.get(ref) === amount
      ? []
      : [`${amount} of ${ref} are booked, the bank says ${known.get(ref) ?? 'nothing'}`],
  )
  for (const entry of entries) {
    const isSent = ORDERS.has(entry.kind) && (await hasLeft(app, provider, company, entry))
    if (entry.kind.endsWith('_PAID') && ORDERS.has(entry.kind) && !isSent) {
      faults.push(`${entry.amount} of ${entry.ref} are booked as paid, the bank has not sent them`)
    }
    if (entry.kind.endsWith('_RELEASED') && isSent) {
      faults.push(`${entry.amount} of ${entry.ref} are booked as kept, the bank has sent them`)
    }
  }
  return faults
}

/** The kinds of postings by which an order to the bank ends. */
const ORDERS = new Set<Kind>([
  'REFUND_PAID',
  'REFUND_RELEASED',
  'WITHDRAWAL_PAID',
  'WITHDRAWAL_RELEASED',
])

/** So few that asking for each costs no more than a list. */
const FEW = 5

/**
 * What the bank has received of payments that stand in our books. A real one is asked for its list
 * of their time, and by name only for what is not in it.
 */
async function findArrived(
  { db, providers }: App,
  provider: Provider,
  company: Company,
  ids: string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const isListed = provider !== providers.simulator && ids.length > FEW
  const span = isListed ? await spanOfPayments(db, company.id, provider.source, ids) : null
  const listed = span ? unwrap(await provider.listReceived(company, span)) : []
  const known = new Map(listed.map(({ endToEndId, amount }) => [endToEndId, amount]))
  const rest = ids.filter((id) => !known.has(id))
  const named = rest.length > 0 ? unwrap(await provider.findReceived(company, rest)) : []
  for (const { endToEndId, amount } of named) known.set(endToEndId, amount)
  return known
}

/** Whether the bank has carried out the order of an entry, in the entry's amount. */
async function hasLeft(
  { db, providers }: App,
  provider: Provider,
  company: Company,
  { kind, ref, amount }: StatementEntry,
): Promise<boolean> {
  const refundId = fromPublic('rfnd', ref)
  if (refundId) {
    const refund = await findRefund(db, company.id, refundId)
    if (refund?.amount !== amount) return false
    const outcome = await provider.findRefund(company, refund)
    // What the bank has refused it has not sent.
    return outcome.kind !== 'rejected' && unwrap(outcome) !== null
  }
  const withdrawal = await findWithdrawal(db, company.id, fromPublic('wd', ref) ?? '')
  if (!withdrawal) return false
  const payouts = providers.payoutsOf(company)
  // What an operator has sent by hand, or not, stands on the operator's word.
  if (withdrawal.manual || !payouts) return kind === 'WITHDRAWAL_PAID'
  // Only what was confirmed with its code was ever ordered.
  if (withdrawal.confirmedAt === null) return false
  const order = { id: withdrawal.id, amount, pixKey: withdrawal.destination }
  const outcome = await payouts.findSent(company, order)
  return outcome.kind !== 'rejected' && unwrap(outcome) !== null
}
