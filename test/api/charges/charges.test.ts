import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expireDueCharges } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { stored } from '../storage.ts'

const api = await startApi()

const code = ({ body }: Reply) => body.errors[0]?.code
const answer = (reply: Reply) => [reply.status, code(reply)]

async function makeCharge(client: Client, fields: Record<string, unknown> = {}): Promise<string> {
  const charge = { amount: 1990, customer: payer(), devMode: true, ...fields }
  const { status, body, text } = await client.post('/charge/pix', charge)
  assert.equal(status, 201, text)
  return body.data.id
}

async function makeLink(client: Client, fields: Record<string, unknown> = {}): Promise<string> {
  const link = { total: 1990, customer: payer(), devMode: true, ...fields }
  const { status, body, text } = await client.post('/charge/payment-link', link)
  assert.equal(status, 201, text)
  return body.data.id
}

const typesOf = async ({ company }: Client, id: string) =>
  (await eventsOf(api, company.id))
    .filter(({ payload }) => payload.charge?.id === id)
    .map(({ type }) => type)

const rowOf = async ({ company }: Client) => {
  const rows = await api.rows('select * from charges where company_id = $1', [company.id])
  assert.equal(rows.length, 1)
  return rows[0]!
}

const pay = (client: Client, id: string) => client.post(`/charge/${id}/simulate-payment`)
const cancel = (client: Client, id: string) => client.post(`/charge/${id}/cancel`)

test('a simulated payment completes the charge, at the clock’s time, with one event', async () => {
  const client = await api.client()
  const id = await makeCharge(client)
  api.clock.advance(60)
  const { status, body } = await pay(client, id)
  assert.equal(status, 200)
  assert.deepEqual(body.data, { id, status: 'COMPLETED', paymentStatus: 'PAID' })
  const row = await rowOf(client)
  assert.deepEqual([row.status, row.payment_status], ['COMPLETED', 'PAID'])
  assert.deepEqual(row.payment_date, api.clock.now())
  assert.match(String(row.end_to_end_id), /^E\d{20}[0-9A-Za-z]{11}$/)
  const events = await eventsOf(api, client.company.id)
  assert.deepEqual(events.at(-1), {
    type: 'charge.paid',
    payload: { event: 'Charge.Paid', charge: { id, status: 'PAID', total: 1990 } },
  })
  assert.equal(events.length, 3)
  const shown = await client.get(`/charge/${id}`)
  assert.equal(shown.body.data.paymentDate, api.clock.now().toISOString())
  assert.deepEqual([shown.body.data.status, shown.body.data.paymentStatus], ['COMPLETED', 'PAID'])
})

test('a charge that is paid already answers the same and changes nothing', async () => {
  const client = await api.client()
  const id = await makeCharge(client)
  const first = await pay(client, id)
  const before = await stored(api)
  api.clock.advance(7200)
  const again = await pay(client, id)
  assert.equal(again.status, 200)
  assert.equal(again.text, first.text)
  assert.deepEqual(await stored(api), before)
})

test('twenty payments at once pay a charge once', async () => {
  const client = await api.client()
  const id = await makeCharge(client)
  const replies = await Promise.all(Array.from({ length: 20 }, () => pay(client, id)))
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  assert.deepEqual(await typesOf(client, id), [
    'charge.pending',
    'charge.processing',
    'charge.paid',
  ])
})

test('a payment and a cancel at once: one of them happens', async () => {
  const client = await api.client()
  for (let round = 0; round < 5; round++) {
    const id = await makeCharge(client)
    const [paid, canceled] = await Promise.all([pay(client, id), cancel(client, id)])
    assert.deepEqual([paid!.status, canceled!.status].sort(), [200, 409])
    const { body } = await client.get(`/charge/${id}/status`)
    assert.equal(body.data.status, paid!.status === 200 ? 'COMPLETED' : 'CANCELED')
    const last = (await typesOf(client, id)).slice(2)
    assert.deepEqual(last, [paid!.status === 200 ? 'charge.paid' : 'charge.canceled'])
  }
})

test('only a dev-mode charge can be paid by simulation, whatever its state', async () => {
  const client = await api.client()
  const open = await makeCharge(client, { devMode: false })
  const canceled = await makeCharge(client, { devMode: false })
  await cancel(client, canceled)
  const before = await stored(api)
  for (const id of [open, canceled]) {
    assert.deepEqual(answer(await pay(client, id)), [400, 'charge_not_dev_mode'])
  }
  assert.deepEqual(await stored(api), before)
})

test('a canceled or expired charge cannot be paid', async () => {
  const client = await api.client()
  const [canceled, expired, swept] = [
    await makeCharge(client),
    await makeCharge(client, { expiresIn: 10 }),
    await makeLink(client, { expiresIn: 5 }),
  ]
  await cancel(client, canceled)
  api.clock.advance(5)
  await expireDueCharges.run(api.app)
  api.clock.advance(5)
  const before = await stored(api)
  for (const id of [canceled, expired, swept]) {
    assert.deepEqual(answer(await pay(client, id)), [409, 'charge_not_payable'], id)
  }
  assert.deepEqual(await stored(api), before)
})

