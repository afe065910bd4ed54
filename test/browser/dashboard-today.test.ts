import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, payer, startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { longTest } from '../support/long.ts'
import { makeCharge, makePaid, makeUnmatched, pay } from '../support/payments.ts'
import {
  browsing,
  fitsTheWindow,
  INJECTION,
  isAccessible,
  showsAsText,
  type Visit,
} from './support.ts'

const api = await startApi()
const browser = browsing()

const SIZES = { phone: { width: 390, height: 844 }, wide: { width: 1280, height: 800 } }
const VISITS: (Visit & { language: 'pt' | 'en' })[] = [
  { phone: true, size: SIZES.phone, language: 'pt' },
  { size: SIZES.wide, language: 'pt', dark: true },
  { phone: true, size: SIZES.phone, language: 'en', dark: true },
  { size: SIZES.wide, language: 'en' },
]

async function visit(client: Client, given: Visit & { language?: 'pt' | 'en' }) {
  const member = await signIn(api, client.company, { language: given.language ?? 'pt' })
  const visitor = await browser.visitor(given)
  await useSessionIn(visitor.context, api, member)
  return { home: `${api.url}${member.home}`, open: visitor.open }
}

const busy = await api.client()
for (let day = 0; day < 5; day++) {
  await makePaid(api, busy, 1_234_50 + day * 7_000)
  api.clock.advance(30 * 3600)
}
await makeUnmatched(api, busy, 4_400)
await makeCharge(busy, 2_990, { customer: payer({ name: INJECTION }) })
await makeCharge(busy, 2_990, { customer: payer({ name: 'W'.repeat(255) }) })

for (const given of VISITS) {
  const { language, dark, phone } = given
  const how = `${phone ? 'on a phone' : 'in a wide window'}, ${language}${dark ? ', dark' : ''}`

  longTest(`Today can be used by everybody ${how}`, async () => {
    const { home, open } = await visit(busy, given)
    for (const path of ['', '?days=90', '/reports', '/reports?by=week']) {
      const page = await open(home + path)
      await page.locator('.points').waitFor()
      await isAccessible(page)
      await fitsTheWindow(page)
      if (path.startsWith('/reports')) continue
      await page.locator('.chart + details summary').click()
      await page.locator('.chart + details table').waitFor()
      await fitsTheWindow(page)
      await showsAsText(page, INJECTION)
    }
    const fresh = await visit(await api.client(), given)
    const page = await fresh.open(fresh.home)
    await page.locator('.first-steps').waitFor()
    await isAccessible(page)
    await fitsTheWindow(page)
  })
}

test('a charge is seen to be paid without a click', async () => {
  const client = await api.client()
  const { home, open } = await visit(client, { language: 'pt' })
  const page = await open(home)
  const { brCode } = await makeCharge(client, 4_321)
  await page.locator('#newest .pill', { hasText: 'Em aberto' }).waitFor()
  await pay(api, brCode)
  await page.locator('#newest .pill', { hasText: 'Paga' }).waitFor()
  await page.locator('#figures strong', { hasText: 'R$ 43,21' }).first().waitFor()
  assert.equal(await page.locator('.first-steps').count(), 0)
})

test('a chart shows its values under a pointer and by keyboard, without scripts', async () => {
  const { home, open } = await visit(busy, { javaScript: false, language: 'pt' })
  const page = await open(`${home}/reports?period=7d`)
  const shown = page.locator('.tip:visible')
  assert.equal(await shown.count(), 0)
  await page.locator('.point').last().hover()
  await shown.waitFor()
  assert.equal(await shown.count(), 1)
  const [last] = await shown.allInnerTexts()
  assert.match(last!, /Este período: R\$ /)
  await page.mouse.move(0, 0)
  // One stop of the keyboard for all bars: its arrows go from one to the next.
  await page.locator('.points input').first().focus()
  for (let i = 1; i < 7; i++) await page.keyboard.press('ArrowRight')
  assert.deepEqual(await shown.allInnerTexts(), [last])
  await page.keyboard.press('Tab')
  assert.equal(await page.locator('.points input:focus').count(), 0)
  await fitsTheWindow(page)
})

longTest('without scripts the page says the same, and a link asks for it again', async () => {
  const client = await api.client()
  await makePaid(api, client, 990)
  const { home, open } = await visit(client, { javaScript: false })
  const page = await open(home)
  const { brCode } = await makeCharge(client, 4_321)
  await pay(api, brCode)
  await page.getByRole('link', { name: 'Atualizar' }).click()
  await page.locator('#figures strong', { hasText: 'R$ 53,11' }).first().waitFor()
  await page.getByRole('link', { name: '90 dias' }).click()
  assert.equal(await page.locator('.bar').count(), 90)
})
