import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { payer, startApi } from '../support/api.ts'
import { at } from '../support/pages.ts'
import { browsing, fitsTheWindow, isAccessible } from './support.ts'

const api = await startApi()
const { open } = browsing()

/** The page of a company whose image is this; it is of the page's own server, as all it loads. */
async function pageWith(image: string): Promise<Page> {
  const imageUrl = `${api.url}/logo.svg`
  const client = await api.client({ name: 'Padaria São João', imageUrl })
  const made = await client.post('/charge/pix', { amount: 1990, customer: payer() })
  const page = await open('about:blank', { phone: true })
  await page.route('**/logo.svg', (route) =>
    route.fulfill({ body: image, contentType: 'image/svg+xml' }),
  )
  await page.goto(at(api, made.body.data.url))
  return page
}

const drawing = (width: number, height: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%"/></svg>`

test('an image of any shape fits beside the name, whole and not stretched', async () => {
  for (const [width, height] of [
    [40, 40],
    [1200, 60],
    [60, 1200],
    [4000, 4000],
    [1, 1],
  ] as const) {
    const page = await pageWith(drawing(width, height))
    const logo = (await page.locator('.logo').boundingBox())!
    assert.ok(logo.height === 40 && logo.width >= 40 && logo.width <= 170, JSON.stringify(logo))
    const fit = await page.evaluate(
      `getComputedStyle(document.querySelector('.logo img')).objectFit`,
    )
    assert.equal(fit, 'contain')
    const name = (await page.locator('.name').boundingBox())!
    assert.ok(name.x >= logo.x + logo.width && name.width > 100)
    await fitsTheWindow(page)
    await page.close()
  }
  await isAccessible(await pageWith(drawing(300, 100)))
})

test('an image that cannot be shown leaves the initial of the name', async () => {
  const page = await pageWith('this is no image')
  await page.locator('.logo img').waitFor({ state: 'detached' })
  const logo = (await page.locator('.logo').boundingBox())!
  assert.deepEqual([logo.width, logo.height], [40, 40])
  assert.equal(await page.locator('.initial').innerText(), 'P')
  await isAccessible(page)
})
