import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchPayments } from '../../src/core/payments/match.ts'
import { toCents } from '../../src/lib/money.ts'
import type { PixPayer } from '../../src/provider/port.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { balancesOf, makeCharge, makePaid, makeUnmatched, order } from '../support/payments.ts'

const api = await startApi()
let count = 0

/** Money that names no charge, as somebody sends it to the Pix key. */
async function receive({ company }: Client, amount: number, from: PixPayer): Promise<string> {
  const endToEndId = `E99999999202608201500${String(++count).padStart(11, '0')}`
  const now = api.clock.now()
  const pix = { endToEndId, txid: null, amount: toCents(amount), receivedAt: now, payer: from }
  await api.app.db.transaction((tx) =>
    matchPayments(tx, api.app, company, [pix], { source: 'simulated', now }),
  )
  return endToEndId
}

test('a payment shows why it pays nothing, who sent it, and the charge that it names', async () => {
  const client = await api.client()
  const { brCode, id } = await makePaid(api, client, 1990)
  await order(api, { brCode, payer: { name: 'João <b>Pagador</b>', taxId: '52998224725' } })
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const list = await viewer.get('/unmatched')
  assert.equal(list.status, 200, list.text)
  assert.match(list.text, /Pago em duplicidade/)
  assert.match(
    list.text,
    /João &lt;b&gt;Pagador&lt;\/b&gt;<\/bdi> · <span class="nowrap">\*\*\*\.\*\*\*\.247-25/,
  )
  assert.ok(list.text.includes(`href="${viewer.home}/charges/${id}"`))
  assert.match(list.text, /indicada no pagamento/)
  assert.doesNotMatch(list.text, /Ficar com o valor<|Quitar/)
})

test('what waits is added up, and found by name, amount, whole tax id or its own id', async () => {
  const client = await api.client()
  const rui = await receive(client, 700, { name: 'Rui da Conceição', taxId: '52998224725' })
  const ana = await receive(client, 1250, { name: 'Ana Lima', taxId: '11144477735' })
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const found = async (q: string, status = '') => {
    const { text } = await viewer.get(`/unmatched?${new URLSearchParams({ q, status })}`)
    return [...new Set(text.match(/(?<=\/unmatched\/)E\w{31}/g))]
  }
  assert.match((await viewer.get('/unmatched')).text, /2 pagamentos aguardam decisão:.*R\$ 19,50/s)
  assert.deepEqual(await found('conceicao'), [rui])
  assert.deepEqual(await found('12,50'), [ana])
  assert.deepEqual(await found('529.982.247-25'), [rui])
  assert.deepEqual(await found('529.982'), [])
  assert.deepEqual(await found(ana.toLowerCase()), [ana])
  assert.deepEqual(await found('Ana', 'ACCEPTED'), [])
  assert.deepEqual(await found('nobody'), [])
})

test('the tax id is whole on the page of a payment for whoever may act on payments', async () => {
  const client = await api.client()
  const id = await receive(client, 700, { name: 'Rui', taxId: '52998224725' })
  const support = await signIn(api, client.company, { role: 'support', language: 'en' })
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  assert.match((await support.get(`/unmatched/${id}`)).text, /529\.982\.247-25/)
  const masked = await viewer.get(`/unmatched/${id}`)
  assert.match(masked.text, /\*\*\*\.\*\*\*\.247-25/)
  assert.doesNotMatch(masked.text, /529\.982/)
  for (const list of [await support.get('/unmatched'), await viewer.get('/unmatched')]) {
    assert.doesNotMatch(list.text, /529\.982/)
  }
  assert.equal((await viewer.get('/unmatched/E1')).status, 404)
  assert.equal((await viewer.get('/unmatched/%00')).status, 404)
  const stranger = await signIn(api, (await api.client()).company)
  assert.equal((await stranger.get(`/unmatched/${id}`)).status, 404)
  assert.equal((await stranger.post(`/unmatched/${id}/accept`)).status, 404)
})

