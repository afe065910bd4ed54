import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import * as client from '../../packages/client/src/index.ts'
import { CATALOGUE } from '../../src/lib/problems.ts'

const { ConnectionError, TimeoutError, Vintem, VintemError } = client
const KEY = 'vk_sandbox_secret'
const TIMEOUT_MS = 40_000
const BODY = { amount: 1990, customer: { name: 'Maria', taxId: '52998224725' } }

type Step = (init: RequestInit) => Response | Promise<Response>

const ok =
  (data: unknown = {}): Step =>
  () =>
    Response.json({ status: 200, message: '', data, errors: [] })
const refused =
  (status: number, code: string, headers: Record<string, string> = {}): Step =>
  () => {
    const errors = [{ code, description: 'why' }]
    return Response.json({ status, message: 'why', data: null, errors }, { status, headers })
  }
const lost: Step = () => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
}

/** A client whose fetch does one step after the other, and the pauses that it makes, in no time. */
function scripted(t: TestContext, steps: Step[], options: object = {}) {
  const [inits, pauses]: [RequestInit[], number[]] = [[], []]
  const start = setTimeout
  t.mock.method(globalThis, 'setTimeout', (act: () => void, ms: number) => {
    if (ms === TIMEOUT_MS) return start(act, ms)
    pauses.push(ms)
    return start(act, 0)
  })
  const vintem = new Vintem({
    url: 'http://vintem.test',
    key: KEY,
    timeout_ms: TIMEOUT_MS,
    fetch: async (_, init) => {
      inits.push(init!)
      const step = steps[inits.length - 1]
      assert.ok(step, 'one attempt too many')
      return step(init!)
    },
    ...options,
  })
  const keys = () => inits.map(({ headers }) => (headers as Headers).get('idempotency-key'))
  return { vintem, inits, pauses, keys }
}

test('a call is tried again after every fault that may pass, with the same key', async (t) => {
  const faults: Step[] = [
    lost,
    refused(408, 'x'),
    refused(409, 'idempotency_in_progress'),
    refused(429, 'rate_limited'),
    refused(500, 'internal_error'),
    refused(503, 'service_unavailable'),
    () => new Response('<html>', { status: 502 }),
    () => new Response('{"status":201,"mess', { status: 201 }),
  ]
  for (const fault of faults) {
    const { vintem, keys } = scripted(t, [fault, fault, ok({ id: 'charge_1' })])
    assert.equal((await vintem.charges.createPix(BODY)).id, 'charge_1')
    assert.equal(keys().length, 3)
    assert.match(keys()[0]!, /^[0-9a-f]{32}$/)
    assert.equal(new Set(keys()).size, 1)
    t.mock.restoreAll()
  }
})

test('an error has the key of its call, so that the caller can send it again', async (t) => {
  const { vintem, keys } = scripted(t, [lost, refused(404, 'x'), lost], { retries: 0 })
  const keyOf = (call: PromiseLike<unknown>) =>
    call.then(
      () => assert.fail('it fails'),
      (error) => error.idempotencyKey,
    )
  assert.match(await keyOf(vintem.charges.createPix(BODY)), /^[0-9a-f]{32}$/)
  assert.equal(
    await keyOf(vintem.charges.createPix(BODY, { idempotencyKey: 'order-7' })),
    'order-7',
  )
  assert.equal(await keyOf(vintem.balance.get()), null)
  assert.equal(keys().length, 3)
})

test('what would fail again is not tried again', async (t) => {
  const statuses = Object.entries(CATALOGUE).filter(
    ([code, [status]]) => status < 500 && status !== 429 && code !== 'idempotency_in_progress',
  )
  for (const [code, [status]] of statuses) {
    const { vintem } = scripted(t, [refused(status, code)])
    await assert.rejects(async () => await vintem.charges.createPix(BODY), { code, status })
    t.mock.restoreAll()
  }
})

test('two retries by default, another number for a client or a call, and the last error', async (t) => {
  const steps = Array.from({ length: 9 }, () => refused(503, 'service_unavailable'))
  const attempts = async (options: object, ofCall: object) => {
    const { vintem, inits } = scripted(t, steps, options)
    await assert.rejects(async () => await vintem.charges.createPix(BODY, ofCall), {
      name: 'UnavailableError',
    })
    t.mock.restoreAll()
    return inits.length
  }
  assert.equal(await attempts({}, {}), 3)
  assert.equal(await attempts({ retries: 0 }, {}), 1)
  assert.equal(await attempts({ retries: 0 }, { retries: 5 }), 6)
})

