import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { dump, stored } from '../storage.ts'

const api = await startApi()

const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]
const line = ({ body }: Reply): string => body.errors[0].description

const CUSTOMER = {
  ...payer(),
  status: 'ACTIVE',
  postalCode: '01310100',
  address: 'Av. Paulista',
  district: 'Bela Vista',
  number: '1578',
  line1: 'cj. 3',
}
const PRODUCT = {
  name: 'Assinatura',
  description: 'Pão',
  price: 1990,
  needShipping: true,
  sku: 'PAO',
  imageUrl: 'https://loja.example/pao.png',
  categories: ['Outros'],
  type: 'RECURRING',
  frequency: 'MONTHLY',
  dayDue: 7,
  dayGenerateCharge: 28,
  status: 'ACTIVE',
}
const WEBHOOK = { url: 'https://loja.example/hook', name: 'Loja', events: ['charge.paid'] }

async function make(client: Client, path: string, json: unknown) {
  const { status, body, text } = await client.post(path, json)
  assert.equal(status, 201, text)
  return body.data
}

test('a created customer is shown with its punctuated tax id wherever it is read', async () => {
  const client = await api.client()
  const made = await make(client, '/client', CUSTOMER)
  const now = api.clock.now().toISOString()
  const { companyId, id } = made
  assert.match(id, /^clnt_[0-9a-z]{26}$/)
  assert.equal(companyId, client.company.id)
  assert.deepEqual(made, {
    ...CUSTOMER,
    id,
    companyId,
    taxId: '529.982.247-25',
    createdAt: now,
    updatedAt: now,
  })
  assert.deepEqual((await client.get(`/client/id/${id}`)).body.data, made)
  assert.deepEqual((await client.get('/client')).body.data, [made])
  assert.deepEqual((await client.get('/client?taxId=52998224725')).body.data, [made])
  assert.deepEqual((await client.get('/client?taxId=39053344705')).body.data, [])
})

test('POST /client always creates, even for a tax id that is known', async () => {
  const client = await api.client()
  const [one, two] = [
    await make(client, '/client', CUSTOMER),
    await make(client, '/client', CUSTOMER),
  ]
  assert.notEqual(one.id, two.id)
  assert.equal((await client.get('/client?taxId=52998224725')).body.data.length, 2)
})

test('PUT /client changes the fields sent, one by one, and no others', async () => {
  const client = await api.client()
  let expected = await make(client, '/client', CUSTOMER)
  const changes: Record<string, string> = {
    name: 'Ana',
    status: 'INACTIVE',
    email: 'ana@example.com',
    phone: '1133334444',
    postalCode: '20040002',
    address: 'Av. Rio Branco',
    district: 'Centro',
    number: '1',
    line1: 'sala 2',
    taxId: '11444777000161',
  }
  for (const [field, value] of Object.entries(changes)) {
    api.clock.advance(1)
    const { status, body } = await client.put('/client', { id: expected.id, [field]: value })
    assert.equal(status, 200)
    const shown = field === 'taxId' ? '11.444.777/0001-61' : value
    expected = { ...expected, [field]: shown, updatedAt: api.clock.now().toISOString() }
    assert.deepEqual(body.data, expected, field)
    assert.deepEqual((await client.get(`/client/id/${expected.id}`)).body.data, expected)
  }
  assert.deepEqual((await client.get('/client?taxId=52998224725')).body.data, [])
  assert.deepEqual((await client.get('/client?taxId=11444777000161')).body.data, [expected])
  assert.ok(!(await dump(api)).includes('ana@example.com'), 'what changed is sealed again')
})

