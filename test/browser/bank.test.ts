import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Client, payer, startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { makeCharge, makeCode } from '../support/payments.ts'
import { ask, bankUrl, charge, startLocal, subscription } from './local.ts'
import { browsing, fitsTheWindow, INJECTION, isAccessible, showsAsText } from './support.ts'

const local = await startLocal()
const browser = browsing()

const stateOf = async (id: string) => {
  const { status, paymentStatus } = await local.get(`/charge/${id}/status`)
  return [status, paymentStatus]
}
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
/** The page after a form was sent and led somewhere. */
const shows = (page: Page, text: string) => page.getByText(text).first().waitFor()
const unmatched = async () => {
  const waiting = await local.get('/payment/unmatched')
  return waiting.map(({ reason }: { reason: string }) => reason)
}

test('a payer pastes a code, sees whom they pay and how much, and pays', async () => {
  const { id, brCode } = await charge(local, 123_456)
  const page = await browser.open(`${local.url}/bank`, { phone: true })
  await isAccessible(page)
  await page.getByLabel('Código Pix Copia e Cola').fill(` ${brCode}\n`)
  await press(page, 'Continuar')
  for (const text of ['R$ 1.234,56', 'Padaria do Vintém', '11.222.333/0001-81', 'Sao Paulo']) {
    await shows(page, text)
  }
  await page.getByText('Campos do código').click()
  await shows(page, 'br.gov.bcb.pix')
  await isAccessible(page)
  await fitsTheWindow(page)
  await press(page, 'Pagar')
  await shows(page, 'A empresa recebeu e a cobrança está paga.')
  await isAccessible(page)
  assert.deepEqual(await stateOf(id), ['COMPLETED', 'PAID'])
  const { endToEndId } = await local.get(`/charge/${id}`)
  await shows(page, endToEndId)
})

test('a Pix to the key names no charge, and shows who has sent it', async () => {
  const page = await browser.open(`${local.url}/bank`, { phone: true, javaScript: false })
  await page.locator('#keyAmount').fill('18,76')
  await page.getByLabel('Nome de quem paga').fill('Rui Costa')
  await page.locator('#keyTaxId').fill('123')
  await press(page, 'Enviar Pix para a chave')
  await shows(page, 'CPF ou CNPJ inválido.')
  await page.locator('#keyTaxId').fill('111.444.777-35')
  await press(page, 'Enviar Pix para a chave')
  await shows(page, 'nenhuma cobrança tem este identificador (UNKNOWN)')
  await fitsTheWindow(page)
  const [{ endToEndId, amount, reason, payer: from }] = await local.get('/payment/unmatched')
  assert.deepEqual([amount, reason, from.name], [1876, 'UNKNOWN', 'Rui Costa'])
  await local.post(`/payment/unmatched/${endToEndId}/accept`)
})

longTest('without scripts a code from the list is paid all the same', async () => {
  const { id } = await charge(local, 777)
  const page = await browser.open(`${local.url}/bank`, { javaScript: false })
  await page.getByRole('link', { name: 'R$ 7,77' }).click()
  await press(page, 'Pagar')
  await shows(page, 'A empresa recebeu e a cobrança está paga.')
  assert.deepEqual(await stateOf(id), ['COMPLETED', 'PAID'])
  await page.goto(`${local.url}/bank`)
  assert.equal(await page.getByRole('link', { name: 'R$ 7,77' }).count(), 0)
})

longTest('a code that is none is sent back with the reason, and a code of others too', async () => {
  const { brCode } = await charge(local, 900)
  const page = await browser.open(bankUrl(local, brCode.replace('Padaria', 'Padoria')))
  await shows(page, 'Os quatro últimos caracteres não conferem')
  const field = page.getByLabel('Código Pix Copia e Cola')
  assert.match(await field.inputValue(), /Padoria/)
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  assert.equal(await field.getAttribute('aria-describedby'), 'code-fault')
  await isAccessible(page)
  const foreign =
    '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'
  await page.goto(bankUrl(local, foreign))
  await shows(page, 'não foi emitido por este banco simulado')
})

