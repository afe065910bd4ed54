import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { cleanImage } from '../../packages/images/src/clean-image.ts'
import { payer, startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { startReceiver } from '../support/receiver.ts'
import { openDeliveryWorker } from '../support/webhooks.ts'
import { browsing, fitsTheWindow, isAccessible } from './support.ts'

const api = await startApi()
const browser = browsing()
const delivering = openDeliveryWorker(api)

const SIZES = { phone: { width: 390, height: 800 }, desktop: { width: 1280, height: 800 } }

async function looksRight(page: Page): Promise<void> {
  await isAccessible(page)
  await fitsTheWindow(page)
}

for (const [phone, language, javaScript] of [
  [true, 'pt', true],
  [false, 'en', true],
  [true, 'en', false],
] as const) {
  const how = `${phone ? 'phone' : 'desktop'}, ${language}, ${javaScript ? 'with' : 'no'} scripts`
  test(`a key and a webhook are made, and a failed delivery is sent again: ${how}`, async () => {
    const client = await api.client()
    const owner = await signIn(api, client.company, { language })
    const receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(500).end('not yet')
    const size = phone ? SIZES.phone : SIZES.desktop
    const visitor = await browser.visitor({ phone, size, language, javaScript })
    await useSessionIn(visitor.context, api, owner)
    const page = await visitor.open(`${api.url}${owner.home}/developers`)
    // Without scripts axe cannot run.
    const check = async () => (javaScript ? looksRight(page) : fitsTheWindow(page))
    const go = (path: string) => page.goto(`${api.url}${owner.home}${path}`)
    const press = (name: RegExp) => page.getByRole('main').getByRole('button', { name }).click()
    await check()

    await go('/developers/keys/new')
    await check()
    await page.fill('#name', 'W'.repeat(255))
    await press(/Criar chave|Create a key/)
    assert.match(await page.locator('.copyable code').innerText(), /^vk_sandbox_\w+$/)
    await check()
    await go('/developers/keys')
    await check()

    await go('/developers/webhooks/new')
    await page.fill('#name', 'Loja')
    await page.fill('#url', receiver.url)
    await page.check('[name="charge.pending"]')
    await check()
    await press(/Criar webhook|Create a webhook/)
    assert.match(await page.locator('.copyable code').innerText(), /^whsec_/)
    await check()
    await page.getByRole('link', { name: /Já copiei|I have copied/ }).click()
    await client.post('/charge/pix', { amount: 700, customer: payer() })
    await delivering.run()

    await go('/developers/deliveries')
    await check()
    await page.getByRole('link', { name: /Cobrança criada|Charge created/ }).click()
    await page.getByText('HTTP 500').first().waitFor()
    await check()
    receiver.answer = (response) => response.end('ok')
    await press(/Enviar de novo|Send again/)
    await page.getByText(/enviada de novo|sent again/).waitFor()
    await delivering.run()
    await page.reload()
    await page.getByText(/^(Entregue|Delivered)$/).waitFor()

    const places = ['/developers/webhooks', '/developers/events', '/settings', '/settings/logo']
    for (const path of [...places, '/settings/bank', '/settings/version']) {
      await go(path)
      await check()
    }
    await go('/developers/events')
    await page.getByRole('link', { name: /Cobrança criada|Charge created/ }).click()
    await page.locator('pre', { hasText: 'Charge.Pending' }).waitFor()
    await check()
  })
}

test('the preview follows the color that is typed', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const visitor = await browser.visitor()
  await useSessionIn(visitor.context, api, owner)
  const page = await visitor.open(`${api.url}${owner.home}/settings`)
  await page.fill('#color', '#ffffff')
  await page.getByText('Texto preto sobre esta cor: contraste de 21,0 para 1.').waitFor()
})

test('a browser shows images that were rebuilt', async () => {
  const page = await browser.open(`${api.url}/sign-in`)
  for (const type of ['png', 'jpeg'] as const) {
    const shot = await page.screenshot({ type, clip: { x: 0, y: 0, width: 120, height: 90 } })
    const cleaned = await cleanImage(shot, 2048)
    assert.ok(cleaned, type)
    const url = `data:${cleaned.type};base64,${cleaned.bytes.toString('base64')}`
    const size = await page.evaluate<number[]>(
      `(async () => {
        const image = new Image()
        image.src = ${JSON.stringify(url)}
        await image.decode()
        return [image.naturalWidth, image.naturalHeight]
      })()`,
    )
    assert.deepEqual(size, [120, 90])
  }
})
