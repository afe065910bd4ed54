import type {
  Cursor,
  DueDelivery,
  ReadRequest,
  ReadResult,
  Receiver,
} from '../core/deliveries/store.ts'
import type { WebhookKey } from '../core/webhooks/rules.ts'
import { createFairQueue, type FairQueue, type Release, type Soon } from '../lib/fair-queue.ts'
import type { Uuid } from '../lib/ids.ts'

/** How an attempt ended. If it was aborted, the delivery stays as it was. */
export type AttemptEnd = { kind: 'delivered' | 'failed' | 'aborted'; latency_ms: number }

/**
 * Sends a delivery. Calls `onAnswered` when the receiver has answered. Resolves when the result is
 * stored, and says whether more may be sent to the webhook. Never rejects.
 */
export type Send = (
  delivery: DueDelivery,
  onAnswered: (end: AttemptEnd) => void,
) => Promise<'continue' | 'stop'>

/**
 * What is known of a receiver. It is healthy if it accepted its last delivery quickly, and
 * unhealthy if it failed or was slow.
 */
export type Health = 'healthy' | 'unknown' | 'unhealthy'

/**
 * How many requests to receivers of each health are in progress. Those who are not healthy may keep
 * a slot until the deadline, so they have slots of their own.
 */
const LIMITS: Record<Health, { inAll: number; perCompany: number; perHost: number }> = {
  healthy: { inAll: 1024, perCompany: 256, perHost: 256 },
  unknown: { inAll: 1024, perCompany: 32, perHost: 64 },
  unhealthy: { inAll: 256, perCompany: 32, perHost: 32 },
}

/** Slots for requests to receivers of one health. */
type Slots = {
  take(companyId: Uuid, host: string): Soon<Release>
}

/**
 * A request takes a slot of its host and then one of all. So while a host hangs, those who wait for
 * it keep no slot that requests to other hosts need. Companies share the slots of a host too.
 */
function createSlots({ inAll, perCompany, perHost }: (typeof LIMITS)[Health]): Slots {
  const all = createFairQueue({ size: inAll, perOwner: perCompany })
  const hosts = new Map<string, { queue: FairQueue; users: number }>()
  return {
    take(companyId, host) {
      const known = hosts.get(host) ?? { queue: createFairQueue({ size: perHost }), users: 0 }
      if (known.users === 0) hosts.set(host, known)
      known.users += 1
      return then(known.queue.take(companyId), (leaveHost) =>
        then(all.take(companyId), (release) => () => {
          release()
          leaveHost()
          known.users -= 1
          if (known.users === 0) hosts.delete(host)
        }),
      )
    },
  }
}

/** Goes on at once if it can. */
const then = <T, R>(soon: Soon<T>, next: (value: T) => Soon<R>): Soon<R> =>
  soon instanceof Promise ? soon.then(next) : next(soon)

/** How many deliveries one statement reads. */
const MAX_READ = 1024
const MIN_READ = 128
/** How many deliveries are in memory in all. */
const MAX_HELD = 8192
/** How many requests to one webhook are in progress at once, and to a slow one. */
const MAX_PER_WEBHOOK = 32
const MAX_PER_SLOW_WEBHOOK = 8
const SLOW_MS = 1_000
const FAST_MS = 100
/** A fast receiver has this many times its limit in memory, so it never waits for the database. */
const READ_AHEAD = 16
/** At least so many are read at once, fewer for an unhealthy receiver. */
const MIN_AHEAD = 16
const MIN_AHEAD_UNHEALTHY = 4
/**
 * How long a queue with a backlog is read from its cursor before it is read from the start again.
 */
const READ_ON_MS = 1_000
/** How many receivers' health is remembered after they have nothing due. */
const MAX_REMEMBERED = 10_000

type WebhookQueue = {
  key: WebhookKey
  /** The key as text, made once, because it is needed after every attempt. */
  name: string
  host: string
  health: Health
  /** How many requests may be in progress: one at first, more with every success. */
  limit: number
  fast: boolean
  inProgress: number
  /** Whether it waits for a slot. */
  needsSlot: boolean
  waiting: DueDelivery[]
  /** The events of deliveries that were read and whose result is not stored yet. */
  held: Set<Uuid>
  /** Whether there may be more to read, and after which delivery. Null reads from the start. */
  hasMore: boolean
  after: Cursor | null
  /** How often the queue was marked as due. A read that began before a mark may miss something. */
  marks: number
  marked_ms: number
  read_ms: number
}

/** The webhooks that this worker leases, with the deliveries that it has read. */
export type WebhookQueues = {
  send: Send
  byKey: Map<string, WebhookQueue>
  slots: Record<Health, Slots>
  /** Of all webhooks. */
  inProgress: number
  healths: Healths
  stopped: boolean
  onCanRead(): void
  onIdle(): void
  onNothingInProgress(): void
}

/** The last known health of receivers, by the key of their queue. The oldest are forgotten. */
export type Healths = Map<string, Health>