test('pauses double from half a second to eight, and none is exact', async (t) => {
  const steps = Array.from({ length: 8 }, () => lost)
  const { vintem, pauses } = scripted(t, steps, { retries: 7 })
  await assert.rejects(async () => await vintem.balance.get())
  const longest = [500, 1000, 2000, 4000, 8000, 8000, 8000]
  assert.equal(pauses.length, longest.length)
  for (const [i, most] of longest.entries()) {
    assert.ok(pauses[i]! >= most / 2 && pauses[i]! <= most, `${pauses[i]} of ${most}`)
  }
  assert.equal(new Set(pauses).size, pauses.length)
})

test('Retry-After is obeyed, in seconds or as a date, up to a minute', async (t) => {
  const pausesOf = async (value: string) => {
    const limited = refused(429, 'rate_limited', { 'retry-after': value })
    const { vintem, pauses } = scripted(t, [limited, ok()])
    const answer = await vintem.balance.get().then(
      () => 'answered',
      ({ name }) => name,
    )
    t.mock.restoreAll()
    return [answer, ...pauses]
  }
  assert.deepEqual(await pausesOf('7'), ['answered', 7000])
  assert.deepEqual(await pausesOf('60'), ['answered', 60_000])
  assert.deepEqual(await pausesOf('61'), ['RateLimitError'])
  const [answer, pause] = await pausesOf(new Date(Date.now() + 30_000).toUTCString())
  assert.equal(answer, 'answered')
  assert.ok(Number(pause) > 20_000 && Number(pause) <= 30_000, String(pause))
  for (const odd of ['0', '-1', 'soon', '1e9', new Date(0).toUTCString()]) {
    const [answer, pause] = await pausesOf(odd)
    assert.equal(answer, 'answered')
    assert.ok(Number(pause) <= 500, odd)
  }
})

test('every writing method has a key of its own, and reading has none', async (t) => {
  const { vintem, keys } = scripted(
    t,
    Array.from({ length: 6 }, () => ok()),
  )
  await vintem.charges.cancel('charge_1')
  await vintem.customers.update({ id: 'clnt_1' })
  await vintem.products.delete('prod_1')
  await vintem.refunds.create('charge_1', {}, { idempotencyKey: 'mine' })
  await vintem.charges.get('charge_1')
  const [a, b, c, mine, none] = keys()
  assert.equal(new Set([a, b, c]).size, 3)
  assert.deepEqual([mine, none], ['mine', null])
})

test('more headers can be sent, and none of ours can be replaced', async (t) => {
  const { vintem, inits } = scripted(t, [ok()])
  await vintem.balance.get({ headers: { 'X-Trace': '1', 'X-Api-Key': 'other' } })
  const headers = inits[0]!.headers as Headers
  assert.deepEqual([headers.get('x-trace'), headers.get('x-api-key')], ['1', KEY])
  assert.equal(headers.get('x-api-version'), '2026-08-16')
  // The version that the package gets when it is built.
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  )
  assert.equal(headers.get('user-agent'), `vintem-client/${version}`)
})

/** Never answers, and fails when it is ended, like fetch. */
const silent: Step = ({ signal }) =>
  new Promise((_, reject) => {
    signal!.addEventListener('abort', () => reject(signal!.reason))
  })

test('an answer that does not come, or does not end, is a TimeoutError', async () => {
  const endless: Step = ({ signal }) => {
    const body = new ReadableStream({
      start: (stream) => signal!.addEventListener('abort', () => stream.error(signal!.reason)),
    })
    return new Response(body)
  }
  for (const step of [silent, endless]) {
    const vintem = new Vintem({
      url: 'http://vintem.test',
      key: KEY,
      retries: 0,
      fetch: async (_, init) => step(init!),
    })
    const asked = vintem.balance.get({ timeout_ms: 5 })
    await assert.rejects(async () => await asked, {
      name: 'TimeoutError',
      code: 'timeout',
      status: null,
      message: 'GET http://vintem.test/account-balance: no answer within 5 ms',
    })
    await asked.catch((error) => assert.ok(error instanceof ConnectionError))
  }
})

