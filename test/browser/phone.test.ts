import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { payer, startApi } from '../support/api.ts'
import { longTest, variants } from '../support/long.ts'
import { at, linkTo, productOf } from '../support/pages.ts'
import { makeSubscription, makeTemplate, readSubscription } from '../support/subscriptions.ts'
import { breaksNoWord, browsing, fitsTheWindow, isAccessible, type Visit } from './support.ts'

const api = await startApi()
const { open } = browsing()
const client = await api.client({ name: 'Confeitaria Nossa Senhora Aparecida Ltda' })
const SMALL = { width: 390, height: 664 }
const TALL = { width: 390, height: 844 }

const pixUrl = async (fields: object = {}): Promise<string> => {
  const made = await client.post('/charge/pix', { amount: 123_456, customer: payer(), ...fields })
  assert.equal(made.status, 201, made.text)
  return at(api, made.body.data.url)
}

const agreementUrl = async (): Promise<string> => {
  const { id } = await makeSubscription(client, { name: 'Clube do café especial de todo mês' })
  return at(api, (await readSubscription(client, id)).paymentLinkUrl)
}

async function isInTheWindow(page: Page, selector: string): Promise<void> {
  const box = (await page.locator(selector).boundingBox())!
  const { height } = page.viewportSize()!
  assert.ok(box.y >= 0 && box.y + box.height <= height, `${selector} ends at ${box.y + box.height}`)
  assert.equal(await page.evaluate('scrollY'), 0)
}

test('on a phone the button that copies is seen without scrolling, and above the QR image', async () => {
  for (const url of [await pixUrl(), await pixUrl({ devMode: true }), await agreementUrl()]) {
    for (const size of variants([SMALL, TALL])) {
      for (const language of variants(['pt', 'en'])) {
        const page = await open(url, { phone: true, size, language })
        await isInTheWindow(page, '[data-copy]')
        const copy = (await page.locator('[data-copy]').boundingBox())!
        const qr = (await page.locator('.qr-box summary').boundingBox())!
        assert.ok(copy.y < qr.y)
        assert.equal(await page.locator('.qr img').isVisible(), false)
        await page.close()
      }
    }
  }
})

longTest('the QR image is shown when asked for, with and without JavaScript', async () => {
  const url = await pixUrl()
  for (const javaScript of [true, false]) {
    const page = await open(url, { phone: true, size: SMALL, javaScript })
    await page.getByText('Mostrar QR Code').click()
    const box = (await page.locator('.qr img').boundingBox())!
    assert.ok(box.width >= 240 && box.height === box.width)
    await page.getByText('Ocultar QR Code').click()
    assert.equal(await page.locator('.qr img').isVisible(), false)
  }
  const opened = await open(url, { phone: true, size: SMALL })
  await opened.getByText('Mostrar QR Code').click()
  await isAccessible(opened)
  await fitsTheWindow(opened)
})

longTest(
  'a wide window shows the QR image first, without being asked, even without JavaScript',
  async () => {
    for (const javaScript of [true, false]) {
      const page = await open(await pixUrl(), { javaScript })
      const qr = (await page.locator('.qr img').boundingBox())!
      const code = (await page.locator('#code').boundingBox())!
      assert.ok(qr.width >= 240 && qr.y < code.y)
      assert.equal(await page.getByText('Mostrar QR Code').isVisible(), false)
    }
  },
)

/** The page's time goes on only when a test moves it, however slow the machine is. */
async function stopTime(page: Page): Promise<void> {
  await page.clock.install({ time: 0 })
  await page.clock.pauseAt(1000)
}

longTest(
  'the time left is written in words, and below two minutes marked by sign, words and color',
  async () => {
    for (const dark of [false, true]) {
      const page = await open('about:blank', { phone: true, size: SMALL, dark })
      await stopTime(page)
      await page.goto(await pixUrl({ expiresIn: 750 }))
      const pill = page.locator('.countdown')
      assert.equal(await pill.innerText(), 'Expira em 12 min 30 s')
      assert.equal(await page.locator('[data-soon]').innerText(), '')
      const calm = await colorsOf(page)
      await page.clock.runFor(630_000)
      assert.equal(await pill.innerText(), 'Expira em 2 min 00 s')
      assert.deepEqual(await colorsOf(page), calm)
      await page.clock.runFor(1000)
      assert.equal(await pill.innerText(), 'Expira em 1 min 59 s')
      assert.notDeepEqual(await colorsOf(page), calm)
      assert.ok(await page.locator('.deadline > .late').isVisible())
      await page.clock.runFor(60_000)
      assert.equal(await pill.innerText(), 'Expira em 59 s')
      await page.clock.resume()
      await isAccessible(page)
    }
  },
)

const colorsOf = (page: Page): Promise<string[]> =>
  page.evaluate(`(({ color, backgroundColor }) => [color, backgroundColor])(
    getComputedStyle(document.querySelector('.deadline')))`)

longTest('the last minutes are announced once, and no tick of the clock is', async () => {
  const page = await open('about:blank')
  await stopTime(page)
  await page.goto(await pixUrl({ expiresIn: 125 }))
  await page.evaluate(`window.said = []; new MutationObserver((changes) => {
    for (const { target } of changes) said.push(target.textContent)
  }).observe(document.querySelector('[data-soon]'), { childList: true })`)
  await page.clock.runFor(20_000)
  assert.deepEqual(await page.evaluate('said'), ['Este Pix expira em menos de 2 minutos.'])
  assert.equal(await page.locator('.timer').getAttribute('role'), 'timer')
  assert.equal(await page.locator('.deadline').getAttribute('aria-live'), null)
})

longTest('of hours the seconds are left out, and of days the date is shown', async () => {
  const hours = await open(await pixUrl({ expiresIn: 3 * 3600 + 300 }))
  assert.match(await hours.locator('.countdown').innerText(), /^Expira em 3 h 0\d min$/)
  const days = await open(await pixUrl({ expiresIn: 3 * 86_400 }))
  const until = 'Válido até 23/08/2026 às 12:00'
  assert.equal(await days.locator('.deadline').innerText(), until)
  const bare = await open(await pixUrl({ expiresIn: 100 }), { javaScript: false })
  assert.equal(await bare.locator('.deadline').innerText(), 'Válido até 20/08/2026 às 12:01')
  assert.ok(await bare.locator('.deadline.soon .late').isVisible())
})

longTest(
  'no word of ours breaks in two, and nothing sticks out, on phones and in both languages',
  async () => {
    const bread = await productOf(client, { name: 'Pão de queijo congelado', price: 2490 })
    const items = [{ productId: bread, quantity: 2 }]
    const paid = await pixUrl()
    const code = await (await open(paid)).inputValue('#code')
    await api.call('POST', '/bank/pix', { json: { brCode: code } })
    const urls = [
      await pixUrl({ devMode: true }),
      paid,
      await agreementUrl(),
      await linkTo(api, client, { items, total: 4000, needShipping: true }),
      at(api, (await makeTemplate(client)).url),
    ]
    const visits: Visit[] = [
      { phone: true, size: SMALL },
      { phone: true, size: { width: 320, height: 640 }, language: 'en' },
      { language: 'en', dark: true },
    ]
    for (const visit of visits) {
      for (const url of urls) {
        const page = await open(url, visit)
        await breaksNoWord(page)
        await fitsTheWindow(page)
        await page.close()
      }
    }
  },
)
