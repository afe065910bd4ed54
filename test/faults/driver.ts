import { setTimeout as pause } from 'node:timers/promises'
import type { FullApp } from '../../src/core/full-app.ts'
import { createDeliveryWorker } from '../../src/worker/deliver.ts'
import { TASKS } from '../../src/worker/worker.ts'
import type { ManualClock } from '../support/api.ts'
import type { Bundle } from './bundle.ts'
import { type Findings, findDifferences } from './check.ts'
import type { Fault } from './faults.ts'
import { type Client, type Journal, type Operation, type Shop, sendAgain } from './journal.ts'
import { numbered, type Random } from './random.ts'
import { type Need, openScene, type Scene } from './scene.ts'
import { sell } from './shop.ts'
import { leftovers, type TextLines } from './stored.ts'
import { withdraw } from './treasury.ts'

/** A fault that is put in at its time. */
export type Stroke = { fault: Fault; number: number }

/** Everything that a seed decides, and what is left of it in a shorter history. */
export type Plan = {
  seed: number
  strokes: Stroke[]
  /** Answers between two faults, on average, if they are not those of the fault. */
  answers: number | null
  companies: number
  /** The numbers of clients that sell. Two have a company together. */
  sellers: number[]
  /** Of clients that withdraw, each from companies that it shares with none of the others. */
  treasurers: number[]
  operations: Operation[]
  servers: number
  workers: number
  /** The sources of the version before, for who replaces it. */
  root?: string | undefined
  /** What processes are started from, in place of sources. */
  bundle?: Bundle | undefined
  /** In place of a PostgreSQL server of its own, or settings of that. */
  databaseUrl?: string | undefined
  settings?: Record<string, string> | undefined
  /** No more faults are begun after so many seconds. */
  most_s?: number | undefined
  /** After the last fault the load goes on until there is so much of it, or that time is over. */
  least?: Load | undefined
}

/** Operations that were acknowledged, and events that have arrived. */
export type Load = { acknowledged: number; events: number }

/** The database and the clients' word when all is over. */
export type Aftermath = {
  app: FullApp
  scene: Scene
  plan: Plan
  /**
   * How many faults were put in, and how long it took until there was service again, if there was
   * anything to do meanwhile.
   */
  begun: number
  recoveries_ms: number[]
  leftovers: TextLines
  /** What a process has logged as errors, and those that did not end as they should. */
  complaints: string[]
  badExits: number
  seconds: number
}

/** What a run has come to. */
export type Outcome = Omit<Aftermath, 'app' | 'scene'> & {
  tally: Scene['caller']['tally']
  journal: Journal
  findings: Findings
  /** How many events have arrived at webhooks. */
  arrived: number
}

/** At most: where in its work the service is struck is left to chance. */
const STRIKE_MS = 15
/** Leases end within minutes, and what waits longer has its last try within hours. */
const ROUNDS = 120
const ROUND_S = 60
/** What was begun while a clock was ahead by hours is due only then. */
const [MANY_ROUNDS, LONG_ROUND_S] = [30, 600]
/** The bank is compared with our records up to a few minutes ago. */
const BEFORE_AUDIT_S = 600
/** So many requests are sent once more when all is over. */
const SENT_AGAIN = 300

/**
 * Puts in faults under load, one after the other. Clients go on until all they have begun is
 * answered; then time passes until all that was interrupted is carried out; then it is checked.
 */
export async function run(plan: Plan, check = findDifferences): Promise<Outcome> {
  const started = performance.now()
  const { servers, workers, root, bundle, databaseUrl, settings } = plan
  const needs = new Set<Need>(plan.strokes.flatMap(({ fault }) => fault.needs))
  const scene = await openScene({
    companies: plan.companies,
    servers,
    workers,
    needs,
    root,
    bundle,
    databaseUrl,
    settings,
  })
  try {
    const all = [...scene.servers, ...scene.workers]
    await Promise.all(all.map((one) => one.isServing() || one.start(root)))
    const progress: Progress = { begun: 0, recoveries_ms: [] }
    await underFire(plan, scene, progress)
    for (const asked of scene.journal.sample.slice(-SENT_AGAIN)) await sendAgain(scene, asked)
    const exits = await Promise.all(all.map((one) => one.end('SIGTERM')))
    const aftermath: Aftermath = {
      app: scene.app,
      scene,
      plan,
      ...progress,
      leftovers: await finishWork(scene.app, scene.clock),
      complaints: all.flatMap((one) => one.complaints()),
      badExits: exits.filter((code) => code !== 0).length,
      seconds: (performance.now() - started) / 1000,
    }
    const findings = await check(aftermath)
    const { app: _, scene: __, ...rest } = aftermath
    const { caller, journal, arrivals } = scene
    return { ...rest, tally: caller.tally, journal, findings, arrived: arrivals.byEvent.size }
  } catch (error) {
    const { answered } = scene.caller.tally
    throw new Error(`with seed ${plan.seed}, after ${answered} answers`, { cause: error })
  } finally {
    await scene.close()
  }
}

