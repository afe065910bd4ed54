import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey, revokeKey } from '../../src/core/companies/commands.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { OPERATOR_ROUTES } from '../../src/web/operator/routes.ts'
import { payer, startApi, type TestApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { linkTo } from '../support/pages.ts'
import { makeCharge, makePaid, makeUnmatched } from '../support/payments.ts'
import { pathFor } from './paths.ts'
import { makeTrouble, PAYER } from './trouble.ts'

const api: TestApi = await startApi()

const client = await api.client({ name: 'Padaria do Norte' })
const operator = await signIn(api, client.company, {
  role: null,
  isOperator: true,
  hasSecondFactor: true,
  name: 'Olga',
})
const english = await signIn(api, client.company, {
  role: null,
  isOperator: true,
  hasSecondFactor: true,
  language: 'en',
})

const pathOf = (path: string) => `//operator${pathFor(path, client)}`
const pages = OPERATOR_ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => path)

test('to everybody but operators, no page of the operator exists', async () => {
  const owner = await signIn(api, client.company)
  const missing = await owner.get('//account/no-such-page')
  assert.equal(missing.status, 404)
  for (const { method, path } of OPERATOR_ROUTES) {
    const ask = ({ get, post }: Member) =>
      method === 'GET' ? get(pathOf(path)) : post(pathOf(path), { name: client.company.name })
    const refused = await ask(owner)
    assert.equal(refused.status, 404, `${method} ${path}`)
    const { pathname } = new URL(pathOf(path).slice(1), api.url)
    // Each page has forms of its own.
    const like = (text: string) => text.replaceAll(/name="(?:once|next)" value="[^"]*"/g, '')
    assert.equal(like(refused.text), like(missing.text))
    const nobody = await fetch(`${api.url}${pathname}`, { method, redirect: 'manual' })
    assert.equal(nobody.status, 404, `${method} ${path} without a session`)
  }
})

test('an operator sees every page, in both languages', async () => {
  for (const path of pages) {
    for (const member of [operator, english]) {
      const { status, text, headers, location } = await member.get(pathOf(path))
      if (path === '/companies/:company/resume') {
        assert.equal(location, pathOf('/companies/:company').slice(1), 'it is not suspended')
        continue
      }
      assert.equal(status, 200, `${path}: ${text}`)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.match(text, /<h1>/)
    }
  }
  assert.match((await operator.get('//operator')).text, /Nenhum problema conhecido/)
  const theirs = await signIn(api, client.company, { isOperator: true })
  assert.match((await theirs.get('')).text, /href="\/operator"/)
  assert.doesNotMatch((await (await signIn(api, client.company)).get('')).text, /"\/operator"/)
})

test('no page of the operator has the tax id, the name or the address of a payer', async () => {
  await makeCharge(client, 1990, { customer: PAYER })
  await linkTo(api, client, { total: 990, customer: PAYER, notifyCustomer: true })
  await makePaid(api, client, 500)
  await makeUnmatched(api, client, 700)
  await makeTrouble(api, client)
  for (const path of pages) {
    const { text } = await operator.get(pathOf(path))
    for (const secret of [PAYER.taxId, '123.456.789-09', PAYER.name, PAYER.email, PAYER.phone]) {
      assert.ok(!text.includes(secret), `${path} shows ${secret}`)
    }
  }
})

test('companies have their volume, balance, audit and last activity', async () => {
  const other = await api.client({ name: 'Bazar <b>Sul</b>', taxId: '11444777000161' })
  await makePaid(api, other, 12_345)
  await makePaid(api, other, 655)
  const page = await operator.get('//operator/companies?q=bazar')
  assert.match(page.text, /Bazar &lt;b&gt;Sul/)
  assert.doesNotMatch(page.text, /Padaria do Norte/)
  assert.match(page.text, /R\$ 130,00/)
  assert.match(page.text, /R\$ 1\.130,00/)
  assert.match(page.text, /Ainda não feita/)
  for (const q of ['11.444.777/0001-61', other.company.id]) {
    const found = await operator.get(`//operator/companies?q=${encodeURIComponent(q)}`)
    assert.match(found.text, /Bazar/, q)
  }
  const one = await operator.get(`//operator/companies/${suffixOf(other.company.id)}`)
  assert.match(one.text, /11\.444\.777\/0001-61/)
  for (const path of [`/companies/${'0'.repeat(26)}`, '/no-such-page']) {
    const { status, text } = await operator.get(`//operator${path}`)
    assert.equal(status, 404)
    assert.match(text, /<nav class="menu"/)
    assert.match(text, /<a class="button slim" href="\/operator">/)
  }
})

