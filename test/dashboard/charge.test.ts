import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPublic } from '../../src/lib/ids.ts'
import { carryOutRefunds, expireDueCharges, releaseDueCharges } from '../../src/worker/due.ts'
import { payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { makeCharge, makeCode, makePaid, pay } from '../support/payments.ts'
import { register } from '../support/webhooks.ts'

const api = await startApi()

/** The titles of the timeline, in their order. */
const titlesIn = (text: string): string[] =>
  [...text.matchAll(/<p class="what"><strong>(.*?)<\/strong>/gs)].map(([, title]) => title!)

async function opened(member: Member, id: string): Promise<string> {
  const { status, text } = await member.get(`/charges/${id}`)
  assert.equal(status, 200, text)
  return text
}

/** Opens the page of a charge as a payer does. */
const look = async (url: string, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${new URL(url).pathname}`, { headers })

const links = (text: string, path: string) => text.includes(`${path}"`)

test('a charge is one timeline, with the entries and events that each moment has made', async () => {
  const client = await api.client()
  await register(client, 'http://127.0.0.1:9/hook', ['charge.paid'])
  const made = await client.post('/charge/payment-link', { total: 2000, customer: payer() })
  const { id, url } = made.body.data
  api.clock.advance(10)
  await look(url, { 'user-agent': 'WhatsApp/2.2' })
  api.clock.advance(10)
  await look(url)
  api.clock.advance(10)
  await fetch(`${api.url}${new URL(url).pathname}`, { method: 'POST' })
  const { brCode } = (await client.get(`/charge/${id}`)).body.data
  api.clock.advance(10)
  const endToEndId = await pay(api, brCode)
  api.clock.advance(61)
  await releaseDueCharges.run(api.app)
  await client.post(`/refund/${id}`, { value: 500, comment: 'Faltou um item' })
  await carryOutRefunds.run(api.app)
  const owner = await signIn(api, client.company)
  const text = await opened(owner, id)
  assert.deepEqual(titlesIn(text), [
    'Cobrança criada',
    'Página de pagamento aberta',
    'Código Pix gerado',
    'Pagamento recebido',
    'Valor liberado para saque',
    'Devolução de R$ 5,00',
  ])
  assert.match(text, /pela API, com a chave test/)
  assert.match(text, new RegExp(`<code>${endToEndId}</code><br>Banco do pagador: Banco simulado`))
  assert.match(text, /Lançamento nº 2: Cobrança paga.*?\+ R\$ 20,00.*?A liberar <[^>]+>R\$ 20,00/s)
  assert.match(text, /Lançamento nº 3: .*?A liberar <[^>]+>R\$ 0,00/s)
  assert.match(text, /Concluída.*?Faltou um item/s)
  for (const event of ['pending', 'processing', 'paid', 'received', 'refunded']) {
    assert.equal(text.split(`<code>charge.${event}</code>`).length, 2, event)
  }
  assert.match(
    text,
    /charge\.paid<\/code> <a href="[^"]+\/developers\/deliveries\/[\w-]+">.*?na fila/,
  )
  assert.match(text, /charge\.received<\/code><span class="soft"> · sem webhook/)
})

test('a payer is whole for whoever acts on payments, and masked for others', async () => {
  const client = await api.client()
  const { id } = await makePaid(api, client, 1990)
  const support = await opened(await signIn(api, client.company, { role: 'support' }), id)
  assert.match(support, /529\.982\.247-25/)
  assert.match(support, /maria@example\.com/)
  assert.doesNotMatch(support, /Lançamento nº/)
  const viewer = await opened(await signIn(api, client.company, { role: 'viewer' }), id)
  assert.match(viewer, /\*\*\*\.\*\*\*\.247-25/)
  assert.doesNotMatch(viewer, /529\.?982|maria@|11988888888/)
  assert.match(viewer, /Lançamento nº/)
  assert.doesNotMatch(viewer, /<form[^>]+charges/)
})

test('a charge leads to its customer, unless they were deleted', async () => {
  const client = await api.client()
  const { id } = await makePaid(api, client, 1990)
  const owner = await signIn(api, client.company)
  const [customer] = (await client.get('/client')).body.data
  assert.match(await opened(owner, id), new RegExp(`/customers/${customer.id}"`))
  assert.equal((await client.delete(`/client/${customer.id}`)).status, 200)
  assert.doesNotMatch(await opened(owner, id), /\/customers\/clnt_/)
})

test('a charge of another company does not exist', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const { id } = await makePaid(api, client, 1990)
  const stranger = await signIn(api, other.company)
  for (const path of ['', '/refund', '/cancel']) {
    assert.equal((await stranger.get(`/charges/${id}${path}`)).status, 404, path)
  }
  for (const action of ['refund', 'cancel', 'duplicate', 'mail', 'simulate']) {
    const answer = await stranger.post(`/charges/${id}/${action}`, { amount: '1,00' })
    assert.equal(answer.status, 404, action)
  }
  assert.equal((await stranger.get('/charges/charge_x')).status, 404)
})

