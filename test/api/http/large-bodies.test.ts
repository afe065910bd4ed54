import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '../../../src/core/companies/commands.ts'
import { LARGE_BODIES, paceOf } from '../../../src/http/admission.ts'
import { newId } from '../../../src/lib/ids.ts'
import { payer, type Reply, startApi } from '../../support/api.ts'
import { stopTime } from '../../support/stopped-time.ts'
import { until } from '../../support/until.ts'

const api = await startApi({ RATE_LIMIT: '5', RATE_LIMIT_BURST: '20', COMPANY_REQUESTS: '2' })

test('a company has one batch under way; a few more wait, without a slot of its other requests', async (t) => {
  const time = stopTime(t)
  const client = await api.client()
  const { text: key } = await api.app.db.transaction((tx) =>
    createKey(tx, api.app.vault, client.company, { name: 'other' }, api.clock.now()),
  )
  const other = { headers: { 'X-API-KEY': key } }
  const charge = { amount: 1990, customer: payer() }
  const count = async () =>
    (await api.rows('select id from charges where company_id = $1', [client.company.id])).length

  const first = client.post('/charge/batch', { charges: Array(30).fill(charge) })
  await until('it waits for the rate of its key', async () => (await count()) === 20)
  const { perOwner, waiting } = LARGE_BODIES
  assert.equal(perOwner, 1)
  const refused: Reply[] = []
  const more = Array.from({ length: waiting + 1 }, async () => {
    const reply = await client.post('/charge/batch', { charges: [charge] }, other)
    if (reply.status === 429) refused.push(reply)
    return reply.status
  })
  await until('too many wait', () => refused.length > 0)
  const { status } = await client.get('/client', other)
  assert.equal(status, 200, 'what is no batch does not wait')

  await until('all are made', async () => {
    time.advance(1)
    return (await count()) === 30 + waiting
  })
  assert.deepEqual((await Promise.all(more)).sort(), [...Array(waiting).fill(200), 429])
  assert.equal((await first).body.data.accepted, 30)
})

test('of a batch one charge at a time asks whether the rate of its key allows it', async () => {
  let asked = 0
  const rate = { take: () => (++asked % 3 === 0 ? 0 : 0.001), giveBack: () => {} }
  const pace = paceOf(rate, newId())
  await Promise.all(Array.from({ length: 64 }, pace))
  assert.equal(asked, 64 * 3)
})
