import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, payer, startApi } from '../../support/api.ts'
import { openBanked } from '../../support/bank.ts'
import { signIn } from '../../support/dashboard.ts'
import { ADDRESS, at, linkTo } from '../../support/pages.ts'
import { pay } from '../../support/payments.ts'
import { runTasks } from '../../support/tasks.ts'

const api = await startApi()

const get = async (url: string) => {
  const answer = await fetch(url, { redirect: 'manual' })
  return { status: answer.status, to: answer.headers.get('location'), text: await answer.text() }
}
const post = async (url: string, fields: Record<string, string> = {}) => {
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
  })
  return { status: answer.status, to: answer.headers.get('location'), text: await answer.text() }
}
const renew = (url: string) => post(`${url}/renew`)
const charges = async (client: Client) => (await client.get('/charge')).body.data
async function expire(seconds = 301) {
  api.clock.advance(seconds)
  await runTasks(api)
}
const BUTTON = />Gerar novo código</

test('an expired link gives its payer a new charge like it, once', async () => {
  const client = await api.client()
  const fields = { total: 5000, expiresIn: 60, externalId: 'pedido 7', description: 'Bolo' }
  const url = await linkTo(api, client, fields)
  assert.equal((await renew(url)).to, new URL(url).pathname)
  assert.equal((await charges(client)).length, 1)
  await expire()
  assert.match((await get(url)).text, BUTTON)
  const renewed = await Promise.all(Array.from({ length: 5 }, () => renew(url)))
  const [page, ...others] = new Set(renewed.map(({ to }) => to))
  assert.deepEqual(others, [])
  const all = await charges(client)
  assert.equal(all.length, 2)
  const [made] = all
  assert.equal(made.status, 'OPEN')
  assert.ok(made.brCode)
  assert.deepEqual(
    [made.total, made.externalId, made.description, made.customer.name],
    [5000, 'pedido 7', 'Bolo', payer().name],
  )
  assert.equal((await get(url)).to, page)
  assert.equal((await renew(url)).to, page)
  assert.equal((await charges(client)).length, 2)
})

test('all pages of a sale lead to the newest charge, also when it is paid', async () => {
  const client = await api.client()
  const first = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  await expire()
  const second = api.url + (await renew(first)).to
  await expire()
  assert.match((await get(first)).text, BUTTON)
  assert.match((await get(second)).text, BUTTON)
  const [one, other] = await Promise.all([renew(first), renew(second)])
  assert.equal(one.to, other.to)
  const [newest] = await charges(client)
  await pay(api, newest.brCode)
  const [, , { id }] = await charges(client)
  const owner = await signIn(api, client.company)
  assert.match((await owner.get(`/charges/${id}`)).text, /O novo código já foi pago/)
  for (const url of [first, second]) {
    assert.equal((await get(url)).to, one.to)
    assert.equal((await renew(url)).to, one.to)
  }
  assert.equal((await charges(client)).length, 3)
})

test('a payer cannot renew a charge without end', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  for (let i = 0; i < 10; i++) {
    await expire()
    assert.equal((await renew(url)).status, 303)
  }
  await expire()
  assert.doesNotMatch((await get(url)).text, BUTTON)
  assert.equal((await renew(url)).status, 409)
  assert.equal((await charges(client)).length, 11)
})

test('the company decides which payers can have a new code', async () => {
  const client = await api.client()
  const link = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  const made = await client.post('/charge/pix', { amount: 700, customer: payer(), expiresIn: 60 })
  const pix = at(api, made.body.data.url)
  await expire()
  const offers = async () => {
    const found = []
    for (const url of [link, pix]) {
      const isOffered = BUTTON.test((await get(url)).text)
      if (!isOffered) assert.equal((await renew(url)).status, 409)
      found.push(isOffered)
    }
    return found
  }
  const set = async (newCodes: string) => {
    const changed = await client.put('/company', { newCodes })
    assert.equal(changed.status, 200, changed.text)
  }
  assert.deepEqual(await offers(), [true, false])
  await set('NONE')
  assert.deepEqual(await offers(), [false, false])
  await set('ALL')
  assert.deepEqual(await offers(), [true, true])
  await api.rows('update companies set suspended_at = now() where id = $1', [client.company.id])
  assert.deepEqual(await offers(), [false, false])
})

