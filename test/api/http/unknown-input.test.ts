import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { parse } from '../../../src/pix/brcode.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { payer, startApi } from '../../support/api.ts'
import { makePaid, returnOf } from '../../support/payments.ts'
import { PATH } from '../../support/withdrawals.ts'
import { stored } from '../storage.ts'
import { WRITES } from '../writes.ts'

const api = await startApi()
const client = await api.client()

const MANY = Object.fromEntries(Array.from({ length: 3900 }, (_, i) => [`field${i}`, 1]))

const charge = (fields: object = {}) => ({ amount: 1990, customer: payer(), ...fields })
const ignoredBy = async (json: unknown, headers: Record<string, string> = {}) => {
  const reply = await client.post('/charge/pix', json, { headers })
  return { ...reply, ignored: reply.headers.get('x-ignored-fields') }
}

test('every operation refuses a query parameter that it does not have, and does nothing', async () => {
  const before = await stored(api)
  for (const { method, path, query } of ROUTES) {
    const what = `${method} ${path}`
    const address = `${path.replaceAll(/\{\w+\}/g, 'x')}?unheardOf=1`
    const { status, body } = await client.call(method, address)
    assert.equal(status, 400, what)
    const known = Object.keys(query?.properties ?? {}).join(', ') || 'none'
    const descriptions = body.errors.map(({ description }: { description: string }) => description)
    const expected = `unheardOf: is not a query parameter of this operation, which takes ${known}`
    assert.ok(descriptions.includes(expected), `${what}: ${descriptions}`)
    assert.ok(
      body.errors.every(({ code }: { code: string }) => code === 'invalid_value'),
      what,
    )
  }
  assert.deepEqual(await stored(api), before)
})

test('a parameter that is spelled almost right is answered with the right spelling', async () => {
  const meant: Record<string, string> = {
    paymentstatus: 'paymentStatus',
    payment_status: 'paymentStatus',
    limt: 'limit',
    stauts: 'status',
    'created-from': 'createdFrom',
    externalID: 'externalId',
  }
  for (const [wrong, right] of Object.entries(meant)) {
    const { status, body } = await client.get(`/charge?${wrong}=PAID`)
    assert.equal(status, 400)
    assert.ok(body.message.startsWith(`${wrong}: is not a query parameter of`), body.message)
    assert.ok(body.message.includes(` (did you mean ${right}?), which takes limit,`), body.message)
  }
  const { body } = await client.get('/charge?foo=1')
  assert.ok(!body.message.includes('did you mean'), body.message)
})

test('an unknown parameter is one violation among the others, in each version', async () => {
  for (const version of VERSION_NAMES) {
    const headers = { 'X-Api-Version': version }
    const { status, body } = await client.get('/charge?sort=asc&limit=0&status=x', { headers })
    assert.equal(status, 400)
    assert.match(body.message, /^sort: .*, and 2 more fields are invalid$/)
  }
})

test('no name of a parameter, however odd or many, is a fault of ours or grows the answer', async () => {
  const odd = [
    '=',
    '%00=1',
    '%ed%a0%80=1',
    'a%3Ab=1',
    '%0d%0aX-Evil:1=1',
    '__proto__=1',
    'constructor',
  ]
  for (const query of [...odd, `${'x'.repeat(8000)}=1`]) {
    const { status, text, headers } = await client.get(`/company?${query}`)
    assert.equal(status, 400, query.slice(0, 40))
    assert.ok(text.length < 1000, query.slice(0, 40))
    assert.equal(headers.get('x-evil'), null)
  }
  const many = Array.from({ length: 2500 }, (_, i) => `p${i}`)
  const { status, body, text } = await client.get(`/charge?${many.join('&')}`)
  assert.deepEqual([status, body.errors.length], [400, 20])
  assert.match(body.message, /, and 2499 more fields are invalid$/)
  assert.ok(text.length < 20_000)
})

test('HEAD of a list is refused like its GET', async () => {
  const headOf = (path: string) =>
    fetch(api.url + path, { method: 'HEAD', headers: { 'X-API-KEY': client.key } })
  assert.equal((await headOf('/charge?paymentstatus=PAID')).status, 400)
  assert.equal((await headOf('/charge?limit=1')).status, 200)
})

