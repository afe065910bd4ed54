import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { payer, startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { at, linkTo } from '../support/pages.ts'
import { browsing, fitsTheWindow, isAccessible } from './support.ts'

const api = await startApi()
const { open } = browsing()
const client = await api.client({ name: 'Padaria São João', color: '#b91c1c' })

const pixCharge = async (fields: object = {}) => {
  const made = await client.post('/charge/pix', { amount: 123_456, customer: payer(), ...fields })
  assert.equal(made.status, 201, made.text)
  const { id, brCode, url } = made.body.data
  return { id, brCode, url: at(api, url) }
}

const pay = async (brCode: string): Promise<string> => {
  const paid = await api.call('POST', '/bank/pix', { json: { brCode } })
  assert.equal(paid.status, 201, paid.text)
  return paid.body.data.endToEndId
}

/** Something that a page which is loaded anew does not have. */
const mark = (page: Page) => page.evaluate('window.stayed = true')
const stayed = (page: Page) => page.evaluate<boolean>('window.stayed === true')

test('a checkout becomes green without a reload when its code is paid on another screen', async () => {
  const { brCode, url } = await pixCharge()
  const page = await open(url, { phone: true })
  await mark(page)
  assert.match(await page.locator('h1').innerText(), /R\$ 1\.234,56/)
  assert.match(await page.locator('.timer').innerText(), /^(30 min 00|29 min \d\d) s$/)
  assert.equal(await page.inputValue('#code'), brCode)
  await isAccessible(page)
  await fitsTheWindow(page)
  const endToEndId = await pay(brCode)
  await page.locator('main[data-state=paid]').waitFor()
  assert.ok(await stayed(page))
  assert.equal(await page.locator('h1').innerText(), 'Pagamento confirmado (teste)')
  const receipt = await page.locator('.facts').innerText()
  for (const fact of ['R$ 1.234,56', '20/08/2026 às 12:00', endToEndId, '***.***.247-25']) {
    assert.ok(receipt.includes(fact), `${receipt} has ${fact}`)
  }
  assert.equal(await page.evaluate('document.activeElement.id'), 'result-title')
  await isAccessible(page)
})

test('the page of a charge with a due date says what is to be paid today, and why', async () => {
  const due = {
    dueDate: '2026-08-21',
    fine: { type: 'PERCENT', value: 200 },
    discounts: [{ type: 'PERCENT', value: 500, until: '2026-08-20' }],
  }
  const { url } = await pixCharge({ amount: 100_000, ...due })
  const page = await open(url, { phone: true })
  const summary = await page.locator('section.card').first().innerText()
  for (const text of [
    'R$ 950,00',
    'Vence em 21/08/2026',
    'desconto de R$ 50,00',
    'até 21/09/2026',
  ]) {
    assert.ok(summary.includes(text), `${summary} has ${text}`)
  }
  assert.match(await page.locator('.facts').innerText(), /Valor original\s+R\$ 1\.000,00/)
  await isAccessible(page)
  await fitsTheWindow(page)
})

test('a page without server-sent events asks by itself, and becomes green too', async () => {
  const { brCode, url } = await pixCharge()
  const page = await open('about:blank')
  await page.route('**/events', (route) => route.fulfill({ status: 204 }))
  await page.goto(url)
  await mark(page)
  await pay(brCode)
  await page.locator('main[data-state=paid]').waitFor()
  assert.ok(await stayed(page))
})

test('a page whose events a proxy holds back asks by itself, and becomes green too', async () => {
  const { brCode, url } = await pixCharge()
  const page = await open('about:blank')
  await page.route('**/events', () => {})
  await page.goto(url)
  await pay(brCode)
  await page.locator('main[data-state=paid]').waitFor()
})

longTest(
  'the payer is led to successUrl when it has been paid, and not when they come back',
  async () => {
    const url = await linkTo(api, client, { total: 5000, successUrl: `${api.url}/health?done` })
    const page = await open('about:blank')
    await page.clock.install()
    await page.goto(url)
    await page.locator('main[data-state=open]').waitFor()
    await pay(await page.inputValue('#code'))
    await page.locator('main[data-state=paid]').waitFor()
    const link = page.getByRole('link', { name: 'Voltar à loja' })
    assert.equal(await link.getAttribute('href'), `${api.url}/health?done`)
    await page.clock.runFor(11_000)
    await page.waitForURL('**/health?done')
    const again = await open(url)
    assert.equal(await again.locator('[data-leave]').isVisible(), false)
  },
)

longTest('an open page says that its time is over, and where to go', async () => {
  const url = await linkTo(api, client, {
    total: 5000,
    expiresIn: 600,
    failedUrl: 'https://loja.example/sorry',
  })
  const page = await open(url)
  await mark(page)
  api.clock.advance(601)
  await page.locator('main[data-state=expired]').waitFor()
  assert.ok(await stayed(page))
  assert.equal(await page.locator('h1').innerText(), 'Este Pix expirou')
  const link = page.getByRole('link', { name: 'Voltar à loja' })
  assert.equal(await link.getAttribute('href'), 'https://loja.example/sorry')
  assert.equal(await page.locator('.qr').count(), 0)
  await isAccessible(page)
})

longTest('an open page says that the charge was canceled', async () => {
  const { id, url } = await pixCharge()
  const page = await open(url)
  await client.post(`/charge/${id}/cancel`)
  await page.locator('main[data-state=canceled]').waitFor()
  assert.equal(await page.locator('h1').innerText(), 'Cobrança cancelada')
  await isAccessible(page)
})

test('one click copies the code and says so', async () => {
  const { brCode, url } = await pixCharge()
  const page = await open(url, { phone: true })
  await page.getByRole('button', { name: 'Copiar código Pix' }).click()
  await page.getByRole('button', { name: 'Código copiado' }).waitFor()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), brCode)
  await isAccessible(page)
})

