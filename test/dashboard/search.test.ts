import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkoutUrl } from '../../src/core/charges/addresses.ts'
import { isAllowed, ROLES } from '../../src/core/people/rules.ts'
import { fromPublic, type Uuid } from '../../src/lib/ids.ts'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import { FOUND_PAGES, findPages } from '../../src/web/dashboard/search-pages.ts'
import { payer, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeRecords } from '../support/dashboard-records.ts'
import { makeCode, makePaid, makeUnmatched } from '../support/payments.ts'
import { makeSubscription } from '../support/subscriptions.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)

const find = async (q: string, member = owner) =>
  (await member.get(`/search?${new URLSearchParams({ q })}`)).text

/** The main part, without the header that repeats what was typed. */
const mainOf = (text: string) => text.slice(text.indexOf('<main'))

const ANA = {
  name: 'Ana Cláudia da Silva',
  taxId: '52998224725',
  email: 'ana.claudia@padaria-souza.com.br',
  phone: '21977776655',
}

const charge = async (body: object): Promise<string> => {
  const reply = await client.post('/charge/pix', { amount: 1000, customer: payer(), ...body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}

test('support finds a payer and their charges by any part of who they are', async () => {
  const id = await charge({ customer: ANA, amount: 4321 })
  await charge({ customer: { name: 'Bruno Lima', taxId: '11144477735', phone: '1133334444' } })
  const support = await signIn(api, client.company, { role: 'support' })
  for (const q of [
    'silva',
    'SILVA',
    'ilv',
    'claudia',
    'Cláudia',
    'silva ana',
    '(21) 97777-6655',
    '+55 21 97777-6655',
    '21977776655',
    '97777-6655',
    '6655',
    '7777',
    '529.982.247-25',
    '52998224725',
    '24725',
    '4725',
    'ana.claudia@padaria-souza.com.br',
    'ANA.CLAUDIA',
    'padaria-souza',
    '@padaria',
    'ana.claudia@pad',
  ]) {
    const text = mainOf(await find(q, support))
    assert.match(text, /<h2>Clientes<\/h2>/, q)
    assert.match(text, /href="[^"]*\/customers\/clnt_\w+"/, q)
    assert.match(text, new RegExp(`/charges/${id}`), q)
    assert.doesNotMatch(text, /Bruno/, q)
    assert.doesNotMatch(
      text.replace(/<footer.*/s, '').replaceAll(q, ''),
      /529\.982|5299822|97777/,
      'lists mask them',
    )
  }
  for (const q of ['silvana', 'bruno silva', '6654', '5299', '@padariax', '529.982.247-26']) {
    assert.doesNotMatch(mainOf(await find(q, support)), /Ana Cl/, q)
  }
})

test('the lists of charges and of customers find the same people', async () => {
  for (const q of ['ilv', '6655', '(21) 97777-6655', 'padaria-souza', '24725']) {
    for (const path of ['/charges', '/customers']) {
      const { text } = await owner.get(`${path}?${new URLSearchParams({ q })}`)
      assert.match(mainOf(text), /Ana Cláudia da Silva/, `${path} ${q}`)
    }
  }
  const none = await owner.get('/charges?q=ninguem')
  assert.match(none.text, /Nenhuma cobrança encontrada/)
  assert.doesNotMatch(none.text, /Nada por aqui ainda/)
})

test('the hidden digits of a tax id find nobody, and neither does what all addresses have', async () => {
  for (const q of ['5299', '9982', '2998', '.com.br', 'com']) {
    assert.doesNotMatch(mainOf(await find(q)), /Ana Cl/, q)
  }
  await charge({ customer: { name: 'Caio', taxId: '39053344705', email: 'caio.prado@gmail.com' } })
  for (const q of ['caio.prado@g', 'prado', 'caio.prado@gmail.com']) {
    assert.match(mainOf(await find(q)), />Caio</, q)
  }
  assert.doesNotMatch(mainOf(await find('gmail')), />Caio</)
})

test('a reference is found in any case and by its beginning, in the API only as it is', async () => {
  const id = await charge({ externalId: 'Pedido-Ç-778A' })
  for (const q of ['Pedido-Ç-778A', 'PEDIDO-ç-778a', 'pedido-ç', 'PED']) {
    assert.match(mainOf(await find(q)), new RegExp(`/charges/${id}`), q)
    const { text } = await owner.get(`/charges?${new URLSearchParams({ q })}`)
    assert.match(mainOf(text), new RegExp(`/charges/${id}`), q)
  }
  assert.doesNotMatch(mainOf(await find('778A')), new RegExp(id))
  const exact = async (externalId: string) =>
    (await client.get(`/charge?${new URLSearchParams({ externalId })}`)).body.data.length
  assert.deepEqual([await exact('Pedido-Ç-778A'), await exact('pedido-ç-778a')], [1, 0])
})

test('an amount finds charges, withdrawals and payments that wait for a decision', async () => {
  const id = await charge({ amount: 123_456 })
  const e2e = await makeUnmatched(api, client, 777_77)
  for (const q of ['1.234,56', 'R$ 1.234,56', '1234,56']) {
    assert.match(mainOf(await find(q)), new RegExp(`/charges/${id}`), q)
  }
  assert.match(mainOf(await find('777,77')), new RegExp(`/unmatched/${e2e}`))
  assert.match(mainOf(await find(e2e.slice(0, 20))), new RegExp(`/unmatched/${e2e}`))
})

test('a subscription is found by its payer', async () => {
  const shop = await api.client()
  const boss = await signIn(api, shop.company)
  const { id } = await makeSubscription(shop)
  assert.match(mainOf(await find('da silva', boss)), new RegExp(`/subscriptions/${id}`))
})

test('a whole id leads to its page, and its beginning to the records that have it', async () => {
  const shop = await api.client()
  const records = await makeRecords(api, shop)
  const boss = await signIn(api, shop.company)
  const paid = await makePaid(api, shop, 2500)
  const code = await makeCode(shop, 900)
  const to = async (q: string) => (await boss.get(`/search?${new URLSearchParams({ q })}`)).location
  const at = (path: string) => `${boss.home}${path}`
  for (const kind of [
    'charges',
    'plans',
    'customers',
    'products',
    'recipients',
    'unmatched',
    'disputes',
    'new/code',
    'subscriptions',
    'developers/webhooks',
    'developers/deliveries',
    'developers/events',
    'balance/withdrawals',
  ]) {
    const id = records[kind]!
    assert.equal(await to(` ${id} `), at(`/${kind}/${id}`), kind)
    assert.equal((await boss.get(`/${kind}/${id}`)).status, 200, kind)
    if (/^[a-z]+_/.test(id)) {
      assert.match(mainOf(await find(id.slice(0, -4), boss)), new RegExp(`/${kind}/${id}`), kind)
      assert.equal(await to(id.toUpperCase()), at(`/${kind}/${id}`), kind)
    }
  }
  assert.equal(await to(paid.endToEndId), at(`/charges/${paid.id}`))
  assert.equal(await to(paid.id.slice('charge_'.length)), at(`/charges/${paid.id}`))
  assert.equal(await to(code.id), at(`/new/code/${code.id}`))
  const { body } = await shop.post(`/refund/${paid.id}`, { value: 100 })
  assert.equal(await to(body.data.id), at(`/charges/${paid.id}`))
  for (const id of Object.values(records)) {
    const text = await find(id)
    assert.doesNotMatch(mainOf(text).replaceAll(id, ''), /Confidencial/, 'of another company')
  }
})

test('the end of an id finds its record, as it is read where the id is cut', async () => {
  const shop = await api.client()
  const records = await makeRecords(api, shop)
  const boss = await signIn(api, shop.company)
  for (const kind of ['charges', 'customers', 'disputes', 'subscriptions', 'balance/withdrawals']) {
    const id = records[kind]!
    for (const q of [id.slice(-6), id.slice(-20), `…${id.slice(-6).toUpperCase()}`]) {
      assert.match(mainOf(await find(q, boss)), new RegExp(`/${kind}/${id}`), `${kind} ${q}`)
    }
    assert.doesNotMatch(mainOf(await find(id.slice(-6))), new RegExp(id), 'of another company')
    assert.doesNotMatch(mainOf(await find(id.slice(-5), boss)), new RegExp(`${kind}/${id}`), kind)
  }
})

test('a link is found by its address, whole or in part, and a pasted address leads to its page', async () => {
  const shop = await api.client()
  const boss = await signIn(api, shop.company)
  const made = await shop.post('/link', { title: 'Ceia', slug: 'natal-em-casa', amount: 5000 })
  assert.equal(made.status, 201, made.text)
  const { id, url } = made.body.data
  for (const q of ['natal-em-casa', '/natal-em-casa', 'NATAL', 'casa', 'ceia casa']) {
    assert.match(mainOf(await find(q, boss)), new RegExp(`/links/${id}`), q)
  }
  const at = async (q: string, member = boss) =>
    (await member.get(`/search?${new URLSearchParams({ q })}`)).location
  const { id: subscription } = await makeSubscription(shop)
  const { id: paid } = await makePaid(api, shop, 2500)
  const pageOf = (id: Uuid | null) => checkoutUrl(api.app, { companyId: shop.company.id, id: id! })
  for (const [q, path] of [
    [url, `/links/${id}`],
    [`${url}?utm=x`, `/links/${id}`],
    [pageOf(fromPublic('charge', paid)), `/charges/${paid}`],
    [pageOf(fromPublic('rec', subscription)), `/subscriptions/${subscription}`],
    [`${new URL(url).origin}${boss.home}/links/${id}/edit`, `/links/${id}`],
  ] as const) {
    assert.equal(await at(q), `${boss.home}${path}`, q)
    assert.equal(await at(q, owner), null, `of another company: ${q}`)
  }
})

test('nobody finds what their role may not see', async () => {
  const shop = await api.client()
  const records = await makeRecords(api, shop)
  const support = await signIn(api, shop.company, { role: 'support' })
  for (const kind of ['balance/withdrawals', 'recipients']) {
    const id = records[kind]!
    const page = await support.get(`/search?q=${id}`)
    assert.equal(page.status, 200)
    assert.doesNotMatch(mainOf(page.text), new RegExp(`href="[^"]*${id}`), kind)
  }
  const value = mainOf(await find('10,00', support))
  assert.doesNotMatch(value, /Saques/)
  for (const role of ROLES) {
    const member = await signIn(api, shop.company, { role })
    for (const [, path] of mainOf(await find('saque', member)).matchAll(/href="([^"]+)"/g)) {
      assert.equal((await member.get(`/${path}`)).status, 200, `${role} ${path}`)
    }
  }
})

test('what a viewer sees masked, no part of it finds', async () => {
  const shop = await api.client()
  const bia = { name: 'Bia Reis', taxId: '52998224725', email: 'bia.segredo@padaria.com.br' }
  const made = { amount: 1000, customer: { ...bia, phone: '21977776655' } }
  assert.equal((await shop.post('/charge/pix', made)).status, 201)
  const support = await signIn(api, shop.company, { role: 'support' })
  const viewer = await signIn(api, shop.company, { role: 'viewer' })
  const paths = ['/search', '/customers', '/charges', '/customers.csv']
  const finds = async (path: string, q: string, member: typeof owner) => {
    const { text } = await member.get(`${path}?${new URLSearchParams({ q })}`)
    return /Bia Reis|class="count">[1-9]/.test(text)
  }
  for (const path of paths) {
    for (const hidden of ['segredo', '.segr', '97777', '7766']) {
      assert.ok(await finds(path, hidden, support), `${path} ${hidden}`)
      assert.ok(!(await finds(path, hidden, viewer)), `${path} ${hidden}`)
    }
    for (const shown of ['padaria', '6655', '4725', 'reis']) {
      assert.ok(await finds(path, shown, viewer), `${path} ${shown}`)
    }
  }
  const id = /clnt_\w+/.exec((await viewer.get('/customers')).text)![0]
  for (const path of ['/customers', `/customers/${id}`, '/search?q=reis', '/customers.csv']) {
    const { text } = await viewer.get(path)
    assert.doesNotMatch(text, /segredo|97777/, path)
    assert.match(text, /b\*\*\*@padaria/, path)
  }
})

test('each page that is found is in the table of routes, and needs the same', () => {
  for (const { path, needs } of FOUND_PAGES.filter(({ path }) => !path.startsWith('//'))) {
    const route = ROUTES.find((one) => one.method === 'GET' && one.path === path.split('?')[0])
    assert.ok(route, path)
    for (const role of ROLES) {
      assert.equal(isAllowed(role, needs), isAllowed(role, route.needs), `${path} ${role}`)
    }
  }
})

test('words of both languages lead to pages', async () => {
  const can = () => true
  const first = (text: string) => findPages({ can }, text)[0]?.path
  for (const [text, path] of [
    ['devolver', '/charges?status=COMPLETED'],
    ['estorno', '/charges?status=COMPLETED'],
    ['refund', '/charges?status=COMPLETED'],
    ['chaves', '/developers/keys'],
    ['api key', '/developers/keys'],
    ['WebHooks', '/developers/webhooks'],
    ['extrato', '/balance'],
    ['statement', '/balance'],
    ['senha', '//account'],
    ['password', '//account'],
    ['2fa', '//account/security'],
    ['sacar', '/balance/withdrawals'],
    ['carne', '/new/plan'],
    ['equipe', '/settings/members'],
  ] as const) {
    assert.equal(first(text), path, text)
  }
  assert.equal(first('xyzzy'), undefined)
  assert.match(mainOf(await find('senha')), /href="\/account"/)
  const english = await signIn(api, client.company, { language: 'en' })
  assert.match(mainOf(await find('extrato', english)), />Balance</)
})

test('more than five of a kind are shown in the list', async () => {
  const shop = await api.client()
  const boss = await signIn(api, shop.company)
  for (let i = 0; i < 6; i++) {
    const customer = payer({ name: `Sétimo Muitos ${i}`, taxId: `1000000000${i}` })
    await shop.post('/charge/pix', { amount: 900, customer })
  }
  const text = mainOf(await find('muitos', boss))
  assert.equal(text.match(/\/customers\/clnt_/g)!.length, 5)
  assert.match(text, /href="[^"]*\/customers\?q=muitos">Ver todos/)
  assert.match(text, /href="[^"]*\/charges\?q=muitos&amp;as=name">Ver todos/)
})

test('whatever is typed is text: it is found or not, and shown as it is', async () => {
  const texts = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    `'; drop table customers; --`,
    '%',
    '___',
    '%a%',
    '\\',
    '\0',
    'a\0b',
    '\u202eabc',
    '{1,2}',
    'null',
    'charge_',
    'charge_zzzzzzzzzz',
    'x'.repeat(10_000),
    '🎉🎉🎉',
    '\ud800abc',
    '0'.repeat(200),
  ]
  for (const q of texts) {
    const page = await owner.get(`/search?${new URLSearchParams({ q })}`)
    assert.equal(page.status, 200, JSON.stringify(q.slice(0, 40)))
    assert.doesNotMatch(page.text, /<script>alert|<img src=x/)
    for (const path of ['/customers', '/charges']) {
      const list = await owner.get(`${path}?${new URLSearchParams({ q })}`)
      assert.equal(list.status, 200, `${path} ${JSON.stringify(q.slice(0, 40))}`)
    }
  }
  assert.match(await find('<b>nada'), /Nada encontrado para “&lt;b&gt;nada”/)
  const any = fc.oneof(fc.string(), fc.string({ unit: 'binary' }))
  await fc.assert(
    fc.asyncProperty(any, async (q) => {
      assert.equal((await owner.get(`/search?${new URLSearchParams({ q })}`)).status, 200)
    }),
    { numRuns: 40 },
  )
})

test('every page has the search, and an empty one says what can be found', async () => {
  for (const path of ['', '/charges', '/settings', '/search', '/nowhere']) {
    const { text } = await owner.get(path)
    assert.match(text, /<form class="find-all" method="get" action="[^"]+\/search" role="search"/)
  }
  assert.match(mainOf(await find('')), /últimos dígitos/)
})
