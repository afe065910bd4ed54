import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payer, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { makeCharge, makePaid } from '../support/payments.ts'
import { makeSubscription } from '../support/subscriptions.ts'

const api = await startApi()
const PAGE = '/settings/messages'
const edit = (message: string) => `${PAGE}/edit?message=${message}`

async function shop() {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  return { client, owner }
}

const messageIn = (text: string): string => {
  const [, href] = /href="(https:\/\/wa\.me\/[^"]+)"/.exec(text)!
  return new URL(href!.replaceAll('&amp;', '&')).searchParams.get('text')!
}
const customer = payer({ email: 'maria@example.com' })

test('a message of the company goes with its charges, and ours comes back when it is reset', async () => {
  const { client, owner } = await shop()
  const { id } = await makeCharge(client, 4990)
  const sent = async () => messageIn((await owner.get(`/charges/${id}/share`)).text)
  const text = 'Oi, {nome}!\r\n{valor} para {empresa}: {link} até {validade}'
  const saved = await owner.post(edit('charge'), { act: 'save', text })
  assert.match(saved.location!, /done=saved$/)
  assert.match(await sent(), /^Oi, Maria da Silva!\nR\$ 49,90 para .+: http.+\/pay\/\S+ até \d\d\//)
  const page = (await owner.get(PAGE)).text
  assert.match(page, /Sua mensagem/)
  const reset = await owner.post(edit('charge'), { act: 'reset', text })
  assert.match(reset.location!, /done=reset$/)
  assert.match(await sent(), /^Olá, Maria da Silva! Sua cobrança/)
  assert.match((await owner.get('/settings/activity')).text, /Mensagem ao cliente alterada/)
})

test('a preview shows the message and stores nothing', async () => {
  const { owner } = await shop()
  const { text } = await owner.post(edit('receipt'), { act: 'preview', text: 'Valeu, {nome}!' })
  assert.match(text, /<pre[^>]*>Valeu, Maria da Silva!\nhttp/)
  assert.doesNotMatch((await owner.get(PAGE)).text, /Valeu/)
})

test('an unknown placeholder is named at the field, with those that there are', async () => {
  const { owner } = await shop()
  for (const act of ['save', 'preview']) {
    const { status, text } = await owner.post(edit('charge'), {
      act,
      text: 'Oi, {cliente}! {valor}',
    })
    assert.equal(status, 400)
    assert.match(text, /id="text-fault">\{cliente\} não existe nesta mensagem\. Use \{nome\}/)
    assert.match(text, /Oi, \{cliente\}!/)
  }
  const receipt = await owner.post(edit('receipt'), { act: 'save', text: 'Até {validade}' })
  assert.match(receipt.text, /\{validade\} não existe nesta mensagem/)
  for (const text of ['', ' ', 'x'.repeat(1001)]) {
    const refused = await owner.post(edit('charge'), { act: 'save', text })
    assert.match(refused.text, /id="text-fault">Escreva de 1 a 1000 caracteres/)
  }
  assert.equal((await owner.get(edit('other'))).status, 404)
})

test('characters that nobody types are left out', async () => {
  const { client, owner } = await shop()
  await owner.post(edit('charge'), { act: 'save', text: 'a\u0000b\u0007 {link}' })
  const { id } = await makeCharge(client, 4990)
  assert.match(messageIn((await owner.get(`/charges/${id}/share`)).text), /^ab http/)
})

test('what a payer is called writes nothing into a message', async () => {
  const { client, owner } = await shop()
  const { id } = await makeCharge(client, 4990, { customer: payer({ name: 'Ana {link} {valor}' }) })
  const message = messageIn((await owner.get(`/charges/${id}/share`)).text)
  assert.ok(message.startsWith('Olá, Ana {link} {valor}! '), message)
})

test('a company that writes English sends English, to whoever reads its pages in Portuguese', async () => {
  const { client, owner } = await shop()
  await client.put('/company', { language: 'en' })
  const { id } = await makeCharge(client, 4990)
  const message = messageIn((await owner.get(`/charges/${id}/share`)).text)
  assert.match(message, /^Hello, Maria da Silva! Your payment request/)
})

test('after its due date a charge is sent with the message for that, and the amount of the day', async () => {
  const { client } = await shop()
  const fine = { type: 'PERCENT', value: 200 }
  const due = { dueDate: '2026-08-28', daysAfterDue: 30, fine }
  const { id } = await makeCharge(client, 10_000, due)
  const sent = async () =>
    messageIn((await (await signIn(api, client.company)).get(`/charges/${id}/share`)).text)
  assert.match(
    await sent(),
    /^Olá, Maria da Silva! Sua cobrança de .* está pronta\.\nValor: R\$ 100,00/,
  )
  // The first business day after it.
  api.clock.advance(11 * 86_400)
  assert.match(await sent(), /venceu em 28\/08\/2026\.\nValor hoje: R\$ 102,00/)
})

test('our own e-mails have the words of the company, around facts and button', async () => {
  const { client, owner } = await shop()
  await owner.post(edit('charge'), { act: 'save', text: 'Oi, {nome}!\n{link}\nAbraço da equipe' })
  await owner.post(edit('receipt'), { act: 'save', text: 'Valeu, {nome}!' })
  const { id } = await makeCharge(client, 4990, { customer })
  await owner.post(`/charges/${id}/mail`)
  const paid = await makePaid(api, client, 4990)
  await owner.post(`/charges/${paid.id}/mail`)
  const letters = await lettersOf(api, client.company.id)
  const link = letters.find(({ kind }) => kind === 'payment-link')!
  assert.match(
    link.text,
    /Oi, Maria da Silva!\n\nValor: R\$ 49,90[\s\S]+Pagar com Pix:\n\S+\n\nAbraço da equipe/,
  )
  assert.doesNotMatch(link.text, /enviou um link/)
  const receipt = letters.find(({ kind }) => kind === 'receipt')!
  assert.match(receipt.text, /Valeu, Maria da Silva!/)
})

test('links for many, plans and subscriptions are sent in the words and the language of the company', async () => {
  const { client, owner } = await shop()
  await client.put('/company', { language: 'en' })
  const made = async (path: string, body: object) => (await client.post(path, body)).body.data.id
  const plan = { total: 9000, count: 3, firstDueDate: '2027-01-20', customer }
  const pages = {
    reusable: `/links/${await made('/link', { title: 'Rifa', amount: 1000 })}`,
    plan: `/plans/${await made('/charge/plan', plan)}`,
    subscription: `/subscriptions/${(await makeSubscription(client)).id}`,
  }
  const sent = async (path: string) => messageIn((await owner.get(path)).text)
  assert.match(
    await sent(pages.reusable),
    /^Rifa, from .+\.\nAmount: R\$ 10,00\nPay with Pix:\nhttp/,
  )
  assert.match(await sent(pages.plan), /^Hello, Maria da Silva! Your installments/)
  assert.match(await sent(pages.subscription), /^Hello, .+! This is the link of your subscription/)
  for (const [sort, path] of Object.entries(pages)) {
    const text = `${sort} de {empresa} por {valor}`
    const saved = await owner.post(edit(sort), { act: 'save', text })
    assert.equal(saved.status, 303, saved.text)
    assert.match(await sent(path), new RegExp(`^${sort} de .+ por R\\$ [\\d,]+\nhttp`))
  }
  const named = await owner.post(edit('reusable'), { act: 'save', text: 'Oi, {nome}!' })
  assert.match(named.text, /\{nome\} não existe nesta mensagem\. Use \{produto\}/)
})

test('who may not change the company reads its messages and changes none', async () => {
  const { client } = await shop()
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const { status, text } = await viewer.get(PAGE)
  assert.equal(status, 200)
  assert.doesNotMatch(text, /messages\/edit/)
  assert.equal((await viewer.post(edit('charge'), { act: 'save', text: 'Oi' })).status, 403)
})
