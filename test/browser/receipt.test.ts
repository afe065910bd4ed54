import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { matchPayments } from '../../src/core/payments/match.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { chargeTxid } from '../../src/provider/txid.ts'
import { carryOutRefunds } from '../../src/worker/due.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { at, productOf } from '../support/pages.ts'
import { pay } from '../support/payments.ts'
import { browsing, fitsTheWindow, INJECTION, isAccessible, showsAsText } from './support.ts'

const api = await startApi()
const { open, visitor } = browsing()

type Paid = { id: string; url: string; publicUrl: string; endToEndId: string }

async function paid(client: Client, fields: object = {}): Promise<Paid> {
  const made = await client.post('/charge/pix', { amount: 1990, customer: payer(), ...fields })
  const { id, url: publicUrl, brCode } = made.body.data
  return { id, publicUrl, url: at(api, publicUrl), endToEndId: await pay(api, brCode) }
}

/** A charge that was paid with real money. */
async function paidForReal(): Promise<Paid> {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const made = await client.post('/charge/pix', {
    amount: 1990,
    customer: payer(),
    devMode: true,
  })
  const { id, url: publicUrl } = made.body.data
  const charge = fromPublic('charge', id)!
  await api.rows('update charges set dev_mode = false where id = $1', [charge])
  const now = api.clock.now()
  const endToEndId = `E12345678${charge.replaceAll('-', '').slice(-23)}`
  const pix = { endToEndId, txid: chargeTxid(charge), amount: toCents(1990), receivedAt: now }
  await api.app.db.transaction((tx) =>
    matchPayments(tx, api.app, client.company, [pix], { source: 'bank', now }),
  )
  return { id, publicUrl, url: at(api, publicUrl), endToEndId }
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')
/** Lets a page have a function of the browser, and remembers how it was called. */
const replaced = (name: string) => `window.called = []; ${name} = (...args) => {
  window.called.push(JSON.parse(JSON.stringify(args))); return Promise.resolve() }`
const calls = (page: Page) => page.evaluate<unknown[][]>('window.called')

test('a receipt states what a Pix receipt states, the payer masked', async () => {
  const client = await api.client()
  const productId = await productOf(client, { name: 'Pão de queijo', price: 2490 })
  const made = await client.post('/charge/payment-link', {
    customer: payer(),
    items: [{ productId, quantity: 2 }],
  })
  const { id, url } = made.body.data
  await fetch(at(api, url), { method: 'POST' })
  const { brCode } = (await client.get(`/charge/${id}`)).body.data
  const endToEndId = await pay(api, brCode)
  const page = await open(at(api, url), { phone: true })
  const text = await page.locator('main').innerText()
  const { company } = client
  for (const fact of [
    'R$ 49,80',
    '20/08/2026 às 12:00:00\nhorário de Brasília',
    company.name,
    '11.222.333/0001-81',
    'Maria da Silva',
    '***.***.247-25',
    '2 × Pão de queijo',
    endToEndId,
    id,
  ]) {
    assert.ok(text.includes(fact), `${fact} in ${text}`)
  }
  assert.doesNotMatch(await page.content(), /52998224725|maria@example|988888888/)
  await isAccessible(page)
  await fitsTheWindow(page)
})

longTest('the id of the transaction and the link are copied, and that is said', async () => {
  const receipt = await paid(await api.client())
  const page = await open(receipt.url, { phone: true })
  await press(page, 'Copiar ID da transação')
  await page.getByText('ID copiado').waitFor()
  assert.equal(await clipboard(page), receipt.endToEndId)
  await isAccessible(page)
  assert.equal(await page.getByRole('button', { name: 'Compartilhar' }).count(), 0)
  await press(page, 'Copiar link')
  await page.getByRole('button', { name: 'Link copiado' }).waitFor()
  assert.equal(await clipboard(page), receipt.publicUrl)
  await isAccessible(page)
})

longTest('where a browser can share, the address is shared and nothing of the payer', async () => {
  const receipt = await paid(await api.client())
  const { context, open: openTab } = await visitor({ phone: true })
  await context.addInitScript(replaced('navigator.share'))
  const page = await openTab(receipt.url)
  assert.equal(await page.getByRole('button', { name: 'Copiar link' }).count(), 0)
  await press(page, 'Compartilhar')
  const [[shared] = assert.fail()] = (await calls(page)) as { title: string; url: string }[][]
  assert.equal(shared!.url, receipt.publicUrl)
  assert.doesNotMatch(JSON.stringify(shared), /Maria|247-25/)
  assert.match(shared!.title, /^TESTE/)
})

longTest('a page that has just been paid prints, and no longer leads away', async () => {
  const client = await api.client()
  const made = await client.post('/charge/payment-link', {
    customer: payer(),
    total: 5000,
    successUrl: 'https://loja.example/ok',
  })
  const { id, url } = made.body.data
  await fetch(at(api, url), { method: 'POST' })
  const { context, open: openTab } = await visitor()
  await context.addInitScript(replaced('window.print'))
  const page = await openTab(at(api, url))
  const { brCode } = (await client.get(`/charge/${id}`)).body.data
  await pay(api, brCode)
  await page.locator('main[data-state=paid]').waitFor()
  await press(page, 'Salvar ou imprimir')
  assert.deepEqual(await calls(page), [[]])
  assert.equal(await page.locator('[data-leave]').isVisible(), false)
  assert.match(await page.title(), /Comprovante/)
})

/** What is on the paper, in words. */
async function onPaper(page: Page): Promise<string> {
  await page.emulateMedia({ media: 'print' })
  for (const hidden of ['.top', '.foot', '.button', '.keep']) {
    for (const part of await page.locator(hidden).all()) {
      assert.equal(await part.isVisible(), false, hidden)
    }
  }
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g)?.length, 1, 'one page')
  assert.match(pdf, /\/MediaBox \[0 0 59[45](\.\d+)? 84[12](\.\d+)?\]/, 'of A4')
  return page.locator('body').innerText()
}

