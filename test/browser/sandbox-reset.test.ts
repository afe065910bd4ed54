import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { ask, startLocal } from './local.ts'
import { browsing, fitsTheWindow, isAccessible } from './support.ts'

const local = await startLocal()
const browser = browsing()

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const statusOf = async (apiKey: string) =>
  (await local.call('GET', '/company', { headers: { 'X-API-KEY': apiKey } })).status

/** The key that the front page shows. */
const shownKey = async () =>
  /vk_sandbox_\w+/.exec((await local.call('GET', '/')).text)?.[0] ?? 'no key'

test('a button makes a fresh sandbox company: its key is shown at once, the former one is refused', async () => {
  const former = await shownKey()
  const page = await browser.open(`${local.url}/`, { phone: true })
  const button = page.getByRole('button', { name: 'Criar nova empresa de testes' })
  assert.equal(await button.isVisible(), false, 'one click is not enough')
  await page.getByText('Começar do zero').click()
  await isAccessible(page)
  await fitsTheWindow(page)
  await button.click()
  await page.getByRole('status').getByText('Nova empresa de testes criada').waitFor()
  assert.equal(new URL(page.url()).hash, '#key', 'a phone shows the key without a search for it')
  const key = await page.locator('code.key').innerText()
  assert.notEqual(key, former)
  assert.ok((await page.locator('pre').first().innerText()).includes(key), 'calls have it too')
  assert.deepEqual([await statusOf(former), await statusOf(key)], [401, 200])
  await isAccessible(page)
  await fitsTheWindow(page)
})

longTest('it works without scripts, in English and in the dark', async () => {
  const page = await browser.open(`${local.url}/?lang=en`, { javaScript: false, dark: true })
  await page.getByText('Start over').click()
  await page.getByRole('button', { name: 'Create a new sandbox company' }).click()
  await page.getByText('A new sandbox company was created').waitFor()
  assert.equal(await page.locator('code.key').innerText(), await shownKey())
  assert.equal(new URL(page.url()).search, '?fresh&lang=en')
})

test('no other site and no other name can reset the sandbox, and a server has none', async () => {
  const key = await shownKey()
  const post = (headers: Record<string, string>) =>
    ask(local, 'POST', '/sandbox/reset', { ...FORM, ...headers })
  for (const site of ['cross-site', 'same-site']) {
    assert.equal((await post({ 'sec-fetch-site': site })).status, 400, site)
  }
  assert.equal((await post({ host: 'evil.example' })).status, 404)
  assert.equal(await shownKey(), key)
  assert.equal(await statusOf(key), 200)
  const elsewhere = await ask(local, 'GET', '/', { host: 'evil.example' })
  assert.doesNotMatch(elsewhere.text, /sandbox\/reset/)
  const server = await startApi({}, { local: false })
  assert.equal((await ask(server, 'POST', '/sandbox/reset', FORM)).status, 404)
  assert.doesNotMatch((await server.call('GET', '/')).text, /sandbox\/reset/)
})
