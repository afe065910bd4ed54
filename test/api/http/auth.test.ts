import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { createKey, pinVersion, revokeKey } from '../../../src/core/companies/commands.ts'
import { keyIdOf, makeKey } from '../../../src/core/companies/keys.ts'
import { SCOPES, type Scope } from '../../../src/core/companies/rules.ts'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { watchComparisons } from '../../support/comparisons.ts'
import { dump, stored } from '../storage.ts'

const api = await startApi()
const client = await api.client()
const charge = { amount: 1990, customer: payer() }

const code = ({ body }: Reply): string => body.errors?.[0]?.code ?? body.error
const answer = (reply: Reply) => [reply.status, code(reply)]

const someId = (path: string) =>
  path.replace(/\{\w+\}/, path.startsWith('/webhook') ? client.company.id : 'charge_x')

/** Each fault with what puts it into a request, in the order in which they are found. */
const FAULTS: { answer: [number, string]; path?: string; headers?: Record<string, string> }[] = [
  { answer: [404, 'route_not_found'], path: '/nowhere' },
  { answer: [401, 'invalid_api_key'], headers: { 'X-API-KEY': 'vk_sandbox_x' } },
  { answer: [400, 'invalid_api_version'], headers: { 'X-Api-Version': '1999-01-01' } },
  { answer: [400, 'invalid_value'], headers: { 'Idempotency-Key': 'x'.repeat(256) } },
]
const BODIES: Record<string, { raw: string; type: string; answer: [number, string] }> = {
  'broken JSON': { raw: '{', type: 'application/json', answer: [400, 'invalid_json'] },
  'a body too large': {
    raw: `"${'x'.repeat(66_000)}"`,
    type: 'application/json',
    answer: [413, 'payload_too_large'],
  },
  'a body of another type': {
    raw: 'amount=1',
    type: 'text/plain',
    answer: [415, 'unsupported_media_type'],
  },
  'a wrong value': {
    raw: '{"amount":1}',
    type: 'application/json',
    answer: [400, 'invalid_value'],
  },
}

for (const [name, { raw, type, answer: bodyAnswer }] of Object.entries(BODIES)) {
  test(`route, key, version, Idempotency-Key and then ${name}: the first fault is reported`, async () => {
    const before = await stored(api)
    for (let first = 0; first <= FAULTS.length; first++) {
      const rest = FAULTS.slice(first)
      const path = rest.find((fault) => fault.path)?.path ?? '/charge/pix'
      const headers = Object.assign({ 'content-type': type }, ...rest.map((fault) => fault.headers))
      const reply = await client.call('POST', path, { raw, headers })
      assert.deepEqual(answer(reply), rest[0]?.answer ?? bodyAnswer, JSON.stringify(headers))
      if (rest[0]?.headers?.['Idempotency-Key']) {
        assert.match(reply.body.errors[0].description, /^Idempotency-Key: /)
      }
    }
    assert.deepEqual(await stored(api), before)
  })
}

test('an unknown route answers 404 with and without a key, in the version asked for', async () => {
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['PATCH', '/client'],
    ['POST', '/charge'],
    ['DELETE', '/charge/pix'],
    ['GET', '/CHARGE'],
  ] as const) {
    assert.deepEqual(answer(await api.call(method, path)), [404, 'route_not_found'], path)
    assert.deepEqual(answer(await client.call(method, path)), [404, 'route_not_found'], path)
  }
  const old = await api.call('GET', '/nowhere', { headers: { 'X-Api-Version': '2025-01-01' } })
  assert.deepEqual(Object.keys(old.body), ['statusCode', 'message', 'error'])
})

test('every route needs a key', async () => {
  const before = await stored(api)
  for (const { method, path } of ROUTES) {
    const missing = await api.call(method, someId(path))
    assert.deepEqual(answer(missing), [401, 'missing_api_key'], `${method} ${path}`)
    const headers = { 'X-API-KEY': makeKey('sandbox').text }
    const unknown = await api.call(method, someId(path), { headers })
    assert.deepEqual(answer(unknown), [401, 'invalid_api_key'], `${method} ${path}`)
  }
  assert.deepEqual(await stored(api), before)
})

