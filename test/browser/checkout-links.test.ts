import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventsOf, payer, startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { ADDRESS, at, linkTo, productOf } from '../support/pages.ts'
import { browsing, fitsTheWindow, INJECTION, isAccessible, showsAsText } from './support.ts'

const api = await startApi()
const { open } = browsing()

async function fillAddress(page: Page, fields: Partial<typeof ADDRESS> = {}): Promise<void> {
  for (const [name, value] of Object.entries({ ...ADDRESS, ...fields })) {
    if (name === 'state') await page.selectOption('#state', value)
    else await page.fill(`#${name}`, value)
  }
}

const goOn = (page: Page) => page.getByRole('button', { name: 'Continuar' }).click()

test('a link with shipping asks where to send it, then gives the code, and is paid', async () => {
  const client = await api.client()
  const bread = await productOf(client, { name: 'Pão de queijo', price: 2490 })
  const items = [{ productId: bread, quantity: 2 }]
  const made = await client.post('/charge/payment-link', {
    customer: payer(),
    items,
    needShipping: true,
    successUrl: 'https://loja.example/ok',
  })
  const { id, url } = made.body.data
  const page = await open(at(api, url), { phone: true })
  assert.match(await page.locator('main').innerText(), /2 × Pão de queijo\s+R\$ 49,80/)
  await isAccessible(page)
  await fitsTheWindow(page)
  await fillAddress(page)
  assert.equal(await page.inputValue('#postalCode'), '01310-100')
  await goOn(page)
  await page.locator('main[data-state=open]').waitFor()
  await isAccessible(page)
  const shown = (await client.get(`/charge/${id}`)).body.data
  assert.equal(shown.paymentStatus, 'PROCESSING')
  assert.deepEqual(shown.shipping, { ...ADDRESS, postalCode: '01310100' })
  await api.call('POST', '/bank/pix', { json: { brCode: await page.inputValue('#code') } })
  await page.locator('main[data-state=paid]').waitFor()
  await page.getByRole('button', { name: 'Ficar nesta página' }).click()
  assert.equal(await page.locator('[data-leave]').isVisible(), false)
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.deepEqual(types, ['charge.pending', 'charge.processing', 'charge.paid'])
})

longTest(
  'an address that cannot be is refused at its field, in the browser and by the server',
  async () => {
    const client = await api.client()
    const url = await linkTo(api, client, { total: 5000, needShipping: true })
    const page = await open(url)
    await goOn(page)
    assert.equal(await page.evaluate('document.activeElement.id'), 'postalCode')
    await page.fill('#postalCode', '0131')
    await page.locator('#address').focus()
    assert.match(await page.locator('#postalCode-fault').innerText(), /CEP/)
    assert.equal(await page.getAttribute('#postalCode', 'aria-invalid'), 'true')
    await isAccessible(page)
    await fillAddress(page, { state: 'RJ' })
    await goOn(page)
    await page.getByText('Este CEP não pertence ao estado escolhido.').waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'state')
    assert.equal(await page.inputValue('#address'), ADDRESS.address)
    await isAccessible(page)
  },
)

longTest('one press of the button is enough, from a field that is wrong too', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000, needShipping: true })
  const page = await open(url)
  await fillAddress(page, { city: '' })
  await page.fill('#postalCode', '0131')
  await page.locator('form .button').scrollIntoViewIfNeeded()
  const { x, y, width } = (await page.locator('form .button').boundingBox())!
  await page.mouse.click(x + width / 2, y + 4)
  assert.equal(await page.getAttribute('#city', 'aria-invalid'), 'true')
  assert.equal(await page.getAttribute('#postalCode', 'aria-invalid'), 'true')
  assert.equal(await page.evaluate('document.activeElement.id'), 'postalCode')
})

longTest('a link with shipping works without JavaScript', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000, needShipping: true })
  const page = await open(url, { javaScript: false })
  await fillAddress(page, { state: 'RJ' })
  await goOn(page)
  await page.getByText('Este CEP não pertence ao estado escolhido.').waitFor()
  await page.selectOption('#state', 'SP')
  await goOn(page)
  await page.locator('main[data-state=open]').waitFor()
})

longTest('the page of a link that is opened twice shows one code', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000 })
  const [first, second] = await Promise.all([open(url), open(url)])
  await second.locator('main[data-state=open]').waitFor()
  await first.locator('main[data-state=open]').waitFor()
  assert.equal(await first.inputValue('#code'), await second.inputValue('#code'))
})

test('whatever merchants and payers write is shown as text', async () => {
  const client = await api.client({ name: INJECTION })
  const product = await productOf(client, { name: INJECTION, description: INJECTION, price: 900 })
  const customer = payer({ name: INJECTION })
  const items = [{ productId: product, quantity: 1 }]
  const url = await linkTo(api, client, {
    customer,
    items,
    needShipping: true,
    externalId: INJECTION,
    successUrl: `https://loja.example/?${encodeURI(INJECTION)}`,
  })
  const page = await open(url)
  await showsAsText(page, INJECTION)
  await isAccessible(page)
  const written = Object.fromEntries(Object.keys(ADDRESS).map((name) => [name, INJECTION]))
  const { state: _, postalCode: __, ...others } = written
  for (const [name, value] of Object.entries({ ...others, number: INJECTION.slice(0, 19) })) {
    await page.fill(`#${name}`, value)
  }
  await page.fill('#postalCode', '01310-100')
  await page.selectOption('#state', 'RJ')
  await goOn(page)
  await page.getByText('Este CEP não pertence ao estado escolhido.').waitFor()
  assert.equal(await page.inputValue('#address'), INJECTION)
  await showsAsText(page, INJECTION)
  await page.selectOption('#state', 'SP')
  await goOn(page)
  await page.locator('main[data-state=open]').waitFor()
  await showsAsText(page, INJECTION)
  await api.call('POST', '/bank/pix', { json: { brCode: await page.inputValue('#code') } })
  await page.locator('main[data-state=paid]').waitFor()
  await showsAsText(page, INJECTION)
})
