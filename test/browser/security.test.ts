import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { startApi } from '../support/api.ts'
import { type Member, signIn, useSessionIn } from '../support/dashboard.ts'
import { longTest, variants } from '../support/long.ts'
import { givePassword, PASSWORD } from '../support/people.ts'
import { addApp, codeOf } from '../support/totp.ts'
import { breaksNoWord, browsing, fitsTheWindow, isAccessible } from './support.ts'

const { visitor } = browsing()
const api = await startApi()
const client = await api.client()
/** Passkeys are for names, not for IP addresses. */
const SITE = `http://localhost:${new URL(api.url).port}`
const PHONE = { phone: true, size: { width: 390, height: 844 } }

/** A device with a fingerprint reader, on which somebody always puts the right finger. */
async function addDevice(context: BrowserContext, page: Page): Promise<CDPSession> {
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return session
}

async function open(member: Member, path: string, visit = {}) {
  const { open, context } = await visitor(visit)
  await useSessionIn(context, { ...api, url: SITE }, member)
  return { page: await open(SITE + path), context }
}

const looksRight = async (page: Page) => {
  await isAccessible(page)
  await fitsTheWindow(page)
  await breaksNoWord(page)
}

for (const [language, visit, words] of variants([
  ['pt', PHONE, { add: 'Adicionar chave de acesso', name: 'Nome da chave de acesso' }],
  ['en', {}, { add: 'Add a passkey', name: 'Name of the passkey' }],
])) {
  longTest(`a passkey is added and confirms who it is (${language})`, async () => {
    const owner = await signIn(api, client.company, { language })
    const { page, context } = await open(owner, '/account/security', visit)
    await addDevice(context, page)
    await looksRight(page)
    await page.getByRole('button', { name: words.add }).click()
    assert.equal(await page.locator('.codes li').count(), 0, 'a name is needed')
    const name = `${'x'.repeat(60)}<b>`
    await page.getByLabel(words.name).fill(name)
    await page.getByRole('button', { name: words.add }).click()
    await page.locator('.codes li').first().waitFor()
    assert.equal(await page.locator('.codes li').count(), 10)
    await looksRight(page)
    await page.locator('main a.button').click()
    await page.getByText(name).waitFor()
    await looksRight(page)
    api.clock.advance(5 * 60)
    await page.reload()
    assert.equal(await page.getByLabel(words.name).count(), 0, 'first they confirm')
    await page.locator('main a.button').click()
    await looksRight(page)
    await page.locator('[data-passkey=get] button').click()
    await page.getByLabel(words.name).waitFor()
    assert.equal(new URL(page.url()).pathname, '/account/security')
  })
}

longTest('without a passkey on the device the page says so, and goes on', async () => {
  const owner = await signIn(api, client.company)
  const { page, context } = await open(owner, '/account/security')
  const device = await addDevice(context, page)
  await page.getByLabel('Nome da chave de acesso').fill('Celular')
  await page.getByRole('button', { name: 'Adicionar chave de acesso' }).click()
  await page.locator('.codes').waitFor()
  await device.send('WebAuthn.disable')
  await addDevice(context, page)
  api.clock.advance(5 * 60)
  await page.goto(`${SITE}/account/confirm`)
  const button = page.locator('[data-passkey=get] button')
  await button.click()
  await page.getByText('Nenhuma chave de acesso foi usada').waitFor()
  assert.equal(await button.isEnabled(), true)
  await isAccessible(page)
})

for (const [language, visit] of [
  ['pt', PHONE],
  ['en', { dark: true }],
] as const) {
  longTest(`an app is set up by its secret and a code (${language})`, async () => {
    const owner = await signIn(api, client.company, { language })
    const { page } = await open(owner, '/account/security', visit)
    await page.locator('form[action="/account/security/app"] button').click()
    await page.locator('.qr img').waitFor()
    await looksRight(page)
    const secret = await page.locator('.copyable code').innerText()
    await page.locator('#code').fill('000000')
    await page.locator('main form button.button').click()
    await page.locator('#code[aria-invalid]').waitFor()
    await looksRight(page)
    await page.locator('#code').fill(codeOf(api, secret))
    await page.locator('main form button.button').click()
    await page.locator('.codes').waitFor()
    await page.locator('main a.button').click()
    await page.locator('.pill.good').waitFor()
    await looksRight(page)
    await page.locator('summary').first().click()
    await page.locator('form[action$="/app/remove"] button').click()
    await page.locator('form[action="/account/security/app"]').waitFor()
  })
}

longTest('an app is set up without JavaScript', async () => {
  const owner = await signIn(api, client.company)
  const { page } = await open(owner, '/account/security', { javaScript: false })
  await page.getByRole('button', { name: 'Configurar aplicativo' }).click()
  const secret = await page.locator('.copyable code').innerText()
  await page.locator('#code').fill(codeOf(api, secret))
  await page.getByRole('button', { name: 'Ativar' }).click()
  await page.getByText('Guarde seus códigos de recuperação').first().waitFor()
})

for (const [language, visit, words] of variants([
  ['pt', PHONE, { act: 'Entrar com chave de acesso', lost: 'Não tenho acesso a isso agora' }],
  ['en', {}, { act: 'Sign in with a passkey', lost: 'I cannot use this now' }],
])) {
  test(`people sign in with a code, with a recovery code, or by a passkey alone (${language})`, async () => {
    const owner = await signIn(api, client.company, { language })
    await givePassword(api, owner.person)
    const { secret, recoveryCodes } = await addApp(api, owner)
    api.clock.advance(30)
    const { page, context } = await open(owner, '/account/security', { ...visit, language })
    await addDevice(context, page)
    await page.locator('#name').fill('Celular')
    await page.locator('[data-passkey=create] button').click()
    await page.locator('.passkey').waitFor()
    const begin = async () => {
      await context.clearCookies()
      await page.goto(`${SITE}/sign-in?next=${owner.home}/customers`)
    }
    const givePasswordThere = async () => {
      await begin()
      await page.locator('#email').fill(owner.person.email)
      await page.locator('#password').fill(PASSWORD)
      await page.locator('form[action="/sign-in"] button').click()
      await page.locator('#code').waitFor()
    }
    await givePasswordThere()
    await looksRight(page)
    await page.locator('#code').fill('000000')
    await page.locator('#code').press('Enter')
    await page.locator('.notice.bad').waitFor()
    await looksRight(page)
    await page.locator('#code').fill(codeOf(api, secret))
    await page.locator('#code').press('Enter')
    await page.waitForURL(`${SITE}${owner.home}/customers`)
    await givePasswordThere()
    await page.getByText(words.lost).click()
    await page.locator('#recovery').fill(recoveryCodes[0]!)
    await page.locator('#recovery').press('Enter')
    await page.waitForURL(`${SITE}${owner.home}/customers`)
    await begin()
    await looksRight(page)
    await page.getByRole('button', { name: words.act }).click()
    await page.waitForURL(`${SITE}${owner.home}/customers`)
  })
}
