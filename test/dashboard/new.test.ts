import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payer, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeCustomer, makeRecurring } from '../support/subscriptions.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)

const PAYER = { name: 'Maria da Silva', taxId: '123.456.789-09', email: 'maria@example.com' }
const idIn = (location: string | null, prefix = 'charge') =>
  new RegExp(`${prefix}_\\w+`).exec(location ?? '')![0]
const read = async (id: string) => (await client.get(`/charge/${id}`)).body.data
const countOf = async (table: string) =>
  Number((await api.rows<{ n: string }>(`select count(*) as n from ${table}`))[0]!.n)

test('a charge is created for somebody new, with an amount in reais', async () => {
  const form = { ...PAYER, amount: '1.019,90', expiresIn: '3600', description: 'Pães' }
  const made = await owner.post('/new/charge', { ...form, externalId: 'pedido-7' })
  assert.equal(made.status, 303, made.text)
  assert.match(made.location!, /\/charges\/charge_\w+\/share\?done=charge$/)
  const charge = await read(idIn(made.location))
  assert.deepEqual(
    [charge.total, charge.description, charge.externalId, charge.devMode],
    [101_990, 'Pães', 'pedido-7', false],
  )
  const lived = Date.parse(charge.expiresAt) - Date.parse(charge.createdAt)
  assert.equal(lived, 3600_000)
})

test('a customer is found in the form, and what was typed stays', async () => {
  const customerId = await makeCustomer(client, { name: 'Carla Dias', taxId: '39053344705' })
  const typed = { amount: '10,00', description: 'Bolo', find: '390.533.447-05', step: 'find' }
  const found = await owner.post('/new/charge', typed)
  assert.equal(found.status, 200)
  assert.match(found.text, new RegExp(`value="${customerId}" checked`))
  assert.match(found.text, /Carla Dias/)
  assert.match(found.text, /value="10,00"/)
  assert.match(found.text, /value="Bolo"/)
  assert.doesNotMatch(found.text, /39053344705</)
  const made = await owner.post('/new/charge', { ...typed, step: '', customerId })
  assert.equal((await read(idIn(made.location))).customer.name, 'Carla Dias')
  const nobody = await owner.post('/new/charge', { ...typed, find: '52998224725' })
  assert.match(nobody.text, /Nenhum cliente encontrado/)
  const opened = await owner.get(`/new/charge?customer=${customerId}`)
  assert.match(opened.text, new RegExp(`value="${customerId}" checked`))
})

test('what is wrong with a charge is said at its field', async () => {
  const form = { name: '', taxId: '1', email: 'x', amount: '0,5 reais', expiresIn: '1800' }
  const page = await owner.post('/new/charge', form)
  assert.equal(page.status, 400)
  for (const field of ['amount', 'name', 'taxId', 'email']) {
    assert.match(page.text, new RegExp(`id="${field}"[^>]*aria-invalid="true"`), field)
  }
  assert.match(page.text, /id="amount-fault">Informe um valor como 19,90\./)
})

test('two faults of one form are said together', async () => {
  const strict = await api.client()
  await api.rows('update companies set strict_tax_ids = true where id = $1', [strict.company.id])
  const seller = await signIn(api, strict.company)
  const wrong = { name: 'Ana', taxId: '123.456.789-00', amount: '0', expiresIn: '1800' }
  const { text } = await seller.post('/new/charge', wrong)
  for (const field of ['amount', 'taxId']) {
    assert.match(text, new RegExp(`id="${field}"[^>]*aria-invalid="true"`), field)
  }
})

const DUE = {
  ...PAYER,
  amount: '1.000,00',
  total: '1.000,00',
  expiresIn: '1800',
  dueDate: '2026-08-28',
  fine: '2,00',
  interest: '1',
  discount: '5,00',
  discountUntil: '2026-08-24',
}