test('lists have pages, and every company is on one of them', async () => {
  const names = Array.from({ length: 45 }, (_, i) => `Filial ${String(i).padStart(2, '0')}`)
  for (const name of names) await api.client({ name })
  const seen: string[] = []
  let next: string | undefined = '/operator/companies?q=Filial'
  while (next) {
    const { text } = await operator.get(`/${next}`)
    const shown = [...text.matchAll(/>(Filial \d\d)</g)].map(([, name]) => name!)
    assert.ok(shown.length <= 20)
    seen.push(...shown)
    next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  assert.deepEqual(seen, names.toReversed())
})

test('what goes wrong anywhere is on the overview and on its page', async () => {
  const overview = (await operator.get('//operator')).text
  for (const words of [
    'A contabilidade de 1 empresa não confere',
    'O trabalho de 1 empresa falha',
    '1 certificado de banco vence em 30 dias',
    '1 webhook com falha',
    '1 e-mail não foi aceito',
  ]) {
    assert.ok(overview.includes(words), words)
  }
  const { text: work } = await operator.get('//operator/work')
  assert.match(work, /pending is 5 too high/)
  assert.match(work, /some_constraint/)
  const { text: banks } = await operator.get('//operator/banks')
  assert.match(banks, /Padaria do Norte/)
  assert.match(banks, /Falhou 3 vezes/)
  const { text: webhooks } = await operator.get('//operator/webhooks')
  assert.match(webhooks, /hooks\.example\.com/)
  assert.doesNotMatch(webhooks, /secret-path/)
  const { text: mails } = await operator.get('//operator/mails')
  assert.match(mails, /Comprovante/)
  assert.match(mails, /Link de pagamento/)
})

test('people are listed, and operators apart', async () => {
  const member = await signIn(api, client.company, { name: 'Marcos' })
  const { text: all } = await operator.get('//operator/people')
  assert.ok(all.includes(member.person.email))
  const { text: operators } = await operator.get('//operator/people?operators=1')
  assert.ok(!operators.includes(member.person.email))
  assert.match(operators, /Olga/)
  const { text: found } = await operator.get('//operator/people?q=marc')
  assert.match(found, /Marcos/)
  assert.doesNotMatch(found, /Olga<br>/)
})

test('companies are made from lines, once, and suspended and resumed together', async () => {
  const lines = [
    'Loja A; 11.222.333/0001-81; a@example.com',
    '',
    'Loja B;11222333000181;b@example.com',
  ]
  const page = await operator.get('//operator/companies/new')
  const batch = /name="batch" value="([^"]+)"/.exec(page.text)![1]!
  const wrong = await operator.post('//operator/companies/new', {
    batch,
    companies: `${lines[0]}\nLoja C; 1; c`,
  })
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /Linha 2: CNPJ ou CPF inválido, e-mail inválido/)
  assert.doesNotMatch((await operator.get('//operator/companies?q=Loja')).text, /Loja A/)
  const form = { batch, companies: lines.join('\n') }
  const made = await operator.post('//operator/companies/new', form)
  const keys = [...made.text.matchAll(/vk_sandbox_\w+/g)].map(([key]) => key)
  assert.equal(keys.length, 2)
  const again = await operator.post('//operator/companies/new', form)
  assert.doesNotMatch(again.text, /vk_sandbox_/)
  assert.match(again.text, /Já existia/)
  const list = await operator.get('//operator/companies?q=Loja')
  const ids = [...list.text.matchAll(/form="picked" name="id" value="(\w+)"/g)].map(([, id]) => id!)
  assert.equal(ids.length, 2)
  const charge = async () => {
    const json = { amount: 1000, customer: payer() }
    const headers = { 'X-API-KEY': keys[0]! }
    return (await api.call('POST', '/charge/pix', { json, headers })).status
  }
  assert.equal(await charge(), 201)
  const asked = await operator.get(`//operator/companies/picked/suspend?id=${ids.join('&id=')}`)
  assert.match(asked.text, /Suspender 2 empresas\?/)
  const done = await operator.post('//operator/companies/picked/suspend', { ids: ids.join(' ') })
  assert.equal(done.location, '/operator/companies?done=suspend-many')
  assert.equal(await charge(), 403)
  await operator.post('//operator/companies/picked/resume', { ids: ids.join(' ') })
  assert.equal(await charge(), 201)
  const none = await operator.get('//operator/companies/picked/suspend')
  assert.equal(none.location, '/operator/companies?done=none')
})

