import { serializationConflict, type Tx } from '../../db/database.ts'
import { post } from '../../ledger/post.ts'
import { chargePaid, type Posting, paymentMatched, paymentUnmatched } from '../../ledger/recipes.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Vault } from '../../lib/vault.ts'
import type { ReceivedPix, Source } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { receiptMails } from '../charges/notify.ts'
import { record } from '../charges/record.ts'
import type { Charge, Match, StaticCode, Terms } from '../charges/rules.ts'
import { matchPayment, saleOf } from '../charges/rules.ts'
import { findStaticCodes } from '../charges/static-store.ts'
import { lock } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { emit, paymentEvent } from '../events.ts'
import { queueMails } from '../mails/store.ts'
import { isBooked, isToMatch, type Payment, payableBy } from './rules.ts'
import { sealPayer } from './sealing.ts'
import * as store from './store.ts'

/** The source of the money decides what it can pay, and whether it is booked. */
export type Arrival = { source: Source; now: Date }

/** What became of a payment: it paid a charge, it matched none, or it was recorded before. */
export type MatchResult = Match | { kind: 'known' }

/**
 * Matches payments that the bank has confirmed to the company's charges, whoever reported them. A
 * payment is recorded once, by its source and the scheme's id, so this can be repeated. If one was
 * recorded as unknown and the bank names now what it is for, it is matched now. Payments that
 * arrive together change the balance once.
 */
export async function matchPayments(
  tx: Tx,
  app: Pick<App, 'vault' | 'systemClock'>,
  company: Company,
  payments: ReceivedPix[],
  arrival: Arrival,
): Promise<MatchResult[]> {
  const distinct = [...new Map(payments.map((pix) => [pix.endToEndId, pix])).values()]
  // Lock first, then look up the recorded payments, because another transaction may be recording
  // the same payment at this moment.
  const named = payable(await lockNamed(tx, company.id, distinct), company, arrival.source)
  const open = await findOpen(tx, company.id, arrival.source, distinct)
  const { now } = arrival
  const booked = isBooked(company, arrival.source)
  const terms = { delay_s: company.settlementDelay_s, booked, now }
  const decided = decide(open.sort(byArrival), named, terms)
  await write(tx, app.vault, company.id, decided, { ...arrival, booked })
  const paid = decided.flatMap(({ match }) => (match.kind === 'paid' ? [match.charge] : []))
  await queueMails(tx, app.vault, receiptMails(app, company, paid))
  const isNew = ({ match, earlier }: Decision) => earlier === null || match.kind === 'paid'
  const matches = new Map(decided.filter(isNew).map(({ pix, match }) => [pix.endToEndId, match]))
  return payments.map(({ endToEndId }) => matches.get(endToEndId) ?? { kind: 'known' })
}

/** A payment to decide about. `earlier` is its record, if it was recorded as unknown. */
type OpenPayment = { pix: ReceivedPix; earlier: Payment | null }

/** The payments that are new, or were recorded as unknown and name something now. */
async function findOpen(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  payments: ReceivedPix[],
): Promise<OpenPayment[]> {
  const ids = payments.map(({ endToEndId }) => endToEndId)
  const recorded = await store.findRecorded(tx, companyId, source, ids)
  const toMatch = payments.filter((pix) => isToMatch(pix, recorded.get(pix.endToEndId)))
  const unknownIds = toMatch.flatMap(({ endToEndId: id }) => (recorded.has(id) ? [id] : []))
  const locked = await store.lockUnknown(tx, companyId, source, unknownIds)
  const unknown = new Map(locked.map((payment) => [payment.endToEndId, payment]))
  return toMatch.flatMap((pix): OpenPayment[] => {
    if (!recorded.has(pix.endToEndId)) return [{ pix, earlier: null }]
    const earlier = unknown.get(pix.endToEndId)
    // The merchant may have decided about it at this moment.
    if (!earlier) return []
    const { amount, receivedAt } = earlier
    return [{ pix: { ...pix, amount, receivedAt }, earlier }]
  })
}

const byArrival = ({ pix: a }: OpenPayment, { pix: b }: OpenPayment) =>
  a.receivedAt.getTime() - b.receivedAt.getTime() || (a.endToEndId < b.endToEndId ? -1 : 1)

/** The charges and static codes that payments name. */
type Named = { charges: Map<Uuid, Charge>; codes: Map<Uuid, StaticCode> }