export const createWebhookQueues = (send: Send, healths: Healths = new Map()): WebhookQueues => ({
  send,
  byKey: new Map(),
  slots: {
    healthy: createSlots(LIMITS.healthy),
    unknown: createSlots(LIMITS.unknown),
    unhealthy: createSlots(LIMITS.unhealthy),
  },
  inProgress: 0,
  healths,
  stopped: false,
  onCanRead: () => {},
  onIdle: () => {},
  onNothingInProgress: () => {},
})

const keyOf = ({ companyId, webhookId }: WebhookKey) => companyId + webhookId

export const hasQueue = ({ byKey }: WebhookQueues, webhook: WebhookKey): boolean =>
  byKey.has(keyOf(webhook))

export const isEmpty = ({ byKey }: WebhookQueues): boolean => byKey.size === 0

/**
 * Marks that webhooks have due deliveries. They are read from the start, because a delivery that
 * was committed late may come before the cursor.
 */
export function markDue(queues: WebhookQueues, webhooks: WebhookKey[]): void {
  const now_ms = performance.now()
  for (const key of webhooks) {
    const queue = queueOf(queues, key)
    // If the queue is still being read, it does not start again with every mark.
    if (queue.hasMore && now_ms - queue.marked_ms < READ_ON_MS) continue
    queue.hasMore = true
    queue.after = null
    queue.marks += 1
    queue.marked_ms = now_ms
  }
  queues.onCanRead()
}

/** A request to read, and the marks of its queue when it was made. */
type MarkedRequest = ReadRequest & { marks: number }

/** What to read next. The queue that was read longest ago comes first. */
export function readRequests({ byKey }: WebhookQueues): MarkedRequest[] {
  const readable = [...byKey.values()].filter(canRead)
  readable.sort((a, b) => a.read_ms - b.read_ms)
  const held = heldBy(byKey)
  // The first read is small, so that the first deliveries are sent soon.
  let rest = Math.min(MAX_READ, Math.max(2 * held, MIN_READ), MAX_HELD - held)
  // No queue takes so much of a read that nothing is left for the others.
  const share = Math.max(MIN_AHEAD, Math.ceil(MAX_READ / readable.length))
  return readable.flatMap((queue) => {
    const { key, after, marks } = queue
    // If the others already hold the maximum, a queue that holds nothing still gets one.
    const min = queue.held.size === 0 ? 1 : 0
    const limit = Math.min(readLimit(queue), share, Math.max(rest, min))
    rest -= limit
    return limit > 0 ? [{ ...key, limit, after, held: after ? [] : [...queue.held], marks }] : []
  })
}

const heldBy = (byKey: WebhookQueues['byKey']): number =>
  byKey.values().reduce((sum, { held }) => sum + held.size, 0)

/** Adds the deliveries that were read to their queues, and sends what may be sent. */
export function addRead(
  queues: WebhookQueues,
  requests: MarkedRequest[],
  results: ReadResult[],
): void {
  const read_ms = performance.now()
  const resultByKey = new Map(results.map((result) => [keyOf(receiverOf(result)), result]))
  for (const { limit, marks, ...key } of requests) {
    const queue = queues.byKey.get(keyOf(key))
    // If its lease was released in the meantime, another worker may have it.
    if (!queue) continue
    const result = resultByKey.get(keyOf(key))
    const { deliveries = [], last = null } = result ?? {}
    queue.read_ms = read_ms
    if (queue.marks === marks) {
      queue.hasMore = deliveries.length === limit
      queue.after = last
    }
    if (result) updateReceiver(queue, receiverOf(result))
    for (const delivery of deliveries) {
      if (queue.held.has(delivery.eventId)) continue
      queue.held.add(delivery.eventId)
      queue.waiting.push(delivery)
    }
    sendNext(queues, queue)
  }
  notifyIfIdle(queues)
}

const receiverOf = ({ deliveries }: ReadResult) => deliveries[0]!.receiver

/** Takes the host of a receiver from the database, and whether it failed last time. */
function updateReceiver(queue: WebhookQueue, { url, failing }: Receiver): void {
  queue.host = URL.parse(url)?.host ?? ''
  const isKnown = queue.limit > 1 || queue.inProgress > 0 || queue.waiting.length > 0
  if (failing && !isKnown) queue.health = 'unhealthy'
}

/** Removes queues that have nothing left, and returns their webhooks. */
export function removeIdle({ byKey }: WebhookQueues): WebhookKey[] {
  const idle = [...byKey.values()].filter(isIdle)
  for (const { name } of idle) byKey.delete(name)
  return idle.map(({ key }) => key)
}

const isIdle = ({ held, hasMore }: WebhookQueue): boolean => !hasMore && held.size === 0

/** Resolves when a queue can be read. */
export function untilCanRead(queues: WebhookQueues): Promise<void> {
  return new Promise((resolve) => {
    queues.onCanRead = resolve
    if (queues.byKey.values().some(canRead)) resolve()
  })
}

