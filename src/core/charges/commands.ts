import type { Tx } from '../../db/database.ts'
import { violatedConstraint } from '../../db/database.ts'
import { endOfTick } from '../../lib/end-of-tick.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { accepted } from '../../provider/providers.ts'
import type { App } from '../app.ts'
import { find as findBilling } from '../billings/store.ts'
import type { Company } from '../companies/rules.ts'
import type { IdempotencyRef, StoredResponse } from '../idempotency.ts'
import type { AppWithCharges } from './group.ts'
import { withBankCode } from './intents.ts'
import { mailsOfCreation } from './notify.ts'
import { forgetRequest, lockCharge, record } from './record.ts'
import * as rules from './rules.ts'
import { type Charge, newCharge } from './rules.ts'
import * as store from './store.ts'

/** A charge as the merchant wants it, before the bank has issued a code for it. */
export type Draft = Pick<
  Charge,
  | 'kind'
  | 'amount'
  | 'devMode'
  | 'externalId'
  | 'description'
  | 'fingerprint'
  | 'customerId'
  | 'payer'
  | 'link'
> & { lifetime_s: number; emailIndex: Buffer | null }

function chargeOf(
  company: Company,
  { lifetime_s: _, emailIndex: __, ...fields }: Draft,
  { id, createdAt, expiresAt, brCode }: Pick<Charge, 'id' | 'createdAt' | 'expiresAt' | 'brCode'>,
): Charge {
  return newCharge({
    ...fields,
    companyId: company.id,
    id,
    paymentStatus: brCode === null ? 'PENDING' : 'PROCESSING',
    brCode,
    createdAt,
    expiresAt,
  })
}

/** A link without a code: the bank issues one when the payer opens it. */
function linkOf(app: App, company: Company, draft: Draft): Charge {
  // Throws if no bank is connected that could issue one.
  app.providers.of(company, draft.devMode)
  const createdAt = app.clock.now()
  const expiresAt = new Date(createdAt.getTime() + draft.lifetime_s * 1000)
  return chargeOf(company, draft, { id: newId(), createdAt, expiresAt, brCode: null })
}

/** How the response to a creation is made, and what of it is stored for a retry. */
export type Showing<T> = {
  show(charge: Charge): T
  /** Both are null if the client sent no Idempotency-Key. */
  seal: ((shown: T) => StoredResponse) | null
  guard: IdempotencyRef | null
}

/** Asks the bank whether a charge was paid, and matches its payments. */
export type MatchPaid = (charge: Charge) => Promise<void>

/** Creates a charge, or finds the open one that the same request has created before. */
export async function createCharge<T extends object>(
  app: AppWithCharges,
  company: Company,
  draft: Draft,
  showing: Showing<T>,
  matchPaid: MatchPaid,
): Promise<{ shown: T; repeated: boolean }> {
  const insert = (charge: Charge) => write(app, { charge, draft }, showing)
  for (;;) {
    const earlier = await findEarlier(app, company, draft, matchPaid)
    if (earlier) return { shown: showing.show(earlier), repeated: true }
    try {
      const shown = await (draft.kind === 'LINK'
        ? insert(linkOf(app, company, draft))
        : withBankCode(app, company, draft, showing.guard, (code) =>
            insert(chargeOf(company, draft, code)),
          ))
      return { shown, repeated: false }
    } catch (error) {
      // If another request has created the same charge meanwhile, return that one.
      if (violatedConstraint(error) !== 'charges_open_external_id') throw error
    }
  }
}

/**
 * Inserts a charge and shows it. A response that is stored is made before the insert, because it is
 * part of it. Any other is made while the database works.
 */
async function write<T extends object>(
  app: AppWithCharges,
  { charge, draft: { emailIndex } }: { charge: Charge; draft: Draft },
  { show, seal }: Showing<T>,
): Promise<T> {
  const events = rules.eventsOfCreation(charge)
  const early = seal ? show(charge) : null
  const response = seal && early ? seal(early) : null
  const mails = mailsOfCreation(app, charge)
  const creation = { charge, emailIndex, events, response, mails, at: app.systemClock.now() }
  const written = app.charges.create(creation)
  written.catch(() => {})
  await endOfTick()
  const shown = early ?? show(charge)
  await written
  return shown
}

