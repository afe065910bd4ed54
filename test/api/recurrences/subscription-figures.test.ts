import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readSubscriptionFigures } from '../../../src/core/figures/figures.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { requireFigures } from '../../support/figures.ts'
import { isLong } from '../../support/long.ts'
import { productOf } from '../../support/pages.ts'
import { decide, makeSubscription, RECURRENCES } from '../../support/subscriptions.ts'
import { runTasks } from '../../support/tasks.ts'

const RUNS = isLong ? 20 : 2
const STEPS = 8

const api = await startApi()

/** A subscription, as a test knows it that has done everything to it. */
type Known = {
  id: string
  emv: string
  value: number
  inAYear: number
  madeAt: Date
  approved: boolean
  endedAt: Date | null
}
type World = { client: Client; known: Known[]; products: string[] }
type Act = (world: World, which: number) => Promise<unknown>

const FREQUENCIES = [
  ['WEEKLY', 52],
  ['MONTHLY', 12],
  ['SEMIANNUAL', 2],
  ['ANNUAL', 1],
] as const
const at = <T>(list: readonly T[], which: number): T | undefined => list[which % list.length]
const active = ({ known }: World) => known.filter((one) => one.approved && !one.endedAt)
const end = (one: Known) => {
  one.endedAt = api.clock.now()
}

const ACTS: Record<string, Act> = {
  async subscribe({ client, known }, which) {
    const [frequency, inAYear] = at(FREQUENCIES, which)!
    // A twelfth of a cent, and halves of a cent, count.
    const value = 501 + which * 7
    const { id, emv } = await makeSubscription(client, { frequency, price: value })
    const decision = which % 5 === 4 ? 'reject' : 'approve'
    if (which % 7 !== 6) await decide(api, emv, decision, which % 3 !== 0)
    const approved = which % 7 !== 6 && decision === 'approve'
    known.push({ id, emv, value, inAYear, madeAt: api.clock.now(), approved, endedAt: null })
  },
  async cancel(world, which) {
    const one = at(active(world), which)
    if (!one) return
    const reply = await world.client.post(`${RECURRENCES}/${one.id}/cancel`)
    assert.equal(reply.status, 200, reply.text)
    end(one)
  },
  async leave(world, which) {
    const one = at(active(world), which)
    if (!one) return
    await decide(api, one.emv, 'cancel')
    await runTasks(api)
    end(one)
  },
  async sell({ client, products }, which) {
    products.push(await productOf(client, { name: `Pão ${which}`, price: 300 + which }))
    const items = products.map((productId, i) => ({ productId, quantity: 1 + ((which + i) % 3) }))
    const body = { customer: payer(), items: items.slice(-3), total: 900, devMode: true }
    const { id } = (await client.post('/charge/payment-link', body)).body.data
    assert.equal((await client.post(`/charge/${id}/simulate-payment`)).status, 200)
  },
  async minutes(_, which) {
    api.clock.advance(60 * (7 + which))
  },
  async days(_, which) {
    for (let n = 0; n <= which % 4; n += 1) {
      api.clock.advance(24 * 3600 + 600)
      await runTasks(api)
    }
  },
  async month() {
    api.clock.advance(33 * 24 * 3600)
    await runTasks(api)
  },
}
const WEIGHED = ['subscribe', 'subscribe', 'sell', 'minutes', 'days', 'days', ...Object.keys(ACTS)]
const STEP = fc.record({ act: fc.constantFrom(...WEIGHED), which: fc.nat(41) })

/** The figures are those of all that the test has done. */
async function requireKnown({ client, known }: World, since: Date): Promise<void> {
  const now = api.clock.now()
  const period = { from: since, to: new Date(now.getTime() + 1) }
  const { overdue: _, ...figures } = await readSubscriptionFigures(api.app, client.company, period)
  const running = known.filter((one) => one.approved && !one.endedAt)
  const yearly = running.reduce((sum, { value, inAYear }) => sum + value * inAYear, 0)
  assert.deepEqual(figures, {
    mrr: Math.round(yearly / 12),
    active: running.length,
    started: known.filter((one) => one.approved && one.madeAt >= since).length,
    canceled: known.filter(({ endedAt }) => endedAt && endedAt >= since).length,
  })
}

test('figures of subscriptions and products are those of everything that was done', async () => {
  const steps = fc.array(STEP, { minLength: STEPS, maxLength: STEPS })
  let overdue = 0
  await fc.assert(
    fc.asyncProperty(steps, async (acts) => {
      const world: World = { client: await api.client(), known: [], products: [] }
      for (const which of [0, 1, 2, 3]) {
        await ACTS.subscribe!(world, which)
        await ACTS.sell!(world, which)
        await ACTS.minutes!(world, 3)
      }
      await ACTS.month!(world, 0)
      const since = api.clock.now()
      for (const { act, which } of acts) await ACTS[act]!(world, which)
      await ACTS.cancel!(world, 0)
      // The bank debits, or tries in vain.
      await ACTS.subscribe!(world, 3)
      for (let n = 0; n < 3; n += 1) await ACTS.days!(world, 3)
      await requireKnown(world, since)
      await requireFigures(api, world.client)
      const period = { from: since, to: api.clock.now() }
      overdue += (await readSubscriptionFigures(api.app, world.client.company, period)).overdue
    }),
    { numRuns: RUNS, seed: 35, endOnFailure: true },
  )
  assert.ok(overdue > 0, 'some subscription was overdue')
})
