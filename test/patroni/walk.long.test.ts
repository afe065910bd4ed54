import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findCompany } from '../../src/core/companies/store.ts'
import { EVENT_TYPES } from '../../src/core/events.ts'
import { createWebhook } from '../../src/core/webhooks/commands.ts'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { toPublic, type Uuid } from '../../src/lib/ids.ts'
import { checkAftermath } from '../faults/aftermath.ts'
import type { Caller } from '../faults/caller.ts'
import { type Feed, followFeed } from '../faults/feed.ts'
import { killAgainAndAgain, type Scene } from '../faults/kill.ts'
import { createVictim, lowPort } from '../faults/victim.ts'
import { inherited, secretOf, temporaryFolder } from '../support/process.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { type Name, type PatroniCluster, startPatroni } from './cluster.ts'
import { missingPackages } from './packages.ts'

/**
 * Servers of Vintém under load on two PostgreSQL that Patroni and etcd of Debian take care of, with
 * the files of deploy/patroni. `npm run test:patroni`; ROUNDS=5 repeats each fault five times.
 */
const { SEED = '1', ROUNDS = '1', LOAD = '150' } = process.env
const WORKER = join(import.meta.dirname, '..', 'deliveries', 'worker-process.ts')

type Fault = {
  name: string
  /** Whether the standby becomes the primary. */
  moves: boolean
  act(cluster: PatroniCluster, primary: Name): void | Promise<void>
  heal?(cluster: PatroniCluster, primary: Name): void
}
const FAULTS: Fault[] = [
  { name: 'patronictl switchover', moves: true, act: (cluster) => cluster.switchOver() },
  {
    name: 'kill -9 of the primary and its Patroni',
    moves: true,
    act: (cluster, primary) => cluster.kill(primary),
    heal: (cluster, primary) => cluster.start(primary),
  },
  {
    name: 'the primary and its Patroni hang (SIGSTOP)',
    moves: true,
    act: (cluster, primary) => cluster.signal(primary, 'SIGSTOP'),
    heal: (cluster, primary) => cluster.signal(primary, 'SIGCONT'),
  },
  {
    name: 'the primary is cut off from etcd',
    moves: true,
    act: (cluster, primary) => cluster.cut(primary, true),
    heal: (cluster, primary) => cluster.cut(primary, false),
  },
  {
    name: 'kill -9 of the standby and its Patroni',
    moves: false,
    act: (cluster, primary) => cluster.kill(cluster.other(primary)),
    heal: (cluster, primary) => cluster.start(cluster.other(primary)),
  },
]

const missing = missingPackages()
if (missing.length > 0) {
  const skip = `apt-get install ${missing.join(' ')}`
  test('failover with Patroni and etcd', { skip }, () => {})
} else await walk()

