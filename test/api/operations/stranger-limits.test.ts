import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { test } from 'node:test'
import { requireSameSecret } from '../../../src/core/installation.ts'
import { startApi } from '../../support/api.ts'
import { assertYields } from '../../support/loop.ts'
import { stopTime } from '../../support/stopped-time.ts'

const api = await startApi({ RATE_LIMIT: '500', TRUSTED_PROXIES: '127.0.0.1' })
const { server } = api.service

const ask = async (url: string, from: string): Promise<number> =>
  (await server.inject({ url, headers: { 'x-forwarded-for': from } })).statusCode

/** How many requests from addresses of one IPv6 network are answered before one is refused. */
async function countAnswered(url: string, most: number): Promise<number> {
  for (let n = 0; n < most; n++) {
    if ((await ask(url, `2001:db8:1:2:${n.toString(16)}::1`)) === 429) return n
  }
  return most
}

test('pages are limited for each address, and an IPv6 network counts as one', async (t) => {
  const time = stopTime(t)
  assert.equal(await countAnswered('/pay/nothing', 600), 500)
  assert.equal(await ask('/pay/nothing', '2001:db8:1:3::1'), 404, 'another network')
  const refused = await server.inject({
    url: '/pay/nothing/status',
    headers: { 'x-forwarded-for': '2001:db8:1:2::9' },
  })
  assert.equal(refused.statusCode, 429)
  assert.equal(refused.headers['retry-after'], '1')
  time.advance(1)
  assert.equal(await ask('/pay/nothing', '2001:db8:1:2::1'), 404)
})

test('pictures are limited for each address, and an IPv6 network counts as one', async (t) => {
  stopTime(t)
  const url = `/preview/nobody/pt-${'0'.repeat(20)}.png`
  const answered = []
  for (let n = 0; n < 101; n++) answered.push(await ask(url, `2001:db8:2:1:${n.toString(16)}::1`))
  assert.deepEqual([answered[99], answered[100]], [404, 429])
  assert.equal(await ask(url, '2001:db8:2:2::1'), 404, 'another network')
})

test('orders of payers are limited for each address before their body is read', async (t) => {
  stopTime(t)
  const order = (payload: string) =>
    server.inject({
      method: 'POST',
      url: '/bank/pix',
      headers: { 'x-forwarded-for': '192.0.2.77', 'content-type': 'application/json' },
      payload,
    })
  for (let n = 0; n < 500; n++) assert.equal((await order('{}')).statusCode, 400)
  assert.equal((await order('no JSON')).statusCode, 429)
})

test('docs are limited for all addresses together, which takes nothing from the API', async (t) => {
  stopTime(t)
  const client = await api.client()
  const answers = new Map<number, number>()
  for (let n = 0; n < 220; n++) {
    const status = await ask('/openapi.json', `2001:db8:3:${n.toString(16)}::1`)
    answers.set(status, (answers.get(status) ?? 0) + 1)
  }
  assert.deepEqual(Object.fromEntries(answers), { 200: 200, 429: 20 })
  assert.equal((await client.get('/company')).status, 200)
})

test('whoever asks whether the server is ready again and again makes it write once', async (t) => {
  await requireSameSecret(api.app.db, api.app.vault)
  const time = stopTime(t)
  const written = async () => (await api.rows('select xmin::text from installation'))[0]!.xmin
  assert.equal(await ask('/ready', '192.0.2.1'), 200)
  const first = await written()
  for (let n = 0; n < 20; n++) assert.equal(await ask('/ready', '192.0.2.1'), 200)
  assert.equal(await written(), first)
  time.advance(1)
  assert.equal(await ask('/ready', '192.0.2.1'), 200)
  assert.notEqual(await written(), first)
})

test('the first reader of the docs does not stop the server while they are compressed', async () => {
  const servers = [api, await startApi(), await startApi(), await startApi()]
  await assertYields('GET /docs/js/scalar.js', async () => {
    const { url } = servers.pop()!
    const headers = { 'accept-encoding': 'gzip' }
    const [reply] = await once(get(`${url}/docs/js/scalar.js`, { headers }), 'response')
    assert.equal(reply.headers['content-encoding'], 'gzip')
    let bytes = 0
    for await (const chunk of reply) bytes += chunk.length
    assert.ok(bytes > 300_000, `${bytes} bytes`)
  })
})
