import type { Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import { type LocalDate, localDateOf } from '../../lib/local-time.ts'
import { describeError } from '../../lib/log.ts'
import type { Vault } from '../../lib/vault.ts'
import { maySchedule } from '../../pix/calendar.ts'
import type { Collection, Outcome, Provider } from '../../provider/port.ts'
import type { App } from '../app.ts'
import { eventsOfCreation, fail as failCharge } from '../charges/rules.ts'
import {
  extend,
  insertRecurring,
  lock as lockCharges,
  update as updateCharges,
} from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { emailIndexOf } from '../customers/sealing.ts'
import { chargeEvent, collectionEvent, emit } from '../events.ts'
import { retryIn_s } from '../orders.ts'
import { matchPayments } from '../payments/match.ts'
import { TASK } from '../tasks.ts'
import { followAgreement } from './agreements.ts'
import * as billings from './billing-store.ts'
import { cancelCharges } from './commands.ts'
import {
  type Billing,
  endOf,
  generate,
  hasMissed,
  isGenerating,
  type Recurrence,
  reschedule,
  stepAfter,
} from './rules.ts'
import * as store from './store.ts'

/**
 * Generates the charges of agreements whose next cycle is due, and tells how many that were. The
 * charge, its way through the bank, its events and the agreement's next moment are one commit: a
 * cycle has its charge or is still due.
 */
export async function generateCharges(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<number> {
  const standing = await store.lockOpen(tx, companyId, ids)
  const cycles = standing.filter((one) => isGenerating(one, now)).map((one) => generate(one, now))
  if (cycles.length === 0) return 0
  const charges = cycles.map(({ charge }) => charge)
  const emails = charges.map(({ payer }) => payer && emailIndexOf(vault, companyId, payer))
  await insertRecurring(tx, companyId, charges, emails)
  await billings.insert(
    tx,
    companyId,
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

/** A billing with all that is needed to speak to the bank about it. */
export type Case = {
  /** In the company's time. */
  app: App
  company: Company
  provider: Provider
  billing: Billing
  parent: Recurrence
  /** Whether it is written down that the bank is told of it now. */
  isMarked: boolean
}

/**
 * Opens billings of one company that are on their way. Of those that the bank is to be told of now
 * this is written down first, of all together: what it may know is never given up unasked.
 */
export async function openBillings(app: App, company: Company, due: Billing[]): Promise<Case[]> {
  const waiting = due.filter(({ nextAt }) => nextAt !== null)
  const parentIds = [...new Set(waiting.map(({ recurrenceId }) => recurrenceId))]
  const parents = await store.findMany(app.db, company.id, parentIds)
  const provider = app.providers.of(company, false)
  const today = localDateOf(app.clock.now())
  const cases = waiting.map((billing) => {
    const parent = parents.get(billing.recurrenceId)
    assert(parent, 'a billing has its agreement')
    return { app, company, provider, billing, parent, isMarked: false }
  })
  const untold = cases.filter(
    ({ billing, parent }) =>
      !billing.ordered && parent.status === 'OPEN' && maySchedule(today, billing.dueOn),
  )
  const ids = untold.map(({ billing }) => billing.chargeId)
  const marked = await billings.markOrdered(app.db, company.id, ids)
  for (const open of untold) open.isMarked = marked.has(open.billing.chargeId)
  return cases
}

/**
 * Brings one billing a step further: the bank is told or asked, then what it said is written down.
 * Each step can be repeated. Tells whether the bank has answered.
 */
export async function stepBilling(open: Case): Promise<boolean> {
  const { app } = open
  const answer = await ask(open).catch((error): Answer => {
    app.log.error(describeError(error), 'the bank could not be spoken to')
    return { kind: 'unknown', reason: 'the bank could not be spoken to' }
  })
  if (answer.kind === 'early') return true
  if (answer.kind === 'unknown') return postpone(open, answer.reason)
  if (answer.kind === 'rejected') return refuse(open, answer.reason)
  if (answer.value === null) return giveBack(open)
  return take(open, answer.value)
}

/** What the bank knows of a collection; early when it cannot be told of it yet. */
type Answer = Outcome<Collection | null> | { kind: 'early' }

const UNKNOWN_TO_BANK: Answer = { kind: 'accepted', value: null }

/** Who may have told the bank before asks what became of it; only what it never got is told. */
async function ask(open: Case): Promise<Answer> {
  const { company, provider, billing } = open
  const known = billing.ordered ? await provider.findCollection(company, billing.chargeId) : null
  if (known && (known.kind !== 'accepted' || known.value !== null)) return known
  return open.parent.status === 'OPEN' ? schedule(open) : UNKNOWN_TO_BANK
}

async function schedule(open: Case): Promise<Answer> {
  const { app, company, provider, parent } = open
  const today = localDateOf(app.clock.now())
  if (hasMissed(open.billing, today)) open.billing = await giveNewDay(open, today)
  const { billing } = open
  if (!maySchedule(today, billing.dueOn)) return { kind: 'early' }
  if (!open.isMarked) {
    const marked = await billings.markOrdered(app.db, company.id, [billing.chargeId])
    if (marked.size === 0) return UNKNOWN_TO_BANK
  }
  open.billing = { ...billing, ordered: true }
  return provider.scheduleCollection(company, {
    ...{ id: billing.chargeId, amount: parent.value, dueOn: billing.dueOn },
    agreement: { id: parent.id, externalId: parent.externalId! },
  })
}

/** Moves a collection that nobody could schedule in time, and the end of its charge with it. */
async function giveNewDay({ app, company, billing }: Case, today: LocalDate): Promise<Billing> {
  return app.db.transaction(async (tx) => {
    const parent = await store.find(tx, company.id, billing.recurrenceId, 'for update')
    await lockCharges(tx, company.id, [billing.chargeId])
    const current = await billings.find(tx, company.id, billing.chargeId, 'for update')
    assert(parent && current, 'a billing and its agreement stay')
    if (current.nextAt === null || !hasMissed(current, today)) return current
    const moved = reschedule(current, parent, today)
    await billings.update(tx, moved)
    await store.updateLastDue(tx, parent, moved.dueOn)
    await extend(tx, company.id, moved.chargeId, endOf(moved.dueOn))
    return moved
  })
}

/** What the bank does not know of an agreement that has ended is never collected. */
async function giveBack({ app, company, billing }: Case): Promise<boolean> {
  const now = app.clock.now()
  await app.db.transaction((tx) => cancelCharges(tx, company.id, [billing.chargeId], now))
  return true
}

async function postpone({ app, billing }: Case, reason: string): Promise<boolean> {
  const unanswered = billing.unanswered + 1
  const next_ms = app.clock.now().getTime() + retryIn_s(unanswered) * 1000
  app.log.warn(
    { charge: toPublic('charge', billing.chargeId), reason },
    'a collection has no answer',
  )
  await billings.update(app.db.light, { ...billing, unanswered, nextAt: new Date(next_ms) })
  return false
}

/**
 * A bank refuses when the agreement has ended without our knowing; otherwise nothing can be done.
 */
async function refuse(open: Case, reason: string): Promise<boolean> {
  const { app, company, billing, parent } = open
  const charge = toPublic('charge', billing.chargeId)
  app.log.warn({ charge, reason }, 'a bank refuses to collect a charge')
  if (!(await followAgreement(app, company, parent))) return postpone(open, reason)
  const { status } = (await store.find(app.db, company.id, parent.id))!
  if (status !== 'OPEN') return giveBack(open)
  // A day that has gone by meanwhile is refused once; the next one is still to be had.
  const isLate = billing.status === 'PLANNED' && hasMissed(billing, localDateOf(app.clock.now()))
  return isLate ? postpone(open, reason) : giveUp(open)
}

async function take(open: Case, collection: Collection): Promise<boolean> {
  const { app, billing, company, provider } = open
  const step = stepAfter(billing, collection, app.clock.now())
  switch (step.kind) {
    case 'settle':
      return settle(open, step.endToEndIds)
    case 'cancel':
      // A collection that we have not canceled ourselves has most likely ended with its agreement.
      if (open.parent.status === 'OPEN') await followAgreement(app, company, open.parent)
      return giveBack(open)
    case 'fail':
      return giveUp(open)
    case 'retry': {
      if (open.parent.status !== 'OPEN') return giveBack(open)
      const outcome = await provider.retryCollection(company, billing.chargeId, step.on)
      if (outcome.kind === 'unknown') return postpone(open, outcome.reason)
      if (outcome.kind === 'accepted') return take(open, outcome.value)
      const isOver = step.on < localDateOf(app.clock.now())
      return isOver ? take(open, collection) : refuse(open, outcome.reason)
    }
    case 'wait':
      // Should a power cut take this back, the bank is asked again.
      await billings.update(app.db.light, {
        ...billing,
        ...{ status: 'SCHEDULED', unanswered: 0, nextAt: step.until },
      })
      return true
  }
}

/** Settles a payment that no callback has told of, as a callback would. */
async function settle(open: Case, endToEndIds: string[]): Promise<boolean> {
  const { app, company, provider } = open
  const outcome = await provider.findReceived(company, endToEndIds)
  if (outcome.kind !== 'accepted' || outcome.value.length === 0) {
    return postpone(open, 'the payment is not there yet')
  }
  const arrival = { source: provider.source, now: app.clock.now() }
  await app.db.transaction((tx) => matchPayments(tx, app, company, outcome.value, arrival))
  // Money that does not match waits for a decision of the merchant, and nothing more is collected.
  const { nextAt } = (await billings.find(app.db, company.id, open.billing.chargeId))!
  return nextAt === null ? true : giveUp(open)
}

const ENDS = { COMPLETED: 'PAID', CANCELED: 'CANCELED', EXPIRED: 'FAILED' } as const

/** Nothing more is tried: the charge is over, and its company is told. */
async function giveUp({ app, company, billing }: Case): Promise<boolean> {
  const now = app.clock.now()
  await app.db.transaction(async (tx) => {
    const [charge] = await lockCharges(tx, company.id, [billing.chargeId])
    assert(charge, 'a billing has its charge')
    if (charge.status !== 'OPEN')
      return billings.end(tx, company.id, [charge.id], ENDS[charge.status])
    const change = failCharge(charge, now)
    await updateCharges(tx, company.id, [change.charge])
    await emit(tx, [
      chargeEvent(change.event, change.charge, now),
      collectionEvent('subscription.charge.failed', change.charge, now),
    ])
    await billings.end(tx, company.id, [charge.id], 'FAILED')
  })
  return true
}
