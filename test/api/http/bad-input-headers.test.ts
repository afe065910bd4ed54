import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { payer, type Reply, startApi } from '../../support/api.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const client = await api.client()
const legacy = await api.client({}, { apiVersion: '2025-01-01' })
const charge = { amount: 1990, customer: payer() }

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Raw = { status: number; headers: Record<string, string>; body: any }

/** A request by node:http, which sends header bytes that fetch would refuse to send. */
function send(method: string, path: string, headers: Record<string, string>, json?: unknown) {
  return new Promise<Raw>((resolve, reject) => {
    const type = json === undefined ? {} : { 'content-type': 'application/json' }
    const all = { 'X-API-KEY': client.key, ...type, ...headers }
    const sent = httpRequest(api.url + path, { method, headers: all, agent: false }, (reply) => {
      const parts: Buffer[] = []
      reply.on('data', (part) => parts.push(part))
      reply.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString())
        resolve({ status: reply.statusCode!, headers: reply.headers as never, body })
      })
    })
    sent.on('error', reject)
    sent.end(json === undefined ? undefined : JSON.stringify(json))
  })
}

/** Bytes on a socket, for what no client library would send. */
function sendBytes(text: string): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url)
    const parts: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', (part) => parts.push(part))
    socket.on('error', reject)
    socket.on('end', () => {
      const [head = '', body = ''] = Buffer.concat(parts).toString().split('\r\n\r\n')
      const [first = '', ...lines] = head.split('\r\n')
      const headers = lines.map((line) => {
        const [name = '', value = ''] = line.split(/: (.*)/)
        return [name.toLowerCase(), value]
      })
      const status = Number(first.split(' ')[1])
      resolve({ status, headers: Object.fromEntries(headers), body: JSON.parse(body) })
    })
  })
}

function assertRefusal({ status, headers, body }: Raw, expected: [number, string], what: string) {
  assert.equal(status, expected[0], `${what}: ${JSON.stringify(body)}`)
  assert.deepEqual(Object.keys(body), ['status', 'message', 'data', 'errors'], what)
  assert.deepEqual([body.status, body.data], [expected[0], null], what)
  assert.deepEqual([...new Set(body.errors.map((e: { code: string }) => e.code))], [expected[1]])
  assert.match(headers['content-type'] ?? '', /^application\/json/, what)
  assert.match(headers['x-request-id'] ?? '', /^[0-9a-z]{26}$/, `${what}: X-Request-Id`)
  assert.equal(headers['x-api-version'], '2026-08-16', `${what}: X-Api-Version`)
}

async function refusedFor(headers: Record<string, string>, expected: [number, string]) {
  const before = await stored(api)
  const what = JSON.stringify(headers).slice(0, 60)
  const reply = await send('POST', '/charge/pix', headers, charge)
  assertRefusal(reply, expected, what)
  assert.deepEqual(await stored(api), before, what)
  return reply
}

test('an empty key is a missing one, and no wrong key is ever echoed', async () => {
  await refusedFor({ 'X-API-KEY': '' }, [401, 'missing_api_key'])
  const near = client.key.slice(0, -1) + (client.key.endsWith('0') ? '1' : '0')
  const doubled = `${client.key}, ${client.key}`
  for (const key of ['x', near, `${client.key}0`, doubled, 'chave-é', 'k'.repeat(10_000)]) {
    const { body } = await refusedFor({ 'X-API-KEY': key }, [401, 'invalid_api_key'])
    assert.ok(key === 'x' || !JSON.stringify(body).includes(key))
  }
})

test('a version that does not exist is refused, with the valid ones, in the pinned shape', async () => {
  const before = await stored(api)
  const names = ['', 'latest', '2026-08-17', '2025-01-01, 2026-08-16', 'é', 'v'.repeat(4_000)]
  for (const name of names) {
    const { body } = await refusedFor({ 'X-Api-Version': name }, [400, 'invalid_api_version'])
    for (const valid of ['2025-01-01', '2026-08-16']) {
      assert.ok(body.errors[0].description.includes(valid), valid)
    }
    const headers = { 'X-API-KEY': legacy.key, 'X-Api-Version': name }
    const old = await send('POST', '/charge/pix', headers, charge)
    assert.equal(old.status, 400)
    assert.deepEqual(Object.keys(old.body), ['statusCode', 'message', 'error'])
    assert.deepEqual([old.body.statusCode, old.body.error], [400, 'invalid_api_version'])
    assert.ok(old.body.message.includes('2025-01-01') && old.body.message.includes('2026-08-16'))
    assert.equal(old.headers['x-api-version'], '2025-01-01')
  }
  assert.deepEqual(await stored(api), before)
})