test('a link nobody opened gets its code when it is paid: processing, then paid', async () => {
  const client = await api.client()
  const id = await makeLink(client)
  assert.deepEqual(await typesOf(client, id), ['charge.pending'])
  assert.equal((await rowOf(client)).br_code, null)
  const { body } = await pay(client, id)
  assert.deepEqual(body.data, { id, status: 'COMPLETED', paymentStatus: 'PAID' })
  const events = (await eventsOf(api, client.company.id)).map(({ payload }) => payload)
  assert.deepEqual(events, [
    { event: 'Charge.Pending', charge: { id, status: 'PENDING', total: 1990 } },
    { event: 'Charge.Processing', charge: { id, status: 'PROCESSING', total: 1990 } },
    { event: 'Charge.Paid', charge: { id, status: 'PAID', total: 1990 } },
  ])
  const shown = await client.get(`/charge/${id}`)
  assert.match(shown.body.data.brCode, /^000201/)
})

test('an open charge is canceled once, and a canceled one answers the same again', async () => {
  const client = await api.client()
  const id = await makeCharge(client)
  const first = await cancel(client, id)
  assert.equal(first.status, 200)
  assert.deepEqual([first.body.data.id, first.body.data.status], [id, 'CANCELED'])
  const before = await stored(api)
  const again = await cancel(client, id)
  assert.equal(again.text, first.text)
  assert.deepEqual(await stored(api), before)
  const types = await typesOf(client, id)
  assert.deepEqual(types, ['charge.pending', 'charge.processing', 'charge.canceled'])
  const shown = await client.get(`/charge/${id}`)
  assert.equal(shown.body.data.status, 'CANCELED')
})

test('a paid or expired charge cannot be canceled', async () => {
  const client = await api.client()
  const [paid, expired] = [await makeCharge(client), await makeCharge(client, { expiresIn: 1 })]
  await pay(client, paid)
  api.clock.advance(1)
  const before = await stored(api)
  for (const id of [paid, expired]) {
    assert.deepEqual(answer(await cancel(client, id)), [409, 'charge_not_payable'])
  }
  assert.deepEqual(await stored(api), before)
})

test('the status endpoint shows the state of a charge, and when it was paid', async () => {
  const client = await api.client()
  const id = await makeCharge(client)
  const open = await client.get(`/charge/${id}/status`)
  assert.deepEqual(open.body.data, { id, status: 'OPEN', paymentStatus: 'PROCESSING' })
  const link = await makeLink(client)
  const pending = await client.get(`/charge/${link}/status`)
  assert.deepEqual(pending.body.data, { id: link, status: 'OPEN', paymentStatus: 'PENDING' })
  await pay(client, id)
  const paid = await client.get(`/charge/${id}/status`)
  const paymentDate = api.clock.now().toISOString()
  assert.deepEqual(paid.body.data, { id, status: 'COMPLETED', paymentStatus: 'PAID', paymentDate })
})

test('past its deadline a charge is expired for every reader, before the worker has come by', async () => {
  const client = await api.client()
  const id = await makeCharge(client, { expiresIn: 100 })
  api.clock.advance(99)
  const open = await client.get(`/charge/${id}`)
  assert.deepEqual([open.body.data.status, open.body.data.paymentStatus], ['OPEN', 'PROCESSING'])
  api.clock.advance(1)
  const before = await stored(api)
  const expired = { status: 'EXPIRED', paymentStatus: 'EXPIRED' }
  const one = (await client.get(`/charge/${id}`)).body.data
  const state = (await client.get(`/charge/${id}/status`)).body.data
  const [listed] = (await client.get('/charge')).body.data
  for (const { status, paymentStatus } of [one, state, listed]) {
    assert.deepEqual({ status, paymentStatus }, expired)
  }
  for (const [query, count] of [
    ['status=EXPIRED', 1],
    ['status=OPEN', 0],
    ['paymentStatus=EXPIRED', 1],
    ['paymentStatus=PROCESSING', 0],
  ] as const) {
    const { body } = await client.get(`/charge?${query}`)
    assert.equal(body.data.length, count, query)
  }
  assert.deepEqual(await stored(api), before, 'reading writes nothing')
})