test('a call without an end to its time is not ended at once', async () => {
  const fetch: typeof globalThis.fetch = (_, init) =>
    new Promise((resolve, reject) => {
      init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason))
      setTimeout(() => resolve(Response.json({ data: {} })), 20)
    })
  const vintem = new Vintem({ url: 'http://vintem.test', key: KEY, retries: 0, fetch })
  await vintem.balance.get({ timeout_ms: Number.POSITIVE_INFINITY })
})

test('a signal ends a call before it, in it, and in a pause, with its own reason', async (t) => {
  const reason = new Error('enough')
  const ended = AbortSignal.abort(reason)
  const before = scripted(t, [])
  await assert.rejects(async () => await before.vintem.balance.get({ signal: ended }), reason)
  t.mock.restoreAll()

  const ending = new AbortController()
  const during = scripted(t, [
    (init) => {
      setImmediate(() => ending.abort(reason))
      return silent(init)
    },
  ])
  const { signal } = ending
  await assert.rejects(async () => await during.vintem.balance.get({ signal }), reason)
  t.mock.restoreAll()

  const third = new AbortController()
  const limited = refused(429, 'rate_limited', { 'retry-after': '50' })
  const vintem = new Vintem({
    url: 'http://vintem.test',
    key: KEY,
    fetch: async () => {
      setImmediate(() => third.abort(reason))
      return limited({})
    },
  })
  await assert.rejects(async () => await vintem.balance.get({ signal: third.signal }), reason)
})

test('every status of the catalogue has a class of its own', async (t) => {
  const classes = new Map<number, string>()
  for (const [code, [status]] of Object.entries(CATALOGUE)) {
    const { vintem } = scripted(t, [refused(status, code, { 'x-request-id': 'r1' })], {
      retries: 0,
    })
    await vintem.charges.createPix(BODY).then(
      () => assert.fail(),
      (error) => {
        assert.ok(error instanceof VintemError && error instanceof Error)
        assert.ok(error.constructor.name in client, error.constructor.name)
        assert.notEqual(error.constructor, VintemError)
        assert.deepEqual(
          [error.code, error.status, error.message, error.requestId, error.errors],
          [code, status, 'why', 'r1', [{ code, description: 'why' }]],
        )
        classes.set(status, error.constructor.name)
      },
    )
    t.mock.restoreAll()
  }
  assert.equal(new Set(classes.values()).size, classes.size)
})

test('whatever a server answers, the caller gets data or a VintemError', async () => {
  const statuses = fc.integer({ min: 200, max: 599 }).filter((n) => ![204, 205, 304].includes(n))
  const bodies = fc.oneof(fc.json(), fc.string(), fc.constant('{"message":1,"errors":[null,{}]}'))
  await fc.assert(
    fc.asyncProperty(statuses, bodies, async (status, body) => {
      const fetch = async () => new Response(body, { status })
      const vintem = new Vintem({ url: 'http://vintem.test', key: KEY, retries: 0, fetch })
      await vintem.balance.get().then(
        () => assert.ok(status < 300),
        (error) => {
          assert.ok(error instanceof VintemError, String(error))
          assert.ok(error.message !== '' && error.errors.length > 0)
        },
      )
    }),
    { numRuns: 200 },
  )
})

test('a redirect is not followed, so that the key goes nowhere else', async (t) => {
  const away = () => new Response(null, { status: 302, headers: { location: 'http://evil.test' } })
  const { vintem, inits } = scripted(t, [away])
  await assert.rejects(async () => await vintem.balance.get(), /redirects to another address/)
  assert.equal(inits[0]!.redirect, 'manual')
})

test('no error shows the key or what was asked for', async (t) => {
  const { vintem } = scripted(t, [lost], { retries: 0 })
  const asked = vintem.charges.list({ taxId: '52998224725' })
  await assert.rejects(
    async () => await asked,
    (error: InstanceType<typeof ConnectionError>) => {
      assert.equal(error.message, 'GET http://vintem.test/charge: no answer (connect ECONNREFUSED)')
      assert.doesNotMatch(JSON.stringify(error) + error.stack, /vk_|52998224725/)
      return true
    },
  )
  for (const key of ['', `${KEY}\n`, 'vk sandbox', undefined as unknown as string]) {
    assert.throws(
      () => new Vintem({ url: 'http://vintem.test', key }),
      (error: Error) => {
        assert.match(error.message, /^key: must be an API key/)
        return !error.message.includes('secret')
      },
    )
  }
  for (const url of [
    '',
    'vintem.test',
    'ftp://vintem.test',
    'http://a:b@vintem.test',
    'http://x/?a',
  ]) {
    assert.throws(() => new Vintem({ url, key: KEY }), /^TypeError: url: must be the address/)
  }
})

