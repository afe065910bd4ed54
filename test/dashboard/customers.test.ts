import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexCustomers } from '../../src/core/customers/commands.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeCharge, makePaid, pay } from '../support/payments.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)

const MARIA = {
  name: 'Maria da Silva',
  taxId: '123.456.789-09',
  email: 'Maria@example.com',
  phone: '(11) 98888-8888',
}

const idIn = (location: string | null) => /clnt_\w+/.exec(location ?? '')![0]

test('a customer is created, found by tax id and e-mail, changed and deleted', async () => {
  const made = await owner.post('/customers/new', { ...MARIA, postalCode: '01310-100' })
  assert.equal(made.status, 303, made.text)
  const id = idIn(made.location)
  for (const text of ['123.456.789-09', '12345678909', 'maria@example.com', '']) {
    const list = await owner.get(`/customers?q=${encodeURIComponent(text)}`)
    assert.match(list.text, new RegExp(id), text)
    assert.doesNotMatch(list.text, /123\.456\.789-09<|12345678909</, 'lists mask the tax id')
  }
  assert.doesNotMatch((await owner.get('/customers?q=joao@example.com')).text, new RegExp(id))
  assert.match((await owner.get(`/customers/${id}`)).text, /123\.456\.789-09/)

  const changed = { ...MARIA, email: 'ana@example.com', status: 'INACTIVE', postalCode: '' }
  const saved = await owner.post(`/customers/${id}/edit`, changed)
  assert.match(saved.location!, /done=saved$/)
  const { data } = (await client.get(`/client/id/${id}`)).body
  assert.deepEqual(
    [data.email, data.status, data.postalCode],
    ['ana@example.com', 'INACTIVE', undefined],
  )
  assert.match((await owner.get('/customers?q=ana@example.com')).text, new RegExp(id))
  assert.doesNotMatch((await owner.get('/customers?q=maria@example.com')).text, new RegExp(id))

  const gone = await owner.post(`/customers/${id}/delete`)
  assert.match(gone.location!, /\/customers\?done=deleted$/)
  assert.equal((await owner.get(`/customers/${id}`)).status, 404)
})

const finder = (names: string[]) => async (q: string) => {
  const { text } = await owner.get(`/customers?q=${encodeURIComponent(q)}`)
  return names
    .filter((name) => text.includes(`>${name}</a>`))
    .sort((a, b) => text.indexOf(`>${a}</a>`) - text.indexOf(`>${b}</a>`))
}

test('a customer is found by any part of the name, in any case and without accents', async () => {
  const names = ['Zélia 100%_Pura', 'zélia souza', 'Rosa Zélia', 'Zé', 'Ana Zelia Brandão']
  for (const [i, name] of names.entries()) {
    await owner.post('/customers/new', { ...MARIA, name, email: `pessoa${i}@example.com` })
  }
  const find = finder(names)
  const [pure, souza, rosa, , ana] = names as [string, string, string, string, string]
  assert.deepEqual(await find('ZÉLIA'), [pure, souza, ana, rosa], 'first who begins with it')
  assert.deepEqual(await find('zelia'), [ana, rosa, pure, souza])
  assert.deepEqual(await find('zélia 100%_'), [pure])
  assert.deepEqual(await find('SOUZ'), [souza])
  assert.deepEqual(await find('brandao ana'), [ana])
  assert.deepEqual(await find('RANDÃ'), [ana], 'any part')
  assert.deepEqual(await find('elia ouz'), [souza])
  assert.deepEqual(await find('%'), [])
  // A form that asks who pays finds them too.
  const { text } = await owner.post('/new/charge', { step: 'find', find: 'brandão' })
  assert.match(text, /Ana Zelia Brandão/)
})

