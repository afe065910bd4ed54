import type { Claimed, WebhookKey } from '../core/deliveries/store.ts'

/** How a flight to a receiver has ended; one that was cut off leaves its delivery to others. */
export type Landing = { kind: 'delivered' | 'failed' | 'cut'; latency_ms: number }

/** The deliveries that this worker has, in one line for each webhook. */
export type Lines = {
  /** Notes that webhooks have something due. */
  due(webhooks: WebhookKey[]): void
  /** How many deliveries each line could take, the line that was served longest ago first. */
  wanted(): (WebhookKey & { room: number })[]
  /** Takes what was claimed of what was wanted. */
  give(wanted: (WebhookKey & { room: number })[], claimed: Claimed[]): void
  /** Nothing is under way, waiting, or known to be due. */
  isIdle(): boolean
  /** Resolves when a line has room again. */
  room(): Promise<void>
  /** What waited too long to be sent under its claim, or was cut off; it is to be given back. */
  leavings(): Claimed[]
  /** Sends nothing more; resolves when nothing is under way. */
  stop(): Promise<void>
}

const MOST_FLYING = 512
/** Receivers that have not answered well lately may not take all of it from those that have. */
const MOST_UNPROVEN = 256
const MOST_CLAIMED = 512
/** The most that is on its way to one receiver at a time. */
const MOST_PER_LINE = 32
/** A receiver slower than this gets no more at once than it already does. */
const SLOW_MS = 1_000
/** A fast receiver has its next deliveries at hand, so that it never waits for a claim. */
const AHEAD = 3
const FAST_MS = 100
/** What could not be sent by then might outlive its claim while it is on its way. */
const STALE_MS = 10_000

type Line = {
  key: WebhookKey
  /** How many may be on their way at once: one to a stranger, more with every success. */
  limit: number
  proven: boolean
  fast: boolean
  flying: number
  queue: { delivery: Claimed; since_ms: number }[]
  more: boolean
  served_ms: number
}

const nameOf = ({ companyId, webhookId }: WebhookKey) => companyId + webhookId

export function createLines(fly: (delivery: Claimed) => Promise<Landing>): Lines {
  const lines = new Map<string, Line>()
  const blocked = new Set<Line>()
  const left: Claimed[] = []
  const flights = { all: 0, unproven: 0 }
  let stopped = false
  let onRoom: (() => void) | null = null
  let onEmpty: (() => void) | null = null

  const mayFly = ({ proven }: Line): boolean =>
    flights.all < MOST_FLYING && (proven || flights.unproven < MOST_UNPROVEN)

  function pump(line: Line): void {
    while (!stopped && line.flying < line.limit && line.queue.length > 0) {
      if (!mayFly(line)) {
        blocked.add(line)
        return
      }
      const { delivery, since_ms } = line.queue.shift()!
      if (performance.now() - since_ms > STALE_MS) left.push(delivery)
      else launch(line, delivery)
    }
  }

  function launch(line: Line, delivery: Claimed): void {
    const { proven } = line
    line.flying += 1
    flights.all += 1
    if (!proven) flights.unproven += 1
    fly(delivery).then((landing) => {
      line.flying -= 1
      flights.all -= 1
      if (!proven) flights.unproven -= 1
      if (landing.kind === 'cut') left.push(delivery)
      else learn(line, landing)
      pump(line)
      for (const waiting of blocked) {
        blocked.delete(waiting)
        pump(waiting)
        if (blocked.has(waiting)) break
      }
      if (flights.all === 0) onEmpty?.()
      if (hasRoom(line) || left.length > 0 || flights.all === 0) onRoom?.()
    })
  }

  const hasRoom = (line: Line): boolean => line.more && roomOf(line) > 0

  return {
    due(webhooks) {
      for (const key of webhooks) lineOf(lines, key).more = true
    },
    wanted() {
      const open = [...lines.values()].filter(hasRoom)
      open.sort((a, b) => a.served_ms - b.served_ms)
      let rest = MOST_CLAIMED
      return open.flatMap((line) => {
        const room = Math.min(roomOf(line), rest)
        rest -= room
        return room > 0 ? [{ ...line.key, room }] : []
      })
    },
    give(wanted, claimed) {
      const since_ms = performance.now()
      const byLine = Map.groupBy(claimed, nameOf)
      for (const { room, ...key } of wanted) {
        const line = lineOf(lines, key)
        const own = byLine.get(nameOf(key)) ?? []
        line.more = own.length === room
        line.served_ms = since_ms
        line.queue.push(...own.map((delivery) => ({ delivery, since_ms })))
        pump(line)
      }
    },
    isIdle: () =>
      [...lines.values()].every(({ flying, queue, more }) => !more && flying + queue.length === 0),
    room: () =>
      new Promise((resolve) => {
        onRoom = resolve
      }),
    leavings: () => left.splice(0),
    stop() {
      stopped = true
      for (const { queue } of lines.values()) {
        left.push(...queue.splice(0).map(({ delivery }) => delivery))
      }
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
  const line = {
    ...{ key, limit: 1, proven: false, fast: false },
    ...{ flying: 0, queue: [], more: false, served_ms: 0 },
  }
  lines.set(nameOf(key), line)
  return line
}

/** How many deliveries a line could take. It asks again only when it has little left. */
function roomOf({ limit, fast, flying, queue }: Line): number {
  if (queue.length > limit) return 0
  return limit * (fast ? 1 + AHEAD : 1) - flying - queue.length
}

/** A receiver that answers well gets more at once, one that fails is tried one by one. */
function learn(line: Line, { kind, latency_ms }: Landing): void {
  line.proven = kind === 'delivered'
  line.fast = line.proven && latency_ms < FAST_MS
  if (!line.proven) line.limit = 1
  else if (latency_ms < SLOW_MS) line.limit = Math.min(MOST_PER_LINE, line.limit * 2)
}
