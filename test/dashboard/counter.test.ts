import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSale, sellAtCounter } from '../../src/core/charges/counter.ts'
import { LEASE_S } from '../../src/core/due.ts'
import { newId } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { addDays, localDateOf, startOfDay } from '../../src/pix/local-time.ts'
import { removeOrphans } from '../../src/worker/due.ts'
import { startApi } from '../support/api.ts'
import { openBanked } from '../support/bank.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { requireFigures } from '../support/figures.ts'
import { makeCharge, pay } from '../support/payments.ts'
import { decode } from '../support/qr.ts'

const api = await startApi()

async function shop() {
  const client = await api.client()
  const owner = await signIn(api, client.company, { name: 'Olga' })
  return { client, owner }
}

const idIn = (location: string | null) => /charge_\w+/.exec(location ?? '')![0]

async function sell(member: Member, amount: string, form: Record<string, string> = {}) {
  const { status, location, text } = await member.post('/counter', { amount, ...form })
  assert.equal(status, 303, text)
  const id = idIn(location)
  const page = (await member.get(`/counter/${id}`)).text
  const image = /<img src="(data:image\/png[^"]+)"/.exec(page)![1]!
  return { id, brCode: await decode(image), page }
}

const figures = async (member: Member, path = '/counter', headers = {}) => {
  const { text } = await member.get(path, headers)
  return [
    ...text.matchAll(/class="figure">.*?<span class="money">([^<]+)<.*?small">([^<]+)</g),
  ].map(([, sum, count]) => [sum, count])
}

test('a sale is a Pix of its own amount, without a payer, of any cents, that ends by itself', async () => {
  const { client, owner } = await shop()
  const { id, page } = await sell(owner, '3,50', { description: ' Café\n e pão ' })
  const charge = (await client.get(`/charge/${id}`)).body.data
  assert.deepEqual(
    [charge.total, charge.status, charge.customer, charge.description],
    [350, 'OPEN', undefined, 'Café e pão'],
  )
  assert.match(page, /<h1[^>]*>R\$ 3,50<\/h1>/)
  assert.doesNotMatch(page, /class="menu"/)
  api.clock.advance(1801)
  assert.match((await owner.get(`/counter/${id}`)).text, /Este Pix expirou/)
})

test('each sale has a code of its own, and what pays one leaves the other open', async () => {
  const { owner } = await shop()
  const [one, other] = [await sell(owner, '10,00'), await sell(owner, '10,00')]
  assert.notEqual(one.brCode, other.brCode)
  await pay(api, one.brCode)
  assert.match((await owner.get(`/counter/${one.id}`)).text, /<h1>Pago<\/h1>/)
  assert.match((await owner.get(`/counter/${other.id}`)).text, /Aguardando pagamento/)
})

test('a form that is sent twice makes one sale', async () => {
  const { client, owner } = await shop()
  const once = `${'0'.repeat(25)}1`
  const [one, other] = [
    await owner.post('/counter', { amount: '5,00', once }),
    await owner.post('/counter', { amount: '5,00', once }),
  ]
  assert.equal(one.location, other.location)
  assert.equal((await client.get('/charge')).body.data.length, 1)
})

test('at a real bank a sale names no debtor, and a form that is sent twice leaves one code', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const owner = await signIn(api, shop.company, { hasSecondFactor: true })
  const once = `${'0'.repeat(25)}2`
  const first = await owner.post('/counter', { amount: '5,00', once })
  assert.equal(first.status, 303, first.text)
  assert.equal((await owner.post('/counter', { amount: '5,00', once })).location, first.location)
  const rows = await api.rows<{ n: string }>(
    'select count(*) as n from charges where company_id = $1',
    [shop.company.id],
  )
  assert.equal(Number(rows[0]!.n), 1)
  // The code that nobody has seen waits to be removed at the bank.
  const orphans = await api.rows(
    `select id from charge_intents i where company_id = $1 and not exists
       (select from charges c where c.company_id = i.company_id and c.id = i.id)`,
    [shop.company.id],
  )
  assert.equal(orphans.length, 1)
})

