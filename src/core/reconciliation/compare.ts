import { toPublic, type Uuid } from '../../lib/ids.ts'
import { type Cents, formatReais, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { BankTransfer, Period, Provider } from '../../provider/port.ts'
import { unwrap } from '../../provider/providers.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App, Uses } from '../app.ts'
import { findBank } from '../banks/store.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { matchPayments } from '../payments/match.ts'
import type { Payment } from '../payments/rules.ts'
import { findByIds, findNamed } from '../payments/store.ts'
import { recordReturns } from '../refunds/bank-returns.ts'
import { returnMoney } from '../refunds/returns.ts'
import type { Refund } from '../refunds/rules.ts'
import { find as findRefund, listOfPayments } from '../refunds/store.ts'
import { hasReturned } from './rules.ts'
import {
  findOrders,
  listReceived,
  listReturned,
  type OrderState,
  type RecordedRefund,
} from './store.ts'

const WINDOW_MS = 24 * 3600 * 1000
const PAGE = 200

/** A transfer, and in plain words what was found about it. */
export type ComparedTransfer = Omit<BankTransfer, Unshown> & { about: string }
type Unshown = 'orderId' | 'txid' | 'paymentId'

/**
 * The result of a comparison with the bank. Unmatched: the bank has the transfer, and we have no
 * charge or order for it. Missing: only the bank or only we have the transfer.
 */
export type Comparison = {
  matched: { count: number; amount: Cents }
  unmatched: ComparedTransfer[]
  missing: ComparedTransfer[]
  /** How many of the missing transfers are recorded now. */
  recorded: number
}

/**
 * Compares what the bank has moved in a period with our records. If `recordMissing` is true, also
 * records what only the bank has.
 */
export async function compareWithBank(
  anyApp: App,
  company: Company,
  { from, to }: Period,
  { recordMissing }: { recordMissing: boolean },
): Promise<Comparison> {
  const app = withCompanyClock(anyApp, company)
  const provider = app.providers.bankOf(company)
  if (!provider) {
    throw problem('provider_unavailable', 'No bank is connected to this company.')
  }
  const now = app.clock.now()
  const period = { from, to: earlier(to, now) }
  const connectedAt = (await findBank(app.db, company.id))?.connectedAt ?? company.createdAt
  const before = { ...period, to: earlier(connectedAt, to) }
  const transfers = await listTransfers(provider, company, period)
  const foreign = await findForeign(app, provider, company, before)
  const findings = await compare(app, provider, company.id, transfers, foreign)
  const unlisted = await compareUnlisted(app, provider, company, period, transfers)
  const recorded = recordMissing ? await recordFound(app, provider, company, findings, foreign) : 0
  const after =
    recorded > 0 ? await compare(app, provider, company.id, transfers, foreign) : findings
  return { ...sum([...after, ...unlisted]), recorded }
}

const earlier = (one: Date, other: Date): Date => (one < other ? one : other)

type Kind = 'matched' | 'unmatched' | 'missing'
type Finding = { transfer: BankTransfer; kind: Kind; about: string }

function sum(findings: Finding[]): Omit<Comparison, 'recorded'> {
  const ofKind = (wanted: Kind): ComparedTransfer[] =>
    findings.flatMap(({ kind, about, transfer: { direction, endToEndId, amount, at } }) =>
      kind === wanted ? [{ direction, endToEndId, amount, at, about }] : [],
    )
  const matched = ofKind('matched')
  const amount = toCents(matched.reduce((total, transfer) => total + transfer.amount, 0))
  return {
    matched: { count: matched.length, amount },
    unmatched: ofKind('unmatched'),
    missing: ofKind('missing'),
  }
}

const pagesOf = <T>(all: T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / PAGE) }, (_, i) =>
    all.slice(i * PAGE, (i + 1) * PAGE),
  )

function* windowsOf({ from, to }: Period): Generator<Period> {
  for (let start = from; start < to; ) {
    const end = new Date(Math.min(start.getTime() + WINDOW_MS, to.getTime()))
    yield { from: start, to: end }
    start = end
  }
}

/** Lists all that the bank has moved in a period, in windows that every bank accepts. */
async function listTransfers(
  provider: Provider,
  company: Company,
  period: Period,
): Promise<BankTransfer[]> {
  const transfers = new Map<string, BankTransfer>()
  for (const window of windowsOf(period)) {
    for (const transfer of unwrap(await provider.listTransfers(company, window))) {
      transfers.set(`${transfer.direction} ${transfer.endToEndId}`, transfer)
    }
  }
  return [...transfers.values()].sort((a, b) => a.at.getTime() - b.at.getTime())
}