test('only what is possible now is offered, and only to those who may do it', async () => {
  const client = await api.client()
  const open = await makeCharge(client, 1990, { devMode: true })
  const paid = await makePaid(api, client, 1990)
  const offered = async (id: string) => {
    const text = await opened(await signIn(api, client.company), id)
    return ['refund', 'cancel', 'duplicate', 'mail', 'simulate'].filter((action) =>
      links(text, `/charges/${id}/${action}`),
    )
  }
  assert.deepEqual(await offered(open.id), ['cancel', 'duplicate', 'mail', 'simulate'])
  assert.deepEqual(await offered(paid.id), ['refund', 'duplicate', 'mail'])
  const code = await makeCode(client, 700)
  await pay(api, code.brCode)
  const [sale] = (await client.get('/charge?kind=STATIC')).body.data
  assert.deepEqual(await offered(sale.id), ['refund'])
  api.clock.advance(91 * 86_400)
  assert.deepEqual(await offered(paid.id), ['duplicate', 'mail'])
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  for (const action of ['refund', 'cancel', 'duplicate', 'mail', 'simulate']) {
    assert.equal((await viewer.post(`/charges/${open.id}/${action}`)).status, 403, action)
  }
})

test('a refund takes an amount as people type it, once for each form', async () => {
  const client = await api.client()
  const { id } = await makePaid(api, client, 2000)
  const owner = await signIn(api, client.company)
  for (const amount of ['muito', '0', '', '20,01', '-1']) {
    const refused = await owner.post(`/charges/${id}/refund`, { amount, comment: 'Troca' })
    assert.ok([400, 409, 422].includes(refused.status), `${amount}: ${refused.status}`)
    assert.match(refused.text, /value="Troca"/)
  }
  const once = '0'.repeat(26)
  for (const _ of [1, 2]) {
    const done = await owner.post(`/charges/${id}/refund`, { amount: '7,50', once })
    assert.equal(done.location, `${owner.home}/charges/${id}?done=refunded`)
  }
  const { refunded } = (await client.get(`/charge/${id}`)).body.data
  assert.equal(refunded, 750)
  const text = await opened(owner, id)
  assert.match(text, /Devolução de R\$ 7,50.*?Em andamento.*?por person-\S+, no painel/s)
  assert.match((await owner.get(`/charges/${id}/refund`)).text, />Devolver R\$ 12,50</)
})

/** The button that pays back, and the amount that its form sends. */
const offerOf = (text: string) =>
  /name="amount" value="(.*?)">.*<button class="button danger">(.*?)</s.exec(text)?.slice(1)

test('the button of a refund names its amount: all, half, or another one', async () => {
  const client = await api.client()
  const { id } = await makePaid(api, client, 1999)
  const finance = await signIn(api, client.company, { role: 'finance' })
  const offered = async (query: string) => {
    const { status, text } = await finance.get(`/charges/${id}/refund${query}`)
    assert.equal(status, 200)
    return offerOf(text)
  }
  assert.deepEqual(await offered(''), ['R$ 19,99', 'Devolver R$ 19,99'])
  assert.deepEqual(await offered('?part=half'), ['R$ 9,99', 'Devolver R$ 9,99'])
  assert.deepEqual(await offered('?part=other&amount=7,5'), ['7,5', 'Devolver R$ 7,50'])
  for (const wrong of ['', '&amount=', '&amount=20', '&amount=0', '&amount=x']) {
    assert.equal(await offered(`?part=other${wrong}`), undefined, wrong)
  }
  const { text } = await finance.get(`/charges/${id}/refund`)
  assert.match(text, /529\.982\.247-25/)
  assert.match(text, /Saldo a liberar<\/dt><dd><span class="money">R\$ 19,99/)
  const support = await signIn(api, client.company, { role: 'support' })
  assert.doesNotMatch((await support.get(`/charges/${id}/refund`)).text, /Saldo/)
})

test('what was charged, came, went back and is left of it is on top of a paid charge', async () => {
  const client = await api.client()
  const { id } = await makePaid(api, client, 2000)
  const owner = await signIn(api, client.company)
  assert.match(await opened(owner, id), />Devolver R\$ 20,00</)
  await client.post(`/refund/${id}`, { value: 500 })
  const text = await opened(owner, id)
  const sums = ['Cobrado', 'Recebido', 'Devolvido', 'Líquido'].map(
    (name) => new RegExp(`<dt>${name}</dt><dd>.*?R\\$ ([\\d,]+)`).exec(text)?.[1],
  )
  assert.deepEqual(sums, ['20,00', '20,00', '5,00', '15,00'])
})