test('of money that names no charge the probable one is found by amount, payer and time', async () => {
  const client = await api.client()
  const paulo = payer({ name: 'Paulo Reis', taxId: '11144477735' })
  const maria = await makeCharge(client, 2500)
  const other = await makeCharge(client, 2500, { customer: paulo })
  const trial = await makeCharge(client, 990, { devMode: true })
  const owner = await signIn(api, client.company)
  const likely = async (amount: number, from: PixPayer) => {
    const { text } = await owner.get(`/unmatched/${await receive(client, amount, from)}`)
    return /charges\/(charge_\w+)"/.exec(text)?.[1]
  }
  assert.equal(await likely(2500, { taxId: '529.982.247-25' }), maria.id)
  assert.equal(await likely(2500, { name: 'PAULO DOS REIS' }), other.id)
  assert.equal(await likely(2500, { taxId: '***.982.247-**' }), maria.id)
  assert.equal(await likely(2500, {}), other.id, 'the newest')
  assert.equal(await likely(2600, { name: 'Paulo Reis', taxId: '11144477735' }), other.id)
  assert.equal(await likely(1, { name: 'Ana' }), undefined)
  assert.equal(await likely(990, {}), trial.id, 'play money may pay a trial of a sandbox')
  api.clock.advance(8 * 24 * 3600)
  const late = await signIn(api, client.company)
  const id = await receive(client, 2500, {})
  assert.match((await late.get(`/unmatched/${id}`)).text, /Não encontramos/)
})

test('accepting makes the money available in one step, and the list goes on', async () => {
  const client = await api.client()
  const [first, second] = [
    await makeUnmatched(api, client, 700),
    await makeUnmatched(api, client, 800),
  ]
  const support = await signIn(api, client.company, { role: 'support' })
  const done = await support.post(`/unmatched/${first}/accept`)
  assert.equal(done.location, `${support.home}/unmatched?done=accepted`)
  const { text } = await support.get('/unmatched?done=accepted')
  assert.match(text, /ficou com o valor/)
  assert.ok(text.includes(second) && !text.includes(first))
  assert.equal((await balancesOf(api, client)).unmatched, 800)
  assert.match((await support.get('/unmatched?status=ACCEPTED')).text, new RegExp(first))
  const again = await support.post(`/unmatched/${first}/refund`)
  assert.equal(again.status, 409)
  assert.match(again.text, /já ficou com o valor/)
})

test('a refund goes back with a message, and one that is too long is refused', async () => {
  const client = await api.client()
  const id = await makeUnmatched(api, client, 700)
  const owner = await signIn(api, client.company)
  const path = `/unmatched/${id}/refund`
  const long = await owner.post(path, { comment: 'x'.repeat(141) })
  assert.equal(long.status, 400)
  assert.match(long.text, /Use no máximo 140 caracteres/)
  assert.match(long.text, /x{141}/)
  const done = await owner.post(path, { comment: ' Pago duas vezes ' })
  assert.equal(done.location, `${owner.home}/unmatched?done=refunded`)
  const rows = await api.rows('select comment from refunds where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(rows, [{ comment: 'Pago duas vezes' }])
  assert.match((await owner.get('/unmatched?status=REFUNDING')).text, new RegExp(id))
})

test('a viewer decides nothing, and an empty list says how to make a payment in a sandbox', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  assert.match((await owner.get('/unmatched')).text, /href="\/bank"/)
  const id = await makeUnmatched(api, client, 700)
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  for (const act of ['accept', 'refund', 'settle']) {
    assert.equal((await viewer.get(`/unmatched/${id}/${act}`)).status, 403)
    assert.equal((await viewer.post(`/unmatched/${id}/${act}`)).status, 403)
  }
  assert.equal((await balancesOf(api, client)).unmatched, 700)
})

/** The links of a page that look like its main button. */
const mainLinks = (text: string): string[] =>
  [...text.matchAll(/<a class="button slim" href="([^"]+)">/g)].map(([, href]) => href!)