test('with a due date, after a cancellation or for a subscription there is no new code', async () => {
  const client = await api.client()
  await client.put('/company', { newCodes: 'ALL' })
  const due = await linkTo(api, client, { total: 5000, dueDate: '2026-08-21', daysAfterDue: 0 })
  const canceled = await linkTo(api, client, { total: 5000 })
  const [{ id }] = await charges(client)
  await client.post(`/charge/${id}/cancel`)
  assert.doesNotMatch((await get(canceled)).text, BUTTON)
  const before = (await charges(client)).length
  await renew(canceled)
  await expire(4 * 86_400)
  assert.doesNotMatch((await get(due)).text, BUTTON)
  assert.equal((await renew(due)).status, 409)
  assert.equal((await charges(client)).length, before)
})

test('the address for shipping goes on with the new charge, and is asked for if there is none', async () => {
  const client = await api.client()
  const fields = { total: 5000, expiresIn: 60, needShipping: true }
  const given = await linkTo(api, client, fields)
  await post(given, ADDRESS)
  const open = await linkTo(api, client, fields)
  await expire()
  await renew(given)
  const [made] = await charges(client)
  assert.ok(made.brCode)
  assert.equal(made.shipping.address, ADDRESS.address)
  const { to } = await renew(open)
  assert.match((await get(api.url + to)).text, /Endereço de entrega/)
})

test('a sale by a link is made again on the page of the link', async () => {
  const client = await api.client()
  const link = (await client.post('/link', { title: 'Rifa', amount: 1000, expiresIn: 60 })).body
    .data
  const bought = await post(at(api, link.url), {
    name: 'Maria',
    taxId: '12345678909',
    price: '1000',
  })
  const url = api.url + bought.to
  await expire()
  const { text } = await get(url)
  assert.ok(text.includes(`href="${new URL(link.url).pathname}"`), text)
  assert.match(text, /Comprar de novo/)
  assert.equal((await renew(url)).status, 409)
})

test('at a real bank a charge that was paid in time is not made again', async () => {
  const client = await openBanked(api, { callbacks: false })
  const url = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  await post(url)
  const [charge] = await charges(client)
  client.bank.payer.pay(charge.brCode)
  api.clock.advance(61)
  await renew(url)
  const all = await charges(client)
  assert.deepEqual(
    all.map(({ status }: { status: string }) => status),
    ['COMPLETED'],
  )
  assert.equal(client.bank.seen('PUT /cob/{txid}'), 1)
})

test('where the bank does not say whether a charge was paid in time, nobody pays it again', async () => {
  const client = await openBanked(api, { callbacks: false })
  const url = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  await post(url)
  const [charge] = await charges(client)
  client.bank.payer.pay(charge.brCode)
  api.clock.advance(61)
  client.bank.faults.next('GET /cob/{txid}', '5xx', 5)
  assert.equal((await renew(url)).status, 503)
  client.bank.faults.clear()
  assert.equal((await charges(client)).length, 1)
  await renew(url)
  assert.deepEqual(
    (await charges(client)).map(({ status }: { status: string }) => status),
    ['COMPLETED'],
  )
})

test('whoever has paid late is not asked to pay again, until the money has gone back', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  await post(url)
  const [charge] = await charges(client)
  await expire()
  const endToEndId = await pay(api, charge.brCode)
  const { text } = await get(url)
  assert.match(text, /Pagamento em análise/)
  assert.doesNotMatch(text, BUTTON)
  assert.equal((await renew(url)).status, 409)
  assert.equal((await charges(client)).length, 1)
  const back = await client.post(`/payment/unmatched/${endToEndId}/refund`, {})
  assert.equal(back.status, 201, back.text)
  await runTasks(api)
  assert.match((await get(url)).text, BUTTON)
})

const stateAt = async (url: string) =>
  ((await (await fetch(`${url}/status`)).json()) as { state: string }).state

/** A charge that has expired twice, and the page of the one that is open in its place. */
async function renewedTwice(client: Client) {
  const url = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  await post(url)
  const [old] = await charges(client)
  await expire()
  const second = api.url + (await renew(url)).to
  await expire()
  return { url, old, page: api.url + (await renew(second)).to }
}

