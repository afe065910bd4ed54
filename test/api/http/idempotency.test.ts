import assert from 'node:assert/strict'
import { test } from 'node:test'
import { purgeStored } from '../../../src/core/idempotency.ts'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { removeOld } from '../../../src/worker/retention.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { isLong, variants } from '../../support/long.ts'
import { makePaid } from '../../support/payments.ts'
import { liveWithMoney } from '../../support/withdrawals.ts'
import { dump, stored } from '../storage.ts'
import { WRITES, type Write } from '../writes.ts'

// Nobody plays clocks here, so nobody waits for that.
const api = await startApi({ CLOCK_WAIT_SECONDS: '0' })
const DAY_S = 24 * 3600
/** When clocks of tests begin. */
const REAL = api.clock.now()
const AT_ONCE = isLong ? 20 : 5

const withKey = (key: string, more: Record<string, string> = {}) => ({
  headers: { 'Idempotency-Key': key, ...more },
})
const replayed = ({ headers }: Reply) => headers.get('idempotent-replayed')
const code = ({ body }: Reply) => body.errors[0]?.code

function assertSame(again: Reply, first: Reply, what = ''): void {
  assert.equal(again.status, first.status, `${what}: ${again.text}`)
  assert.equal(again.text, first.text, what)
  assert.equal(again.headers.get('content-type'), first.headers.get('content-type'))
  assert.equal(again.headers.get('x-api-version'), first.headers.get('x-api-version'))
  assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'))
}

test('every kind of write is tried here', () => {
  const writes = ROUTES.filter(({ method }) => method !== 'GET').map((route) => route.operationId)
  assert.deepEqual(Object.keys(WRITES).sort(), writes.sort())
})

type Sent = Pick<Write, 'method' | 'path'> & { body: Write['other'] }
const send = (client: Client, { method, path, body }: Sent) =>
  client.call(method, path, { json: body, ...withKey('k') })

for (const [operationId, prepare] of Object.entries(WRITES)) {
  test(`${operationId}: the same request with the same key has one effect and one answer`, async () => {
    const client = await api.client()
    const { other, ...write } = await prepare(client, api)
    const first = await send(client, write)
    assert.ok(first.status === 200 || first.status === 201, first.text)
    assert.equal(replayed(first), null)
    const after = await stored(api)
    for (const repeat of [1, 2]) {
      const again = await send(client, write)
      assertSame(again, first, `repeat ${repeat}`)
      assert.equal(replayed(again), 'true')
    }
    const changed = await send(client, { ...write, body: other })
    assert.deepEqual([changed.status, code(changed)], [422, 'idempotency_key_reused'])
    assert.equal(replayed(changed), null)
    assert.deepEqual(await stored(api), after)
  })
}

for (const [operationId, prepare] of variants(Object.entries(WRITES))) {
  // idempotency-processes.test.ts tries this with all of them, on two servers.
  test(`${operationId}: ${AT_ONCE} at once with one key have one effect and one answer`, async () => {
    const client = await api.client()
    const write = await prepare(client, api)
    const before = await stored(api)
    const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => send(client, write)))
    assert.deepEqual([...new Set(replies.map(({ text }) => text))].length, 1)
    assert.equal(replies.filter((reply) => replayed(reply) === 'true').length, AT_ONCE - 1)
    const grown = growth(before, await stored(api))
    const control = await api.client()
    const alone = await prepare(control, api)
    const start = await stored(api)
    await send(control, alone)
    assert.deepEqual(grown, growth(start, await stored(api)), 'as many rows as one request makes')
  })

  test(`${operationId}: in the older version the answer is repeated in its shape`, async () => {
    const client = await api.client({}, { apiVersion: '2025-01-01' })
    const write = await prepare(client, api)
    const first = await send(client, write)
    const again = await send(client, write)
    assert.equal(first.body.errors, undefined)
    assertSame(again, first)
    assert.equal(replayed(again), 'true')
  })

  test(`${operationId}: after a day the key is free again`, async () => {
    const client = await api.client()
    const { other, ...write } = await prepare(client, api)
    const first = await send(client, write)
    api.clock.advance(DAY_S - 1)
    assertSame(await send(client, write), first, 'a second before')
    api.clock.advance(1)
    const fresh = await send(client, { ...write, body: other })
    assert.notEqual(fresh.body.errors[0]?.code, 'idempotency_key_reused')
    assert.notEqual(fresh.body.errors[0]?.code, 'idempotency_in_progress', 'nothing is running')
    assert.equal(replayed(fresh), null)
    assertSame(await send(client, { ...write, body: other }), fresh, 'and it is kept anew')
  })
}

