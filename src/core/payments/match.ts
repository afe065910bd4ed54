import { serializationConflict, type Tx } from '../../db/database.ts'
import { post } from '../../ledger/post.ts'
import { chargePaid, type Posting, paymentUnmatched } from '../../ledger/recipes.ts'
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
import { isBooked, type Payment, payableBy } from './rules.ts'
import { sealPayer } from './sealing.ts'
import * as store from './store.ts'

/** The source of the money decides what it can pay, and whether it is booked. */
export type Arrival = { source: Source; now: Date }

/** What became of a payment: it paid a charge, it matched none, or it was recorded before. */
export type MatchResult = Match | { kind: 'known' }

/**
 * Matches payments that the bank has confirmed to the company's charges, whoever reported them. A
 * payment is recorded once, by its source and the scheme's id, so this can be repeated. Payments
 * that arrive together change the balance once.
 */
export async function matchPayments(
  tx: Tx,
  app: Pick<App, 'vault' | 'systemClock'>,
  company: Company,
  payments: ReceivedPix[],
  arrival: Arrival,
): Promise<MatchResult[]> {
  const distinct = [...new Map(payments.map((pix) => [pix.endToEndId, pix])).values()]
  // Lock first, then look up the known payments, because another transaction may be recording the
  // same payment at this moment.
  const named = payable(await lockNamed(tx, company.id, distinct), company, arrival.source)
  const ids = distinct.map(({ endToEndId }) => endToEndId)
  const known = await store.findKnown(tx, company.id, arrival.source, ids)
  const fresh = distinct.filter(({ endToEndId }) => !known.has(endToEndId)).sort(byArrival)
  const terms = { delay_s: company.settlementDelay_s, booked: isBooked(company, arrival.source) }
  const decided = decide(fresh, named, terms)
  await write(tx, app.vault, company.id, decided, { ...arrival, booked: terms.booked })
  const paid = decided.flatMap(({ match }) => (match.kind === 'paid' ? [match.charge] : []))
  await queueMails(tx, app.vault, receiptMails(app, company, paid))
  const matches = new Map(decided.map(({ pix, match }) => [pix.endToEndId, match]))
  return payments.map(({ endToEndId }) => matches.get(endToEndId) ?? { kind: 'known' })
}

const byArrival = (a: ReceivedPix, b: ReceivedPix) =>
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

type Decision = { pix: ReceivedPix; match: Match; chargeId: Uuid | null }

/** Decides one payment after the other, because the first may pay the charge of the second. */
function decide(payments: ReceivedPix[], { charges, codes }: Named, terms: Terms): Decision[] {
  const current = new Map(charges)
  return payments.map((pix) => {
    const name = namedBy(pix.txid)
    const charge = name && 'charge' in name ? current.get(name.charge) : undefined
    const code = name && 'code' in name ? codes.get(name.code) : undefined
    const match = charge
      ? matchPayment(charge, pix, terms)
      : code
        ? saleOf(code, pix, terms)
        : ({ kind: 'unmatched', reason: 'UNKNOWN' } as const)
    if (match.kind !== 'paid') return { pix, match, chargeId: charge?.id ?? null }
    current.set(match.charge.id, match.charge)
    return { pix, match, chargeId: match.charge.id }
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
  const payments = decided.map((decision) => toPayment(vault, companyId, decision, arrival))
  if (!(await store.insert(tx, companyId, payments))) throw serializationConflict()
  const changes = decided.flatMap(({ match }) => (match.kind === 'paid' ? [match] : []))
  await record(tx, companyId, changes)
  const unmatched = payments.filter(({ reason }) => reason !== null)
  await emit(
    tx,
    unmatched.map((payment) => paymentEvent('payment.unmatched', payment, now)),
  )
  await post(tx, companyId, booked ? payments.map(postingOf) : [], now)
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