test('a sale whose code is being taken back at the bank is not written', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const sale = readSale(newId(), toCents(500), null)
  const selling = sellAtCounter(api.app, await shop.fresh(), sale, async (insert) => {
    // A worker began to remove the code while the bank was waited for.
    await api.rows('update charge_intents set attempts = 1 where company_id = $1', [
      shop.company.id,
    ])
    return api.app.db.transaction(insert)
  })
  await assert.rejects(selling, { code: 'provider_unavailable' })
  const made = await api.rows('select 1 from charges where company_id = $1', [shop.company.id])
  assert.equal(made.length, 0)
})

test('the code of a sale stays at the bank, whenever the task runs', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const owner = await signIn(api, shop.company, { hasSecondFactor: true })
  const { brCode } = await sell(owner, '5,00')
  api.clock.advance(LEASE_S + 61)
  await removeOrphans.run(api.app)
  const states = [...shop.bank.state().charges.values()].map(({ status }) => status)
  assert.deepEqual(states, ['ATIVA'])
  assert.ok(brCode)
})

test('an amount that is none, and a long description, are refused at their fields', async () => {
  const { client, owner } = await shop()
  for (const amount of ['', '0', '0,00', 'dez', '-5', '99999999999999']) {
    const { status, text } = await owner.post('/counter', { amount })
    assert.equal(status, 400, amount)
    assert.match(text, /id="amount"[^>]*aria-invalid="true"/, amount)
    assert.match(text, /id="amount-fault">Informe um valor a partir de R\$ 0,01/, amount)
  }
  const long = await owner.post('/counter', { amount: '5,00', description: 'x'.repeat(141) })
  assert.match(long.text, /id="description-fault">Use até 140 caracteres/)
  const odd = await owner.post('/counter', { amount: '5,00', description: 'a\u0000b' })
  assert.equal(odd.status, 303, odd.text)
  assert.equal((await client.get('/charge')).body.data.length, 1)
})

test('the figures of today are what this person has sold at the counter, and all together', async () => {
  const { client, owner } = await shop()
  const colleague = await signIn(api, client.company, { role: 'support', name: 'Bia' })
  await pay(api, (await sell(owner, '10,00')).brCode)
  const second = await sell(owner, '2,50')
  await pay(api, second.brCode)
  await sell(owner, '7,00')
  await pay(api, (await makeCharge(client, 9900)).brCode)
  assert.deepEqual(await figures(owner), [['R$ 12,50', '2 vendas pagas']])
  await pay(api, (await sell(colleague, '4,00')).brCode)
  assert.deepEqual(await figures(owner), [
    ['R$ 12,50', '2 vendas pagas'],
    ['R$ 16,50', '3 vendas pagas'],
  ])
  await client.post(`/refund/${second.id}`, { value: 250 })
  assert.match((await figures(owner))[0]![1]!, /2 vendas pagas · R\$ 2,50 devolvidos/)
  await requireFigures(api, client)
  api.clock.advance(86_400)
  const tomorrow = await signIn(api, client.company)
  assert.deepEqual(await figures(tomorrow), [['R$ 0,00', '0 vendas pagas']])
})

