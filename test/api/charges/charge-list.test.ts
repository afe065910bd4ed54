import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOutRefunds, releaseDueCharges } from '../../../src/worker/due.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { makePaid } from '../../support/payments.ts'

const api = await startApi()

const idsOf = ({ body }: Reply): string[] => body.data.map(({ id }: { id: string }) => id)

async function makeCharges(client: Client, count: number, fields: Record<string, unknown> = {}) {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const { body } = await client.post('/charge/pix', {
      amount: 500 + i,
      customer: payer(),
      ...fields,
    })
    ids.unshift(body.data.id)
  }
  return ids
}

/** The address of the next page, or null on the last. */
function nextOf({ headers }: Reply): string | null {
  const link = headers.get('link')
  if (link === null) return null
  const [, url] = /^<(http:\/\/vintem\.test\/[^>]+)>; rel="next"$/.exec(link) ?? []
  assert.ok(url, `a next link: ${link}`)
  return url.replace('http://vintem.test', '')
}

async function pagesFrom(client: Client, first: string): Promise<string[][]> {
  const pages: string[][] = []
  for (let path: string | null = first; path !== null; ) {
    const reply: Reply = await client.get(path)
    assert.equal(reply.status, 200, reply.text)
    pages.push(idsOf(reply))
    path = nextOf(reply)
  }
  return pages
}

test('pages show every charge once, newest first, and the last has no link', async () => {
  const client = await api.client()
  const ids = await makeCharges(client, 25)
  assert.deepEqual(await pagesFrom(client, '/charge'), [ids])
  const tens = [ids.slice(0, 10), ids.slice(10, 20), ids.slice(20)]
  assert.deepEqual(await pagesFrom(client, '/charge?limit=10'), tens)
  assert.deepEqual(await pagesFrom(client, '/charge?limit=25'), [ids])
  assert.deepEqual(await pagesFrom(client, '/charge?limit=1000'), [ids])
  const ones = await pagesFrom(client, '/charge?limit=1')
  assert.deepEqual(ones.flat(), ids)
})

test('a cursor stays where it is while newer charges arrive', async () => {
  const client = await api.client()
  const ids = await makeCharges(client, 6)
  const first = await client.get('/charge?limit=3')
  await makeCharges(client, 3)
  const second = await client.get(nextOf(first)!)
  assert.deepEqual([...idsOf(first), ...idsOf(second)], ids)
})

test('the next page keeps the filters and the version of the first', async () => {
  const client = await api.client()
  const wanted = await makeCharges(client, 5, { devMode: true })
  await makeCharges(client, 3)
  const from = api.clock.now().toISOString()
  const query = `/charge?limit=2&devMode=true&status=OPEN&createdFrom=${from}`
  assert.deepEqual(await pagesFrom(client, query), [
    wanted.slice(0, 2),
    wanted.slice(2, 4),
    wanted.slice(4),
  ])
  const headers = { 'X-Api-Version': '2025-01-01' }
  const old = await client.get('/charge?limit=2', { headers })
  assert.equal(old.body.length, 2)
  assert.ok(nextOf(old), 'a bare array has its cursor in the header too')
})

test('without a limit a hundred are shown, with a link to the rest', async () => {
  const client = await api.client()
  await client.post('/charge/pix', { amount: 500, customer: payer() })
  await api.rows(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode,
       br_code, created_at, expires_at)
     select company_id, gen_random_uuid(), kind, amount, status, payment_status, dev_mode,
       br_code, created_at, expires_at
     from charges, generate_series(1, 204) where company_id = $1`,
    [client.company.id],
  )
  const pages = await pagesFrom(client, '/charge')
  assert.deepEqual(
    pages.map((page) => page.length),
    [100, 100, 5],
  )
  assert.equal(new Set(pages.flat()).size, 205)
})

test('each filter finds what it names and nothing else', async () => {
  const client = await api.client()
  const start = api.clock.now()
  const [open] = await makeCharges(client, 1, { externalId: 'a/b c&d' })
  const [paid] = await makeCharges(client, 1, { devMode: true })
  await client.post(`/charge/${paid}/simulate-payment`)
  api.clock.advance(60)
  const [canceled] = await makeCharges(client, 1, { customer: payer({ taxId: '39053344705' }) })
  await client.post(`/charge/${canceled}/cancel`)
  const link = await client.post('/charge/payment-link', { total: 500, customer: payer() })
  const pending = link.body.data.id
  const people = await client.get('/client?taxId=39053344705')
  const customerId = people.body.data[0].id
  const later = new Date(start.getTime() + 60_000).toISOString()
  const filters: Record<string, (string | undefined)[]> = {
    'status=OPEN': [pending, open],
    'status=COMPLETED': [paid],
    'status=CANCELED': [canceled],
    'status=EXPIRED': [],
    'paymentStatus=PENDING': [pending],
    'paymentStatus=PAID': [paid],
    'devMode=true': [paid],
    'devMode=false': [pending, canceled, open],
    'externalId=a%2Fb%20c%26d': [open],
    'externalId=a': [],
    [`customerId=${customerId}`]: [canceled],
    [`createdFrom=${later}`]: [pending, canceled],
    [`createdTo=${later}`]: [paid, open],
    [`createdFrom=${start.toISOString()}&createdTo=${start.toISOString()}`]: [],
    'status=OPEN&paymentStatus=PENDING': [pending],
    'status=OPEN&devMode=true': [],
  }
  for (const [query, ids] of Object.entries(filters)) {
    assert.deepEqual(idsOf(await client.get(`/charge?${query}`)), ids, query)
  }
})

test('paid charges are found by what has become of their money', async () => {
  const client = await api.client()
  const [{ id: received }, { id: refunded }] = [
    await makePaid(api, client, 1990),
    await makePaid(api, client, 1990),
  ]
  await client.post(`/refund/${refunded}`)
  await carryOutRefunds.run(api.app)
  api.clock.advance(60)
  const { id: paid } = await makePaid(api, client, 1990)
  await releaseDueCharges.run(api.app)
  for (const [query, ids] of Object.entries({
    'paymentStatus=PAID': [paid],
    'paymentStatus=RECEIVED': [received],
    'paymentStatus=REFUNDED': [refunded],
    'status=COMPLETED': [paid, refunded, received],
  })) {
    assert.deepEqual(idsOf(await client.get(`/charge?${query}`)), ids, query)
  }
})

test('a listed charge is the charge, without its image', async () => {
  const client = await api.client()
  const [id] = await makeCharges(client, 1)
  const { brCodeBase64, ...rest } = (await client.get(`/charge/${id}`)).body.data
  assert.match(brCodeBase64, /^data:image\/png;base64,/)
  assert.deepEqual((await client.get('/charge')).body.data, [rest])
})

test('customers, products and webhooks are listed by the same pages', async () => {
  const client = await api.client()
  const bodies: Record<string, (i: number) => unknown> = {
    '/client': (i) => ({ ...payer({ name: `Maria ${i}` }), status: 'ACTIVE' }),
    '/product': (i) => ({ name: `Pão ${i}`, description: '', price: i }),
    '/webhook': (i) => ({ url: `https://loja.example/${i}`, name: 'x', events: ['charge.paid'] }),
  }
  for (const [path, bodyOf] of Object.entries(bodies)) {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await client.post(path, bodyOf(i))).body.data.id)
    assert.deepEqual(await pagesFrom(client, path), [ids])
    const pages = await pagesFrom(client, `${path}?limit=2`)
    assert.deepEqual(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)], path)
  }
})
