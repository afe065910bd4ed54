import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { ask, startLocal } from './local.ts'
import { breaksNoWord, browsing, fitsTheWindow, isAccessible } from './support.ts'

const local = await startLocal()
const browser = browsing()

test('the front page says where one is and what runs, and leads everywhere', async () => {
  const page = await browser.open(`${local.url}/`, { phone: true })
  // A busy machine needs a moment until the worker is known to run.
  const shownOn = () => page.locator('main').innerText()
  while (!(await shownOn()).includes('Rodando')) await page.reload()
  const text = await shownOn()
  const [server] = await local.rows<{ version: string }>(
    `select split_part(current_setting('server_version'), '.', 1) as version`,
  )
  const postgres = `PostgreSQL ${server!.version}`
  for (const shown of ['http://vintem.test', '0.1.0', postgres, 'Rodando', local.apiKey]) {
    assert.ok(text.includes(shown), shown)
  }
  await isAccessible(page)
  await fitsTheWindow(page)
  for (const [name, path] of [
    ['Banco simulado', '/bank'],
    ['E-mails enviados', '/mailbox'],
    ['Guias', '/guides'],
    ['Referência da API', '/docs'],
  ] as const) {
    const link = page.getByRole('main').getByRole('link', { name })
    assert.equal(await link.getAttribute('href'), path)
    assert.equal((await local.call('GET', path)).status, 200)
  }
})

test('its three calls work as they are: create, pay, read', async () => {
  const page = await browser.open(`${local.url}/`)
  const calls: string[] = []
  for (const button of await page.getByRole('button', { name: 'a chamada' }).all()) {
    await button.click()
    calls.push(await page.evaluate<string>('navigator.clipboard.readText()'))
  }
  assert.deepEqual(calls, await page.locator('pre').allInnerTexts())
  const script = calls.map((call) => call.replaceAll('http://vintem.test', local.url)).join('\n')
  const { stdout: output } = await promisify(execFile)('bash', ['-euc', script])
  assert.match(output, /^"id":"charge_\w+"\n"brCode":"000201[^"]+"\n"url":"[^"]+\/pay\/[\w-]+"\n/)
  const [, paid, read] = /(\{"status":201.*?\})(\{"status":200.*\})$/s.exec(output.trim())!
  const { data } = JSON.parse(read!)
  assert.equal(JSON.parse(paid!).data.chargeId, data.id)
  assert.deepEqual([data.status, data.paymentStatus], ['COMPLETED', 'PAID'])
})

longTest('the key is copied by a button, and marked by hand without scripts', async () => {
  const page = await browser.open(`${local.url}/`)
  await page.getByRole('button', { name: 'Copiar a chave' }).click()
  await page.getByRole('button', { name: 'Copiado a chave' }).waitFor()
  assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), local.apiKey)
  const plain = await browser.open(`${local.url}/`, { javaScript: false })
  assert.equal(await plain.getByRole('button', { name: 'Copiar' }).count(), 0)
  assert.equal(await plain.locator('code.key').innerText(), local.apiKey)
})

longTest(
  'no word breaks in two on a phone, and the language of the browser is spoken',
  async () => {
    for (const [language, tag] of [
      ['pt', 'pt-BR'],
      ['en', 'en'],
    ] as const) {
      for (const path of ['/', '/bank', '/mailbox', '/pay/short']) {
        const size = { width: 390, height: 664 }
        const page = await browser.open(local.url + path, { phone: true, size, language })
        assert.equal(await page.getAttribute('html', 'lang'), tag, path)
        await breaksNoWord(page)
        await fitsTheWindow(page)
      }
    }
  },
)

longTest('English is spoken when it is asked for, and in the dark it can be read', async () => {
  const page = await browser.open(`${local.url}/?lang=en`, { dark: true })
  await page.getByRole('heading', { name: 'Vintém is running' }).waitFor()
  await isAccessible(page)
  await page.getByRole('navigation').getByRole('link', { name: 'Bank' }).click()
  await page.getByRole('heading', { name: 'Simulated bank' }).waitFor()
  await isAccessible(page)
})

test('key and mails are shown at home only: under no other name, and on no server', async () => {
  const elsewhere = await ask(local, 'GET', '/', { host: 'evil.example' })
  assert.equal(elsewhere.status, 200)
  assert.doesNotMatch(elsewhere.text, /vk_sandbox_/)
  const server = await startApi({}, { local: false })
  const page = await browser.open(`${server.url}/`)
  const text = await page.locator('body').innerText()
  assert.doesNotMatch(text, /vk_|E-mails|Banco simulado/)
  assert.match(text, /Parado: inicie um com --role worker/)
  assert.match(text, /VINTEM_KEY/)
  assert.equal((await server.call('GET', '/mailbox')).status, 404)
  await isAccessible(page)
  await server.client()
  await page.reload()
  await page.getByRole('link', { name: 'Banco simulado' }).waitFor()
})
