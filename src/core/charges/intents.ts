import { forEachLimited } from '../../lib/for-each-limited.ts'
import { newId, toPublic } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import type { Cents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { Provider } from '../../provider/port.ts'
import { accepted } from '../../provider/providers.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { type IdempotencyRef, inProgress } from '../idempotency.ts'
import { LEASE_S, retryIn_s } from '../orders.ts'
import { TASK } from '../tasks.ts'
import * as store from './intent-store.ts'

/** A charge's id and times, and the code that its bank has issued for it. */
export type Issued = Omit<store.Intent, 'companyId'> & {
  brCode: string
  /** Makes sure that the code is still good, right before the charge is written down. */
  confirm(): Promise<void>
  /** The charge is written down. */
  finish(): Promise<void>
  /** It may not be, and nobody is told of it. */
  leave(): Promise<void>
}

const nothing = async () => {}

type Wanted = { amount: Cents; lifetime_s: number }

const later = (now: Date, seconds: number): Date => new Date(now.getTime() + seconds * 1000)

function newIntent({ clock }: App, company: Company, { lifetime_s }: Wanted): store.Intent {
  const createdAt = clock.now()
  return {
    ...{ companyId: company.id, id: newId(), createdAt },
    expiresAt: later(createdAt, lifetime_s),
  }
}

/** Asks the bank for a code. The simulated one answers without a network: nothing can get lost. */
export async function issue(
  app: App,
  company: Company,
  provider: Provider,
  wanted: Wanted,
  guard: IdempotencyRef | null,
): Promise<Issued> {
  if (provider !== app.providers.simulator) {
    return issueAtBank(app, company, provider, wanted, guard)
  }
  const intent = newIntent(app, company, wanted)
  const { amount } = wanted
  const { brCode } = accepted(await provider.issueCharge(company, { ...intent, amount }))
  return { ...intent, brCode, confirm: nothing, finish: nothing, leave: nothing }
}

/**
 * Writes down that the bank is going to be told of a charge, tells it, and gives what it issued. A
 * bank that does not answer may know the charge: the same request goes on from there, and what
 * nobody comes back for is taken back from the bank by a task.
 */
async function issueAtBank(
  app: App,
  company: Company,
  provider: Provider,
  wanted: Wanted,
  guard: IdempotencyRef | null,
): Promise<Issued> {
  const intent = await begin(app, company, wanted, guard)
  const began_ms = performance.now()
  const outcome = await provider
    .issueCharge(company, { ...intent, amount: wanted.amount })
    .catch(async (error) => {
      await leave(app, intent)
      throw error
    })
  if (outcome.kind === 'rejected') await store.remove(app.db, intent)
  if (outcome.kind === 'unknown') await leave(app, intent)
  const { brCode } = accepted(outcome)
  return {
    ...{ id: intent.id, createdAt: intent.createdAt, expiresAt: intent.expiresAt, brCode },
    // The write has most of a lease before it: longer than the database is waited for.
    confirm: async () => {
      if (performance.now() - began_ms > (LEASE_S * 1000) / 6) await renew(app, intent)
    },
    // What is left behind here is found to be written down by the task.
    finish: () => store.remove(app.db, intent).catch(nothing),
    leave: () => leave(app, intent).catch(nothing),
  }
}

/** Begins, or goes on where the same request was left without an answer. */
async function begin(
  app: App,
  company: Company,
  wanted: Wanted,
  guard: IdempotencyRef | null,
): Promise<store.Intent> {
  const until = later(app.systemClock.now(), LEASE_S)
  const intent = newIntent(app, company, wanted)
  return app.db.transaction(async (tx) => {
    for (;;) {
      if (await store.insert(tx, intent, guard, until)) return intent
      const standing = await store.lockByKey(tx, company.id, guard!.key)
      if (!standing) continue
      if (!standing.fingerprint.equals(guard!.fingerprint)) throw problem('idempotency_key_reused')
      const isOurs = standing.attempts === 0
      if (isOurs && standing.leasedUntil > app.systemClock.now()) throw inProgress()
      if (isOurs && standing.expiresAt > app.clock.now()) {
        await store.lease(tx, standing, until)
        return standing
      }
      // Too late to be paid, or being taken back, which the bank may do at any time from then on:
      // another one is made.
      await store.forgetKey(tx, standing)
    }
  })
}

/** How long a charge that the bank may know waits for the same request to come again. */
const PATIENCE_S = 60

async function leave(app: App, intent: store.Intent): Promise<void> {
  const now = app.systemClock.now()
  await store.release(app.db, intent, now, later(now, PATIENCE_S))
}

/** A process that stood still for long may find that its charge was taken back meanwhile. */
async function renew(app: App, intent: store.Intent): Promise<void> {
  if (await store.lease(app.db, intent, later(app.systemClock.now(), LEASE_S))) return
  throw problem('provider_unavailable', 'The bank answered too late. Try again.')
}

const MAX_ORPHANS = 50
const BANKS_AT_ONCE = 8

/**
 * Takes charges back from banks which were told of them and whose clients were not. A bank that
 * does not answer about one is not asked about the others now, and keeps no other bank waiting.
 */
export async function takeBackOrphans(app: App, signal?: AbortSignal): Promise<void> {
  for (let found = MAX_ORPHANS; found === MAX_ORPHANS && !signal?.aborted; ) {
    const now = app.systemClock.now()
    const orphans = await store.claimOrphans(app.db, now, later(now, LEASE_S), MAX_ORPHANS)
    const groups = [...Map.groupBy(orphans, ({ companyId }) => companyId).values()]
    await forEachLimited(BANKS_AT_ONCE, groups, async (group) => {
      const company = group[0]!.companyId
      try {
        await takeBackAll(app, group)
        await app.setbacks.worked(TASK.orphans, company)
      } catch (error) {
        // They are taken up again when their lease is over.
        app.log.error({ ...describeError(error), company }, 'charges were not taken back')
        await app.setbacks.failed(TASK.orphans, company, error)
      }
    })
    found = orphans.length
  }
}

async function takeBackAll(app: App, orphans: store.Orphan[]): Promise<void> {
  let answers = true
  for (const orphan of orphans) {
    if (orphan.isWritten) await store.remove(app.db, orphan)
    else if (answers) answers = await takeBack(app, orphan)
    else await postpone(app, orphan)
  }
}

async function postpone(app: App, orphan: store.Orphan): Promise<void> {
  const now = app.systemClock.now()
  await store.release(app.db, orphan, now, later(now, retryIn_s(orphan.attempts)))
}

/** Tells whether the bank has answered. */
async function takeBack(app: App, orphan: store.Orphan): Promise<boolean> {
  const company = await findCompany(app.db, orphan.companyId)
  const bank = company && app.providers.bankOf(company)
  // Nobody can be told, and nobody can pay it any more either.
  if (!bank && orphan.expiresAt <= app.clock.now()) {
    await store.remove(app.db, orphan)
    return true
  }
  const outcome = bank
    ? await bank.removeCharge(company, orphan.id)
    : ({ kind: 'unknown', reason: 'no bank is connected' } as const)
  const charge = toPublic('charge', orphan.id)
  if (outcome.kind === 'unknown') {
    await postpone(app, orphan)
    app.log.warn({ charge, reason: outcome.reason }, 'a charge could not be taken back yet')
    return false
  }
  // Paid without anybody having had its code from us: the money is found by reconciling, and waits
  // for the merchant's decision.
  if (outcome.kind === 'rejected') app.log.warn({ charge }, 'a charge was paid before it was known')
  await store.remove(app.db, orphan)
  return true
}
