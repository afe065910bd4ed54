import { setTimeout as pause } from 'node:timers/promises'
import { dueOf, movedTo, setClock } from '../core/clocks/commands.ts'
import type { TestClock } from '../core/clocks/rules.ts'
import { type ClockLocks, find, findAdvancing, openClockLocks } from '../core/clocks/store.ts'
import { withCompanyClock } from '../core/companies/clock.ts'
import { findCompany } from '../core/companies/store.ts'
import type { DueWork } from '../core/due.ts'
import type { DueTask, FullApp } from '../core/full-app.ts'
import { TASK } from '../core/tasks.ts'
import { createFairQueue, type FairQueue, inSlot } from '../lib/fair-queue.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { untilOneEnds } from './loop.ts'

/** How often clocks to move are searched for while others move. */
const SEARCH_MS = 250
const MAX_ADVANCING = 100
/** How many steps of clocks run at once. Each is work for the database. */
const MAX_STEPS = 2
/** How long a step waits for other steps. */
const STEP_WAIT_MS = 60_000
/** The pauses between looks whether due work is done, short at first. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [4, 200]

/**
 * Advances clocks that have a target. Each goes from one moment at which work is due to the next,
 * and stays there until the work is done. Its time is in the database, so if a worker dies, another
 * continues from there. A clock that waits for a slow receiver does not delay other clocks.
 */
export async function advanceTestClocks(app: FullApp, signal?: AbortSignal): Promise<void> {
  if ((await findAdvancing(app.db)).length === 0) return
  const locks = await openClockLocks(app.db)
  const end = AbortSignal.any([locks.lost, ...(signal ? [signal] : [])])
  const advancing = new Map<Uuid, Promise<void>>()
  const steps = createFairQueue({ size: MAX_STEPS, perOwner: 1 })
  try {
    while (!end.aborted) {
      await startAll(app, locks, steps, advancing, end)
      if (advancing.size === 0) return
      await untilOneEnds(app, TASK.clocks, advancing.values(), SEARCH_MS, end)
    }
  } finally {
    await Promise.all(advancing.values())
    await locks.close()
  }
}

/** Starts to advance the clocks that no process advances yet. */
async function startAll(
  app: FullApp,
  locks: ClockLocks,
  steps: FairQueue,
  advancing: Map<Uuid, Promise<void>>,
  signal: AbortSignal,
): Promise<void> {
  const moving = new Set(app.setbacks.moving())
  for (const companyId of await findAdvancing(app.db)) {
    if (moving.has(companyId) || advancing.has(companyId) || advancing.size >= MAX_ADVANCING)
      continue
    if (!(await locks.take(companyId))) continue
    const work = advance(app, companyId, steps, signal)
      .then(() => locks.release(companyId).catch(() => {}))
      .finally(() => advancing.delete(companyId))
    advancing.set(companyId, work)
  }
}

/** Advances one clock to its target. If a step changes nothing, pauses before the next. */
async function advance(
  app: FullApp,
  companyId: Uuid,
  steps: FairQueue,
  signal: AbortSignal,
): Promise<void> {
  let [last, pause_ms] = ['', MIN_PAUSE_MS]
  const wait = { most_ms: STEP_WAIT_MS, late: tooLate }
  const nextStep = () => inSlot(steps, companyId, wait, () => step(app, companyId))
  while (!signal.aborted) {
    const here = await nextStep().catch((error) => {
      app.log.error({ ...describeError(error), company: companyId }, 'a test clock was not moved')
      return 'failed'
    })
    if (here === ARRIVED) return
    pause_ms = here === last ? Math.min(pause_ms * 1.5, MAX_PAUSE_MS) : MIN_PAUSE_MS
    if (here === last) await pause(pause_ms, undefined, { signal }).catch(() => {})
    last = here
  }
}

const tooLate = () => new Error('other clocks took too long')

const ARRIVED = 'arrived'

/**
 * Does what is due at the present time of the company. If nothing is due, moves the clock to the
 * next due moment. Returns a text for the state of the clock, the same text if nothing has changed.
 */
async function step(app: FullApp, companyId: Uuid): Promise<string> {
  const clock = await find(app.db, companyId)
  if (clock.target === null) return ARRIVED
  // It has been moved to another place meanwhile.
  if (!(await findCompany(app.db, companyId))) return ARRIVED
  const { now } = withCompanyClock(app, { clockAhead_ms: clock.ahead_ms }).clock
  const work = await dueOf(app, companyId, now())
  const done = await runDue(app, companyId, clock, work)
  if (done.length > 0) return `${clock.ahead_ms}: ${done.join()}`
  const next = work[0]?.at
  const hasArrived = !next || next > clock.target
  const moved = {
    ...movedTo(app, clock, hasArrived ? clock.target : next),
    target: hasArrived ? null : clock.target,
  }
  const isMoved = await set(app, companyId, clock, moved)
  if (hasArrived) return ARRIVED
  if (isMoved) await runDue(app, companyId, moved, work)
  return `on to ${next.getTime()}`
}

/** Does the work that is due by a clock, and returns its names. */
async function runDue(
  app: FullApp,
  companyId: Uuid,
  { ahead_ms: clockAhead_ms }: TestClock,
  work: DueWork<DueTask>[],
): Promise<string[]> {
  const own = withCompanyClock(app, { clockAhead_ms })
  const now = own.clock.now()
  const due = work.filter(({ at }) => at <= now).map(({ task }) => task)
  for (const task of due) await task.run(own, undefined, companyId)
  return due.map(({ source }) => source.name)
}

const set = (
  app: FullApp,
  companyId: Uuid,
  before: TestClock,
  after: TestClock,
): Promise<boolean> => app.db.transaction((tx) => setClock(tx, companyId, before, after))
