import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createCompany, createKey } from '../../src/core/companies/commands.ts'
import type { FullApp } from '../../src/core/full-app.ts'
import { createLog } from '../../src/lib/log.ts'
import { LATEST } from '../../src/versions/history.ts'
import { TASKS } from '../../src/worker/worker.ts'
import { type ManualClock, manualClock } from '../support/api.ts'
import { secretOf, temporaryFolder } from '../support/process.ts'
import { type Caller, createCaller } from './caller.ts'
import { type Client, emptyJournal, type Journal, type Shop } from './journal.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { createRandom, type Random } from './random.ts'
import { sell } from './shop.ts'
import { leftovers, type TextLines } from './stored.ts'
import { withdraw } from './treasury.ts'
import { createVictim, lowPort, type Victim } from './victim.ts'

export type Plan = {
  seed: number
  /** How often something is killed. */
  kills: number
  companies: number
  /** Clients that sell, two for a company. */
  sellers: number
  /** Clients that withdraw, each from companies that it shares with none of the others. */
  treasurers: number
  /** Answers between two kills, on average. */
  answersPerKill: number
  /** How the server is started. */
  serverOptions?: string[]
}

/** The database and the clients' word after the server was killed again and again. */
export type Aftermath = {
  app: FullApp
  shops: Shop[]
  journal: Journal
  caller: Caller
  mailbox: Mailbox
  /** Requests that were sent once more at the end and were not answered as at first. */
  changed: string[]
  exitCode: number | null
  complaints: string[]
  leftovers: TextLines
  seconds: number
}

/** At most: where in its work the server is struck is left to chance. */
const STRIKE_MS = 15
/** Leases end within minutes, and what waits longer has its last try within hours. */
const ROUNDS = 120
const ROUND_S = 60
/** The bank is compared with our records up to a few minutes ago. */
const BEFORE_AUDIT_S = 600

/** Kills something once, and sees to it that there is service again. */
export type Strike = (scene: Scene) => Promise<void>

/**
 * Strikes a server under load again and again. Clients go on until all they have begun is answered;
 * then time passes until all that was interrupted is due again, and is carried out.
 */
export async function killAgainAndAgain(
  plan: Plan,
  databaseUrl: string,
  strike: Strike,
): Promise<Aftermath> {
  const started = performance.now()
  const scene = await prepare(plan, databaseUrl)
  const { app, clock, victim, caller, journal } = scene
  try {
    await victim.start()
    await underFire(plan, scene, strike)
    const changed = await sendAgain(caller, journal)
    const exitCode = await victim.end('SIGTERM')
    return {
      ...scene,
      changed,
      exitCode,
      complaints: victim.complaints(),
      leftovers: await finishWork(app, clock),
      seconds: (performance.now() - started) / 1000,
    }
  } catch (error) {
    throw new Error(`with seed ${plan.seed}, after ${caller.tally.answered} answers`, {
      cause: error,
    })
  } finally {
    await victim.end('SIGKILL')
    await caller.close()
  }
}

export type Scene = {
  app: FullApp
  clock: ManualClock
  victim: Victim
  caller: Caller
  journal: Journal
  mailbox: Mailbox
  shops: Shop[]
}

async function prepare(plan: Plan, databaseUrl: string): Promise<Scene> {
  const [dataDir, port] = [temporaryFolder(), await lowPort()]
  const environment = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SECRET_KEY: secretOf('faults'),
    MAILS_PER_RECIPIENT: '10000000',
  }
  const victim = createVictim(port, environment, plan.serverOptions)
  const clock = manualClock(new Date().toISOString())
  const config = readConfig(environment)
  const log = createLog('silent')
  const app = createApp({ config, databaseUrl, clock, log, publicUrl: victim.url })
  after(async () => {
    app.mailer.close()
    await app.db.end()
  })
  const mailbox = openMailbox(join(dataDir, 'mail'))
  const shops = await Promise.all(
    Array.from({ length: plan.companies }, (_, n) => makeShop(app, n)),
  )
  return {
    app,
    clock,
    victim,
    mailbox,
    shops,
    journal: emptyJournal(),
    caller: createCaller(victim),
  }
}