longTest(
  'paying another amount, twice and late arrives as it would, and is explained',
  async () => {
    const [other, twice, late] = [
      await charge(local, 2000),
      await charge(local, 3000),
      await charge(local, 4000),
    ]
    const page = await browser.open(bankUrl(local, other.brCode))
    await page.getByLabel('Valor a pagar').first().fill('abc')
    await press(page, 'Pagar')
    await shows(page, 'Informe um valor a partir de R$ 0,01')
    assert.equal(await page.getByLabel('Valor a pagar').first().inputValue(), 'abc')
    await isAccessible(page)
    await page.getByLabel('Valor a pagar').first().fill('1.019,9')
    await press(page, 'Pagar')
    await shows(page, 'WRONG_AMOUNT')
    assert.deepEqual(await stateOf(other.id), ['OPEN', 'PROCESSING'])

    await page.goto(bankUrl(local, twice.brCode))
    await press(page, 'Pagar duas vezes')
    await shows(page, 'A empresa recebeu e a cobrança está paga.')
    await shows(page, 'a cobrança já estava paga (DUPLICATE).')

    await page.goto(bankUrl(local, late.brCode))
    await press(page, 'Deixar expirar e pagar com atraso')
    await shows(page, 'chegou fora do prazo (LATE).')
    await shows(page, 'Esta cobrança expirou')
    assert.deepEqual(await stateOf(late.id), ['EXPIRED', 'EXPIRED'])
    assert.deepEqual((await unmatched()).sort(), ['DUPLICATE', 'LATE', 'WRONG_AMOUNT'])
  },
)

longTest('a static code is paid as often as one likes', async () => {
  const { brCode } = await local.post('/charge/pix/static', { amount: 650 })
  const page = await browser.open(bankUrl(local, brCode))
  await shows(page, 'QR Code fixo, pode ser pago várias vezes')
  await press(page, 'Pagar duas vezes')
  await shows(page, 'Pix enviado')
  assert.equal(await page.getByText('A empresa recebeu e a cobrança está paga.').count(), 2)
})

longTest(
  'an authorization is approved, runs out of funds, gets them back and is canceled',
  async () => {
    const { id, emv } = await subscription(local)
    const statusOf = async () =>
      (await local.get(`/pix-automatic/recurrences/${id}`)).recurrenceAuthStatus
    const page = await browser.open(`${local.url}/bank`, { javaScript: false })
    await page.getByRole('link', { name: 'R$ 49,90' }).first().click()
    for (const text of ['Pão de todo dia', 'todo mês', 'Aguardando sua autorização']) {
      await shows(page, text)
    }
    await press(page, 'Autorizar')
    await shows(page, 'com saldo')
    assert.equal(await statusOf(), 'APPROVED')
    await press(page, 'Zerar saldo')
    await shows(page, 'sem saldo')
    await press(page, 'Adicionar saldo')
    await shows(page, 'com saldo')
    await press(page, 'Cancelar a autorização')
    await shows(page, 'Cancelada')
    assert.equal(await statusOf(), 'CANCELED')
    assert.equal(await page.getByRole('button', { name: 'Autorizar' }).count(), 0)

    const other = await subscription(local)
    const second = await browser.open(bankUrl(local, other.emv))
    await isAccessible(second)
    await press(second, 'Recusar')
    await shows(second, 'Recusada')
    assert.notEqual(emv, other.emv)
  },
)

longTest('a decision that came too late is said to be impossible', async () => {
  const { emv } = await subscription(local)
  const page = await browser.open(bankUrl(local, emv))
  await local.call('POST', '/bank/authorizations', { json: { emv, decision: 'reject' } })
  await press(page, 'Autorizar')
  await shows(page, 'Esta assinatura não permite mais essa ação')
})

longTest('what was paid is listed, and refunds arrive', async () => {
  const { id, brCode } = await charge(local, 8800)
  await local.call('POST', '/bank/pix', { json: { brCode } })
  await local.post(`/refund/${id}`, { value: 3300 })
  const page = await browser.open(`${local.url}/bank`)
  const refund = page.getByText('+ R$ 33,00')
  while ((await refund.count()) === 0) await page.reload()
  await shows(page, 'Devolução recebida')
  await shows(page, '− R$ 88,00')
})