test('who pays an old code late is not asked to pay the new one, until the money has gone back', async () => {
  const client = await api.client()
  const { url, old, page } = await renewedTwice(client)
  assert.equal(await stateAt(page), 'open')
  const endToEndId = await pay(api, old.brCode)
  assert.equal(await stateAt(page), 'checking')
  const { text } = await get(page)
  assert.match(text, /Pagamento em análise.*Não pague de novo/s)
  const [{ id, brCode }] = await charges(client)
  assert.ok(!text.includes(brCode))
  assert.equal((await get(url)).to, new URL(page).pathname)
  const owner = await signIn(api, client.company)
  const told = (await owner.get(`/charges/${id}`)).text
  assert.match(told, /Ela continua em aberto\..*Não pague de novo enquanto isso/s)
  await expire(1900)
  assert.equal(await stateAt(page), 'checking')
  assert.equal((await renew(page)).status, 409)
  assert.doesNotMatch((await owner.get(`/charges/${id}`)).text, /peça um novo link/)
  const back = await client.post(`/payment/unmatched/${endToEndId}/refund`, {})
  assert.equal(back.status, 201, back.text)
  await runTasks(api)
  assert.equal(await stateAt(page), 'expired')
  assert.match((await get(page)).text, BUTTON)
})

test('if a late Pix settles the charge that it named, the new one leads to its receipt', async () => {
  const client = await api.client()
  const { url, old, page } = await renewedTwice(client)
  const endToEndId = await pay(api, old.brCode)
  const accepted = { chargeId: old.id }
  const { status } = await client.post(`/payment/unmatched/${endToEndId}/accept`, accepted)
  assert.equal(status, 200)
  assert.equal(await stateAt(page), 'paid')
  assert.equal((await get(page)).to, new URL(url).pathname)
  assert.match((await get(url)).text, /Pagamento [^<]*confirmado/)
  assert.equal((await renew(page)).to, new URL(page).pathname)
})

test('at a real bank a new charge has a code of the bank, and only one is open', async () => {
  const client = await openBanked(api)
  const url = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  await post(url)
  await expire(300)
  const renewed = await Promise.all([renew(url), renew(url), renew(url)])
  assert.equal(new Set(renewed.map(({ to }) => to)).size, 1)
  const open = (await charges(client)).filter(({ status }: { status: string }) => status === 'OPEN')
  assert.equal(open.length, 1)
  assert.ok(open[0].brCode)
})

test('where something has gone wrong, payers read how to reach the shop', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000, expiresIn: 60 })
  const contact = {
    contactWhatsapp: '(11) 98765-4321',
    contactPhone: '1133334444',
    contactEmail: 'oi@loja.example',
  }
  assert.doesNotMatch((await get(url)).text, /Fale com a loja/)
  await expire()
  assert.doesNotMatch((await get(url)).text, /Fale com a loja/)
  const changed = await client.put('/company', contact)
  assert.equal(changed.body.data.contactWhatsapp, '11987654321')
  const { text } = await get(url)
  assert.match(text, /<a href="https:\/\/wa\.me\/5511987654321"[^>]*>\(11\) 98765-4321</)
  assert.match(text, /<a href="tel:\+551133334444"/)
  assert.match(text, /<a href="mailto:oi@loja\.example"/)
  for (const wrong of ['x', '<script>', '123']) {
    assert.equal((await client.put('/company', { contactPhone: wrong })).status, 400)
  }
  const none = await client.put('/company', { contactWhatsapp: null, contactPhone: null })
  assert.deepEqual(
    [none.body.data.contactWhatsapp, none.body.data.contactEmail],
    [undefined, 'oi@loja.example'],
  )
})

test('a page says once until when it can be paid, and makes no code by being read', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000 })
  const read = async (agent: string) =>
    (await fetch(url, { headers: { 'User-Agent': agent } })).text()
  assert.match(await read('Mozilla/5.0'), /data-auto="Gerando o código Pix…"/)
  assert.doesNotMatch(await read('WhatsApp/2.23'), /data-auto/)
  const [charge] = await charges(client)
  assert.equal(charge.brCode, undefined)
  await post(url)
  const { text } = await get(url)
  assert.equal(text.match(/Válido até/g)?.length, 1)
  const shipped = await linkTo(api, client, { total: 5000, needShipping: true })
  assert.doesNotMatch((await get(shipped)).text, /data-auto/)
})