test('a name that many have shows some of them, and says that there are more', async () => {
  const { company, post } = await api.client()
  const boss = await signIn(api, company)
  for (let i = 0; i < 51; i++) {
    const customer = { name: `Pessoa${i} Comum`, taxId: '12345678909', status: 'ACTIVE' }
    assert.equal(
      (await post('/client', { ...customer, email: 'a@example.com', phone: '11988888888' })).status,
      201,
    )
  }
  const found = await boss.get('/customers?q=comum')
  assert.equal(found.text.match(/>Pessoa\d+ Comum<\/a>/g)!.length, 50)
  assert.match(found.text, /Há mais clientes assim; esta lista é de 50 deles/)
  assert.doesNotMatch((await boss.get('/customers?q=pessoa7')).text, /Há mais clientes/)
})

test('a customer is found by phone, however it is written, and whoever has made them', async () => {
  const names = ['Fone Um', 'Fone Dois', 'Fone Três']
  const [one, two, three] = names as [string, string, string]
  const form = { ...MARIA, name: one, phone: '(21) 97777-6655', email: 'f1@example.com' }
  const made = await owner.post('/customers/new', form)
  const customer = { name: two, taxId: '98765432100', phone: '2133334444' }
  await client.post('/charge/pix', { amount: 500, customer })
  const taxId = '21977776655'
  await client.post('/charge/pix', { amount: 500, customer: { name: three, taxId } })
  const find = finder(names)
  for (const text of ['(21) 97777-6655', '21977776655', '+55 21 97777.6655', '5521977776655']) {
    assert.deepEqual((await find(text)).sort(), text === taxId ? [three, one] : [one], text)
  }
  for (const text of ['(21) 3333-4444', '021 3333 4444', '+552133334444']) {
    assert.deepEqual(await find(text), [two], text)
  }
  assert.deepEqual(await find('(21) 3333-4445'), [])
  await owner.post(`/customers/${idIn(made.location)}/edit`, { ...form, phone: '(31) 97777-6655' })
  assert.deepEqual(await find('(21) 97777-6655'), [])
  assert.deepEqual(await find('(31) 97777-6655'), [one])
  const stored = JSON.stringify(
    await api.rows('select * from customers where name like $1', ['Fone%']),
  )
  assert.doesNotMatch(stored, /97777|33334444/)
})

test('a task indexes the phones of customers from before, also beside one that is damaged', async () => {
  const { company, post } = await api.client()
  const boss = await signIn(api, company)
  const person = { taxId: '12345678909', email: 'a@example.com', status: 'ACTIVE' }
  for (let i = 0; i < 5; i++) {
    await post('/client', { ...person, name: `Antigo ${i}`, phone: `119888800${i}0` })
  }
  const old = `update customers set phone_index = null, search_tokens = null
    where company_id = $1`
  await api.rows(old, [company.id])
  await api.rows(`update customers set sealed = '\\x00' where name = 'Antigo 2'`)
  const find = async (phone: string) => (await boss.get(`/customers?q=${phone}`)).text
  assert.match(await find('11988880030'), /Nenhum cliente encontrado para “11988880030”/)
  let runs = 1
  while (await indexCustomers(api.app, 2)) runs += 1
  assert.equal(runs, 3)
  for (const i of [0, 1, 3, 4])
    assert.match(await find(`119888800${i}0`), new RegExp(`Antigo ${i}<`))
  assert.equal(await indexCustomers(api.app, 1), false, 'none is looked at again')
})

test('who searches and finds nobody reads what was searched for', async () => {
  const { text } = await owner.get('/customers?q=%3Cb%3Eninguém')
  assert.match(text, /<strong>Nenhum cliente encontrado para “&lt;b&gt;ninguém”<\/strong>/)
  assert.doesNotMatch(text, /Nada por aqui ainda/)
  const english = await signIn(api, client.company, { language: 'en' })
  assert.match((await english.get('/customers?q=nobody')).text, /No customer found for “nobody”/)
})

