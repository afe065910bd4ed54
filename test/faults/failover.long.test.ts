import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '../../src/db/migrate.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { startReplicas } from '../support/replicas.ts'
import { checkAftermath } from './aftermath.ts'
import { type Feed, followFeed } from './feed.ts'
import { killAgainAndAgain, type Plan, type Scene } from './kill.ts'
import { takenUpAgain } from './stored.ts'

/** Two promotions with every test run; `npm run test:faults` asks for more. */
const { SEED = '1', FAILOVERS = '2', LOAD = '150' } = process.env
const plan: Plan = {
  seed: Number(SEED),
  kills: Number(FAILOVERS),
  answersPerKill: Number(LOAD),
  companies: 12,
  sellers: 12,
  treasurers: 4,
}

const replicas = await startReplicas()
await migrate(replicas.url)

/** How long nothing was answered: after the primary was killed, and after the promotion. */
const gaps_ms: { sinceKill: number; sincePromotion: number }[] = []
let feed: Feed | undefined

async function failOver({ caller, shops, victim }: Scene): Promise<void> {
  feed ??= followFeed(victim.url, shops)
  const killed_ms = performance.now()
  await replicas.kill()
  await replicas.promote()
  const promoted_ms = performance.now()
  // The first answer to a write: what was only read may have been remembered.
  await caller.written()
  const now_ms = performance.now()
  gaps_ms.push({ sinceKill: now_ms - killed_ms, sincePromotion: now_ms - promoted_ms })
  await replicas.rejoin()
  await feed.caughtUp()
}

const aftermath = await killAgainAndAgain(plan, replicas.url, failOver)
await feed!.stop()
const { app, journal, caller } = aftermath

const percentile = (values: number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1]!

/** Of a commit that the primary was killed in, nobody knows the outcome: it is tried again. */
const AWAY = /"code":"service_unavailable"/

test('the service continues after each promotion, and the process stays the same', async (t) => {
  const since = (name: 'sinceKill' | 'sincePromotion') => {
    const values = gaps_ms.map((gap) => gap[name])
    return [0.5, 0.99].map((part) => Math.round(percentile(values, part)))
  }
  const report = {
    ...plan,
    seconds: Math.round(aftermath.seconds),
    requests: caller.tally,
    charges: journal.charges.length,
    payments: journal.payments.length,
    medianAndP99SinceKill_ms: since('sinceKill'),
    medianAndP99SincePromotion_ms: since('sincePromotion'),
    takenUpAgain: await takenUpAgain(app),
    complaints: aftermath.complaints.length,
  }
  t.diagnostic(JSON.stringify(report))
  assert.equal(gaps_ms.length, plan.kills)
  assert.deepEqual(
    aftermath.complaints.filter((text) => !AWAY.test(text)),
    [],
  )
  assert.equal(aftermath.exitCode, 0, 'it stops as it should')
})

test('whoever follows the feed has got every event once, in order', async () => {
  for (const [company, ids] of feed!.seen) {
    const rows = await app.db.query<{ id: string }>({
      text: 'select id from events where company_id = $1 order by position, id',
      values: [company],
    })
    const stored = rows.map(({ id }) => id)
    const got = ids.map((id) => fromPublic('evt', id))
    assert.deepEqual(got, stored.slice(0, got.length))
  }
  assert.ok([...feed!.seen.values()].flat().length > 0)
})

checkAftermath(aftermath)