/**
 * The ids of payments in a period before the bank was connected that name no charge and no static
 * code of ours.
 */
async function findForeign(
  { db }: Uses<'db'>,
  provider: Provider,
  company: Company,
  period: Period,
): Promise<Set<string>> {
  const foreign = new Set<string>()
  for (const window of windowsOf(period)) {
    const received = unwrap(await provider.listReceived(company, window))
    const names = received.map(({ txid }) => namedBy(txid))
    const ids = names.flatMap((name) => (name ? Object.values<Uuid>(name) : []))
    const own = await findNamed(db, company.id, ids)
    for (const [i, { endToEndId }] of received.entries()) {
      const [id] = Object.values<Uuid>(names[i] ?? {})
      if (!id || !own.has(id)) foreign.add(endToEndId)
    }
  }
  return foreign
}

/** Compares each transfer of the bank with our record of it. */
async function compare(
  { db }: Uses<'db'>,
  { source }: Provider,
  companyId: Uuid,
  transfers: BankTransfer[],
  foreign: Set<string>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const page of pagesOf(transfers)) {
    const ids = page.map(({ endToEndId }) => endToEndId)
    const orderIds = page.flatMap(({ orderId }) => (orderId ? [orderId] : []))
    const returnedIds = page.flatMap(({ paymentId }) => paymentId ?? [])
    const found = await findByIds(db, companyId, source, [...ids, ...returnedIds])
    const payments = new Map(found.map((payment) => [payment.endToEndId, payment]))
    const ordered = await findOrders(db, companyId, orderIds)
    const orders = new Map(ordered.map((order) => [order.id, order]))
    const refunds = await listOfPayments(db, companyId, source, returnedIds)
    const returns = new Map(refunds.map((refund) => [refund.returnId, refund]))
    findings.push(
      ...page.map((transfer): Finding => {
        const [kind, about] =
          transfer.direction === 'received'
            ? compareReceived(transfer, payments.get(transfer.endToEndId), foreign)
            : compareOut(transfer, orders, returns, foreign)
        return { transfer, kind, about }
      }),
    )
  }
  return findings
}

type Result = [kind: Kind, about: string]

const differs = (amount: Cents): Result => ['missing', `our records say ${formatReais(amount)}`]

function compareReceived(
  { amount, endToEndId }: BankTransfer,
  payment: Payment | undefined,
  foreign: Set<string>,
): Result {
  if (!payment && foreign.has(endToEndId)) {
    return ['unmatched', 'it arrived before the bank was connected, for nothing of ours']
  }
  if (!payment) return ['missing', 'we have nothing of it']
  if (payment.amount !== amount) return differs(payment.amount)
  if (payment.status !== 'UNMATCHED') return ['matched', payment.status]
  return ['unmatched', `it pays no charge (${payment.reason}) and waits for a decision`]
}

/** Compares what was sent or returned with our order, or with what the bank returned by itself. */
function compareOut(
  transfer: BankTransfer,
  orders: Map<Uuid, OrderState>,
  returns: Map<string | null, Refund>,
  foreign: Set<string>,
): Result {
  const { amount, direction, endToEndId, orderId, paymentId } = transfer
  const order = orders.get(orderId ?? '')
  if (order) return compareOrder(amount, order)
  if (direction === 'sent') return ['unmatched', 'it was sent at the bank, and not ordered here']
  const refund = returns.get(endToEndId)
  if (refund && refund.amount !== amount) return differs(refund.amount)
  if (refund) return ['matched', `returned by the bank, ${toPublic('rfnd', refund.id)}`]
  if (foreign.has(paymentId ?? '')) return ['unmatched', 'it returns a payment that is not ours']
  return ['missing', 'the bank returned it by itself, and we have nothing of it']
}

function compareOrder(amount: Cents, order: OrderState): Result {
  const name = `${order.kind === 'wd' ? 'withdrawal' : 'refund'} ${toPublic(order.kind, order.id)}`
  if (order.amount !== amount) return differs(order.amount)
  if (order.status === 'COMPLETED') return ['matched', name]
  if (order.status === 'FAILED') return ['unmatched', `our ${name} is FAILED`]
  return ['missing', `our ${name} is PROCESSING still`]
}

/**
 * Compares our records that the bank did not list. The bank is asked for each by its id before it
 * counts as missing.
 */
