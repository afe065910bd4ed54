import { setTimeout as pause } from 'node:timers/promises'
import { BadRequestError, type Event, type Vintem } from '../../../packages/client/src/index.ts'
import { fromPublic, timeOf } from '../../lib/ids.ts'
import { ClientFault } from '../command.ts'
import { given } from './input.ts'
import { isTemporary } from './temporary.ts'

/** Where a listener begins: after an event, at a time, with what comes next, or with the first. */
export type Since = { event: string } | { at: Date; isAgo?: true } | 'now' | 'start'

const AGO = /^(\d{1,6})([smhd])$/
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 }
const TIME = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/

export function readSince(text: string, now = new Date()): Since {
  if (text === 'now' || text === 'start') return text
  if (/^evt_[0-9a-z]{26}$/.test(text)) return { event: text }
  const [, count, unit] = AGO.exec(text) ?? []
  if (count) {
    const ago_s = Number(count) * SECONDS[unit as keyof typeof SECONDS]
    return { at: new Date(now.getTime() - ago_s * 1000), isAgo: true }
  }
  const at = new Date(text)
  if (TIME.test(text) && !Number.isNaN(at.getTime())) return { at }
  throw new ClientFault(
    '--since: must be an event such as evt_01k4d5cjd4fv8sgzq9bqyr0vzj, a time such as 2026-08-20T15:00:00Z, so long ago such as 10m, 2h or 1d, or the word start or now.',
  )
}

/** Where the feed is read from, and which of the events that follow are wanted. */
export type Start = { after: string | null; isWanted(event: Event): boolean }

/** No transaction is open for longer. Events of one may be in the feed before newer ones. */
const MARGIN_MS = 60_000
const PAGE = 100

const all = () => true
const timeOfEvent = ({ id }: Event): number => timeOf(fromPublic('evt', id)!).getTime()

export async function findStart(vintem: Vintem, since: Since): Promise<Start> {
  if (since === 'start') return { after: null, isWanted: all }
  if (since === 'now') return startNow(vintem)
  if ('event' in since) {
    await requireEvent(vintem, since.event)
    return { after: since.event, isWanted: all }
  }
  const from_ms = since.at.getTime()
  // The clock of a sandbox may have been moved forward. Ids have the time of the server.
  const timeIn = (event: Event) => (since.isAgo ? timeOfEvent(event) : Date.parse(event.createdAt))
  const isWanted = (event: Event) =>
    (event.redelivery ? Date.parse(event.redelivery.requestedAt) : timeIn(event)) >= from_ms
  for await (const event of vintem.events.list({ order: 'newest', limit: PAGE })) {
    if (timeIn(event) < from_ms - MARGIN_MS) return { after: event.id, isWanted }
  }
  return { after: null, isWanted }
}

/** What is not there yet: after the last entry, redeliveries too. */
async function startNow(vintem: Vintem): Promise<Start> {
  let after = await findRecent(vintem)
  const rest = given({ after: after ?? undefined, limit: PAGE, include: 'redeliveries' as const })
  for await (const entry of vintem.events.list(rest)) after = cursorOf(entry)
  return { after, isWanted: all }
}

/** An event from which the end of the feed is near, or null. */
async function findRecent(vintem: Vintem): Promise<string | null> {
  const [newest] = await vintem.events.list({ order: 'newest', limit: 1 })
  return newest?.id ?? null
}

async function requireEvent(vintem: Vintem, id: string): Promise<void> {
  if (await isKnown(vintem, id)) return
  throw new ClientFault(`--since: the company of this key has no event ${id}.`)
}

/** Whether the feed has this event. The feed of a sandbox that was reset has others. */
export async function isKnown(vintem: Vintem, id: string): Promise<boolean> {
  try {
    await vintem.events.list({ after: id, limit: 1 })
    return true
  } catch (error) {
    if (error instanceof BadRequestError) return false
    throw error
  }
}

/** How long one request waits for events, and how long its answer may take. */
const WAIT_S = 30
const TIMEOUT_MS = 45_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/** A server that answers at once although nothing is there is about to stop. */
const SHORT_MS = 500

const EVERYTHING = { limit: PAGE, wait: WAIT_S, include: 'redeliveries' } as const

/** What continues after an event, or after one that was sent again. */
export const cursorOf = ({ id, redelivery }: Event): string => redelivery?.id ?? id

export type Watcher = {
  signal: AbortSignal
  /** The server does not answer. It is asked again until it does. */
  onLost(error: Error): void
  onBack(): void
}

/** Every event after a position, in order and once, for as long as the signal lets it. */
export async function* follow(
  vintem: Vintem,
  start: string | null,
  { signal, onLost, onBack }: Watcher,
): AsyncGenerator<Event> {
  let after = start
  for (let failures = 0; !signal.aborted; ) {
    const begun_ms = performance.now()
    let events: Event[] = []
    try {
      const query = given({ after: after ?? undefined, ...EVERYTHING })
      events = await vintem.events.list(query, { retries: 0, timeout_ms: TIMEOUT_MS, signal })
      if (failures > 0) onBack()
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (!isTemporary(error)) throw error
      if (failures === 0) onLost(error as Error)
      failures += 1
    }
    for (const event of events) {
      yield event
      after = cursorOf(event)
    }
    const isShort = events.length === 0 && performance.now() - begun_ms < SHORT_MS
    if (failures > 0 || isShort) await rest(failures, signal)
  }
}

async function rest(failures: number, signal: AbortSignal): Promise<void> {
  const wait_ms = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, failures - 1), LONGEST_PAUSE_MS)
  await pause(wait_ms, undefined, { signal }).catch(() => {})
}
