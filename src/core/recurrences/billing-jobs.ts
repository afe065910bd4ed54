import { assert } from '../../lib/assert.ts'
import { toPublic } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { maySchedule } from '../../pix/calendar.ts'
import { type LocalDate, localDateOf } from '../../pix/local-time.ts'
import type { Collection, Outcome, Provider } from '../../provider/port.ts'
import type { App } from '../app.ts'
import { type Billing, endOfRetries, hasMissed, reschedule, stepAfter } from '../billings/rules.ts'
import * as billings from '../billings/store.ts'
import { lockCharge, record } from '../charges/record.ts'
import { fail as failCharge } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import { retryIn_s } from '../orders.ts'
import { matchPayments } from '../payments/match.ts'
import { remindOfFailure } from '../reminders/record.ts'
import { followAgreement } from './agreements.ts'
import { cancelCharges } from './commands.ts'
import type { Recurrence } from './rules.ts'
import * as store from './store.ts'

/** A billing with everything that is needed to ask the bank about it. */
export type BillingJob = {
  /** Has the company's clock. */
  app: App
  company: Company
  provider: Provider
  billing: Billing
  recurrence: Recurrence
  /** Whether the database says that the bank may know of the billing. */
  isMarkedOrdered: boolean
}

/**
 * Makes jobs of due billings of one company. The billings that the bank gets an order for now are
 * marked as ordered first, all in one statement: a billing that the bank may know of is never
 * canceled before the bank is asked.
 */
export async function openBillingJobs(
  app: App,
  company: Company,
  due: Billing[],
): Promise<BillingJob[]> {
  const open = due.filter(({ nextAt }) => nextAt !== null)
  const recurrenceIds = [...new Set(open.map(({ recurrenceId }) => recurrenceId))]
  const recurrences = await store.findMany(app.db, company.id, recurrenceIds)
  const provider = app.providers.of(company, false)
  const today = localDateOf(app.clock.now())
  const jobs = open.map((billing) => {
    const recurrence = recurrences.get(billing.recurrenceId)
    assert(recurrence, 'a billing has its agreement')
    return { app, company, provider, billing, recurrence, isMarkedOrdered: false }
  })
  const toOrder = jobs.filter(
    ({ billing, recurrence }) =>
      !billing.ordered && recurrence.status === 'OPEN' && maySchedule(today, billing.dueOn),
  )
  const ids = toOrder.map(({ billing }) => billing.chargeId)
  const marked = await billings.markOrdered(app.db, company.id, ids)
  for (const job of toOrder) job.isMarkedOrdered = marked.has(job.billing.chargeId)
  return jobs
}

/**
 * Does the next step of a billing: gives the bank an order or asks it, then writes the result. Each
 * step can be repeated. Returns whether the bank has answered.
 */
export async function stepBilling(job: BillingJob): Promise<boolean> {
  const { app } = job
  const answer = await askBank(job).catch((error): Answer => {
    app.log.error(describeError(error), 'the request to the bank failed')
    return { kind: 'unknown', reason: 'the request to the bank failed' }
  })
  if (answer.kind === 'early') return true
  if (answer.kind === 'unknown') return tryLater(job, answer.reason)
  if (answer.kind === 'rejected') return afterRejection(job, answer.reason)
  if (answer.value === null) return cancelUncollected(job)
  return applyCollection(job, answer.value)
}

/** What the bank knows of a collection. `early`: the scheme does not allow the order yet. */
type Answer = Outcome<Collection | null> | { kind: 'early' }

const UNKNOWN_TO_BANK: Answer = { kind: 'accepted', value: null }

/** If the bank may know of the billing, asks for it. Only what it does not know is ordered. */
async function askBank(job: BillingJob): Promise<Answer> {
  const { company, provider, billing } = job
  const known = billing.ordered ? await provider.findCollection(company, billing.chargeId) : null
  if (known && (known.kind !== 'accepted' || known.value !== null)) return known
  return job.recurrence.status === 'OPEN' ? schedule(job) : UNKNOWN_TO_BANK
}

async function schedule(job: BillingJob): Promise<Answer> {
  const { app, company, provider, recurrence } = job
  const today = localDateOf(app.clock.now())
  if (hasMissed(job.billing, today)) job.billing = await moveDueDay(job, today)
  const { billing } = job
  if (!maySchedule(today, billing.dueOn)) return { kind: 'early' }
  if (!job.isMarkedOrdered) {
    const marked = await billings.markOrdered(app.db, company.id, [billing.chargeId])
    if (marked.size === 0) return UNKNOWN_TO_BANK
  }
  job.billing = { ...billing, ordered: true }
  return provider.scheduleCollection(company, {
    id: billing.chargeId,
    amount: recurrence.value,
    dueOn: billing.dueOn,
    agreement: { id: recurrence.id, externalId: recurrence.externalId! },
  })
}

/** Gives a billing that was not scheduled in time a later due day, and its charge a later end. */
async function moveDueDay(
  { app, company, billing }: BillingJob,
  today: LocalDate,
): Promise<Billing> {
  return app.db.transaction(async (tx) => {
    const recurrence = await store.find(tx, company.id, billing.recurrenceId, 'for update')
    const charge = await lockCharge(tx, company.id, billing.chargeId)
    const current = await billings.find(tx, company.id, billing.chargeId, 'for update')
    assert(recurrence && current, 'billings and agreements are never deleted')
    if (current.nextAt === null || !hasMissed(current, today)) return current
    const moved = reschedule(current, recurrence, today)
    await billings.update(tx, moved)
    await store.updateLastDue(tx, recurrence, moved.dueOn)
    const extended = { ...charge, expiresAt: endOfRetries(moved.dueOn) }
    await record(tx, [{ charge: extended, event: null, at: app.clock.now() }])
    return moved
  })
}