test('payers’ orders are refused like operations; pages and what banks call take any query', async () => {
  for (const path of ['/bank/pix', '/bank/authorizations', '/pay/x/subscription']) {
    const { status, body } = await api.call('POST', `${path}?foo=1`, { json: {} })
    assert.equal(status, 400, path)
    assert.ok(body.message.startsWith('foo: is not a query parameter'), body.message)
  }
  const made = await client.post('/charge/pix', charge())
  const url = made.body.data.url.replace('http://vintem.test', api.url)
  assert.equal((await fetch(`${url}?utm_source=mail`)).status, 200)
  const code = parse(made.body.data.brCode)
  const location = code.kind === 'dynamic' ? code.location.replace('vintem.test', '') : ''
  assert.equal((await api.call('GET', `${location}?codMun=3550308&DPP=2026-08-20`)).status, 200)
})

test('fields that nobody reads are named by their paths, and the charge is made without them', async () => {
  const customer = payer({ foo: 1, address: 'Rua A' })
  const { status, ignored, body } = await ignoredBy(charge({ customer, Amount: 5, meta: { a: 1 } }))
  assert.equal(status, 201)
  assert.equal(ignored, 'customer.foo, Amount, meta')
  assert.ok(!JSON.stringify(body).includes('meta'))
  assert.equal((await ignoredBy(charge())).ignored, null)
  const productId = (await client.post('/product', { name: 'Pão', description: '', price: 900 }))
    .body.data.id
  const items = [
    { productId, quantity: 1 },
    { productId, quantity: 1, bar: 'x' },
  ]
  const link = await client.post('/charge/payment-link', { customer: payer(), items })
  assert.equal(link.headers.get('x-ignored-fields'), 'items[1].bar')
})

/** Leaving a field out means all of it, money moves, or something is gone. */
const isRisky = (method: string, path: string): boolean =>
  method === 'DELETE' ||
  /^\/(refund|payment|account-balance|dispute)\/|\/(replay|return|dispute|decide|payout)$/.test(
    path,
  )

for (const { operationId, method, path: pattern } of ROUTES) {
  if (method === 'GET') continue
  const refuses = isRisky(method, pattern)
  const what = refuses ? 'refuses an unknown field and does nothing' : 'names what it ignores'
  test(`${operationId} ${what}`, async () => {
    const own = await api.client()
    const { path, body } = await WRITES[operationId]!(own, api)
    const before = await stored(api)
    const reply = await own.call(method, path, { json: { ...body, unheardOf: 1 } })
    const ignored = reply.headers.get('x-ignored-fields')
    if (!refuses) {
      assert.ok(reply.status < 300, reply.text)
      assert.equal(ignored, 'unheardOf')
      return
    }
    assert.deepEqual([reply.status, ignored], [400, null])
    assert.equal(reply.body.errors[0].code, 'invalid_value')
    assert.match(reply.body.message, /^unheardOf: is not a field of this operation, which takes /)
    assert.deepEqual(await stored(api), before)
    const right = await own.call(method, path, { json: body })
    assert.ok(right.status < 300, right.text)
  })
}

test('a field is refused with the one that was probably meant, beside all other violations', async () => {
  const { id } = await makePaid(api, client, 10_000)
  const refused = async (json: object, version = '2026-08-16') => {
    const { status, body } = await client.post(`/refund/${id}`, json, {
      headers: { 'X-Api-Version': version },
    })
    assert.equal(status, 400)
    return body
  }
  const meant = { valeu: 'value', Value: 'value', amout: 'value', coment: 'comment' }
  for (const [wrong, right] of Object.entries(meant)) {
    const { message } = await refused({ [wrong]: 500 })
    const known = 'which takes value, comment'
    assert.equal(
      message,
      `${wrong}: is not a field of this operation (did you mean ${right}?), ${known}`,
    )
  }
  const several = await refused({ valor: 500, comment: 7 })
  assert.equal(several.errors.length, 2)
  const old = await refused({ cents: 500 }, '2025-01-01')
  assert.deepEqual([old.statusCode, old.error], [400, 'invalid_value'])
  const odd = await refused({ 'a\r\nX-Evil: 1': 's3cret', ...MANY })
  assert.equal(odd.errors.length, 20)
  assert.ok(!JSON.stringify(odd).includes('s3cret'))
  for (const json of [[1], 'all', 5]) {
    const reply = await client.call('DELETE', '/client/x', { json })
    assert.deepEqual([reply.status, reply.body.message], [400, 'body: must be an object'])
  }
})

