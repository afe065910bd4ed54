import type { DueDelivery, Turn, Wanted, WebhookKey } from '../core/deliveries/store.ts'
import type { Uuid } from '../lib/ids.ts'

/** How a flight to a receiver has ended; one that was cut off leaves its delivery as it was. */
export type Landing = { kind: 'delivered' | 'failed' | 'cut'; latency_ms: number }

/**
 * A flight is over twice: when the receiver has answered, and when that is written down; then it is
 * known whether its webhook may be sent more.
 */
export type Flight = { landed: Promise<Landing>; recorded: Promise<'go on' | 'stop'> }

const MOST_FLYING = 1024
/** Receivers that failed last time may not take all of it from the others. */
const MOST_FAILING = 256
const MOST_READ = 512
/** The most that is on its way to one receiver at a time, and to one that takes its time. */
const MOST_PER_LINE = 32
const MOST_PER_SLOW_LINE = 8
const SLOW_MS = 1_000
/** A fast receiver has its next deliveries at hand, so that it never waits for the database. */
const AHEAD = 7
const FAST_MS = 100

type Line = {
  key: WebhookKey
  /** How many may be on their way at once: one to a stranger, more with every success. */
  limit: number
  failing: boolean
  fast: boolean
  flying: number
  queue: DueDelivery[]
  /** The events in our hands, from when they are read until their outcome is written down. */
  held: Set<Uuid>
  /** Whether there may be more to read, and after which turn; null reads from the first on. */
  more: boolean
  after: Turn | null
  served_ms: number
}

/** The webhooks that this worker delivers to, and what of theirs it has in its hands. */
export type Lines = {
  fly: (delivery: DueDelivery) => Flight
  byName: Map<string, Line>
  /** Lines that wait for a free place. */
  blocked: Set<Line>
  flights: { all: number; failing: number }
  stopped: boolean
  onRoom(): void
  onEmpty(): void
}

export const createLines = (fly: Lines['fly']): Lines => ({
  fly,
  byName: new Map(),
  blocked: new Set(),
  flights: { all: 0, failing: 0 },
  stopped: false,
  onRoom: () => {},
  onEmpty: () => {},
})

const nameOf = ({ companyId, webhookId }: WebhookKey) => companyId + webhookId

export const isOurs = ({ byName }: Lines, webhook: WebhookKey): boolean =>
  byName.has(nameOf(webhook))

export const isEmpty = ({ byName }: Lines): boolean => byName.size === 0

/**
 * Notes that webhooks of ours have something due. They are read from the first on, for what was
 * committed late may stand before what was read last.
 */
export function noteDue(lines: Lines, webhooks: WebhookKey[]): void {
  for (const key of webhooks) Object.assign(lineOf(lines, key), { more: true, after: null })
}

/** What each line could take, the line that was served longest ago first. */
export function wantedOf({ byName }: Lines): Wanted[] {
  const open = [...byName.values()].filter(hasRoom)
  open.sort((a, b) => a.served_ms - b.served_ms)
  let rest = MOST_READ
  return open.flatMap((line) => {
    const { key, after, held } = line
    const room = Math.min(roomOf(line), rest)
    rest -= room
    return room > 0 ? [{ ...key, room, after, inHand: after ? [] : [...held] }] : []
  })
}

/** Takes what was read of what was wanted. */
export function give(lines: Lines, wanted: Wanted[], deliveries: DueDelivery[]): void {
  const served_ms = performance.now()
  const byName = Map.groupBy(deliveries, nameOf)
  for (const { room, companyId, webhookId } of wanted) {
    const line = lineOf(lines, { companyId, webhookId })
    const read = byName.get(nameOf(line.key)) ?? []
    const own = read.filter(({ eventId }) => !line.held.has(eventId))
    Object.assign(line, { more: read.length === room, served_ms, after: lastTurn(read) })
    if (line.limit === 1 && own.some(({ failing }) => failing)) line.failing = true
    for (const { eventId } of own) line.held.add(eventId)
    line.queue.push(...own)
    pump(lines, line)
  }
}

const isLater = (a: Turn, b: Turn): boolean =>
  a.dueAt.getTime() === b.dueAt.getTime() ? a.eventId > b.eventId : a.dueAt > b.dueAt

