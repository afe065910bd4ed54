import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { toPublic, type Uuid } from '../../src/lib/ids.ts'
import type { Caller } from '../faults/caller.ts'
import { findDifferences } from '../faults/check.ts'
import { type Plan, run } from '../faults/driver.ts'
import { type Heal, ORDINARY } from '../faults/faults.ts'
import { type Feed, followFeed } from '../faults/feed.ts'
import { OPERATIONS } from '../faults/journal.ts'
import type { Scene } from '../faults/scene.ts'
import { read } from '../faults/stored.ts'
import { until } from '../support/until.ts'
import { type Name, type PatroniCluster, startPatroni } from './cluster.ts'
import { missingPackages } from './packages.ts'

/**
 * Servers of Vintém under load on two PostgreSQL that Patroni and etcd of Debian take care of, with
 * the files of deploy/patroni. `npm run test:patroni`; ROUNDS=5 repeats each fault five times.
 */
const { SEED = '1', ROUNDS = '1', LOAD = '150' } = process.env

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

function upTo(end: number): number[] {
  return Array.from({ length: end }, (_, n) => n)
}

async function walk(): Promise<void> {
  const cluster = await startPatroni()
  await migrate(cluster.url)
  const gaps: { fault: string; gap_ms: number }[] = []
  let feed: Feed | undefined
  const inject = (fault: Fault) => async (scene: Scene) => {
    console.log(`${fault.name} …`)
    feed ??= followFeed(scene.servers[1]!.url, scene.shops)
    const heal = await strike(cluster, fault, scene.caller)
    return async () => {
      const gap_ms = await heal()
      gaps.push({ fault: fault.name, gap_ms })
      await feed!.caughtUp()
      return gap_ms
    }
  }
  const faults = FAULTS.map((fault) => ({
    ...ORDINARY,
    name: fault.name,
    title: fault.name,
    times: Number(ROUNDS),
    answers: Number(LOAD),
    inject: inject(fault),
  }))
  const plan: Plan = {
    seed: Number(SEED),
    strokes: upTo(FAULTS.length * Number(ROUNDS)).map((number) => ({
      fault: faults[number % faults.length]!,
      number,
    })),
    answers: null,
    companies: 12,
    sellers: upTo(12),
    treasurers: upTo(4),
    operations: [...OPERATIONS],
    servers: 2,
    workers: 1,
    databaseUrl: cluster.url,
  }
  /** The ids of the events of each company, in their order. */
  const written = new Map<string, string[]>()
  const outcome = await run(plan, async (aftermath) => {
    await feed!.stop()
    const rows = await read<{ company: string; id: Uuid }>(
      aftermath.app,
      'select company_id as company, id from events order by company_id, position, id',
    )
    for (const { company, id } of rows) {
      written.set(company, [...(written.get(company) ?? []), toPublic('evt', id)])
    }
    return findDifferences(aftermath)
  })

  test('the service goes on after each fault', (t) => {
    for (const { name } of FAULTS) {
      const own = gaps.flatMap(({ fault, gap_ms }) => (fault === name ? Math.round(gap_ms) : []))
      t.diagnostic(
        `${name}: ${own.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s without a write`,
      )
    }
    t.diagnostic(JSON.stringify({ ...outcome.tally, arrived: outcome.arrived }))
    assert.equal(gaps.length, plan.strokes.length)
  })

  test('whoever follows the feed on another server has got every event once, in order', () => {
    for (const [company, ids] of feed!.seen) {
      assert.deepEqual(ids, (written.get(company) ?? []).slice(0, ids.length))
    }
    assert.ok([...feed!.seen.values()].flat().length > 0)
  })

  test('nothing is lost, doubled or leaked, every event is delivered, and the audit is clean', () => {
    assert.deepEqual(outcome.findings, { lost: [], doubled: [], leaked: [], wrong: [] })
  })

  test('a former primary that has written what nobody got is rewound, and follows', () => {
    assert.match(cluster.log(), /running pg_rewind/)
  })

  test('a database that is made for a restore lets the service in, which owns it', async () => {
    const url = await cluster.makeDatabase('restored')
    await migrate(url)
  })

  test('haproxy leads to the primary', async () => {
    const db = openDatabase(cluster.proxyUrl, 1)
    assert.equal((await db.query({ text: 'select from events limit 1' })).length, 1)
    await db.end()
  })
}

/** Puts it in. Its heal resolves with the longest time in which no write succeeded. */
async function strike(cluster: PatroniCluster, fault: Fault, caller: Caller): Promise<Heal> {
  const former = await cluster.whole()
  const writes = watchWrites(caller)
  await fault.act(cluster, former)
  return async () => {
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
