import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { makeCustomer } from '../support/subscriptions.ts'
import { browsing, fitsTheWindow, isAccessible, type Visit } from './support.ts'

const api = await startApi()
const browser = browsing()

const PHONE = { width: 390, height: 844 }

/** Somebody new at a page of a new company. */
async function open(path: string, visit: Visit, language: 'pt' | 'en' = 'pt') {
  const client = await api.client()
  const member = await signIn(api, client.company, { language })
  const { context } = await browser.visitor(visit)
  await useSessionIn(context, api, member)
  const page = await context.newPage()
  const go = (to: string) => page.goto(`${api.url}${member.home}${to}`)
  await go(path)
  return { client, page, go }
}

test('on a phone a product is made, sold by a link with a preview, and the link is there', async () => {
  const { client, page } = await open('/products/new', { phone: true, size: PHONE })
  await page.getByLabel('Nome').fill('Pão de queijo')
  await page.getByLabel('Preço em reais').fill('12 reais')
  assert.equal(await page.getByLabel('Frequência').isVisible(), false)
  await page.getByRole('button', { name: 'Criar produto' }).click()
  await page.getByText('Informe o preço em reais, como 19,90.').waitFor()
  await isAccessible(page)
  await fitsTheWindow(page)
  await page.getByLabel('Preço em reais').fill('12,50')
  await page.getByRole('button', { name: 'Criar produto' }).click()
  await page.getByText('Produto criado.').waitFor()
  await page.getByRole('link', { name: 'Criar link com este produto' }).click()

  assert.equal(await page.getByLabel('Produto 1').inputValue().then(Boolean), true)
  assert.equal(await page.getByLabel('Produto 2').isVisible(), false)
  await page.getByRole('button', { name: 'Adicionar produtos' }).click()
  await page.getByLabel('Produto 2').selectOption({ index: 1 })
  await page.getByLabel('Nome', { exact: true }).fill('Maria da Silva')
  await page.getByLabel('CPF ou CNPJ', { exact: true }).pressSequentially('12345678909')
  assert.equal(await page.getByLabel('CPF ou CNPJ', { exact: true }).inputValue(), '123.456.789-09')
  await page.getByRole('button', { name: 'Ver prévia' }).click()
  const frame = page.frameLocator('iframe')
  await frame.getByText('R$ 25,00').first().waitFor()
  await isAccessible(page)
  await fitsTheWindow(page)
  assert.equal(await page.getByLabel('Produto 2').isVisible(), true)
  await page.getByRole('button', { name: 'Criar link', exact: true }).click()
  await page.waitForURL(/\/charges\/charge_/)
  const { data } = (await client.get('/charge')).body
  assert.deepEqual([data.length, data[0].total], [1, 2500])
})

test('without JavaScript a customer is found and charged', async () => {
  const { client, page } = await open('/new/charge', { javaScript: false })
  await makeCustomer(client, { name: 'Carla Dias' })
  await page.getByLabel('Valor em reais').fill('1.019,90')
  await page.getByLabel(/Buscar cliente/).fill('carla')
  await page.getByRole('button', { name: 'Buscar', exact: true }).click()
  assert.equal(await page.getByLabel('Carla Dias').isChecked(), true)
  assert.equal(await page.getByLabel('Nome', { exact: true }).isVisible(), false)
  assert.equal(await page.getByLabel('Valor em reais').inputValue(), '1.019,90')
  await page.getByRole('button', { name: 'Cobrar' }).last().click()
  await page.waitForURL(/\/charges\/charge_/)
  const [charge] = (await client.get('/charge')).body.data
  assert.deepEqual([charge.total, charge.customer.name], [101_990, 'Carla Dias'])
})

test('a long name fits into the form', async () => {
  const { client, page, go } = await open('/new/charge', { phone: true, size: PHONE })
  const name = 'W'.repeat(255)
  const id = await makeCustomer(client, { name })
  await go(`/new/charge?customer=${id}`)
  assert.equal(await page.getByLabel(name).isChecked(), true)
  await isAccessible(page)
  await fitsTheWindow(page)
})

test('in English a subscription is made, and canceled after a question', async () => {
  const { page, go } = await open('/new/subscription', {}, 'en')
  await page.getByRole('link', { name: 'Create a subscription product' }).click()
  await page.getByLabel('Name').fill('Bread club')
  await page.getByLabel('Price in reais').fill('49,90')
  await page.getByLabel('Time to pay').selectOption('5')
  await page.getByRole('button', { name: 'Create product' }).click()
  await page.getByRole('link', { name: 'Create a subscription link' }).click()
  assert.equal(await page.getByLabel('CPF or CNPJ', { exact: true }).isVisible(), false)
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.frameLocator('iframe').getByText('Bread club').first().waitFor()
  await page.getByRole('button', { name: 'Create subscription' }).last().click()
  await page.getByText('Done. Copy the link').waitFor()
  await page.getByRole('button', { name: 'Copy the link' }).click()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  assert.match(copied, /\/pay\//)
  await isAccessible(page)
  await page.getByRole('link', { name: 'Close link' }).click()
  await page.getByRole('button', { name: 'Close link' }).click()
  await page.getByText('Closed link').waitFor()
  await go('/subscriptions?state=links')
  await page.getByText('Link for anybody').waitFor()
  await isAccessible(page)
})

test('a code has a sign of A6, with everything of it on one sheet', async () => {
  const { page } = await open('/new/code', {})
  await page.getByLabel('Valor em reais').fill('2,50')
  await page.getByRole('button', { name: 'Criar QR Code' }).last().click()
  await page.getByRole('link', { name: 'Abrir placa para imprimir' }).click()
  await page.getByRole('button', { name: 'Imprimir placa' }).waitFor()
  const paper = await page.pdf({ preferCSSPageSize: true })
  assert.equal(paper.toString('latin1').match(/\/Type \/Page\b/g)?.length, 1)
  // 105 × 148 mm in points of 1/72 inch.
  const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(paper.toString('latin1'))!
  assert.ok(Math.abs(Number(width) - 297.6) < 2 && Math.abs(Number(height) - 419.5) < 2)
})
