import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FullApp } from '../../src/core/full-app.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type ManualClock, manualClock } from '../support/api.ts'
import { secretOf, UNLIMITED } from '../support/process.ts'
import type { Bundle } from './bundle.ts'
import { type Caller, createCaller, markOf } from './caller.ts'
import { openSmallDisk, type SmallDisk } from './disk.ts'
import { emptyJournal, type Journal, type Shop } from './journal.ts'
import { type MachineClock, openMachineClock } from './machine-clock.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { type Network, startNetwork } from './network.ts'
import { openPostgres, type Postgres } from './postgres.ts'
import { type Arrivals, openArrivals } from './receiver.ts'
import { createVictim, createWorker, type Killable, lowPort, type Victim } from './victim.ts'

/** What faults need to be put in, beside processes. */
export type Need = 'network' | 'disk' | 'clock' | 'release'

export type Cast = {
  companies: number
  /** How many processes answer requests, and how many do the tasks. */
  servers: number
  workers: number
  needs: Set<Need>
  /** The sources of the version that runs first, if that is not this one. */
  root?: string | undefined
  /** What processes are started from, in place of sources. */
  bundle?: Bundle | undefined
  /** In place of a PostgreSQL server of its own. */
  databaseUrl?: string | undefined
  settings?: Record<string, string> | undefined
}

/** The service and all that it stands on, in processes of their own. */
export type Scene = {
  /** The same database, seen by this process, which is outside of all faults. */
  app: FullApp
  clock: ManualClock
  servers: Victim[]
  workers: Killable[]
  caller: Caller
  journal: Journal
  mailbox: Mailbox
  shops: Shop[]
  arrivals: Arrivals
  postgres: Postgres | null
  network: Network | null
  disk: SmallDisk | null
  /** Of the machine with the service, and of the one with the database. */
  clocks: { service: MachineClock; database: MachineClock } | null
  /** The version that is not this one. */
  root: string | undefined
  close(): Promise<void>
}

const ROOT = join(import.meta.dirname, '..', '..')
/** How many payers one process may have in the middle of a request. */
const CONNECTIONS = { DATABASE_POOL_SIZE: '10' }
/** The load of an hour has more mails than these limits let a company send in a day. */
const MANY_MAILS = {
  CODE_MAILS_PER_HOUR: '100000',
  CODE_MAILS_PER_DAY: '100000',
  MAILS_PER_COMPANY: '10000000',
  MAILS_PER_DAY: '10000000',
}