test('the worker writes each expiry down once, with one event, however often it runs', async () => {
  const clients = [await api.client(), await api.client()]
  const charges: [Client, string][] = []
  for (const client of clients) {
    charges.push([client, await makeCharge(client, { expiresIn: 10 })])
    charges.push([client, await makeLink(client, { expiresIn: 10 })])
  }
  const [keeper] = clients
  const [paid, later] = [await makeCharge(keeper!), await makeCharge(keeper!, { expiresIn: 11 })]
  await pay(keeper!, paid)
  api.clock.advance(10)
  await Promise.all([1, 2, 3].map(() => expireDueCharges.run(api.app)))
  await expireDueCharges.run(api.app)
  for (const [client, id] of charges) {
    const types = await typesOf(client, id)
    assert.equal(types.at(-1), 'charge.expired')
    assert.equal(types.filter((type) => type === 'charge.expired').length, 1)
    const events = await eventsOf(api, client.company.id)
    const event = events.find(
      ({ type, payload }) => type === 'charge.expired' && payload.charge?.id === id,
    )
    assert.deepEqual(event!.payload, {
      event: 'Charge.Expired',
      charge: { id, status: 'EXPIRED', total: 1990 },
    })
  }
  const rows = await api.rows(
    `select status, count(*)::int from charges where company_id = $1 group by 1 order by 1`,
    [keeper!.company.id],
  )
  assert.deepEqual(rows, [
    { status: 'COMPLETED', count: 1 },
    { status: 'EXPIRED', count: 2 },
    { status: 'OPEN', count: 1 },
  ])
  assert.equal((await stateOf(keeper!, later)).status, 'OPEN')
})

const stateOf = async (client: Client, id: string) =>
  (await client.get(`/charge/${id}/status`)).body.data

test('a duplicate is the same sale with an id, a code and a deadline of its own', async () => {
  const client = await api.client()
  const id = await makeCharge(client, { expiresIn: 600, externalId: 'order 1' })
  const original = (await client.get(`/charge/${id}`)).body.data
  api.clock.advance(3600)
  const { status, body } = await client.post(`/charge/duplicate/${id}`)
  assert.equal(status, 201)
  const copy = body.data
  assert.notEqual(copy.id, id)
  assert.notEqual(copy.brCode, original.brCode)
  assert.notEqual(copy.url, original.url)
  assert.deepEqual([copy.status, copy.paymentStatus], ['OPEN', 'PROCESSING'])
  assert.deepEqual(
    [copy.total, copy.customer, copy.devMode, copy.company],
    [original.total, original.customer, original.devMode, original.company],
  )
  assert.equal(copy.externalId, undefined)
  assert.equal(copy.createdAt, api.clock.now().toISOString())
  assert.equal(Date.parse(copy.expiresAt) - Date.parse(copy.createdAt), 600_000)
  assert.deepEqual(await typesOf(client, copy.id), ['charge.pending', 'charge.processing'])
  const shown = await client.get(`/charge/${copy.id}`)
  assert.deepEqual(shown.body.data, copy)
  const named = await client.post(`/charge/duplicate/${id}`, { externalId: 'x', expiresIn: 60 })
  assert.equal(named.body.data.externalId, 'x')
  assert.equal(Date.parse(named.body.data.expiresAt) - api.clock.now().getTime(), 60_000)
  assert.equal((await client.get('/client')).body.data.length, 1, 'the payer is not doubled')
})

test('a charge in any state can be duplicated, and stays as it is', async () => {
  const client = await api.client()
  const [paid, canceled, expired] = [
    await makeCharge(client),
    await makeLink(client),
    await makeCharge(client, { expiresIn: 1 }),
  ]
  await pay(client, paid)
  await cancel(client, canceled)
  api.clock.advance(1)
  for (const id of [paid, canceled, expired]) {
    const before = await client.get(`/charge/${id}`)
    const { status, body } = await client.post(`/charge/duplicate/${id}`)
    assert.deepEqual([status, body.data.status], [201, 'OPEN'])
    assert.equal(body.data.paymentDate, undefined)
    assert.equal(body.data.endToEndId, undefined)
    assert.equal((await client.get(`/charge/${id}`)).text, before.text)
  }
})

test('a charge shows its payer masked, and the company that is paid', async () => {
  const client = await api.client({ color: '#aa00ff', imageUrl: 'https://loja.example/a.png' })
  const people: [Record<string, unknown>, Record<string, unknown>][] = [
    [
      payer({ postalCode: '01310100', address: 'Av. Paulista' }),
      { taxId: '***.***.247-25', email: 'm***@example.com', phone: '(**) *****-8888' },
    ],
    [
      payer({ name: 'Loja', taxId: '11444777000161', phone: '1133334444' }),
      { taxId: '**.***.***/0001-61', email: 'm***@example.com', phone: '(**) ****-4444' },
    ],
    [{ name: 'Ana', taxId: '12345678901' }, { taxId: '***.***.789-01' }],
  ]
  for (const [customer, masked] of people) {
    const id = await makeCharge(client, { customer })
    const { body, text } = await client.get(`/charge/${id}`)
    assert.deepEqual(body.data.customer, { name: customer.name, ...masked })
    assert.ok(!text.includes(String(customer.taxId)))
  }
  const { body } = await client.get('/charge?limit=1')
  assert.deepEqual(body.data[0].company, {
    taxId: '11222333000181',
    name: 'Padaria São João',
    color: '#aa00ff',
    imageUrl: 'https://loja.example/a.png',
  })
})
