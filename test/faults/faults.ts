import { setTimeout as pause } from 'node:timers/promises'
import { NO_HISTORY } from '../support/releases.ts'
import { lookFor, MAX_WAIT_S } from '../support/until.ts'
import { diskFault } from './disk.ts'
import type { Operation } from './journal.ts'
import { clockFault } from './machine-clock.ts'
import type { Network } from './network.ts'
import type { Random } from './random.ts'
import type { Need, Scene } from './scene.ts'
import type { Killable } from './victim.ts'

/** Ends a fault. Resolves when there is service again, with how many milliseconds that took. */
export type Heal = () => Promise<number>

export type Fault = {
  name: string
  title: string
  /** How often `npm run test:faults` puts it in, and after how many answers on average. */
  times: number
  answers: number
  needs: Need[]
  servers: number
  workers: number
  /** What was promised of the recovery: of 99 in 100, or of all. */
  limit: { part: number; ms: number } | null
  /** Whether nothing may be logged as an error, because no process sees the fault of another. */
  isQuiet: boolean
  /** Which deliveries may come twice. */
  repeats: 'those of a killed worker' | 'any'
  /** Whether others do its work meanwhile, so that the load up to the next fault begins with it. */
  othersServe: boolean
  /** What the load leaves out, because an older version does not know it. */
  without: Operation[]
  /**
   * Puts it in once. Where in the work of the service, is left to chance. Heals with null if there
   * was nothing to do meanwhile, and so no recovery.
   */
  inject(scene: Scene, random: Random): Promise<() => Promise<number | null>>
}

/** What holds for most faults. */
export const ORDINARY = {
  needs: [],
  servers: 1,
  workers: 1,
  limit: null,
  isQuiet: false,
  repeats: 'any' as const,
  othersServe: false,
  without: [],
}

const since = (from_ms: number): number => performance.now() - from_ms

/** Waits for an acknowledged write. */
async function written({ caller }: Scene): Promise<void> {
  const late = pause(MAX_WAIT_S * 1000, 'late', { ref: false })
  if ((await Promise.race([caller.written(), late])) === 'late') {
    throw new Error('nothing is written any more')
  }
}

/** How long a delivery is waited for whose worker could be killed. */
const DUE_PATIENCE_S = 1

const somethingIsDue = ({ app }: Scene): Promise<true | null> =>
  lookFor(async () => {
    const text = 'select from deliveries where next_attempt_at <= now() limit 1'
    return (await app.db.query({ text })).length > 0
  }, DUE_PATIENCE_S)

/**
 * Webhooks wait for nobody: the oldest delivery of each that is due now will have been done. Null
 * if none is.
 */
async function deliveredOn({ app }: Scene): Promise<(() => Promise<void>) | null> {
  const due = await app.db.query<{ event: string }>({
    text: `select distinct on (company_id) event_id as event from deliveries
           where next_attempt_at <= now() order by company_id, next_attempt_at, event_id`,
  })
  if (due.length === 0) return null
  const events = due.map(({ event }) => event)
  const isDone = async () => {
    const left = await app.db.query({
      text: 'select from deliveries where event_id = any($1::uuid[]) limit 1',
      values: [events],
    })
    return left.length === 0
  }
  return async () => {
    await lookFor(isDone, MAX_WAIT_S)
  }
}

const killServer: Fault = {
  ...ORDINARY,
  name: 'server',
  title: 'kill -9 of a process that answers requests',
  times: 1_000,
  answers: 330,
  servers: 3,
  isQuiet: true,
  repeats: 'those of a killed worker',
  othersServe: true,
  async inject({ servers }, random) {
    const victim = servers[random.below(servers.length)]!
    const killed_ms = performance.now()
    await victim.end('SIGKILL')
    return async () => {
      await victim.start()
      return since(killed_ms)
    }
  },
}

/** If there is another worker, it has to go on before the one that was killed comes back. */
const killWorker: Fault = {
  ...ORDINARY,
  name: 'worker',
  title: 'kill -9 of a worker',
  times: 1_000,
  answers: 90,
  workers: 3,
  limit: { part: 0.99, ms: 5_000 },
  isQuiet: true,
  repeats: 'those of a killed worker',
  othersServe: true,
  async inject(scene, random) {
    const { workers } = scene
    const victim = workers[random.below(workers.length)]!
    await somethingIsDue(scene)
    await victim.end('SIGKILL')
    const killed_ms = performance.now()
    const delivered = await deliveredOn(scene)
    return async () => {
      if (workers.length === 1) await victim.start()
      await delivered?.()
      const recovery_ms = since(killed_ms)
      if (workers.length > 1) await victim.start()
      return delivered && recovery_ms
    }
  },
}