longTest('the clock of the sandbox company moves forward, and what falls due is done', async () => {
  const { id } = await charge(local, 500)
  const page = await browser.open(`${local.url}/bank`)
  const time = page.getByRole('region', { name: 'Relógio' }).locator('time')
  const now = async () => Date.parse((await time.getAttribute('datetime'))!)
  const steps: [string, number][] = [
    ['+1 hora', 3600],
    ['+1 dia', 86_400],
    ['+1 semana', 7 * 86_400],
  ]
  for (const [name, seconds] of steps) {
    const before = await now()
    await Promise.all([page.waitForResponse(/bank\?lang=pt$/), press(page, name)])
    await page.waitForLoadState()
    assert.equal(await now(), before + seconds * 1000)
  }
  assert.deepEqual(await stateOf(id), ['EXPIRED', 'EXPIRED'])
  const before = new Date(await now())
  await Promise.all([page.waitForResponse(/bank\?lang=pt$/), press(page, '+1 mês')])
  await page.waitForLoadState()
  const later = new Date(await now())
  assert.equal(later.getUTCDate(), before.getUTCDate())
  assert.equal((later.getUTCMonth() - before.getUTCMonth() + 12) % 12, 1)
})

longTest('the checkout becomes green in one tab while the bank pays in another', async () => {
  const { url, brCode } = await charge(local, 4321)
  const { open } = await browser.visitor({ phone: true })
  const checkout = await open(url.replace('http://vintem.test', local.url))
  await checkout.locator('[data-copy]').waitFor()
  const bank = await open(bankUrl(local, brCode))
  await press(bank, 'Pagar')
  await shows(bank, 'Pix enviado')
  await checkout.locator('.result.good').waitFor()
})

longTest('English is spoken on every step when it is asked for', async () => {
  const { brCode } = await charge(local, 1500)
  const page = await browser.open(`${bankUrl(local, brCode)}&lang=en`)
  assert.equal(await page.locator('html').getAttribute('lang'), 'en')
  await isAccessible(page)
  await press(page, 'Pay')
  await shows(page, 'The company received it, and the charge is paid.')
  await press(page, '+1 hour')
  await shows(page, 'Clock of the sandbox company')
  await page.getByRole('link', { name: 'Português' }).click()
  await shows(page, 'Banco simulado')
})

test('names that are markup are shown as the text that they are', async () => {
  const shop = await local.client({ name: INJECTION.slice(0, 60) })
  const { brCode } = await makeCharge(shop as Client, 1200)
  const page = await browser.open(bankUrl(local, brCode))
  await showsAsText(page, INJECTION.slice(0, 60))
  await charge(local, 1201, {}, { name: INJECTION })
  const { emv } = await subscription(local, INJECTION)
  await page.goto(`${local.url}/bank`)
  await showsAsText(page, INJECTION)
  await page.goto(bankUrl(local, emv))
  await showsAsText(page, INJECTION)
  await page.goto(bankUrl(local, INJECTION))
  assert.equal(await page.getByLabel('Código Pix Copia e Cola').inputValue(), INJECTION)
  assert.notEqual(await page.title(), 'broken')
})

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test('neither another site nor a name of others moves the clock or reads the lists', async () => {
  await charge(local, 1600, {}, { name: 'Somebody Secret' })
  const foreign = { ...FORM, 'sec-fetch-site': 'cross-site' }
  assert.equal((await ask(local, 'POST', '/bank/clock', foreign, 'by=month')).status, 400)
  const rebound = await ask(local, 'GET', '/bank', { host: 'evil.example' })
  assert.equal(rebound.status, 200)
  assert.doesNotMatch(rebound.text, /Somebody Secret/)
  const own = await ask(local, 'GET', '/bank', { host: 'localhost:3000' })
  assert.match(own.text, /Somebody Secret/)
  const moved = await ask(local, 'POST', '/bank/clock', { ...FORM, host: 'evil.example' }, 'by=day')
  assert.equal(moved.status, 404)
})

longTest(
  'a server lists nothing, pays what it is shown, and has no bank where all is live',
  async () => {
    const api = await startApi({}, { local: false })
    assert.equal((await api.call('GET', '/bank')).status, 404)
    const shop = await api.client()
    const { brCode } = await makeCode(shop, 990)
    await shop.post('/charge/pix', { amount: 990, customer: payer({ name: 'Somebody Secret' }) })
    const page = await browser.open(bankUrl(api, brCode))
    await press(page, 'Pagar')
    await shows(page, 'Pix enviado')
    const text = await page.locator('body').innerText()
    assert.doesNotMatch(text, /Somebody Secret|Relógio|Extrato/)
    const moved = await ask(api, 'POST', '/bank/clock', FORM, 'by=day')
    assert.equal(moved.status, 404)
  },
)