test('cancel, duplicate and simulate', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990, { devMode: true })
  const owner = await signIn(api, client.company)
  const copy = await owner.post(`/charges/${id}/duplicate`)
  const second = /charges\/(charge_\w+)\?done=duplicated$/.exec(copy.location!)![1]!
  assert.notEqual(second, id)
  assert.match((await owner.get(`/charges/${id}/cancel`)).text, /Cancelar cobrança\?/)
  const canceled = await owner.post(`/charges/${id}/cancel`)
  assert.equal(canceled.location, `${owner.home}/charges/${id}?done=canceled`)
  const text = await opened(owner, id)
  assert.match(text, /Não foi paga: a cobrança foi cancelada/)
  assert.match(text, /<strong>Cobrança cancelada<\/strong>.*?por person-/s)
  const refused = await owner.post(`/charges/${id}/simulate`)
  assert.equal(refused.status, 409)
  assert.match(refused.text, /role="alert"/)
  const paid = await owner.post(`/charges/${second}/simulate`)
  assert.equal(paid.location, `${owner.home}/charges/${second}?done=simulated`)
  assert.match(await opened(owner, second), /Pagamento simulado por person-/)
})

test('a link without a code leads to the simulated bank, with an address if one is asked for', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const bank =
    /<form method="post" action="(\/pay\/[^"]+)">(.*?)<button[^>]*>Pagar no banco simulado</
  const made = async (needShipping: boolean): Promise<string> => {
    const body = { total: 2000, customer: payer(), needShipping }
    return (await client.post('/charge/payment-link', body)).body.data.id
  }
  for (const id of [await made(false), await made(true)]) {
    const [, path, fields] = bank.exec(await opened(owner, id))!
    const typed = [...fields!.matchAll(/name="(\w+)" value="([^"]*)"/g)]
    const form = new URLSearchParams(
      Object.fromEntries(typed.map(([, name, value]) => [name!, value!])),
    )
    const reply = await fetch(api.url + path, { method: 'POST', body: form, redirect: 'manual' })
    const { brCode } = (await client.get(`/charge/${id}`)).body.data
    const code = `/bank?${new URLSearchParams({ code: brCode })}`
    assert.equal(reply.headers.get('location'), code)
    assert.ok((await opened(owner, id)).includes(`href="${code}"`))
  }
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  assert.doesNotMatch(await opened(viewer, await made(false)), bank)
})

test('a mail is sent again once a minute and five times a day', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990, { expiresIn: 86_400 })
  const owner = await signIn(api, client.company, { role: 'support' })
  const send = async () => (await owner.post(`/charges/${id}/mail`)).status
  assert.equal(await send(), 303)
  assert.equal(await send(), 429)
  for (let i = 0; i < 4; i++) {
    api.clock.advance(60)
    assert.equal(await send(), 303)
  }
  api.clock.advance(60)
  assert.equal(await send(), 429)
  const kinds = await api.rows('select kind from mails where company_id = $1', [client.company.id])
  assert.deepEqual(kinds, Array(5).fill({ kind: 'payment-link' }))
  assert.equal(titlesIn(await opened(owner, id)).length, 7)
  const paid = await makePaid(api, client, 1990)
  assert.equal((await owner.post(`/charges/${paid.id}/mail`)).status, 303)
  const nobody = payer({ email: undefined })
  const unknown = await makeCharge(client, 1990, { customer: nobody })
  assert.equal((await owner.post(`/charges/${unknown.id}/mail`)).status, 400)
})

test('it says why a charge was not paid, and leads to money that came too late', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 1990)
  const link = await client.post('/charge/payment-link', {
    total: 1990,
    customer: payer(),
    expiresIn: 60,
  })
  api.clock.advance(3600)
  await expireDueCharges.run(api.app)
  const owner = await signIn(api, client.company)
  assert.match(await opened(owner, id), /Não foi paga: o prazo acabou\./)
  assert.match(await opened(owner, link.body.data.id), /antes que o pagador gerasse o código/)
  const endToEndId = await pay(api, brCode)
  const text = await opened(owner, id)
  assert.match(text, /Pix de R\$ 19,90 que não quitou a cobrança\. Chegou depois do prazo\./)
  assert.ok(links(text, `/unmatched/${endToEndId}`))
  assert.deepEqual(titlesIn(text).slice(-2), [
    'Cobrança expirada',
    'Pix de R$ 19,90 que não quitou a cobrança',
  ])
  assert.match(text, /Lançamento nº 2: Pix sem cobrança/)
})

test('the opening of a page is written once, and not for people of the company', async () => {
  const client = await api.client()
  const made = await client.post('/charge/pix', { amount: 1990, customer: payer() })
  const { id, url } = made.body.data
  const owner = await signIn(api, client.company)
  await look(url, { cookie: owner.cookie })
  const openings = () =>
    api.rows('select opened_at from charge_openings where charge_id = $1', [
      fromPublic('charge', id),
    ])
  assert.deepEqual(await openings(), [])
  const first = api.clock.now()
  await look(url)
  api.clock.advance(5)
  await look(url)
  assert.deepEqual(await openings(), [{ opened_at: first }])
})

test('names with markup are text, in English too', async () => {
  const client = await api.client()
  const name = `"><script>alert(1)</script>`
  const { id } = await makeCharge(client, 1990, {
    customer: payer({ name }),
    description: '<b>x</b>',
    externalId: `'"<i>`,
  })
  const owner = await signIn(api, client.company, { language: 'en' })
  const text = await opened(owner, id)
  assert.doesNotMatch(text, /<script>alert|<b>x|<i>/)
  assert.match(text, /Charge created/)
  assert.match(text, /Waiting for payment/)
})