test('the list changes nothing by itself: each decision is asked for once more on its page', async () => {
  const client = await api.client()
  const id = await makeUnmatched(api, client, 700)
  const owner = await signIn(api, client.company)
  const list = await owner.get('/unmatched')
  assert.doesNotMatch(list.text, /<form[^>]+method="post"[^>]+\/unmatched\//)
  assert.deepEqual(mainLinks(list.text), [], 'nothing stands out for money that came twice')
  const page = await owner.get(`/unmatched/${id}`)
  assert.doesNotMatch(page.text, /<form[^>]+method="post"[^>]+\/unmatched\//)
  const questions = { accept: /Ficar com o valor\?/, refund: /Devolver este pagamento\?/ }
  for (const [act, question] of Object.entries(questions)) {
    assert.ok(list.text.includes(`href="${owner.home}/unmatched/${id}/${act}"`), act)
    const asked = await owner.get(`/unmatched/${id}/${act}`)
    assert.match(asked.text, question)
    assert.match(asked.text, /R\$ 7,00/)
    assert.ok(asked.text.includes(`action="${owner.home}/unmatched/${id}/${act}"`))
  }
  assert.equal((await balancesOf(api, client)).unmatched, 700)
  await owner.post(`/unmatched/${id}/accept`)
  for (const act of ['accept', 'refund', 'settle']) {
    const late = await owner.get(`/unmatched/${id}/${act}`)
    assert.equal(late.location, `${owner.home}/unmatched/${id}`, act)
  }
})

test('a late payment settles its charge from the list, and both pages say so', async () => {
  const client = await api.client()
  const charge = await makeCharge(client, 15_000, { expiresIn: 60 })
  api.clock.advance(61)
  const { body } = await order(api, { brCode: charge.brCode, amount: 14_000 })
  const { endToEndId } = body.data
  const owner = await signIn(api, client.company)
  const list = await owner.get('/unmatched')
  const link = `${owner.home}/unmatched/${endToEndId}/settle?q=${charge.id}`
  assert.deepEqual(mainLinks(list.text), [link])
  const asked = await owner.get(`/unmatched/${endToEndId}/settle?q=${charge.id}`)
  assert.match(asked.text, /Faltam R\$ 10,00\. A cobrança fica paga com R\$ 140,00/)
  const form = { chargeId: charge.id }
  const done = await owner.post(`/unmatched/${endToEndId}/settle`, form)
  assert.equal(done.location, `${owner.home}/unmatched?done=settled`)
  assert.match((await owner.get('/unmatched?done=settled')).text, /Cobrança quitada\./)
  const payment = await owner.get(`/unmatched/${endToEndId}`)
  assert.ok(payment.text.includes(`href="${owner.home}/charges/${charge.id}"`))
  assert.match(payment.text, /Quitou a cobrança/)
  assert.match(payment.text, /Faltou/)
  const { text } = await owner.get(`/charges/${charge.id}`)
  assert.match(text, /Cobrança quitada manualmente/)
  assert.match(text, /Faltaram R\$ 10,00 do valor cobrado/)
  assert.match(text, /Pix de R\$ 140,00 que foi usado para quitar a cobrança/)
  assert.doesNotMatch(text, /Não foi paga/)
  const again = await owner.post(`/unmatched/${endToEndId}/settle`, form)
  assert.equal(again.status, 303, 'the same settlement again changes nothing')
})

test('money beyond the amount is kept or returned as the person chooses', async () => {
  const client = await api.client()
  const charge = await makeCharge(client, 15_000)
  const { body } = await order(api, { brCode: charge.brCode, amount: 16_000 })
  const { endToEndId } = body.data
  const owner = await signIn(api, client.company)
  const asked = await owner.get(`/unmatched/${endToEndId}/settle?q=${charge.id}`)
  assert.match(asked.text, /Ficar com a diferença: R\$ 10,00/)
  assert.match(asked.text, /Devolver a diferença: R\$ 10,00/)
  const form = { chargeId: charge.id, difference: 'refund' }
  await owner.post(`/unmatched/${endToEndId}/settle`, form)
  const { held, pending, unmatched } = await balancesOf(api, client)
  assert.deepEqual({ held, pending, unmatched }, { held: 1000, pending: 15_000, unmatched: 0 })
})

test('a charge to settle is found by its id, the reference or the payer, if it is unpaid', async () => {
  const client = await api.client()
  const one = await makeCharge(client, 2500, { externalId: 'pedido-1' })
  const two = await makeCharge(client, 2600)
  const paid = await makePaid(api, client, 2700)
  const id = await receive(client, 2500, {})
  const owner = await signIn(api, client.company)
  const found = async (text: string) => {
    const page = await owner.get(`/unmatched/${id}/settle?${new URLSearchParams({ q: text })}`)
    assert.equal(page.status, 200)
    return page.text
  }
  const isAsked = (text: string, charge: string) =>
    text.includes(`name="chargeId" value="${charge}"`)
  assert.ok(isAsked(await found(one.id), one.id))
  assert.ok(isAsked(await found('pedido-1'), one.id))
  assert.match(await found('pedido-1'), /O valor é o da cobrança/)
  const several = await found('Maria')
  for (const { id: charge } of [one, two]) assert.ok(several.includes(`settle?q=${charge}`))
  assert.ok(!several.includes(paid.id))
  assert.match(await found(paid.id), /Nenhuma cobrança em aberto ou expirada/)
  assert.match(await found('nada assim'), /Nenhuma cobrança em aberto ou expirada/)
  assert.doesNotMatch(await found(''), /Nenhuma cobrança/)
  const foreign = await makeCharge(await api.client(), 2500)
  assert.match(await found(foreign.id), /Nenhuma cobrança em aberto ou expirada/)
  const stolen = await owner.post(`/unmatched/${id}/settle`, { chargeId: foreign.id })
  assert.equal(stolen.status, 404)
  await owner.post(`/unmatched/${id}/settle`, { difference: 'keep' })
  await owner.post(`/unmatched/${id}/settle`, { chargeId: '' })
  assert.equal((await balancesOf(api, client)).unmatched, 2500, 'nothing is kept without a charge')
  const late = await owner.post(`/unmatched/${id}/settle`, { chargeId: paid.id })
  assert.equal(late.status, 409)
  assert.match(late.text, /Esta cobrança não pode ser quitada/)
})

test('a payment to the key is settled by one button, which says why the charge is suggested', async () => {
  const client = await api.client()
  const { id: chargeId } = await makeCharge(client, 1990)
  api.clock.advance(240)
  const id = await receive(client, 1990, { name: 'Maria da Silva', taxId: '52998224725' })
  const owner = await signIn(api, client.company)
  const english = await signIn(api, client.company, { language: 'en' })
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const action = `action="${owner.home}/unmatched/${id}/settle"`
  for (const path of ['/unmatched', `/unmatched/${id}`]) {
    const { text } = await owner.get(path)
    assert.match(text, /Cobrança provável/)
    assert.match(text, /mesmo valor e mesmo CPF, 4 min depois/)
    assert.ok(text.includes(action) && text.includes(`name="chargeId" value="${chargeId}"`))
    assert.ok(!(await viewer.get(path)).text.includes(action))
    assert.match((await english.get(path)).text, /same amount and same CPF, 4 min later/)
  }
  const done = await owner.post(`/unmatched/${id}/settle`, { chargeId })
  assert.equal(done.location, `${owner.home}/unmatched?done=settled`)
  assert.equal((await client.get(`/charge/${chargeId}`)).body.data.status, 'COMPLETED')
  assert.doesNotMatch((await owner.get(`/unmatched/${id}`)).text, /<form[^>]+unmatched/)
})

test('the timeline says that the rule has settled a charge, and why', async () => {
  const client = await api.client()
  await client.put('/company', { settlesExactPayments: true })
  const { id } = await makeCharge(client, 1990)
  const from = { name: 'Maria da Silva', taxId: '52998224725' }
  await client.post('/sandbox/payment', { amount: 1990, payer: from })
  const owner = await signIn(api, client.company)
  const { text } = await owner.get(`/charges/${id}`)
  assert.match(text, /Cobrança quitada pela regra de pagamentos exatos/)
  assert.match(text, /era a única em aberto deste pagador com este valor/)
  const log = await owner.get('/settings/activity')
  assert.match(log.text, /Cobrança quitada pela regra de pagamentos exatos/)
  assert.match((await owner.get('/unmatched?status=ACCEPTED')).text, /R\$\u00a019,90|19,90/)
})

test('a charge of another amount is called one of the same payer, and does not stand out', async () => {
  const client = await api.client()
  const paulo = payer({ name: 'Paulo Reis', taxId: '11144477735' })
  const other = await makeCharge(client, 2500, { customer: paulo })
  const owner = await signIn(api, client.company)
  const id = await receive(client, 2600, { taxId: '11144477735' })
  const { text } = await owner.get('/unmatched')
  assert.ok(text.includes(`unmatched/${id}/settle?q=${other.id}`))
  assert.match(text, /Mesmo pagador/)
  assert.doesNotMatch(text, /Cobrança provável/)
  assert.deepEqual(mainLinks(text), [])
  await receive(client, 2500, { taxId: '11144477735' })
  assert.match((await owner.get('/unmatched')).text, /Cobrança provável/)
})