async function lockNamed(tx: Tx, companyId: Uuid, payments: ReceivedPix[]): Promise<Named> {
  const names = payments.map(({ txid }) => namedBy(txid))
  const chargeIds = names.flatMap((name) => (name && 'charge' in name ? [name.charge] : []))
  const codeIds = names.flatMap((name) => (name && 'code' in name ? [name.code] : []))
  const charges = chargeIds.length > 0 ? await lock(tx, companyId, chargeIds) : []
  const codes = codeIds.length > 0 ? await findStaticCodes(tx, companyId, codeIds) : []
  return {
    charges: new Map(charges.map((charge) => [charge.id, charge])),
    codes: new Map(codes.map((code) => [code.id, code])),
  }
}

/** Keeps what the source can pay: a real bank pays no trial, and play money no real charge. */
function payable({ charges, codes }: Named, company: Company, source: Source): Named {
  const isPayable = ({ devMode }: { devMode: boolean }) => payableBy(company, devMode) === source
  return {
    charges: new Map([...charges].filter(([, charge]) => isPayable(charge))),
    codes: new Map([...codes].filter(([, code]) => isPayable(code))),
  }
}

type Decision = OpenPayment & { match: Match; chargeId: Uuid | null }

/** Decides one payment after the other, because the first may pay the charge of the second. */
function decide(payments: OpenPayment[], { charges, codes }: Named, terms: Terms): Decision[] {
  const current = new Map(charges)
  return payments.map(({ pix, earlier }) => {
    const name = namedBy(pix.txid)
    const charge = name && 'charge' in name ? current.get(name.charge) : undefined
    const code = name && 'code' in name ? codes.get(name.code) : undefined
    const match = charge
      ? matchPayment(charge, pix, terms)
      : code
        ? saleOf(code, pix, terms)
        : ({ kind: 'unmatched', reason: 'UNKNOWN' } as const)
    if (match.kind !== 'paid') return { pix, earlier, match, chargeId: charge?.id ?? null }
    current.set(match.charge.id, match.charge)
    // An event that the payment matches no charge was sent before, so this one must not be older.
    const dated = earlier ? { ...match, at: terms.now } : match
    return { pix, earlier, match: dated, chargeId: match.charge.id }
  })
}

type Booking = Arrival & { booked: boolean }

async function write(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  decided: Decision[],
  arrival: Booking,
): Promise<void> {
  const { booked, now } = arrival
  if (decided.length === 0) return
  const fresh = decided.filter(({ earlier }) => earlier === null)
  const payments = fresh.map((decision) => toPayment(vault, companyId, decision, arrival))
  if (!(await store.insert(tx, payments))) throw serializationConflict()
  const renamed = decided.flatMap(toRenamed)
  for (const payment of renamed) await store.updateMatch(tx, payment)
  const changes = decided.flatMap(({ match }) => (match.kind === 'paid' ? [match] : []))
  await record(tx, companyId, changes)
  const unmatched = payments.filter(({ reason }) => reason !== null)
  await emit(
    tx,
    unmatched.map((payment) => paymentEvent('payment.unmatched', payment, now)),
  )
  const matchedNow = renamed.filter(({ status }) => status === 'MATCHED')
  const postings = [...payments.map(postingOf), ...matchedNow.map(paymentMatched)]
  await post(tx, companyId, booked ? postings : [], now)
}

/**
 * The record of a payment whose txid the bank names only now. There is no second event if it still
 * matches no charge. Empty if it is new, or if the txid is of nothing that we know.
 */
function toRenamed({ pix: { txid }, earlier, match, chargeId }: Decision): Payment[] {
  if (!earlier) return []
  if (match.kind === 'paid') {
    return [{ ...earlier, txid, chargeId, status: 'MATCHED', reason: null, payer: null }]
  }
  return match.reason === 'UNKNOWN' ? [] : [{ ...earlier, txid, chargeId, reason: match.reason }]
}

function toPayment(
  vault: Vault,
  companyId: Uuid,
  decision: Decision,
  { source, booked, now }: Booking,
): Payment {
  const { match, chargeId } = decision
  const { payer, returns: _, ...pix } = decision.pix
  const isMatched = match.kind === 'paid'
  return {
    ...pix,
    companyId,
    id: newId(),
    source,
    chargeId,
    booked,
    returned: toCents(0),
    createdAt: now,
    // A charge has its payer. Only if there is no charge, keep the payer that the bank names.
    payer: payer && !isMatched ? sealPayer(vault, { companyId, ...pix }, payer) : null,
    status: isMatched ? 'MATCHED' : 'UNMATCHED',
    reason: isMatched ? null : match.reason,
  }
}

const postingOf = (payment: Payment): Posting =>
  payment.status === 'MATCHED' ? chargePaid(payment) : paymentUnmatched(payment)