/** If the bank has no collection and will get no order for one, cancels the charge. */
async function cancelUncollected({ app, company, billing }: BillingJob): Promise<boolean> {
  const now = app.clock.now()
  await app.db.transaction((tx) => cancelCharges(tx, company.id, [billing.chargeId], now))
  return true
}

async function tryLater({ app, billing }: BillingJob, reason: string): Promise<boolean> {
  const unanswered = billing.unanswered + 1
  const next_ms = app.clock.now().getTime() + retryIn_s(unanswered) * 1000
  app.log.warn(
    { charge: toPublic('charge', billing.chargeId), reason },
    'the bank has not answered about a collection',
  )
  await billings.update(app.db.light, { ...billing, unanswered, nextAt: new Date(next_ms) })
  return false
}

/**
 * If a bank rejects an order, the agreement may have ended there, so the bank is asked about it.
 * If it has not ended, the charge fails.
 */
async function afterRejection(job: BillingJob, reason: string): Promise<boolean> {
  const { app, company, billing, recurrence } = job
  const charge = toPublic('charge', billing.chargeId)
  app.log.warn({ charge, reason }, 'the bank has rejected the collection of a charge')
  if (!(await followAgreement(app, company, recurrence))) return tryLater(job, reason)
  const { status } = (await store.find(app.db, company.id, recurrence.id))!
  if (status !== 'OPEN') return cancelUncollected(job)
  // If the due day has become too early meanwhile, the next step moves it.
  const isLate = billing.status === 'PLANNED' && hasMissed(billing, localDateOf(app.clock.now()))
  return isLate ? tryLater(job, reason) : failUnpaid(job)
}

/** Does what the bank's answer about a collection asks for. */
async function applyCollection(job: BillingJob, collection: Collection): Promise<boolean> {
  const { app, billing, company, provider } = job
  const step = stepAfter(billing, collection, app.clock.now())
  switch (step.kind) {
    case 'paid':
      return matchCollected(job, step.endToEndIds)
    case 'cancel':
      // We did not cancel this collection, so its agreement has most likely ended at the bank.
      if (job.recurrence.status === 'OPEN') await followAgreement(app, company, job.recurrence)
      return cancelUncollected(job)
    case 'fail':
      return failUnpaid(job)
    case 'retry': {
      if (job.recurrence.status !== 'OPEN') return cancelUncollected(job)
      const outcome = await provider.retryCollection(company, billing.chargeId, step.on)
      if (outcome.kind === 'unknown') return tryLater(job, outcome.reason)
      if (outcome.kind === 'accepted') return applyCollection(job, outcome.value)
      const isOver = step.on < localDateOf(app.clock.now())
      return isOver ? applyCollection(job, collection) : afterRejection(job, outcome.reason)
    }
    case 'wait':
      await sayFailures(job, collection)
      // A power cut may lose this write. Then the bank is asked again.
      await billings.update(app.db.light, {
        ...billing,
        status: 'SCHEDULED',
        unanswered: 0,
        nextAt: step.until,
      })
      return true
  }
}

/** Books a payment that no callback has reported, as a callback does. */
async function matchCollected(job: BillingJob, endToEndIds: string[]): Promise<boolean> {
  const { app, company, provider } = job
  const outcome = await provider.findReceived(company, endToEndIds)
  if (outcome.kind !== 'accepted' || outcome.value.length === 0) {
    return tryLater(job, 'the bank does not list the payment yet')
  }
  const arrival = { source: provider.source, now: app.clock.now() }
  await app.db.transaction((tx) => matchPayments(tx, app, company, outcome.value, arrival))
  // If the payment does not match the charge, the merchant decides about it and the charge fails.
  const { nextAt } = (await billings.find(app.db, company.id, job.billing.chargeId))!
  return nextAt === null ? true : failUnpaid(job, 'debited')
}

const ENDS = { COMPLETED: 'PAID', CANCELED: 'CANCELED', EXPIRED: 'FAILED' } as const

/**
 * Ends the charge of a billing: the bank does not try to collect it again. Whose money has come,
 * but does not match, is not told that the debit has failed.
 */
async function failUnpaid(
  { app, company, billing }: BillingJob,
  money: 'debited' | 'none' = 'none',
): Promise<boolean> {
  const now = app.clock.now()
  await app.db.transaction(async (tx) => {
    const charge = await lockCharge(tx, company.id, billing.chargeId)
    if (charge.status !== 'OPEN') {
      return billings.end(tx, company.id, [charge.id], ENDS[charge.status])
    }
    const change = failCharge(charge, now)
    await record(tx, [change])
    if (money === 'debited') return
    await remindOfFailure(tx, app, change.charge, { number: 0, nextTry: null })
  })
  return true
}

/**
 * Says that the latest debit has failed and when the bank tries again. It is said once, however
 * often the bank is asked meanwhile.
 */
async function sayFailures(
  { app, company, billing }: BillingJob,
  { attempts }: Collection,
): Promise<void> {
  const number = attempts.filter(({ status }) => status === 'FAILED').length
  const nextTry = attempts.find(({ status }) => status === 'SCHEDULED')?.on
  if (number === 0 || nextTry === undefined) return
  await app.db.transaction(async (tx) => {
    const charge = await lockCharge(tx, company.id, billing.chargeId)
    if (charge.status === 'OPEN') await remindOfFailure(tx, app, charge, { number, nextTry })
  })
}