function growth(before: Awaited<ReturnType<typeof stored>>, after: typeof before) {
  return Object.fromEntries(
    Object.entries(after).map(([table, { count }]) => [table, count - before[table]!.count]),
  )
}

const charge = { amount: 1990, customer: payer() }

test('a key used on one path is refused on another', async () => {
  const client = await api.client()
  const made = await client.post('/charge/pix', charge, withKey('k'))
  const after = await stored(api)
  for (const path of [
    '/charge/payment-link',
    `/charge/${made.body.data.id}/cancel`,
    `/charge/duplicate/${made.body.data.id}`,
  ]) {
    const json = path.endsWith('link') ? { total: 1990, customer: payer() } : {}
    const reply = await client.post(path, json, withKey('k'))
    assert.deepEqual([reply.status, code(reply)], [422, 'idempotency_key_reused'], path)
  }
  assert.deepEqual(await stored(api), after)
})

test('a key used for a POST is refused for another method on the same path', async () => {
  const client = await api.client()
  const { body } = await client.post('/client', { ...payer(), status: 'ACTIVE' }, withKey('k'))
  const after = await stored(api)
  const reply = await client.put('/client', { id: body.data.id, name: 'Ana' }, withKey('k'))
  assert.deepEqual([reply.status, code(reply)], [422, 'idempotency_key_reused'])
  assert.deepEqual(await stored(api), after)
})

test('a key used in one version is refused in another, whose answer would differ', async () => {
  const client = await api.client()
  await client.post('/charge/pix', charge, withKey('k'))
  const reply = await client.post(
    '/charge/pix',
    charge,
    withKey('k', { 'X-Api-Version': '2025-01-01' }),
  )
  assert.equal(reply.status, 422)
  assert.equal(reply.body.error, 'idempotency_key_reused')
})

test('the order of names and the space between them do not make another request', async () => {
  const client = await api.client()
  const first = await client.post('/charge/pix', charge, withKey('k'))
  const reversed = Object.fromEntries(Object.entries(payer()).reverse())
  const raw = JSON.stringify({ customer: reversed, amount: 1990.0 }, null, 3)
  const again = await client.call('POST', '/charge/pix', { raw, ...withKey('k') })
  assertSame(again, first)
  assert.equal(replayed(again), 'true')
})

test('the keys of two companies are apart', async () => {
  const [one, two] = [await api.client(), await api.client()]
  const first = await one.post('/charge/pix', charge, withKey('k'))
  const second = await two.post('/charge/pix', charge, withKey('k'))
  const third = await two.post('/charge/pix', { ...charge, amount: 700 }, withKey('k'))
  assert.deepEqual([first.status, second.status, third.status], [201, 201, 422])
  assert.notEqual(first.body.data.id, second.body.data.id)
  assert.equal(replayed(second), null)
})

const keysOf = async ({ company }: Client) =>
  (await api.rows('select key from idempotency_keys where company_id = $1', [company.id])).length

test('a refusal of bad input, of a key or of ours is not kept: the corrected request goes through', async () => {
  const client = await api.client()
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const reader = await api.client({}, { scopes: ['payments:read'] })
  const wrong = await client.post('/charge/pix', { ...charge, amount: 1 }, withKey('k'))
  const broken = await client.call('POST', '/charge/pix', { raw: '{', ...withKey('k') })
  const stranger = await api.call('POST', '/charge/pix', {
    json: charge,
    ...withKey('k', { 'X-API-KEY': 'vk_sandbox_x' }),
  })
  const noBank = await live.post('/charge/pix', charge, withKey('k'))
  const unscoped = await reader.post('/charge/pix', charge, withKey('k'))
  const statuses = [wrong, broken, stranger, noBank, unscoped].map(({ status }) => status)
  assert.deepEqual(statuses, [400, 400, 401, 503, 403])
  assert.equal((await keysOf(client)) + (await keysOf(live)) + (await keysOf(reader)), 0)
  const right = await client.post('/charge/pix', charge, withKey('k'))
  assert.equal(right.status, 201, right.text)
  assert.equal(replayed(right), null)
})

