import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { nowOf } from '../core/companies/clock.ts'
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
import { isRowError } from '../db/database.ts'
import { type Batcher, createBatcher } from '../lib/batch.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import {
  createLines,
  dropIdle,
  give,
  isEmpty,
  isOurs,
  type Landing,
  type Lines,
  noteDue,
  type Standings,
  stop,
  untilQuiet,
  untilRoom,
  wantedOf,
} from './lines.ts'

/**
 * How often webhooks with something due are looked for while others are busy. With thousands of
 * them a look takes long, and is then taken less often.
 */
const LOOK_AGAIN_MS = 250
const LOOK_AGAIN_MOST_MS = 800
const LOOK_SHARE = 10
/** However often it is rung, one look is not right after the other. */
const REST = 4
const SHORT_REST_MS = 5
const LONG_LOOK_MS = 10
const FILL_PAUSE_MS = 2
const KEEP_EVERY_MS = 5_000
const MAX_RECORDED = 512
/** What became of a delivery is written down with that of others, within so long. */
const GATHER_MS = 20
/** Lines taken at a look while others might take some. */
const MAX_TAKEN = 50
/** How long receivers may still answer when the worker is to stop. */
const SHUTDOWN_GRACE_MS = 3_000

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
  const standings: Standings = new Map()
  const team: Team = { colleagues: 0, kept_ms: Number.NEGATIVE_INFINITY }
  const results: Recorder = createBatcher(
    async (group: Result[]) => {
      const stopped = await recordResults(app, self!.id, group)
      return group.map(({ delivery }) =>
        stopped.has(delivery.receiver.webhookId) ? 'stop' : 'go on',
      )
    },
    { most: MAX_RECORDED, lanes: 2, isItemError: isRowError, gather_ms: GATHER_MS },
  )
  return {
    async run(signal = new AbortController().signal) {
      self ??= await enlist(app.db)
      const cut = new AbortController()
      const lines = createLines(
        (delivery, landed) => fly(app, results, delivery, landed, cut.signal),
        standings,
      )
      try {
        await work({ app, worker: self.id, lines, team }, signal)
      } finally {
        const landed = stop(lines)
        await Promise.race([landed, pause(SHUTDOWN_GRACE_MS, undefined, { ref: false })])
        cut.abort()
        await landed
        await results.idle()
      }
    },
    close: async () => self?.close(),
  }
}

/** Looks for lines and fills them, each at its own pace, until nothing is due or under way. */
async function work(desk: Desk, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const both = [lookAround(desk, either), keepFilling(desk, either)]
  const ended = await Promise.allSettled(both.map((one) => one.finally(() => over.abort())))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}

async function lookAround(desk: Desk, signal: AbortSignal): Promise<void> {
  const { app, lines } = desk
  while (!signal.aborted) {
    const began_ms = performance.now()
    const isMore = await look(desk)
    const took_ms = performance.now() - began_ms
    if (isEmpty(lines) && !isMore) return
    const rested = pause(restAfter(took_ms), undefined, { signal })
    const again_ms = Math.min(Math.max(LOOK_SHARE * took_ms, LOOK_AGAIN_MS), LOOK_AGAIN_MOST_MS)
    if (!isMore) await listen(app, lines, again_ms, signal)
    await rested.catch(() => {})
  }
}

/** As short as others can wait, unless looking would then take most of the time. */
const restAfter = (took_ms: number): number =>
  took_ms > LONG_LOOK_MS ? took_ms : Math.min(REST * took_ms, SHORT_REST_MS)

/** Until the bell is rung, nothing is under way any more, or it is time to look in any case. */
async function listen(
  app: App,
  lines: Lines,
  again_ms: number,
  signal: AbortSignal,
): Promise<void> {
  const enough = new AbortController()
  const bell = app.alarm.wait(TASK.deliver, again_ms, AbortSignal.any([signal, enough.signal]))
  await Promise.race([bell, untilQuiet(lines)])
  enough.abort()
  await bell
}

/** Reads what lines could take. A short pause lets those that are done soon share the next read. */
async function keepFilling(desk: Desk, signal: AbortSignal): Promise<void> {
  const { lines } = desk
  const aborted = once(signal, 'abort')
  while (!signal.aborted) {
    await fill(desk)
    await pause(FILL_PAUSE_MS)
    await Promise.race([untilRoom(lines), aborted])
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
 * Leaves lines that have nothing left, and takes those that nobody has. Where there are colleagues
 * it leaves some to them, and tells whether there may be more.
 */
async function look(desk: Desk): Promise<boolean> {
  await keep(desk)
  const { app, worker, lines, team } = desk
  // Here and nowhere else: a line that is left while it is taken might be lost.
  await leaveLines(app.db.light, worker, dropIdle(lines))
  const aside = new Set(app.setbacks.companiesOf(TASK.deliver))
  const found = await findDueWebhooks(app.db.light, app.clock.now())
  const due = found.filter(({ companyId }) => !aside.has(companyId))
  const { ours = [], others = [] } = Object.groupBy(due, (webhook) =>
    isOurs(lines, webhook) ? 'ours' : 'others',
  )
  noteDue(lines, ours)
  const most = team.colleagues > 0 ? MAX_TAKEN : others.length
  const taken = await takeLines(app.db.light, worker, others, most)
  noteDue(lines, taken)
  return taken.length === most && most < others.length
}

async function fill({ app, worker, lines }: Desk): Promise<void> {
  const wanted = wantedOf(lines)
  if (wanted.length === 0) return
  give(lines, wanted, await readDue(app.db.light, worker, wanted, app.clock.now()))
}

function fly(
  app: App,
  results: Recorder,
  delivery: DueDelivery,
  landed: (landing: Landing) => void,
  cut: AbortSignal,
): Promise<'go on' | 'stop'> {
  const recorded = send(app, delivery, cut).then((exchange) => {
    const { outcome, latency_ms } = exchange
    const result = resultOf(delivery, exchange, nowOf(app, delivery.receiver))
    app.metrics.delivery(result.verdict.outcome, latency_ms / 1000)
    landed({ kind: outcome === 'delivered' ? 'delivered' : 'failed', latency_ms })
    return results(result)
  })
  const { companyId } = delivery.receiver
  const ended = recorded.then(async (then) => {
    await app.setbacks.worked(TASK.deliver, companyId)
    return then
  })
  return ended.catch((error) => {
    if (!cut.aborted) return forget(app, companyId, error)
    landed({ kind: 'cut', latency_ms: 0 })
    return 'stop'
  })
}

/**
 * What is not written down is still due, and is sent again under the same id. Its company is set
 * aside, because that would go on and on.
 */
async function forget(app: App, companyId: Uuid, error: unknown): Promise<'stop'> {
  const about = { ...describeError(error), company: companyId }
  app.log.error(about, 'what became of a delivery was not written down')
  await app.setbacks.failed(TASK.deliver, companyId, error)
  return 'stop'
}
