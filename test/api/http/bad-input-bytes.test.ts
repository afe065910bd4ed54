import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { payer, type Reply, startApi } from '../../support/api.ts'
import { makePaid, makeUnmatched } from '../../support/payments.ts'
import { PATH, start } from '../../support/withdrawals.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const client = await api.client()
const charge = { amount: 1990, customer: payer() }

const codes = ({ body }: Reply) => body.errors.map((error: { code: string }) => error.code)
const lines = ({ body }: Reply): string[] =>
  body.errors.map((error: { description: string }) => error.description)

/** Asserts a refusal of the given status and code that leaves the database as it was. */
async function refused(
  [status, code]: [number, string],
  ask: () => Promise<Reply>,
  what: string,
): Promise<Reply> {
  const before = await stored(api)
  const reply = await ask()
  assert.equal(reply.status, status, `${what}: ${reply.text}`)
  assert.deepEqual([...new Set(codes(reply))], [code], what)
  assert.equal(reply.body.data, null, what)
  assert.deepEqual(await stored(api), before, what)
  return reply
}

const bytes = (path: string, raw: string | Buffer, headers: Record<string, string> = {}) =>
  client.call('POST', path, { raw, headers })

test('a body that is not JSON is refused on every route that takes one', async () => {
  for (const { method, path, body } of ROUTES) {
    if (!body) continue
    const url = path.replace(/\{\w+\}/, 'charge_01m7eq2y02e0087mk6ygwevbmn')
    const ask = () => client.call(method, url, { raw: '{"name": ' })
    await refused([400, 'invalid_json'], ask, `${method} ${path}`)
  }
})

test('malformed JSON is refused in every form', async () => {
  const forms = [
    '{',
    '}',
    '{"amount":}',
    '{"amount":1990,}',
    "{'amount':1990}",
    '{amount:1990}',
    'undefined',
    'NaN',
    'Infinity',
    '{"amount":01990}',
    '{"amount":+1990}',
    '{"amount":.5}',
    '{"amount":1990} {}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    ' ',
    '// x\n{}',
    'True',
    Buffer.from('{"amount":1990,"customer":{"name":"a\0b"}}'),
  ]
  for (const form of forms) {
    await refused([400, 'invalid_json'], () => bytes('/charge/pix', form), String(form))
  }
})

test('bytes that are not UTF-8 are refused, never repaired', async () => {
  const wrong = [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]]
  for (const part of wrong) {
    const raw = Buffer.concat([
      Buffer.from('{"amount":1990,"customer":{"taxId":"52998224725","name":"a'),
      Buffer.from(part),
      Buffer.from('b"}}'),
    ])
    await refused([400, 'invalid_json'], () => bytes('/charge/pix', raw), part.join())
  }
})

test('a NUL or half a character is refused with the path of its field', async () => {
  for (const text of ['a\0b', '\0', 'a\ud800', '\udc00b']) {
    for (const [path, body] of Object.entries({
      'customer.name': { ...charge, customer: payer({ name: text }) },
      'customer.line1': { ...charge, customer: payer({ line1: text }) },
      externalId: { ...charge, externalId: text },
      'unknown[1].deep': { ...charge, unknown: [0, { deep: text }] },
    })) {
      const ask = () => client.post('/charge/pix', body)
      const reply = await refused([400, 'invalid_value'], ask, JSON.stringify(body))
      assert.ok(lines(reply)[0]!.startsWith(`${path}: `), lines(reply)[0])
    }
  }
  await refused(
    [400, 'invalid_value'],
    () => client.post('/charge/pix', { ...charge, 'a\0': 1 }),
    '',
  )
})

test('every field with a NUL is named, beside every other violation', async () => {
  const body = { amount: 499, customer: payer({ name: 'a\0', district: 'b\0' }) }
  const reply = await refused([400, 'invalid_value'], () => client.post('/charge/pix', body), '')
  const named = new Set(lines(reply).map((line) => line.split(':')[0]))
  assert.deepEqual([...named].sort(), ['amount', 'customer.district', 'customer.name'])
})