test('wrong keys answer alike, whatever is wrong with them, and are not echoed', async () => {
  const { key } = client
  const guessed = makeKey('sandbox').text
  // The right key id with another secret: found, but it must not match.
  const forged = resealed(key.slice(0, 37) + guessed.slice(37, -8))
  assert.equal(keyIdOf(forged), keyIdOf(key))
  const texts = new Set<string>()
  for (const wrong of [forged, guessed, key.slice(1), key.replace('vk_sandbox', 'vk_live'), 'x']) {
    const reply = await api.call('GET', '/client', { headers: { 'X-API-KEY': wrong } })
    assert.deepEqual(answer(reply), [401, 'invalid_api_key'])
    texts.add(reply.text)
  }
  assert.equal(texts.size, 1)
})

/** A key text with the checksum it needs to be looked up at all. */
const resealed = (head: string) => head + crc32(head).toString(16).padStart(8, '0')

async function addKey(to: Client, scopes?: Scope[]): Promise<{ id: string; text: string }> {
  const options = { name: 'second', ...(scopes ? { scopes } : {}) }
  return api.app.db.transaction((tx) =>
    createKey(tx, api.app.vault, to.company, options, api.clock.now()),
  )
}

const ask = (key: string, path = '/client') =>
  api.call('GET', path, { headers: { 'X-API-KEY': key } })

/** Sooner than a key that is remembered would be forgotten by itself, after ten seconds. */
const AT_ONCE_MS = 9_000

/** Asks until the answer has changed. */
async function until(status: number, key: string): Promise<Reply> {
  const deadline = performance.now() + AT_ONCE_MS
  for (;;) {
    const reply = await ask(key)
    if (reply.status === status) return reply
    assert.ok(performance.now() < deadline, `still ${reply.status}`)
  }
}

test('a revoked key stops working at once, and the other keys of the company go on', async () => {
  const own = await api.client()
  const second = await addKey(own)
  assert.equal((await ask(own.key)).status, 200)
  assert.equal((await ask(second.text)).status, 200)
  const revoked = await api.app.db.transaction((tx) =>
    revokeKey(tx, own.company.id, keyIdOf(own.key)!, api.clock.now()),
  )
  assert.equal(revoked, true)
  assert.deepEqual(answer(await until(401, own.key)), [401, 'invalid_api_key'])
  assert.equal((await ask(second.text)).status, 200)
})

test('a company pinned to another version is answered in it at once', async () => {
  const own = await api.client()
  assert.equal((await own.get('/client')).headers.get('x-api-version'), '2026-08-16')
  await api.app.db.transaction((tx) =>
    pinVersion(tx, own.company.id, '2025-01-01', api.clock.now()),
  )
  const deadline = performance.now() + AT_ONCE_MS
  let reply = await own.get('/client')
  while (reply.headers.get('x-api-version') !== '2025-01-01') {
    assert.ok(performance.now() < deadline)
    reply = await own.get('/client')
  }
  assert.deepEqual(reply.body, [])
  const other = await own.get('/client', { headers: { 'X-Api-Version': '2026-08-16' } })
  assert.deepEqual(other.body.data, [])
  assert.deepEqual((await own.get('/client')).body, [], 'the header leaves the pin alone')
})

test('a key is stored as a hash and remembers when it was last used', async () => {
  const own = await api.client()
  const text = await dump(api)
  assert.ok(!text.includes(own.key) && !text.includes(own.key.slice(37)))
  await own.get('/client')
  await api.service.keys.flush()
  const [row] = await api.rows('select last_used_at from api_keys where company_id = $1', [
    own.company.id,
  ])
  assert.ok(row!.last_used_at instanceof Date)
})

test('each route needs its own scope, and that one is enough', async () => {
  for (const [scope, routes] of Map.groupBy(ROUTES, (route) => route.scope)) {
    const others = SCOPES.filter((other) => other !== scope)
    const [only, allOthers] = [await addKey(client, [scope]), await addKey(client, others)]
    for (const route of routes) {
      const path = someId(route.path)
      const ask = ({ text: key }: { text: string }) =>
        api.call(route.method, path, { headers: { 'X-API-KEY': key } })
      const what = `${route.method} ${path} ${scope}`
      const taken = await ask(only)
      assert.notEqual(taken.status, 403, `${what}: ${taken.text}`)
      const refused = await ask(allOthers)
      assert.deepEqual(answer(refused), [403, 'insufficient_scope'], what)
      assert.ok(refused.text.includes(scope), 'the answer names what is lacking')
    }
  }
})

