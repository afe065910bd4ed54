import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { productOf } from '../support/pages.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)

const FIELDS = { minQuantity: '1', maxQuantity: '1', expiresIn: '1800' }
const idIn = (location: string | null) => /link_\w+/.exec(location ?? '')![0]
const read = async (id: string) => (await client.get(`/link/${id}`)).body.data

test('a title and an amount make a link, and its page is where it is sent from', async () => {
  const made = await owner.post('/links/new', { title: 'Rifa', amount: '1.234,50', ...FIELDS })
  assert.equal(made.status, 303, made.text)
  const link = await read(idIn(made.location))
  assert.equal(link.amount, 123_450)
  const { text } = await owner.get(`/links/${link.id}?done=made`)
  assert.match(text, /Link criado\. Copie ou envie ao cliente\./)
  assert.match(text, new RegExp(`data-copy="${link.url}"`))
  const message = encodeURIComponent(
    `Rifa, de ${client.company.name}.\nValor: R$ 1.234,50\nPague com Pix:\n${link.url}`,
  )
  assert.ok(text.includes(`https://wa.me/?text=${message}`), text)
  const list = await owner.get('/links')
  assert.match(list.text, />Rifa</)
  assert.match(list.text, /R\$ 1\.234,50/)
})

test('a form changes what it shows, and leaves nothing out that the API has set', async () => {
  const product = await productOf(client, { name: 'Bolo', price: 1300 })
  const made = await client.post('/link', {
    title: 'Bolo',
    items: [{ productId: product, quantity: 2 }],
    description: 'Inteiro',
    maxQuantity: 4,
    stock: 20,
    endsAt: '2026-12-24T15:30:00.000Z',
    expiresIn: 1234,
    needShipping: true,
    successUrl: 'https://loja.example/ok',
  })
  const { id } = made.body.data
  const form = await owner.get(`/links/${id}/edit`)
  const typed = Object.fromEntries(
    [
      ...form.text.matchAll(/<(?:input|textarea) id="([\w-]+)" name="\1"[^>]*?value="([^"]*)"/g),
    ].map(([, name, value]) => [name!, value!]),
  )
  const sent = {
    ...typed,
    title: 'Bolo',
    description: 'Inteiro',
    'product-0': product,
    'quantity-0': '2',
    'product-1': '',
    expiresIn: '1234',
    needShipping: 'yes',
    openAmount: '',
  }
  const saved = await owner.post(`/links/${id}/edit`, sent)
  assert.match(saved.location ?? '', /done=saved$/, saved.text)
  const { updatedAt: _, ...before } = made.body.data
  const { updatedAt: __, ...after } = await read(id)
  assert.deepEqual(after, before)
  const shorter = { ...sent, lastDay: '2026-11-30', stock: '', description: '' }
  await owner.post(`/links/${id}/edit`, shorter)
  const changed = await read(id)
  assert.deepEqual(
    [changed.endsAt, changed.stock, changed.description],
    ['2026-12-01T03:00:00.000Z', undefined, undefined],
  )
})

test('what is wrong is said at its field, and what was typed stays', async () => {
  const wrong = { title: 'Rifa', amount: '4,99', ...FIELDS, slug: 'Ação!', stock: 'x' }
  const page = await owner.post('/links/new', wrong)
  assert.equal(page.status, 400)
  for (const name of ['slug', 'stock']) {
    assert.match(page.text, new RegExp(`id="${name}-fault">[^<]+<`), name)
  }
  assert.match(page.text, /value="Ação!"/)
  assert.match(page.text, /<details class="more-fields" open>/)
  const cheap = await owner.post('/links/new', { ...wrong, slug: '', stock: '' })
  assert.match(cheap.text, /id="amount-fault">Informe um valor a partir de R\$ 5,00/)
})

test('a customer may choose the amount, and a link is switched off and on again', async () => {
  const fields = { title: 'Doação', openAmount: 'yes', min: '10', max: '', ...FIELDS }
  const id = idIn((await owner.post('/links/new', fields)).location)
  assert.deepEqual((await read(id)).openAmount, { min: 1000 })
  const off = await owner.post(`/links/${id}/enabled`, { enabled: '' })
  assert.match(off.location!, /done=off$/)
  assert.equal((await read(id)).state, 'OFF')
  const page = (await owner.get('/links?enabled=false')).text
  assert.match(page, /Doação/)
  const counts = [...page.matchAll(/links[?"][^<]*?>[^<]+ <span class="count">(\d+)</g)].map(
    ([, count]) => Number(count),
  )
  assert.deepEqual(counts, [counts[1]! + 1, counts[1], 1])
  await owner.post(`/links/${id}/enabled`, { enabled: 'yes' })
  assert.equal((await read(id)).state, 'OPEN')
})