test('a whole character written as two escapes is text like any other', async () => {
  const raw = JSON.stringify(charge).replace('Maria', '\\ud83d\\ude00')
  const { status, body } = await bytes('/charge/pix', raw)
  assert.equal(status, 201)
  const shown = await client.get(`/charge/${body.data.id}`)
  assert.equal(shown.body.data.customer.name, '😀 da Silva')
})

test('a __proto__ key is refused however it is written and wherever it is', async () => {
  const rest = JSON.stringify(charge).slice(1)
  const forms = {
    __proto__: `{"__proto__":{"polluted":1},${rest}`,
    escaped: `{"\\u005f_proto\\u005f_":{"polluted":1},${rest}`,
    customer: rest.replace('{"name"', '{"__proto__":{"polluted":1},"name"').replace(/^/, '{'),
    unknown: `{"unknown":[{"__proto__":null}],${rest}`,
  }
  for (const [name, raw] of Object.entries(forms)) {
    const reply = await refused([400, 'invalid_value'], () => bytes('/charge/pix', raw), name)
    assert.match(lines(reply)[0]!, /^[\w.[\]]*__proto__: /)
  }
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('constructor and prototype keys are unknown fields and change nothing', async () => {
  const extra = { constructor: { prototype: { polluted: 1 } }, prototype: 1, toString: 1 }
  const { status } = await client.post('/charge/pix', { ...charge, ...extra })
  assert.equal(status, 201)
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

/** A good charge padded with an ignored field to an exact number of bytes. */
function padded(size: number): string {
  const body = { ...charge, padding: '' }
  return JSON.stringify({ ...body, padding: 'x'.repeat(size - JSON.stringify(body).length) })
}

test('64 KiB are taken, one byte more is not', async () => {
  const full = await bytes('/charge/pix', padded(65_536))
  assert.equal(full.status, 201, full.text)
  for (const size of [65_537, 66_560]) {
    const ask = () => bytes('/charge/pix', padded(size))
    await refused([413, 'payload_too_large'], ask, `${size} bytes`)
  }
})

test('a body without a length is cut off at the same limit', async () => {
  const before = await stored(api)
  const body = new Blob([padded(66_560)]).stream()
  const headers = { 'X-API-KEY': client.key, 'content-type': 'application/json' }
  const init = { method: 'POST', body, headers, duplex: 'half' }
  const reply = await fetch(`${api.url}/charge/pix`, init as RequestInit)
  assert.equal(reply.status, 413)
  assert.equal(((await reply.json()) as Reply['body']).errors[0].code, 'payload_too_large')
  assert.deepEqual(await stored(api), before)
})

test('a body too large is refused in the shape of the version', async () => {
  const { status, body } = await bytes('/charge/pix', padded(66_560), {
    'X-Api-Version': '2025-01-01',
  })
  assert.equal(status, 413)
  assert.deepEqual(Object.keys(body), ['statusCode', 'message', 'error'])
  assert.deepEqual([body.statusCode, body.error], [413, 'payload_too_large'])
})

test('a body nested too deep is refused alike, whatever else the request carries', async () => {
  const deep = '['.repeat(5_000) + ']'.repeat(5_000)
  const raw = (extra: string) => `{"deep":${deep},${extra}${JSON.stringify(charge).slice(1)}`
  const requests = {
    'with an externalId': () => bytes('/charge/pix', raw('"externalId":"deep",')),
    'with a key': () => bytes('/charge/pix', raw(''), { 'Idempotency-Key': 'deep' }),
    'with an escape': () => bytes('/charge/pix', raw('"x":"\\u0041",')),
    alone: () => bytes('/charge/pix', raw('')),
    'on a route without body': () => bytes('/charge/charge_x/cancel', deep),
  }
  for (const [name, ask] of Object.entries(requests)) {
    const reply = await refused([400, 'invalid_value'], ask, name)
    assert.match(lines(reply)[0]!, /^body: /)
  }
})

test('a body of more values than any operation takes is refused before it is parsed', async () => {
  const more = (count: number) =>
    JSON.stringify({ ...charge, more: Array.from({ length: count }, () => 0) })
  const ask = () => bytes('/charge/pix', more(4_001))
  const reply = await refused([400, 'invalid_value'], ask, 'too many values')
  assert.deepEqual(lines(reply), ['body: must not have more than 4000 values'])
  const commas = JSON.stringify({ ...charge, more: ','.repeat(5_000) })
  for (const body of [more(3_900), commas]) {
    assert.equal((await bytes('/charge/pix', body)).status, 201)
  }
})

test('only application/json is read', async () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'text/json',
    'application/json5',
    'application/jsonp',
    'json',
    '*/*',
  ]
  for (const type of types) {
    const ask = () => bytes('/charge/pix', JSON.stringify(charge), { 'content-type': type })
    await refused([415, 'unsupported_media_type'], ask, type)
  }
  for (const type of [
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json ;x=y',
  ]) {
    const reply = await bytes('/charge/pix', JSON.stringify(charge), { 'content-type': type })
    assert.equal(reply.status, 201, type)
  }
})

test('a body that does not say what it is is refused', async () => {
  const before = await stored(api)
  const reply = await fetch(`${api.url}/charge/pix`, {
    method: 'POST',
    body: Buffer.from(JSON.stringify(charge)),
    headers: { 'X-API-KEY': client.key },
  })
  assert.equal(reply.status, 415)
  assert.equal(((await reply.json()) as Reply['body']).errors[0].code, 'unsupported_media_type')
  assert.deepEqual(await stored(api), before)
})

const json = { headers: { 'content-type': 'application/json' } }

test('an empty body under application/json is no error where none is needed', async () => {
  const devMode = await client.post('/charge/pix', { ...charge, devMode: true })
  const { id } = devMode.body.data
  const hook = { url: 'https://loja.example/', name: 'x', events: ['charge.paid'] }
  const webhook = await client.post('/webhook', hook)
  const paid = await makePaid(api, client, 700)
  const [kept, returned] = [
    await makeUnmatched(api, client, 700),
    await makeUnmatched(api, client, 700),
  ]
  const withdrawal = `${PATH}/${await start(client, 700)}`
  const calls: [string, string, number][] = [
    ['GET', '/client', 200],
    ['GET', `/charge/${id}`, 200],
    ['POST', `/charge/duplicate/${id}`, 201],
    ['POST', `/charge/${id}/simulate-payment`, 200],
    ['POST', `/charge/${(await client.post('/charge/pix', charge)).body.data.id}/cancel`, 200],
    ['GET', '/event', 200],
    ['GET', `/webhook/${webhook.body.data.id}/deliveries`, 200],
    ['POST', `/webhook/${webhook.body.data.id}/test`, 201],
    ['POST', `/webhook/${webhook.body.data.id}/replay`, 200],
    ['POST', `/webhook/${webhook.body.data.id}/rotate-secret`, 200],
    ['DELETE', `/webhook/${webhook.body.data.id}`, 200],
    ['POST', `/refund/${paid.id}`, 201],
    ['POST', `/payment/unmatched/${kept}/accept`, 200],
    ['POST', `/payment/unmatched/${returned}/refund`, 201],
    ['GET', '/account-balance', 200],
    ['POST', `${withdrawal}/resend`, 200],
    ['POST', `${withdrawal}/cancel`, 200],
  ]
  for (const [method, path, status] of calls) {
    const reply = await client.call(method, path, json)
    assert.equal(reply.status, status, `${method} ${path}: ${reply.text}`)
  }
})

test('an empty body is an empty object where a body is needed', async () => {
  for (const headers of [json.headers, {}]) {
    const ask = () => client.call('POST', '/charge/pix', { headers })
    const reply = await refused([400, 'invalid_value'], ask, JSON.stringify(headers))
    assert.deepEqual(lines(reply).sort(), ['amount: is required', 'customer: is required'])
  }
})
