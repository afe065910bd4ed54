import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { payer, startApi } from '../../support/api.ts'
import { at, linkTo } from '../../support/pages.ts'
import { stopTime } from '../../support/stopped-time.ts'

const api = await startApi()
const client = await api.client()
const { data } = (await client.post('/charge/pix', { amount: 1000, customer: payer() })).body

test('every answer says what it is, who may keep it, and that no frame may show it', async () => {
  const page = new URL(at(api, data.url)).pathname
  for (const path of [
    '/health',
    '/ready',
    '/openapi.json',
    '/docs',
    '/docs/',
    '/nowhere',
    '/',
    '/bank',
    '/charge',
    `/charge/${data.id}`,
    '/account-balance/statement?format=csv',
    '/%zz',
    page,
  ]) {
    const reply = await client.get(path)
    assert.equal(reply.headers.get('x-content-type-options'), 'nosniff', path)
    assert.match(reply.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path)
    assert.equal(reply.headers.get('strict-transport-security'), null, path)
    const isKept = /^\/(docs|openapi)/.test(path) && reply.status === 200
    const expected = isKept ? 'public, max-age=3600' : 'no-store'
    assert.equal(reply.headers.get('cache-control'), expected, path)
  }
  const created = await client.post('/charge/pix', { amount: 1000, customer: payer() })
  const refused = await api.call('POST', '/charge/pix', { json: {} })
  for (const { headers } of [created, refused]) {
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
  }
})

test('a service that is reached by https is reached by https only', async () => {
  const secure = await startApi({}, { publicUrl: 'https://pix.example.com' })
  const { key } = await secure.client()
  for (const path of ['/health', '/docs', '/', '/nowhere', '/charge']) {
    const { headers } = await secure.call('GET', path, { headers: { 'x-api-key': key } })
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', path)
  }
})

test('docs are compressed, kept by readers, and sent again only when they have changed', async () => {
  const { text: page } = await api.call('GET', '/docs/')
  const script = /src="([^"]+)"/.exec(page)![1]!
  for (const path of ['/openapi.json', '/docs/', new URL(script, `${api.url}/docs/`).pathname]) {
    const headers = { 'accept-encoding': 'gzip' }
    const reply = await request(api.url + path, { headers })
    assert.equal(reply.statusCode, 200, path)
    assert.equal(reply.headers['content-encoding'], 'gzip', path)
    const packed = Buffer.from(await reply.body.arrayBuffer())
    assert.equal(gunzipSync(packed).toString(), (await api.call('GET', path)).text)
    const tag = String(reply.headers.etag)
    const again = await request(api.url + path, { headers: { ...headers, 'if-none-match': tag } })
    assert.deepEqual([again.statusCode, await again.body.text()], [304, ''], path)
  }
})

test('docs are limited for each address', async (t) => {
  const limited = await startApi({ RATE_LIMIT: '500' })
  stopTime(t)
  const statuses = new Set<number>()
  for (let n = 0; n < 300 && !statuses.has(429); n += 1) {
    statuses.add((await limited.service.server.inject('/openapi.json')).statusCode)
  }
  assert.deepEqual([...statuses], [200, 429])
  const elsewhere = { url: '/openapi.json', remoteAddress: '127.0.0.9' }
  assert.equal((await limited.service.server.inject(elsewhere)).statusCode, 200)
})

test('no form is taken that another site sends through a browser', async () => {
  const shipping = new URL(
    await linkTo(api, client, { total: 5000, collectShipping: true, successUrl: 'http://x.test/' }),
  ).pathname
  const post = async (url: string, headers: Record<string, string>) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const { server } = api.service
    return (await server.inject({ method: 'POST', url, headers: { ...type, ...headers } }))
      .statusCode
  }
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example.com' },
    { origin: 'http://vintem.test.evil.example.com' },
  ]
  for (const url of [shipping, '/bank/pay', '/sandbox/reset']) {
    for (const headers of foreign) assert.equal(await post(url, headers), 400, url)
  }
  for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: 'http://vintem.test' }]) {
    assert.notEqual(await post('/sandbox/reset', headers), 400)
  }
  assert.equal(await post('/sandbox/reset', { origin: 'null' }), 400)
})
