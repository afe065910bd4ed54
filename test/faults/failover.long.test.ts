import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '../../src/db/migrate.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { startReplicas } from '../support/replicas.ts'
import { findDifferences } from './check.ts'
import { type Plan, run } from './driver.ts'
import { type Fault, ORDINARY } from './faults.ts'
import { type Feed, followFeed } from './feed.ts'
import { OPERATIONS } from './journal.ts'
import type { Scene } from './scene.ts'
import { read } from './stored.ts'
import { partOf } from './table.ts'

/** Two promotions; `npm run test:faults` asks for more. */
const { SEED = '1', FAILOVERS = '2', LOAD = '150' } = process.env

const replicas = await startReplicas()
await migrate(replicas.url)

/** How long nothing was answered: after the primary was killed, and after the promotion. */
const gaps_ms: { sinceKill: number; sincePromotion: number }[] = []
let feed: Feed | undefined

async function failOver({ caller, shops, servers }: Scene): Promise<() => Promise<number>> {
  feed ??= followFeed(servers[0]!.url, shops)
  const killed_ms = performance.now()
  await replicas.kill()
  return async () => {
    await replicas.promote()
    const promoted_ms = performance.now()
    // The first answer to a write: what was only read may have been remembered.
    await caller.written()
    const now_ms = performance.now()
    gaps_ms.push({ sinceKill: now_ms - killed_ms, sincePromotion: now_ms - promoted_ms })
    await replicas.rejoin()
    await feed!.caughtUp()
    return now_ms - promoted_ms
  }
}

const failover: Fault = {
  ...ORDINARY,
  name: 'failover',
  title: 'loss of the primary, and promotion',
  times: Number(FAILOVERS),
  answers: Number(LOAD),
  inject: failOver,
}
const plan: Plan = {
  seed: Number(SEED),
  strokes: Array.from({ length: failover.times }, (_, number) => ({ fault: failover, number })),
  answers: null,
  companies: 12,
  sellers: Array.from({ length: 12 }, (_, n) => n),
  treasurers: [0, 1, 2, 3],
  operations: [...OPERATIONS],
  servers: 1,
  workers: 1,
  databaseUrl: replicas.url,
}
/** The ids of the events of each company, in their order. */
const written = new Map<string, string[]>()

const outcome = await run(plan, async (aftermath) => {
  await feed!.stop()
  const rows = await read<{ company: string; id: string }>(
    aftermath.app,
    'select company_id as company, id from events order by company_id, position, id',
  )
  for (const { company, id } of rows) written.set(company, [...(written.get(company) ?? []), id])
  return findDifferences(aftermath)
})

/** Of a commit that the primary was killed in, nobody knows the outcome: it is tried again. */
const AWAY = /"code":"service_unavailable"/

test('the service continues after each promotion, and the process stays the same', async (t) => {
  const since = (name: 'sinceKill' | 'sincePromotion') =>
    [0.5, 0.99].map((part) =>
      Math.round(
        partOf(
          gaps_ms.map((gap) => gap[name]),
          part,
        ),
      ),
    )
  const report = {
    seed: plan.seed,
    failovers: outcome.begun,
    seconds: Math.round(outcome.seconds),
    requests: outcome.tally,
    medianAndP99SinceKill_ms: since('sinceKill'),
    medianAndP99SincePromotion_ms: since('sincePromotion'),
    complaints: outcome.complaints.length,
  }
  t.diagnostic(JSON.stringify(report))
  assert.equal(gaps_ms.length, plan.strokes.length)
  assert.deepEqual(
    outcome.complaints.filter((text) => !AWAY.test(text)),
    [],
  )
})

test('whoever follows the feed has got every event once, in order', async () => {
  for (const [company, ids] of feed!.seen) {
    const got = ids.map((id) => fromPublic('evt', id))
    assert.deepEqual(got, (written.get(company) ?? []).slice(0, got.length))
  }
  assert.ok([...feed!.seen.values()].flat().length > 0)
})

test('nothing is lost, doubled or leaked, and the audit is clean', () => {
  assert.deepEqual(outcome.findings, { lost: [], doubled: [], leaked: [], wrong: [] })
})