const crashPostgres: Fault = {
  ...ORDINARY,
  name: 'postgres',
  title: 'crash of PostgreSQL (immediate shutdown, kill -9 of the postmaster)',
  times: 200,
  answers: 300,
  limit: { part: 1, ms: 2_000 },
  async inject(scene, random) {
    await scene.postgres!.crash(random.onceIn(2) ? 'immediate' : 'kill')
    return async () => {
      const accepting_ms = await scene.postgres!.start()
      await written(scene)
      return since(accepting_ms)
    }
  },
}

/** Sometimes it is full at once, sometimes in the middle of a write. */
const MAX_SPARE_BYTES = 256 * 1024

const fillDisk: Fault = {
  ...ORDINARY,
  name: 'disk',
  title: 'full disk of PostgreSQL',
  times: 50,
  answers: 200,
  needs: ['disk'],
  async inject(scene, random) {
    scene.disk!.fill(random.below(MAX_SPARE_BYTES))
    await pause(500 + random.below(1_500))
    return async () => {
      scene.disk!.free()
      const accepting_ms = await scene.postgres!.start()
      await written(scene)
      return since(accepting_ms)
    }
  },
}

/** What a network can do to connections; each lasts as long as chance has it. */
const BREAKS: ((network: Network, random: Random) => Promise<() => void>)[] = [
  async (network) => {
    network.reset()
    return () => {}
  },
  async (network, random) => {
    network.refuse(true)
    network.reset()
    await pause(random.below(3_000))
    return () => network.refuse(false)
  },
  async (network) => {
    network.lose('all')
    return () => {}
  },
  async (network) => {
    network.lose('answers')
    return () => {}
  },
  async (network, random) => {
    network.losing(true)
    network.lose('all')
    await pause(random.below(6_000))
    return () => network.losing(false)
  },
  async (network, random) => {
    network.delay(20 + random.below(300))
    await pause(500 + random.below(2_000))
    return () => network.delay(0)
  },
]

const breakNetwork: Fault = {
  ...ORDINARY,
  name: 'network',
  title: 'cut, half-open and slow connections between service and database',
  times: 100,
  answers: 200,
  needs: ['network'],
  async inject(scene, random) {
    const heal = await BREAKS[random.below(BREAKS.length)]!(scene.network!, random)
    return async () => {
      const healed_ms = performance.now()
      heal()
      await written(scene)
      return since(healed_ms)
    }
  },
}

const MAX_HOURS = 6
/** Until processes see that their clock was moved. */
const SEEN_MS = 1_100

/** Either the database is on the same machine, or its clock is right. */
const moveClock: Fault = {
  ...ORDINARY,
  name: 'clock',
  title: "the machine's clock moved by hours, and back",
  times: 50,
  answers: 200,
  needs: ['clock'],
  async inject(scene, random) {
    const { service, database } = scene.clocks!
    const ahead_s = Math.round((1 + random.part() * (MAX_HOURS - 1)) * 3600)
    const moved = random.onceIn(2) ? [service] : [service, database]
    const isBack = random.onceIn(2)
    for (const clock of moved) clock.set(isBack ? -ahead_s : ahead_s)
    await pause(SEEN_MS)
    await written(scene)
    await pause(random.below(2_000))
    return async () => {
      for (const clock of moved) clock.set(0)
      await pause(SEEN_MS)
      const right_ms = performance.now()
      const delivered = await deliveredOn(scene)
      await Promise.all([written(scene), delivered?.()])
      return since(right_ms)
    }
  },
}

/** Which processes run this version, and not the one before. */
const upgraded = new WeakMap<Scene, Set<Killable>>()

/**
 * One process after the other is replaced: at first those that answer, the first of which changes
 * the tables; and when all are, some go back and forth. Both versions work beside each other.
 */
const replaceVersion: Fault = {
  ...ORDINARY,
  name: 'upgrade',
  title: 'a process replaced by one of another version',
  times: 50,
  answers: 200,
  needs: ['release'],
  servers: 2,
  workers: 2,
  // The last release does not know them, or does them in another way.
  without: ['batch', 'split', 'dispute'],
  async inject(scene, random) {
    const all = [...scene.servers, ...scene.workers]
    const done = upgraded.get(scene) ?? new Set()
    upgraded.set(scene, done)
    const next = all.find((one) => !done.has(one)) ?? all[random.below(all.length)]!
    const root = done.delete(next) && random.onceIn(2) ? scene.root : undefined
    if (root === undefined) done.add(next)
    const ended_ms = performance.now()
    await next.end(random.onceIn(2) ? 'SIGTERM' : 'SIGKILL')
    return async () => {
      await next.start(root)
      return since(ended_ms)
    }
  },
}

export const FAULTS = [
  killServer,
  killWorker,
  crashPostgres,
  fillDisk,
  breakNetwork,
  moveClock,
  replaceVersion,
]

/** Why a fault cannot be put in here; null if it can. */
export function whyNot({ needs }: Fault, root: string | null): string | null {
  if (needs.includes('disk')) return diskFault()
  if (needs.includes('clock')) return clockFault()
  return needs.includes('release') && root === null ? NO_HISTORY : null
}