test('null takes an optional field of a customer away, and never a required one', async () => {
  const client = await api.client()
  const made = await make(client, '/client', CUSTOMER)
  for (const field of ['postalCode', 'address', 'district', 'number', 'line1']) {
    const { status, body } = await client.put('/client', { id: made.id, [field]: null })
    assert.equal(status, 200)
    assert.ok(!(field in body.data), field)
  }
  const before = await stored(api)
  for (const field of ['name', 'status', 'taxId', 'email', 'phone']) {
    const reply = await client.put('/client', { id: made.id, [field]: null })
    assert.deepEqual(answer(reply), [400, 'invalid_value'], field)
    assert.ok(line(reply).startsWith(`${field}: `))
  }
  assert.deepEqual(await stored(api), before)
})

const DELETIONS: Record<string, [string, unknown, string, (id: string) => string]> = {
  customer: ['/client', CUSTOMER, 'customer_not_found', (id) => `/client/id/${id}`],
  product: ['/product', PRODUCT, 'product_not_found', (id) => `/product/${id}`],
  webhook: ['/webhook', WEBHOOK, 'webhook_not_found', (id) => `/webhook/${id}`],
}

for (const [noun, [path, json, code, read]] of Object.entries(DELETIONS)) {
  test(`a deleted ${noun} is gone for every operation`, async () => {
    const client = await api.client()
    const [kept, { id }] = [await make(client, path, json), await make(client, path, json)]
    const gone = await client.delete(`${path}/${id}`)
    assert.deepEqual([gone.status, gone.body.data], [200, { id }])
    const put = noun === 'customer' ? ['/client', { id, name: 'x' }] : [`${path}/${id}`, {}]
    const replies = [
      await client.delete(`${path}/${id}`),
      await client.get(read(id)),
      await client.put(put[0] as string, put[1]),
    ]
    for (const reply of replies) assert.deepEqual(answer(reply), [404, code])
    const listed = (await client.get(path)).body.data.map((one: { id: string }) => one.id)
    assert.deepEqual(listed, [kept.id])
  })
}

test('a deleted payer comes back as a new customer with the next charge', async () => {
  const client = await api.client()
  const charge = { amount: 700, customer: payer() }
  await make(client, '/charge/pix', charge)
  const [{ id }] = (await client.get('/client')).body.data
  await client.delete(`/client/${id}`)
  await make(client, '/charge/pix', charge)
  const people = (await client.get('/client')).body.data
  assert.equal(people.length, 1)
  assert.notEqual(people[0].id, id)
})

test('a charge whose payer is deleted at the same moment is created all the same', async () => {
  const client = await api.client()
  const charge = { amount: 700, customer: payer() }
  await make(client, '/charge/pix', charge)
  const elsewhere = new pg.Client({ connectionString: api.databaseUrl })
  await elsewhere.connect()
  await elsewhere.query('begin')
  await elsewhere.query('delete from customers where company_id = $1', [client.company.id])
  const posted = client.post('/charge/pix', charge)
  await untilWaiting(elsewhere, posted)
  await elsewhere.query('commit')
  await elsewhere.end()
  const { status, text } = await posted
  assert.equal(status, 201, text)
  assert.equal((await client.get('/charge')).body.data.length, 2)
})

/** Returns when another connection of this database waits for a lock, or has not had to. */
async function untilWaiting(connection: pg.Client, posted: Promise<Reply>): Promise<void> {
  let isAnswered = false
  const answered = posted.finally(() => {
    isAnswered = true
  })
  while (!isAnswered) {
    const { rows } = await connection.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (rows.length > 0) return
    await Promise.race([answered, pause(5)])
  }
}

