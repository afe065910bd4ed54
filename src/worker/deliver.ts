import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { nowOf } from '../core/companies/clock.ts'
import { recordResults, resultOf, send } from '../core/deliveries/commands.ts'
import {
  type AttemptResult,
  type DueDelivery,
  findDueWebhooks,
  readDue,
  releaseLeases,
  renewLeases,
  takeLeases,
} from '../core/deliveries/store.ts'
import {
  type RegisteredWorker,
  reapDeadWorkers,
  registerWorker,
} from '../core/deliveries/workers.ts'
import type { FullApp } from '../core/full-app.ts'
import { TASK } from '../core/tasks.ts'
import { isRowError } from '../db/database.ts'
import { type Batcher, createBatcher } from '../lib/batch.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { asSpan, type Facts, type Span } from '../lib/tracing.ts'
import {
  type AttemptEnd,
  addRead,
  createWebhookQueues,
  type Healths,
  hasQueue,
  isEmpty,
  markDue,
  readRequests,
  removeIdle,
  stop,
  untilCanRead,
  untilIdle,
  type WebhookQueues,
} from './webhook-queues.ts'

/**
 * How often webhooks with due deliveries are searched while requests are in progress. If a search
 * takes long, because there are thousands of webhooks, the next one comes later.
 */
const SEARCH_MS = 250
const MAX_SEARCH_MS = 800
const SEARCH_FACTOR = 10
/** However often this task is woken, there is a pause between two searches. */
const PAUSE_FACTOR = 4
const SHORT_PAUSE_MS = 5
const LONG_SEARCH_MS = 10
const FILL_PAUSE_MS = 2
/** A dead worker goes unnoticed no longer, and its deliveries have to continue within 5 s. */
const RENEW_MS = 3_000
/** Results are stored in groups. A result waits at most so long for others. */
const MAX_RECORDED = 512
const GATHER_MS = 20
/** Leases taken by one search while there are other workers. */
const MAX_TAKEN = 50
/** How long receivers may still answer when the worker stops. */
const SHUTDOWN_GRACE_MS = 3_000

