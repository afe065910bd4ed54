import type { Static } from 'typebox'
import { type Tx, violatedConstraint } from '../../db/database.ts'
import { forEachLimited } from '../../lib/for-each-limited.ts'
import { fromPublic, newId, type Uuid } from '../../lib/ids.ts'
import { invalid, Problem, problem } from '../../lib/problems.ts'
import { localDateOf } from '../../pix/local-time.ts'
import type { App, Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { guardOfPart, type IdempotencyRef } from '../idempotency.ts'
import { queueMails } from '../mails/store.ts'
import { dueOf, pixDraft, removeChargeAtBank } from './commands.ts'
import { chargeOf, type Draft } from './drafts.ts'
import type { AppWithCharges } from './group.ts'
import { insertCharges } from './in-transaction.ts'
import { type BankCode, withBankCode } from './intents.ts'
import { planMails } from './mails.ts'
import {
  divide,
  isDivided,
  type Plan,
  type PlanTerms,
  planFaults,
  statusOf,
  termsOf,
} from './plan-rules.ts'
import * as store from './plan-store.ts'
import type { NewPlan } from './plan-view.ts'
import { record } from './record.ts'
import * as rules from './rules.ts'
import { asOf, type Charge } from './rules.ts'
import { findMany, lock } from './store.ts'

type Body = Static<typeof NewPlan>

/** A plan as the merchant wants it, and its charges before the bank has issued codes for them. */
export type PlanDraft = { plan: Omit<Plan, 'chargeIds'>; drafts: Draft[]; notifyCustomer: boolean }

/** Throws if the sale cannot be divided so. */
export function planDraft(
  app: Uses<'clock' | 'vault'>,
  company: Company,
  body: Body,
  fingerprint: () => Buffer,
): PlanDraft {
  const { customer, externalId, description = null, devMode = false } = body
  const now = app.clock.now()
  const today = localDateOf(now)
  const divided = divide(body)
  const terms = termsIn(body, today)
  const faults = isDivided(divided)
    ? planFaults(divided, terms, today, body.dueDates !== undefined)
    : divided
  if (faults[0] !== undefined) throw invalid(faults[0], ...faults.slice(1))
  const parts = divided as Exclude<typeof divided, string[]>
  const named = externalId === undefined ? {} : { externalId }
  const sale = { amount: body.total, customer, devMode, ...named }
  const one = pixDraft(app, company, sale, fingerprint, null)
  const plan = {
    companyId: company.id,
    id: newId(),
    total: one.amount,
    devMode,
    externalId: one.externalId,
    description,
    fingerprint: one.fingerprint,
    createdAt: now,
  }
  const drafts = parts.map(({ amount, dueDate }, i): Draft => {
    const part = { id: plan.id, number: i + 1, count: parts.length }
    const due = { terms: termsOf(terms, dueDate, today), paid: null, plan: part }
    const text = `${description ?? 'Parcela'} (${part.number}/${part.count})`
    return { ...one, fingerprint: null, amount, description: text, due }
  })
  return { plan, drafts, notifyCustomer: body.notifyCustomer ?? false }
}

/** The common terms in a body, with what was left out. */
function termsIn({ discounts, ...body }: Body, today: string): PlanTerms {
  const { dueDate: _, discounts: __, ...common } = dueOf({ ...body, dueDate: today })!.terms
  return { ...common, ...(discounts && { discounts }) }
}

/** A plan with its charges. */
export type WholePlan = { plan: Plan; charges: Charge[] }

/** The plan that the same request has made before, while something of it is open. */
async function findEarlier(
  app: Uses<'clock' | 'db' | 'vault'>,
  { companyId, externalId, fingerprint }: PlanDraft['plan'],
): Promise<WholePlan | null> {
  if (externalId === null || fingerprint === null) return null
  const fingerprints = app.vault.formsOf(fingerprint)
  const plan = await store.findByRequest(app.db, { companyId, externalId, fingerprints })
  if (!plan) return null
  const charges = await chargesOf(app.db, [plan])
  const now = app.clock.now()
  if (statusOf(charges.map((charge) => asOf(charge, now))) === 'OPEN') return { plan, charges }
  await store.forgetRequest(app.db, plan)
  return null
}

/**
 * Creates all charges of a plan, or none. The bank issues their codes first, each under an id that
 * the same request finds again, and then `write` inserts them in one transaction. If anything of it
 * fails, a task removes at the bank what it has issued.
 */
export async function createPlan<T>(
  app: AppWithCharges,
  company: Company,
  wanted: PlanDraft,
  guard: IdempotencyRef | null,
  write: (insert: (tx: Tx) => Promise<WholePlan>) => Promise<T>,
): Promise<{ made: T } | { earlier: WholePlan }> {
  for (;;) {
    const earlier = await findEarlier(app, wanted.plan)
    if (earlier) return { earlier }
    try {
      const made = await withBankCodes(app, company, wanted.drafts, guard, (codes) =>
        write((tx) => insertPlan(tx, app, company, wanted, codes)),
      )
      return { made }
    } catch (error) {
      // If another request has made the same plan meanwhile, return that one.
      if (violatedConstraint(error) !== 'charge_plans_open_external_id') throw error
    }
  }
}

/** Asks the bank for the codes of all charges, and lets `write` insert them when it has them all. */
async function withBankCodes<T>(
  app: AppWithCharges,
  company: Company,
  drafts: Draft[],
  guard: IdempotencyRef | null,
  write: (codes: BankCode[]) => Promise<T>,
): Promise<T> {
  const codes: BankCode[] = []
  let missing = drafts.length
  const written = Promise.withResolvers<T>()
  const arrive = (i: number, code: BankCode): Promise<T> => {
    codes[i] = code
    missing -= 1
    if (missing === 0) write(codes).then(written.resolve, written.reject)
    return written.promise
  }
  const asked = drafts.map((draft, i) => {
    const part = guard && guardOfPart(app.vault, guard, String(i))
    const asking = withBankCode(app, company, draft, part, (code) => arrive(i, code))
    // The first that fails is the reason of all: those that wait are given up.
    asking.catch(written.reject)
    return asking
  })
  // Nothing of it goes on after the answer.
  await Promise.allSettled(asked)
  return written.promise
}

async function insertPlan(
  tx: Tx,
  app: AppWithCharges,
  company: Company,
  { plan: fields, drafts, notifyCustomer }: PlanDraft,
  codes: BankCode[],
): Promise<WholePlan> {
  const charges = drafts.map((draft, i) => chargeOf(company, draft, codes[i]!))
  const plan: Plan = { ...fields, chargeIds: charges.map(({ id }) => id) }
  await store.insert(tx, plan)
  await insertCharges(tx, app, company, charges, drafts[0]!.emailIndex)
  if (notifyCustomer) await queueMails(tx, app.vault, planMails(app, plan, charges))
  return { plan, charges }
}

export async function findPlan(
  app: Uses<'db'>,
  companyId: Uuid,
  id: string | undefined,
): Promise<WholePlan> {
  const planId = fromPublic('plan', id ?? '')
  const plan = planId && (await store.find(app.db, companyId, planId))
  if (!plan) throw problem('plan_not_found')
  return { plan, charges: await chargesOf(app.db, [plan]) }
}

/** The charges of plans, in their order. */
export async function chargesOf(tx: Tx, plans: Plan[]): Promise<Charge[]> {
  const wanted = plans.flatMap(({ companyId, chargeIds }) =>
    chargeIds.map((id) => ({ companyId, id })),
  )
  return (await findMany(tx, wanted)).map((charge) => charge!)
}

/** Plans of a list, newest first, each with its charges. */
export async function listPlans(
  tx: Tx,
  companyId: Uuid,
  part: { limit: number; after: Uuid | null },
): Promise<(WholePlan & { id: Uuid })[]> {
  const plans = await store.list(tx, companyId, part)
  const charges = await chargesOf(tx, plans)
  return plans.map((plan) => {
    return { id: plan.id, plan, charges: charges.splice(0, plan.chargeIds.length) }
  })
}

/** As many charges are removed at the bank at once. */
const REMOVED_AT_ONCE = 8

/**
 * Removes what is open of a plan at the bank, before it is canceled here. Returns which charges it
 * is, and why others could not be removed. A charge that was paid meanwhile stays.
 */
export async function removePlanAtBank(
  app: Uses<'clock' | 'db' | 'providers'>,
  company: Company,
  { charges }: WholePlan,
): Promise<{ removed: Uuid[]; failed: Problem | null }> {
  const removed: Uuid[] = []
  let failed: Problem | null = null
  const open = charges.filter((charge) => asOf(charge, app.clock.now()).status === 'OPEN')
  await forEachLimited(REMOVED_AT_ONCE, open, async (charge) => {
    if (failed) return
    try {
      await removeChargeAtBank(app, company, charge)
      removed.push(charge.id)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (error.code !== 'charge_not_payable') failed = error
    }
  })
  return { removed, failed }
}

/** Cancels charges of a plan that are open still. */
export async function cancelPlan(
  tx: Tx,
  app: Pick<App, 'clock'>,
  plan: Plan,
  removed: Uuid[],
): Promise<WholePlan & { changed: boolean }> {
  const now = app.clock.now()
  const locked = await lock(tx, plan.companyId, removed)
  const changes = locked
    .filter((charge) => asOf(charge, now).status === 'OPEN')
    .map((charge) => rules.cancel(charge, now))
    .filter((change) => change !== 'already-canceled')
  await record(tx, changes)
  await store.forgetRequest(tx, plan)
  const charges = await chargesOf(tx, [plan])
  const has = (wanted: Charge['status']) =>
    charges.some((charge) => asOf(charge, now).status === wanted)
  if (changes.length === 0 && !has('OPEN') && !has('CANCELED')) throw problem('plan_not_cancelable')
  return { plan, charges, changed: changes.length > 0 }
}
