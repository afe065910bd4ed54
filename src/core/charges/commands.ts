import type { Tx } from '../../db/database.ts'
import { violatedConstraint } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import { idOfSuffix, newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { turn } from '../../lib/turn.ts'
import type { ReceivedPix } from '../../provider/port.ts'
import { accepted } from '../../provider/providers.ts'
import { simulatePix } from '../../provider/simulator/simulator.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { chargeEvent, emit } from '../events.ts'
import type { KeptAnswer } from '../idempotency.ts'
import type { Change, Charge } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** A charge as the merchant wants it, before the bank has issued a code for it. */
export type Draft = Pick<
  Charge,
  'kind' | 'amount' | 'devMode' | 'externalId' | 'fingerprint' | 'customerId' | 'payer' | 'link'
> & { lifetime_s: number }

/** A charge is paid with a code, which a link gets only when a payer opens it. */
async function prepare(app: App, company: Company, draft: Draft): Promise<Charge> {
  const { lifetime_s, ...fields } = draft
  const id = newId()
  const createdAt = app.clock.now()
  const expiresAt = new Date(createdAt.getTime() + lifetime_s * 1000)
  const provider = app.providers.of(company, draft.devMode)
  const brCode =
    draft.kind === 'LINK'
      ? null
      : accepted(await provider.issueCharge(company, { id, amount: draft.amount, expiresAt }))
          .brCode
  return {
    ...fields,
    companyId: company.id,
    id,
    status: 'OPEN',
    paymentStatus: brCode === null ? 'PENDING' : 'PROCESSING',
    brCode,
    endToEndId: null,
    createdAt,
    expiresAt,
    paymentDate: null,
  }
}

/** How a charge is shown to who created it, and what is kept of that for a retry. */
export type Showing<T> = {
  show(charge: Charge): T
  /** Null when the client sent no Idempotency-Key. */
  keep: ((shown: T) => KeptAnswer) | null
}

/**
 * Creates a charge, or finds the open one that the same request has already made.
 */
export async function createCharge<T extends object>(
  app: App,
  company: Company,
  draft: Draft,
  showing: Showing<T>,
): Promise<{ shown: T; repeated: boolean }> {
  for (;;) {
    const twin = await findTwin(app, company.id, draft)
    if (twin) return { shown: showing.show(twin), repeated: true }
    const charge = await prepare(app, company, draft)
    try {
      return { shown: await write(app, charge, showing), repeated: false }
    } catch (error) {
      // The twin was made between our look and our insert: the next look finds it.
      if (violatedConstraint(error) !== 'charges_open_external_id') throw error
    }
  }
}

/** Only an answer that is kept must be there before the write; another is made while it runs. */
async function write<T extends object>(
  app: App,
  charge: Charge,
  { show, keep }: Showing<T>,
): Promise<T> {
  const events = rules.eventsOfCreation(charge)
  const early = keep ? show(charge) : null
  const kept = keep && early ? keep(early) : null
  const written = app.charges.create({ charge, events, kept })
  written.catch(() => {})
  await turn()
  const shown = early ?? show(charge)
  await written
  return shown
}

async function findTwin(
  app: App,
  companyId: Uuid,
  { externalId, fingerprint }: Draft,
): Promise<Charge | null> {
  if (externalId === null || fingerprint === null) return null
  const twin = await store.findOpenTwin(app.db, { companyId, externalId, fingerprint })
  if (!twin || !rules.isDue(twin, app.clock.now())) return twin
  await app.db.transaction((tx) => expireCharges(tx, companyId, [twin.id], app.clock.now()))
  return null
}

export async function findCharge(app: App, companyId: Uuid, id: Uuid | null): Promise<Charge> {
  const charge = id === null ? null : await app.charges.find({ companyId, id })
  if (!charge) throw problem('charge_not_found')
  return charge
}

/** The one way a charge changes: new state and event in the same transaction. */
async function record(tx: Tx, companyId: Uuid, changes: Change[]): Promise<void> {
  await store.update(
    tx,
    companyId,
    changes.map(({ charge }) => charge),
  )
  await emit(
    tx,
    changes.map(({ charge, event, at }) => chargeEvent(event, charge, at)),
  )
}

/** Settles what the scheme has confirmed, whoever reported it. Repeats change nothing. */
export async function settlePayments(
  tx: Tx,
  companyId: Uuid,
  payments: ReceivedPix[],
): Promise<rules.Settlement[]> {
  const ids = payments.map(({ txid }) => idOfSuffix(txid)!)
  const charges = new Map(
    (await store.lock(tx, companyId, ids)).map((charge) => [charge.id, charge]),
  )
  const changes = new Map<Uuid, Change>()
  const settlements = payments.map((pix, i) => {
    const charge = changes.get(ids[i]!)?.charge ?? charges.get(ids[i]!)
    assert(charge, 'a payment names a charge of its company')
    const settlement = rules.settle(charge, pix)
    if (settlement.kind === 'paid') changes.set(charge.id, settlement)
    return settlement
  })
  await record(tx, companyId, [...changes.values()])
  return settlements
}

/** Gives a dev-mode link its code, to be paid by simulation. */
async function issueCode(tx: Tx, app: App, company: Company, charge: Charge): Promise<Charge> {
  // The simulated bank answers without a network, so it may be asked inside the transaction.
  const { brCode } = accepted(await app.providers.simulator.issueCharge(company, charge))
  const change = rules.withCode(charge, brCode, app.clock.now())
  await record(tx, company.id, [change])
  return change.charge
}

/**
 * Pays a dev-mode charge as the scheme would: the simulated bank reports a Pix, and it is settled.
 */
export async function simulatePayment(
  tx: Tx,
  app: App,
  company: Company,
  id: Uuid,
): Promise<Charge> {
  const now = app.clock.now()
  const charge = await lockOne(tx, company.id, id)
  if (rules.simulation(charge, now) === 'already-paid') return charge
  if (charge.brCode === null) await issueCode(tx, app, company, charge)
  const [settlement] = await settlePayments(tx, company.id, [simulatePix(charge, now)])
  assert(settlement?.kind === 'paid', 'an open charge is paid by its exact amount')
  return settlement.charge
}

/** Takes the code back from the bank first: a canceled charge must not be payable there. */
export async function withdrawCode(app: App, company: Company, charge: Charge): Promise<void> {
  if (rules.cancel(charge, app.clock.now()) === 'already-canceled' || !charge.brCode) return
  accepted(await app.providers.of(company, charge.devMode).removeCharge(company, charge.id))
}

export async function cancelCharge(tx: Tx, app: App, companyId: Uuid, id: Uuid): Promise<Charge> {
  const charge = await lockOne(tx, companyId, id)
  const change = rules.cancel(charge, app.clock.now())
  if (change === 'already-canceled') return charge
  await record(tx, companyId, [change])
  return change.charge
}

export async function expireCharges(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<number> {
  const charges = await store.lock(tx, companyId, ids)
  const due = charges.filter((charge) => rules.isDue(charge, now))
  await record(
    tx,
    companyId,
    due.map((charge) => rules.expire(charge, now)),
  )
  return due.length
}

async function lockOne(tx: Tx, companyId: Uuid, id: Uuid): Promise<Charge> {
  const [charge] = await store.lock(tx, companyId, [id])
  if (!charge) throw problem('charge_not_found')
  return charge
}
