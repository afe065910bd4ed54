import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payer, type Reply, startApi } from '../../support/api.ts'
import { stopTime } from '../../support/stopped-time.ts'
import { until } from '../../support/until.ts'

const api = await startApi({ RATE_LIMIT: '5', RATE_LIMIT_BURST: '5' })
const charge = { amount: 1990, customer: payer() }

/** Requests that are sent together. */
const burst = (count: number, ask: () => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: count }, ask))

test('a key that asks too fast gets the time to go on, and nothing is stored for it', async (t) => {
  const time = stopTime(t)
  const client = await api.client()
  const replies = await burst(30, () => client.post('/charge/pix', charge))
  const made = replies.filter(({ status }) => status === 201)
  const refused = replies.filter(({ status }) => status === 429)
  assert.deepEqual([made.length, refused.length], [5, 25])
  for (const { headers, body } of refused) {
    assert.equal(body.errors[0].code, 'rate_limited')
    assert.match(headers.get('retry-after')!, /^[1-9]\d*$/)
    assert.match(headers.get('x-request-id')!, /^[0-9a-z]{26}$/)
    assert.equal(headers.get('x-api-version'), '2026-08-16')
  }
  const rows = await api.rows('select id from charges where company_id = $1', [client.company.id])
  assert.equal(rows.length, made.length)
  time.advance(Number(refused[0]!.headers.get('retry-after')))
  assert.equal((await client.post('/charge/pix', charge)).status, 201)
})

test('a refusal takes the shape of the pinned version', async (t) => {
  stopTime(t)
  const client = await api.client({}, { apiVersion: '2025-01-01' })
  const replies = await burst(6, () => client.get('/client'))
  const refused = replies.find(({ status }) => status === 429)!
  assert.deepEqual(Object.keys(refused.body), ['statusCode', 'message', 'error'])
  assert.deepEqual([refused.body.statusCode, refused.body.error], [429, 'rate_limited'])
})

test('a refusal is not kept under its Idempotency-Key', async (t) => {
  const time = stopTime(t)
  const client = await api.client()
  const post = (key: number) =>
    client.post('/charge/pix', charge, { headers: { 'Idempotency-Key': `k${key}` } })
  let next = 0
  const replies = await burst(6, () => post(next++))
  const refused = replies.findIndex(({ status }) => status === 429)
  assert.ok(refused >= 0)
  time.advance(1)
  const reply = await post(refused)
  assert.equal(reply.status, 201)
  assert.equal(reply.headers.get('idempotent-replayed'), null)
})

test('a key over its limit does not slow another key down', async (t) => {
  stopTime(t)
  const [limited, other] = [await api.client(), await api.client()]
  await burst(6, () => limited.get('/client'))
  assert.equal((await limited.get('/client')).status, 429)
  assert.equal((await other.get('/client')).status, 200)
})

test('guessing keys from one address is stopped, and a key in use from there still works', async (t) => {
  stopTime(t)
  const client = await api.client()
  assert.equal((await client.get('/client')).status, 200)
  const guess = () => api.call('GET', '/client', { headers: { 'X-API-KEY': 'vk_sandbox_x' } })
  const statuses = new Map<number, number>()
  let retryAfter: string | null = null
  for (let round = 0; round < 4; round++) {
    for (const { status, headers } of await burst(80, guess)) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 429) retryAfter = headers.get('retry-after')
    }
  }
  assert.deepEqual([...statuses.keys()].sort(), [401, 429])
  assert.ok(statuses.get(401)! >= 200, 'a mistake in a script is forgiven')
  assert.match(retryAfter!, /^[1-9]\d*$/)
  assert.equal((await client.get('/client')).status, 200)
})

