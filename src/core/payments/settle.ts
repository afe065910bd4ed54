import { serializationConflict, type Tx } from '../../db/database.ts'
import { post } from '../../ledger/post.ts'
import { chargePaid, type Posting, paymentUnmatched } from '../../ledger/recipes.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { ReceivedPix, Source } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { receiptMails } from '../charges/notify.ts'
import type { Change, Charge, Settlement, StaticCode, Terms } from '../charges/rules.ts'
import { eventsOfCreation, saleOf, settle } from '../charges/rules.ts'
import { findStaticCodes } from '../charges/static-store.ts'
import { insertSales, lock, update } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { chargeEvent, collectionEvent, type Event, emit, paymentEvent } from '../events.ts'
import { queueMails } from '../mails/store.ts'
import { end as endBillings } from '../recurrences/billing-store.ts'
import { isBooked, type Payment, payableBy } from './rules.ts'
import { sealPayer } from './sealing.ts'
import * as store from './store.ts'

/** Where the money came from decides what it can pay, and whether it counts. */
export type Arrival = { source: Source; now: Date }

/** What a payment did: paid a charge, waits for a decision, or was here before. */
export type Settled = Settlement | { kind: 'known' }

/**
 * Settles what the scheme has confirmed, whoever reported it. Repeats change nothing: a payment
 * counts once, by its source and the scheme's own id. All that arrives together changes the balance
 * once.
 */
export async function settlePayments(
  tx: Tx,
  app: Pick<App, 'vault' | 'systemClock'>,
  company: Company,
  payments: ReceivedPix[],
  arrival: Arrival,
): Promise<Settled[]> {
  const distinct = [...new Map(payments.map((pix) => [pix.endToEndId, pix])).values()]
  // Locked before the known are looked up, so that a payment which another transaction settles at
  // this moment is among them.
  const named = payable(await lockNamed(tx, company.id, distinct), company, arrival.source)
  const ids = distinct.map(({ endToEndId }) => endToEndId)
  const known = await store.findKnown(tx, company.id, arrival.source, ids)
  const fresh = distinct.filter(({ endToEndId }) => !known.has(endToEndId)).sort(byArrival)
  const terms = { delay_s: company.settlementDelay_s, booked: isBooked(company, arrival.source) }
  const decided = decide(fresh, named, terms)
  await write(tx, app.vault, company.id, decided, { ...arrival, booked: terms.booked })
  const paid = decided.flatMap(({ settlement }) =>
    settlement.kind === 'paid' ? [settlement.charge] : [],
  )
  await queueMails(tx, app.vault, receiptMails(app, company, paid))
  const settlements = new Map(decided.map(({ pix, settlement }) => [pix.endToEndId, settlement]))
  return payments.map(({ endToEndId }) => settlements.get(endToEndId) ?? { kind: 'known' })
}

const byArrival = (a: ReceivedPix, b: ReceivedPix) =>
  a.receivedAt.getTime() - b.receivedAt.getTime() || (a.endToEndId < b.endToEndId ? -1 : 1)

/** What payments can name. */
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

/** What a source can pay: real money no trial, and play money nothing else. */
function payable({ charges, codes }: Named, company: Company, source: Source): Named {
  const isPayable = ({ devMode }: { devMode: boolean }) => payableBy(company, devMode) === source
  return {
    charges: new Map([...charges].filter(([, charge]) => isPayable(charge))),
    codes: new Map([...codes].filter(([, code]) => isPayable(code))),
  }
}

type Decision = { pix: ReceivedPix; settlement: Settlement; chargeId: Uuid | null }

/** Decides one payment after the other: the second for a charge meets it paid by the first. */
function decide(payments: ReceivedPix[], { charges, codes }: Named, terms: Terms): Decision[] {
  const current = new Map(charges)
  return payments.map((pix) => {
    const name = namedBy(pix.txid)
    const charge = name && 'charge' in name ? current.get(name.charge) : undefined
    const code = name && 'code' in name ? codes.get(name.code) : undefined
    const settlement = charge
      ? settle(charge, pix, terms)
      : code
        ? saleOf(code, pix, terms)
        : ({ kind: 'unmatched', reason: 'UNKNOWN' } as const)
    if (settlement.kind !== 'paid') return { pix, settlement, chargeId: charge?.id ?? null }
    current.set(settlement.charge.id, settlement.charge)
    return { pix, settlement, chargeId: settlement.charge.id }
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
  const changes = decided.flatMap(({ settlement }) =>
    settlement.kind === 'paid' ? [settlement] : [],
  )
  const charges = changes.map(({ charge }) => charge)
  const isSale = ({ kind }: Charge) => kind === 'STATIC'
  await update(
    tx,
    companyId,
    charges.filter((charge) => !isSale(charge)),
  )
  await insertSales(tx, companyId, charges.filter(isSale))
  const collected = charges.filter(({ recurrenceId }) => recurrenceId !== null).map(({ id }) => id)
  await endBillings(tx, companyId, collected, 'PAID')
  await emit(tx, [
    ...changes.flatMap(eventsOfPayment),
    ...payments.flatMap((payment) =>
      payment.reason ? [paymentEvent('payment.unmatched', payment, now)] : [],
    ),
  ])
  await post(tx, companyId, booked ? payments.map(postingOf) : [], now)
}

function toPayment(
  vault: Vault,
  companyId: Uuid,
  decision: Decision,
  { source, booked, now }: Booking,
): Payment {
  const { settlement, chargeId } = decision
  const { payer, ...pix } = decision.pix
  const matched = settlement.kind === 'paid'
  return {
    ...{ companyId, id: newId(), source, ...pix, chargeId, booked, createdAt: now },
    // A charge names its payer; only where there is none the bank's word is needed.
    payer: payer && !matched ? sealPayer(vault, { companyId, ...pix }, payer) : null,
    status: matched ? 'MATCHED' : 'UNMATCHED',
    reason: matched ? null : settlement.reason,
  }
}

const postingOf = (payment: Payment): Posting =>
  payment.status === 'MATCHED' ? chargePaid(payment) : paymentUnmatched(payment)

/** A sale through a static code begins and ends in one moment; it still tells all of it. */
function eventsOfPayment({ charge, event, at }: Change): Event[] {
  const created =
    charge.kind === 'STATIC' ? eventsOfCreation({ ...charge, paymentStatus: 'PROCESSING' }) : []
  const told = [...created, chargeEvent(event, charge, at)]
  if (charge.recurrenceId === null) return told
  return [...told, collectionEvent('subscription.charge.paid', charge, at)]
}
