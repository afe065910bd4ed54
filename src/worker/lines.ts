import type { DueDelivery, Wanted, WebhookKey } from '../core/deliveries/store.ts'
import type { Uuid } from '../lib/ids.ts'

/** How a flight to a receiver has ended; one that was cut off leaves its delivery as it was. */
export type Landing = { kind: 'delivered' | 'failed' | 'cut'; latency_ms: number }

/**
 * A flight is over twice: when the receiver has answered, and when that is written down; then it is
 * known whether its webhook may be sent more.
 */
export type Flight = { landed: Promise<Landing>; recorded: Promise<'go on' | 'stop'> }

/** The webhooks that this worker delivers to, and what of theirs it has in its hands. */
export type Lines = {
  has(webhook: WebhookKey): boolean
  /** Notes that webhooks of ours have something due. */
  due(webhooks: WebhookKey[]): void
  /** What each line could take, the line that was served longest ago first. */
  wanted(): Wanted[]
  /** Takes what was read of what was wanted. */
  give(wanted: Wanted[], deliveries: DueDelivery[]): void
  /** Forgets lines that have nothing left, and gives them. */
  dropIdle(): WebhookKey[]
  isEmpty(): boolean
  /** Resolves when a line has room, at once if one has. */
  room(): Promise<void>
  /** Sends nothing more; resolves when nothing is under way. */
  stop(): Promise<void>
}

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
  more: boolean
  served_ms: number
}

const nameOf = ({ companyId, webhookId }: WebhookKey) => companyId + webhookId

export function createLines(fly: (delivery: DueDelivery) => Flight): Lines {
  const lines = new Map<string, Line>()
  const blocked = new Set<Line>()
  const flights = { all: 0, failing: 0 }
  let onRoom = () => {}
  let onEmpty = () => {}
  let stopped = false

  const mayFly = ({ failing }: Line): boolean =>
    flights.all < MOST_FLYING && (!failing || flights.failing < MOST_FAILING)

  function pump(line: Line): void {
    while (!stopped && line.flying < line.limit && line.queue.length > 0) {
      if (!mayFly(line)) {
        blocked.add(line)
        return
      }
      launch(line, line.queue.shift()!)
    }
  }

  function launch(line: Line, delivery: DueDelivery): void {
    const { failing } = line
    const { landed, recorded } = fly(delivery)
    line.flying += 1
    flights.all += 1
    if (failing) flights.failing += 1
    const land = () => {
      line.flying -= 1
      flights.all -= 1
      if (failing) flights.failing -= 1
      goOn(line)
    }
    landed.then(async (landing) => {
      learn(line, landing)
      // After a failure the next try waits until it is known whether there may be one.
      if (landing.kind === 'failed') await recorded
      land()
    })
    recorded.then((then) => {
      line.held.delete(delivery.eventId)
      if (then === 'stop') halt(line)
      if (line.held.size === 0) onRoom()
    })
  }

  /** Each that waits for a free place gets its chance, as long as there is one. */
  function goOn(line: Line): void {
    pump(line)
    // From a copy: one that still may not fly is blocked again, and would be met again and again.
    for (const other of [...blocked]) {
      if (flights.all >= MOST_FLYING) break
      blocked.delete(other)
      pump(other)
    }
    if (flights.all === 0) onEmpty()
    if (hasRoom(line)) onRoom()
  }

  return {
    has: (webhook) => lines.has(nameOf(webhook)),
    due(webhooks) {
      for (const key of webhooks) lineOf(lines, key).more = true
    },
    wanted() {
      const open = [...lines.values()].filter(hasRoom)
      open.sort((a, b) => a.served_ms - b.served_ms)
      let rest = MOST_READ
      return open.flatMap((line) => {
        const room = Math.min(roomOf(line), rest)
        rest -= room
        return room > 0 ? [{ ...line.key, room, inHand: [...line.held] }] : []
      })
    },
    give(wanted, deliveries) {
      const served_ms = performance.now()
      const byLine = Map.groupBy(deliveries, nameOf)
      for (const { room, companyId, webhookId } of wanted) {
        const line = lineOf(lines, { companyId, webhookId })
        const own = byLine.get(nameOf(line.key)) ?? []
        line.more = own.length === room
        line.served_ms = served_ms
        if (line.limit === 1 && own.some(({ failing }) => failing)) line.failing = true
        for (const { eventId } of own) line.held.add(eventId)
        line.queue.push(...own)
        pump(line)
      }
    },
    dropIdle() {
      const idle = [...lines.values()].filter(({ held, more }) => !more && held.size === 0)
      for (const { key } of idle) lines.delete(nameOf(key))
      return idle.map(({ key }) => key)
    },
    isEmpty: () => lines.size === 0,
    room: () =>
      new Promise((resolve) => {
        onRoom = resolve
        if ([...lines.values()].some(hasRoom)) resolve()
      }),
    stop() {
      stopped = true
      for (const line of lines.values()) halt(line)
      return new Promise((resolve) => {
        onEmpty = resolve
        if (flights.all === 0) resolve()
      })
    },
  }
}

function lineOf(lines: Map<string, Line>, { companyId, webhookId }: WebhookKey): Line {
  const key = { companyId, webhookId }
  const known = lines.get(nameOf(key))
  if (known) return known
  const line: Line = {
    ...{ key, limit: 1, failing: false, fast: false },
    ...{ flying: 0, queue: [], held: new Set<Uuid>(), more: false, served_ms: 0 },
  }
  lines.set(nameOf(key), line)
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