const lastTurn = (read: DueDelivery[]): Turn | null =>
  read.reduce<Turn | null>((last, one) => (last && isLater(last, one) ? last : one), null)

/** Forgets lines that have nothing left, and gives them. */
export function dropIdle({ byName }: Lines): WebhookKey[] {
  const idle = [...byName.values()].filter(({ held, more }) => !more && held.size === 0)
  for (const { key } of idle) byName.delete(nameOf(key))
  return idle.map(({ key }) => key)
}

/** Resolves when a line has room, at once if one has. */
export function untilRoom(lines: Lines): Promise<void> {
  return new Promise((resolve) => {
    lines.onRoom = resolve
    if ([...lines.byName.values()].some(hasRoom)) resolve()
  })
}

/** Sends nothing more; resolves when nothing is under way. */
export function stop(lines: Lines): Promise<void> {
  lines.stopped = true
  for (const line of lines.byName.values()) halt(line)
  return new Promise((resolve) => {
    lines.onEmpty = resolve
    if (lines.flights.all === 0) resolve()
  })
}

const mayFly = ({ flights }: Lines, { failing }: Line): boolean =>
  flights.all < MOST_FLYING && (!failing || flights.failing < MOST_FAILING)

function pump(lines: Lines, line: Line): void {
  while (!lines.stopped && line.flying < line.limit && line.queue.length > 0) {
    if (!mayFly(lines, line)) {
      lines.blocked.add(line)
      return
    }
    launch(lines, line, line.queue.shift()!)
  }
}

function launch(lines: Lines, line: Line, delivery: DueDelivery): void {
  const { flights } = lines
  const { failing } = line
  const { landed, recorded } = lines.fly(delivery)
  const count = (by: 1 | -1) => {
    line.flying += by
    flights.all += by
    if (failing) flights.failing += by
  }
  count(1)
  landed.then(async (landing) => {
    learn(line, landing)
    // After a failure the next try waits until it is known whether there may be one.
    if (landing.kind === 'failed') await recorded
    count(-1)
    goOn(lines, line)
  })
  recorded.then((then) => {
    line.held.delete(delivery.eventId)
    if (then === 'stop') halt(line)
    if (line.held.size === 0) lines.onRoom()
  })
}

/** Each that waits for a free place gets its chance, as long as there is one. */
function goOn(lines: Lines, line: Line): void {
  const { blocked, flights } = lines
  pump(lines, line)
  // From a copy: one that still may not fly is blocked again, and would be met again and again.
  for (const other of [...blocked]) {
    if (flights.all >= MOST_FLYING) break
    blocked.delete(other)
    pump(lines, other)
  }
  if (flights.all === 0) lines.onEmpty()
  if (hasRoom(line)) lines.onRoom()
}

function lineOf({ byName }: Lines, { companyId, webhookId }: WebhookKey): Line {
  const key = { companyId, webhookId }
  const known = byName.get(nameOf(key))
  if (known) return known
  const line: Line = {
    ...{ key, limit: 1, failing: false, fast: false, flying: 0, queue: [] },
    ...{ held: new Set<Uuid>(), more: false, after: null, served_ms: 0 },
  }
  byName.set(nameOf(key), line)
  return line
}

/** Lets go of what is not on its way: it is still due, and will be read again when it may be. */
function halt(line: Line): void {
  for (const { eventId } of line.queue.splice(0)) line.held.delete(eventId)
  line.more = false
}

const hasRoom = (line: Line): boolean => line.more && roomOf(line) > 0

/** How many deliveries a line could take. It asks again only when it has little left. */
function roomOf({ limit, fast, flying, queue }: Line): number {
  if (queue.length > 2 * limit) return 0
  return limit * (fast ? 1 + AHEAD : 1) - flying - queue.length
}

/** A receiver that answers well gets more at once, one that fails is tried one by one. */
function learn(line: Line, { kind, latency_ms }: Landing): void {
  if (kind === 'cut') return
  line.failing = kind === 'failed'
  line.fast = !line.failing && latency_ms < FAST_MS
  const most = latency_ms < SLOW_MS ? MOST_PER_LINE : MOST_PER_SLOW_LINE
  line.limit = line.failing ? 1 : Math.min(line.limit * 2, most)
}