export async function openScene(cast: Cast): Promise<Scene> {
  const undo: (() => unknown)[] = []
  const close = async () => {
    for (const one of undo.splice(0).reverse()) await one()
  }
  try {
    return { ...(await build(cast, undo)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function build(cast: Cast, undo: (() => unknown)[]): Promise<Omit<Scene, 'close'>> {
  const { needs, root, bundle } = cast
  const folder = mkdtempSync(join(tmpdir(), 'vintem-faults-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', remove)
  undo.push(() => {
    process.off('exit', remove)
    remove()
  })
  // PostgreSQL, which runs as another user, reads its clock there.
  chmodSync(folder, 0o755)
  const clocks = needs.has('clock')
    ? {
        service: openMachineClock(folder, 'service'),
        database: openMachineClock(folder, 'database'),
      }
    : null
  if (clocks) undo.push(clocks.service.close)
  const disk = needs.has('disk') ? openSmallDisk() : null
  if (disk) undo.push(disk.close)
  const below = await openDatabaseOf(cast, disk?.folder ?? folder, clocks, undo)
  const dataDir = join(folder, 'data')
  const environment = {
    ...CONNECTIONS,
    ...MANY_MAILS,
    DATABASE_URL: below.url,
    DATA_DIR: dataDir,
    SECRET_KEY: secretOf('faults'),
    ...clocks?.service.environment,
  }
  const servers = await Promise.all(
    Array.from({ length: cast.servers }, async () =>
      createVictim(await lowPort(), environment, ['--role', 'api'], bundle),
    ),
  )
  const workers = Array.from({ length: cast.workers }, () => createWorker(environment, bundle))
  undo.push(() => Promise.all([...servers, ...workers].map((one) => one.end('SIGKILL'))))
  if (root) await servers[0]!.start(root)
  else await migrate(below.direct)
  if (bundle) await compile([servers[0], workers[0]])
  const arrivals = await openArrivals()
  undo.push(arrivals.close)
  const own = {
    ...UNLIMITED,
    ...environment,
    DATABASE_URL: below.direct,
    WEBHOOKS_PER_COMPANY: '2000',
  }
  const shops = await makeShops(root ?? ROOT, own, cast.companies, arrivals.url)
  const clock = manualClock(new Date().toISOString())
  const app = await openApp(ROOT, own, servers[0]!.url, clock)
  undo.push(() => closeApp(app))
  // Whatever a crash takes, the companies are there.
  if (below.postgres) await app.db.query({ text: 'checkpoint' })
  const caller = createCaller(servers)
  undo.push(caller.close)
  const { postgres, network } = below
  return {
    app,
    clock,
    servers,
    workers,
    caller,
    journal: emptyJournal(),
    mailbox: openMailbox(join(dataDir, 'mail')),
    shops,
    arrivals,
    postgres,
    network,
    disk,
    clocks,
    root,
  }
}

/** Node keeps what it has compiled when a process ends, which one that is killed does not. */
async function compile(some: (Killable | undefined)[]): Promise<void> {
  for (const one of some) {
    await one?.start()
    await one?.end('SIGTERM')
  }
}

type Below = {
  /** For the service, perhaps through a network that fails, and for this process. */
  url: string
  direct: string
  postgres: Postgres | null
  network: Network | null
}

async function openDatabaseOf(
  { databaseUrl, needs, settings }: Cast,
  folder: string,
  clocks: Scene['clocks'],
  undo: (() => unknown)[],
): Promise<Below> {
  if (databaseUrl) {
    return { url: databaseUrl, direct: databaseUrl, postgres: null, network: null }
  }
  const postgres = await openPostgres(folder, settings, clocks?.database.environment)
  undo.push(postgres.stop)
  await postgres.start()
  const network = needs.has('network') ? await startNetwork(postgres.port) : null
  if (network) undo.push(network.close)
  const direct = postgres.urlAt(postgres.port)
  return { url: network ? postgres.urlAt(network.port) : direct, direct, postgres, network }
}

/** The service of a version in this process, with the right to deliver to this machine. */
async function openApp(
  root: string,
  environment: Record<string, string>,
  publicUrl: string,
  clock: ManualClock,
): Promise<FullApp> {
  const of = <T>(path: string): Promise<T> => import(join(root, 'src', path))
  const { createApp } = await of<typeof import('../../src/app.ts')>('app.ts')
  const { readConfig } = await of<typeof import('../../src/config.ts')>('config.ts')
  const { createLog } = await of<typeof import('../../src/lib/log.ts')>('lib/log.ts')
  const config = { ...readConfig(environment), local: true }
  const log = createLog('silent')
  return createApp({ config, databaseUrl: config.databaseUrl!, clock, log, publicUrl })
}

async function closeApp(app: FullApp): Promise<void> {
  app.mailer.close()
  await app.sender.close()
  await app.db.end()
}

/** Companies, each with a key and a webhook for all events, as a version makes them. */
async function makeShops(
  root: string,
  environment: Record<string, string>,
  count: number,
  hooks: string,
): Promise<Shop[]> {
  const of = <T>(path: string): Promise<T> => import(join(root, 'src', path))
  const companies = await of<typeof import('../../src/core/companies/commands.ts')>(
    'core/companies/commands.ts',
  )
  const webhooks = await of<typeof import('../../src/core/webhooks/commands.ts')>(
    'core/webhooks/commands.ts',
  )
  const { EVENT_TYPES } = await of<typeof import('../../src/core/events.ts')>('core/events.ts')
  const { LATEST } = await of<typeof import('../../src/versions/history.ts')>('versions/history.ts')
  const clock = manualClock(new Date().toISOString())
  const app = await openApp(root, environment, 'http://vintem.test', clock)
  const make = (number: number): Promise<Shop> =>
    app.db.transaction(async (tx) => {
      const mark = markOf(number)
      const email = `${mark}@example.com`
      const fields = { name: `Padaria ${mark}`, taxId: '11222333000181', email }
      const own = { mode: 'sandbox', apiVersion: LATEST.name, releaseDelay_s: number % 2 } as const
      const company = await companies.createCompany(tx, { ...fields, ...own }, clock.now())
      const named = { name: 'faults' }
      const { text } = await companies.createKey(tx, app.vault, company, named, clock.now())
      const webhook = { url: `${hooks}/${number}`, name: 'all', events: EVENT_TYPES }
      await webhooks.createWebhook(tx, app, company, webhook)
      return { company: company.id, email, apiKey: text, mark }
    })
  try {
    return await Promise.all(Array.from({ length: count }, (_, number) => make(number)))
  } finally {
    await closeApp(app)
  }
}
