import { toPublic, type Uuid } from '../../lib/ids.ts'
import { type Cents, formatReais, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { BankTransfer, Outcome, Period, Provider } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { matchPayments } from '../payments/match.ts'
import type { Payment } from '../payments/rules.ts'
import { findByIds } from '../payments/store.ts'
import { returnMoney } from '../refunds/returns.ts'
import { find as findRefund } from '../refunds/store.ts'
import {
  findNamed,
  findOrders,
  listArrived,
  listWentBack,
  type OrderState,
} from './reconcile-store.ts'
import { findBank } from './store.ts'

const WINDOW_MS = 24 * 3600 * 1000
const PART = 200

/** A movement of money, and in plain words what is to say of it. */
export type Line = Omit<BankTransfer, 'orderId' | 'txid'> & { about: string }

/**
 * What a comparison with the bank comes to. Unmatched: the bank has moved it, and we know of no
 * charge or order for it. Missing: one of the two has nothing of what the other has.
 */
export type Reconciliation = {
  matched: { count: number; amount: Cents }
  unmatched: Line[]
  missing: Line[]
  /** How many of those that were missing have been settled now. */
  settled: number
}

/** Compares a period of the bank's with ours. What is missing here is settled if that is wanted. */
export async function reconcileBank(
  anyApp: App,
  company: Company,
  { from, to }: Period,
  { settle }: { settle: boolean },
): Promise<Reconciliation> {
  const app = withCompanyClock(anyApp, company)
  const provider = app.providers.bankOf(company)
  if (!provider) {
    throw problem('provider_unavailable', 'No bank is connected to this company.')
  }
  const now = app.clock.now()
  const period = { from, to: earlier(to, now) }
  const since = (await findBank(app.db, company.id))?.connectedAt ?? company.createdAt
  const transfers = await listAll(provider, company, period)
  const foreign = await findForeign(app, provider, company, { ...period, to: earlier(since, to) })
  const findings = await compare(app, provider, company.id, transfers, foreign)
  const lost = await findLost(app, provider, company, period, transfers)
  const settled = settle ? await settleMissing(app, provider, company, findings) : 0
  const after =
    settled > 0 ? await compare(app, provider, company.id, transfers, foreign) : findings
  return { ...sum([...after, ...lost]), settled }
}

const earlier = (one: Date, other: Date): Date => (one < other ? one : other)

type Kind = 'matched' | 'unmatched' | 'missing'
type Finding = { transfer: BankTransfer; kind: Kind; about: string }

function sum(findings: Finding[]): Omit<Reconciliation, 'settled'> {
  const linesOf = (wanted: Kind): Line[] =>
    findings.flatMap(({ kind, about, transfer: { orderId: _order, txid: _txid, ...transfer } }) =>
      kind === wanted ? [{ ...transfer, about }] : [],
    )
  const matched = linesOf('matched')
  const amount = toCents(matched.reduce((total, line) => total + line.amount, 0))
  return {
    matched: { count: matched.length, amount },
    ...{ unmatched: linesOf('unmatched'), missing: linesOf('missing') },
  }
}

function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'accepted') return outcome.value
  throw problem('provider_unavailable', `The bank did not answer: ${outcome.reason}.`)
}

const partsOf = <T>(all: T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / PART) }, (_, i) =>
    all.slice(i * PART, (i + 1) * PART),
  )

function* windowsOf({ from, to }: Period): Generator<Period> {
  for (let start = from; start < to; ) {
    const end = new Date(Math.min(start.getTime() + WINDOW_MS, to.getTime()))
    yield { from: start, to: end }
    start = end
  }
}

