import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openConnection } from '../../src/core/banks/commands.ts'
import { trust } from '../bank/certificates.ts'
import { startApi } from '../support/api.ts'
import { openBanked } from '../support/bank.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { browsing, fitsTheWindow, isAccessible } from './support.ts'

const api = await startApi()
const browser = browsing()
const { client: identity } = await trust()
const PHONE = { width: 390, height: 844 }
const { SCREENSHOTS } = process.env

async function look(page: Page, name: string, javaScript: boolean): Promise<void> {
  if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true })
  // It is a script, too.
  if (javaScript) await isAccessible(page)
  if (javaScript) await fitsTheWindow(page)
}

const fileOf = (name: string, content: string) => ({
  name,
  mimeType: 'application/x-pem-file',
  buffer: Buffer.from(content),
})

for (const [language, phone, javaScript] of [
  ['pt', true, true],
  ['en', false, false],
] as const) {
  const scripts = javaScript ? 'with' : 'without'
  test(`an owner connects, checks and disconnects a bank: ${language}, ${scripts} scripts`, async () => {
    const shop = await openBanked(api, { callbacks: false })
    const { id } = shop.company
    const size = phone ? { phone, size: PHONE } : {}
    const { context } = await browser.visitor({ ...size, javaScript, language })
    const owner = await signIn(api, shop.company, { language, hasSecondFactor: true })
    await useSessionIn(context, api, owner)
    const page = await context.newPage()
    const at = (name: string) => look(page, `bank-${language}-${name}`, javaScript)
    await page.goto(`${api.url}${owner.home}/settings/bank`)
    await at('connected')
    await page.locator('form[action$="/bank/check"] button').click()
    await page.locator('.bank-checks').waitFor()
    await at('check')
    await page.goto(`${api.url}${owner.home}/settings/bank/renew`)
    await at('renew')
    await page.goto(`${api.url}${owner.home}/settings/bank/disconnect`)
    await at('disconnect')
    await page.locator('form[action$="/bank/disconnect"] button').click()
    await page.locator('a[href$="/bank/connect"]').waitFor()
    await at('none')
    await page.locator('a[href$="/bank/connect"]').click()
    await page.locator('#profile').selectOption('efi')
    await page.locator('#clientId').fill('Client_Id_teste')
    await page.locator('#certificate').setInputFiles(fileOf('cert.pem', identity.certificate))
    await page.locator('form[action$="/bank/connect"] .form-buttons button').click()
    await page.locator('#key-fault:not([hidden])').waitFor()
    assert.equal(await page.locator('#clientSecret').getAttribute('aria-invalid'), 'true')
    await at('faults')
    await page.locator('#clientSecret').fill('segredo-de-teste')
    await page.locator('#certificate').setInputFiles(fileOf('cert.pem', identity.certificate))
    await page.locator('#key').setInputFiles(fileOf('cert.key', identity.key))
    await page.locator('form[action$="/bank/connect"] .form-buttons button').click()
    await page.locator('a[href$="/bank/renew"]').waitFor()
    assert.match(page.url(), /done=connected$/)
    await at('done')
    assert.equal((await openConnection(api.app.db, api.app.vault, id))?.profile.name, 'efi')
  })
}