type Progress = Pick<Aftermath, 'begun' | 'recoveries_ms'>

/** The load goes on until the last fault; then what was begun is brought to its end. */
async function underFire(plan: Plan, scene: Scene, progress: Progress): Promise<void> {
  const stop = new AbortController()
  const isStopping = () => stop.signal.aborted
  const faults = () => progress.begun
  const load = Promise.all(makeClients(plan, scene, isStopping, faults).map((act) => act()))
  const strokes = strikeAgain(plan, scene, progress, stop.signal)
  try {
    await Promise.race([load, strokes])
  } finally {
    stop.abort()
    // A client that has failed ends the run, when the fault that is in is healed.
    await Promise.allSettled([strokes])
  }
  await Promise.all([load, strokes])
}

function makeClients(
  { seed, sellers, treasurers, operations }: Plan,
  { shops, journal, caller, mailbox }: Scene,
  stopping: () => boolean,
  faults: () => number,
): (() => Promise<void>)[] {
  const client = (shop: Shop, kind: string, number: number): Client => ({
    name: `${kind} ${number}`,
    number: kind === 'seller' ? 2 * number : 2 * number + 1,
    shop,
    seed,
    random: numbered(seed, number),
    begun: 0,
    operations: new Set(operations),
    journal,
    caller,
    recent: [],
    stopping,
    faults,
  })
  const selling = sellers.map((n) => client(shops[(n >> 1) % shops.length]!, 'seller', n))
  const isWithdrawing = operations.includes('withdraw')
  const most = Math.max(0, ...treasurers) + 1
  const withdrawing = (isWithdrawing ? treasurers : []).map((n) => ({
    client: client(shops[n]!, 'treasurer', n),
    shops: shops.filter((_, i) => i % most === n),
  }))
  return [
    ...selling.map((one) => () => sell(one)),
    ...withdrawing.map(
      ({ client, shops }) =>
        () =>
          withdraw(client, shops, mailbox),
    ),
  ]
}

/** What is decided for a fault depends on the seed and on its number alone. */
const choicesOf = ({ seed }: Plan, { number }: Stroke): Random => numbered(seed, -1, number)

/**
 * Counts answers and not time, so that a slow machine gets as much done between two faults. One
 * fault is over before the next one begins.
 */
async function strikeAgain(
  plan: Plan,
  scene: Scene,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const latest_ms = performance.now() + (plan.most_s ?? Number.POSITIVE_INFINITY) * 1000
  let healing: Promise<void> = Promise.resolve()
  try {
    for (const stroke of plan.strokes) {
      const { fault } = stroke
      const random = choicesOf(plan, stroke)
      await scene.caller.progress(1 + random.below(2 * (plan.answers ?? fault.answers)), signal)
      await healing
      if (signal.aborted || performance.now() > latest_ms) return
      await pause(random.below(STRIKE_MS))
      progress.begun += 1
      healing = recover(await fault.inject(scene, random), progress)
      if (!fault.othersServe) await healing
    }
    await untilEnough(plan, scene, latest_ms, signal)
  } finally {
    await healing
  }
}

function recover(heal: () => Promise<number | null>, progress: Progress): Promise<void> {
  const healing = heal().then((took_ms) => {
    if (took_ms !== null) progress.recoveries_ms.push(took_ms)
  })
  // Whoever waits for it hears of it, which may be later.
  healing.catch(() => {})
  return healing
}

/** Answers between two looks at whether the load has been enough. */
const LOOK_AGAIN = 50

async function untilEnough(
  { least }: Plan,
  scene: Scene,
  latest_ms: number,
  signal: AbortSignal,
): Promise<void> {
  if (!least) return
  const { tally } = scene.caller
  const isEnough = () =>
    tally.acknowledged >= least.acknowledged && scene.arrivals.byEvent.size >= least.events
  while (!signal.aborted && !isEnough() && performance.now() < latest_ms)
    await scene.caller.progress(LOOK_AGAIN, signal)
}

/**
 * Lets time pass until nothing is left to do. What a killed process had taken up is due again only
 * when its lease is over, which no test should wait for.
 */
async function finishWork(app: FullApp, clock: ManualClock): Promise<TextLines> {
  clock.advance((Date.now() - clock.now().getTime()) / 1000)
  const signal = new AbortController().signal
  const deliveries = createDeliveryWorker(app)
  try {
    for (let round = 0; ; round += 1) {
      for (const task of TASKS) if ('run' in task) await task.run(app, signal)
      await deliveries.run(signal)
      const left = await leftovers(app)
      const done = left.length === 0 || round === ROUNDS
      const round_s = round < MANY_ROUNDS ? ROUND_S : LONG_ROUND_S
      clock.advance(done ? BEFORE_AUDIT_S : round_s)
      if (done) return left
    }
  } finally {
    await deliveries.close()
  }
}
