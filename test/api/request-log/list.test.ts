import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, startApi } from '../../support/api.ts'
import { makeCharge } from '../../support/payments.ts'

const api = await startApi()

type Shown = { id: string; operation: string; status: number; requestedAt: string; keyId: string }

async function listed(client: Client, query = ''): Promise<Shown[]> {
  await api.app.requestLog.idle()
  const { status, body, text } = await client.get(`/request-log${query}`)
  assert.equal(status, 200, text)
  return body.data
}

const operations = async (client: Client, query: string) =>
  (await listed(client, query)).map(({ operation }) => operation)

test('requests are listed by status, operation, key and period, and page by page', async () => {
  const client = await api.client()
  await client.get('/company')
  const refused = await client.post('/product', { name: 7 })
  await client.get('/product')
  const [newest, second, oldest] = await listed(client)
  assert.deepEqual(
    [newest!.operation, second!.operation, oldest!.operation],
    ['listProducts', 'createProduct', 'getCompany'],
  )
  assert.equal(second!.id, refused.headers.get('x-request-id'))
  assert.deepEqual(await operations(client, '?status=REFUSED'), ['createProduct'])
  assert.deepEqual(await operations(client, '?operation=getCompany'), ['getCompany'])
  assert.equal((await listed(client, `?keyId=${newest!.keyId}`)).length, 3)
  assert.deepEqual(await operations(client, `?to=${second!.requestedAt}`), ['getCompany'])
  const since = await operations(client, `?from=${second!.requestedAt}`)
  assert.deepEqual(since, ['listProducts', 'createProduct'])
  const first = await client.get('/request-log?limit=2')
  const next = new URL(/<([^>]+)>/.exec(first.headers.get('link')!)![1]!)
  assert.deepEqual(await operations(client, next.search), ['getCompany'])
})

test('periods of any length are answered, and nothing older than a week', async () => {
  const client = await api.client()
  await client.get('/company')
  for (const [query, count] of [
    ['from=2000-01-01', 1],
    ['to=2000-01-01', 0],
    ['from=2099-12-31', 0],
    ['to=2099-12-31T23:59:59Z', 1],
    ['from=2026-01-01&to=2025-01-01', 0],
  ] as const) {
    assert.equal((await listed(client, `?${query}`)).length, count, query)
  }
})

test('whoever follows the log does not fill it', async () => {
  const client = await api.client()
  for (let n = 0; n < 3; n++) await client.get('/request-log')
  await client.get('/request-log?limit=0')
  assert.deepEqual(await listed(client), [])
})

test('the newest events come first when they are asked for, of one type too, page by page', async () => {
  const client = await api.client()
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await makeCharge(client, 700)).id)
  const about = async (query: string) => {
    const { body, headers } = await client.get(`/event?order=newest&type=charge.pending${query}`)
    const link = headers.get('link')
    return {
      ids: body.data.map(({ data }: { data: { charge: { id: string } } }) => data.charge.id),
      next: link && new URL(/<([^>]+)>/.exec(link)![1]!).searchParams.get('after'),
    }
  }
  const page = await about('&limit=2')
  assert.deepEqual(page.ids, [ids[2], ids[1]])
  assert.deepEqual((await about(`&limit=2&after=${page.next}`)).ids, [ids[0]])
  const both = await client.get('/event?order=newest&wait=5')
  assert.deepEqual([both.status, both.body.errors[0].code], [400, 'invalid_value'])
})
