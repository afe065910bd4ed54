import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'

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

test('a customer is found by the start of the name, in upper or lower case', async () => {
  const names = ['Zélia 100%_Pura', 'zélia souza', 'Rosa Zélia', 'Zé']
  for (const [i, name] of names.entries()) {
    await owner.post('/customers/new', { ...MARIA, name, email: `zelia${i}@example.com` })
  }
  const find = async (q: string) => {
    const { text } = await owner.get(`/customers?q=${encodeURIComponent(q)}`)
    return names.filter((name) => text.includes(`>${name}</a>`))
  }
  assert.deepEqual(await find('ZÉLIA'), names.slice(0, 2))
  assert.deepEqual(await find('zélia 100%_'), names.slice(0, 1))
  assert.deepEqual(await find('%'), [])
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
  for (const amount of [1990, 500, 700]) {
    const { body } = await client.post('/charge/pix', { amount, customer, devMode: true })
    ids.push(body.data.id)
  }
  for (const id of ids.slice(0, 2)) await client.post(`/charge/${id}/simulate-payment`)
  const found = await owner.get('/customers?q=joao@example.com')
  const id = /clnt_\w+/.exec(found.text)![0]
  const page = await owner.get(`/customers/${id}`)
  assert.match(page.text, /R\$ 24,90/)
  assert.match(page.text, /2 pagamentos/)
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
