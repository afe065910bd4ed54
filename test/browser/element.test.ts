import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { textOf } from '../guides/samples.ts'
import { payer, startApi } from '../support/api.ts'
import { linkTo } from '../support/pages.ts'
import { decode } from '../support/qr.ts'
import { browsing, isAccessible, type Visit } from './support.ts'

const api = await startApi()
const { open } = browsing()
const client = await api.client({ name: 'Padaria São João' })
/** The page of the guide. */
const GUIDE = /```html\n([\s\S]*?)```/.exec(textOf('element'))![1]!

/** The page of a shop, which allows nothing but its files and Vintém. */
const shop = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://shop.example')
  if (pathname === '/shop.js') {
    const script = `window.states = []
      document.addEventListener('state', ({ detail }) => states.push(detail.state))`
    return response.setHeader('Content-Type', 'text/javascript').end(script)
  }
  response.setHeader('Content-Type', 'text/html; charset=utf-8')
  if (pathname === '/thanks') return response.end('<title>Loja</title><h1>Obrigado!</h1>')
  if (pathname === '/guide') {
    const own = GUIDE.replace('http://127.0.0.1:3000/element/…', searchParams.get('src')!)
    return response.end(own.replaceAll('http://127.0.0.1:3000', api.url))
  }
  response.setHeader(
    'Content-Security-Policy',
    `default-src 'none'; script-src 'self' ${api.url}; connect-src ${api.url}`,
  )
  response.end(`<!doctype html><html lang="${searchParams.get('lang') ?? 'pt-BR'}"><title>Loja</title>
<script src="/shop.js"></script><script type="module" src="${api.url}/element.js"></script>
<main><h1>Pedido</h1><vintem-pix src="${searchParams.get('src')}"></vintem-pix></main></html>`)
})
await once(shop.listen(0, '127.0.0.1'), 'listening')
after(() => shop.close())
const shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`

type Made = { id: string; brCode: string; src: string }

async function makeCharge(fields: object = {}): Promise<Made> {
  const made = await client.post('/charge/pix', { amount: 123_456, customer: payer(), ...fields })
  assert.equal(made.status, 201, made.text)
  const { id, brCode } = made.body.data
  const found = await client.get(`/charge/${id}/element`)
  assert.equal(found.status, 200, found.text)
  return { id, brCode, src: found.body.data.src.replace('http://vintem.test', api.url) }
}

type Showing = Visit & { lang?: string }
const show = (src: string, { lang = 'pt-BR', ...visit }: Showing = {}) =>
  open(`${shopUrl}/?${new URLSearchParams({ src, lang })}`, { mayAsk: api.url, ...visit })

const pay = async (brCode: string) => {
  const paid = await api.call('POST', '/bank/pix', { json: { brCode } })
  assert.equal(paid.status, 201, paid.text)
}

const states = (page: Page) => page.evaluate<string[]>('window.states')
const amount = async (page: Page) =>
  (await page.locator('vintem-pix .amount').innerText()).replace('\u00a0', ' ')
const status = (page: Page) => page.locator('vintem-pix .status')

/** What a phone reads from the image. */
const readImage = async (page: Page): Promise<string> => {
  const png = await page.locator('vintem-pix canvas').screenshot()
  return decode(`data:image/png;base64,${png.toString('base64')}`)
}

test('a page of a shop shows code, image and time, and turns when it is paid', async () => {
  const { brCode, src } = await makeCharge()
  const page = await show(src, { phone: true })
  await status(page).getByText('Aguardando pagamento').waitFor()
  assert.equal(await amount(page), 'R$ 1.234,56')
  assert.match(
    await page.locator('vintem-pix .until').innerText(),
    /^Expira em (30 min 00|29 min \d\d) s$/,
  )
  assert.equal(await page.locator('vintem-pix textarea').inputValue(), brCode)
  assert.equal(await readImage(page), brCode)
  assert.ok(await page.locator('vintem-pix .test').isVisible())
  await isAccessible(page)
  await page.getByRole('button', { name: 'Copiar código Pix' }).click()
  await page.getByRole('button', { name: 'Código copiado' }).waitFor()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), brCode)
  await pay(brCode)
  await status(page).getByText('Pagamento confirmado').waitFor()
  assert.equal(await page.locator('vintem-pix textarea').isVisible(), false)
  assert.deepEqual(await states(page), ['open', 'paid'])
  await isAccessible(page)
})

test('it says when the time is over, in English too', async () => {
  const { src } = await makeCharge()
  const page = await show(src, { lang: 'en' })
  await status(page).getByText('Waiting for the payment').waitFor()
  api.clock.advance(3600)
  await status(page).getByText('This Pix has expired').waitFor()
  assert.deepEqual(await states(page), ['open', 'expired'])
})

test('a charge with a due date shows the amount of today and its last day', async () => {
  const { src } = await makeCharge({
    amount: 100_000,
    dueDate: '2026-09-21',
    discounts: [{ type: 'PERCENT', value: 500, until: '2026-09-20' }],
  })
  const page = await show(src)
  await page.locator('vintem-pix .until').getByText('Pode ser pago até 21/10/2026').waitFor()
  assert.equal(await amount(page), 'R$ 950,00')
})

test('the page of the guide leads on when it is paid', async () => {
  const { brCode, src } = await makeCharge()
  const page = await open(`${shopUrl}/guide?${new URLSearchParams({ src })}`, { mayAsk: api.url })
  await status(page).getByText('Aguardando pagamento').waitFor()
  assert.equal(await page.getByText('Pagar com Pix').isVisible(), false)
  await pay(brCode)
  await page.getByRole('heading', { name: 'Obrigado!' }).waitFor()
})

test('without server-sent events it asks again and again', async () => {
  const { brCode, src } = await makeCharge()
  const page = await open('about:blank', { mayAsk: api.url })
  await page.route('**/events', (route) => route.fulfill({ status: 204 }))
  await page.goto(`${shopUrl}/?${new URLSearchParams({ src })}`)
  await status(page).getByText('Aguardando pagamento').waitFor()
  await pay(brCode)
  await status(page).getByText('Pagamento confirmado').waitFor()
})

test('another address shows another charge, and one that is unknown says so', async () => {
  const [first, second] = [await makeCharge(), await makeCharge({ amount: 777 })]
  const page = await show(first.src)
  await status(page).getByText('Aguardando pagamento').waitFor()
  const turnTo = (src: string) =>
    page.evaluate(`document.querySelector('vintem-pix').src = ${JSON.stringify(src)}`)
  await turnTo(second.src)
  await page.locator('vintem-pix .amount').getByText('R$ 7,77').waitFor()
  await pay(first.brCode)
  await pay(second.brCode)
  await status(page).getByText('Pagamento confirmado').waitFor()
  await turnTo(`${second.src.slice(0, -1)}_`)
  await status(page).getByText('Este Pix não existe').waitFor()
  assert.deepEqual(await states(page), ['open', 'open', 'paid', 'missing'])
})

/** How often the element has asked for its charge. */
function countAsked(page: Page): () => number {
  let asked = 0
  page.on('request', (request) => {
    if (/\/element\/[^/]+$/.test(request.url())) asked += 1
  })
  return () => asked
}

test('it asks once at first, polls if a stream says nothing, and asks no more when removed', async () => {
  const { src, brCode } = await makeCharge()
  const page = await open('about:blank', { mayAsk: api.url })
  await page.clock.install()
  // A proxy that holds back what is streamed.
  await page.route('**/events', () => {})
  const asked = countAsked(page)
  await page.goto(`${shopUrl}/?${new URLSearchParams({ src })}`)
  await status(page).getByText('Aguardando pagamento').waitFor()
  assert.equal(asked(), 1)
  await pay(brCode)
  await page.clock.runFor(3000)
  await status(page).getByText('Pagamento confirmado').waitFor()
  await page.clock.runFor(60_000)
  assert.equal(asked(), 2)
  const other = await makeCharge()
  await page.evaluate(`document.querySelector('vintem-pix').src = ${JSON.stringify(other.src)}`)
  await status(page).getByText('Aguardando pagamento').waitFor()
  assert.equal(asked(), 3)
  await page.evaluate(`document.querySelector('vintem-pix').remove()`)
  await page.clock.runFor(60_000)
  assert.equal(asked(), 3)
})

test('nothing of another charge or of a time before is left, and the focus stays inside', async () => {
  const [soon, other] = [await makeCharge({ expiresIn: 100 }), await makeCharge({ amount: 777 })]
  const page = await show(soon.src)
  const warning = page.locator('vintem-pix .warning')
  await warning.getByText('expira em menos de 2 minutos').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Copiar código Pix' }).focus()
  await client.post(`/charge/${soon.id}/cancel`)
  await status(page).getByText('cancelou esta cobrança').waitFor()
  assert.equal(await warning.textContent(), '')
  const focused = `document.querySelector('vintem-pix').shadowRoot.activeElement.className`
  assert.equal(await page.evaluate(focused), 'status')
  await page.route('**/element/*', (route) => route.fulfill({ status: 503 }))
  await page.evaluate(`document.querySelector('vintem-pix').src = ${JSON.stringify(other.src)}`)
  await status(page).getByText('Tentando de novo').waitFor()
  assert.equal(await amount(page), '')
  await page.unroute('**/element/*')
  await page.getByRole('button', { name: 'Copiar código Pix' }).waitFor()
  assert.equal(await amount(page), 'R$ 7,77')
})

test('what a bank tells after the end is seen, and a browser that is too old shows the link', async () => {
  const { src, brCode } = await makeCharge({ expiresIn: 60 })
  const page = await show(src)
  await status(page).getByText('Aguardando pagamento').waitFor()
  api.clock.advance(61)
  await status(page).getByText('Este Pix expirou').waitFor()
  await pay(brCode)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await status(page).getByText('Não pague de novo').waitFor()

  const older = await open('about:blank', { mayAsk: api.url })
  await older.addInitScript(`delete window.CSSStyleSheet
    addEventListener('error', (event) => event.preventDefault())`)
  await older.goto(`${shopUrl}/guide?${new URLSearchParams({ src })}`)
  await older.waitForFunction(`customElements.get('vintem-pix')`)
  assert.ok(await older.getByText('Pagar com Pix').isVisible())
})

test('its token reads one charge and opens no page, and pages of other origins read nothing else', async () => {
  const { id, src } = await makeCharge()
  const token = src.split('/').at(-1)!
  const { url } = (await client.get(`/charge/${id}`)).body.data
  const pageToken = url.split('/').at(-1)!
  const answer = await fetch(src)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const text = await answer.text()
  assert.doesNotMatch(text, /Maria|12345678909|529/)
  for (const path of ['', '/events']) {
    for (const wrong of [pageToken, token.slice(0, 43), `${token.slice(0, -1)}_`]) {
      const refused = await fetch(`${api.url}/element/${wrong}${path}`)
      assert.equal(refused.status, 404, wrong)
      assert.equal(refused.headers.get('access-control-allow-origin'), '*')
    }
    for (const page of [`/pay/${token}`, `/pay/${token}/status`, `/pay/${token}/events`])
      assert.equal((await fetch(`${api.url}${page}`)).status, 404, page)
  }
  const headers = { origin: shopUrl }
  for (const path of [
    '/',
    `/pay/${pageToken}`,
    `/pay/${pageToken}/status`,
    `/charge/${id}`,
    '/health',
  ]) {
    const other = await fetch(`${api.url}${path}`, { headers })
    assert.equal(other.headers.get('access-control-allow-origin'), null, path)
    await other.body?.cancel()
  }
})

test('a link that nobody opened has nothing to show in another page', async () => {
  const url = await linkTo(api, client, { total: 5000 })
  const [{ id }] = (await client.get('/charge?limit=1')).body.data
  assert.ok(url)
  const refused = await client.get(`/charge/${id}/element`)
  assert.equal(refused.status, 409, refused.text)
  assert.equal(refused.body.errors[0].code, 'charge_without_code')
})
