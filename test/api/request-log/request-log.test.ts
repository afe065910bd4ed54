import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRequestLog } from '../../../src/core/request-log/batch.ts'
import { expiredPart, type LoggedRequest, partOf } from '../../../src/core/request-log/rules.ts'
import {
  emptyPart,
  findRequest,
  insertRequests,
  listRequests,
  listUsedOperations,
} from '../../../src/core/request-log/store.ts'
import { createTx } from '../../../src/db/database.ts'
import { idOfSuffix, lowestIdAt, newId } from '../../../src/lib/ids.ts'
import { createMetrics } from '../../../src/lib/metrics.ts'
import { type Client, payer, startApi } from '../../support/api.ts'

const api = await startApi()
const { db } = api.app
const DAY_MS = 24 * 3600 * 1000
const ALL = {
  status: null,
  operation: null,
  keyId: null,
  from: lowestIdAt(new Date(0)),
  before: null,
}

async function requestsOf({ company }: Client, filter: Partial<typeof ALL> | object = {}) {
  await api.app.requestLog.idle()
  return (await listRequests(db, company.id, { ...ALL, ...filter }, 100)).requests
}

const requestAt = (companyId: string, at: Date, operation = 'getCompany'): LoggedRequest => ({
  companyId,
  id: lowestIdAt(at).slice(0, 24) + newId().slice(24),
  keyId: companyId,
  operation,
  status: 200,
  errorCode: null,
  ms: 3,
  callerId: null,
})

test('each request of a company is logged with its key, status, error code and time', async () => {
  const client = await api.client()
  const headers = { 'Idempotency-Key': 'one' }
  const made = await client.post('/charge/pix', { amount: 900, customer: payer() })
  const wrong = await client.post('/product', { name: 7 })
  const missing = { amount: 900, customerId: 'clnt_00000000000000000000000000' }
  const link = { total: 900, customerId: missing.customerId }
  await client.post('/charge/payment-link', link, { headers })
  const again = await client.post('/charge/payment-link', link, { headers })
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const logged = await requestsOf(client)
  assert.deepEqual(
    logged.map(({ operation, status, errorCode }) => [operation, status, errorCode]),
    [
      ['createPaymentLink', 404, 'customer_not_found'],
      ['createPaymentLink', 404, 'customer_not_found'],
      ['createProduct', 400, 'invalid_value'],
      ['createPixCharge', 201, null],
    ],
  )
  const [key] = await api.rows<{ id: string }>('select id from api_keys where company_id = $1', [
    client.company.id,
  ])
  assert.ok(logged.every(({ keyId, ms }) => keyId === key!.id && ms >= 0 && ms < 60_000))
  const id = idOfSuffix(wrong.headers.get('x-request-id')!)!
  assert.equal((await findRequest(db, client.company.id, id))?.errorCode, 'invalid_value')
  const other = await api.client()
  assert.equal(await findRequest(db, other.company.id, id), null)
  assert.equal(logged.at(-1)!.id, idOfSuffix(made.headers.get('x-request-id')!))
})

test('an error in the first version has its code too', async () => {
  const client = await api.client({}, { apiVersion: '2025-01-01' })
  await client.post('/product', { name: 7 })
  await client.get('/charge/charge_00000000000000000000000000')
  const codes = (await requestsOf(client)).map(({ errorCode }) => errorCode)
  assert.deepEqual(codes, ['charge_not_found', 'invalid_value'])
})

test('requests are found by status, operation, key and period', async () => {
  const client = await api.client()
  await client.get('/company')
  await client.get('/product')
  await client.post('/product', { name: 7 })
  await client.get('/product?limit=0')
  const namesOf = async (filter: object) =>
    (await requestsOf(client, filter)).map(({ operation }) => operation)
  assert.deepEqual(await namesOf({}), [
    'listProducts',
    'createProduct',
    'listProducts',
    'getCompany',
  ])
  assert.deepEqual(await namesOf({ status: 'refused' }), ['listProducts', 'createProduct'])
  assert.deepEqual(await namesOf({ status: 'ok' }), ['listProducts', 'getCompany'])
  assert.deepEqual(await namesOf({ status: 'failed' }), [])
  assert.deepEqual(await namesOf({ operation: 'createProduct' }), ['createProduct'])
  assert.deepEqual(await namesOf({ operation: 'createProduct', status: 'ok' }), [])
  assert.deepEqual(await namesOf({ operation: 'listProducts', status: 'refused' }), [
    'listProducts',
  ])
  const [{ keyId, id } = { keyId: '', id: '' }] = await requestsOf(client)
  assert.equal((await namesOf({ keyId })).length, 4)
  assert.equal((await namesOf({ keyId: newId() })).length, 0)
  assert.equal((await namesOf({ before: id })).length, 3)
  assert.equal((await namesOf({ from: lowestIdAt(new Date(Date.now() + DAY_MS)) })).length, 0)
})