test('a created product is shown with its defaults, and without what it does not have', async () => {
  const client = await api.client()
  const plain = { name: 'Pão', description: '', price: 0 }
  const made = await make(client, '/product', plain)
  assert.deepEqual(made, {
    ...plain,
    id: made.id,
    companyId: client.company.id,
    needShipping: false,
    status: 'ACTIVE',
    marketplaceStatus: 'INACTIVE',
    type: 'ONE_TIME',
  })
  assert.match(made.id, /^prod_[0-9a-z]{26}$/)
  const full = await make(client, '/product', PRODUCT)
  const rest = { id: full.id, companyId: client.company.id, marketplaceStatus: 'INACTIVE' }
  assert.deepEqual(full, { ...PRODUCT, ...rest })
  assert.deepEqual((await client.get(`/product/${full.id}`)).body.data, full)
  assert.deepEqual((await client.get('/product')).body.data, [full, made])
  assert.deepEqual((await client.get('/product?type=ONE_TIME')).body.data, [made])
  assert.deepEqual((await client.get('/product?status=INACTIVE')).body.data, [])
})

test('every published category is accepted', async () => {
  const client = await api.client()
  const categories = [
    'Jogos',
    'Eletrônicos',
    'Roupas',
    'Acessórios',
    'Casa e Decoração',
    'Esportes',
    'Brinquedos',
    'UGC',
    'Cursos',
    'Serviços',
    'Livros',
    'E-books',
    'Música',
    'Filmes e Séries',
    'Alimentos e Bebidas',
    'SaaS',
    'Outros',
  ]
  const made = await make(client, '/product', { ...PRODUCT, categories })
  assert.deepEqual(made.categories, categories)
})

test('PUT /product changes the fields sent, one by one, and no others', async () => {
  const client = await api.client()
  let expected = await make(client, '/product', PRODUCT)
  const changes: Record<string, unknown> = {
    name: 'Outra',
    description: 'Outro',
    price: 0,
    needShipping: false,
    sku: 'X',
    status: 'INACTIVE',
    imageUrl: 'http://a.example/',
    categories: [],
    frequency: 'WEEKLY',
    type: 'ONE_TIME',
    dayDue: 1,
    dayGenerateCharge: 1,
  }
  for (const [field, value] of Object.entries(changes)) {
    const { status, body } = await client.put(`/product/${expected.id}`, { [field]: value })
    assert.equal(status, 200)
    expected = { ...expected, [field]: value }
    assert.deepEqual(body.data, expected, field)
    assert.deepEqual((await client.get(`/product/${expected.id}`)).body.data, expected)
  }
  const [row] = await api.rows('select created_at from products where company_id = $1', [
    client.company.id,
  ])
  assert.ok(row!.created_at)
})

test('null takes an optional field of a product away', async () => {
  const client = await api.client()
  const made = await make(client, '/product', { ...PRODUCT, type: 'ONE_TIME' })
  const refused: string[] = []
  for (const field of [
    'sku',
    'imageUrl',
    'categories',
    'frequency',
    'dayDue',
    'dayGenerateCharge',
  ]) {
    const { status, body } = await client.put(`/product/${made.id}`, { [field]: null })
    if (status !== 200 || field in body.data) refused.push(`${field}: ${status}`)
  }
  assert.deepEqual(refused, [])
  const blank = await client.put(`/product/${made.id}`, { description: '' })
  assert.equal(blank.body.data.description, PRODUCT.description, 'empty text changes nothing')
  const none = await client.put(`/product/${made.id}`, { description: null })
  assert.deepEqual([none.status, none.body.data.description], [200, ''])
})

test('a recurring product has a frequency, when it is made and when it is changed', async () => {
  const client = await api.client()
  const { frequency, ...without } = PRODUCT
  const plain = await make(client, '/product', { name: 'Pão', description: '', price: 1 })
  const before = await stored(api)
  for (const reply of [
    await client.post('/product', without),
    await client.put(`/product/${plain.id}`, { type: 'RECURRING' }),
  ]) {
    assert.deepEqual(answer(reply), [400, 'invalid_value'])
    assert.match(line(reply), /^frequency: /)
  }
  assert.deepEqual(await stored(api), before)
  const changed = await client.put(`/product/${plain.id}`, { type: 'RECURRING', frequency })
  assert.deepEqual([changed.status, changed.body.data.frequency], [200, 'MONTHLY'])
})