/**
 * The open charge that the same request has created before. If its deadline is over it may have
 * been paid in time, so the bank is asked first. If its bank is real, the task that expires charges
 * ends it, because the event has to wait. It only stops being the charge of this request.
 */
async function findEarlier(
  app: App,
  company: Company,
  { externalId, fingerprint }: Draft,
  matchPaid: MatchPaid,
): Promise<Charge | null> {
  if (externalId === null || fingerprint === null) return null
  const { id: companyId } = company
  const earlier = await store.findOpenByRequest(app.db, { companyId, externalId, fingerprint })
  if (!earlier || !rules.isDue(earlier, app.clock.now())) return earlier
  await matchPaid(earlier)
  const isAtRealBank = earlier.brCode !== null && hasRealBank(app, company, earlier)
  if (isAtRealBank) await forgetRequest(app.db, earlier)
  else await app.db.transaction((tx) => expireCharges(tx, companyId, [earlier.id], app.clock.now()))
  return null
}

function hasRealBank({ providers }: App, company: Company, { devMode }: Charge): boolean {
  const bank = devMode ? null : providers.bankOf(company)
  return bank !== null && bank !== providers.simulator
}

export async function findCharge(
  app: AppWithCharges,
  companyId: Uuid,
  id: Uuid | null,
): Promise<Charge> {
  const charge = id === null ? null : await app.charges.find({ companyId, id })
  if (!charge) throw problem('charge_not_found')
  return charge
}

/**
 * Removes a charge at the bank before it is canceled here, because a canceled charge must not be
 * paid. Returns whether the bank has canceled a collection.
 */
export async function removeChargeAtBank(
  app: App,
  company: Company,
  charge: Charge,
): Promise<boolean> {
  if (rules.cancel(charge, app.clock.now()) === 'already-canceled') return false
  const { id, recurrenceId, brCode, devMode } = charge
  const provider = app.providers.of(company, devMode)
  const removed = brCode ? accepted(await provider.removeCharge(company, id), provider) : null
  if (removed === 'paid') throw rules.notPayable('COMPLETED')
  const billing = recurrenceId === null ? null : await findBilling(app.db, company.id, id)
  if (!billing?.ordered) return false
  const collection = accepted(await provider.findCollection(company, id))
  if (collection?.status === 'PAID') throw rules.notPayable('COMPLETED')
  if (!collection) throw orderInProgress()
  const canceled = await provider.cancelCollection(company, id)
  // Some banks do not cancel a failed collection. They retry it only if they get an order.
  const isOver = collection.status === 'FAILED' && canceled.kind === 'rejected'
  if (!isOver) accepted(canceled, provider)
  return true
}

/** If the bank is getting the order of a charge now, its answer is not known yet. */
const orderInProgress = () =>
  problem(
    'service_unavailable',
    'The bank is receiving the order of the charge. Try again in a moment.',
  )

export async function cancelCharge(
  tx: Tx,
  app: App,
  companyId: Uuid,
  id: Uuid,
  isCanceledAtBank: boolean,
): Promise<{ charge: Charge; changed: boolean }> {
  const charge = await lockCharge(tx, companyId, id)
  const change = rules.cancel(charge, app.clock.now())
  if (change === 'already-canceled') return { charge, changed: false }
  if (charge.recurrenceId !== null && !isCanceledAtBank) {
    const billing = await findBilling(tx, companyId, id, 'for update')
    if (billing?.ordered) throw orderInProgress()
  }
  await record(tx, [change])
  return { charge: change.charge, changed: true }
}

export async function expireCharges(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<number> {
  const charges = await store.lockStates(tx, companyId, ids)
  const due = charges.filter((charge) => rules.isDue(charge, now))
  await record(
    tx,
    due.map((charge) => rules.expire(charge, now)),
  )
  return due.length
}
