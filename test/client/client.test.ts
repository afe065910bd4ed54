import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BadRequestError,
  ConflictError,
  ConnectionError,
  IgnoredFieldsError,
  NotFoundError,
  Vintem,
} from '../../packages/client/src/index.ts'
import { VERSION_NAMES } from '../../src/versions/history.ts'
import { releaseDueCharges } from '../../src/worker/due.ts'
import { payer, startApi } from '../support/api.ts'

const api = await startApi()
const { key, company } = await api.client()
const vintem = new Vintem({ url: api.url, key })
const old = new Vintem({ url: api.url, key, version: '2025-01-01' })
const dev = { amount: 1990, customer: payer(), devMode: true }

/** What a call fails with. */
const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => assert.fail('it was answered'),
    (error) => error,
  )

test('creates, pays and reads a charge, with what came around the answer', async () => {
  const charge = await vintem.charges.createPix(dev)
  const paid = await vintem.charges.simulatePayment(charge.id)
  assert.equal(paid.paymentStatus, 'PAID')
  const { data, status, headers, requestId } = await vintem.charges.get(charge.id).withResponse()
  assert.deepEqual([data.total, status, headers.get('x-api-version')], [1990, 200, vintem.version])
  assert.match(requestId!, /^\w{20,}$/)
})

test('both versions have one surface: the same data, in the spelling of each', async () => {
  const { id } = await old.charges.createPix(dev)
  await old.charges.simulatePayment(id)
  api.clock.advance(company.releaseDelay_s)
  await releaseDueCharges.run(api.app)
  assert.equal((await old.charges.get(id)).paymentStatus, 'RECIEVED')
  const { paymentStatus, ...others } = await vintem.charges.get(id)
  assert.equal(paymentStatus, 'RECEIVED')
  assert.deepEqual({ ...(await old.charges.get(id)), paymentStatus }, { paymentStatus, ...others })
  const [found] = await old.charges.list({ paymentStatus: 'RECIEVED' })
  assert.equal(found?.id, id)
})

test('both versions have the same errors', async () => {
  const seen = []
  for (const version of VERSION_NAMES as ['2025-01-01', '2026-08-16']) {
    const other = await api.client()
    const client = new Vintem({ url: api.url, key: other.key, version })
    const missing = await errorOf(client.charges.get('charge_none'))
    assert.ok(missing instanceof NotFoundError)
    const invalid = await errorOf(client.charges.createStatic({ amount: 0.5 }))
    assert.ok(invalid instanceof BadRequestError)
    const { withdrawId } = await client.withdrawals.start({ value: 1000 })
    const conflict = await errorOf(client.withdrawals.start({ value: 1000 }))
    assert.ok(conflict instanceof ConflictError)
    assert.equal(conflict.errors[0]?.withdrawId, withdrawId)
    seen.push([missing, invalid, conflict].map(({ code, message }) => [code, message]))
  }
  assert.deepEqual(seen[0], seen[1])
  assert.deepEqual(
    seen[0]!.map(([code]) => code),
    ['charge_not_found', 'invalid_value', 'withdrawal_pending'],
  )
})

test('a call with the same key again is the same answer, and acts once', async () => {
  const again = () => vintem.charges.createPix(dev, { idempotencyKey: 'order-7' }).withResponse()
  const [first, second] = [await again(), await again()]
  assert.deepEqual(second.data, first.data)
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
})

test('without a server it is a ConnectionError that says why', async () => {
  const nobody = new Vintem({ url: 'http://127.0.0.1:1', key, retries: 0 })
  const error = await errorOf(nobody.balance.get())
  assert.ok(error instanceof ConnectionError)
  assert.match(error.message, /^GET http:..127.0.0.1:1.account-balance: no answer \(.+\)$/)
})

test('what answers, but is not Vintém, is not taken for it', async () => {
  const fetch = async () => Response.json([{ id: 'charge_1' }])
  const other = new Vintem({ url: api.url, key, retries: 0, fetch })
  const error = await errorOf(other.balance.get())
  assert.match(error.message, /the answer is none of Vintém; is this its address\?$/)
})

test('a list is its first page, all its pages, or all its records', async () => {
  const shop = new Vintem({ url: api.url, key: (await api.client()).key })
  for (let i = 0; i < 5; i += 1) await shop.charges.createPix({ ...dev, amount: 500 + i })
  const list = shop.charges.list({ limit: 2 })
  const amountsOf = (page: { total: number }[]) => page.map(({ total }) => total)
  assert.deepEqual(amountsOf(await list), [504, 503])
  const pages = []
  for await (const page of list.pages()) pages.push(amountsOf(page))
  assert.deepEqual(pages, [[504, 503], [502, 501], [500]])
  const amounts = []
  for await (const { total } of list) amounts.push(total)
  assert.deepEqual(amounts, [504, 503, 502, 501, 500])
  assert.deepEqual(amountsOf(await list.autoPagingToArray({ limit: 3 })), [504, 503, 502])
  const all = await shop.charges.list({ limit: 2 }).autoPagingToArray({ limit: 100 })
  assert.deepEqual(amountsOf(all), amounts)
  await assert.rejects(() => list.autoPagingToArray({ limit: 0 }), /^TypeError: limit: /)
})

test('a field that the server does not know is named, and the charge exists', async () => {
  const mistyped = { ...dev, externalID: 'order 9' }
  const error = await errorOf(vintem.charges.createPix(mistyped))
  assert.ok(error instanceof IgnoredFieldsError)
  assert.deepEqual(error.fields, ['externalID'])
  const { id } = error.data as { id: string }
  assert.equal((await vintem.charges.get(id)).total, 1990)
})

test('one client serves another company with its key', async () => {
  const other = await api.client()
  const { id } = await vintem.charges.createPix(dev, { key: other.key })
  const { message } = await errorOf(vintem.charges.get(id))
  assert.match(message, /charge/i)
  assert.equal((await vintem.charges.get(id, { key: other.key })).id, id)
})

test('the statement is a list, and a file by request', async () => {
  const entries = await vintem.balance.statement({ limit: 1 })
  assert.equal(entries.length, 1)
  const query = { format: 'csv', limit: 1 }
  const file = await vintem.request<string>('GET', '/account-balance/statement', { query })
  assert.equal(file.trim().split('\n').length, 2)
})
