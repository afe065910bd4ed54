import assert from 'node:assert/strict'
import { request as open } from 'node:http'
import { test } from 'node:test'
import { payer, startApi } from '../../support/api.ts'
import { openBanked } from '../../support/bank.ts'
import { stopTime } from '../../support/stopped-time.ts'

const api = await startApi({ COMPANY_REQUESTS: '2', COMPANY_QUEUE: '3', SERVER_REQUESTS: '7' })

/** Keeps customers from being written until it is released. */
async function holdCustomers() {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let isHeld = () => {}
  const locked = new Promise<void>((resolve) => {
    isHeld = resolve
  })
  const done = api.app.db.transaction(async (tx) => {
    await tx.query({ text: 'lock table customers in exclusive mode', values: [] })
    isHeld()
    await held
  })
  await locked
  return async () => {
    release()
    await done
  }
}

type Shop = Awaited<ReturnType<typeof api.client>>

/** Adds customers all at once, and goes on when as many are refused as are too many. */
async function crowd(shops: Shop[], refusals: number, signal = new AbortController().signal) {
  const statuses: (number | null)[] = []
  let enough = () => {}
  const refused = new Promise<void>((resolve) => {
    enough = resolve
  })
  const all = shops.map(async (shop) => {
    const reply = await fetch(`${api.url}/client`, {
      method: 'POST',
      headers: { 'X-API-KEY': shop.key, 'content-type': 'application/json' },
      body: JSON.stringify({ ...payer(), status: 'ACTIVE' }),
      signal,
    }).catch(() => null)
    await reply?.text()
    statuses.push(reply?.status ?? null)
    if (statuses.length === refusals) enough()
  })
  await refused
  return { statuses, all: Promise.all(all) }
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

test('a company’s excess is refused at once with 429, and everything before it is done', async () => {
  const [shop, other] = [await api.client(), await api.client()]
  const release = await holdCustomers()
  const { statuses, all } = await crowd(times(8, shop), 3)
  const refused = await shop.get('/account-balance')
  assert.deepEqual([refused.status, refused.body.errors[0].code], [429, 'rate_limited'])
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal((await other.get('/account-balance')).status, 200)
  await release()
  await all
  assert.deepEqual(statuses, [...times(3, 429), ...times(5, 201)])
  assert.equal((await shop.get('/account-balance')).status, 200)
})

test('what is too much for the whole server is refused at once with 503', async () => {
  const [one, two, third] = [await api.client(), await api.client(), await api.client()]
  const release = await holdCustomers()
  const { statuses, all } = await crowd([...times(4, one), ...times(4, two)], 1)
  const refused = await third.get('/account-balance')
  assert.deepEqual([refused.status, refused.body.errors[0].code], [503, 'service_unavailable'])
  assert.equal(refused.headers.get('retry-after'), '1')
  await release()
  await all
  assert.deepEqual(statuses, [503, ...times(7, 201)])
  assert.equal((await third.get('/account-balance')).status, 200)
})

test('a place is given back when a client goes away, waiting or not', async () => {
  const shop = await api.client()
  for (let n = 0; n < 4; n++) {
    const release = await holdCustomers()
    const gone = new AbortController()
    const { all } = await crowd(times(8, shop), 3, gone.signal)
    gone.abort()
    await all
    await release()
    // What was worked on goes on for a moment.
    let reply = await shop.get('/account-balance')
    while (reply.status === 429) reply = await shop.get('/account-balance')
    assert.equal(reply.status, 200)
  }
})

test('the token of a callback is checked before its body is read', async () => {
  const status = await new Promise((resolve, reject) => {
    const url = `${api.url}/bank/callbacks/nobody`
    const headers = { 'content-type': 'application/json', 'content-length': '60000' }
    const sending = open(url, { method: 'POST', headers }, (reply) => resolve(reply.statusCode))
    sending.on('error', reject)
    // The body never comes.
    sending.flushHeaders()
  })
  assert.equal(status, 404)
})

test('callbacks are limited per company, and wrong tokens per address', async (t) => {
  const limited = await startApi({ RATE_LIMIT: '1', RATE_LIMIT_BURST: '3' })
  const shop = await openBanked(limited)
  const path = shop.callback.slice(limited.url.length)
  const send = (to: string) => limited.call('POST', to, { json: {} })
  stopTime(t)
  const statuses: number[] = []
  for (let n = 0; n < 17; n++) statuses.push((await send(path)).status)
  assert.deepEqual(statuses, [...Array(15).fill(200), 429, 429])
  for (let n = 0; n < 400; n++) if ((await send('/bank/callbacks/nobody')).status === 429) return
  assert.fail('wrong tokens are never refused')
})

/** Opens the live connection of a page, and gives its status. */
async function watch(url: string) {
  const gone = new AbortController()
  const reply = await fetch(`${url}/events`, { signal: gone.signal })
  // The reply is kept, because one that is collected as garbage closes its connection.
  return { status: reply.status, reply, close: () => gone.abort() }
}

async function pageOf(shop: Shop): Promise<string> {
  const { body } = await shop.post('/charge/pix', { amount: 700, customer: payer() })
  return body.data.url.replace('http://vintem.test', api.url)
}

test('at most 20 pages of a charge are updated live, and 100 of an address', async () => {
  const shop = await api.client()
  const pages = []
  const statuses: number[] = []
  for (let charge = 0; charge < 7; charge++) {
    const url = await pageOf(shop)
    for (let n = 0; n < 21; n++) {
      const page = await watch(url)
      pages.push(page)
      statuses.push(page.status)
    }
  }
  const isOpen = (status: number) => status === 200
  assert.equal(statuses.slice(0, 21).filter(isOpen).length, 20)
  assert.equal(statuses[20], 429)
  assert.equal(statuses.filter(isOpen).length, 100)
  for (const page of pages) page.close()
  const url = await pageOf(shop)
  let again = await watch(url)
  while (again.status !== 200) again = await watch(url)
  again.close()
})
