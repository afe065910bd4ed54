import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { lettersOf } from '../../support/mail.ts'
import { at } from '../../support/pages.ts'
import { stored } from '../storage.ts'

const api = await startApi()

const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]

async function makeProduct(client: Client, fields: Record<string, unknown> = {}): Promise<string> {
  const product = { name: 'Pão', description: 'Francês', price: 350, ...fields }
  const { status, body, text } = await client.post('/product', product)
  assert.equal(status, 201, text)
  return body.data.id
}

const link = (client: Client, json: unknown) => client.post('/charge/payment-link', json)

test('a link is an open charge without a code, open for seven days, with one event', async () => {
  const client = await api.client()
  const { status, body } = await link(client, { total: 1990, customer: payer() })
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body.data), ['id', 'url', 'devMode', 'total', 'externalId'])
  const { id, url } = body.data
  assert.deepEqual(body.data, { id, url, devMode: false, total: 1990, externalId: null })
  assert.match(url, /^http:\/\/vintem\.test\/pay\/[\w-]{63}$/)
  const shown = (await client.get(`/charge/${id}`)).body.data
  assert.deepEqual(shown, {
    id,
    status: 'OPEN',
    paymentStatus: 'PENDING',
    total: 1990,
    url,
    devMode: false,
    needShipping: false,
    createdAt: '2026-08-20T15:00:00.000Z',
    expiresAt: '2026-08-27T15:00:00.000Z',
    customer: {
      name: 'Maria da Silva',
      taxId: '***.***.247-25',
      email: 'm***@example.com',
      phone: '(**) *****-8888',
    },
    company: { taxId: '11222333000181', name: 'Padaria São João', color: '#0f766e' },
  })
  assert.deepEqual(await eventsOf(api, client.company.id), [
    {
      type: 'charge.pending',
      payload: { event: 'Charge.Pending', charge: { id, status: 'PENDING', total: 1990 } },
    },
  ])
})

test('what is sent with a link is shown with its charge', async () => {
  const client = await api.client()
  const { body } = await link(client, {
    total: 1990,
    customer: payer(),
    externalId: 'order 1',
    devMode: true,
    expiresIn: 60,
    successUrl: 'https://loja.example/ok?x=1#y',
    failedUrl: 'http://loja.example',
    needShipping: true,
    notifyCustomer: true,
  })
  assert.deepEqual([body.data.devMode, body.data.externalId], [true, 'order 1'])
  const shown = (await client.get(`/charge/${body.data.id}`)).body.data
  assert.equal(shown.successUrl, 'https://loja.example/ok?x=1#y')
  assert.equal(shown.failedUrl, 'http://loja.example')
  assert.deepEqual([shown.needShipping, shown.externalId], [true, 'order 1'])
  assert.equal(shown.expiresAt, '2026-08-20T15:01:00.000Z')
  const [row] = await api.rows('select link from charges where company_id = $1', [
    client.company.id,
  ])
  assert.equal((row!.link as { notifyCustomer: boolean }).notifyCustomer, true)
})

test('without a total the items add up to it, and a total that is sent wins', async () => {
  const client = await api.client()
  const [bread, cake] = [await makeProduct(client), await makeProduct(client, { price: 4500 })]
  const items = [
    { productId: bread, quantity: 3 },
    { productId: cake, quantity: 1 },
  ]
  const summed = await link(client, { customer: payer(), items })
  assert.deepEqual([summed.status, summed.body.data.total], [201, 5550])
  const sent = await link(client, { customer: payer(), items, total: 700 })
  assert.deepEqual([sent.status, sent.body.data.total], [201, 700])
  const shown = (await client.get(`/charge/${summed.body.data.id}`)).body.data
  assert.deepEqual(
    shown.items.map(({ productId, companyId, quantity, product }: Reply['body']) => [
      productId,
      companyId,
      quantity,
      product.id,
      product.price,
    ]),
    [
      [bread, client.company.id, 3, bread, 350],
      [cake, client.company.id, 1, cake, 4500],
    ],
  )
})

test('items below the least or above the greatest total are refused', async () => {
  const client = await api.client()
  const [cheap, dear] = [
    await makeProduct(client, { price: 499 }),
    await makeProduct(client, { price: 999_999_999_999 }),
  ]
  const free = await makeProduct(client, { price: 0 })
  const before = await stored(api)
  for (const item of [
    { productId: cheap, quantity: 1 },
    { productId: free, quantity: 1_000_000 },
    { productId: dear, quantity: 2 },
    { productId: dear, quantity: 1_000_000 },
  ]) {
    const reply = await link(client, { customer: payer(), items: [item] })
    assert.deepEqual(answer(reply), [400, 'invalid_value'])
    assert.match(reply.body.errors[0].description, /^items: /)
  }
  assert.deepEqual(await stored(api), before)
  const most = await link(client, { customer: payer(), items: [{ productId: dear, quantity: 1 }] })
  assert.deepEqual([most.status, most.body.data.total], [201, 999_999_999_999])
})

test('an item must be an active product of the company', async () => {
  const client = await api.client()
  const [good, idle] = [
    await makeProduct(client),
    await makeProduct(client, { status: 'INACTIVE' }),
  ]
  const before = await stored(api)
  const items = (productId: string) => [
    { productId: good, quantity: 2 },
    { productId, quantity: 2 },
  ]
  const inactive = await link(client, { customer: payer(), items: items(idle) })
  assert.deepEqual(answer(inactive), [400, 'invalid_value'])
  assert.match(inactive.body.errors[0].description, /^items\[1\]\.productId: /)
  const unknown = await link(client, { customer: payer(), items: items('prod_x') })
  assert.deepEqual(answer(unknown), [404, 'product_not_found'])
  assert.deepEqual(await stored(api), before)
})