for (const path of ['/new/charge', '/new/link']) {
  test(`${path} takes a due date with fine, interest and discount, and shows it before`, async () => {
    const preview = await owner.post(path, { ...DUE, step: 'preview' })
    assert.match(preview.text, /Vence em 28\/08\/2026/)
    assert.match(preview.text, /R\$ 950,00/)
    const made = await owner.post(path, DUE)
    assert.equal(made.status, 303, made.text)
    const { due, expiresAt } = await read(idIn(made.location))
    assert.deepEqual(
      [due.dueDate, due.fine, due.interest, due.discounts],
      [
        '2026-08-28',
        { type: 'PERCENT', value: 200 },
        { type: 'PERCENT_PER_MONTH', value: 100, days: 'CALENDAR' },
        [{ type: 'PERCENT', value: 500, until: '2026-08-24' }],
      ],
    )
    assert.equal(expiresAt, '2026-09-29T03:00:00.000Z')
    const page = await owner.get(`/charges/${idIn(made.location)}`)
    assert.match(page.text, /Vencimento<\/dt><dd><time datetime="2026-08-28">28\/08\/2026/)
  })

  test(`${path} says at its field what is wrong with a due date`, async () => {
    const wrong = { dueDate: '2026-02-30', daysAfterDue: 'x', fine: 'x', discountUntil: '' }
    for (const step of ['', 'preview']) {
      const page = await owner.post(path, { ...DUE, ...wrong, step })
      assert.equal(page.status, 400, step)
      for (const field of Object.keys(wrong)) {
        assert.match(page.text, new RegExp(`id="${field}"[^>]*aria-invalid="true"`), field)
      }
    }
    for (const step of ['', 'preview']) {
      const none = await owner.post(path, { ...DUE, dueDate: '', step })
      assert.match(none.text, /id="dueDate"[^>]*aria-invalid="true"/, 'a fine needs a due date')
      assert.doesNotMatch(none.text, /id="fine"[^>]*aria-invalid="true"/)
    }
    const late = await owner.post(path, { ...DUE, dueDate: '2026-08-19' })
    assert.match(late.text, /id="dueDate"[^>]*aria-invalid="true"/)
  })
}

test('only a live company is asked about dev mode', async () => {
  assert.doesNotMatch((await owner.get('/new/charge')).text, /name="devMode"/)
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const person = await signIn(api, live.company)
  for (const path of ['/new/charge', '/new/link', '/new/code']) {
    assert.match((await person.get(path)).text, /name="devMode"/, path)
  }
  const form = { ...PAYER, amount: '5', expiresIn: '1800', devMode: 'yes' }
  const made = await person.post('/new/charge', form)
  assert.equal((await live.get(`/charge/${idIn(made.location)}`)).body.data.devMode, true)
})

test('a link is created from products, or from a total', async () => {
  const bread = { name: 'Pão', description: 'Francês', price: 150 }
  const { id } = (await client.post('/product', bread)).body.data
  const form = { ...PAYER, expiresIn: '604800', rows: '5' }
  const rows = { 'product-0': '', 'product-3': id, 'quantity-3': '4' }
  const urls = { successUrl: 'https://loja.example/obrigado' }
  const options = { needShipping: 'yes', notifyCustomer: 'yes' }
  const made = await owner.post('/new/link', { ...form, ...rows, ...urls, ...options })
  assert.equal(made.status, 303, made.text)
  const link = await read(idIn(made.location))
  assert.deepEqual([link.total, link.items[0].quantity], [600, 4])
  assert.deepEqual([link.needShipping, link.successUrl], [true, urls.successUrl])

  const total = await owner.post('/new/link', { ...form, total: '49,90' })
  assert.equal((await read(idIn(total.location))).total, 4990)
  const opened = await owner.get(`/new/link?product=${id}`)
  assert.match(opened.text, new RegExp(`<option value="${id}" selected>`))
})

test('a link whose total differs from its products is created by a second press', async () => {
  const cake = { name: 'Bolo', description: '', price: 4990 }
  const { id } = (await client.post('/product', cake)).body.data
  const rows = { 'product-0': id, 'quantity-0': '2' }
  const form = { ...PAYER, expiresIn: '604800', rows: '5', ...rows, total: '10,00' }
  const before = await countOf('charges')
  const asked = await owner.post('/new/link', form)
  assert.equal(asked.status, 200, asked.text)
  assert.match(asked.text, /O total é R\$ 10,00, mas os produtos somam R\$ 99,80/)
  assert.match(asked.text, /<button class="button">Criar link com este total/)
  assert.match(asked.text, /name="total"[^>]*value="10,00"|value="10,00"[^>]*name="total"/)
  assert.equal(await countOf('charges'), before)
  const english = await signIn(api, client.company, { language: 'en' })
  assert.match(
    (await english.post('/new/link', form)).text,
    /The total is R\$ 10,00, but the products add up to R\$ 99,80/,
  )
  const confirmed = /name="confirmed" value="([^"]+)"/.exec(asked.text)![1]!
  const changed = await owner.post('/new/link', { ...form, total: '20,00', confirmed })
  assert.match(changed.text, /O total é R\$ 20,00/, 'another total is asked about again')
  assert.equal(await countOf('charges'), before)
  const made = await owner.post('/new/link', { ...form, confirmed })
  assert.equal(made.status, 303, made.text)
  assert.equal((await read(idIn(made.location))).total, 1000)
  const preview = await owner.post('/new/link', { ...form, step: 'preview' })
  assert.match(preview.text, /O total é R\$ 10,00, mas os produtos somam R\$ 99,80/)
  const same = await owner.post('/new/link', { ...form, total: '99,80' })
  assert.equal(same.status, 303, same.text)
})

