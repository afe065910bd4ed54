import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)

const CAKE = {
  name: 'Bolo de fubá',
  description: 'Inteiro',
  price: '1.234,50',
  type: 'ONE_TIME',
  frequency: '',
  dayDue: '3',
  status: 'ACTIVE',
}

const idIn = (location: string | null) => /prod_\w+/.exec(location ?? '')![0]

test('a product is created with a price in reais, changed and deleted', async () => {
  const made = await owner.post('/products/new', { ...CAKE, 'category-14': 'yes' })
  assert.equal(made.status, 303, made.text)
  const id = idIn(made.location)
  const { body } = await client.get(`/product/${id}`)
  assert.equal(body.data.price, 123_450)
  assert.deepEqual(body.data.categories, ['Alimentos e Bebidas'])
  const page = await owner.get(`/products/${id}?done=made`)
  assert.match(page.text, /Produto criado\./)
  assert.match(page.text, /R\$ 1\.234,50/)

  const form = await owner.get(`/products/${id}/edit`)
  assert.match(form.text, /value="1\.234,50"/)
  assert.match(form.text, /id="category-14" name="category-14" value="yes" checked/)
  const saved = await owner.post(`/products/${id}/edit`, { ...CAKE, price: '9,9', sku: 'B-1' })
  assert.match(saved.location!, /done=saved$/)
  const changed = (await client.get(`/product/${id}`)).body.data
  assert.deepEqual([changed.price, changed.sku, changed.categories], [990, 'B-1', undefined])

  assert.match((await owner.get(`/products/${id}/delete`)).text, /Excluir Bolo de fubá\?/)
  const gone = await owner.post(`/products/${id}/delete`)
  assert.match(gone.location!, /\/products\?done=deleted$/)
  assert.equal((await client.get(`/product/${id}`)).status, 404)
  assert.equal((await owner.get(`/products/${id}`)).status, 404)
})

test('a subscription needs a frequency, and has its days', async () => {
  const monthly = { ...CAKE, name: 'Clube do pão', type: 'RECURRING' }
  const refused = await owner.post('/products/new', monthly)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /id="frequency-fault">Escolha de quanto em quanto tempo/)
  assert.match(refused.text, /value="Clube do pão"/)
  const given = { ...monthly, frequency: 'MONTHLY', dayDue: '5', dayGenerateCharge: '10' }
  const { data } = (
    await client.get(`/product/${idIn((await owner.post('/products/new', given)).location)}`)
  ).body
  assert.deepEqual([data.frequency, data.dayDue, data.dayGenerateCharge], ['MONTHLY', 5, 10])
  const list = await owner.get('/products?type=RECURRING')
  assert.match(list.text, /Clube do pão/)
  assert.match(list.text, /Assinatura · Mensal/)
  assert.doesNotMatch((await owner.get('/products?type=ONE_TIME')).text, /Clube do pão/)
})

test('what is wrong is said at its field, in the language of the person', async () => {
  const english = await signIn(api, client.company, { language: 'en' })
  const wrong = { ...CAKE, name: ' ', price: '12 reais', imageUrl: 'ftp://x' }
  const page = await english.post('/products/new', wrong)
  assert.equal(page.status, 400)
  for (const fault of [
    /id="name-fault">Enter a name/,
    /id="price-fault">Enter the price in reais, such as 19,90\./,
    /id="imageUrl-fault">Enter an address that starts/,
  ]) {
    assert.match(page.text, fault)
  }
  assert.match(page.text, /value="12 reais"/)
})

test('a form that is sent twice creates one product', async () => {
  const form = { ...CAKE, name: 'Uma vez só', once: 'k'.repeat(26) }
  const [first, second] = [
    await owner.post('/products/new', form),
    await owner.post('/products/new', form),
  ]
  assert.equal(idIn(first.location), idIn(second.location))
})

test('a question that is answered twice deletes once, and both answers are the same', async () => {
  const id = idIn((await owner.post('/products/new', CAKE)).location)
  const form = { once: 'd'.repeat(26) }
  for (const _ of ['first', 'second']) {
    const { status, location } = await owner.post(`/products/${id}/delete`, form)
    assert.equal(status, 303)
    assert.match(location!, /\/products\?done=deleted$/)
  }
})

test('a viewer sees products and changes none', async () => {
  const id = idIn((await owner.post('/products/new', CAKE)).location)
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const page = await viewer.get(`/products/${id}`)
  assert.equal(page.status, 200)
  assert.doesNotMatch(page.text, /Excluir|Editar|Criar link/)
  assert.doesNotMatch((await viewer.get('/products')).text, /Novo produto/)
  for (const path of ['/products/new', `/products/${id}/edit`, `/products/${id}/delete`]) {
    assert.equal((await viewer.get(path)).status, 403)
    assert.equal((await viewer.post(path, CAKE)).status, 403)
  }
  assert.equal((await client.get(`/product/${id}`)).status, 200)
  const stranger = await signIn(api, (await api.client()).company)
  assert.equal((await stranger.get(`/products/${id}`)).status, 404)
  assert.equal((await stranger.post(`/products/${id}/delete`)).status, 404)
})
