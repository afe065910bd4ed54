import type {
  DueDelivery,
  Reading,
  Receiver,
  Turn,
  Wanted,
  WebhookKey,
} from '../core/deliveries/store.ts'
import type { Uuid } from '../lib/ids.ts'
import { type Claimant, createPlaces, type Places, type Standing } from './places.ts'

/** How a flight to a receiver has ended; one that was cut off leaves its delivery as it was. */
export type Landing = { kind: 'delivered' | 'failed' | 'cut'; latency_ms: number }

/**
 * Sends a delivery. It is over twice: it has landed when the receiver has answered, and resolves
 * when that is written down; then it is known whether its webhook may be sent more. Never rejects.
 */
export type Fly = (
  delivery: DueDelivery,
  landed: (landing: Landing) => void,
) => Promise<'go on' | 'stop'>

const MAX_READ = 1024
const LEAST_READ = 128
/** What is at hand in all: a thousand fast receivers must not fill the memory. */
const MAX_HELD = 8192
/** The most that is on its way to one receiver at a time, and to one that takes its time. */
const MAX_PER_LINE = 32
const MAX_PER_SLOW_LINE = 8
const SLOW_MS = 1_000
/** A fast receiver has its next deliveries at hand, so that it never waits for the database. */
const AHEAD = 15
/** Of a stranger too, a few are read at once, of a receiver that fails or is slow fewer. */
const LEAST_AHEAD = 16
const LEAST_AHEAD_TROUBLED = 4
const FAST_MS = 100
/** How long a line with a backlog is read on before it is read from its first delivery again. */
const READ_ON_MS = 1_000

/** How many receivers' standings are remembered when they have nothing due any more. */
const MAX_REMEMBERED = 10_000

type Line = Claimant & {
  key: WebhookKey
  url: string
  /** How many may be on their way at once: one to a stranger, more with every success. */
  limit: number
  fast: boolean
  flying: number
  queue: DueDelivery[]
  /** The events in our hands, from when they are read until their outcome is written down. */
  held: Set<Uuid>
  /** Whether there may be more to read, and after which turn; null reads from the first on. */
  more: boolean
  after: Turn | null
  /** How often more was noted: a read that was under way then may have missed it. */
  notes: number
  noted_ms: number
  served_ms: number
}

/** The webhooks that this worker delivers to, and what of theirs it has in its hands. */
export type Lines = {
  fly: Fly
  byName: Map<string, Line>
  places: Places<Line>
  standings: Standings
  stopped: boolean
  onRoom(): void
  onQuiet(): void
  onLanded(): void
}

/** How receivers have answered last, by the name of the line. The least recent is forgotten. */
export type Standings = Map<string, Standing>