async function walk(): Promise<void> {
  const cluster = await startPatroni()
  await migrate(cluster.url)
  const rounds = Number(ROUNDS)
  const plan = {
    seed: Number(SEED),
    kills: FAULTS.length * rounds,
    answersPerKill: Number(LOAD),
    companies: 12,
    sellers: 12,
    treasurers: 4,
    // The worker is a process of its own, which may deliver to this machine.
    serverOptions: ['--role', 'api'],
  }
  const gaps: { fault: string; gap_ms: number }[] = []
  let others: Others | undefined
  let struck = 0
  const aftermath = await killAgainAndAgain(plan, cluster.url, async (scene) => {
    others ??= await startOthers(cluster, scene)
    const fault = FAULTS[struck++ % FAULTS.length]!
    const gap_ms = await strike(cluster, fault, scene.caller)
    gaps.push({ fault: fault.name, gap_ms })
    await others.feed.caughtUp()
  })
  const { app, journal, caller } = aftermath
  const { feed, arrivals, early } = others!
  await until('every event is delivered', async () => {
    const rows = await app.db.query({ text: 'select from deliveries limit 1' })
    return rows.length === 0
  })
  await others!.stop()
  // Nothing is waited for between the tests: after the first ones the cluster would be ended.
  const stored = await app.db.query<{ company: Uuid; id: Uuid }>({
    text: 'select company_id as company, id from events order by company_id, position, id',
  })

  test('the service goes on after each fault', (t) => {
    for (const { name } of FAULTS) {
      const own = gaps.flatMap(({ fault, gap_ms }) => (fault === name ? Math.round(gap_ms) : []))
      t.diagnostic(
        `${name}: ${own.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s without a write`,
      )
    }
    const { answered, postponed, unknown } = caller.tally
    const { length: charges } = journal.charges
    t.diagnostic(
      JSON.stringify({ answered, postponed, unknown, charges, arrivals: arrivals.length }),
    )
    assert.equal(gaps.length, plan.kills)
    assert.equal(aftermath.exitCode, 0, 'it stops as it should')
  })

  const idsOf = Map.groupBy(stored, ({ company }) => company)
  const publicIds = (rows: { id: Uuid }[] = []) => rows.map(({ id }) => toPublic('evt', id))

  test('whoever follows the feed on another server has got every event once, in order', () => {
    for (const [company, ids] of feed.seen) {
      assert.deepEqual(ids, publicIds(idsOf.get(company as Uuid)).slice(0, ids.length))
    }
    assert.ok([...feed.seen.values()].flat().length > 0)
  })

  test('every event was delivered, again only as the same, and none that is not stored', () => {
    const all = new Set(publicIds(stored))
    const byId = Map.groupBy(arrivals, ({ headers }) => String(headers['webhook-id']))
    assert.deepEqual(
      [...byId.keys()].filter((id) => !all.has(id)),
      [],
    )
    assert.deepEqual(
      [...all].filter((id) => !byId.has(id) && !early.has(id)),
      [],
    )
    const identity = ({ headers, body }: Received) => `${headers['x-webhook-delivery']} ${body}`
    for (const same of byId.values()) assert.equal(new Set(same.map(identity)).size, 1)
  })

  test('a former primary that has written what nobody got is rewound, and follows', () => {
    assert.match(cluster.log(), /running pg_rewind/)
  })

  test('haproxy leads to the primary', async () => {
    const db = openDatabase(cluster.proxyUrl, 1)
    assert.equal((await db.query({ text: 'select from events limit 1' })).length, 1)
    await db.end()
  })

  checkAftermath(aftermath)
}

/** Resolves with the longest time in which no write succeeded. */
async function strike(cluster: PatroniCluster, fault: Fault, caller: Caller): Promise<number> {
  const former = await cluster.whole()
  const writes = watchWrites(caller)
  await fault.act(cluster, former)
  if (fault.moves) {
    await until('the other is the primary', async () => (await cluster.primary()) !== former)
  }
  await caller.written()
  await caller.written()
  const gap_ms = writes.stop()
  fault.heal?.(cluster, former)
  await cluster.whole()
  return gap_ms
}

function watchWrites(caller: Caller): { stop(): number } {
  let [last_ms, longest_ms, isOver] = [performance.now(), 0, false]
  const note = () => {
    longest_ms = Math.max(longest_ms, performance.now() - last_ms)
    last_ms = performance.now()
  }
  const watch = async () => {
    while (!isOver) {
      await caller.written()
      if (!isOver) note()
    }
  }
  watch()
  return {
    stop() {
      isOver = true
      return longest_ms
    },
  }
}

type Others = {
  feed: Feed
  arrivals: Received[]
  /** Events of the time before there were webhooks. */
  early: Set<string>
  stop(): Promise<void>
}

/** A second server, whose feed is followed, a worker, and a receiver of all events. */
async function startOthers(cluster: PatroniCluster, { app, shops }: Scene): Promise<Others> {
  const environment = {
    DATABASE_URL: cluster.url,
    SECRET_KEY: secretOf('faults'),
    MAILS_PER_RECIPIENT: '10000000',
  }
  const receiver = await startReceiver()
  for (const { company } of shops) {
    const local = { ...app, config: { ...app.config, local: true } }
    const fields = { url: receiver.url, name: 'all', events: EVENT_TYPES }
    const owner = await findCompany(app.db, company as Uuid)
    await app.db.transaction((tx) => createWebhook(tx, local, owner!, fields))
  }
  const rows = await app.db.query<{ id: Uuid }>({ text: 'select id from events' })
  const early = new Set(rows.map(({ id }) => toPublic('evt', id)))
  const stopWorker = await startWorker({ ...environment, DATA_DIR: app.config.dataDir })
  const folder = { DATA_DIR: temporaryFolder() }
  const second = createVictim(await lowPort(), { ...environment, ...folder }, ['--role', 'api'])
  await second.start()
  const feed = followFeed(second.url, shops)
  const stop = async () => {
    await feed.stop()
    await stopWorker()
    await second.end('SIGTERM')
  }
  return { feed, arrivals: receiver.received, early, stop }
}

async function startWorker(environment: Record<string, string>): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [WORKER], {
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  after(stop)
  await once(child.stdout, 'data')
  return stop
}
