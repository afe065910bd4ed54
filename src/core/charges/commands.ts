import type { Static } from 'typebox'
import { type Tx, violatedConstraint } from '../../db/database.ts'
import { fromPublic, newId, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { endOfTick } from '../../lib/turns.ts'
import { type DueTerms, faultsOf, moveTerms } from '../../pix/due-amount.ts'
import { daysBetween, localDateOf } from '../../pix/local-time.ts'
import { accepted } from '../../provider/providers.ts'
import type { Uses } from '../app.ts'
import { find as findBilling } from '../billings/store.ts'
import type { Company } from '../companies/rules.ts'
import { checkDigitsFault, type Person } from '../customers/rules.ts'
import { emailIndexOf, sealPayer } from '../customers/sealing.ts'
import { find as findCustomer } from '../customers/store.ts'
import type { IdempotencyRef, StoredResponse } from '../idempotency.ts'
import { chargeOf, type Draft } from './drafts.ts'
import type { AppWithCharges } from './group.ts'
import { withBankCode } from './intents.ts'
import { findItems } from './items.ts'
import { mailsOfCreation } from './mails.ts'
import { forgetRequest, lockCharge, record } from './record.ts'
import type { Charge, Due, Payer, Split } from './rules.ts'
import * as rules from './rules.ts'
import { requireWithin, splitFaults } from './split.ts'
import { findSplit } from './split-recipients.ts'
import * as store from './store.ts'
import {
  DAYS_AFTER_DUE,
  DueFields,
  type Duplication,
  type NewLink,
  type NewPixCharge,
} from './view.ts'

/** A link without a code: the bank issues one when the payer opens it. */
function linkOf(app: Uses<'clock' | 'providers'>, company: Company, draft: Draft): Charge {
  // Throws if no bank is connected that could issue one.
  app.providers.of(company, draft.devMode)
  const createdAt = app.clock.now()
  const expiresAt = rules.expiryOf(draft, createdAt)
  return chargeOf(company, draft, { id: newId(), createdAt, expiresAt, brCode: null })
}

/** How the response to a creation is made, and what of it is stored for a retry. */
type Showing<T> = {
  show(charge: Charge): T
  /** Both are null if the client sent no Idempotency-Key. */
  seal: ((shown: T) => StoredResponse) | null
  guard: IdempotencyRef | null
}

/** Asks the bank whether a charge was paid, and matches its payments. */
export type MatchPaid = (charge: Charge) => Promise<unknown>

/** Creates a charge, or finds the open one that the same request has created before. */
export async function createCharge<T extends object>(
  app: AppWithCharges,
  company: Company,
  draft: Draft,
  showing: Showing<T>,
  matchPaid: MatchPaid,
): Promise<{ shown: T; repeated: boolean }> {
  const insert = async (charge: Charge) => {
    const shown = await write(app, { charge, draft }, showing)
    app.counters.money('charge', rules.isPlayMoney(company, charge), charge.amount)
    return shown
  }
  for (;;) {
    const earlier = await findEarlier(app, company, draft, matchPaid)
    if (earlier) return { shown: showing.show(earlier), repeated: true }
    requireTerms(draft, app.clock.now())
    requireWithin(draft)
    try {
      const isLink = draft.kind === 'LINK'
      // A bank takes no due date that is over, so it gets a link with one before it is opened.
      const shown = await (isLink && draft.due === null
        ? insert(linkOf(app, company, draft))
        : withBankCode(app, company, draft, showing.guard, (code) =>
            insert(chargeOf(company, draft, isLink ? { ...code, brCode: null } : code)),
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
  const at = response ? await app.clockWatch.now() : app.systemClock.now()
  const creation = { charge, emailIndex, events, response, mails, at }
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
  app: Uses<'clock' | 'db' | 'providers' | 'vault'>,
  company: Company,
  { externalId, fingerprint }: Draft,
  matchPaid: MatchPaid,
): Promise<Charge | null> {
  if (externalId === null || fingerprint === null) return null
  const { id: companyId } = company
  const fingerprints = app.vault.formsOf(fingerprint)
  const earlier = await store.findOpenByRequest(app.db, { companyId, externalId, fingerprints })
  if (!earlier || !rules.isDue(earlier, app.clock.now())) return earlier
  await matchPaid(earlier)
  const isAtRealBank = earlier.brCode !== null && hasRealBank(app, company, earlier)
  if (isAtRealBank) await forgetRequest(app.db, earlier)
  else await app.db.transaction((tx) => expireCharges(tx, companyId, [earlier.id], app.clock.now()))
  return null
}

function hasRealBank(
  { providers }: Uses<'providers'>,
  company: Company,
  { devMode }: Charge,
): boolean {
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
  app: Uses<'clock' | 'db' | 'providers'>,
  company: Company,
  charge: Charge,
): Promise<boolean> {
  if (rules.cancel(charge, app.clock.now()) === 'already-canceled') return false
  const { id, recurrenceId, brCode, devMode } = charge
  const provider = app.providers.of(company, devMode)
  const isAtBank = brCode !== null || charge.due !== null
  const removed = isAtBank ? accepted(await provider.removeCharge(company, charge), provider) : null
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
  app: Uses<'clock'>,
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

type Sealed = { payer: Payer; emailIndex: Buffer | null }

function seal({ vault }: Uses<'vault'>, { id }: Company, customer: Person): Sealed {
  const { person, emailIndex } = sealPayer(vault, id, customer)
  return { payer: { name: customer.name, ...person }, emailIndex }
}

/** Only a request with an externalId can be recognised again, so only then it is hashed. */
const reference = (externalId: string | undefined, fingerprint: () => Buffer) =>
  externalId === undefined
    ? { externalId: null, fingerprint: null }
    : { externalId, fingerprint: fingerprint() }

export function pixDraft(
  app: Uses<'vault'>,
  company: Company,
  body: Static<typeof NewPixCharge>,
  fingerprint: () => Buffer,
  split: Split | null,
): Draft {
  return {
    kind: 'PIX',
    amount: toCents(body.amount),
    devMode: body.devMode ?? false,
    ...reference(body.externalId, fingerprint),
    description: body.description ?? null,
    customerId: null,
    ...seal(app, company, body.customer),
    link: null,
    due: dueOf(body),
    split,
    lifetime_s: body.expiresIn ?? rules.PIX_LIFETIME_S,
  }
}

/** The terms of a due date in a body, with what was left out. Null if it has none. */
export function dueOf(body: Static<typeof DueFields>): Due | null {
  const { dueDate, daysAfterDue = DAYS_AFTER_DUE, fine, interest, discounts, rebate } = body
  if (dueDate === undefined) return null
  const counted = <T extends object>(rate: T) => ({ days: 'CALENDAR' as const, ...rate })
  const perDay = body.discountPerDay
  const terms: DueTerms = {
    dueDate,
    daysAfterDue,
    ...(fine && { fine }),
    ...(interest && { interest: counted(interest) }),
    ...(discounts && { discounts }),
    ...(perDay && { discountPerDay: counted(perDay) }),
    ...(rebate && { rebate }),
  }
  return { terms, paid: null }
}

/** Throws if a charge that is made now cannot have the terms of its due date. */
export function requireTerms({ amount, due }: Pick<Charge, 'amount' | 'due'>, now: Date): void {
  const [first, ...others] = due ? faultsOf(amount, due.terms, localDateOf(now)) : []
  if (first) throw invalid(first, ...others)
}

const NO_EXPIRES_IN =
  'expiresIn: leave it out with dueDate; daysAfterDue says for how long it can be paid'

/** Fields of a due date that need it, or that it rules out. */
export const dueFaults = (body: Record<string, unknown>): (string | null)[] => [
  body.dueDate !== undefined && body.expiresIn !== undefined ? NO_EXPIRES_IN : null,
  ...Object.keys(DueFields.properties).map((field) =>
    body.dueDate === undefined && body[field] !== undefined ? `${field}: needs a dueDate` : null,
  ),
]

type LinkBody = Static<typeof NewLink>

/** The rules of a payer and a link that their schemas cannot express. */
export function payerFault(company: Company, customer: unknown): string | null {
  const { taxId } = (customer ?? {}) as { taxId?: unknown }
  return checkDigitsFault(company, taxId, 'customer.taxId')
}

export const pixFaults = (company: Company, body: Record<string, unknown>): (string | null)[] => [
  payerFault(company, body.customer),
  ...dueFaults(body),
  ...splitFaults(body),
]

export function linkFaults(company: Company, body: Record<string, unknown>): (string | null)[] {
  const { customerId, customer, total, items } = body
  const both = customerId !== undefined && customer !== undefined
  const none = customerId === undefined && customer === undefined
  return [
    both ? 'customerId: send it or customer, not both' : null,
    none ? 'customer: send it, or the customerId of one on record' : null,
    total !== undefined || items !== undefined ? null : 'total: send it, or items to add up',
    payerFault(company, customer),
    ...dueFaults(body),
    ...splitFaults(body),
  ]
}

export async function linkDraft(
  app: Uses<'db' | 'vault'>,
  company: Company,
  body: LinkBody,
  fingerprint: () => Buffer,
): Promise<Draft> {
  const items = await findItems(app.db, company.id, body.items ?? [])
  const link = {
    items,
    needShipping: body.needShipping ?? false,
    notifyCustomer: body.notifyCustomer ?? false,
    successUrl: body.successUrl ?? null,
    failedUrl: body.failedUrl ?? null,
  }
  if (body.dueDate !== undefined && rules.isSubscriptionLink({ link })) {
    throw invalid('dueDate: a link to a subscription has none; its product says when it is paid')
  }
  return {
    kind: 'LINK',
    amount: rules.totalOf(body.total, items),
    devMode: body.devMode ?? false,
    ...reference(body.externalId, fingerprint),
    description: body.description ?? null,
    ...(await linkPayer(app, company, body)),
    link,
    due: dueOf(body),
    split: await findSplit(app, company.id, body.split),
    lifetime_s: body.expiresIn ?? rules.LINK_LIFETIME_S,
  }
}

async function linkPayer(
  app: Uses<'db' | 'vault'>,
  company: Company,
  body: LinkBody,
): Promise<Sealed & { customerId: Uuid | null }> {
  if (body.customer) return { customerId: null, ...seal(app, company, body.customer) }
  const customerId = fromPublic('clnt', body.customerId!)
  const customer = customerId && (await findCustomer(app.db, app.vault, company.id, customerId))
  if (!customer)
    throw problem('customer_not_found', 'customerId: the company has no such customer.')
  return { customerId, ...seal(app, company, customer) }
}

/** The same terms for a charge that is made now. */
function againDue({ createdAt }: Charge, { terms }: Due, now: Date): Due {
  const days = daysBetween(localDateOf(createdAt), localDateOf(now))
  return { terms: moveTerms(terms, days), paid: null }
}

/** The same sale again, by default with the same lifetime. */
export function duplicate(
  app: Uses<'clock' | 'vault'>,
  original: Charge,
  body: Static<typeof Duplication>,
  fingerprint: () => Buffer,
): Draft {
  const { companyId, amount, devMode, payer, link, description, split } = original
  if (original.due && body.expiresIn !== undefined) throw invalid(NO_EXPIRES_IN)
  const lived_s = (original.expiresAt.getTime() - original.createdAt.getTime()) / 1000
  return {
    kind: original.kind === 'LINK' ? 'LINK' : 'PIX',
    amount,
    devMode,
    payer,
    link,
    description,
    split,
    emailIndex: payer && emailIndexOf(app.vault, companyId, payer),
    // The customer is found by tax id, because that of the original may be deleted.
    customerId: null,
    ...reference(body.externalId, fingerprint),
    due: original.due && againDue(original, original.due, app.clock.now()),
    lifetime_s: body.expiresIn ?? Math.round(lived_s),
  }
}
