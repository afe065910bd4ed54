import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'

const api = await startApi()

const body = { amount: 1990, customer: payer(), externalId: 'order 1' }
const replayed = ({ headers }: Reply) => headers.get('idempotent-replayed')

const chargesOf = ({ company }: Client) =>
  api.rows<{ status: string }>('select status from charges where company_id = $1 order by id', [
    company.id,
  ])

/** Each way to create a charge with an externalId. */
const WAYS: Record<string, (client: Client) => Promise<[string, Record<string, unknown>]>> = {
  'a Pix charge': async () => ['/charge/pix', { ...body, devMode: true }],
  'a payment link': async () => [
    '/charge/payment-link',
    { total: 1990, customer: payer(), externalId: 'order 1', devMode: true },
  ],
  'a duplicate': async (client) => {
    const original = await client.post('/charge/pix', { ...body, externalId: 'o', devMode: true })
    return [`/charge/duplicate/${original.body.data.id}`, { externalId: 'order 1' }]
  },
}

for (const [name, prepare] of Object.entries(WAYS)) {
  test(`${name} sent again while it is open is the same charge`, async () => {
    const client = await api.client()
    const [path, json] = await prepare(client)
    const first = await client.post(path, json)
    assert.equal(first.status, 201)
    assert.equal(first.body.data.externalId, 'order 1')
    assert.equal(replayed(first), null)
    const rows = await chargesOf(client)
    const events = await eventsOf(api, client.company.id)
    const again = await client.post(path, Object.fromEntries(Object.entries(json).reverse()))
    assert.equal(again.status, 201)
    assert.equal(replayed(again), 'true')
    assert.deepEqual(again.body, first.body)
    assert.deepEqual(await chargesOf(client), rows)
    assert.deepEqual(await eventsOf(api, client.company.id), events)
  })

  test(`${name} sent twenty times at once is one charge`, async () => {
    const client = await api.client()
    const [path, json] = await prepare(client)
    const before = await chargesOf(client)
    const replies = await Promise.all(Array.from({ length: 20 }, () => client.post(path, json)))
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201])
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
    assert.equal(replies.filter((reply) => replayed(reply) === 'true').length, 19)
    assert.equal((await chargesOf(client)).length, before.length + 1)
  })

  test(`${name} sent again after it was paid, canceled or expired is a new charge`, async () => {
    const client = await api.client()
    const [path, json] = await prepare(client)
    const made: string[] = []
    const closings: ((id: string) => Promise<unknown>)[] = [
      (id) => client.post(`/charge/${id}/simulate-payment`),
      (id) => client.post(`/charge/${id}/cancel`),
      async () => api.clock.advance(7 * 24 * 3600),
    ]
    for (const close of closings) {
      const { body, headers } = await client.post(path, json)
      assert.equal(headers.get('idempotent-replayed'), null)
      made.push(body.data.id)
      await close(body.data.id)
    }
    const last = await client.post(path, json)
    assert.deepEqual([last.status, replayed(last)], [201, null])
    assert.equal(new Set([...made, last.body.data.id]).size, 4)
    const statuses = await Promise.all(
      [...made, last.body.data.id].map(async (id) => {
        const { body } = await client.get(`/charge/${id}/status`)
        return body.data.status
      }),
    )
    assert.deepEqual(statuses, ['COMPLETED', 'CANCELED', 'EXPIRED', 'OPEN'])
    const events = await eventsOf(api, client.company.id)
    const expired = events.filter(
      ({ type, payload }) => type === 'charge.expired' && payload.charge.id === made[2],
    )
    assert.equal(expired.length, 1, 'the expired one has one event')
  })
}

test('another body, another reference or another company is another charge', async () => {
  const [client, stranger] = [await api.client(), await api.client()]
  const ids = new Set<string>()
  const posts: [Client, unknown][] = [
    [client, body],
    [client, { ...body, amount: 1991 }],
    [client, { ...body, customer: payer({ name: 'Ana' }) }],
    [client, { ...body, expiresIn: 60 }],
    [client, { ...body, externalId: 'order 2' }],
    [stranger, body],
  ]
  for (const [who, json] of posts) {
    const reply = await who.post('/charge/pix', json)
    assert.deepEqual([reply.status, replayed(reply)], [201, null])
    ids.add(reply.body.data.id)
  }
  assert.equal(ids.size, posts.length)
})

test('without a reference the same sale may be made twice', async () => {
  const client = await api.client()
  const sale = { amount: 1990, customer: payer() }
  const [one, two] = [
    await client.post('/charge/pix', sale),
    await client.post('/charge/pix', sale),
  ]
  assert.notEqual(one!.body.data.id, two!.body.data.id)
  assert.equal(one!.body.data.externalId, null)
})

test('a reference finds its charges, and only those', async () => {
  const client = await api.client()
  const one = await client.post('/charge/pix', body)
  const two = await client.post('/charge/pix', { ...body, amount: 700 })
  await client.post('/charge/pix', { ...body, externalId: 'order 10' })
  const found = await client.get('/charge?externalId=order%201')
  const ids = found.body.data.map(({ id }: { id: string }) => id)
  assert.deepEqual(ids, [two.body.data.id, one.body.data.id])
})

test('a blind retry with another Idempotency-Key is known by its reference', async () => {
  const client = await api.client()
  const post = (key: string) =>
    client.post('/charge/pix', body, { headers: { 'Idempotency-Key': key } })
  const [first, second] = [await post('a'), await post('b')]
  assert.equal(second.text, first.text)
  assert.equal(replayed(second), 'true')
  const again = await post('b')
  assert.equal(again.text, first.text)
  assert.equal((await chargesOf(client)).length, 1)
})
