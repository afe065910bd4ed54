import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Client, payer, startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { at, linkTo, productOf } from '../support/pages.ts'
import { browsing, fitsTheWindow, INJECTION, isAccessible, showsAsText } from './support.ts'

const api = await startApi()
const { open } = browsing()

const CLUB = { name: 'Clube do pão', price: 4990, type: 'RECURRING', frequency: 'MONTHLY' }
const PAYER = { name: 'Maria da Silva', taxId: '529.982.247-25', email: 'maria@example.com' }

async function template(client: Client, fields: object = {}): Promise<string> {
  const productId = await productOf(client, { ...CLUB, ...fields })
  const made = await client.post('/pix-automatic/recurrences/template', { productId })
  const shown = await client.get(`/pix-automatic/recurrences/${made.body.data.id}`)
  return at(api, shown.body.data.paymentLinkUrl)
}

async function fillPayer(page: Page, fields: object = {}): Promise<void> {
  const given = { ...PAYER, phone: '(11) 98888-8888', ...fields }
  for (const [name, value] of Object.entries(given)) await page.fill(`#${name}`, String(value))
}

const goOn = (page: Page) => page.getByRole('button', { name: 'Continuar' }).click()

const decide = async (page: Page, decision: string) => {
  const json = { emv: await page.inputValue('#code'), decision }
  const decided = await api.call('POST', '/bank/authorizations', { json })
  assert.equal(decided.status, 200, decided.text)
}

test('a payer subscribes through a link: sees what is charged when, says who they are, approves', async () => {
  const client = await api.client()
  const page = await open(await template(client), { phone: true })
  const shown = await page.locator('main').innerText()
  assert.match(shown, /R\$ 49,90 por mês/)
  // Thursday the 20th and 3 days is a Sunday, so that the bank collects on Monday.
  assert.match(shown, /1ª cobrança\s+24\/08\/2026.+2ª cobrança\s+23\/09\/2026/s)
  await isAccessible(page)
  await fitsTheWindow(page)
  await fillPayer(page)
  await goOn(page)
  await page.locator('main[data-state=agreeing]').waitFor()
  await isAccessible(page)
  await page.evaluate('window.stayed = true')
  await decide(page, 'approve')
  await page.locator('main[data-state=approved]').waitFor()
  assert.ok(await page.evaluate('window.stayed'))
  assert.equal(await page.locator('h1').innerText(), 'Assinatura ativa')
  await isAccessible(page)
  await fitsTheWindow(page)
  const { data } = (await client.get('/pix-automatic/recurrences')).body
  const agreement = data.find((one: { isRecurringTemplate: boolean }) => !one.isRecurringTemplate)
  assert.equal(agreement.recurrenceAuthStatus, 'APPROVED')
  assert.equal(agreement.customerName, 'Maria da Silva')
})

longTest('what a payer types is checked at once and again on the server', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'pix@example.com' })
  const url = await template(client)
  const page = await open(url)
  await page.fill('#taxId', '52998224724')
  assert.equal(await page.inputValue('#taxId'), '529.982.247-24')
  await page.locator('#email').focus()
  assert.match(await page.locator('#taxId-fault').innerText(), /CPF/)
  await page.fill('#taxId', '52998224725')
  assert.equal(await page.locator('#taxId-fault').isVisible(), false)
  await page.fill('#email', 'maria')
  await page.locator('#phone').focus()
  assert.match(await page.locator('#email-fault').innerText(), /maria@example.com/)
  await isAccessible(page)
  const bare = await open(url, { javaScript: false })
  await fillPayer(bare, { taxId: '529.982.247-24', phone: '123' })
  await goOn(bare)
  assert.match(await bare.locator('#taxId-fault').innerText(), /CPF/)
  assert.match(await bare.locator('#phone-fault').innerText(), /DDD/)
  assert.equal(await bare.inputValue('#email'), PAYER.email)
  assert.equal(await bare.getAttribute('#taxId', 'aria-describedby'), 'taxId-fault taxId-hint')
})

longTest(
  'a subscription link for a known payer asks nothing, and leads back to what was begun',
  async () => {
    const client = await api.client()
    const productId = await productOf(client, CLUB)
    const successUrl = 'https://loja.example/ok'
    const url = await linkTo(api, client, { items: [{ productId, quantity: 1 }], successUrl })
    const page = await open(url)
    const shown = await page.locator('main').innerText()
    assert.ok(shown.includes('***.***.247-25') && !shown.includes('52998224725'))
    assert.equal(await page.locator('#name').count(), 0)
    await isAccessible(page)
    await goOn(page)
    await page.locator('main[data-state=agreeing]').waitFor()
    await page.goto(url)
    await page.locator('main[data-state=agreeing]').waitFor()
    await decide(page, 'approve')
    await page.locator('main[data-state=approved]').waitFor()
    const link = page.getByRole('link', { name: 'Voltar à loja' })
    assert.equal(await link.getAttribute('href'), successUrl)
  },
)

longTest(
  'a payer who declines sees that nothing is charged, and can begin again without JavaScript',
  async () => {
    const client = await api.client()
    const productId = await productOf(client, CLUB)
    const url = await linkTo(api, client, { items: [{ productId, quantity: 1 }] })
    const page = await open(`${url}?lang=en`)
    await page.getByRole('button', { name: 'Continue to authorization' }).click()
    await page.locator('main[data-state=agreeing]').waitFor()
    await isAccessible(page)
    await decide(page, 'reject')
    await page.getByRole('heading', { name: 'Authorization declined' }).waitFor()
    await isAccessible(page)
    const again = await open(url, { javaScript: false })
    assert.match(await again.locator('main').innerText(), /Você pode tentar novamente/)
    await goOn(again)
    await again.locator('main[data-state=agreeing]').waitFor()
    await decide(again, 'approve')
    await again.getByRole('link', { name: 'Já autorizei, atualizar' }).click()
    await again.locator('main[data-state=approved]').waitFor()
  },
)

longTest('a link that has ended says so', async () => {
  const client = await api.client()
  const productId = await productOf(client, CLUB)
  const items = [{ productId, quantity: 1 }]
  const page = await open(await linkTo(api, client, { items, expiresIn: 60 }))
  api.clock.advance(61)
  await page.locator('main[data-state=expired]').waitFor()
  assert.equal(await page.locator('h1').innerText(), 'Este link de assinatura foi encerrado')
  await isAccessible(page)
})

test('what is written of products and payers is shown as text', async () => {
  const client = await api.client({ name: INJECTION })
  const page = await open(await template(client, { name: INJECTION }))
  await showsAsText(page, INJECTION)
  await fillPayer(page, { name: INJECTION, taxId: '123' })
  await page.evaluate(`document.querySelector('form').submit()`)
  await page.locator('[role=alert]').waitFor()
  assert.equal(await page.inputValue('#name'), INJECTION)
  await showsAsText(page, INJECTION)
  await page.fill('#taxId', payer().taxId)
  await goOn(page)
  await page.locator('main[data-state=agreeing]').waitFor()
  await showsAsText(page, INJECTION)
  await decide(page, 'approve')
  await page.locator('main[data-state=approved]').waitFor()
  await showsAsText(page, INJECTION)
})