async function makeShop(app: FullApp, number: number): Promise<Shop> {
  const email = `shop${number}@example.com`
  const now = app.clock.now()
  return app.db.transaction(async (tx) => {
    const company = await createCompany(
      tx,
      {
        name: `Padaria ${number}`,
        taxId: '11222333000181',
        email,
        mode: 'sandbox',
        apiVersion: LATEST.name,
        releaseDelay_s: number % 2,
      },
      now,
    )
    const { text: apiKey } = await createKey(tx, app.vault, company, { name: 'kill' }, now)
    return { company: company.id, email, apiKey }
  })
}

/** The load goes on until the last kill; then what was begun is brought to its end. */
async function underFire(plan: Plan, scene: Scene, strike: Strike): Promise<void> {
  const random = createRandom(plan.seed)
  const state = { stopping: false }
  const stopping = () => state.stopping
  const load = Promise.all(makeClients(plan, random, scene, stopping).map((run) => run()))
  const kills = strikeAgain(plan, random, scene, strike, stopping)
  try {
    await Promise.race([load, kills])
  } finally {
    state.stopping = true
    await Promise.allSettled([kills])
  }
  await load
}

function makeClients(
  { sellers, treasurers }: Plan,
  random: Random,
  { shops, journal, caller, mailbox }: Scene,
  stopping: () => boolean,
): (() => Promise<void>)[] {
  const client = (shop: Shop, name: string): Client => ({
    name,
    shop,
    random: random.fork(),
    journal,
    caller,
    stopping,
  })
  const selling = Array.from({ length: sellers }, (_, n) => client(shops[n >> 1]!, `seller ${n}`))
  const withdrawing = Array.from({ length: treasurers }, (_, n) => ({
    client: client(shops[n]!, `treasurer ${n}`),
    shops: shops.filter((_, i) => i % treasurers === n),
  }))
  return [
    ...selling.map((client) => () => sell(client)),
    ...withdrawing.map(
      ({ client, shops }) =>
        () =>
          withdraw(client, shops, mailbox),
    ),
  ]
}

/** Counts answers and not time, so that a slow machine gets as much done between two kills. */
async function strikeAgain(
  { kills, answersPerKill }: Plan,
  random: Random,
  scene: Scene,
  strike: Strike,
  stopping: () => boolean,
): Promise<void> {
  for (let n = 0; n < kills && !stopping(); n++) {
    await scene.caller.progress(1 + random.below(2 * answersPerKill))
    await pause(random.below(STRIKE_MS))
    await strike(scene)
  }
}

/** Kills the server, and starts it again. */
export const killServer: Strike = async ({ victim }) => {
  await victim.end('SIGKILL')
  await victim.start()
}

/** A client that sends a key again much later gets the same answer. */
async function sendAgain(caller: Caller, { sample }: Journal): Promise<string[]> {
  const changed: string[] = []
  for (const { request, digest } of sample) {
    const answer = await caller.call(request)
    if (answer.replayed && answer.digest === digest) continue
    changed.push(`${request.path} was answered ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  return changed
}

/**
 * Lets time pass until nothing is left to do. What a killed server had taken up is due again only
 * when its lease is over, which no test should wait for.
 */
async function finishWork(app: FullApp, clock: ManualClock): Promise<TextLines> {
  clock.advance((Date.now() - clock.now().getTime()) / 1000)
  const signal = new AbortController().signal
  for (let round = 0; ; round += 1) {
    for (const task of TASKS) if ('run' in task) await task.run(app, signal)
    const left = await leftovers(app)
    const done = left.length === 0 || round === ROUNDS
    clock.advance(done ? BEFORE_AUDIT_S : ROUND_S)
    if (done) return left
  }
}