test('a link keeps the products it sells as they were, changed or deleted since', async () => {
  const client = await api.client()
  const id = await makeProduct(client, { price: 1000, sku: 'PAO' })
  const { body } = await link(client, {
    customer: payer(),
    items: [{ productId: id, quantity: 1 }],
  })
  const sold = (await client.get(`/charge/${body.data.id}`)).body.data
  await client.put(`/product/${id}`, { name: 'Bolo', price: 9000, sku: null })
  assert.deepEqual((await client.get(`/charge/${body.data.id}`)).body.data, sold)
  await client.delete(`/product/${id}`)
  const shown = (await client.get(`/charge/${body.data.id}`)).body.data
  assert.deepEqual(shown, sold)
  assert.deepEqual([shown.total, shown.items[0].product.name], [1000, 'Pão'])
  const copy = await client.post(`/charge/duplicate/${body.data.id}`)
  assert.deepEqual(copy.body.data.items, sold.items)
  assert.equal(copy.body.data.paymentStatus, 'PENDING')
})

test('a link is for exactly one of customerId and customer', async () => {
  const client = await api.client()
  const known = await client.post('/client', { ...payer({ name: 'Ana' }), status: 'ACTIVE' })
  const customerId = known.body.data.id
  const before = await stored(api)
  const neither = await link(client, { total: 700 })
  const both = await link(client, { total: 700, customerId, customer: payer() })
  for (const reply of [neither, both]) {
    assert.deepEqual(answer(reply), [400, 'invalid_value'])
    assert.match(reply.body.errors[0].description, /^customer(Id)?: /)
  }
  assert.deepEqual(await stored(api), before)
  const one = await link(client, { total: 700, customerId })
  const shown = (await client.get(`/charge/${one.body.data.id}`)).body.data
  assert.deepEqual(shown.customer, {
    name: 'Ana',
    taxId: '***.***.247-25',
    email: 'm***@example.com',
    phone: '(**) *****-8888',
  })
  const { body } = await client.get(`/charge?customerId=${customerId}`)
  assert.deepEqual(
    body.data.map(({ id }: { id: string }) => id),
    [one.body.data.id],
  )
})

test('an inline payer is found again by tax id, or becomes a customer', async () => {
  const client = await api.client()
  const known = await client.post('/client', { ...payer({ name: 'Ana' }), status: 'ACTIVE' })
  await link(client, { total: 700, customer: payer() })
  await link(client, { total: 700, customer: payer({ taxId: '39053344705', name: 'Rui' }) })
  await client.post('/charge/pix', { amount: 700, customer: payer({ taxId: '39053344705' }) })
  const { body } = await client.get('/client')
  assert.deepEqual(
    body.data.map(({ name, taxId }: { name: string; taxId: string }) => [name, taxId]),
    [
      ['Rui', '390.533.447-05'],
      ['Ana', '529.982.247-25'],
    ],
  )
  const charges = await client.get(`/charge?customerId=${known.body.data.id}`)
  assert.equal(charges.body.data.length, 1)
})

test('a charge keeps its payer when the customer is changed or deleted', async () => {
  const client = await api.client()
  const known = await client.post('/client', { ...payer(), status: 'ACTIVE' })
  const { body } = await link(client, { total: 700, customerId: known.body.data.id })
  const sold = (await client.get(`/charge/${body.data.id}`)).body.data.customer
  await client.put('/client', { id: known.body.data.id, name: 'Outra', phone: '1133334444' })
  assert.deepEqual((await client.get(`/charge/${body.data.id}`)).body.data.customer, sold)
  await client.delete(`/client/${known.body.data.id}`)
  assert.deepEqual((await client.get(`/charge/${body.data.id}`)).body.data.customer, sold)
})

test('items beyond every limit are shown to the cent, by page, API and mail, beside a total', async () => {
  const client = await api.client()
  const productId = await makeProduct(client, { price: 999_999_999_999 })
  const items = [
    { productId, quantity: 1_000_000 },
    { productId, quantity: 3 },
  ]
  const made = await link(client, { total: 500, customer: payer(), items, notifyCustomer: true })
  assert.equal(made.status, 201, made.text)
  const shown = await client.get(`/charge/${made.body.data.id}`)
  assert.deepEqual([shown.status, shown.body.data.total], [200, 500])
  const page = await fetch(at(api, made.body.data.url))
  assert.equal(page.status, 200)
  const text = await page.text()
  for (const amount of ['R$ 9.999.999.999.990.000,00', 'R$ 29.999.999.999,97', 'R$ 5,00']) {
    assert.ok(text.includes(amount), amount)
  }
  const [letter] = await lettersOf(api, client.company.id)
  assert.match(letter!.text, /1000000 × Pão/)
  assert.match(letter!.text, /R\$ 5,00/)
})

test('items beyond the limit are no total, and the refusal has their sum to the cent', async () => {
  const client = await api.client()
  const productId = await makeProduct(client, { price: 999_999_999_999 })
  const items = Array.from({ length: 100 }, () => ({ productId, quantity: 1_000_000 }))
  const { status, body } = await link(client, { customer: payer(), items })
  assert.equal(status, 400)
  assert.equal(
    body.message,
    'items: their total must be from 500 to 999999999999 cents, it is 99999999999900000000',
  )
})
