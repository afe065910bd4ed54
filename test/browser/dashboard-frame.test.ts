import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { makeUnmatched } from '../support/payments.ts'
import { browsing, fitsTheWindow, isAccessible, type Visit } from './support.ts'

const api = await startApi()
const browser = browsing()
const client = await api.client()
await makeUnmatched(api, client, 700)

const PHONE = { phone: true, size: { width: 390, height: 844 } } as const
const DESKTOP = { size: { width: 1280, height: 800 } } as const

async function open(path: string, visit: Visit, role: 'owner' | 'support' = 'owner') {
  const { context } = await browser.visitor(visit)
  const member = await signIn(api, client.company, { role })
  await useSessionIn(context, api, member)
  const page = await context.newPage()
  await page.goto(api.url + (path.startsWith('//') ? path.slice(1) : member.home + path))
  return { page, home: member.home }
}

const namesOn = (page: Page) => page.locator('.bottom-bar > :is(a, details)').allInnerTexts()

test('a phone has four sections on its bar and all others behind one button, without scripts', async () => {
  const { page, home } = await open('/customers', { ...PHONE, javaScript: false })
  const shown = (await namesOn(page)).map((name) => name.split('\n')[0])
  assert.deepEqual(shown, ['Hoje', 'Cobranças', 'Cobrar', 'Extrato', 'Mais'])
  assert.equal(await page.locator('nav.menu').isVisible(), false)
  const unmatched = page.getByRole('link', { name: 'Pix sem cobrança' })
  assert.equal(await unmatched.isVisible(), false)
  await page.locator('.bottom-bar summary').click()
  assert.match(await unmatched.innerText(), /1/)
  await fitsTheWindow(page)
  await unmatched.click()
  assert.equal(new URL(page.url()).pathname, `${home}/unmatched`)
})

test('what a role may not see is not on its bar either', async () => {
  const { page } = await open('/charges', PHONE, 'support')
  const shown = (await namesOn(page)).map((name) => name.split('\n')[0])
  assert.deepEqual(shown, ['Hoje', 'Cobranças', 'Cobrar', 'Clientes', 'Mais'])
})

test('nothing is hidden behind the bar, and Escape closes what opens over the page', async () => {
  const { page } = await open('/settings', PHONE)
  const bar = (await page.locator('.bottom-bar').boundingBox())!
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  const foot = (await page.locator('.foot').boundingBox())!
  assert.ok(foot.y + foot.height <= bar.y + 1, 'the end of the page is above the bar')
  await page.locator('.bottom-bar summary').click()
  await isAccessible(page)
  await page.keyboard.press('Escape')
  assert.equal(await page.locator('.bottom-bar .sheet').isVisible(), false)
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'SUMMARY')
})

test('a keyboard reaches the content, or on a phone the menu, with two keys', async () => {
  const wide = await open('/charges', DESKTOP)
  await wide.page.keyboard.press('Tab')
  await wide.page.keyboard.press('Enter')
  await wide.page.waitForURL(/#main$/)
  assert.equal(await wide.page.locator('.bottom-bar').isVisible(), false)
  const narrow = await open('/charges', PHONE)
  await narrow.page.keyboard.press('Tab')
  await narrow.page.keyboard.press('Tab')
  await narrow.page.keyboard.press('Enter')
  await narrow.page.waitForURL(/#menu$/)
})

test('an unknown address keeps the menu and leads back, in every size', async () => {
  for (const visit of [PHONE, DESKTOP]) {
    const { page, home } = await open('/no/such/page', visit)
    const menu = visit === PHONE ? '.bottom-bar' : 'nav.menu'
    assert.ok(await page.locator(menu).isVisible())
    await isAccessible(page)
    await page.getByRole('link', { name: 'Voltar ao início' }).click()
    assert.equal(new URL(page.url()).pathname, home)
  }
  const { page } = await open('//account/no-such-page', PHONE)
  await isAccessible(page)
  await page.getByRole('link', { name: 'Voltar ao início' }).click()
  await page.getByRole('heading', { name: 'Hoje', exact: true }).waitFor()
})

test('the language is switched at the top, and the page stays', async () => {
  const { page } = await open('/charges', PHONE)
  await page.getByRole('button', { name: 'EN' }).click()
  await page.getByRole('heading', { name: 'Charges' }).waitFor()
})
