import type { Uuid } from '../lib/ids.ts'

/**
 * What is known of a receiver. It is healthy if it accepted its last delivery quickly, and
 * unhealthy if it failed or was slow.
 */
export type Health = 'healthy' | 'unknown' | 'unhealthy'

/** What waits for a slot, or has one. */
export type SlotUser = { companyId: Uuid; host: string; health: Health }

type Limits = { total: number; perCompany: number; perHost: number }

const MAX_SLOTS = 1024
/**
 * How many requests may be in progress to receivers of each health. Unknown and unhealthy receivers
 * may keep a slot until the deadline, so together they leave a quarter to healthy ones.
 */
const LIMITS: Record<Health, Limits> = {
  healthy: { total: MAX_SLOTS, perCompany: 256, perHost: 256 },
  unknown: { total: 512, perCompany: 64, perHost: 64 },
  unhealthy: { total: 256, perCompany: 32, perHost: 32 },
}
const HEALTHS = Object.keys(LIMITS) as Health[]

/**
 * The waiting users by company and by host. Both are in the order of their last slot. Thousands may
 * wait for one host, so it is looked at once for all of them.
 */
type Queue<U> = Map<Uuid, Map<string, Set<U>>>

/**
 * The slots for requests in progress, divided by company and by receiving host. If no slot is free
 * for a user, it waits. Companies with waiting users take slots one after the other.
 */
export type Slots<U extends SlotUser> = {
  used(): number
  /** Takes a slot for a user. Returns the function that frees it. */
  take(user: U): () => void
  wait(user: U): void
  /** Call this before the health or the host of a user changes. */
  cancelWait(user: U): void
  /** Removes and returns the next waiting user for whom a slot is free. */
  next(): U | null
}

/** How many slots are used in all, and by each health, company and host. */
function createCounts() {
  const counts = new Map<string, number>()
  let total = 0
  const of = (name: string): number => counts.get(name) ?? 0

  function add(names: string[], by: 1 | -1): void {
    total += by
    for (const name of names) {
      const count = of(name) + by
      if (count > 0) counts.set(name, count)
      else counts.delete(name)
    }
  }
  return { total: () => total, of, add }
}

type Counts = ReturnType<typeof createCounts>

const companyName = (health: Health, companyId: Uuid) => `${health} company ${companyId}`
const anyName = (companyId: Uuid) => `any company ${companyId}`
const hostName = (health: Health, host: string) => `${health} host ${host}`

/**
 * A company may use as many slots as are still free, and no more. So some slots stay free however
 * many companies use all that they may, and the next company finds one at once. A company without
 * a request in progress to receivers of this health does not wait for the other limits.
 */
function isFreeForCompany(counts: Counts, health: Health, companyId: Uuid): boolean {
  const { total, perCompany } = LIMITS[health]
  if (counts.of(anyName(companyId)) >= MAX_SLOTS - counts.total()) return false
  const own = counts.of(companyName(health, companyId))
  return own === 0 || (counts.of(health) < total && own < perCompany)
}

const isFreeForHost = (counts: Counts, health: Health, host: string): boolean =>
  counts.of(hostName(health, host)) < LIMITS[health].perHost

/** Removes and returns the first of a host. The host goes to the end, so others come first. */
function takeFirst<U>(hosts: Map<string, Set<U>>, host: string): U {
  const users = hosts.get(host)!
  const user = users.values().next().value as U
  users.delete(user)
  hosts.delete(host)
  if (users.size > 0) hosts.set(host, users)
  return user
}

export function createSlots<U extends SlotUser>(): Slots<U> {
  const counts = createCounts()
  const queues: Record<Health, Queue<U>> = {
    healthy: new Map(),
    unknown: new Map(),
    unhealthy: new Map(),
  }

  function wait(user: U): void {
    const { companyId, health, host } = user
    const queue = queues[health]
    const hosts = queue.get(companyId) ?? new Map<string, Set<U>>()
    const users = hosts.get(host) ?? new Set()
    queue.set(companyId, hosts.set(host, users.add(user)))
  }

  /** The host for which a company may take a slot next. */
  function freeHost(health: Health, companyId: Uuid, hosts: Iterable<string>): string | undefined {
    if (!isFreeForCompany(counts, health, companyId)) return undefined
    const usesNone = counts.of(companyName(health, companyId)) === 0
    for (const host of hosts) if (usesNone || isFreeForHost(counts, health, host)) return host
    return undefined
  }

  function nextOf(health: Health): U | null {
    const queue = queues[health]
    for (const [companyId, hosts] of queue) {
      const host = freeHost(health, companyId, hosts.keys())
      if (host === undefined) continue
      const user = takeFirst(hosts, host)
      // The company goes to the end of the queue, so that the others come first.
      queue.delete(companyId)
      if (hosts.size > 0) queue.set(companyId, hosts)
      return user
    }
    return null
  }

  return {
    used: counts.total,
    take({ health, companyId, host }) {
      const ofCompany = [companyName(health, companyId), anyName(companyId)]
      const names = [health, ...ofCompany, hostName(health, host)]
      counts.add(names, 1)
      return () => counts.add(names, -1)
    },
    wait,
    cancelWait(user) {
      const { companyId, health, host } = user
      const hosts = queues[health].get(companyId)
      const users = hosts?.get(host)
      if (users?.delete(user) && users.size === 0) hosts?.delete(host)
      if (hosts?.size === 0) queues[health].delete(companyId)
    },
    next() {
      if (counts.total() >= MAX_SLOTS) return null
      for (const health of HEALTHS) {
        const user = nextOf(health)
        if (user) return user
      }
      return null
    },
  }
}
