import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { createCompany } from '../src/core/companies/commands.ts'
import type { FullApp } from '../src/core/full-app.ts'
import type { Database } from '../src/db/database.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createLog } from '../src/lib/log.ts'
import { LATEST } from '../src/versions/history.ts'
import { createDeliveryWorker, type DeliveryWorker } from '../src/worker/deliver.ts'
import { createRequests } from './create.ts'
import { countDelivered, DELIVERIES, makeWebhooks, queue } from './deliver.ts'
import { measure } from './load.ts'
import { cpuBelow_ms } from './processor.ts'
import { makePages } from './read.ts'
import { makeCompanies, match, PAYMENTS, prepare } from './settle.ts'
import {
  benchDatabase,
  CONNECTIONS,
  progress,
  ROUNDS,
  runScript,
  runVintem,
  SECONDS,
} from './setup.ts'

/** What the operations of a kind have used: the processor, the write-ahead log and the disk. */
type Cost = { count: number; node_ms: number; postgres_ms: number; wal: number; disk: number }
/** What PostgreSQL has used until now, the log and the disk in bytes. */
type Used = Pick<Cost, 'postgres_ms' | 'wal' | 'disk'>

/** What is done once a round: all that is not to be measured first, then the rest, and how much. */
type Kind = { name: string; prepare?(): Promise<void>; act(): Promise<number>; node_ms(): number }

const COMPANIES = 100

/**
 * Microseconds of the processor for each operation, in Node and in PostgreSQL apart, and the bytes
 * that it writes. That is what a core and a disk are divided by, however many there are. Charges
 * are made and read through a server of its own; payments and deliveries are worked on in this
 * process, which then does nothing else.
 */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const secret = Buffer.alloc(32, 7).toString('base64')
  const config = readConfig({ DATABASE_URL: database.url, SECRET_KEY: secret })
  const parts = { databaseUrl: database.url, clock: systemClock, log: createLog('error') }
  const publicUrl = 'http://127.0.0.1:3000'
  const app = createApp({ ...parts, config: { ...config, local: true }, publicUrl })
  const worker = createDeliveryWorker(app)
  const sink = await runScript('sink', database.url)
  try {
    const used = watchPostgres(app.db, database.postmaster)
    // Before there is a server, because its worker would do what is to be measured.
    const tasks = await taskKinds(app, worker, `http://127.0.0.1:${sink.port}/hook`)
    const worked = await measureCosts(tasks, used)
    const vintem = await runVintem(database.url)
    const served = await requestKinds(vintem)
      .then((kinds) => measureCosts(kinds, used))
      .finally(vintem.stop)
    print(new Map([...served, ...worked]))
  } finally {
    await sink.stop()
    await worker.close()
    await app.sender.close()
    await app.db.end()
    await database.stop()
  }
}

function watchPostgres(db: Database, postmaster: number): () => Promise<Used> {
  return async () => {
    const [bytes] = await db.query<{ wal: number; disk: number }>({
      text: `select (pg_current_wal_insert_lsn() - '0/0')::int8 as wal,
               pg_database_size(current_database()) as disk`,
    })
    return { postgres_ms: cpuBelow_ms(postmaster), ...bytes! }
  }
}

type Server = Awaited<ReturnType<typeof runVintem>>

async function requestKinds({ port, pid, keys }: Server): Promise<Kind[]> {
  const { reads, lists } = await makePages({ port, keys })
  const ask = (request: (n: number) => string) => async () => {
    const load = { port, connections: CONNECTIONS, seconds: SECONDS, request }
    const { count, failed } = await measure(load)
    if (failed > 0) throw new Error(`${failed} requests failed`)
    return count
  }
  const node_ms = () => cpuBelow_ms(pid)
  return [
    { name: 'POST /charge/pix with QR', act: ask(createRequests(keys)), node_ms },
    { name: 'GET /charge/{id}', act: ask(reads), node_ms },
    { name: 'GET /charge?limit=50', act: ask(lists), node_ms },
  ]
}

async function taskKinds(app: FullApp, worker: DeliveryWorker, sink: string): Promise<Kind[]> {
  const node_ms = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const matching = (name: string, companies: string[]): Kind => {
    let arrived: Awaited<ReturnType<typeof prepare>> = []
    return {
      name,
      node_ms,
      async prepare() {
        arrived = await prepare(app, companies)
      },
      async act() {
        await match(app, arrived)
        return PAYMENTS
      },
    }
  }
  const company = { name: 'Bench', taxId: '11222333000181', email: 'bench@example.com' }
  const given = { ...company, mode: 'sandbox', apiVersion: LATEST.name } as const
  const { id } = await app.db.transaction((tx) => createCompany(tx, given, app.clock.now()))
  const webhooks = await makeWebhooks(app, id, [sink])
  const delivering: Kind = {
    name: 'delivery, signed and sent to one webhook',
    node_ms,
    prepare: () => queue(app, id, webhooks),
    async act() {
      const before = await countDelivered(app)
      await worker.run()
      const delivered = (await countDelivered(app)) - before
      if (delivered !== DELIVERIES) throw new Error(`${delivered} of ${DELIVERIES} were delivered`)
      return delivered
    },
  }
  const many = await makeCompanies(app, COMPANIES)
  return [
    matching('payment matched, one company', many.slice(0, 1)),
    matching(`payment matched, ${COMPANIES} companies`, many),
    delivering,
  ]
}

/** Kinds follow one another, because a shared machine is not always as fast. */
async function measureCosts(kinds: Kind[], used: () => Promise<Used>): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>()
  for (let round = 0; round <= ROUNDS; round++) {
    progress(round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`)
    for (const { name, prepare, act, node_ms } of kinds) {
      await prepare?.()
      const [node, before] = [node_ms(), await used()]
      const count = await act()
      const after = await used()
      const cost = {
        count,
        node_ms: node_ms() - node,
        postgres_ms: after.postgres_ms - before.postgres_ms,
        wal: after.wal - before.wal,
        disk: after.disk - before.disk,
      }
      // The first round only warms up.
      if (round > 0) costs.set(name, sum(costs.get(name), cost))
    }
  }
  return costs
}

const sum = (some: Cost | undefined, more: Cost): Cost =>
  some
    ? {
        count: some.count + more.count,
        node_ms: some.node_ms + more.node_ms,
        postgres_ms: some.postgres_ms + more.postgres_ms,
        wal: some.wal + more.wal,
        disk: some.disk + more.disk,
      }
    : more

function print(costs: Map<string, Cost>): void {
  const line = (...cells: string[]) =>
    console.log(cells.map((cell, n) => (n === 0 ? cell.padEnd(42) : cell.padStart(12))).join(''))
  line('for each', 'µs Node', 'µs Postgres', 'B of log', 'B on disk', 'counted')
  for (const [name, { count, node_ms, postgres_ms, wal, disk }] of costs) {
    const each = (all: number) => (all / count).toFixed(0)
    line(name, each(1000 * node_ms), each(1000 * postgres_ms), each(wal), each(disk), `${count}`)
  }
}