test('reading needs a read scope and writing a write scope', () => {
  for (const { method, path, scope } of ROUTES) {
    assert.equal(scope.endsWith(':read'), method === 'GET', `${method} ${path}: ${scope}`)
  }
})

test('a key without the scope stores nothing, however good the body', async () => {
  const reader = await api.client({}, { scopes: ['payments:read'] })
  const before = await stored(api)
  const reply = await reader.post('/charge/pix', charge)
  assert.deepEqual(answer(reply), [403, 'insufficient_scope'])
  assert.deepEqual(await stored(api), before)
})

test('every answer carries a request id of its own and the version that answered', async () => {
  const seen = new Set<string>()
  for (const version of VERSION_NAMES) {
    const headers = { 'X-Api-Version': version }
    const replies = [
      await client.get('/client', { headers }),
      await client.get('/charge/charge_x', { headers }),
      await client.post('/charge/pix', charge, { headers }),
      await client.post('/charge/pix', {}, { headers }),
      await client.call('POST', '/charge/pix', { raw: '{', headers }),
      await client.call('POST', '/charge/pix', { raw: 'x'.repeat(66_000), headers }),
      await client.call('POST', '/charge/pix', {
        raw: 'x',
        headers: { ...headers, 'content-type': 'text/plain' },
      }),
      await client.post('/charge/pix', charge, { headers: { ...headers, 'Idempotency-Key': '' } }),
      await api.call('GET', '/client', { headers }),
      await api.call('GET', '/client', { headers: { ...headers, 'X-API-KEY': 'x' } }),
      await api.call('GET', '/nowhere', { headers }),
      await api.call('POST', '/nowhere', { headers, json: {} }),
    ]
    for (const reply of replies) {
      const id = reply.headers.get('x-request-id')
      assert.match(id ?? 'none', /^[0-9a-z]{26}$/, reply.text)
      assert.equal(reply.headers.get('x-api-version'), version, reply.text)
      assert.match(reply.headers.get('content-type')!, /^application\/json/)
      const envelope = version === '2025-01-01' ? 'statusCode' : 'status'
      if (reply.status >= 400) assert.equal(reply.body[envelope], reply.status)
      seen.add(id!)
    }
  }
  assert.equal(seen.size, 24, 'no id is given twice')
})

test('without the header the pinned version answers, with it the one named', async () => {
  const old = await api.client({}, { apiVersion: '2025-01-01' })
  const bare = await old.get('/client')
  assert.deepEqual([bare.body, bare.headers.get('x-api-version')], [[], '2025-01-01'])
  const named = await old.get('/client', { headers: { 'X-Api-Version': '2026-08-16' } })
  assert.deepEqual(named.body, {
    status: 200,
    message: 'Customers listed.',
    data: [],
    errors: [],
  })
  assert.equal(named.headers.get('x-api-version'), '2026-08-16')
})

test('an answer to a request without a key takes the newest shape unless another is asked for', async () => {
  const newest = await api.call('GET', '/client')
  assert.deepEqual(Object.keys(newest.body), ['status', 'message', 'data', 'errors'])
  const unknown = await api.call('GET', '/client', { headers: { 'X-Api-Version': 'x' } })
  assert.deepEqual(answer(unknown), [401, 'missing_api_key'])
})

test('a key is compared in constant time, whether it is wrong or made up', async (t) => {
  const { key } = await api.client()
  const wrong = `${key.slice(0, -12)}AAAAAA${key.slice(-6)}`
  const compared = watchComparisons(t)
  for (const tried of [wrong, 'vk_sandbox_nobody']) {
    compared.length = 0
    const { status } = await api.call('GET', '/company', { headers: { 'X-API-KEY': tried } })
    assert.equal(status, 401)
    assert.deepEqual(compared, [api.app.vault.hashKey(tried).toString('hex')])
  }
})