/** Resolves when no queue has anything left. */
export function untilIdle(queues: WebhookQueues): Promise<void> {
  return new Promise((resolve) => {
    queues.onIdle = resolve
    notifyIfIdle(queues)
  })
}

const notifyIfIdle = (queues: WebhookQueues): void => {
  if (queues.byKey.values().every(isIdle)) queues.onIdle()
}

/** Sends nothing more. Resolves when no request is in progress. */
export function stop(queues: WebhookQueues): Promise<void> {
  queues.stopped = true
  for (const queue of queues.byKey.values()) dropWaiting(queue)
  return new Promise((resolve) => {
    queues.onNothingInProgress = resolve
    if (queues.inProgress === 0) resolve()
  })
}

/** Whether a queue has a delivery that may be sent. */
const maySend = ({ stopped }: WebhookQueues, queue: WebhookQueue): boolean =>
  !stopped && queue.inProgress < queue.limit && queue.waiting.length > 0

/** Sends deliveries of a queue while there are slots, and then waits for the next slot. */
function sendNext(queues: WebhookQueues, queue: WebhookQueue): void {
  while (!queue.needsSlot && maySend(queues, queue)) {
    const taken = queues.slots[queue.health].take(queue.key.companyId, queue.host)
    if (!(taken instanceof Promise)) {
      dispatch(queues, queue, taken)
      continue
    }
    queue.needsSlot = true
    taken.then((release) => {
      queue.needsSlot = false
      if (maySend(queues, queue)) dispatch(queues, queue, release)
      else release()
      sendNext(queues, queue)
    })
  }
}

function dispatch(queues: WebhookQueues, queue: WebhookQueue, release: Release): void {
  const delivery = queue.waiting.shift()!
  let isOver = false
  const finish = () => {
    if (isOver) return
    isOver = true
    queue.inProgress -= 1
    queues.inProgress -= 1
    release()
    afterAttempt(queues, queue)
  }
  const onAnswered = (end: AttemptEnd) => {
    adjust(queues, queue, end)
    // After a failure, the next attempt waits until it is known whether one is allowed.
    if (end.kind !== 'failed') finish()
  }
  queue.inProgress += 1
  queues.inProgress += 1
  queues.send(delivery, onAnswered).then((then) => {
    queue.held.delete(delivery.eventId)
    if (then === 'stop') dropWaiting(queue)
    finish()
    if (queue.held.size === 0) notifyIfIdle(queues)
  })
}

function afterAttempt(queues: WebhookQueues, queue: WebhookQueue): void {
  sendNext(queues, queue)
  if (queues.inProgress === 0) queues.onNothingInProgress()
  if (canRead(queue)) queues.onCanRead()
}

function queueOf({ byKey, healths }: WebhookQueues, { companyId, webhookId }: WebhookKey) {
  const key = { companyId, webhookId }
  const name = keyOf(key)
  const known = byKey.get(name)
  if (known) return known
  const queue: WebhookQueue = {
    key,
    name,
    host: '',
    health: healths.get(name) ?? 'unknown',
    limit: 1,
    fast: false,
    inProgress: 0,
    needsSlot: false,
    waiting: [],
    held: new Set(),
    hasMore: false,
    after: null,
    marks: 0,
    marked_ms: 0,
    read_ms: 0,
  }
  byKey.set(name, queue)
  return queue
}

/** Drops deliveries that are not being sent. They are still due, and are read again later. */
function dropWaiting(queue: WebhookQueue): void {
  for (const { eventId } of queue.waiting.splice(0)) queue.held.delete(eventId)
  queue.hasMore = false
}

const canRead = (queue: WebhookQueue): boolean => queue.hasMore && readLimit(queue) > 0

/** How many deliveries a queue may read: none until half of those before are gone. */
function readLimit({ limit, fast, health, inProgress, waiting }: WebhookQueue): number {
  const min = health === 'unhealthy' ? MIN_AHEAD_UNHEALTHY : MIN_AHEAD
  const max = Math.max(limit * (fast ? READ_AHEAD : 1), min)
  return waiting.length > max / 2 ? 0 : max - inProgress - waiting.length
}

/**
 * If a receiver answers well, it gets more requests at once. If it fails, it gets one at a time.
 */
function adjust({ healths }: WebhookQueues, queue: WebhookQueue, end: AttemptEnd): void {
  if (end.kind === 'aborted') return
  const [isFailing, isSlow] = [end.kind === 'failed', end.latency_ms >= SLOW_MS]
  const health = isFailing || isSlow ? 'unhealthy' : 'healthy'
  queue.health = health
  queue.fast = !isFailing && end.latency_ms < FAST_MS
  const max = isSlow ? MAX_PER_SLOW_WEBHOOK : MAX_PER_WEBHOOK
  queue.limit = isFailing ? 1 : Math.min(queue.limit * 2, max)
  healths.delete(queue.name)
  healths.set(queue.name, health)
  if (healths.size > MAX_REMEMBERED) healths.delete(healths.keys().next().value!)
}
