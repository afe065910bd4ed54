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
  const address = `${api.url}/guides/start?lang=en`
  const page = await browser.open(address, { ...PHONE, javaScript: false })
  const panel = page.locator('.tabs').first().locator('.panel:visible')
  assert.match(await panel.innerText(), /^curl -s/m)
  await page.locator('.tabs label', { hasText: 'Python' }).first().click()
  assert.match(await panel.innerText(), /import urllib\.request/)
  await page.locator('.side summary').click()
  await page.getByRole('link', { name: 'The ledger' }).click()
  await page.getByRole('heading', { name: 'The ledger' }).waitFor()
  await page.getByRole('searchbox').fill('devolução')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('heading', { name: /results for “devolução”/ }).waitFor()
  await page
    .locator('#found a', { hasText: /refund/i })
    .first()
    .click()
  await page
    .locator('article')
    .getByText(/refund/i)
    .first()
    .waitFor()
  await page.goto(`${api.url}/guides?lang=en#where-to-go`)
  await page.getByRole('link', { name: 'Ler em português' }).click()
  await page.getByRole('heading', { name: 'Introdução', level: 1 }).waitFor()
})

longTest(
  'with scripts a language is chosen once, and a search begins while one types',
  async () => {
    const { open } = await browser.visitor()
    const page = await open(`${api.url}/guides/start?lang=en`)
    await page.locator('.tabs').nth(1).locator('label', { hasText: 'PHP' }).click()
    assert.deepEqual(
      new Set(
        await page
          .locator('.tabs > input:checked')
          .evaluateAll((all) => all.map((one) => (one as { value?: string }).value)),
      ),
      new Set(['PHP']),
    )
    const next = await open(`${api.url}/guides/webhooks?lang=en`)
    await next.locator('.tabs').first().locator('.panel:visible').getByText('<?php').waitFor()
    await next.locator('.tabs').first().hover()
    await next.locator('.tabs .panel:visible').getByRole('button', { name: 'Copy' }).click()
    assert.match(await next.evaluate<string>('navigator.clipboard.readText()'), /^<\?php\nrequire/)
    await next.getByRole('searchbox').fill('rotate')
    await next.locator('#found').getByRole('link', { name: 'Change the secret' }).waitFor()
    assert.match(next.url(), /\/guides\?q=rotate&lang=en$/)
    await next.goBack()
    await next.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
    // The other language opens at the same heading.
    await next.goto(`${api.url}/guides?lang=en#where-to-go`)
    await next.getByRole('link', { name: 'Ler em português' }).click()
    await next.getByRole('heading', { name: 'Introdução', level: 1 }).waitFor()
    assert.match(next.url(), /\/guides\?lang=pt#where-to-go$/)
  },
)
