import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { setMembership } from '../../src/core/people/store.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { newId, packPair } from '../../src/lib/ids.ts'
import { payer, type Reply, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

/** A proxy before a database that can stop forwarding, as a frozen machine does. */
async function startProxy(target: string) {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((socket) => {
    const other = connect(Number(port || 5432), hostname)
    for (const [one, next] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one)
      one.on('data', (data) => next.write(data))
      one.on('error', () => next.destroy())
      one.on('close', () => {
        sockets.delete(one)
        next.destroy()
      })
      if (isFrozen) one.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const set = (value: boolean) => {
    isFrozen = value
    for (const socket of sockets) value ? socket.pause() : socket.resume()
  }
  after(() => {
    set(false)
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: url.href, freeze: () => set(true), thaw: () => set(false) }
}

const proxy = await startProxy(await cloneDatabase())
const api = await startApi({}, { places: [await cloneDatabase(), proxy.url] })
const [first] = appsOf(api.app) as [typeof api.app]

const newCharge = () => ({ amount: 1000, customer: payer() })

/** Less than anything waits for that is not refused at once, on a busy machine too. */
const AT_ONCE_MS = 1_500

async function inTime<R>(name: string, asked: Promise<R>, within_ms = AT_ONCE_MS): Promise<R> {
  const late = pause(within_ms, null, { ref: false })
  const reply = await Promise.race([asked, late])
  assert.ok(reply, `${name}: no answer within ${within_ms} ms`)
  return reply
}

async function assertRefused(name: string, asked: Promise<Reply>, within_ms?: number) {
  const { status, headers, text } = await inTime(name, asked, within_ms)
  assert.equal(status, 503, `${name}: ${text}`)
  assert.match(headers.get('retry-after') ?? '', /^\d+$/, name)
}

test('a frozen place is refused at once, and companies of the other place notice nothing', async () => {
  const frozen = await api.client({ name: 'Mercado da Praia' })
  const nearby = { app: first }
  const known = await api.client({ name: 'Padaria' }, nearby)
  const other = await api.client({ name: 'Bazar' }, nearby)
  const unseen = await api.client({ name: 'Nunca visto' })
  const link = await frozen.post('/charge/payment-link', { total: 1000, customer: payer() })
  const page = new URL(link.body.data.url).pathname
  const { data: code } = (await known.post('/charge/pix/static', { amount: 700 })).body
  const member = await signIn(api, known.company, { language: 'en' })
  await setMembership(
    first.db.control,
    frozen.company.id,
    member.person.id,
    'owner',
    api.clock.now(),
  )
  const operator = await signIn(api, known.company, { isOperator: true, language: 'en' })
  const callback = (company: string) =>
    api.call('POST', `/bank/callbacks/${packPair(company, newId())}`, { json: { pix: [] } })
  assert.equal((await frozen.post('/charge/pix', newCharge())).status, 201)

  proxy.freeze()
  // Until it is noticed, which takes four seconds, requests wait.
  const waiting = [frozen.get('/account-balance'), frozen.post('/charge/pix', newCharge())]
  for (const asked of waiting) await assertRefused('a request that waits', asked, 8_000)

  for (let round = 0; round < 2; round += 1) {
    await assertRefused('a charge', frozen.post('/charge/pix', newCharge()))
    await assertRefused('a read', frozen.get('/charge'))
    await assertRefused('a key that is new here', unseen.get('/charge'))
    await assertRefused('a page of a payer', api.call('GET', page))
    await assertRefused('a callback', callback(frozen.company.id))
    const unknown = { headers: { 'X-API-KEY': `${frozen.key.slice(0, -4)}AAAA` } }
    await assertRefused('a key that nobody may have', api.call('GET', '/charge', unknown))
    const made = await inTime('a charge nearby', known.post('/charge/pix', newCharge()))
    assert.equal(made.status, 201, made.text)
  }
  assert.equal((await inTime('a new key nearby', other.get('/charge'))).status, 200)
  assert.equal((await inTime('a callback nearby', callback(known.company.id))).status, 404)
  const paid = await inTime(
    'a static code nearby',
    api.call('POST', '/bank/pix', { json: { brCode: code.brCode } }),
  )
  assert.equal(paid.status, 201, paid.text)
  assert.equal((await inTime('the simulated bank', api.call('GET', '/bank'))).status, 200)
  const front = await inTime('the front page', api.call('GET', '/?lang=en'))
  assert.doesNotMatch(front.text, /does not answer|is not answering/)
  const home = await inTime('a dashboard', member.get('//dashboard'))
  assert.match(home.text, /Some of your companies cannot be reached/)
  for (const path of ['', '/companies', '/work', '/webhooks', '/mails', '/banks']) {
    const { status, text } = await inTime(path, operator.get(`//operator${path}`))
    assert.equal(status, 200, path)
    assert.match(text, /Place 2 does not answer/, path)
  }
  const ready = await inTime('readiness', api.operator('/ready'), 2_000)
  assert.equal(ready.status, 200)
  assert.deepEqual(ready.body.warnings, ['Place 2: The database does not answer.'])
  const metrics = await inTime('metrics', api.operator('/metrics'))
  assert.equal(metrics.status, 200, metrics.text)
  const places = metrics.text.matchAll(/^vintem_ledger_differing_companies\{place="(\d)"\}/gm)
  assert.deepEqual(
    [...places].map(([, place]) => place),
    ['1'],
  )

  proxy.thaw()
  await until('it answers', async () => (await frozen.get('/charge')).status === 200)
  assert.equal((await frozen.post('/charge/pix', newCharge())).status, 201)
  assert.doesNotMatch((await operator.get('//operator')).text, /does not answer/)
})