test('two shifts of a day have sums of their own, also across midnight, on the phone that began', async () => {
  const now = api.clock.now()
  const midnight = startOfDay(addDays(localDateOf(now), 1))
  api.clock.advance((midnight.getTime() - now.getTime()) / 1000 - 600)
  const { client, owner } = await shop()
  const cookieOf = (headers: Headers) => headers.get('set-cookie')!
  const begin = async () => {
    api.clock.advance(1)
    const { headers, location } = await owner.post('/counter/shift', { shift: 'begin' })
    assert.equal(location, `${owner.home}/counter`)
    assert.match(cookieOf(headers), new RegExp(`; Path=${owner.home}/counter; .*HttpOnly`))
    return { cookie: `${owner.cookie}; ${cookieOf(headers).split(';')[0]}` }
  }
  const sellAll = async (...amounts: string[]) => {
    for (const amount of amounts) await pay(api, (await sell(owner, amount)).brCode)
  }
  await sellAll('10,00')
  api.clock.advance(60)
  const phone = await begin()
  assert.match((await owner.get('/counter', phone)).text, /Seu turno.*Encerrar turno/s)
  await sellAll('2,00', '3,00')
  assert.deepEqual(await figures(owner, '/counter', phone), [['R$ 5,00', '2 vendas pagas']])
  assert.deepEqual(await figures(owner), [['R$ 15,00', '3 vendas pagas']])
  api.clock.advance(1200)
  await sellAll('4,00')
  assert.deepEqual(await figures(owner, '/counter', phone), [['R$ 9,00', '3 vendas pagas']])
  const again = await owner.post('/counter/shift', { shift: 'begin' }, phone)
  assert.equal(again.headers.get('set-cookie'), null, 'a shift that runs begins once')
  api.clock.advance(1)
  const ended = await owner.post('/counter/shift', { shift: 'end' }, phone)
  assert.match(cookieOf(ended.headers), /^vintem-shift=; .*Max-Age=0/)
  const report = ended.location!.slice(owner.home.length)
  api.clock.advance(1)
  await sellAll('7,00')
  assert.deepEqual(await figures(owner, report), [['R$ 9,00', '3 vendas pagas']])
  assert.match((await owner.get(report)).text, /Turno encerrado.*Começar turno/s)
  const second = await begin()
  await sellAll('1,00')
  assert.deepEqual(await figures(owner, '/counter', second), [['R$ 1,00', '1 venda paga']])
  api.clock.advance(86_401)
  const later = await signIn(api, client.company)
  const left = { cookie: second.cookie.replace(owner.cookie, later.cookie) }
  assert.match((await later.get('/counter', left)).text, /Hoje no balcão/, 'nobody ended it')
  const odd = ['x', '-1', '9'.repeat(15), '9'.repeat(30), '', '1;2']
  for (const value of odd) {
    const cookie = `${later.cookie}; vintem-shift=${value}`
    assert.match((await later.get('/counter', { cookie })).text, /Hoje no balcão/, value)
    const { text } = await later.get(`/counter?from=${value}&to=${value}`)
    assert.match(text, /Hoje no balcão/, value)
  }
})

test('the receipt of a sale is the page of the payer, who has nothing of the dashboard', async () => {
  const { client, owner } = await shop()
  const { id, brCode } = await sell(owner, '5,00')
  await pay(api, brCode)
  const { text } = await owner.get(`/counter/${id}`)
  const receipt = /href="([^"]+)">Comprovante/.exec(text)![1]!
  assert.match(receipt, /\/pay\/[\w-]+$/)
  const page = await (await fetch(api.url + new URL(receipt).pathname)).text()
  assert.match(page, /R\$ 5,00/)
  assert.ok(page.includes(client.company.name))
})

test('a sale is canceled; one that was paid meanwhile is shown as paid', async () => {
  const { client, owner } = await shop()
  const one = await sell(owner, '5,00')
  const done = await owner.post(`/counter/${one.id}/cancel`)
  assert.match(done.location!, /\/counter\?done=canceled$/)
  assert.equal((await client.get(`/charge/${one.id}`)).body.data.status, 'CANCELED')
  const other = await sell(owner, '5,00')
  await pay(api, other.brCode)
  assert.match((await owner.post(`/counter/${other.id}/cancel`)).location!, /counter\/charge_\w+$/)
  assert.match((await owner.get(`/counter/${other.id}`)).text, /<h1>Pago<\/h1>/)
})

test('a suspended company sells nothing', async () => {
  const { client, owner } = await shop()
  await api.rows('update companies set suspended_at = now() where id = $1', [client.company.id])
  const { status, text } = await owner.post('/counter', { amount: '5,00' })
  assert.equal(status, 403)
  assert.match(text, /suspensa/)
  assert.equal((await client.get('/charge')).body.data.length, 0)
})

test('only sales of the counter are shown there, and each is in the activity log', async () => {
  const { client, owner } = await shop()
  const { id } = await makeCharge(client, 5000)
  assert.equal((await owner.get(`/counter/${id}`)).status, 404)
  await sell(owner, '5,00')
  assert.match((await owner.get('/settings/activity')).text, /Venda no balcão criada/)
  assert.match((await owner.get('/new')).text, /href="[^"]+\/counter"/)
})