test('what is wrong with a link is said at its row or field', async () => {
  const bread = { name: 'Broa', description: '', price: 150 }
  const { id } = (await client.post('/product', bread)).body.data
  const form = { ...PAYER, expiresIn: '604800', rows: '5' }
  const nothing = await owner.post('/new/link', form)
  assert.match(
    nothing.text,
    /id="total-fault">Informe um total de R\$ 5,00 ou mais, como 19,90, ou escolha/,
  )
  const rows = { 'product-1': id, 'quantity-1': '1', 'product-4': id, 'quantity-4': 'muitos' }
  const wrong = await owner.post('/new/link', { ...form, ...rows })
  assert.match(wrong.text, /id="quantity-4-fault">Informe uma quantidade/)
  assert.match(wrong.text, /id="quantity-1-fault" hidden/)
  const unsendable = { ...form, email: '', total: '10', notifyCustomer: 'yes' }
  assert.match((await owner.post('/new/link', unsendable)).text, /id="email-fault">Informe/)
  const more = await owner.post('/new/link', { ...form, ...rows, step: 'rows' })
  assert.match(more.text, /name="product-9"/)
  assert.match(more.text, new RegExp(`<option value="${id}" selected>`))
})

test('a preview shows the page of the payer, and stores nothing', async () => {
  const bread = { name: 'Sonho <b>', description: '', price: 700 }
  const { id } = (await client.post('/product', bread)).body.data
  const monthly = await makeRecurring(client, { name: 'Clube do sonho', price: 3990 })
  const before = [
    await countOf('charges'),
    await countOf('recurrences'),
    await countOf('customers'),
  ]
  const form = { ...PAYER, step: 'preview', expiresIn: '1800', description: 'Pães do dia' }
  const charge = await owner.post('/new/charge', { ...form, amount: '12,34' })
  assert.equal(charge.status, 200, charge.text)
  const frame = /srcdoc="([^"]*)"/.exec(charge.text)![1]!
  assert.match(frame, /R\$ 12,34/)
  assert.match(frame, /Pães do dia/)
  assert.match(frame, /Maria da Silva/)
  const link = await owner.post('/new/link', { ...form, 'product-0': id, 'quantity-0': '2' })
  assert.match(/srcdoc="([^"]*)"/.exec(link.text)![1]!, /2 × Sonho &amp;lt;b&amp;gt;/)
  const subscription = await owner.post('/new/subscription', {
    ...form,
    product: monthly,
    who: 'any',
  })
  assert.match(/srcdoc="([^"]*)"/.exec(subscription.text)![1]!, /Clube do sonho/)
  const wrong = await owner.post('/new/charge', { ...form, amount: 'x' })
  assert.equal(wrong.status, 400)
  assert.doesNotMatch(wrong.text, /srcdoc/)
  const after = [await countOf('charges'), await countOf('recurrences'), await countOf('customers')]
  assert.deepEqual(after, before)
})

