import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { fromPublic, newId, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import { localDateOf } from '../../pix/local-time.ts'
import type { Agreement, AgreementOrder } from '../../provider/port.ts'
import { accepted } from '../../provider/providers.ts'
import type { Uses } from '../app.ts'
import * as billings from '../billings/store.ts'
import { isOfPlainPages, readPageToken } from '../charges/addresses.ts'
import type { AppWithCharges } from '../charges/group.ts'
import { record } from '../charges/record.ts'
import {
  type Charge,
  cancel as cancelCharge,
  asOf as chargeAsOf,
  eventsOfCreation,
  isSubscriptionLink,
  type Payer,
} from '../charges/rules.ts'
import { requireWithin } from '../charges/split.ts'
import { findSplit } from '../charges/split-recipients.ts'
import {
  findMany as findCharges,
  insert as insertCharges,
  lock as lockCharges,
} from '../charges/store.ts'
import { forCompany, withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { checkDigitsFault, type Person } from '../customers/rules.ts'
import { emailIndexOf, openPerson, sealPerson } from '../customers/sealing.ts'
import { find as findCustomer, findOrCreate } from '../customers/store.ts'
import { type CancelReason, emit, type SubscriptionType, subscriptionEvent } from '../events.ts'
import { find as findProduct } from '../products/store.ts'
import { TASK } from '../tasks.ts'
import {
  AGREEMENT_LIFETIME_S,
  askAgainAt,
  asOf,
  cancellation,
  DEFAULT_DAY_DUE,
  generate,
  isGenerating,
  type Recurrence,
  type Terms,
  termsOf,
} from './rules.ts'
import * as store from './store.ts'
import {
  type NewRecurrence,
  type NewSubscription,
  type NewTemplate,
  type SubscriptionView,
  showToPayer,
} from './view.ts'

/** The payer who subscribes: a known customer, or a person as they were named. */
type Subscriber = { customerId: Uuid | null; person: Person }

async function findTerms(
  app: Uses<'db'>,
  companyId: Uuid,
  { productId, split: wanted }: Pick<Static<typeof NewTemplate>, 'productId' | 'split'>,
): Promise<Terms> {
  const id = fromPublic('prod', productId)
  const product = id && (await findProduct(app.db, companyId, id))
  if (!product) throw problem('product_not_found', 'productId: the company has no such product.')
  const terms = termsOf(product, await findSplit(app, companyId, wanted))
  requireWithin({ split: terms.split, amount: terms.value })
  return terms
}

async function findSubscriber(
  app: Uses<'db' | 'vault'>,
  companyId: Uuid,
  text: string,
): Promise<Subscriber> {
  const id = fromPublic('clnt', text)
  const customer = id && (await findCustomer(app.db, app.vault, companyId, id))
  if (!customer) {
    throw problem('customer_not_found', 'customerId: the company has no such customer.')
  }
  return { customerId: customer.id, person: customer }
}

/** A recurrence that the bank knows. The caller saves it in its transaction. */
type Started = { save(tx: Tx): Promise<Recurrence> }

/**
 * Asks the bank for an agreement that the payer can decide on. If it is not saved, it expires at
 * the bank, because nobody has its code.
 */
export async function createRecurrence(
  app: Uses<'clock' | 'db' | 'providers' | 'vault'>,
  company: Company,
  body: Static<typeof NewRecurrence>,
): Promise<Started> {
  const terms = await findTerms(app, company.id, body)
  const subscriber = await findSubscriber(app, company.id, body.customerId)
  return startAgreement(app, company, terms, subscriber, null)
}

async function startAgreement(
  app: Uses<'clock' | 'providers' | 'vault'>,
  company: Company,
  terms: Terms,
  { customerId, person }: Subscriber,
  originId: Uuid | null,
): Promise<Started> {
  const [id, now] = [newId(), app.clock.now()]
  const expiresAt = new Date(now.getTime() + AGREEMENT_LIFETIME_S * 1000)
  const { externalId, brCode } = await order(app, company, {
    id,
    value: terms.value,
    frequency: terms.frequency,
    description: terms.productName,
    payer: { name: person.name, taxId: person.taxId },
    startsOn: localDateOf(now),
    retries: true,
    expiresAt,
  })
  const payer: Payer = { name: person.name, ...sealPerson(app.vault, company.id, person) }
  const blank = blankOf(company.id, id, terms, now)
  const recurrence = { ...blank, originId, payer, externalId, brCode, expiresAt }
  return {
    async save(tx) {
      const owner = customerId ?? (await ownerOf(tx, company.id, payer, now))
      const saved = { ...recurrence, customerId: owner, nextAt: askAgainAt(recurrence, now) }
      await store.insert(tx, saved)
      return saved
    },
  }
}

async function ownerOf(tx: Tx, companyId: Uuid, payer: Payer, at: Date): Promise<Uuid> {
  const [owner] = await findOrCreate(tx, [{ companyId, payer, at }])
  return owner!
}

/** What payers subscribe to through a link. If it is for one customer, it has a payer. */
type Offer = { originId: Uuid; terms: Terms; payer: Payer | null; customerId: Uuid | null }

/**
 * Starts the agreement of a payer who subscribes through a link. If they have started one before
 * and it has not ended, returns that one.
 */
async function subscribe(
  app: Uses<'clock' | 'db' | 'providers' | 'vault'>,
  company: Company,
  { originId, terms, payer, customerId }: Offer,
  given: Person | null,
): Promise<Recurrence> {
  const known = payer && { ...openPerson(app.vault, company.id, payer), name: payer.name }
  const person = known ?? given
  if (!person) throw invalid('customer: name and taxId of who subscribes')
  const indexes = app.vault.each.map((keys) => keys.index(company.id, person.taxId))
  const findEarlier = async (tx: Tx) => {
    const earlier = await store.findStarted(tx, company.id, originId, indexes)
    if (!earlier) return null
    const { status, authStatus } = asOf(earlier, app.clock.now())
    // If the link is for anybody, somebody who knows a tax id must not find out whether its owner
    // has subscribed. An undecided agreement looks like a new one.
    return status === 'OPEN' && (payer || authStatus === 'CREATED') ? earlier : null
  }
  const earlier = await findEarlier(app.db)
  if (earlier) return earlier
  const started = await startAgreement(app, company, terms, { customerId, person }, originId)
  return app.db.transaction(async (tx) => {
    // A second request at the same moment waits here, and finds what the first has started.
    await store.find(tx, company.id, originId, 'for update')
    await lockCharges(tx, company.id, [originId])
    return (await findEarlier(tx)) ?? started.save(tx)
  })
}

/** If the bank does not answer, it may have the agreement. So it is asked once. */
async function order(
  app: Uses<'providers'>,
  company: Company,
  wanted: AgreementOrder,
): Promise<Agreement> {
  const provider = app.providers.of(company, false)
  const outcome = await provider.createAgreement(company, wanted)
  if (outcome.kind !== 'unknown') return accepted(outcome, provider)
  const found = accepted(await provider.findAgreement(company, { id: wanted.id }))
  return found ?? accepted(outcome)
}

const blankOf = (companyId: Uuid, id: Uuid, terms: Terms, now: Date): Recurrence => ({
  companyId,
  id,
  isTemplate: false,
  originId: null,
  productId: terms.productId,
  productName: terms.productName,
  value: terms.value,
  frequency: terms.frequency,
  dayDue: terms.dayDue,
  dayGenerateCharge: terms.dayGenerateCharge,
  customerId: null,
  payer: null,
  status: 'OPEN',
  authStatus: 'CREATED',
  externalId: null,
  brCode: null,
  createdAt: now,
  expiresAt: null,
  decidedAt: null,
  firstOn: null,
  cycles: 0,
  lastDueOn: null,
  nextAt: null,
  endReason: null,
  split: terms.split,
})

/** Creates a link through which any payer can subscribe, or one customer. */
export async function createTemplate(
  app: Uses<'clock' | 'db' | 'vault'>,
  company: Company,
  body: Static<typeof NewTemplate>,
): Promise<Started> {
  const terms = await findTerms(app, company.id, body)
  const owner = body.customerId ? await findSubscriber(app, company.id, body.customerId) : null
  const payer = owner && {
    name: owner.person.name,
    ...sealPerson(app.vault, company.id, owner.person),
  }
  const blank = blankOf(company.id, newId(), terms, app.clock.now())
  const template = { ...blank, isTemplate: true, customerId: owner?.customerId ?? null, payer }
  return {
    async save(tx) {
      await store.insert(tx, template)
      return template
    },
  }
}

export async function findRecurrence(
  app: Uses<'db'>,
  companyId: Uuid,
  id: Uuid | null,
): Promise<Recurrence> {
  const recurrence = id === null ? null : await store.find(app.db, companyId, id)
  if (!recurrence) throw problem('recurrence_not_found')
  return recurrence
}

/** A recurrence that a client asks for as a charge, and the agreement of its one customer. */
export async function findNamed(app: Uses<'db'>, companyId: Uuid, id: Uuid) {
  const recurrence = await store.find(app.db, companyId, id)
  if (!recurrence) throw problem('charge_not_found')
  const { isTemplate, payer } = recurrence
  const started = isTemplate && payer ? await store.findStarted(app.db, companyId, id) : null
  return { recurrence, started }
}

/** Writes the event of a decision, with the externalId of the payment link that it came through. */
export async function announce(
  tx: Tx,
  type: SubscriptionType,
  recurrence: Recurrence & { reason?: CancelReason },
  at: Date,
): Promise<void> {
  const { companyId, originId } = recurrence
  const [link] = originId === null ? [] : await findCharges(tx, [{ companyId, id: originId }])
  await emit(tx, [subscriptionEvent(type, recurrence, link?.externalId ?? null, at)])
}

/** Cancels a recurrence and stops the billing of its charges. The bank has canceled it before. */
export async function cancelRecurrence(
  tx: Tx,
  app: Uses<'clock'>,
  companyId: Uuid,
  id: Uuid,
): Promise<{ recurrence: Recurrence; changed: boolean }> {
  const now = app.clock.now()
  const recurrence = await store.find(tx, companyId, id, 'for update')
  if (!recurrence) throw problem('recurrence_not_found')
  if (cancellation(recurrence, now) === 'already-canceled') return { recurrence, changed: false }
  const ended: Recurrence = {
    ...recurrence,
    status: 'CANCELED',
    authStatus: 'CANCELED',
    decidedAt: now,
    nextAt: null,
  }
  await store.updateDecision(tx, ended)
  if (!ended.isTemplate) await announce(tx, 'subscription.canceled', ended, now)
  await stopBilling(tx, ended, now)
  return { recurrence: ended, changed: true }
}

/** Cancels the charges that the bank does not know. A task asks the bank about the others. */
export async function stopBilling(tx: Tx, { companyId, id }: Recurrence, now: Date): Promise<void> {
  const open = await billings.listOpen(tx, companyId, id)
  const unknown = open.filter(({ ordered }) => !ordered).map(({ chargeId }) => chargeId)
  await cancelCharges(tx, companyId, unknown, now)
  if (open.length === unknown.length) return
  await billings.makeAllDueNow(tx, companyId, id, now)
  tx.wake(TASK.bill)
}

/** Cancels charges of agreements that no bank will collect. */
export async function cancelCharges(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  const charges = await lockCharges(tx, companyId, ids)
  const changes = charges.flatMap((charge) => {
    const change = charge.status === 'OPEN' ? cancelCharge(charge, now) : 'already-canceled'
    return change === 'already-canceled' ? [] : [change]
  })
  await record(tx, changes)
  // If a charge has ended before, only its billing is still to be ended.
  const ended = charges.filter(({ status }) => status !== 'OPEN').map(({ id }) => id)
  await billings.end(tx, companyId, ended, 'CANCELED')
}

/**
 * Generates the charges of agreements whose next cycle is due, and returns how many. One
 * transaction writes the charge, its billing, its events and when the next cycle is due, so that a
 * cycle either has its charge or is still due.
 */
export async function generateCharges(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<number> {
  const open = await store.lockOpen(tx, companyId, ids)
  const cycles = open.filter((one) => isGenerating(one, now)).map((one) => generate(one, now))
  if (cycles.length === 0) return 0
  const charges = cycles.map(({ charge }) => charge)
  const emails = charges.map(({ payer }) => payer && emailIndexOf(vault, companyId, payer))
  await insertCharges(tx, charges, emails)
  await billings.insert(
    tx,
    cycles.map(({ billing }) => billing),
  )
  await store.updateCycles(
    tx,
    companyId,
    cycles.map(({ recurrence }) => recurrence),
  )
  await emit(tx, charges.flatMap(eventsOfCreation))
  tx.wake(TASK.bill)
  return cycles.length
}

/** Starts the agreement of a payer who subscribes through a link. */
export async function subscribeThrough(
  app: AppWithCharges,
  { customer }: Static<typeof NewSubscription>,
  { token }: { token: string },
): Promise<Static<typeof SubscriptionView>> {
  const named = readPageToken(app.vault, token)
  const company = named && (await findCompany(app.db, named.companyId))
  const isOurs = company && (!named.isPlain || (await isOfPlainPages(app, named.id)))
  if (!isOurs) throw unknownLink()
  if (company.suspendedAt !== null) throw problem('company_suspended')
  const own = withCompanyClock(forCompany(app, company), company)
  const fault = checkDigitsFault(company, customer?.taxId, 'customer.taxId')
  if (fault) throw invalid(fault)
  const offer = await findOffer(own, company.id, named.id)
  const agreement = await subscribe(own, company, offer, customer ?? null)
  return showToPayer(agreement, own.clock.now())
}

const unknownLink = () =>
  problem('recurrence_not_found', 'There is no subscription link with this address.')

async function findOffer(app: AppWithCharges, companyId: Uuid, id: Uuid): Promise<Offer> {
  const now = app.clock.now()
  const template = await store.find(app.db, companyId, id)
  if (template?.isTemplate) return offerOfTemplate(asOf(template, now))
  const charge = await app.charges.find({ companyId, id })
  if (!charge || !isSubscriptionLink(charge)) throw unknownLink()
  return offerOfLink(chargeAsOf(charge, now))
}

const closed = (status: string) =>
  problem('recurrence_not_decidable', `The link is ${status}: nobody can subscribe through it.`)

function offerOfTemplate(template: Recurrence): Offer {
  if (template.status !== 'OPEN') throw closed(template.status)
  const { id: originId, payer, customerId } = template
  return { originId, terms: template, payer, customerId }
}

function offerOfLink(charge: Charge): Offer {
  const { id: originId, status, payer, customerId } = charge
  if (status !== 'OPEN') throw closed(status)
  return { originId, terms: termsOfLink(charge), payer, customerId }
}

/** The terms of a link: its product as it was when the link was created, for its total. */
export function termsOfLink({ amount, link, split }: Charge): Terms {
  const { product } = link!.items[0]!
  return {
    productId: fromPublic('prod', product.id)!,
    productName: product.name,
    value: amount,
    frequency: product.frequency!,
    split,
    dayDue: product.dayDue ?? DEFAULT_DAY_DUE,
    dayGenerateCharge: product.dayGenerateCharge ?? null,
  }
}
