import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payer, type Reply, startApi } from '../support/api.ts'

const api = await startApi({ RATE_LIMIT: '5', RATE_LIMIT_BURST: '5' })
const charge = { amount: 1990, customer: payer() }

/** Requests sent together, and how many a full bucket may let through in the time they took. */
async function burst(count: number, ask: () => Promise<Reply>) {
  const start = performance.now()
  const replies = await Promise.all(Array.from({ length: count }, ask))
  const most = 5 + Math.ceil(((performance.now() - start) / 1000) * 5)
  return { replies, most }
}

test('a key that asks too fast is told when to go on, and nothing is stored for it', async () => {
  const client = await api.client()
  const { replies, most } = await burst(30, () => client.post('/charge/pix', charge))
  const made = replies.filter(({ status }) => status === 201)
  const refused = replies.filter(({ status }) => status === 429)
  assert.equal(made.length + refused.length, 30)
  assert.ok(made.length >= 5 && made.length <= most, `${made.length} of at most ${most}`)
  assert.ok(refused.length > 0)
  for (const { headers, body } of refused) {
    assert.equal(body.errors[0].code, 'rate_limited')
    assert.match(headers.get('retry-after')!, /^[1-9]\d*$/)
    assert.match(headers.get('x-request-id')!, /^[0-9a-z]{26}$/)
    assert.equal(headers.get('x-api-version'), '2026-08-16')
  }
  const rows = await api.rows('select id from charges where company_id = $1', [client.company.id])
  assert.equal(rows.length, made.length)
})

test('a refusal takes the shape of the pinned version', async () => {
  const client = await api.client({}, { apiVersion: '2025-01-01' })
  const { replies } = await burst(30, () => client.get('/client'))
  const refused = replies.find(({ status }) => status === 429)!
  assert.deepEqual(Object.keys(refused.body), ['statusCode', 'message', 'error'])
  assert.deepEqual([refused.body.statusCode, refused.body.error], [429, 'rate_limited'])
})

test('a refusal is not kept under its Idempotency-Key', async () => {
  const client = await api.client()
  const post = (key: number) =>
    client.post('/charge/pix', charge, { headers: { 'Idempotency-Key': `k${key}` } })
  let next = 0
  const { replies } = await burst(30, () => post(next++))
  const refused = replies.findIndex(({ status }) => status === 429)
  assert.ok(refused >= 0)
  const deadline = performance.now() + 5_000
  let reply = await post(refused)
  while (reply.status === 429 && performance.now() < deadline) reply = await post(refused)
  assert.equal(reply.status, 201)
  assert.equal(reply.headers.get('idempotent-replayed'), null)
})

test('one key’s haste does not slow another key down', async () => {
  const [hasty, calm] = [await api.client(), await api.client()]
  await burst(30, () => hasty.get('/client'))
  assert.equal((await calm.get('/client')).status, 200)
})

test('guessing keys from one address is stopped, and a key in use from there still works', async () => {
  const client = await api.client()
  assert.equal((await client.get('/client')).status, 200)
  const guess = () => api.call('GET', '/client', { headers: { 'X-API-KEY': 'vk_sandbox_x' } })
  const statuses = new Map<number, number>()
  let retryAfter: string | null = null
  for (let round = 0; round < 4; round++) {
    const { replies } = await burst(80, guess)
    for (const { status, headers } of replies) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 429) retryAfter = headers.get('retry-after')
    }
  }
  assert.deepEqual([...statuses.keys()].sort(), [401, 429])
  assert.ok(statuses.get(401)! >= 200, 'a mistake in a script is forgiven')
  assert.match(retryAfter!, /^[1-9]\d*$/)
  assert.equal((await client.get('/client')).status, 200)
})