test('a static code is created, with a sign to print and its sales', async () => {
  const made = await owner.post('/new/code', { amount: '2,50', externalId: ' balcão 7 ' })
  assert.match(made.location!, /\/new\/code\/qrs_\w+\?done=made$/)
  const path = `/new/code/${idIn(made.location, 'qrs')}`
  const page = await owner.get(path)
  assert.match(page.text, /QR Code fixo de R\$ 2,50/)
  assert.match(page.text, /Ninguém pagou com este QR Code ainda/)
  const sign = await owner.get(`${path}/sign`)
  assert.match(sign.text, /Aponte a câmera/)
  assert.match(sign.text, /Padaria São João/)
  assert.match(sign.text, /R\$ 2,50/)
  const brCode = /data-copy="(000201[^"]+)"/.exec(page.text)![1]!
  const paid = await api.call('POST', '/bank/pix', { json: { brCode } })
  assert.ok(paid.status < 300, paid.text)
  const sold = await owner.get(path)
  assert.match(sold.text, /1 venda</)
  assert.match(sold.text, /\/charges\/charge_/)
  const list = (await owner.get('/new/code')).text
  assert.match(list, new RegExp(path))
  assert.match(list, /balcão 7/)
  assert.match((await owner.post('/new/code', { amount: '' })).text, /id="amount-fault">Informe/)
})

test('a subscription is created for anybody, or for one customer', async () => {
  const product = await makeRecurring(client, { name: 'Pão todo mês' })
  const any = await owner.post('/new/subscription', { product, who: 'any' })
  assert.equal(any.status, 303, any.text)
  const template = await client.get(`/pix-automatic/recurrences/${idIn(any.location, 'rec')}`)
  assert.equal(template.body.data.isRecurringTemplate, true)
  const person = { ...payer({ taxId: '52998224725' }), who: 'one', product }
  const one = await owner.post('/new/subscription', person as Record<string, string>)
  assert.equal(one.status, 303, one.text)
  const made = await client.get(`/pix-automatic/recurrences/${idIn(one.location, 'rec')}`)
  assert.equal(made.body.data.recurrenceAuthStatus, 'CREATED')
  const without = await owner.post('/new/subscription', { product: '', who: 'any' })
  assert.match(without.text, /id="product-fault">Escolha um produto/)
  const wrong = await owner.post('/new/subscription', { product, who: 'one', name: 'Ana' })
  assert.match(wrong.text, /id="taxId"[^>]*aria-invalid="true"/)
})

test('a form that is sent twice creates one charge', async () => {
  const form = { ...PAYER, amount: '7', expiresIn: '1800', once: 'o'.repeat(26) }
  const [first, second] = [
    await owner.post('/new/charge', form),
    await owner.post('/new/charge', form),
  ]
  assert.equal(idIn(first.location), idIn(second.location))
})

/** The fields that a page says are wrong. */
const wrongIn = (page: string) =>
  [...page.matchAll(/<(?:input|select|textarea) id="([\w-]+)"[^>]* aria-invalid="true"/g)].map(
    ([, name]) => name,
  )

test('everything that is wrong with a form is said at once', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const boss = await signIn(api, live.company)
  const { id: product } = (
    await client.post('/product', { name: 'Pão', description: '', price: 100 })
  ).body.data
  const payer = { name: '', taxId: '123', email: 'x', phone: '1' }
  const person = ['name', 'taxId', 'phone', 'email']
  const tried: [path: string, form: Record<string, string>, wrong: string[]][] = [
    ['/new/charge', { ...payer, amount: '1' }, ['amount', ...person]],
    ['/new/charge', { amount: 'x' }, ['amount', 'name', 'taxId']],
    [
      '/new/link',
      { ...payer, total: '0,01', 'product-0': product, 'quantity-0': '0', successUrl: 'x' },
      ['quantity-0', 'total', ...person, 'successUrl'],
    ],
    ['/new/link', { name: 'Ana', taxId: '1', notifyCustomer: 'yes' }, ['total', 'taxId', 'email']],
    ['/customers/new', { ...payer, postalCode: '1' }, [...person, 'postalCode']],
    ['/products/new', { name: '', price: 'x', type: 'RECURRING' }, ['name', 'price', 'frequency']],
    ['/developers/webhooks/new', { name: '', url: 'x' }, ['name', 'url']],
  ]
  for (const [path, form, wrong] of tried) {
    const page = await owner.post(path, form)
    assert.equal(page.status, 400, path)
    assert.deepEqual(wrongIn(page.text), wrong, path)
  }
  // Check digits, which only a live company needs, are told with the rest.
  const digits = await boss.post('/new/charge', { name: 'Ana', taxId: '12345678900', amount: 'x' })
  assert.deepEqual(wrongIn(digits.text), ['amount', 'taxId'])
})
