import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { movedTo, setClock } from '../core/clocks/commands.ts'
import { type Appointment, agendaOf } from '../core/clocks/due.ts'
import { type ClockLocks, openClockLocks } from '../core/clocks/locks.ts'
import type { TestClock } from '../core/clocks/rules.ts'
import { find, findAdvancing } from '../core/clocks/store.ts'
import { withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import { TASK } from '../core/tasks.ts'
import { assert } from '../lib/assert.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { createShares, type Shares } from '../lib/shares.ts'

const LOOK_AGAIN_MS = 250
const MAX_PLAYED = 100
/** Steps of clocks that are made at once: they are work for the database. */
const MAX_STEPS = 2
/** A step waits for others at most so long. */
const STEP_WAIT_MS = 60_000
/** How often it is looked whether what is due is done, sooner at first. */
const [SHORTEST_REST_MS, LONGEST_REST_MS] = [4, 200]

/**
 * Plays the clocks that are on their way: each goes from one moment at which something falls due to
 * the next, and stays there until that is done. Where they are stands in the database, so that
 * whoever comes after a worker that died goes on from there. One that waits for a slow receiver
 * holds up no other.
 */
export async function playTestClocks(app: App, signal?: AbortSignal): Promise<void> {
  if ((await findAdvancing(app.db)).length === 0) return
  const locks = await openClockLocks(app.db)
  const end = AbortSignal.any([locks.lost, ...(signal ? [signal] : [])])
  const playing = new Map<Uuid, Promise<void>>()
  const steps = createShares(MAX_STEPS, 1)
  try {
    while (!end.aborted) {
      await beginAll(app, locks, steps, playing, end)
      if (playing.size === 0) return
      await untilOneEnds(app, playing, end)
    }
  } finally {
    await Promise.all(playing.values())
    await locks.close()
  }
}

/** Begins to play what nobody plays yet. */
async function beginAll(
  app: App,
  locks: ClockLocks,
  steps: Shares,
  playing: Map<Uuid, Promise<void>>,
  signal: AbortSignal,
): Promise<void> {
  for (const companyId of await findAdvancing(app.db)) {
    if (playing.has(companyId) || playing.size >= MAX_PLAYED) continue
    if (!(await locks.take(companyId))) continue
    const work = play(app, companyId, steps, signal)
      .then(() => locks.leave(companyId).catch(() => {}))
      .finally(() => playing.delete(companyId))
    playing.set(companyId, work)
  }
}

/** Or until it is time to look for more. */
async function untilOneEnds(app: App, playing: Map<Uuid, Promise<void>>, signal: AbortSignal) {
  const enough = new AbortController()
  const either = AbortSignal.any([signal, enough.signal])
  await Promise.race([...playing.values(), app.alarm.wait(TASK.clocks, LOOK_AGAIN_MS, either)])
  enough.abort()
}

/** Plays one clock until it arrives, and rests where a round has changed nothing. */
async function play(app: App, companyId: Uuid, steps: Shares, signal: AbortSignal): Promise<void> {
  let [last, rest_ms] = ['', SHORTEST_REST_MS]
  const stepInTurn = () =>
    steps.during(companyId, STEP_WAIT_MS, tooLate, () => step(app, companyId))
  while (!signal.aborted) {
    const here = await stepInTurn().catch((error) => {
      app.log.error({ ...describeError(error), company: companyId }, 'a test clock was not moved')
      return 'failed'
    })
    if (here === ARRIVED) return
    rest_ms = here === last ? Math.min(rest_ms * 1.5, LONGEST_REST_MS) : SHORTEST_REST_MS
    if (here === last) await pause(rest_ms, undefined, { signal }).catch(() => {})
    last = here
  }
}

const tooLate = () => new Error('other clocks took too long')

const ARRIVED = 'arrived'

/**
 * Does what is due at the company's now, or where nothing is, moves on. Tells where the clock is,
 * and the same again when it cannot go on yet.
 */
async function step(app: App, companyId: Uuid): Promise<string> {
  const clock = await find(app.db, companyId)
  const company = await findCompany(app.db, companyId)
  assert(company, 'a clock has its company')
  if (clock.target === null) return ARRIVED
  const { now } = withCompanyClock(app, { clockAhead_ms: clock.ahead_ms }).clock
  const agenda = await agendaOf(app, companyId, now())
  const done = await runDue(app, company, clock, agenda)
  if (done.length > 0) return `${clock.ahead_ms}: ${done.join()}`
  const next = agenda[0]?.at
  const hasArrived = !next || next > clock.target
  const moved = {
    ...movedTo(app, clock, hasArrived ? clock.target : next),
    target: hasArrived ? null : clock.target,
  }
  const isMoved = await set(app, companyId, clock, moved)
  if (hasArrived) return ARRIVED
  if (isMoved) await runDue(app, company, moved, agenda)
  return `on to ${next.getTime()}`
}

/** Does what of an agenda is due by a clock, and gives the names of that. */
async function runDue(
  app: App,
  company: Company,
  { ahead_ms: clockAhead_ms }: TestClock,
  agenda: Appointment[],
): Promise<string[]> {
  const own = withCompanyClock(app, { clockAhead_ms })
  const now = own.clock.now()
  const due = agenda.filter(({ at }) => at <= now).map(({ source }) => source)
  for (const source of due) await source.run(own, { ...company, clockAhead_ms })
  return due.map(({ name }) => name)
}

const set = (app: App, companyId: Uuid, before: TestClock, after: TestClock): Promise<boolean> =>
  app.db.transaction((tx) => setClock(tx, companyId, before, after))
