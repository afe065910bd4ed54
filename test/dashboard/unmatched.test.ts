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
  assert.match(list.text, /João &lt;b&gt;Pagador&lt;\/b&gt;<\/bdi> · \*\*\*\.\*\*\*\.247-25/)
  assert.ok(list.text.includes(`href="${viewer.home}/charges/${id}"`))
  assert.match(list.text, /indicada no pagamento/)
  assert.doesNotMatch(list.text, /Aceitar</)
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
  assert.match(text, /Pagamento aceito/)
  assert.ok(text.includes(second) && !text.includes(first))
  assert.equal((await balancesOf(api, client)).unmatched, 800)
  assert.match((await support.get('/unmatched?status=ACCEPTED')).text, new RegExp(first))
  const again = await support.post(`/unmatched/${first}/refund`)
  assert.equal(again.status, 409)
  assert.match(again.text, /já foi aceito ou devolvido/)
})

test('a refund goes back with a message, and one that is too long is refused', async () => {
  const client = await api.client()
  const id = await makeUnmatched(api, client, 700)
  const owner = await signIn(api, client.company)
  const path = `/unmatched/${id}/refund?from=payment`
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
  for (const act of ['accept', 'refund']) {
    assert.equal((await viewer.post(`/unmatched/${id}/${act}`)).status, 403)
  }
  assert.equal((await balancesOf(api, client)).unmatched, 700)
})