test('keys are made for picked companies, shown once, listed and revoked by the page', async () => {
  const both = [
    await api.client({ name: 'Sapataria A' }),
    await api.client({ name: 'Sapataria B' }),
  ]
  const ids = both.map(({ company }) => suffixOf(company.id))
  const path = '//operator/companies/picked/keys'
  const form = await operator.get(`${path}?id=${ids.join('&id=')}`)
  assert.match(form.text, /cada uma de 2 empresas/)
  const wrong = await operator.post(path, { ids: ids.join(' '), name: ' ' })
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /Informe um nome de 1 a 255 caracteres/)
  assert.match(wrong.text, /Marque ao menos uma permissão/)
  assert.match(wrong.text, /Sapataria B/, 'it still knows who was picked')
  const made = await operator.post(path, {
    ids: ids.join(' '),
    name: 'Caixa <1>',
    'payments:read': 'on',
  })
  const keys = [...made.text.matchAll(/vk_sandbox_\w+/g)].map(([key]) => key)
  assert.equal(keys.length, 2)
  const headers = { 'X-API-KEY': keys[0]! }
  const list = async () => (await api.call('GET', '/charge', { headers })).status
  const json = { amount: 1000, customer: payer() }
  assert.equal((await api.call('POST', '/charge/pix', { json, headers })).status, 403)
  assert.equal(await list(), 200, 'it may only read')
  const page = `//operator/companies/${ids[0]}`
  const shown = (await operator.get(page)).text
  assert.match(shown, /Caixa &lt;1&gt;/)
  assert.ok(!shown.includes(keys[0]!))
  const picked = /name="id" value="(\w+)" aria-label="Selecionar Caixa/.exec(shown)![1]!
  const asked = await operator.get(`${page}/keys/revoke?id=${picked}`)
  assert.match(asked.text, /Revogar 1 chave de Sapataria A\?/)
  const other = await operator.post(`//operator/companies/${ids[1]}/keys/revoke`, { ids: picked })
  assert.equal(other.location, `/operator/companies/${ids[1]}?done=no-key`)
  assert.equal(await list(), 200, 'a key of another company stays')
  const done = await operator.post(`${page}/keys/revoke`, { ids: picked })
  assert.equal(done.location, `${page.slice(1)}?done=revoke`)
  assert.equal(await list(), 401)
  assert.match((await operator.get(page)).text, /Revogada/)
  const none = await operator.get(`${page}/keys/revoke`)
  assert.equal(none.location, `${page.slice(1)}?done=no-key`)
})

test('every key that works can be seen and revoked, however many a company has had', async () => {
  const { company } = await api.client({ name: 'Chaveiro' })
  const { db, vault } = api.app
  const now = api.clock.now()
  await db.transaction(async (tx) => {
    for (const i of Array(24).keys()) await createKey(tx, vault, company, { name: `old ${i}` }, now)
    for (const _ of Array(101)) {
      const { id } = await createKey(tx, vault, company, { name: 'gone' }, now)
      await revokeKey(tx, company.id, id, now)
    }
  })
  const page = `//operator/companies/${suffixOf(company.id)}`
  const picked: string[] = []
  for (let next: string | undefined = page.slice(1); next; ) {
    const { text } = await operator.get(`/${next}`)
    const found = [...text.matchAll(/name="id" value="(\w+)" aria-label="Selecionar old/g)]
    if (found.length === 0) break
    picked.push(...found.map(([, id]) => id!))
    next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  assert.equal(new Set(picked).size, 24)
  const asked = await operator.get(`${page}/keys/revoke?id=${picked.join('&id=')}`)
  assert.match(asked.text, /Revogar 24 chaves de Chaveiro\?/)
  const revoke = () => operator.post(`${page}/keys/revoke`, { ids: picked.join(' ') })
  assert.match((await revoke()).location!, /done=revoke$/)
  const works = `select id from api_keys
    where company_id = $1 and name like 'old%' and revoked_at is null`
  assert.equal((await api.rows(works, [company.id])).length, 0)
  assert.match((await revoke()).location!, /done=no-key$/)
})

test('a form for keys that is sent twice makes one key, and shows it again', async () => {
  const both = [await api.client(), await api.client()].map(({ company }) => company.id)
  const form = {
    ids: both.map(suffixOf).join(' '),
    name: 'Twice',
    'payments:read': 'on',
    once: suffixOf(newId()),
  }
  const send = () => operator.post('//operator/companies/picked/keys', form)
  const replies = await Promise.all([send(), send()])
  const shown = replies.map(({ text }) => [...text.matchAll(/vk_sandbox_\w+/g)].map(String))
  assert.equal(shown[0]!.length, 2)
  assert.deepEqual(shown[1], shown[0])
  const made = 'select id from api_keys where company_id = any ($1::uuid[]) and name = $2'
  assert.equal((await api.rows(made, [both, form.name])).length, 2)
})
