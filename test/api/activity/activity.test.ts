import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordActivity } from '../../../src/core/activity/record.ts'
import { type Entry, SERVICE } from '../../../src/core/activity/rules.ts'
import { listEntries } from '../../../src/core/activity/store.ts'
import { createOperate } from '../../../src/http/operate.ts'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { newId } from '../../../src/lib/ids.ts'
import { LATEST } from '../../../src/versions/history.ts'
import { payer, startApi } from '../../support/api.ts'
import { signIn } from '../../support/dashboard.ts'
import { tryAll } from '../every-route.ts'

const api = await startApi()
const ALL = { author: null, action: null, from: null, before: null }

async function entriesOf(companyId: string): Promise<Entry[]> {
  await api.app.lateActivity.idle()
  return listEntries(api.app.db, companyId, ALL, 1000)
}

test('the entry of a change says who, what, on which record, from where and when', async () => {
  const client = await api.client()
  const before = Date.now()
  const body = { name: 'Café', description: 'Moído', price: 700 }
  const product = await client.post('/product', body)
  await client.put(`/product/${product.body.data.id}`, { price: 800, sku: null })
  const charge = await client.post('/charge/pix', { amount: 1990, customer: payer() })
  const entries = await entriesOf(client.company.id)
  const [key] = await api.rows<{ id: string }>('select id from api_keys where company_id = $1', [
    client.company.id,
  ])
  const author = { kind: 'key', id: key!.id, name: 'test', address: '127.0.0.1' }
  assert.deepEqual(
    entries.map(({ author, action, record, details }) => ({ author, action, record, details })),
    [
      {
        author,
        action: 'createPixCharge',
        record: { type: 'charge', id: charge.body.data.id },
        details: { amount: 1990 },
      },
      {
        author,
        action: 'changeProduct',
        record: { type: 'product', id: product.body.data.id },
        details: { fields: ['price', 'sku'], price: 800 },
      },
      {
        author,
        action: 'createProduct',
        record: { type: 'product', id: product.body.data.id },
        details: { price: 700 },
      },
    ],
  )
  for (const { at } of entries) {
    assert.ok(at.getTime() >= before && at.getTime() <= Date.now())
  }
})

test('every operation that changes something leaves an entry', async () => {
  const tried = await tryAll(api, LATEST.name)
  await api.app.lateActivity.idle()
  const rows = await api.rows<{ action: string; record_type: string | null }>(
    'select distinct action, record_type from activity',
  )
  const writing = ROUTES.filter(({ method }) => method !== 'GET').map((one) => one.operationId)
  const done = tried.filter(
    ({ operationId, reply }) => reply.status < 300 && writing.includes(operationId),
  )
  const found = new Set(rows.map(({ action }) => action))
  assert.deepEqual(
    writing.filter((operationId) => !found.has(operationId)),
    [],
  )
  assert.ok(done.length > writing.length)
  assert.deepEqual(
    rows.filter(({ record_type }) => record_type === null),
    [],
  )
})

test('what is refused or repeated leaves no entry', async () => {
  const client = await api.client()
  const headers = { 'Idempotency-Key': 'once' }
  const body = { name: 'Pão', description: '', price: 100 }
  await client.post('/product', body, { headers })
  await client.post('/product', body, { headers })
  await client.post('/product', { name: 7 })
  await client.post('/charge/pix', { amount: 500, customer: payer(), externalId: 'a' })
  await client.post('/charge/pix', { amount: 500, customer: payer(), externalId: 'a' })
  await client.get('/product')
  const actions = (await entriesOf(client.company.id)).map(({ action }) => action)
  assert.deepEqual(actions, ['createPixCharge', 'createProduct'])
})

test('an operation from a page is the act of the person', async () => {
  const { company } = await api.client()
  const { person } = await signIn(api, company)
  const operate = createOperate(api.app, 'pages')
  const author = { kind: 'person', id: person.id, name: person.email, address: '::1' } as const
  await operate(
    'createProduct',
    { app: api.app, company, scopes: ['catalog:write'], author },
    { body: { name: 'Pão', description: '', price: 100 } },
  )
  const [entry] = await entriesOf(company.id)
  assert.deepEqual(entry!.author, author)
})

test('entries are never changed or deleted', async () => {
  const { company } = await api.client()
  await recordActivity(api.app.db, company.id, SERVICE, { action: 'company.update' })
  for (const statement of [
    'update activity set action = action',
    `delete from activity where company_id = '${newId()}'`,
    'truncate activity',
  ]) {
    await assert.rejects(api.rows(statement), /never changed or deleted/)
  }
  assert.equal((await entriesOf(company.id)).length, 1)
})

test('no personal data and no secret of a request is in the log', async () => {
  const client = await api.client()
  await client.post('/client', { ...payer({ name: 'Hidden Person' }), status: 'ACTIVE' })
  await client.post('/charge/pix', { amount: 990, customer: payer({ name: 'Hidden Person' }) })
  const { body } = await client.post('/webhook', {
    name: 'a',
    url: 'http://127.0.0.1:1/hidden',
    events: ['charge.paid'],
  })
  const text = JSON.stringify(await entriesOf(client.company.id))
  assert.match(text, /createWebhook/)
  assert.doesNotMatch(text, /hidden|52998224725/i)
  assert.ok(!text.includes(body.data.secret))
})