test('what is wrong is said at its field', async () => {
  const wrong = { name: '', taxId: '123', email: 'maria', phone: '11' }
  const page = await owner.post('/customers/new', wrong)
  assert.equal(page.status, 400)
  assert.match(page.text, /id="name-fault">Informe um nome/)
  assert.match(page.text, /id="taxId-fault">CPF ou CNPJ inválido/)
  assert.match(page.text, /id="email-fault">Informe um e-mail/)
  assert.match(page.text, /id="phone-fault">Informe o DDD/)
  assert.match(page.text, /value="maria"/)
})

test('the page of a customer has what they paid, and whole documents only for some', async () => {
  const customer = { name: 'João Souza', taxId: '98765432100', email: 'joao@example.com' }
  const ids: string[] = []
  for (const [amount, devMode] of [
    [1990, false],
    [500, false],
    [700, false],
    [9900, true],
  ] as const) {
    const { body } = await client.post('/charge/pix', { amount, customer, devMode })
    ids.push(body.data.id)
    if (devMode) await client.post(`/charge/${body.data.id}/simulate-payment`)
    else if (amount !== 700) await pay(api, body.data.brCode)
  }
  await client.post(`/refund/${ids[0]}`, { value: 490 })
  const found = await owner.get('/customers?q=joao@example.com')
  const id = /clnt_\w+/.exec(found.text)![0]
  const page = await owner.get(`/customers/${id}`)
  // What was refunded is not in it, nor is a trial: as in the list.
  const total = 'R\\$ 20,00'
  assert.match(page.text, new RegExp(`Total pago</span><strong><span class="money">${total}`))
  assert.match(page.text, /2 pagamentos, sem as devoluções/)
  assert.match(found.text, new RegExp(`data-title="Total pago"[^>]*><span class="money">${total}`))
  for (const charge of ids) assert.match(page.text, new RegExp(charge))
  assert.match(page.text, /987\.654\.321-00/)
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const theirs = await viewer.get(`/customers/${id}`)
  assert.equal(theirs.status, 200)
  assert.doesNotMatch(theirs.text, /987\.654\.321-00|98765432100/)
  assert.doesNotMatch(theirs.text, /Excluir|Editar/)
  for (const path of ['/customers/new', `/customers/${id}/edit`, `/customers/${id}/delete`]) {
    assert.equal((await viewer.get(path)).status, 403)
    assert.equal((await viewer.post(path, MARIA)).status, 403)
  }
})

test('a customer without an address can be changed without one', async () => {
  const customer = { name: 'Sem e-mail', taxId: '11144477735' }
  await client.post('/charge/pix', { amount: 500, customer })
  const id = /clnt_\w+/.exec((await owner.get('/customers?q=11144477735')).text)![0]
  const form = { name: 'Outro nome', taxId: '11144477735', status: 'ACTIVE', email: '', phone: '' }
  const saved = await owner.post(`/customers/${id}/edit`, form)
  assert.equal(saved.status, 303, saved.text)
  assert.equal((await client.get(`/client/id/${id}`)).body.data.name, 'Outro nome')
})

test('nobody reads or changes a customer of another company', async () => {
  const id = idIn((await owner.post('/customers/new', MARIA)).location)
  const stranger = await signIn(api, (await api.client()).company)
  assert.equal((await stranger.get(`/customers/${id}`)).status, 404)
  assert.equal((await stranger.post(`/customers/${id}/edit`, MARIA)).status, 404)
  assert.equal((await stranger.post(`/customers/${id}/delete`)).status, 404)
  assert.doesNotMatch((await stranger.get('/customers?q=maria@example.com')).text, /Maria da/)
})

test('the list says what each customer has paid and when, not that they are active', async () => {
  const client = await api.client()
  const paid = await makePaid(api, client, 2500)
  await client.post(`/refund/${paid.id}`, { value: 500 })
  await makePaid(api, client, 1000)
  await makeCharge(client, 9900)
  const owner = await signIn(api, client.company)
  const { text } = await owner.get('/customers')
  assert.match(text, /Maria da Silva.*?\d\d\/\d\d\/2026<.*?R\$ 30,00/s)
  assert.doesNotMatch(text, />Ativo</)
})
