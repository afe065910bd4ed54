import { readStatement, type StatementEntry } from '../../ledger/statement.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import type { BankTransfer, Outcome, Provider } from '../../provider/port.ts'
import type { App } from '../app.ts'
import { nowOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findAskedUntil } from '../payments/reconcile-store.ts'
import { OVERLAP_MS } from '../payments/rules.ts'
import { find as findRefund } from '../refunds/store.ts'
import { find as findWithdrawal } from '../withdrawals/store.ts'
import { amountsOfOrders, amountsOfPayments, spanOfPayments } from './store.ts'

/** A callback is given this long to arrive before its payment is missed. */
const GRACE_MS = 120_000
const WINDOW_MS = 6 * 3600 * 1000
const PAGE = 500

/** The bank cannot be asked now: that is no difference, but nothing is proved either. */
export class BankSilent extends Error {}

function told<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'accepted') return outcome.value
  throw new BankSilent(outcome.reason)
}

/**
 * The last moment of which all that the bank has moved can be expected to be settled here: a real
 * bank may lose a callback, and what it received is then found by asking.
 */
export async function bankHorizon(app: App, company: Company): Promise<Date> {
  const grace = new Date(nowOf(app, company).getTime() - GRACE_MS)
  if (app.providers.bankOf(company) === app.providers.simulator) return grace
  const asked = await findAskedUntil(app.db, company.id)
  const listed = new Date((asked ?? company.createdAt).getTime() - OVERLAP_MS)
  return listed < grace ? listed : grace
}

/** Whether all that the bank has moved in a period stands in our records, in the same amount. */
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
    const transfers = told(await provider.listTransfers(company, { from: start, to: end }))
    for (let i = 0; i < transfers.length; i += PAGE) {
      faults.push(...(await compareTransfers(app, company.id, transfers.slice(i, i + PAGE))))
    }
    start = end
  }
  return faults
}

async function compareTransfers(
  { db }: App,
  companyId: Uuid,
  transfers: BankTransfer[],
): Promise<string[]> {
  const received = transfers.filter(({ direction }) => direction === 'received')
  const paid = transfers.filter(({ direction }) => direction !== 'received')
  const payments = await amountsOfPayments(
    db,
    companyId,
    received.map(({ endToEndId }) => endToEndId),
  )
  const orders = await amountsOfOrders(
    db,
    companyId,
    paid.flatMap(({ orderId }) => (orderId ? [orderId] : [])),
  )
  return transfers.flatMap(({ direction, endToEndId, orderId, amount }) => {
    // What somebody returned without us is no order of ours; `vintem bank reconcile` shows it.
    if (direction === 'returned' && orderId === null) return []
    const ours = direction === 'received' ? payments.get(endToEndId) : orders.get(orderId ?? '')
    if (ours === amount) return []
    return [
      `the bank has ${direction} ${amount} in ${endToEndId}, our records say ${ours ?? 'nothing'}`,
    ]
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
      ...{ limit: PAGE, after, order: 'oldest first', kind: null, account: null },
      ...{ from: null, to: null },
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
  const arrived = entries.filter(({ kind }) => ARRIVALS.has(kind))
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
    if (!(await hasLeft(app, provider, company, entry))) {
      faults.push(`${entry.amount} of ${entry.ref} are booked as paid, the bank has not sent them`)
    }
  }
  return faults
}

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
  const span = isListed ? await spanOfPayments(db, company.id, ids) : null
  const listed = span ? told(await provider.listReceived(company, span)) : []
  const known = new Map(listed.map(({ endToEndId, amount }) => [endToEndId, amount]))
  const rest = ids.filter((id) => !known.has(id))
  const named = rest.length > 0 ? told(await provider.findReceived(company, rest)) : []
  for (const { endToEndId, amount } of named) known.set(endToEndId, amount)
  return known
}

const ARRIVALS = new Set(['CHARGE_PAID', 'PAYMENT_UNMATCHED'])

/** True for entries that are not about money which left. */
async function hasLeft(
  { db, providers }: App,
  provider: Provider,
  company: Company,
  { kind, ref, amount }: StatementEntry,
): Promise<boolean> {
  if (kind === 'WITHDRAWAL_PAID') {
    const withdrawal = await findWithdrawal(db, company.id, fromPublic('wd', ref)!)
    const payouts = providers.payoutsOf(company)
    // What an operator has sent by hand stands on the operator's word.
    if (!withdrawal || withdrawal.manual || !payouts) return withdrawal !== null
    const order = { id: withdrawal.id, amount, pixKey: withdrawal.destination }
    return told(await payouts.findSent(company, order)) !== null
  }
  if (kind === 'REFUND_PAID') {
    const refund = await findRefund(db, company.id, fromPublic('rfnd', ref)!)
    return refund !== null && told(await provider.findRefund(company, refund)) !== null
  }
  return true
}