test('amount is another name of value in refunds and withdrawals, but not beside it', async () => {
  const own = await api.client()
  const { id } = await makePaid(api, own, 10_000)
  const refund = await own.post(`/refund/${id}`, { amount: 500 })
  assert.deepEqual([refund.status, refund.body.data.value], [201, 500])
  assert.equal(refund.headers.get('x-ignored-fields'), null)
  const { endToEndId } = await makePaid(api, own, 700)
  const returned = await own.post(returnOf(endToEndId), { amount: 200 })
  assert.deepEqual([returned.status, returned.body.data.value], [201, 200])
  const before = await stored(api)
  for (const path of [`/refund/${id}`, PATH, returnOf(endToEndId)]) {
    const both = await own.post(path, { value: 500, amount: 500 })
    assert.deepEqual(
      [both.status, both.body.message],
      [400, 'amount: is another name of value: send only one of them'],
    )
    const text = await own.post(path, { amount: '500' })
    assert.deepEqual([text.status, text.body.message], [400, 'value: must be a whole number'])
  }
  assert.deepEqual(await stored(api), before)
  const started = await own.post(PATH, { amount: 700 })
  assert.equal(started.status, 201, started.text)
  const shown = await own.get(`${PATH}/${started.body.data.withdrawId}`)
  assert.equal(shown.body.data.value, 700)
})

test('a replay names the same fields as the first answer', async () => {
  const key = { 'Idempotency-Key': 'ignored 1' }
  const json = charge({ foo: 1, customer: payer({ bar: 2 }) })
  const replies = [await ignoredBy(json, key), await ignoredBy(json, key)]
  assert.equal(replies[1]!.headers.get('idempotent-replayed'), 'true')
  for (const { ignored } of replies) assert.equal(ignored, 'customer.bar, foo')
  const again = charge({ foo: 1, externalId: 'ignored 2' })
  for (const { ignored } of [await ignoredBy(again), await ignoredBy(again)]) {
    assert.equal(ignored, 'foo')
  }
})

test('a refusal names them too: the missing field may be there under another name', async () => {
  const { status, ignored } = await ignoredBy({ amount: 1990, customer: { name: 'M', taxID: '1' } })
  assert.deepEqual([status, ignored], [400, 'customer.taxID'])
  const link = { total: 500, customerId: 'clnt_00000000000000000000000000', foo: 1 }
  const missing = await client.post('/charge/payment-link', link)
  assert.deepEqual([missing.status, missing.headers.get('x-ignored-fields')], [404, 'foo'])
})

test('names are safe in a header: encoded, without values, bounded in number and length', async () => {
  const odd = { 'a\r\nX-Evil: 1': 's3cret', 'a,b': 1, 'a.b': 1, é: 1, '': 1, '\ud800': 1 }
  const { ignored, headers, status } = await ignoredBy(
    charge({ 'a\r\nX-Evil: 1': 's3cret', 'a,b': 1 }),
  )
  assert.equal(status, 201)
  assert.equal(ignored, 'a%0D%0AX-Evil%3A%201, a%2Cb')
  assert.equal(headers.get('x-evil'), null)
  const all = await ignoredBy(charge(odd))
  assert.match(all.ignored!, /^[\x21-\x7e]+(, [\x21-\x7e]+)*$/)
  const inherited = await ignoredBy(JSON.parse('{"constructor": 1, "toString": 2}'))
  assert.equal(inherited.ignored, 'constructor, toString')
  for (const name of ['x'.repeat(60_000), 'é'.repeat(20_000)]) {
    const { ignored: long } = await ignoredBy(charge({ [name]: 1, ...odd }))
    assert.ok(long!.length <= 1000, String(long!.length))
  }
  const { ignored: cut } = await ignoredBy(charge(MANY))
  assert.equal(cut!.split(', ').length, 21)
  assert.ok(cut!.startsWith('field0, field1, ') && cut!.endsWith(', field19, ...'))
})