export type DeliveryWorker = {
  /** Sends deliveries until none is due and none is in progress. */
  run(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

type WorkerContext = {
  app: FullApp
  worker: number
  queues: WebhookQueues
  otherWorkers: OtherWorkers
}

/** How many other workers are alive, and when they were counted. */
type OtherWorkers = { count: number; counted_ms: number }

type Recorder = Batcher<AttemptResult, 'continue' | 'stop'>

/**
 * The delivery worker. It searches webhooks with due deliveries, leases those that no other worker
 * has, sends what is due outside of any transaction, and stores the results in groups.
 */
export function createDeliveryWorker(app: FullApp): DeliveryWorker {
  let self: RegisteredWorker | null = null
  const healths: Healths = new Map()
  const otherWorkers: OtherWorkers = { count: 0, counted_ms: Number.NEGATIVE_INFINITY }
  const recorder: Recorder = createBatcher(
    async (group: AttemptResult[]) => {
      const stopped = await recordResults(app, self!.id, group)
      const companies = new Set(group.map(({ delivery }) => delivery.receiver.companyId))
      for (const companyId of companies) await app.setbacks.worked(TASK.deliver, companyId)
      return group.map(({ delivery }) =>
        stopped.has(delivery.receiver.webhookId) ? 'stop' : 'continue',
      )
    },
    { max: MAX_RECORDED, concurrency: 2, isItemError: isRowError, gather_ms: GATHER_MS },
  )
  return {
    async run(signal = new AbortController().signal) {
      self ??= await registerWorker(app.db)
      const abort = new AbortController()
      const queues = createWebhookQueues(
        (delivery, onAnswered) =>
          asSpan(spanOf(delivery), (span) =>
            attempt(app, recorder, delivery, onAnswered, abort.signal, span),
          ),
        healths,
      )
      try {
        await work({ app, worker: self.id, queues, otherWorkers }, signal)
      } finally {
        const stopped = stop(queues)
        await Promise.race([stopped, pause(SHUTDOWN_GRACE_MS, undefined, { ref: false })])
        abort.abort()
        await stopped
        await recorder.idle()
      }
    },
    close: async () => self?.close(),
  }
}

/** Runs two loops, one that searches webhooks and one that reads their deliveries. */
async function work(context: WorkerContext, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const loops = [searchLoop(context, either), readLoop(context, either)]
  const ended = await Promise.allSettled(loops.map((loop) => loop.finally(() => over.abort())))
  for (const loop of ended) if (loop.status === 'rejected') throw loop.reason
}

async function searchLoop(context: WorkerContext, signal: AbortSignal): Promise<void> {
  const { app, queues } = context
  while (!signal.aborted) {
    const start_ms = performance.now()
    const isMore = await search(context)
    const took_ms = performance.now() - start_ms
    if (isEmpty(queues) && !isMore) return
    const paused = pause(pauseAfter(took_ms), undefined, { signal })
    const again_ms = Math.min(Math.max(SEARCH_FACTOR * took_ms, SEARCH_MS), MAX_SEARCH_MS)
    if (!isMore) await waitForWork(app, queues, again_ms, signal)
    await paused.catch(() => {})
  }
}

/** Short, because deliveries wait for it. But searching must not take most of the time. */
const pauseAfter = (took_ms: number): number =>
  took_ms > LONG_SEARCH_MS ? took_ms : Math.min(PAUSE_FACTOR * took_ms, SHORT_PAUSE_MS)

/** Until this task is woken, nothing is in progress any more, or it is time to search again. */
async function waitForWork(
  app: FullApp,
  queues: WebhookQueues,
  again_ms: number,
  signal: AbortSignal,
): Promise<void> {
  const enough = new AbortController()
  const woken = app.alarm.wait(TASK.deliver, again_ms, AbortSignal.any([signal, enough.signal]))
  await Promise.race([woken, untilIdle(queues)])
  enough.abort()
  await woken
}

/** Reads due deliveries. After a short pause, more queues share the next read. */
async function readLoop(context: WorkerContext, signal: AbortSignal): Promise<void> {
  const { queues } = context
  const aborted = once(signal, 'abort')
  while (!signal.aborted) {
    await read(context)
    await pause(FILL_PAUSE_MS)
    await Promise.race([untilCanRead(queues), aborted])
  }
}

/** From time to time, renews the leases of this worker and releases those of dead workers. */
async function renew({ app, worker, otherWorkers }: WorkerContext): Promise<void> {
  if (performance.now() - otherWorkers.counted_ms < RENEW_MS) return
  otherWorkers.counted_ms = performance.now()
  await renewLeases(app.db.light, worker)
  const { dead, alive } = await reapDeadWorkers(app.db, worker)
  otherWorkers.count = alive
  if (dead > 0) app.log.warn({ workers: dead }, 'released the webhooks of dead workers')
}

/**
 * Releases leases of webhooks that have nothing due, and leases webhooks that nobody has. If there
 * are other workers, it leaves some to them. Returns whether there may be more.
 */
async function search(context: WorkerContext): Promise<boolean> {
  await renew(context)
  const { app, worker, queues, otherWorkers } = context
  // Leases are released only here, because one that is released while it is taken may be lost.
  await releaseLeases(app.db.light, worker, removeIdle(queues))
  const aside = new Set(app.setbacks.companiesOf(TASK.deliver))
  const found = await findDueWebhooks(app.db.light, app.clock.now())
  const due = found.filter(({ companyId }) => !aside.has(companyId))
  const { leased = [], others = [] } = Object.groupBy(due, (webhook) =>
    hasQueue(queues, webhook) ? 'leased' : 'others',
  )
  markDue(queues, leased)
  const max = otherWorkers.count > 0 ? MAX_TAKEN : others.length
  const taken = await takeLeases(app.db.light, worker, others, max)
  markDue(queues, taken)
  return taken.length === max && max < others.length
}

async function read({ app, worker, queues }: WorkerContext): Promise<void> {
  const requests = readRequests(queues)
  if (requests.length === 0) return
  addRead(queues, requests, await readDue(app.db.light, worker, requests, app.clock.now()))
}

/** A part of the trace of the request that has caused the event. */
const spanOf = ({ receiver, type, tries, cause }: DueDelivery) => ({
  name: 'deliver webhook',
  kind: 'client' as const,
  facts: {
    'vintem.company': receiver.companyId,
    'vintem.webhook': receiver.webhookId,
    'vintem.event': type,
    'http.request.resend_count': tries,
  },
  cause: cause && { ...cause, companyId: receiver.companyId },
})

const statusOf = (status: number | null): Facts =>
  status === null ? {} : { 'http.response.status_code': status }

/** Sends a delivery once and stores the result. Never rejects. */
async function attempt(
  app: FullApp,
  recorder: Recorder,
  delivery: DueDelivery,
  onAnswered: (end: AttemptEnd) => void,
  signal: AbortSignal,
  span: Span | null,
): Promise<'continue' | 'stop'> {
  try {
    const posted = await send(app, delivery, signal)
    const { outcome, latency_ms } = posted
    const result = resultOf(delivery, posted, nowOf(app, delivery.receiver))
    app.countAttempt(result.next.outcome, latency_ms / 1000)
    span?.note({ 'vintem.outcome': result.next.outcome, ...statusOf(posted.status) })
    onAnswered({ kind: outcome === 'delivered' ? 'delivered' : 'failed', latency_ms })
    return await recorder(result)
  } catch (error) {
    if (!signal.aborted) return onNotRecorded(app, delivery.receiver.companyId, error)
    onAnswered({ kind: 'aborted', latency_ms: 0 })
    return 'stop'
  }
}

/**
 * If a result is not stored, the delivery is still due and is sent again under the same id. Its
 * company is set aside, because otherwise this would repeat without end.
 */
async function onNotRecorded(app: FullApp, companyId: Uuid, error: unknown): Promise<'stop'> {
  const about = { ...describeError(error), company: companyId }
  app.log.error(about, 'the result of a delivery was not stored')
  await app.setbacks.failed(TASK.deliver, companyId, error)
  return 'stop'
}