/** All that the bank has moved in a period, in pieces that any bank answers. */
async function listAll(
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

/** What arrived before the bank was connected and for nothing of ours, by the scheme's ids. */
async function findForeign(
  { db }: App,
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

/** What our records say of what the bank has moved. */
async function compare(
  { db }: App,
  { source }: Provider,
  companyId: Uuid,
  transfers: BankTransfer[],
  foreign: Set<string>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const part of partsOf(transfers)) {
    const ids = part.map(({ endToEndId }) => endToEndId)
    const orderIds = part.flatMap(({ orderId }) => (orderId ? [orderId] : []))
    const found = await findByIds(db, companyId, source, ids)
    const payments = new Map(found.map((payment) => [payment.endToEndId, payment]))
    const ordered = await findOrders(db, companyId, orderIds)
    const orders = new Map(ordered.map((order) => [order.id, order]))
    findings.push(
      ...part.map((transfer): Finding => {
        const [kind, about] =
          transfer.direction === 'received'
            ? judgeArrival(transfer, payments.get(transfer.endToEndId), foreign)
            : judgeOrder(transfer, orders.get(transfer.orderId ?? ''))
        return { transfer, kind, about }
      }),
    )
  }
  return findings
}

type Verdict = [kind: Kind, about: string]

const differs = (amount: Cents): Verdict => ['missing', `our records say ${formatReais(amount)}`]

function judgeArrival(
  { amount, endToEndId }: BankTransfer,
  payment: Payment | undefined,
  foreign: Set<string>,
): Verdict {
  if (!payment && foreign.has(endToEndId)) {
    return ['unmatched', 'it arrived before the bank was connected, for nothing of ours']
  }
  if (!payment) return ['missing', 'we have nothing of it']
  if (payment.amount !== amount) return differs(payment.amount)
  if (payment.status !== 'UNMATCHED') return ['matched', payment.status]
  return ['unmatched', `it pays no charge (${payment.reason}) and waits for a decision`]
}

function judgeOrder({ amount, direction }: BankTransfer, order?: OrderState): Verdict {
  if (!order) return ['unmatched', `it was ${direction} at the bank, and not ordered here`]
  const name = `${order.kind === 'wd' ? 'withdrawal' : 'refund'} ${toPublic(order.kind, order.id)}`
  if (order.amount !== amount) return differs(order.amount)
  if (order.status === 'COMPLETED') return ['matched', name]
  if (order.status === 'FAILED') return ['unmatched', `our ${name} is FAILED`]
  return ['missing', `our ${name} is PROCESSING still`]
}

/** What we have and the bank did not list: it is asked for by name before it counts as missing. */
async function findLost(
  { db }: App,
  provider: Provider,
  company: Company,
  period: Period,
  transfers: BankTransfer[],
): Promise<Finding[]> {
  const listed = new Set(transfers.map(({ endToEndId }) => endToEndId))
  const ordered = new Set(transfers.map(({ orderId }) => orderId))
  const arrived = (await listArrived(db, company.id, period)).filter(
    ({ endToEndId }) => !listed.has(endToEndId),
  )
  const findings: Finding[] = []
  for (const part of partsOf(arrived)) {
    const ids = part.map(({ endToEndId }) => endToEndId)
    const found = unwrap(await provider.findReceived(company, ids))
    const known = new Map(found.map(({ endToEndId, amount }) => [endToEndId, amount]))
    for (const one of part) {
      const transfer = { ...one, direction: 'received', orderId: null, txid: null } as const
      findings.push(asked(transfer, known.get(one.endToEndId) === one.amount))
    }
  }
  for (const { id: orderId, ...refund } of await listWentBack(db, company.id, period)) {
    if (ordered.has(orderId)) continue
    const outcome = await provider.findRefund(company, { id: orderId, ...refund })
    const isThere = outcome.kind !== 'rejected' && unwrap(outcome) !== null
    findings.push(asked({ ...refund, direction: 'returned', orderId, txid: null }, isThere))
  }
  return findings
}

const asked = (transfer: BankTransfer, isThere: boolean): Finding => ({
  transfer,
  kind: isThere ? 'matched' : 'missing',
  about: isThere ? 'the bank has it' : 'we have it, and the bank does not',
})

/** Gives the number of those that were missing here and no longer are. */
async function settleMissing(
  app: App,
  provider: Provider,
  company: Company,
  findings: Finding[],
): Promise<number> {
  const missing = findings.flatMap(({ kind, transfer }) => (kind === 'missing' ? [transfer] : []))
  const arrivals = missing.filter(({ direction }) => direction === 'received')
  const wanted = new Set(arrivals.map(({ endToEndId }) => endToEndId))
  const { source } = provider
  let settled = 0
  for (const window of windowsAround(arrivals)) {
    // Only this list says what a payment is for.
    const received = unwrap(await provider.listReceived(company, window))
    for (const part of partsOf(received.filter(({ endToEndId }) => wanted.has(endToEndId)))) {
      const done = await app.db.transaction((tx) =>
        matchPayments(tx, app, company, part, { source, now: app.clock.now() }),
      )
      settled += done.filter(({ kind }) => kind !== 'known').length
    }
  }
  for (const { direction, orderId } of missing) {
    if (direction === 'returned' && orderId && (await concludeRefund(app, company.id, orderId))) {
      settled += 1
    }
  }
  return settled
}

/** From the first to the last of them. */
function windowsAround(transfers: BankTransfer[]): Iterable<Period> {
  const [first, last] = [transfers[0], transfers.at(-1)]
  if (!first || !last) return []
  return windowsOf({ from: first.at, to: new Date(last.at.getTime() + 1) })
}

/** A refund that the bank has made is asked about at once, not when its time comes. */
async function concludeRefund(app: App, companyId: Uuid, id: Uuid): Promise<boolean> {
  const refund = await findRefund(app.db, companyId, id)
  if (refund?.status !== 'PROCESSING') return false
  await returnMoney(app, { refund, orderedBefore: true })
  return (await findRefund(app.db, companyId, id))?.status === 'COMPLETED'
}
