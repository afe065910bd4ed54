import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from '../../../src/pix/brcode.ts'
import { carryOutRefunds } from '../../../src/worker/due.ts'
import { payer, startApi } from '../../support/api.ts'
import { charged, openBanked, pixBody, read } from '../../support/bank.ts'
import { lettersOf } from '../../support/mail.ts'
import { at, linkTo, productOf } from '../../support/pages.ts'
import { pay } from '../../support/payments.ts'

const api = await startApi()

const TEXT = 'Aula de violão <b>8</b>'
const ESCAPED = 'Aula de violão &lt;b&gt;8&lt;/b&gt;'
const FACT = new RegExp(`<dt>Descrição</dt><dd>${ESCAPED}</dd>`)

const txidOf = (id: string) => id.slice('charge_'.length)
const page = async (url: string) => (await fetch(at(api, url))).text()

test('a description is shown by every answer about the charge, and carried to its duplicate', async () => {
  const client = await api.client()
  const made = await client.post('/charge/pix', pixBody({ description: TEXT }))
  assert.equal(made.status, 201, made.text)
  const { id, description } = made.body.data
  const copy = await client.post(`/charge/duplicate/${id}`, {})
  const listed = await client.get('/charge')
  const shown = [
    description,
    (await read(client, id)).description,
    copy.body.data.description,
    ...listed.body.data.map((charge: { description: string }) => charge.description),
  ]
  assert.deepEqual(shown, [TEXT, TEXT, TEXT, TEXT, TEXT])
  const link = await client.post('/charge/payment-link', {
    total: 1990,
    customer: payer(),
    description: TEXT,
  })
  const found = await read(client, link.body.data.id)
  assert.deepEqual([link.body.data.description, found.description], [TEXT, TEXT])
})

test('a description has up to 140 characters; one that is empty is none', async () => {
  const client = await api.client()
  const most = '🎸'.repeat(140)
  assert.equal((await charged(client, { description: most })).description, most)
  for (const path of ['/charge/pix', '/charge/payment-link']) {
    const body = { amount: 1990, total: 1990, customer: payer(), description: `${most}a` }
    const { status, body: refused } = await client.post(path, body)
    assert.deepEqual([status, refused.errors[0].code], [400, 'invalid_value'])
    assert.match(refused.errors[0].description, /^description: .*140/)
  }
  const without = await charged(client, { description: '' })
  assert.equal('description' in without, false)
  assert.equal('description' in (await read(client, without.id)), false)
})

test('a payer reads the description before and after paying, at the shop and at the bank', async () => {
  const client = await api.client()
  const { url, brCode } = await charged(client, { description: TEXT })
  assert.match(await page(url), FACT)
  const code = parse(brCode)
  assert.ok(code.kind === 'dynamic')
  const payload = await api.call('GET', code.location.slice('vintem.test'.length))
  assert.equal(payload.body.solicitacaoPagador, TEXT)
  const bank = await page(`${api.url}/bank?${new URLSearchParams({ code: brCode })}`)
  assert.match(bank, FACT)
  await pay(api, brCode)
  assert.match(await page(url), new RegExp(`<dt>Descrição</dt><dd><span>${ESCAPED}</span></dd>`))
})

test('a payer reads the description of a charge that has ended', async () => {
  const client = await api.client()
  const { id, url } = await charged(client, { description: TEXT })
  assert.equal((await client.post(`/charge/${id}/cancel`)).status, 200)
  assert.match(await page(url), FACT)
})

test('a link shows its description on its page and in its mail, before what is bought', async () => {
  const client = await api.client()
  const fields = { total: 1990, description: TEXT, notifyCustomer: true }
  assert.match(await page(await linkTo(api, client, fields)), FACT)
  const [letter] = await lettersOf(api, client.company.id)
  assert.match(letter!.text, new RegExp(`Descrição: ${TEXT}`))
  assert.ok(letter!.html.includes(ESCAPED))
  const productId = await productOf(client, {
    name: 'Aulas',
    description: 'Do produto',
    type: 'RECURRING',
    frequency: 'MONTHLY',
  })
  const items = [{ productId, quantity: 1 }]
  const offer = await page(await linkTo(api, client, { items, description: TEXT }))
  assert.ok(offer.includes(ESCAPED))
})

test('a bank receives the payer and the description, and nothing where nothing is known', async () => {
  const shop = await openBanked(api)
  const receivedOf = (id: string) => {
    const { debtor, message } = shop.bank.state().charges.get(txidOf(id))!
    return [debtor, message]
  }
  const maria = { cpf: '52998224725', nome: 'Maria da Silva' }
  const { id } = await charged(shop, { description: `  ${TEXT}\n\tSol ` })
  assert.deepEqual(receivedOf(id), [maria, `${TEXT} Sol`])
  const company = payer({ name: 'Loja', taxId: '11222333000181' })
  const other = await charged(shop, { customer: company })
  assert.deepEqual(receivedOf(other.id), [{ cnpj: '11222333000181', nome: 'Loja' }, null])
  const blank = await charged(shop, { description: ' \n ' })
  assert.deepEqual(receivedOf(blank.id), [maria, null])
  const link = await shop.post('/charge/payment-link', {
    total: 1990,
    customer: payer(),
    description: TEXT,
  })
  await fetch(at(api, link.body.data.url), { method: 'POST', redirect: 'manual' })
  assert.deepEqual(receivedOf(link.body.data.id), [maria, TEXT])
})

test('the comment of a refund goes to the bank with it', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  shop.bank.payer.pay(brCode)
  await shop.bank.callbacksSent()
  await api.app.callbacks.process.idle()
  for (const body of [{ value: 500, comment: 'Sem estoque\nde cordas' }, { value: 490 }]) {
    const { status, text } = await shop.post(`/refund/${id}`, body)
    assert.equal(status, 201, text)
    await carryOutRefunds.run(api.app)
  }
  const received = shop.bank.state().refunds.map(({ amount, message }) => [amount, message])
  assert.deepEqual(received, [
    [500, 'Sem estoque de cordas'],
    [490, null],
  ])
})