longTest(
  'on paper it is one A4 page with whose it is and where to check it, in any colors',
  async () => {
    const receipt = await paidForReal()
    for (const dark of [false, true]) {
      const page = await open(receipt.url, { dark })
      assert.doesNotMatch(await page.locator('body').innerText(), /teste|fictício/i)
      const paper = await onPaper(page)
      assert.ok(paper.startsWith('Padaria São João'), paper)
      for (const fact of ['Comprovante de pagamento Pix', 'R$ 19,90', receipt.endToEndId]) {
        assert.ok(paper.includes(fact), `${fact} in ${paper}`)
      }
      assert.ok(paper.includes(`Confira este comprovante em ${receipt.publicUrl}`))
      assert.doesNotMatch(paper, /teste|fictício/i)
      const color = await page.evaluate("getComputedStyle(document.querySelector('dd')).color")
      assert.equal(color, 'rgb(0, 0, 0)')
    }
  },
)

longTest('a receipt of play money says so on the screen, on paper and in its title', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const made = await live.post('/charge/pix', {
    amount: 1990,
    customer: payer(),
    devMode: true,
  })
  await live.post(`/charge/${made.body.data.id}/simulate-payment`)
  const sandbox = await paid(await api.client())
  for (const url of [at(api, made.body.data.url), sandbox.url]) {
    const page = await open(url)
    assert.match(await page.title(), /^TESTE - Comprovante sem valor/)
    const shown = await page.locator('main').innerText()
    const mark = /Comprovante de teste, sem valor.*\(teste\).*R\$ 19,90 \(fictício\)/s
    assert.match(shown, mark)
    await isAccessible(page)
    const paper = await onPaper(page)
    assert.match(paper, mark)
    assert.match(paper, /\nTESTE\n?/)
    assert.doesNotMatch(paper, /Comprovante de pagamento/)
  }
})

longTest('a receipt says what has been returned, all of it or a part', async () => {
  const client = await api.client()
  const receipt = await paid(client)
  await client.post(`/refund/${receipt.id}`, { value: 500 })
  await carryOutRefunds.run(api.app)
  const page = await open(`${receipt.url}?lang=en`)
  assert.match(await page.locator('main').innerText(), /Part of the amount was returned/)
  assert.match(await onPaper(page), /Amount returned\s+R\$ 5,00/)
  await client.post(`/refund/${receipt.id}`)
  await carryOutRefunds.run(api.app)
  await page.reload()
  assert.equal(await page.locator('h1').innerText(), 'Payment returned')
  assert.match(await onPaper(page), /Payment returned.*Amount returned\s+R\$ 19,90/s)
})

longTest(
  'without scripts there is a hint instead of buttons, and the receipt is whole',
  async () => {
    const receipt = await paid(await api.client())
    const page = await open(receipt.url, { javaScript: false, phone: true })
    assert.equal(await page.getByRole('button').count(), 0)
    const hint = page.locator('noscript .hint')
    assert.ok(await hint.isVisible())
    assert.match(await hint.innerText(), /use a opção Imprimir do seu navegador/)
    assert.match(await onPaper(page), new RegExp(receipt.endToEndId))
  },
)

test('names that are markup stay text, and the page is readable in the dark and in English', async () => {
  const name = INJECTION.slice(0, 60)
  const receipt = await paid(await api.client({ name }), { customer: payer({ name: INJECTION }) })
  const page = await open(`${receipt.url}?lang=en`, { dark: true, phone: true })
  await showsAsText(page, INJECTION)
  await showsAsText(page, name)
  await isAccessible(page)
  await fitsTheWindow(page)
})
