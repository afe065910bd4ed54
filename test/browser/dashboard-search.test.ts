import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { payer, startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { variants } from '../support/long.ts'
import { makeCharge } from '../support/payments.ts'
import {
  browsing,
  fitsTheWindow,
  INJECTION,
  isAccessible,
  showsAsText,
  type Visit,
} from './support.ts'

const api = await startApi()
const { visitor } = browsing()

const PHONE = { phone: true, size: { width: 390, height: 844 } }

const inBox = async (page: Page) => (await page.locator('#find-all:focus').count()) === 1

async function enter(visit: Visit, language: 'pt' | 'en') {
  const client = await api.client()
  const charge = await makeCharge(client, 1990, { customer: payer({ name: 'Ana da Silva' }) })
  const other = payer({ name: `Silva ${INJECTION}`, taxId: '11144477735' })
  await makeCharge(client, 700, { customer: other })
  const support = await signIn(api, client.company, { role: 'support', language })
  const { context, open } = await visitor({ ...visit, language })
  await useSessionIn(context, api, support)
  return { charge, open: (path: string) => open(`${api.url}${support.home}${path}`) }
}

for (const [visit, language] of variants<[Visit, 'pt' | 'en']>([
  [{}, 'pt'],
  [{ ...PHONE, dark: true }, 'en'],
  [PHONE, 'pt'],
  [{ dark: true }, 'en'],
])) {
  test(`support finds a payer and the charge with the keyboard alone: ${JSON.stringify([visit, language])}`, async () => {
    const { charge, open } = await enter(visit, language)
    const page = await open('/settings')
    await page.keyboard.press('/')
    assert.ok(await inBox(page))
    await page.keyboard.type('8888')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/search\?q=8888/)
    await isAccessible(page)
    await fitsTheWindow(page)
    await showsAsText(page, INJECTION)
    await page.keyboard.press('Control+k')
    assert.ok(await inBox(page))
    await page.keyboard.type('ana da si/')
    assert.equal(await page.locator('#find-all').inputValue(), 'ana da si/', 'it has replaced 8888')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/search\?q=ana/)
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp'])
      await page.keyboard.press(key)
    assert.ok(await inBox(page), 'up from the first result is the box')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/charges/${charge.id}`))
  })
}

test('a slash is a slash where somebody writes, and without scripts the form is one', async () => {
  const { open } = await enter({}, 'pt')
  const page = await open('/customers?q=')
  const field = page.locator('main input[name=q]')
  await field.focus()
  await page.keyboard.type('a/b')
  assert.equal(await field.inputValue(), 'a/b')
  assert.ok(!(await inBox(page)))
  const { open: openPlain } = await enter({ javaScript: false }, 'pt')
  const plain = await openPlain('')
  await plain.locator('#find-all').fill('silva')
  await plain.locator('#find-all').press('Enter')
  await plain.waitForURL(/\/search\?q=silva/)
  assert.ok(await plain.getByRole('heading', { name: 'Clientes' }).isVisible())
})
