import { violatedConstraint } from '../../db/database.ts'
import { forEachLimited } from '../../lib/for-each-limited.ts'
import { Problem, type ProblemCode, problem } from '../../lib/problems.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import {
  claim,
  type FindStored,
  forgetOld,
  guardOfPart,
  type IdempotencyRef,
  inProgress,
  openAnswer,
  sealAnswer,
  store,
} from '../idempotency.ts'
import { createCharge, type MatchPaid } from './commands.ts'
import type { Draft } from './drafts.ts'
import { type AppWithCharges, MAX_WRITES } from './group.ts'
import type { Charge } from './rules.ts'

type AppWithBatches = AppWithCharges & { findStored: FindStored }

/** What became of one charge of a batch: it was created, or there was one already, or neither. */
export type Outcome = { charge: Charge; repeated: boolean } | { refusal: Problem }

export const isRefused = (outcome: Outcome): outcome is { refusal: Problem } => 'refusal' in outcome

/** Whether a refusal may pass, so that the same request can succeed later. */
export const mayPass = ({ refusal }: { refusal: Problem }): boolean => refusal.status >= 500

/** What says something about the whole request, and so of each charge in it. */
const OF_ALL: ProblemCode[] = ['idempotency_in_progress', 'idempotency_key_reused']

export type BatchCall = {
  guard: IdempotencyRef | null
  /** Waits until the key of the request may create one more. */
  pace(): Promise<void>
  matchPaid: MatchPaid
}

/** A batch, with the reason why a charge that has not begun is not tried any more. */
type Running = BatchCall & {
  stopFor(draft: Draft): Problem | null
  companyNow(): Promise<Company>
}

/**
 * Creates many charges, each by itself, as many at once as are written together. With an
 * Idempotency-Key each has a key of its own, made of it, under which its id is stored with it: so
 * the same request continues after a crash, and creates what is missing. If the bank does not
 * answer about one, it is not asked about those that have not begun. What is there already is found
 * all the same.
 */
export async function createBatch(
  app: AppWithBatches,
  company: Company,
  drafts: (Draft | Problem)[],
  call: BatchCall,
): Promise<Outcome[]> {
  const { guard, pace } = call
  const isResumed = guard !== null && !(await begin(app, company, guard))
  const companyNow = readAgain(app, company)
  const outcomes: Outcome[] = []
  let stop: Problem | null = null
  const stopFor = ({ devMode }: Draft) => (stop && concerns(stop, devMode) ? stop : null)
  await forEachLimited(MAX_WRITES, [...drafts.entries()], async ([i, draft]) => {
    if (draft instanceof Problem) outcomes[i] = { refusal: draft }
    else {
      const part = guard && guardOfPart(app.vault, guard, String(i))
      const own = { ...call, guard: part, stopFor, companyNow, pace: i > 0 ? pace : noWait }
      const outcome = await createOne(app, company, draft, own, isResumed).catch((error) => {
        stop = problem('service_unavailable')
        throw error
      })
      const isToStop = isRefused(outcome) && mayPass(outcome)
      if (isToStop && !(stop && concerns(stop, true))) stop = outcome.refusal
      outcomes[i] = outcome
    }
  })
  return outcomes
}

const noWait = async () => {}

/** Open charges follow new days of reminders a minute later: by then no charge has old ones. */
const READ_AGAIN_MS = 15_000

/** The company of a batch, which may take minutes while its rules of reminders change. */
function readAgain({ db, systemClock }: AppWithBatches, company: Company): () => Promise<Company> {
  const now_ms = () => systemClock.now().getTime()
  let [current, read_ms] = [company, now_ms()]
  return async () => {
    if (now_ms() - read_ms < READ_AGAIN_MS) return current
    read_ms = now_ms()
    const { reminderDays } = (await findCompany(db, company.id)) ?? current
    current = { ...company, reminderDays }
    return current
  }
}

/** Charges in devMode do not need the bank that does not answer. */
const concerns = ({ code }: Problem, devMode: boolean): boolean =>
  !devMode || code !== 'provider_unavailable'

/** Notes that the batch has begun. False: it had begun before, so some of it may be created. */
async function begin(
  { db, vault, clockWatch, findStored }: AppWithBatches,
  { id: companyId }: Company,
  guard: IdempotencyRef,
): Promise<boolean> {
  const { key, fingerprint } = guardOfPart(vault, guard, 'begin')
  const now = await clockWatch.now()
  if (await claim(db, companyId, key, fingerprint, now)) return true
  const earlier = await findStored({ companyId, key, now })
  if (earlier && !vault.isSameRequest(earlier.fingerprint, fingerprint)) {
    throw problem('idempotency_key_reused')
  }
  return false
}

async function createOne(
  app: AppWithBatches,
  company: Company,
  draft: Draft,
  call: Running,
  mayExist: boolean,
  mayRepeat = true,
): Promise<Outcome> {
  const { guard, pace, stopFor, matchPaid } = call
  // Also if it is not tried any more: what is there must not be called refused.
  const earlier = guard && mayExist ? await findPart(app, company, guard) : null
  if (earlier) return { charge: earlier, repeated: false }
  if (!stopFor(draft)) await pace()
  const refusal = stopFor(draft)
  if (refusal) return { refusal }
  const seal = guard && ((charge: Charge) => sealId(app, guard, charge))
  try {
    const showing = { show: (charge: Charge) => charge, seal, guard }
    const current = await call.companyNow()
    const { shown: charge, repeated } = await createCharge(app, current, draft, showing, matchPaid)
    // It was made by another request, so its id is not stored with it.
    if (repeated && seal) await store(app.db, company.id, seal(charge), await app.clockWatch.now())
    return { charge, repeated }
  } catch (error) {
    if (error instanceof Problem && !OF_ALL.includes(error.code)) return { refusal: error }
    if (guard === null || violatedConstraint(error) !== 'idempotency_keys_pkey') throw error
    if (!mayRepeat) throw inProgress()
    // Another process was first, and is found now, or a key older than a day is still stored.
    await forgetOld(app.db, company.id, guard.key, await app.clockWatch.now())
    return createOne(app, company, draft, call, true, false)
  }
}

/** Of a charge of a batch only the id is stored, because the answer to the batch has the rest. */
const sealId = ({ vault }: AppWithBatches, guard: IdempotencyRef, { companyId, id }: Charge) =>
  sealAnswer(vault, { ...guard, companyId }, { status: 201, body: id, warnings: null })

/** The charge that the same request has created before. */
async function findPart(
  app: AppWithBatches,
  { id: companyId }: Company,
  { key, fingerprint }: IdempotencyRef,
): Promise<Charge | null> {
  const stored = await app.findStored({ companyId, key, now: await app.clockWatch.now() })
  if (!stored) return null
  if (!app.vault.isSameRequest(stored.fingerprint, fingerprint)) {
    throw problem('idempotency_key_reused')
  }
  return app.charges.find({ companyId, id: openAnswer(app.vault, companyId, stored) })
}
