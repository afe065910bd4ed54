import { setTimeout as pause } from 'node:timers/promises'
import type { Tx } from '../../db/database.ts'
import { inSlot } from '../../lib/fair-queue.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { App, Uses } from '../app.ts'
import { announceChange } from '../companies/announce.ts'
import type { Company } from '../companies/rules.ts'
import { dueWorkOf, type WithSource } from '../due.ts'
import { TASK } from '../tasks.ts'
import { type Move, requireSandbox, type TestClock, targetOf } from './rules.ts'
import * as store from './store.ts'

/** The app with the kinds of work that are due at a company's time. */
export type AppWithDue<T extends WithSource = WithSource> = App & { due: readonly T[] }

/** The next due work of a company of every kind, the earliest first. */
export const dueOf = <T extends WithSource>(app: AppWithDue<T>, companyId: Uuid, now: Date) =>
  dueWorkOf(app.db.light, app.due, companyId, now)

const nowBy = ({ systemClock }: Uses<'systemClock'>, { ahead_ms }: TestClock): Date =>
  new Date(systemClock.now().getTime() + ahead_ms)

/** The clock when the time of the company is `at`. It never goes back. */
export const movedTo = (
  { systemClock }: Uses<'systemClock'>,
  clock: TestClock,
  at: Date,
): TestClock => ({
  ...clock,
  ahead_ms: Math.max(clock.ahead_ms, at.getTime() - systemClock.now().getTime()),
})

/** Stores a clock and notifies all servers. */
export async function setClock(
  tx: Tx,
  companyId: Uuid,
  before: TestClock,
  after: TestClock,
): Promise<boolean> {
  const isSet = await store.update(tx, companyId, before, after)
  if (isSet) await announceChange(tx, companyId)
  return isSet
}

/** Stops a clock that is advancing. It keeps the time that it has. */
export async function stopClock(tx: Tx, companyId: Uuid): Promise<void> {
  const clock = await store.find(tx, companyId, 'for update')
  if (clock.target !== null) await setClock(tx, companyId, clock, { ...clock, target: null })
}

/**
 * Moves a company's clock. If nothing is due until the target, it is there at once. Otherwise the
 * worker advances it from one due moment to the next.
 */
export async function moveClock(
  tx: Tx,
  app: AppWithDue,
  company: Company,
  move: Move,
): Promise<TestClock> {
  requireSandbox(company)
  const clock = await store.lockOrCreate(tx, company.id)
  if (clock.target !== null) throw alreadyMoving(clock.target)
  const now = nowBy(app, clock)
  const target = targetOf(move, now, clock.ahead_ms)
  const [first] = await dueOf(app, company.id, now)
  const isIdle = !first || first.at > target
  const after = isIdle ? movedTo(app, clock, target) : { ...clock, target }
  await setClock(tx, company.id, clock, after)
  if (!isIdle) tx.wake(TASK.clocks)
  return after
}

const alreadyMoving = (target: Date) =>
  problem('clock_advancing', `The clock is still on its way to ${target.toISOString()}.`)

/** How long a move waits for other moves. */
const MOVE_WAIT_MS = 10_000
const tooManyMoves = () =>
  problem('rate_limited', 'Too many clocks are being moved. Try again in a moment.', {
    'Retry-After': '1',
  })

/**
 * Runs the moves of a company's clock one after the other. A move waits before it has a database
 * connection, because waiting moves would otherwise use up the connections of others.
 */
export const oneMoveAtATime = <R>(
  app: Uses<'clockMoves'>,
  companyId: Uuid,
  act: () => Promise<R>,
): Promise<R> =>
  inSlot(app.clockMoves, companyId, { most_ms: MOVE_WAIT_MS, late: tooManyMoves }, act)

const [MIN_POLL_MS, MAX_POLL_MS] = [5, 100]

/** Waits until a clock is at its target, at most `max_ms`. */
export async function untilAdvanced(
  { db }: Uses<'db'>,
  companyId: Uuid,
  max_ms: number,
): Promise<void> {
  const end_ms = performance.now() + max_ms
  for (let poll_ms = MIN_POLL_MS; ; poll_ms = Math.min(poll_ms * 2, MAX_POLL_MS)) {
    const { target } = await store.find(db, companyId)
    if (target === null || performance.now() >= end_ms) return
    await pause(Math.min(poll_ms, Math.max(0, end_ms - performance.now())))
  }
}

/** A clock, and the work that is done at its present moment while it advances. */
export type ShownClock = { now: Date; target: Date | null; running: string[] }

export async function readClock(tx: Tx, app: AppWithDue, company: Company): Promise<ShownClock> {
  requireSandbox(company)
  const clock = await store.find(tx, company.id)
  const now = nowBy(app, clock)
  if (clock.target === null) return { now, target: null, running: [] }
  const due = await dueOf(app, company.id, now)
  const running = due.filter(({ at }) => at <= now).map(({ task }) => task.source.name)
  return { now, target: clock.target, running }
}