test('an Idempotency-Key has 1 to 255 printable characters', async () => {
  for (const key of ['x'.repeat(256), 'é', 'a\tb', 'x'.repeat(9_000)]) {
    const { body } = await refusedFor({ 'Idempotency-Key': key }, [400, 'invalid_value'])
    assert.match(body.errors[0].description, /^Idempotency-Key: /)
  }
  for (const key of ['x', 'a b', '~!"#$%', 'y'.repeat(255)]) {
    const { status } = await send('POST', '/charge/pix', { 'Idempotency-Key': key }, charge)
    assert.equal(status, 201, key)
  }
})

test('headers of 20 KB are refused with an answer like any other', async () => {
  const before = await stored(api)
  const reply = await send('POST', '/charge/pix', { 'X-Filler': 'x'.repeat(20_000) }, charge)
  assert.equal(reply.status, 431)
  assert.deepEqual(await stored(api), before)
  assertRefusal(reply, [431, 'headers_too_large'], '20 KB')
})

test('what is not HTTP gets an answer like any other', async () => {
  const reply = await sendBytes('NONSENSE\r\n\r\n')
  assert.equal(reply.status, 400)
  assertRefusal(reply, [400, 'invalid_json'], 'nonsense')
})

test('a path that is not valid percent-encoding is an unknown route', async () => {
  for (const path of ['/charge/%', '/charge/%zz', '/charge/%ff', '/%c0%af']) {
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${client.key}\r\n`
    const reply = await sendBytes(`${head}Connection: close\r\n\r\n`)
    assert.equal(reply.status, 404, path)
    assert.match(reply.body.errors[0].code, /^(route|charge)_not_found$/)
    assertRefusal(reply, [404, reply.body.errors[0].code], path)
  }
})

test('that refusal too takes the shape of the version asked for', async () => {
  const reply = await sendBytes(
    `GET /charge/%zz HTTP/1.1\r\nHost: x\r\nX-Api-Version: 2025-01-01\r\nConnection: close\r\n\r\n`,
  )
  assert.deepEqual(Object.keys(reply.body), ['statusCode', 'message', 'error'])
  assert.equal(reply.headers['x-api-version'], '2025-01-01')
})

const lines = ({ body }: Reply): string[] =>
  body.errors.map((error: { description: string }) => error.description)

const LIMITS = ['0', '1001', '-1', '1.5', 'x', '', '1e9']
const MOMENTS = ['yesterday', '2026-13-01T00:00:00Z', '1', '']

/** For each list and each field of its query the values that it does not take. */
const WRONG_QUERIES: Record<string, Record<string, string[]>> = {
  '/charge': {
    limit: LIMITS,
    after: ['x', '', 'clnt_01m7eq2y02e0087mk6ygwevbmn'],
    status: ['NOPE', 'open', ''],
    paymentStatus: ['NOPE', ''],
    devMode: ['yes', '2', ''],
    externalId: ['', 'x'.repeat(256), 'a%00b'],
    createdFrom: MOMENTS,
    createdTo: MOMENTS,
  },
  '/payment/unmatched': {
    limit: LIMITS,
    after: ['x', '', 'charge_01m7eq2y02e0087mk6ygwevbmn', '%00'],
    status: ['MATCHED', 'unmatched', ''],
  },
  '/account-balance/withdraw': {
    limit: LIMITS,
    after: ['x', '', 'charge_01m7eq2y02e0087mk6ygwevbmn', '%00'],
    status: ['NOPE', 'completed', ''],
  },
  '/account-balance/statement': {
    limit: LIMITS,
    after: ['0', '-1', '1.5', 'x', '', '1e300', '9007199254740992'],
    from: MOMENTS,
    to: MOMENTS,
    type: ['NOPE', 'opening', ''],
    account: ['bank', 'AVAILABLE', ''],
    format: ['pdf', 'CSV', ''],
  },
}

test('a wrong query names its field', async () => {
  const faults: string[] = []
  for (const [path, fields] of Object.entries(WRONG_QUERIES)) {
    for (const [name, values] of Object.entries(fields)) {
      for (const value of values) {
        const reply = await client.get(`${path}?${name}=${value}`)
        const [line = 'nothing'] = reply.status === 200 ? [] : lines(reply)
        if (reply.status === 400 && line.startsWith(`${name}: `)) continue
        faults.push(`${path}?${name}=${value}: ${reply.status} ${line}`)
      }
    }
  }
  assert.deepEqual(faults, [])
})

test('every violation of a query is named', async () => {
  const reply = await client.get('/charge?limit=0&status=NOPE&createdFrom=x&devMode=maybe')
  assert.equal(reply.status, 400)
  const named = lines(reply).map((line) => line.split(':')[0])
  assert.deepEqual(named.sort(), ['createdFrom', 'devMode', 'limit', 'status'])
})

test('no query, however odd, is a fault of ours', async () => {
  const queries = [
    'externalId=%ff',
    'externalId=%ed%a0%80',
    'externalId=%00',
    'externalId=a&externalId=b',
    'limit=1&limit=2',
    '__proto__=1',
    '__proto__[x]=1',
    'constructor=1',
    '&&&',
    '=',
    '%',
    'createdFrom=2026-12-31T23:59:60Z',
    'createdFrom=0000-01-01T00:00:00Z',
    'createdFrom=2026-08-16T12:00:00%2B23:59',
    'createdFrom=2026-08-16t12:00:00z',
    'createdFrom=2026-08-16T12:00:00%2B05',
    'createdFrom=9999-12-31T23:59:59.999999999Z',
    'customerId=%00',
    'after=%00',
    'taxId=%00',
    'from=0000-01-01T00:00:00Z',
    'to=9999-12-31T23:59:59.999Z',
    'format=csv&format=json',
    'format=csv&limit=1&after=2',
  ]
  const faults: string[] = []
  const hook = { url: 'https://loja.example/', name: 'x', events: ['charge.paid'] }
  const { body } = await client.post('/webhook', hook)
  for (const { path } of ROUTES.filter(({ method, query }) => method === 'GET' && query)) {
    const list = path.replace('{id}', body.data.id)
    for (const query of queries) {
      const { status } = await client.get(`${list}?${query}`)
      if (![200, 400, 404].includes(status)) faults.push(`${path}?${query}: ${status}`)
    }
  }
  assert.deepEqual(faults, [])
})

test('a header that decides something is refused if it is sent twice', async () => {
  const before = await stored(api)
  const body = JSON.stringify(charge)
  const sendTwice = (lines: string[]) => {
    const all = [
      'POST /charge/pix HTTP/1.1',
      'Host: vintem.test',
      `X-API-KEY: ${client.key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Connection: close',
      ...lines,
    ]
    return sendBytes(`${all.join('\r\n')}\r\n\r\n${body}`)
  }
  const cases: [string[], [number, string]][] = [
    [['Host: vintem.test'], [400, 'invalid_value']],
    [['host: other.test'], [400, 'invalid_value']],
    [
      ['Idempotency-Key: a', 'idempotency-key: b'],
      [400, 'invalid_value'],
    ],
    [
      ['Idempotency-Key: a', 'Idempotency-Key: a'],
      [400, 'invalid_value'],
    ],
    [
      ['X-Api-Version: 2026-08-16', 'X-Api-Version: 2025-01-01'],
      [400, 'invalid_api_version'],
    ],
    [[`X-Api-Key: ${client.key}`], [401, 'invalid_api_key']],
    [['Content-Type: text/plain'], [415, 'unsupported_media_type']],
  ]
  for (const [lines, expected] of cases) {
    assertRefusal(await sendTwice(lines), expected, lines.join(' '))
  }
  // An agent shows its key as a bearer.
  const bearer = (key: string) => `Authorization: Bearer ${key}`
  const agent = [
    'POST /mcp HTTP/1.1',
    'Host: vintem.test',
    'Content-Length: 0',
    'Connection: close',
  ]
  const lines = [...agent, bearer(client.key), bearer(legacy.key)]
  assert.equal((await sendBytes(`${lines.join('\r\n')}\r\n\r\n`)).status, 401)
  assert.deepEqual(await stored(api), before)
  assert.equal((await sendTwice(['Idempotency-Key: a, b'])).status, 201, 'one key with a comma')
})
