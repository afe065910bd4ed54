import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { recordResults, resultOf, send } from '../core/deliveries/commands.ts'
import {
  type DueDelivery,
  findDueWebhooks,
  keepLines,
  leaveLines,
  type Result,
  readDue,
  takeLines,
} from '../core/deliveries/store.ts'
import { buryDead, type Enlisted, enlist } from '../core/deliveries/workers.ts'
import { TASK } from '../core/tasks.ts'
import { isOfRows } from '../db/database.ts'
import { type Batcher, createBatcher } from '../lib/batch.ts'
import { describeError } from '../lib/log.ts'
import {
  createLines,
  dropIdle,
  type Flight,
  give,
  isEmpty,
  isOurs,
  type Landing,
  type Lines,
  noteDue,
  stop,
  untilRoom,
  wantedOf,
} from './lines.ts'

/** How often webhooks with something due are looked for while others are busy. */
const LOOK_AGAIN_MS = 250
/** However often it is rung, looking takes no more than one in so many parts of the time. */
const REST = 4
const KEEP_EVERY_MS = 5_000
const MOST_RECORDED = 256
/** Lines taken at a look while others might take some. */
const MOST_TAKEN = 50
/** How long what could not be written down is kept from being sent again. */
const FORGET_MS = 5_000
/** How long receivers may still answer when the worker is to stop. */
const FAREWELL_MS = 3_000

export type Delivering = {
  /** Delivers until nothing is due and nothing under way. */
  run(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** A worker at its work: its number, its lines, and where it hands in what became of deliveries. */
type Desk = {
  app: App
  worker: number
  lines: Lines
  team: Team
}

/** Other workers that live, and when that was last looked at. */
type Team = { colleagues: number; kept_ms: number }

type Recorder = Batcher<Result, 'go on' | 'stop'>

/**
 * The delivery worker. It looks for webhooks with something due, takes the lines of those that no
 * other worker has, sends what is due outside of any transaction, and writes down what became of it
 * in groups.
 */
export function createDelivering(app: App): Delivering {
  let self: Enlisted | null = null
  const team: Team = { colleagues: 0, kept_ms: Number.NEGATIVE_INFINITY }
  const results: Recorder = createBatcher(
    async (group: Result[]) => {
      const stopped = await recordResults(app, self!.id, group)
      return group.map(({ delivery }) => (stopped.has(delivery.webhookId) ? 'stop' : 'go on'))
    },
    { most: MOST_RECORDED, lanes: 2, isOfOne: isOfRows },
  )
  return {
    async run(signal = new AbortController().signal) {
      self ??= await enlist(app.db)
      const cut = new AbortController()
      const lines = createLines((delivery) => fly(app, results, delivery, cut.signal))
      try {
        await work({ app, worker: self.id, lines, team }, signal)
      } finally {
        const landed = stop(lines)
        await Promise.race([landed, pause(FAREWELL_MS, undefined, { ref: false })])
        cut.abort()
        await landed
        await results.idle()
      }
    },
    close: async () => self?.close(),
  }
}

async function work(desk: Desk, signal: AbortSignal): Promise<void> {
  const { app, worker, lines } = desk
  let [looked_ms, took_ms, isRung] = [Number.NEGATIVE_INFINITY, 0, true]
  const wait_ms = () => {
    const rest_ms = isRung ? Math.min(REST * took_ms, LOOK_AGAIN_MS) : LOOK_AGAIN_MS
    return Math.max(0, looked_ms + rest_ms - performance.now())
  }
  while (!signal.aborted) {
    if (wait_ms() === 0) {
      const began_ms = performance.now()
      isRung = await look(desk)
      looked_ms = performance.now()
      took_ms = looked_ms - began_ms
    }
    await fill(desk)
    await leaveLines(app.db.light, worker, dropIdle(lines))
    if (isEmpty(lines) && !isRung) return
    // What was rung for is looked for soon; meanwhile no line with room has to wait.
    const bell = (enough: AbortSignal) =>
      isRung
        ? pause(wait_ms(), undefined, { signal: enough })
        : app.alarm.wait(TASK.deliver, wait_ms(), enough)
    isRung = (await waitForWork(lines, bell, signal)) || isRung
  }
}

/** Renews our own lines and takes over from the dead, now and then. */
async function keep({ app, worker, team }: Desk): Promise<void> {
  if (performance.now() - team.kept_ms < KEEP_EVERY_MS) return
  team.kept_ms = performance.now()
  await keepLines(app.db.light, worker)
  const { dead, living } = await buryDead(app.db, worker)
  team.colleagues = living
  if (dead > 0) app.log.warn({ workers: dead }, 'took over from workers that died')
}

/**
 * Takes lines that nobody has. Where there are colleagues it leaves some to them, and tells whether
 * there may be more.
 */
async function look(desk: Desk): Promise<boolean> {
  await keep(desk)
  const { app, worker, lines, team } = desk
  const due = await findDueWebhooks(app.db.light, app.clock.now())
  const { ours = [], others = [] } = Object.groupBy(due, (webhook) =>
    isOurs(lines, webhook) ? 'ours' : 'others',
  )
  noteDue(lines, ours)
  const most = team.colleagues > 0 ? MOST_TAKEN : others.length
  const taken = await takeLines(app.db.light, worker, others, most)
  noteDue(lines, taken)
  return taken.length === most && most < others.length
}

async function fill({ app, worker, lines }: Desk): Promise<void> {
  const wanted = wantedOf(lines)
  if (wanted.length === 0) return
  give(lines, wanted, await readDue(app.db.light, worker, wanted, app.clock.now()))
}

function fly(app: App, results: Recorder, delivery: DueDelivery, cut: AbortSignal): Flight {
  const exchanged = send(app, delivery, cut)
  const recorded = exchanged.then((exchange) => {
    const result = resultOf(delivery, exchange, app.clock.now())
    app.metrics.delivery(result.verdict.outcome, exchange.latency_ms / 1000)
    return results(result)
  })
  const landed = exchanged.then(
    ({ outcome, latency_ms }): Landing => ({
      kind: outcome === 'delivered' ? 'delivered' : 'failed',
      latency_ms,
    }),
    (): Landing => ({ kind: 'cut', latency_ms: 0 }),
  )
  return { landed, recorded: recorded.catch((error) => forget(app, error, cut)) }
}

/** What is not written down is still due; after a while it is sent again, under the same id. */
async function forget(app: App, error: unknown, cut: AbortSignal): Promise<'stop'> {
  if (cut.aborted) return 'stop'
  app.log.error(describeError(error), 'what became of a delivery was not written down')
  await pause(FORGET_MS, undefined, { ref: false, signal: cut }).catch(() => {})
  return 'stop'
}

/** Until the bell is heard, true then, or a line has room. */
async function waitForWork(
  lines: Lines,
  bell: (enough: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const enough = new AbortController()
  let isHeard = false
  const heard = bell(AbortSignal.any([signal, enough.signal])).then(
    () => {
      isHeard = !enough.signal.aborted
    },
    () => {},
  )
  await Promise.race([heard, untilRoom(lines)])
  enough.abort()
  // Both may have come together, and a ring is heard only once.
  await heard
  return isHeard
}
