import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryOf } from '../../src/core/activity/record.ts'
import { insertEntries } from '../../src/core/activity/store.ts'
import { newId } from '../../src/lib/ids.ts'
import { payer, startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { browsing, fitsTheWindow, INJECTION, isAccessible, showsAsText } from './support.ts'

const api = await startApi()
const client = await api.client({ name: 'Padaria São João' })
const browser = browsing()

const SIZES = [
  { phone: true, size: { width: 390, height: 844 } },
  { size: { width: 1280, height: 800 } },
]
const LONG = `${'w'.repeat(240)}@example.com`

/** Changes of all kinds of authors, and calls that failed. */
const charge = await client.post('/charge/pix', { amount: 1990, customer: payer() })
const product = await client.post('/product', { name: 'Café', description: '', price: 700 })
await client.put(`/product/${product.body.data.id}`, { price: 800, name: 'Café moído' })
const refused = await client.post('/product', { name: 7 })
await client.get('/charge/charge_00000000000000000000000000')
const author = { id: newId(), address: '2001:db8:85a3:8d3:1319:8a2e:370:7348' }
await insertEntries(api.app.db, [
  entryOf(
    client.company.id,
    { ...author, kind: 'person', name: LONG },
    { action: 'member.invite', details: { role: 'finance' } },
  ),
  entryOf(
    client.company.id,
    { ...author, id: newId(), kind: 'key', name: INJECTION },
    { action: 'key.create' },
  ),
  entryOf(
    client.company.id,
    { kind: 'command-line', id: null, name: 'root', address: null },
    { action: 'company.pin-version' },
  ),
])
await Promise.all([api.app.lateActivity.idle(), api.app.requestLog.idle()])

for (const visit of SIZES) {
  for (const language of ['pt', 'en'] as const) {
    test(`the activity log at ${visit.size.width} px in ${language}`, async () => {
      const owner = await signIn(api, client.company, { language })
      const { context, open } = await browser.visitor({ ...visit, language })
      await useSessionIn(context, api, owner)
      const page = await open(`${api.url}${owner.home}/settings/activity`)
      await isAccessible(page)
      await page
        .getByRole('link', { name: language === 'pt' ? /chaves de API/ : /Show API keys/ })
        .click()
      await fitsTheWindow(page)
      await showsAsText(page, INJECTION)
      await page
        .getByText(language === 'pt' ? 'Filtros' : 'Filters')
        .first()
        .click()
      await page.getByLabel(language === 'pt' ? 'O quê' : 'What').selectOption('createPixCharge')
      await page.getByRole('button', { name: language === 'pt' ? 'Filtrar' : 'Apply' }).click()
      await page.getByRole('link', { name: charge.body.data.id }).waitFor()
      assert.equal(await page.locator('tbody tr').count(), 1)
      await isAccessible(page)
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'CSV' }).click()
      assert.equal((await download).suggestedFilename(), 'atividades.csv')
    })

    test(`the requests at ${visit.size.width} px in ${language}`, async () => {
      const developer = await signIn(api, client.company, { role: 'developer', language })
      const { context, open } = await browser.visitor({ ...visit, language })
      await useSessionIn(context, api, developer)
      const page = await open(`${api.url}${developer.home}/developers/requests`)
      await isAccessible(page)
      await fitsTheWindow(page)
      await page
        .getByText(language === 'pt' ? 'Filtros' : 'Filters')
        .first()
        .click()
      await page.getByLabel('Status').selectOption('refused')
      await page.getByRole('button', { name: language === 'pt' ? 'Filtrar' : 'Apply' }).click()
      await page.locator('tbody tr').nth(1).waitFor()
      assert.equal(await page.locator('tbody tr').count(), 2)
      await page.getByRole('link', { name: 'POST /product' }).click()
      await page.getByText('invalid_value').first().waitFor()
      await isAccessible(page)
      await fitsTheWindow(page)
    })
  }
}

test('a request is found by its id without scripts', async () => {
  const developer = await signIn(api, client.company, { role: 'developer', language: 'en' })
  const { context, open } = await browser.visitor({ javaScript: false, language: 'en' })
  await useSessionIn(context, api, developer)
  const page = await open(`${api.url}${developer.home}/developers/requests`)
  await page.getByLabel('Request ID').fill(refused.headers.get('x-request-id')!)
  await page.getByRole('button', { name: 'Search', exact: true }).last().click()
  await page.getByText('A field is missing or breaks its rule').waitFor()
})