test('guesses from all addresses of one IPv6 network are counted together', async (t) => {
  stopTime(t)
  const behind = await startApi({ RATE_LIMIT: '5', TRUSTED_PROXIES: '127.0.0.1' })
  const guess = async (address: string) => {
    const headers = { 'X-API-KEY': 'vk_sandbox_x', 'X-Forwarded-For': address }
    return (await behind.call('GET', '/client', { headers })).status
  }
  const own = Array.from({ length: 200 }, (_, i) => `2001:db8:1:2:${i.toString(16)}::1`)
  assert.deepEqual([...new Set(await Promise.all(own.map(guess)))], [401])
  assert.equal(await guess('2001:db8:1:2:ffff::'), 429, 'an address of the same network')
  assert.equal(await guess('2001:db8:1:3::1'), 401, 'another network')
  assert.equal(await guess('192.0.2.1'), 401, 'an IPv4 address')
})

test('an address is the same with and without the port that a proxy adds', async (t) => {
  stopTime(t)
  // The proxy before this one is trusted too, and has written its own port.
  const behind = await startApi({ RATE_LIMIT: '5', TRUSTED_PROXIES: '127.0.0.1,192.0.2.9' })
  const guess = async (address: string) => {
    const headers = { 'X-API-KEY': 'vk_sandbox_x', 'X-Forwarded-For': `${address}, 192.0.2.9:40` }
    return (await behind.service.server.inject({ url: '/client', headers })).statusCode
  }
  const own = Array.from({ length: 200 }, (_, i) => `192.0.2.1:${1000 + i}`)
  assert.deepEqual([...new Set(await Promise.all(own.map(guess)))], [401])
  assert.equal(await guess('192.0.2.1'), 429)
  assert.equal(await guess('192.0.2.1:7'), 429)
  assert.equal(await guess('192.0.2.2:7'), 401, 'another address')
  const six = Array.from({ length: 200 }, (_, i) => `[2001:db8::${i.toString(16)}]:443`)
  assert.deepEqual([...new Set(await Promise.all(six.map(guess)))], [401])
  assert.equal(await guess('2001:db8::1'), 429)
})

const tallied = (replies: { status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('of wrong keys that are sent together no more are tried than one after another', async (t) => {
  stopTime(t)
  const behind = await startApi({ RATE_LIMIT: '5', TRUSTED_PROXIES: '127.0.0.1' })
  const guess = async (_: unknown, n: number) => {
    const headers = { 'X-API-KEY': `vk_sandbox_${n}`, 'X-Forwarded-For': '192.0.2.1' }
    const reply = await behind.service.server.inject({ url: '/client', headers })
    return { status: reply.statusCode }
  }
  const replies = await Promise.all(Array.from({ length: 600 }, guess))
  assert.deepEqual(tallied(replies), { 401: 200, 429: 400 })
})

test('a good key takes nothing from its address, and many first uses of one pass together', async (t) => {
  stopTime(t)
  const roomy = await startApi({ RATE_LIMIT: '1000', RATE_LIMIT_BURST: '1000' })
  const client = await roomy.client()
  assert.deepEqual(tallied(await burst(250, () => client.get('/client'))), { 200: 250 })
  const guess = () => roomy.call('GET', '/client', { headers: { 'X-API-KEY': 'vk_sandbox_x' } })
  assert.deepEqual(tallied(await burst(250, guess)), { 401: 200, 429: 50 })
})

test('a batch takes from the rate of its key for each charge, and waits where a request is refused', async (t) => {
  const time = stopTime(t)
  const client = await api.client()
  const charges = Array.from({ length: 7 }, () => charge)
  let isOver = false
  const batch = client.post('/charge/batch', { charges }).finally(() => {
    isOver = true
  })
  const count = async () =>
    (await api.rows('select id from charges where company_id = $1', [client.company.id])).length
  await until('five are made', async () => (await count()) === 5)
  assert.equal(isOver, false)
  assert.equal((await client.get('/client')).status, 429, 'the key has no tokens left')
  time.advance(1)
  const reply = await batch
  assert.deepEqual([reply.status, reply.body.data.accepted], [200, 7])
  assert.equal(await count(), 7)
})
