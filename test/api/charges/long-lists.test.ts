import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asLongPage } from '../../../src/http/lists.ts'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { payer, startApi } from '../../support/api.ts'
import { makeCharge, pay } from '../../support/payments.ts'

const api = await startApi()
const client = await api.client()
/** More than a page has by default. */
const MANY = 120

const charges = Array.from({ length: MANY }, () =>
  client.post('/charge/pix', { amount: 700, customer: payer() }),
)
for (const { status } of await Promise.all(charges)) assert.equal(status, 201)

const LISTS = ROUTES.filter(({ method, query }) => {
  const fields = query?.properties as Record<string, unknown> | undefined
  return method === 'GET' && fields?.limit !== undefined
})

test('a page has 100 records, and 1,000 where lists were published without pages', async () => {
  const { body, headers } = await client.get('/charge')
  assert.equal(body.data.length, 100)
  assert.match(headers.get('link') ?? '', /rel="next"/)
  assert.equal((await client.get('/event')).body.data.length, 100)
  const described = LISTS.map(({ path, query }) => {
    const { limit } = query!.properties as { limit: { description: string } }
    return [path, /default (\d+)/.exec(limit.description)![1]]
  })
  const long = described.filter(([, size]) => size === '1000').map(([path]) => path)
  assert.deepEqual(long.sort(), [
    '/client',
    '/pix-automatic/recurrences',
    '/refund/charge/{chargeId}',
    '/webhook',
  ])
})

test('a list of charges shows QR images with include=qr only', async () => {
  const [plain] = (await client.get('/charge?limit=1')).body.data
  assert.ok(plain.brCode && !('brCodeBase64' in plain))
  const { body, headers } = await client.get('/charge?limit=1&include=qr')
  assert.match(body.data[0].brCodeBase64, /^data:image\/png;base64,/)
  assert.match(headers.get('link') ?? '', /include=qr/)
  assert.equal((await client.get('/charge?include=all')).status, 400)
})

test('a page of large records ends early, and the pages together miss nothing', async () => {
  const shop = await api.client()
  const description = 'a'.repeat(4096)
  const product = await shop.post('/product', { name: 'Pão', description, price: 700 })
  const productId = product.body.data.id
  const items = Array.from({ length: 100 }, () => ({ productId, quantity: 1 }))
  for (let n = 0; n < 25; n++) {
    const { status } = await shop.post('/charge/payment-link', { customer: payer(), items })
    assert.equal(status, 201)
  }
  const seen = new Set<string>()
  let pages = 0
  let path: string | undefined = '/charge'
  while (path) {
    const { body, headers, text } = await shop.get(path)
    assert.ok(text.length < 10 * 1024 * 1024, `${text.length}`)
    for (const { id } of body.data) seen.add(id)
    path = /<http:\/\/vintem\.test([^>]+)>/.exec(headers.get('link') ?? '')?.[1]
    pages++
  }
  assert.deepEqual([seen.size, pages], [25, 2])
})

test('a company reads one long page at a time, and short ones meanwhile', async () => {
  const reading = Promise.withResolvers<void>()
  const other = asLongPage(client.company.id, () => reading.promise)
  let isAnswered = false
  const long = client.get('/charge?limit=1000').then((reply) => {
    isAnswered = true
    return reply
  })
  assert.equal((await client.get('/charge?limit=100')).body.data.length, 100)
  assert.equal(isAnswered, false)
  reading.resolve()
  await other
  assert.equal((await long).body.data.length, MANY)
})

test('the longest block of the event loop is a metric', async () => {
  const text = await api.app.metrics.text()
  assert.match(text, /^vintem_event_loop_longest_block_seconds(?:\{place="1"\})? [\d.e-]+$/m)
})

/**
 * A payment has at most three suggestions. An event has one delivery for each webhook, and a
 * company has at most 50.
 */
const SHORT = [
  '/payment/unmatched/{endToEndId}/suggestions',
  '/event/{id}/deliveries',
  '/account-balance/figures',
]

test('every answer that is a list has pages', () => {
  const unpaged = ROUTES.filter(({ method, data, query }) => {
    const isList = (data as { type?: string }).type === 'array'
    return method === 'GET' && isList && !('limit' in (query?.properties ?? {}))
  })
  assert.deepEqual(
    unpaged.map(({ path }) => path),
    SHORT,
  )
})

test('the refunds of a charge come in pages, newest first, and none is missed', async () => {
  const { id, brCode } = await makeCharge(client, 10_000)
  await pay(api, brCode)
  const made: string[] = []
  for (let n = 0; n < 5; n++) {
    const { status, body } = await client.post(`/refund/${id}`, { value: 100 })
    assert.equal(status, 201)
    made.unshift(body.data.id)
  }
  const seen: string[] = []
  let path: string | undefined = `/refund/charge/${id}?limit=2`
  while (path) {
    const { body, headers } = await client.get(path)
    seen.push(...body.data.map((refund: { id: string }) => refund.id))
    path = /<http:\/\/vintem\.test([^>]+)>/.exec(headers.get('link') ?? '')?.[1]
  }
  assert.deepEqual(seen, made)
  assert.equal((await client.get(`/refund/charge/${id}`)).body.data.length, 5)
})
