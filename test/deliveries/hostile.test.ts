import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as endOfTick } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Company } from '../../src/core/companies/rules.ts'
import type { FullApp } from '../../src/core/full-app.ts'
import { createSender } from '../../src/lib/http-sender.ts'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/process.ts'
import { type Answer, HOSTILE, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import {
  compare,
  deactivate,
  deactivateAndClear,
  delivering,
  pileUp,
  reactivate,
  startHealthy,
  startHostile,
} from './crowd.ts'
import { isLong, p99, patience } from './figures.ts'
import {
  atEnd,
  beginScene,
  commitEvents,
  endedOf,
  type Hook,
  makeCompany,
  openApp,
  openEngine,
  register,
  registerAll,
  waitingOf,
  withSenderLimits,
} from './scene.ts'

beginScene()

/**
 * The long version compares the slowest hundredth with and without hostile receivers, and it has to
 * stay within 1.2 times. The short one gives hostile receivers so much time that who waits for one
 * of them cannot be taken for who waits for a slow machine.
 */
const BACKLOG = isLong ? 100_000 : 4_000
const ROUNDS = 7
const EVENTS = isLong ? 250 : 40
const DEADLINE_MS = isLong ? 1_500 : 30_000
/** How receivers are dead: those that hang can be distinguished from a slow machine. */
const DEAD = isLong ? (['hang', 'error'] as const) : (['hang'] as const)
/** Hostile receivers that never come to an end: they hang, drip, and drip their head. */
const SILENT = 3
/** What fails at once is left alone after ten failures, which a few events bring about. */
const ONSET = 10

const app = openApp(await cloneDatabase())

test('every kind of hostile receiver is handled as decided, all of them at once', async () => {
  const engine = openEngine(withSenderLimits(app, { deadline_ms: 4_000 }))
  const company = await makeCompany(app)
  const OUT_OF_TIME = /^no answer within 4 s$/
  const expected: Record<string, [status: number | null, error: RegExp | null]> = {
    hang: [null, OUT_OF_TIME],
    drip: [200, OUT_OF_TIME],
    dripHead: [null, OUT_OF_TIME],
    reset: [null, /^connection (reset|closed)$/],
    redirect: [307, /^redirects are not followed$/],
    flood: [200, null],
    error: [500, null],
    late: [200, null],
    fine: [200, null],
    refused: [null, /^connection refused$/],
  }
  const answers: Record<string, Answer> = {
    ...HOSTILE,
    late: (response) => setTimeout(() => response.writeHead(200).end('at last'), 500),
    fine: (response) => response.writeHead(200).end(),
  }
  const receivers = new Map<string, Awaited<ReturnType<typeof startReceiver>>>()
  for (const [name, answer] of Object.entries(answers)) {
    const receiver = await startReceiver()
    receivers.set(name, Object.assign(receiver, { answer }))
  }
  const nobody = `http://127.0.0.1:${await freePort()}/`
  const urls = Object.keys(expected).map((name) => receivers.get(name)?.url ?? nobody)
  const hooks = await registerAll(app, company, urls)
  await commitEvents(app, company.id)
  await engine.run()
  for (const [n, [name, [status, error]]] of Object.entries(expected).entries()) {
    const isSuccess = status === 200 && error === null
    const [delivery] = isSuccess ? await endedOf(app, hooks[n]!) : await waitingOf(app, hooks[n]!)
    const [attempt = assert.fail(`${name} has no attempt`)] = delivery!.attempts
    assert.equal(attempt.status, status, name)
    if (error) assert.match(attempt.error ?? '', error, name)
    else assert.equal(attempt.error, null, name)
    assert.ok(attempt.response.length <= 1024, name)
    assert.ok((receivers.get(name)?.received.length ?? 1) === 1, `${name} was called once`)
  }
})

/** Counts the open requests, so that a measurement begins after those of the last one. */
function watched(app: FullApp, limits: { deadline_ms: number }) {
  const real = createSender({ guarded: false, limits })
  atEnd(() => real.close())
  const openRequests = { now: 0, most: 0 }
  const sender: FullApp['sender'] = {
    ...real,
    post(...request) {
      openRequests.now += 1
      openRequests.most = Math.max(openRequests.most, openRequests.now)
      return real.post(...request).finally(() => {
        openRequests.now -= 1
      })
    },
  }
  const allAnswered = () => until('all are answered', () => openRequests.now === 0)
  return { app: { ...app, sender }, openRequests, allAnswered }
}

/** The latencies of healthy receivers, without hostile ones and beside them. */
type Measured = { withoutHostile(): Promise<number[]>; withHostile(): Promise<number[]> }

async function assertLatency(
  t: TestContext,
  { withoutHostile, withHostile }: Measured,
): Promise<void> {
  if (!isLong) {
    const latencies_ms = await withHostile()
    const most_ms = Math.max(...latencies_ms)
    t.diagnostic(
      `p99 ${p99(latencies_ms).toFixed(1)} ms beside them, ${most_ms.toFixed(1)} at most`,
    )
    assert.ok(most_ms < DEADLINE_MS, 'somebody has waited until a hostile receiver was given up')
    return
  }
  const { calm_ms, hostile_ms, ratio } = await compare(ROUNDS, withoutHostile, withHostile)
  t.diagnostic(
    `p99 ${hostile_ms.toFixed(1)} ms beside them, ${calm_ms.toFixed(1)} ms without, ` +
      `ratio ${ratio.toFixed(2)}`,
  )
  assert.ok(ratio <= 1.2, `${hostile_ms} ms is more than 1.2 times ${calm_ms} ms`)
}

test(
  'if half of the receivers are hostile, the others are not slower, and memory stays bounded',
  patience,
  async (t) => {
    const { app: own, openRequests, allAnswered } = watched(app, { deadline_ms: DEADLINE_MS })
    const company = await makeCompany(own)
    const { urls, end } = await startHostile()
    const hostile = await registerAll(own, company, Object.values(urls))
    const healthy = await startHealthy(own, company, hostile.length)
    await delivering(own, async () => {
      const withoutHostile = async () => {
        await deactivateAndClear(own, hostile)
        await allAnswered()
        return healthy.measure(EVENTS)
      }
      const withHostile = async () => {
        await reactivate(own, hostile)
        await healthy.measure(ONSET)
        return healthy.measure(EVENTS)
      }
      await withHostile()
      const before_mb = await heapUsed_mb()
      await assertLatency(t, { withoutHostile, withHostile })
      assert.ok(openRequests.most >= SILENT, 'those that never come to an end were called')
      await deactivate(own, hostile)
      end()
      await allAnswered()
      const growth_mb = (await heapUsed_mb()) - before_mb
      t.diagnostic(`the heap has grown by ${growth_mb.toFixed(1)} MB`)
      assert.ok(growth_mb < 16, `${growth_mb} MB`)
    })
  },
)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is still used when all that can be given back is; buffers take a few ticks longer. */
async function heapUsed_mb(): Promise<number> {
  const used_mb: number[] = []
  for (let ticks = 0; ticks < 10; ticks++) {
    collect()
    await endOfTick()
    const { heapUsed, external } = process.memoryUsage()
    used_mb.push((heapUsed + external) / 1024 ** 2)
  }
  return Math.min(...used_mb)
}

for (const kind of DEAD) {
  test(
    `a dead receiver (${kind}) with ${BACKLOG} deliveries waiting does not slow the others`,
    patience,
    async (t) => {
      const { app: own, allAnswered } = watched(app, { deadline_ms: DEADLINE_MS })
      const company = await makeCompany(own)
      const { urls, end } = await startHostile()
      const healthy = await startHealthy(own, company, 5)
      const dead = await register(own, company, urls[kind])
      await pileUp(own, dead, BACKLOG)
      await delivering(own, async () => {
        const withoutHostile = async () => {
          await deactivate(own, [dead])
          await allAnswered()
          return healthy.measure(EVENTS)
        }
        const withHostile = async () => {
          await reactivate(own, [dead])
          await healthy.measure(ONSET)
          return healthy.measure(EVENTS)
        }
        await assertLatency(t, { withoutHostile, withHostile })
        await deactivateAndClear(own, [dead])
        end()
      })
    },
  )
}

/** More than may be on their way at once to receivers that fail. */
const CROWD = isLong ? 1000 : 600
const COMPANIES = 10
const EVENTS_EACH = 3
/** Long enough to see whether a healthy receiver had to wait for one that hangs. */
const LONG_DEADLINE_MS = isLong ? 6_000 : 30_000

/** Companies with receivers of which every second one is dead. */
async function gather(own: FullApp, deadUrl: string) {
  const receiver = await startReceiver()
  const companies: Company[] = []
  const dead: Hook[] = []
  for (let n = 0; n < COMPANIES; n++) {
    const company = await makeCompany(own)
    const urls = Array.from({ length: CROWD / COMPANIES }, (_, i) =>
      i % 2 ? `${receiver.url}/${n}-${i}` : deadUrl,
    )
    const hooks = await registerAll(own, company, urls)
    dead.push(...hooks.filter((_, i) => i % 2 === 0))
    companies.push(company)
  }
  return { companies, dead, received: receiver.received }
}

for (const kind of DEAD) {
  test(
    `of ${CROWD} receivers half are dead (${kind}): no other waits for them, from the first delivery on`,
    patience,
    async (t) => {
      const own = withSenderLimits(app, { deadline_ms: LONG_DEADLINE_MS })
      const { urls, end } = await startHostile()
      const { companies, dead, received } = await gather(own, urls[kind])
      const measure = async (then = () => {}) => {
        received.length = 0
        for (const { id } of companies) await commitEvents(own, id, EVENTS_EACH)
        const began_ms = performance.now()
        return delivering(own, async () => {
          const all = (CROWD / 2) * EVENTS_EACH
          await until('all healthy receivers have all', () => received.length >= all)
          then()
          return Math.max(...received.map(({ at_ms }) => at_ms)) - began_ms
        })
      }
      if (isLong) {
        await deactivateAndClear(own, dead)
        t.diagnostic(`${(await measure()).toFixed(0)} ms without the dead`)
        await reactivate(own, dead)
      }
      const took_ms = await measure(end)
      await deactivateAndClear(own, dead)
      t.diagnostic(`${took_ms.toFixed(0)} ms beside the dead`)
      assert.ok(took_ms < LONG_DEADLINE_MS - 1000, `${took_ms} ms`)
    },
  )
}