const ignoring =
  (fields: string): Step =>
  () =>
    Response.json({ data: { id: 'charge_1' } }, { headers: { 'x-ignored-fields': fields } })

test('fields that the server has left out are an error where it is strict, and else reported', async (t) => {
  const step = ignoring('customer.nmae, items[0].x')
  const outcomeOf = async (options: object) => {
    const { vintem, keys } = scripted(t, [step], options)
    const outcome = await vintem.charges
      .createPix(BODY)
      .withResponse()
      .catch((error) => error)
    t.mock.restoreAll()
    return { outcome, keys: keys() }
  }
  const { outcome: error, keys } = await outcomeOf({ strict: true })
  assert.ok(error instanceof client.IgnoredFieldsError && error instanceof VintemError)
  const text =
    'POST /charge/pix was carried out without customer.nmae, items[0].x: the server knows no such field'
  assert.deepEqual([error.message, error.code, error.status], [text, 'ignored_fields', 200])
  assert.deepEqual(error.fields, ['customer.nmae', 'items[0].x'])
  assert.deepEqual([error.data, error.idempotencyKey], [{ id: 'charge_1' }, keys[0]])
  const { outcome } = await outcomeOf({ strict: false })
  assert.deepEqual(outcome.ignoredFields, ['customer.nmae', 'items[0].x'])
  const before = process.env.NODE_ENV
  for (const [mode, isStrict] of [
    ['production', false],
    ['development', true],
  ] as const) {
    process.env.NODE_ENV = mode
    const { outcome } = await outcomeOf({})
    assert.equal(outcome instanceof client.IgnoredFieldsError, isStrict, mode)
  }
  if (before === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = before
})

test('hooks see every attempt, and what they throw ends the call', async (t) => {
  const seen: unknown[] = []
  const hooks: client.Hooks = {
    onRequest({ method, url, headers, body, attempt }) {
      headers.set('traceparent', `00-${attempt}`)
      seen.push([method, url.pathname, JSON.parse(body ?? 'null'), attempt])
    },
    onResponse({ request, status, headers, requestId, ignoredFields, latency_ms, error }) {
      assert.ok(latency_ms >= 0 && (status === null) === (headers === null))
      seen.push([request.attempt, status, requestId, ignoredFields, error?.code])
    },
  }
  const fault = refused(503, 'service_unavailable', { 'x-request-id': 'r1' })
  const { vintem, inits } = scripted(t, [lost, fault, ignoring('x')], { ...hooks, strict: false })
  await vintem.charges.createPix(BODY)
  const sent = (attempt: number) => ['POST', '/charge/pix', BODY, attempt]
  assert.deepEqual(seen, [
    sent(0),
    [0, null, null, [], 'connection_failed'],
    sent(1),
    [1, 503, 'r1', [], 'service_unavailable'],
    sent(2),
    [2, 200, null, ['x'], undefined],
  ])
  assert.equal((inits[2]!.headers as Headers).get('traceparent'), '00-2')
  t.mock.restoreAll()
  const reason = new Error('not now')
  const refuse = async () => {
    throw reason
  }
  const before = scripted(t, [], { onRequest: refuse })
  await assert.rejects(async () => await before.vintem.balance.get(), reason)
  t.mock.restoreAll()
  const after = scripted(t, [ok()], { onResponse: refuse })
  await assert.rejects(async () => await after.vintem.balance.get(), reason)
})

test('a call may have a key of its own, which is checked and shown nowhere', async (t) => {
  const { vintem, inits } = scripted(t, [ok(), ok(), ok([])])
  const key = 'vk_live_other'
  await vintem.balance.get({ key })
  await vintem.balance.get()
  await vintem.charges.list({}, { key })
  const keys = inits.map(({ headers }) => (headers as Headers).get('x-api-key'))
  assert.deepEqual(keys, [key, KEY, key])
  await assert.rejects(
    async () => await vintem.balance.get({ key: 'other secret' }),
    ({ name, message }) => name === 'TypeError' && !message.includes('secret'),
  )
  assert.equal(inits.length, 3)
})

test('a TimeoutError is a ConnectionError, and both are a VintemError', () => {
  const error = new TimeoutError({ message: 'm', code: 'timeout' })
  assert.ok(error instanceof ConnectionError && error instanceof VintemError)
})
