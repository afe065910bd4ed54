import { readStatement, type StatementEntry } from '../../ledger/statement.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import type { BankTransfer, Outcome, Provider } from '../../provider/port.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { amountsOfOrders, amountsOfPayments } from './store.ts'

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

/** The last moment of which the bank can be expected to have told us all. */
export const bankHorizon = (now: Date): Date => new Date(now.getTime() - GRACE_MS)

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
    const ours = direction === 'received' ? payments.get(endToEndId) : orders.get(orderId ?? '')
    if (ours === amount) return []
    return [
      `the bank has ${direction} ${amount} in ${endToEndId}, our records say ${ours ?? 'nothing'}`,
    ]
  })
}

/** Whether all that we have booked against the bank since an entry has really moved there. */
export async function compareBooked(
  app: App,
  provider: Provider,
  company: Company,
  since: number,
  until: number,
): Promise<string[]> {
  const faults: string[] = []
  for (let after = since; after < until; ) {
    const page = await readStatement(app.db, company.id, {
      ...{ limit: PAGE, after, order: 'oldest first', kind: null, account: null },
      ...{ from: null, to: null },
    })
    const entries = page.filter(({ entry }) => entry <= until)
    faults.push(...(await compareEntries(provider, company, entries)))
    after = page.at(-1)?.entry ?? until
  }
  return faults
}

async function compareEntries(
  provider: Provider,
  company: Company,
  entries: StatementEntry[],
): Promise<string[]> {
  const arrived = entries.filter(({ kind }) => ARRIVALS.has(kind))
  const ids = arrived.map(({ ref }) => ref)
  const known = new Map(
    (ids.length > 0 ? told(await provider.findReceived(company, ids)) : []).map(
      ({ endToEndId, amount }) => [endToEndId, amount],
    ),
  )
  const faults = arrived.flatMap(({ ref, amount }) =>
    known.get(ref) === amount
      ? []
      : [`${amount} of ${ref} are booked, the bank says ${known.get(ref) ?? 'nothing'}`],
  )
  for (const entry of entries) {
    if (!(await hasLeft(provider, company, entry))) {
      faults.push(`${entry.amount} of ${entry.ref} are booked as paid, the bank has not sent them`)
    }
  }
  return faults
}

const ARRIVALS = new Set(['CHARGE_PAID', 'PAYMENT_UNMATCHED'])

/** True for entries that are not about money which left. */
async function hasLeft(
  provider: Provider,
  company: Company,
  { kind, ref, amount }: StatementEntry,
): Promise<boolean> {
  if (kind === 'WITHDRAWAL_PAID') {
    const order = { id: fromPublic('wd', ref)!, amount, pixKey: company.pixKey }
    return told(await provider.findSent(company, order)) !== null
  }
  if (kind === 'REFUND_PAID') {
    const order = { id: fromPublic('rfnd', ref)!, amount, endToEndId: '' }
    return told(await provider.findRefund(company, order)) !== null
  }
  return true
}