async function compareUnlisted(
  { db }: Uses<'db'>,
  provider: Provider,
  company: Company,
  period: Period,
  transfers: BankTransfer[],
): Promise<Finding[]> {
  const listed = new Set(transfers.map(({ endToEndId }) => endToEndId))
  const ordered = new Set(transfers.map(({ orderId }) => orderId))
  const unlisted = (await listReceived(db, company.id, period)).filter(
    ({ endToEndId }) => !listed.has(endToEndId),
  )
  const findings: Finding[] = []
  for (const page of pagesOf(unlisted)) {
    const ids = page.map(({ endToEndId }) => endToEndId)
    const found = unwrap(await provider.findReceived(company, ids))
    const amounts = new Map(found.map(({ endToEndId, amount }) => [endToEndId, amount]))
    for (const payment of page) {
      const transfer = { ...payment, ...NOTHING, direction: 'received' } as const
      findings.push(findingOf(transfer, amounts.get(payment.endToEndId) === payment.amount))
    }
  }
  for (const refund of await listReturned(db, company.id, period)) {
    if (ordered.has(refund.id) || listed.has(refund.returnId)) continue
    const { endToEndId, amount, at } = refund
    const transfer = { ...NOTHING, direction: 'returned', endToEndId, amount, at } as const
    findings.push(findingOf(transfer, await isReturned(provider, company, refund)))
  }
  return findings
}

const NOTHING = { orderId: null, txid: null, paymentId: null }

/** Whether the bank has made a refund, or a return of its own. */
async function isReturned(
  provider: Provider,
  company: Company,
  refund: RecordedRefund,
): Promise<boolean> {
  if (!refund.isByBank) {
    const outcome = await provider.findRefund(company, refund)
    return outcome.kind !== 'rejected' && unwrap(outcome) !== null
  }
  const [pix] = unwrap(await provider.findReceived(company, [refund.endToEndId]))
  return hasReturned(pix, refund)
}

const findingOf = (transfer: BankTransfer, isAtBank: boolean): Finding => ({
  transfer,
  kind: isAtBank ? 'matched' : 'missing',
  about: isAtBank ? 'the bank has it' : 'we have it, and the bank does not',
})

/** Records what only the bank has. Returns how many transfers are recorded now. */
async function recordFound(
  app: App,
  provider: Provider,
  company: Company,
  findings: Finding[],
  foreign: Set<string>,
): Promise<number> {
  const missing = findings.flatMap(({ kind, transfer }) => (kind === 'missing' ? [transfer] : []))
  const received = findings.flatMap(({ kind, transfer }) => {
    const isWanted = kind === 'missing' || mayMatch(kind, transfer, foreign)
    return isWanted && transfer.direction === 'received' ? [transfer] : []
  })
  const wanted = new Set(received.map(({ endToEndId }) => endToEndId))
  const { source } = provider
  let recorded = 0
  for (const window of windowsAround(received)) {
    // Only this list says what a payment is for.
    const listed = unwrap(await provider.listReceived(company, window))
    for (const page of pagesOf(listed.filter(({ endToEndId }) => wanted.has(endToEndId)))) {
      const results = await app.db.transaction((tx) =>
        matchPayments(tx, app, company, page, { source, now: app.clock.now() }),
      )
      recorded += results.filter(({ kind }) => kind !== 'known').length
    }
  }
  const returned = missing.flatMap(({ paymentId }) => paymentId ?? [])
  for (const page of pagesOf([...new Set(returned)])) {
    const found = unwrap(await provider.findReceived(company, page))
    recorded += await recordReturns(app, company, source, found)
  }
  for (const { direction, orderId } of missing) {
    if (direction === 'returned' && orderId && (await completeRefund(app, company.id, orderId))) {
      recorded += 1
    }
  }
  return recorded
}

/** Whether a payment that matched no charge may match one now, because the bank names one. */
const mayMatch = (kind: Kind, { txid, endToEndId }: BankTransfer, foreign: Set<string>): boolean =>
  kind === 'unmatched' && namedBy(txid) !== null && !foreign.has(endToEndId)

/** The windows from the first transfer to the last. */
function windowsAround(transfers: BankTransfer[]): Iterable<Period> {
  const [first, last] = [transfers[0], transfers.at(-1)]
  if (!first || !last) return []
  return windowsOf({ from: first.at, to: new Date(last.at.getTime() + 1) })
}

/** Asks the bank now about a refund that it has made, instead of at the next attempt. */
async function completeRefund(
  app: Uses<'counters' | 'db' | 'log' | 'providers' | 'systemClock' | 'vault'>,
  companyId: Uuid,
  id: Uuid,
): Promise<boolean> {
  const refund = await findRefund(app.db, companyId, id)
  if (refund?.status !== 'PROCESSING') return false
  await returnMoney(app, { companyId, order: refund, orderedBefore: true })
  return (await findRefund(app.db, companyId, id))?.status === 'COMPLETED'
}
