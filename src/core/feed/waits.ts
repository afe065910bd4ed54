import type { Database } from '../../db/database.ts'
import type { Notifications } from '../../db/notifications.ts'
import { createBatcher } from '../../lib/batch.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Limits } from '../../lib/limits.ts'
import { describeError, type Log } from '../../lib/log.ts'
import { createRecent } from '../../lib/memo.ts'
import { problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import { type AnyEventType, EVENTS_CHANNEL } from '../events.ts'
import { followFeeds, lookAtFeeds } from './store.ts'

/** How long a feed counts as followed, and after how long that is written again. */
const FOLLOWED_S = 3600
const WRITTEN_AGAIN_MS = 1_800_000
const MAX_KNOWN_FOLLOWS = 10_000
const MAX_FOLLOWED_AT_ONCE = 500
/**
 * A transaction that began before a feed was followed does not notify. So the feed is looked at
 * again, until no such transaction can be open any more.
 */
const LATE_MS = [250, 1_000, 5_000, 40_000]

/** Notes in the database which feeds are followed. */
function createFollows(
  db: Database,
  log: Log,
  { changed, late }: { changed(companyId: Uuid): void; late: readonly number[] },
) {
  let known = createRecent<number>(MAX_KNOWN_FOLLOWS)
  const has = (id: Uuid) => (known.get(id) ?? Number.NEGATIVE_INFINITY) > performance.now()

  async function follow(ids: Uuid[]): Promise<null[]> {
    const missing = [...new Set(ids)].filter((id) => !has(id))
    try {
      if (missing.length > 0) await followFeeds(db.light, missing, FOLLOWED_S)
      for (const id of missing) {
        known.set(id, performance.now() + WRITTEN_AGAIN_MS)
        for (const late_ms of late) setTimeout(changed, late_ms, id).unref()
      }
    } catch (error) {
      // The feed is then looked at regularly, without notifications.
      log.warn(describeError(error), 'followed feeds could not be noted')
    }
    return ids.map(() => null)
  }
  const add = createBatcher(follow, { max: MAX_FOLLOWED_AT_ONCE })
  return {
    has,
    add: async (id: Uuid) => {
      if (!has(id)) await add(id)
    },
    /** The database may have lost what was noted. */
    forget(): void {
      known = createRecent(MAX_KNOWN_FOLLOWS)
    },
  }
}

/** Requests of one company that wait for events, and of all companies. */
const MAX_OF_COMPANY = 100
const MAX_WAITING = 5_000
/** Between two looks there is a pause, however many events are written. */
const PAUSE_MS = 10
/** The companies of one query. */
const MAX_LOOKED = 500
/** How often is looked without notifications, because their connection is lost. */
const LOOK_MS = 2_000

/** What a request waits for: events of a type, or of any, from this position on. */
type Wanted = {
  from: number
  type: AnyEventType | null
  /** Whether events that are sent again count too, of whatever type. */
  redeliveries: boolean
  deadline_ms: number
  /** Aborts when nobody waits for the answer any more. */
  closed: AbortSignal
}

/** The feed has such an event, the time is over, or the client or the server has left. */
type WaitEnd = 'there' | 'late' | 'left'

/** One request among those that wait for events. */
type Seat = {
  next(wanted: Wanted): Promise<WaitEnd>
  leave(): void
}

type FeedWaits = {
  /** Takes a seat. Whatever is written from now on ends the wait of this seat. */
  take(companyId: Uuid): Promise<Seat>
  /** Reads once for all who ask for the same while it is read. */
  share<R>(name: string, read: () => Promise<R>): Promise<R>
  /** How many requests of this process wait. */
  waiting(): number
  /** Who receives notifications looks at the feed when there is one. */
  attach(notifications: Notifications): void
  /** Whether notifications are received now. */
  isInformed(): boolean
  /** Ends all waits, for the server stops. */
  close(): void
}

export type AppWithFeed = App & { feedWaits: FeedWaits }

type Waiting = Pick<Wanted, 'from' | 'type' | 'redeliveries'> & { end(how: WaitEnd): void }
/** A company with seats: who of them waits, and how often its feed may have changed. */
type Company = { seats: number; waiting: Set<Waiting>; changes: number }

const tooMany = () =>
  problem('rate_limited', 'Too many requests wait for events. Ask without wait.', {
    'Retry-After': '5',
  })

/**
 * Requests that wait for events. They cost nothing while nothing happens: a transaction that writes
 * events of a company with seats notifies this server, which looks once for all who wait.
 */
export function createFeedWaits(
  db: Database,
  limits: Limits,
  log: Log,
  late: readonly number[] = LATE_MS,
): FeedWaits {
  const companies = new Map<Uuid, Company>()
  const seats = createSeats(companies, limits)
  const looks = createLooks(db, companies, log)
  const follows = createFollows(db, log, { changed: looks.changed, late })
  let alive = () => false
  let isClosed = false

  const timer = setInterval(() => {
    for (const id of companies.keys()) if (!alive() || !follows.has(id)) looks.changed(id)
  }, LOOK_MS).unref()

  return {
    async take(id) {
      const { company, leave } = await seats.take(id)
      await follows.add(id)
      let before = company.changes
      return {
        next(wanted) {
          if (isClosed) return Promise.resolve('left')
          const ended = waitIn(company, wanted)
          // Something may have been written since the request has read.
          if (company.changes !== before) looks.changed(id)
          before = company.changes
          return ended
        },
        leave,
      }
    },
    share: createShare(),
    waiting() {
      const counts = [...companies.values()].map(({ waiting }) => waiting.size)
      return counts.reduce((sum, count) => sum + count, 0)
    },
    attach(notifications) {
      alive = notifications.alive
      notifications.on(EVENTS_CHANNEL, (id) => {
        if (id !== null) return looks.changed(id)
        follows.forget()
        for (const one of companies.keys()) {
          looks.changed(one)
          if (alive()) follows.add(one)
        }
      })
    },
    isInformed: () => alive(),
    close() {
      isClosed = true
      clearInterval(timer)
      for (const { waiting } of companies.values()) for (const one of [...waiting]) one.end('left')
    },
  }
}

function createSeats(companies: Map<Uuid, Company>, limits: Limits) {
  const queue = limits.queue('waits for events', { size: MAX_WAITING, perOwner: MAX_OF_COMPANY })
  return {
    async take(id: Uuid): Promise<{ company: Company; leave(): void }> {
      const release = await queue.tryTake(id)
      if (!release) throw tooMany()
      const company = companies.get(id) ?? { seats: 0, waiting: new Set(), changes: 0 }
      companies.set(id, company)
      company.seats += 1
      const leave = () => {
        release()
        company.seats -= 1
        if (company.seats === 0) companies.delete(id)
      }
      return { company, leave }
    },
  }
}

function createShare(): FeedWaits['share'] {
  const shared = new Map<string, Promise<unknown>>()
  return <R>(name: string, read: () => Promise<R>) => {
    const known = shared.get(name) ?? read().finally(() => shared.delete(name))
    shared.set(name, known)
    return known as Promise<R>
  }
}

function waitIn(company: Company, wanted: Wanted): Promise<WaitEnd> {
  const { from, type, redeliveries, deadline_ms, closed } = wanted
  return new Promise((resolve) => {
    const end = (how: WaitEnd) => {
      clearTimeout(timer)
      closed.removeEventListener('abort', leave)
      company.waiting.delete(waiting)
      resolve(how)
    }
    const leave = () => end('left')
    const waiting: Waiting = { from, type, redeliveries, end }
    const timer = setTimeout(end, Math.max(0, deadline_ms - performance.now()), 'late')
    company.waiting.add(waiting)
    closed.addEventListener('abort', leave)
    if (closed.aborted) leave()
  })
}

/** Looks whether feeds have what is waited for: one query at a time, for all companies together. */
function createLooks(db: Database, companies: Map<Uuid, Company>, log: Log) {
  const due = new Set<Uuid>()
  let timer: NodeJS.Timeout | null = null
  let [isLooking, next_ms] = [false, 0]

  function schedule(): void {
    if (timer) clearTimeout(timer)
    timer = null
    if (isLooking || due.size === 0) return
    timer = setTimeout(look, Math.max(0, next_ms - performance.now())).unref()
  }

  async function lookAt(ids: Uuid[]): Promise<void> {
    const groups = ids.flatMap((id) => groupsOf(id, companies.get(id)?.waiting ?? new Set()))
    if (groups.length === 0) return
    const found = await lookAtFeeds(db.light, groups)
    for (const [i, { isThere, next }] of found.entries()) {
      for (const one of groups[i]!.waiting) {
        if (isThere) one.end('there')
        else one.from = Math.max(one.from, next)
      }
    }
  }

  async function look(): Promise<void> {
    timer = null
    isLooking = true
    const ids = [...due].slice(0, MAX_LOOKED)
    for (const id of ids) due.delete(id)
    try {
      await lookAt(ids)
    } catch (error) {
      log.warn(describeError(error), 'the feeds of waiting requests could not be read')
      for (const id of ids) due.add(id)
    }
    isLooking = false
    next_ms = performance.now() + PAUSE_MS
    schedule()
  }

  return {
    /** The feed of a company may have changed. */
    changed(companyId: Uuid): void {
      const company = companies.get(companyId)
      if (!company) return
      company.changes += 1
      if (company.waiting.size === 0) return
      due.add(companyId)
      schedule()
    },
  }
}

/** Those who wait for the same are looked for together. */
function groupsOf(companyId: Uuid, all: Set<Waiting>) {
  const byWanted = Map.groupBy(all, ({ type, redeliveries }) => `${type} ${redeliveries}`)
  return [...byWanted.values()].map((waiting) => {
    const { type, redeliveries } = waiting[0]!
    const from = waiting.reduce((least, one) => Math.min(least, one.from), waiting[0]!.from)
    return { companyId, type, redeliveries, from, waiting }
  })
}
