import assert from 'node:assert/strict'
import { get } from 'node:http'
import { test } from 'node:test'
import { ROUTES } from '../../src/http/routes/all.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { assertYields } from '../support/loop.ts'

const api = await startApi()
const client = await api.client()
const MANY = 1000

for (let n = 0; n < MANY; n += 50) {
  const some = Array.from({ length: 50 }, () =>
    client.post('/charge/pix', { amount: 700, customer: payer() }),
  )
  for (const { status } of await Promise.all(some)) assert.equal(status, 201)
}

/** Reads an answer without doing anything with it, in this thread that is measured. */
function drain(path: string, { key }: Client, headers = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    const asking = get(api.url + path, { headers: { 'X-API-KEY': key, ...headers } }, (reply) => {
      assert.equal(reply.statusCode, 200)
      reply.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      reply.on('end', () => resolve(bytes))
    })
    asking.on('error', reject)
  })
}

const LISTS = ROUTES.filter(({ method, path, query }) => {
  const fields = query?.properties as Record<string, unknown> | undefined
  return method === 'GET' && fields?.limit !== undefined && !path.includes('{')
})

test('no list keeps the event loop for 50 ms, with 1,000 charges and their QR images', async () => {
  const paths = LISTS.map(({ path }) => `${path}?limit=1000`)
  for (const path of [...paths, '/charge?limit=1000&include=qr']) {
    for (const version of ['2026-08-16', '2025-01-01']) {
      const headers = { 'X-Api-Version': version }
      await assertYields(`${path} ${version}`, () => drain(path, client, headers))
    }
  }
  const files = ['plain', 'br'].map((name) => `format=csv&dialect=${name}`)
  for (const file of files) {
    const path = `/account-balance/statement?limit=1000&${file}`
    await assertYields(path, () => drain(path, client))
  }
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
  assert.deepEqual(long.sort(), ['/client', '/pix-automatic/recurrences', '/webhook'])
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
  await assertYields('a page of large records', () => drain('/charge', shop))
})

test('the longest block of the event loop is a metric', async () => {
  const text = await api.app.metrics.text()
  assert.match(text, /^vintem_event_loop_longest_block_seconds [\d.e-]+$/m)
})