test('the operations that a company has used are known, and when each was last used', async () => {
  const { company } = await api.client()
  const now = Date.now()
  const daysAgo = (days: number) => new Date(now - days * DAY_MS)
  await insertRequests(db, [
    requestAt(company.id, daysAgo(1), 'listProducts'),
    requestAt(company.id, daysAgo(3), 'listProducts'),
    requestAt(company.id, daysAgo(2), 'createProduct'),
    requestAt(company.id, daysAgo(6), 'getCompany'),
  ])
  const used = await listUsedOperations(db, company.id, daysAgo(5))
  assert.deepEqual(used, [
    { operation: 'createProduct', lastAt: daysAgo(2) },
    { operation: 'listProducts', lastAt: daysAgo(1) },
  ])
  assert.deepEqual(await listUsedOperations(db, newId(), daysAgo(5)), [])
})

test('what is older than a week is removed, and nothing younger', async () => {
  const { company } = await api.client()
  const now = new Date('2027-03-10T00:00:00.001Z')
  const ages = Array.from({ length: 9 }, (_, days) => days)
  const all = ages.map((days) => requestAt(company.id, new Date(now.getTime() - days * DAY_MS)))
  await insertRequests(db, all)
  await emptyPart(db, expiredPart(now))
  const { requests: left } = await listRequests(db, company.id, ALL, 100)
  const isKept = ({ id }: LoggedRequest) => left.some((one) => one.id === id)
  assert.deepEqual(all.map(isKept), [true, true, true, true, true, true, true, true, false])
  assert.notEqual(partOf(all[0]!), expiredPart(now), 'today has another part')
})

test('if the database is away, few requests wait, each company has its share, others are counted', async () => {
  const metrics = createMetrics()
  let release = () => {}
  const away = new Promise<never>((_resolve, reject) => {
    release = () => reject(new Error('away'))
  })
  away.catch(() => {})
  const light = createTx({ query: () => away, wake() {}, notify() {} })
  const log = createRequestLog({ ...db, light }, metrics.registry)
  const [busy, other] = [newId(), newId()]
  for (let n = 0; n < 30_000; n++) log.add(requestAt(busy, new Date()))
  const lost = async () =>
    Number(/^vintem_logged_requests_lost_total (\d+)/m.exec(await metrics.text())![1])
  assert.equal(await lost(), 25_000)
  log.add(requestAt(other, new Date()))
  assert.equal(await lost(), 25_000)
  release()
  await log.idle()
  assert.equal(await lost(), 30_001)
  log.add(requestAt(busy, new Date()))
  await log.idle()
  assert.equal(await lost(), 30_002, 'there is room again')
})

test('no body and nothing of the payer is in the log', async () => {
  const client = await api.client()
  await client.post('/charge/pix', { amount: 900, customer: payer({ name: 'Hidden Person' }) })
  await client.get('/client?taxId=52998224725')
  const logged = JSON.stringify(await requestsOf(client))
  assert.match(logged, /listCustomers/)
  assert.doesNotMatch(logged, /Hidden|52998224725/)
})

test('the id that a caller has sent is kept beside ours, if it can be shown', async () => {
  const client = await api.client()
  const ask = async (id: string) => {
    const { headers } = await client.get('/company', { headers: { 'X-Request-Id': id } })
    const own = headers.get('x-request-id')!
    assert.notEqual(own, id, 'answers have our id')
    await api.app.requestLog.idle()
    return (await findRequest(db, client.company.id, idOfSuffix(own)!))!.callerId
  }
  for (const id of ['order-42/"a"', 'x'.repeat(128)]) assert.equal(await ask(id), id)
  for (const id of ['', 'two words', 'x'.repeat(129), 'caf\u00e9'])
    assert.equal(await ask(id), null)
})