test('a decided refusal is kept: 404, 409 and 422 come again as they were', async () => {
  const client = await api.client({ taxId: '39053344705', staticSalesLimit: 1000 })
  const made = await client.post('/charge/pix', charge)
  const canceled = `/charge/${made.body.data.id}/cancel`
  await client.post(canceled)
  const devMode = await client.post('/charge/pix', { ...charge, devMode: true })
  await client.post(`/charge/${devMode.body.data.id}/cancel`)
  const { body: started } = await client.post('/account-balance/withdraw', { value: 700 })
  const pending = `/account-balance/withdraw/${started.data.withdrawId}`
  const requests: [number, string, unknown][] = [
    [409, '/account-balance/withdraw', { value: 700 }],
    [404, '/charge/charge_01m7eq2y02e0087mk6ygwevbmn/cancel', {}],
    [409, `/charge/${devMode.body.data.id}/simulate-payment`, {}],
    [422, '/charge/pix/static', { amount: 1001 }],
  ]
  for (const [status, path, json] of requests) {
    const first = await client.post(path, json, withKey(path))
    assert.equal(first.status, status, first.text)
    assert.equal(replayed(first), null)
    await api.rows('update companies set static_sales_limit = 5000 where id = $1', [
      client.company.id,
    ])
    await client.post(`${pending}/cancel`)
    const again = await client.post(path, json, withKey(path))
    assertSame(again, first, path)
    assert.equal(replayed(again), 'true', path)
  }
  assert.equal(await keysOf(client), 4)
})

test('a refusal that only asks for patience is not kept', async () => {
  const client = await liveWithMoney(api)
  const { body } = await client.post('/account-balance/withdraw', { value: 700 })
  const resend = `/account-balance/withdraw/${body.data.withdrawId}/resend`
  for (let sent = 1; sent < 4; sent++) await client.post(resend)
  const first = await client.post(resend, {}, withKey('k'))
  assert.deepEqual([first.status, code(first)], [429, 'rate_limited'])
  assert.equal(await keysOf(client), 0)
  const again = await client.post(resend, {}, withKey('k'))
  assert.deepEqual([again.status, replayed(again)], [429, null])
  assert.match(again.headers.get('retry-after') ?? 'none', /^\d+$/)
})

test('the worker forgets keys that are a day old, and no younger ones', async () => {
  const client = await api.client()
  await client.post('/charge/pix', charge, withKey('old'))
  api.clock.advance(DAY_S - 60)
  await client.post('/charge/pix', charge, withKey('young'))
  api.clock.advance(60)
  await purgeStored(api.app.db, api.clock.now(), 1000)
  const rows = await api.rows('select key from idempotency_keys where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(rows, [{ key: 'young' }])
})

test('a repeat has no effect if the clock of its machine, or of the first, is a day off the database’s', async () => {
  const own = await startApi({}, { databaseTime: async () => REAL })
  const toBe = (hours: number) =>
    own.clock.advance((REAL.getTime() - own.clock.now().getTime()) / 1000 + hours * 3600)
  for (const [first, later] of [
    [0, 25],
    [25, 0],
    [0, -25],
    [-25, 0],
  ] as const) {
    const client = await own.client()
    const { id } = await makePaid(own, client, 5000)
    const requests = {
      [`/refund/${id}`]: { value: 700 },
      '/charge/pix': charge,
      '/charge/batch': { charges: [charge] },
    }
    const sendAll = async () => {
      const replies = []
      for (const [path, json] of Object.entries(requests)) {
        replies.push(await client.post(path, json, withKey(path)))
      }
      return replies
    }
    toBe(first)
    const made = await sendAll()
    assert.deepEqual(made.map(replayed), [null, null, null])
    for (const hours of [later, 0]) {
      toBe(hours)
      await removeOld(own.app)
      for (const [i, again] of (await sendAll()).entries()) {
        assertSame(again, made[i]!, `${first} ${hours}`)
      }
    }
  }
})

test('no kept answer and no other row shows a payer, a secret or a key', async () => {
  const client = await api.client()
  const secrets: string[] = [client.key, client.key.slice(-72)]
  for (const [name, prepare] of Object.entries(WRITES)) {
    const { method, path, body } = await prepare(client, api)
    const { body: answer } = await client.call(method, path, { json: body, ...withKey(name) })
    if (answer.data.secret) secrets.push(answer.data.secret, answer.data.secret.slice(6))
  }
  assert.equal(secrets.length, 6, 'the webhook showed its secret, and the one after it')
  const text = await dump(api)
  assert.ok(text.includes('Maria da Silva'), 'the dump shows what is readable')
  const { taxId, email, phone } = payer()
  for (const secret of [taxId, '529.982.247-25', email, phone, 'whsec_', ...secrets]) {
    assert.ok(!text.includes(secret), `${secret} is not in the database`)
  }
})
