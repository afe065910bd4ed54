import { setTimeout as pause } from 'node:timers/promises'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import { announceChange } from '../companies/announce.ts'
import type { Company } from '../companies/rules.ts'
import { TASK } from '../tasks.ts'
import { agendaOf } from './due.ts'
import { type Move, requireSandbox, type TestClock, targetOf } from './rules.ts'
import * as store from './store.ts'

const nowBy = ({ systemClock }: App, { ahead_ms }: TestClock): Date =>
  new Date(systemClock.now().getTime() + ahead_ms)

/** The clock as it is when the company's now is that moment; it never goes back. */
export const movedTo = ({ systemClock }: App, clock: TestClock, at: Date): TestClock => ({
  ...clock,
  ahead_ms: Math.max(clock.ahead_ms, at.getTime() - systemClock.now().getTime()),
})

/** Writes a clock down and lets every server know. */
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

/** Ends a move that is under way; the clock stays where it has come to. */
export async function stopClock(tx: Tx, companyId: Uuid): Promise<void> {
  const clock = await store.find(tx, companyId, 'for update')
  if (clock.target !== null) await setClock(tx, companyId, clock, { ...clock, target: null })
}

/**
 * Sends a company's clock on its way. Where nothing falls due until then it has arrived at once;
 * otherwise it is played from one moment to the next.
 */
export async function moveClock(
  tx: Tx,
  app: App,
  company: Company,
  move: Move,
): Promise<TestClock> {
  requireSandbox(company)
  const clock = await store.take(tx, company.id)
  if (clock.target !== null) throw alreadyMoving(clock.target)
  const now = nowBy(app, clock)
  const target = targetOf(move, now, clock.ahead_ms)
  const [first] = await agendaOf(app, company.id, now)
  const isIdle = !first || first.at > target
  const after = isIdle ? movedTo(app, clock, target) : { ...clock, target }
  await setClock(tx, company.id, clock, after)
  if (!isIdle) tx.wake(TASK.clocks)
  return after
}

const alreadyMoving = (target: Date) =>
  problem('clock_advancing', `The clock is still on its way to ${target.toISOString()}.`)

/** How long a move waits for others. */
const MOVE_WAIT_MS = 10_000
const tooManyMoves = () =>
  problem('rate_limited', 'Too many clocks are being moved. Try again in a moment.', {
    'Retry-After': '1',
  })

/**
 * Does what a move of a company's clock needs, one move at a time and before it has a connection: if
 * moves waited for each other in the database, they would take the connections of others.
 */
export const inTurn = <R>(app: App, companyId: Uuid, act: () => Promise<R>): Promise<R> =>
  app.clockMoves.during(companyId, MOVE_WAIT_MS, tooManyMoves, act)

const [FIRST_LOOK_MS, LAST_LOOK_MS] = [5, 100]

/** Waits until a clock has arrived, but not longer than that. */
export async function untilArrived({ db }: App, companyId: Uuid, most_ms: number): Promise<void> {
  const end_ms = performance.now() + most_ms
  for (let look_ms = FIRST_LOOK_MS; ; look_ms = Math.min(look_ms * 2, LAST_LOOK_MS)) {
    const { target } = await store.find(db, companyId)
    if (target === null || performance.now() >= end_ms) return
    await pause(Math.min(look_ms, Math.max(0, end_ms - performance.now())))
  }
}

/** A clock with what is being done at its moment, while it is on its way. */
export type ShownClock = { now: Date; target: Date | null; running: string[] }

export async function readClock(tx: Tx, app: App, company: Company): Promise<ShownClock> {
  requireSandbox(company)
  const clock = await store.find(tx, company.id)
  const now = nowBy(app, clock)
  if (clock.target === null) return { now, target: null, running: [] }
  const agenda = await agendaOf(app, company.id, now)
  const running = agenda.filter(({ at }) => at <= now).map(({ source }) => source.name)
  return { now, target: clock.target, running }
}