export const createLines = (fly: Lines['fly'], standings: Standings = new Map()): Lines => ({
  fly,
  byName: new Map(),
  places: createPlaces(),
  standings,
  stopped: false,
  onRoom: () => {},
  onQuiet: () => {},
  onLanded: () => {},
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
  const now_ms = performance.now()
  for (const key of webhooks) {
    const line = lineOf(lines, key)
    // One that is read on in any case is not made to begin anew all the time.
    if (line.more && now_ms - line.noted_ms < READ_ON_MS) continue
    Object.assign(line, { more: true, after: null, notes: line.notes + 1, noted_ms: now_ms })
  }
  lines.onRoom()
}

/** What a line could take, as it was when that was asked. */
type Wish = Wanted & { notes: number }

/** What each line could take, the line that was served longest ago first. */
export function wantedOf({ byName }: Lines): Wish[] {
  const open = [...byName.values()].filter(hasRoom)
  open.sort((a, b) => a.served_ms - b.served_ms)
  const held = heldOf(byName)
  // The first are soon on their way, while more are read.
  let rest = Math.min(MAX_READ, Math.max(2 * held, LEAST_READ), MAX_HELD - held)
  // A line may have less than it could take: none keeps the others out of a read.
  const share = Math.max(LEAST_AHEAD, Math.ceil(MAX_READ / open.length))
  return open.flatMap((line) => {
    const { key, after, notes } = line
    // If others hold all that may be held, a line that holds nothing still gets one.
    const least = line.held.size === 0 ? 1 : 0
    const room = Math.min(roomOf(line), share, Math.max(rest, least))
    rest -= room
    return room > 0 ? [{ ...key, room, after, inHand: after ? [] : [...line.held], notes }] : []
  })
}

const heldOf = (byName: Lines['byName']): number =>
  byName.values().reduce((sum, { held }) => sum + held.size, 0)

/** Takes what was read of what was wanted. */
export function give(lines: Lines, wishes: Wish[], readings: Reading[]): void {
  const served_ms = performance.now()
  const readByName = new Map(readings.map((reading) => [nameOf(receiverOf(reading)), reading]))
  for (const { room, notes, ...key } of wishes) {
    const line = lines.byName.get(nameOf(key))
    // It may have been left meanwhile, and be another worker's by now.
    if (!line) continue
    const reading = readByName.get(nameOf(key))
    const { deliveries = [], last = null } = reading ?? {}
    line.served_ms = served_ms
    if (line.notes === notes) {
      Object.assign(line, { more: deliveries.length === room, after: last })
    }
    if (reading) meet(line, receiverOf(reading))
    for (const delivery of deliveries) {
      if (line.held.has(delivery.eventId)) continue
      line.held.add(delivery.eventId)
      line.queue.push(delivery)
    }
    want(lines, line)
  }
  launchAll(lines)
  tellQuiet(lines)
}

/** Learns from the database where a receiver is, and whether it failed last time. */
function meet(line: Line, { url, failing }: Receiver): void {
  // Nothing of it waits for a place yet.
  if (line.limit === 1 && failing && line.flying === 0 && line.queue.length === 0) {
    line.standing = 'troubled'
  }
  if (line.url === url) return
  Object.assign(line, { url, host: URL.parse(url)?.host ?? '' })
}

const receiverOf = ({ deliveries }: Reading) => deliveries[0]!.receiver

/** Forgets lines that have nothing left, and gives them. */
export function dropIdle(lines: Lines): WebhookKey[] {
  const { byName } = lines
  const idle = [...byName.values()].filter(isIdle)
  for (const { key } of idle) byName.delete(nameOf(key))
  return idle.map(({ key }) => key)
}

const isIdle = ({ held, more }: Line): boolean => !more && held.size === 0

/** Resolves when a line has room, at once if one has. */
export function untilRoom(lines: Lines): Promise<void> {
  return new Promise((resolve) => {
    lines.onRoom = resolve
    if (lines.byName.values().some(hasRoom)) resolve()
  })
}

/** Resolves when no line has anything left. */
export function untilQuiet(lines: Lines): Promise<void> {
  return new Promise((resolve) => {
    lines.onQuiet = resolve
    tellQuiet(lines)
  })
}

const tellQuiet = (lines: Lines): void => {
  if (lines.byName.values().every(isIdle)) lines.onQuiet()
}

/** Sends nothing more; resolves when nothing is under way. */
export function stop(lines: Lines): Promise<void> {
  lines.stopped = true
  for (const line of lines.byName.values()) halt(line)
  return new Promise((resolve) => {
    lines.onLanded = resolve
    if (lines.places.used() === 0) resolve()
  })
}

/** If a line has something that may be sent, it waits for a place. */
function want({ places, stopped }: Lines, line: Line): void {
  if (!stopped && line.flying < line.limit && line.queue.length > 0) places.wait(line)
}

/** Sends as long as there is a place for somebody who waits. */
function launchAll(lines: Lines): void {
  for (let line = lines.places.next(); line && !lines.stopped; line = lines.places.next()) {
    const delivery = line.flying < line.limit ? line.queue.shift() : undefined
    if (delivery) launch(lines, line, delivery)
    want(lines, line)
  }
}

function launch(lines: Lines, line: Line, delivery: DueDelivery): void {
  const free = lines.places.take(line)
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    line.flying -= 1
    free()
    goOn(lines, line)
  }
  const landed = (landing: Landing) => {
    learn(lines, line, landing)
    // After a failure the next try waits until it is known whether there may be one.
    if (landing.kind !== 'failed') end()
  }
  line.flying += 1
  lines.fly(delivery, landed).then((then) => {
    line.held.delete(delivery.eventId)
    if (then === 'stop') halt(line)
    end()
    if (line.held.size === 0) tellQuiet(lines)
  })
}

function goOn(lines: Lines, line: Line): void {
  want(lines, line)
  launchAll(lines)
  if (lines.places.used() === 0) lines.onLanded()
  if (hasRoom(line)) lines.onRoom()
}

function lineOf({ byName, standings }: Lines, { companyId, webhookId }: WebhookKey): Line {
  const key = { companyId, webhookId }
  const known = byName.get(nameOf(key))
  if (known) return known
  const line: Line = {
    ...{ key, companyId, url: '', host: '', standing: standings.get(nameOf(key)) ?? 'unproven' },
    ...{ limit: 1, fast: false, flying: 0, queue: [] },
    ...{ held: new Set<Uuid>(), more: false, after: null, notes: 0, noted_ms: 0, served_ms: 0 },
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

/** How many deliveries a line could take. It asks again only when half of them are gone. */
function roomOf({ limit, fast, standing, flying, queue }: Line): number {
  const least = standing === 'troubled' ? LEAST_AHEAD_TROUBLED : LEAST_AHEAD
  const most = Math.max(limit * (fast ? 1 + AHEAD : 1), least)
  return queue.length > most / 2 ? 0 : most - flying - queue.length
}

/** A receiver that answers well gets more at once, one that fails is tried one by one. */
function learn({ standings, places }: Lines, line: Line, { kind, latency_ms }: Landing): void {
  if (kind === 'cut') return
  const [isFailing, isSlow] = [kind === 'failed', latency_ms >= SLOW_MS]
  const standing = isFailing || isSlow ? 'troubled' : 'proven'
  if (line.standing !== standing) places.leave(line)
  line.standing = standing
  line.fast = !isFailing && latency_ms < FAST_MS
  const most = isSlow ? MAX_PER_SLOW_LINE : MAX_PER_LINE
  line.limit = isFailing ? 1 : Math.min(line.limit * 2, most)
  const name = nameOf(line.key)
  standings.delete(name)
  standings.set(name, line.standing)
  if (standings.size > MAX_REMEMBERED) standings.delete(standings.keys().next().value!)
}
