import type { Uuid } from '../lib/ids.ts'

/**
 * What is known of a receiver: it answered its last delivery well and soon, it has not answered
 * yet, or it failed or took long.
 */
export type Standing = 'proven' | 'unproven' | 'troubled'

/** Who waits for a place, or has one. */
export type Claimant = { companyId: Uuid; host: string; standing: Standing }

type Share = { all: number; perCompany: number; perHost: number }

const MOST = 1024
/**
 * How many deliveries may be under way to receivers of a standing. Unproven and troubled receivers
 * may hold a place until the deadline, so that together they leave a quarter to the proven ones.
 */
const SHARES: Record<Standing, Share> = {
  proven: { all: MOST, perCompany: 256, perHost: 256 },
  unproven: { all: 512, perCompany: 64, perHost: 64 },
  troubled: { all: 256, perCompany: 32, perHost: 32 },
}
const STANDINGS = Object.keys(SHARES) as Standing[]

/** Claimants of one company, in the order in which they came. */
type Queue<C> = Map<Uuid, Set<C>>

/**
 * The places for deliveries that are under way, shared by company and by receiving host. Who finds
 * none free waits; companies that wait take turns.
 */
export type Places<C extends Claimant> = {
  used(): number
  /** Takes a place for a claimant; the function that is given frees it. */
  take(claimant: C): () => void
  wait(claimant: C): void
  /** Before its standing changes. */
  leave(claimant: C): void
  /** Removes from those that wait the next for whom there is a place, and gives it. */
  next(): C | null
}

/** How many are under way in all, and of each standing, company and host. */
function createCounts() {
  const counts = new Map<string, number>()
  let all = 0
  const of = (name: string): number => counts.get(name) ?? 0

  function add(names: string[], by: 1 | -1): void {
    all += by
    for (const name of names) {
      const count = of(name) + by
      if (count > 0) counts.set(name, count)
      else counts.delete(name)
    }
  }
  return { all: () => all, of, add }
}

type Counts = ReturnType<typeof createCounts>

const companyName = (standing: Standing, companyId: Uuid) => `${standing} company ${companyId}`
const anyName = (companyId: Uuid) => `any company ${companyId}`
const hostName = (standing: Standing, host: string) => `${standing} host ${host}`

/**
 * A company has no more places than are still free. So however many companies hold all that they
 * may, some places are left: who comes next finds one at once. If a company has nothing under way
 * to receivers of a standing, nothing else keeps it waiting.
 */
function isFreeFor(counts: Counts, standing: Standing, companyId: Uuid): boolean {
  const { all, perCompany } = SHARES[standing]
  if (counts.of(anyName(companyId)) >= MOST - counts.all()) return false
  const own = counts.of(companyName(standing, companyId))
  return own === 0 || (counts.of(standing) < all && own < perCompany)
}

function isFreeAt(counts: Counts, { standing, companyId, host }: Claimant): boolean {
  const own = counts.of(companyName(standing, companyId))
  return own === 0 || counts.of(hostName(standing, host)) < SHARES[standing].perHost
}

export function createPlaces<C extends Claimant>(): Places<C> {
  const counts = createCounts()
  const queues: Record<Standing, Queue<C>> = {
    ...{ proven: new Map(), unproven: new Map(), troubled: new Map() },
  }

  function wait(claimant: C): void {
    const { companyId, standing } = claimant
    const waiting = queues[standing].get(companyId)
    if (waiting) waiting.add(claimant)
    else queues[standing].set(companyId, new Set([claimant]))
  }

  function nextOf(standing: Standing): C | null {
    const queue = queues[standing]
    for (const [companyId, claimants] of queue) {
      if (!isFreeFor(counts, standing, companyId)) continue
      for (const claimant of claimants) {
        if (!isFreeAt(counts, claimant)) continue
        claimants.delete(claimant)
        // The company goes to the end: it is the turn of the others now.
        queue.delete(companyId)
        if (claimants.size > 0) queue.set(companyId, claimants)
        return claimant
      }
    }
    return null
  }

  return {
    used: counts.all,
    take({ standing, companyId, host }) {
      const ofCompany = [companyName(standing, companyId), anyName(companyId)]
      const names = [standing, ...ofCompany, hostName(standing, host)]
      counts.add(names, 1)
      return () => counts.add(names, -1)
    },
    wait,
    leave(claimant) {
      const { companyId, standing } = claimant
      const waiting = queues[standing].get(companyId)
      if (waiting?.delete(claimant) && waiting.size === 0) queues[standing].delete(companyId)
    },
    next() {
      if (counts.all() >= MOST) return null
      for (const standing of STANDINGS) {
        const claimant = nextOf(standing)
        if (claimant) return claimant
      }
      return null
    },
  }
}