test('without JavaScript there are the QR image, the code to select, and a way to see it paid', async () => {
  const { brCode, url } = await pixCharge()
  const page = await open(url, { javaScript: false, phone: true })
  await page.getByText('Mostrar QR Code').click()
  const box = (await page.locator('.qr img').boundingBox())!
  assert.ok(box.width >= 240 && box.height === box.width)
  assert.equal(await page.locator('#code').inputValue(), brCode)
  assert.equal(await page.locator('[data-copy]').isVisible(), false)
  assert.match(await page.locator('main').innerText(), /Válido até 20\/08\/2026 às 12:\d\d/)
  assert.match(await page.content(), /<meta http-equiv="refresh" content="20">/)
  await pay(brCode)
  await page.getByRole('link', { name: 'Já paguei, atualizar' }).click()
  await page.locator('main[data-state=paid]').waitFor()
})

longTest('the page speaks the language of the browser, and at once', async () => {
  const { url } = await pixCharge()
  const page = await open(url, { language: 'en' })
  await page.getByRole('button', { name: 'Copy Pix code' }).waitFor()
  assert.equal(await page.getAttribute('html', 'lang'), 'en')
  assert.equal(page.url(), url)
})

longTest('a language that is chosen comes before that of the browser, and stays', async () => {
  const link = await linkTo(api, client, { total: 5000 })
  const page = await open(link, { language: 'en', javaScript: false })
  await page.getByRole('link', { name: 'Português' }).click()
  await page.getByRole('button', { name: 'Gerar código Pix' }).click()
  await page.locator('main[data-state=open]').waitFor()
  assert.equal(await page.getAttribute('html', 'lang'), 'pt-BR')
  await pay(await page.inputValue('#code'))
  await page.reload()
  await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor()
})

longTest('the page speaks English by choice, and goes on doing so', async () => {
  const { brCode, url } = await pixCharge()
  const page = await open(url)
  assert.equal(await page.getAttribute('html', 'lang'), 'pt-BR')
  await page.getByRole('link', { name: 'English' }).click()
  await page.getByRole('button', { name: 'Copy Pix code' }).waitFor()
  assert.equal(await page.getAttribute('html', 'lang'), 'en')
  await isAccessible(page)
  await pay(brCode)
  await page.getByRole('heading', { name: 'Payment confirmed' }).waitFor()
  await page.getByRole('link', { name: 'Português' }).click()
  await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor()
})

longTest('a dev-mode charge says so and is paid by a simulated payment', async () => {
  const { id, url } = await pixCharge({ devMode: true })
  const page = await open(url)
  assert.match(await page.locator('aside').innerText(), /Cobrança de teste/)
  await isAccessible(page)
  await page.getByRole('button', { name: 'Simular pagamento' }).click()
  await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor()
  assert.equal((await client.get(`/charge/${id}`)).body.data.paymentStatus, 'PAID')
})

test('a charge that is no trial offers no simulated payment, and refuses one', async () => {
  const { id, url } = await pixCharge()
  const page = await open(url)
  assert.equal(await page.getByRole('button', { name: 'Simular pagamento' }).count(), 0)
  const refused = await fetch(`${url}/simulate`, { method: 'POST' })
  assert.equal(refused.status, 400)
  assert.equal((await client.get(`/charge/${id}`)).body.data.paymentStatus, 'PROCESSING')
})

longTest('all is to be read before the script has come', async () => {
  const { url } = await pixCharge()
  const page = await open('about:blank')
  await page.route('**/*.js', () => {})
  await page.goto(url, { waitUntil: 'commit' })
  await page.locator('.qr img').waitFor()
  assert.match(await page.locator('h1').innerText(), /R\$ 1\.234,56/)
})

longTest('the page is as easy to read in the dark', async () => {
  const { url } = await pixCharge({ devMode: true })
  await isAccessible(await open(url, { dark: true, phone: true, calm: true }))
})

longTest('any color of a company leaves its page readable', async () => {
  for (const color of ['#ffffff', '#777777']) {
    const other = await api.client({ color })
    const made = await other.post('/charge/pix', { amount: 500, customer: payer() })
    await isAccessible(await open(at(api, made.body.data.url)))
  }
})
