import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { breaksNoWord, browsing, fitsTheWindow, isAccessible } from './support.ts'

const api = await startApi()
const browser = browsing()
const PHONE = { phone: true, size: { width: 390, height: 844 } } as const

longTest(
  'everybody can read the guides, on a phone and in a wide window, in the dark too',
  async () => {
    const visits = [
      { place: '/guides/webhooks', visit: PHONE },
      { place: '/guides?q=refund', visit: PHONE },
      { place: '/guides', visit: { dark: true } },
      { place: '/guides/reference/errors', visit: {} },
    ]
    for (const { place, visit } of visits) {
      const page = await browser.open(api.url + place, visit)
      await isAccessible(page)
      await fitsTheWindow(page)
    }
  },
)

longTest('no page is wider than a phone, and no word of it breaks', async () => {
  const { open } = await browser.visitor({ ...PHONE, javaScript: false })
  const page = await open(`${api.url}/guides`)
  const paths = await page
    .locator('.menu-link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')!))
  assert.ok(paths.length > 10)
  for (const path of paths.filter((path) => path.startsWith('/guides'))) {
    await page.goto(api.url + path)
    await fitsTheWindow(page)
    await breaksNoWord(page)
  }
})

test('samples, menu and search need no script', async () => {
  const page = await browser.open(`${api.url}/guides/start`, { ...PHONE, javaScript: false })
  const panel = page.locator('.tabs').first().locator('.panel:visible')
  assert.match(await panel.innerText(), /^curl -s/m)
  await page.locator('.tabs label', { hasText: 'Python' }).first().click()
  assert.match(await panel.innerText(), /import urllib\.request/)
  await page.locator('.side summary').click()
  await page.getByRole('link', { name: 'The ledger' }).click()
  await page.getByRole('heading', { name: 'The ledger' }).waitFor()
  await page.getByRole('searchbox').fill('devolução')
  await page.getByRole('button', { name: 'Buscar' }).click()
  await page.getByRole('heading', { name: /resultados? para “devolução”/ }).waitFor()
  await page.locator('#found a').first().click()
  await page.getByRole('heading', { name: 'Introdução' }).waitFor()
})

longTest(
  'with scripts a language is chosen once, and a search begins while one types',
  async () => {
    const { open } = await browser.visitor()
    const page = await open(`${api.url}/guides/start`)
    await page.locator('.tabs').nth(1).locator('label', { hasText: 'PHP' }).click()
    assert.deepEqual(
      new Set(
        await page
          .locator('.tabs > input:checked')
          .evaluateAll((all) => all.map((one) => (one as { value?: string }).value)),
      ),
      new Set(['PHP']),
    )
    const next = await open(`${api.url}/guides/webhooks`)
    await next.locator('.tabs').first().locator('.panel:visible').getByText('<?php').waitFor()
    await next.locator('.tabs').first().hover()
    await next.locator('.tabs .panel:visible').getByRole('button', { name: 'Copiar' }).click()
    assert.match(await next.evaluate<string>('navigator.clipboard.readText()'), /^<\?php\nrequire/)
    await next.getByRole('searchbox').fill('rotate')
    await next.locator('#found').getByRole('link', { name: 'Change the secret' }).waitFor()
    assert.match(next.url(), /\/guides\?q=rotate$/)
    await next.goBack()
    await next.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  },
)
