import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { payer, startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { variants } from '../support/long.ts'
import { makeCharge } from '../support/payments.ts'
import { browsing, fitsTheWindow, isAccessible, type Visit } from './support.ts'

const api = await startApi()
const { visitor } = browsing()

const PHONE = { phone: true, size: { width: 390, height: 844 } }
const VARIANTS = variants([PHONE, { ...PHONE, dark: true }, { size: { width: 1280, height: 800 } }])

async function isFine(page: Page): Promise<void> {
  await isAccessible(page)
  await fitsTheWindow(page)
}

/** A shop, and a browser in which one of its people sells. */
async function enter(visit: Visit, language: 'pt' | 'en' = 'pt') {
  const client = await api.client()
  const member = await signIn(api, client.company, { role: 'support', language })
  const { context, open } = await visitor({ ...visit, language })
  await useSessionIn(context, api, member)
  return { client, context, open, show: (path: string) => open(`${api.url}${member.home}${path}`) }
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Notes what a phone does, because nobody feels or hears it here. */
const NOTE_SIGNALS = `(() => {
  const note = (signal) => sessionStorage.setItem('signals', (sessionStorage.getItem('signals') ?? '') + signal)
  Object.defineProperty(navigator, 'vibrate', { value: () => note('vibration ') })
  const { start } = OscillatorNode.prototype
  OscillatorNode.prototype.start = function (...at) { note('tone '); return start.apply(this, at) }
})()`

for (const visit of VARIANTS) {
  test(`a sale at the counter turns paid by itself, with a signal: ${JSON.stringify(visit)}`, async () => {
    const { context, open, show } = await enter(visit)
    await context.addInitScript(NOTE_SIGNALS)
    const page = await show('/new')
    await page.getByRole('link', { name: /Venda no balcão/ }).click()
    for (const key of ['1', '2', '5', '0', '0']) await button(page, key).click()
    await button(page, 'Apagar o último dígito').click()
    assert.equal(await page.getByLabel('Valor', { exact: true }).inputValue(), '12,50')
    await isFine(page)
    await button(page, 'Mostrar QR Code').click()
    await page.getByRole('heading', { name: 'R$ 12,50' }).waitFor()
    await isFine(page)
    const sound = button(page, 'Ativar som')
    if (await sound.isVisible()) await sound.click()
    const qr = (await page.locator('.qr img').boundingBox())!
    const { width, height } = page.viewportSize()!
    assert.ok(qr.width >= Math.min(width * 0.9, height - 280), `the code is ${qr.width} wide`)
    const bank = await open(
      new URL((await page.getByText('Pagar no banco simulado').getAttribute('href'))!, api.url)
        .href,
    )
    await button(bank, 'Pagar').click()
    await page.getByRole('heading', { name: 'Pago' }).waitFor()
    const signals = await page.evaluate<string>(`sessionStorage.getItem('signals') ?? ''`)
    assert.match(signals, /vibration/)
    assert.match(signals, /tone/)
    await isFine(page)
    await page.getByRole('link', { name: 'Nova venda' }).click()
    await page.getByText('1 venda paga').waitFor()
    await page.getByText('Hoje no balcão').waitFor()
    await isFine(page)
  })
}

test('without scripts a sale is typed, shown, paid and seen as paid', async () => {
  const { open, show } = await enter({ ...PHONE, javaScript: false })
  const page = await show('/counter')
  await page.getByLabel('Valor', { exact: true }).fill('3,50')
  await button(page, 'Mostrar QR Code').click()
  const bank = await open(
    new URL((await page.getByText('Pagar no banco simulado').getAttribute('href'))!, api.url).href,
  )
  await button(bank, 'Pagar').click()
  // The page asks again by itself every few seconds.
  await page.getByRole('heading', { name: 'Pago' }).waitFor()
  await page.getByRole('link', { name: 'Nova venda' }).waitFor()
})

test('to create a charge and send it by WhatsApp takes three taps', async () => {
  const { show } = await enter(PHONE)
  const page = await show('/new')
  let taps = 0
  const tap = async (name: string | RegExp, role: 'link' | 'button') => {
    taps += 1
    await page.getByRole(role, { name }).first().tap()
  }
  await tap(/Cobrança Pix/, 'link')
  await page.locator('#amount').fill('49,90')
  await page.locator('#name').fill('Maria da Silva')
  await page.locator('#taxId').fill('529.982.247-25')
  await page.locator('#phone').fill('(11) 98765-4321')
  await tap(/^Cobrar$/, 'button')
  await page.getByText('Cobrança criada.').waitFor()
  await isFine(page)
  const link = page.getByRole('link', { name: 'WhatsApp' })
  // It is on the first screen, and the next tap opens it.
  await fitsOnScreen(page, link)
  taps += 1
  const href = new URL((await link.getAttribute('href'))!)
  assert.equal(`${href.origin}${href.pathname}`, 'https://wa.me/5511987654321')
  assert.match(href.searchParams.get('text')!, /R\$ 49,90[\s\S]+\/pay\//)
  assert.equal(await link.getAttribute('rel'), 'noopener noreferrer')
  assert.ok(taps <= 3, `${taps} taps`)
})

test('to make a link that many pay and send it by WhatsApp takes five taps from Today', async () => {
  const { show } = await enter(PHONE)
  const page = await show('')
  let taps = 0
  const tap = async (what: ReturnType<Page['locator']>) => {
    taps += 1
    await what.tap()
  }
  await tap(page.locator('.bottom-bar summary'))
  await tap(page.locator('.bottom-bar').getByRole('link', { name: 'Links', exact: true }))
  await tap(page.getByRole('link', { name: 'Novo link' }).first())
  await page.locator('#title').fill('Rifa da escola')
  await page.locator('#amount').fill('10,00')
  await tap(button(page, 'Criar link'))
  const link = page.getByRole('link', { name: 'WhatsApp' })
  await link.waitFor()
  await fitsOnScreen(page, link)
  taps += 1
  const text = new URL((await link.getAttribute('href'))!).searchParams.get('text')!
  assert.match(text, /Rifa da escola[\s\S]*R\$ 10,00[\s\S]+\/l\/\w+\/rifa-da-escola/)
  assert.ok(taps <= 5, `${taps} taps`)
})

async function fitsOnScreen(page: Page, what: ReturnType<Page['locator']>): Promise<void> {
  const box = (await what.boundingBox())!
  assert.ok(box.y + box.height <= page.viewportSize()!.height, 'it is on the first screen')
}

for (const visit of VARIANTS) {
  test(`a link is copied, shared and printed: ${JSON.stringify(visit)}`, async () => {
    const { client, context, show } = await enter(visit)
    const { id } = await makeCharge(client, 4990, { customer: payer() })
    await context.addInitScript(`
      navigator.share = async (given) => { document.body.dataset.shared = JSON.stringify(given) }
      window.print = () => { document.body.dataset.printed = 'yes' }`)
    const page = await show(`/charges/${id}/share`)
    await isFine(page)
    await button(page, 'Copiar link').click()
    await page.getByText('Link copiado').waitFor()
    const link = await page.getByLabel('Link', { exact: true }).inputValue()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), link)
    await button(page, 'Imprimir').click()
    assert.equal(await page.locator('body').getAttribute('data-printed'), 'yes')
    const another = button(page, 'Outro app')
    assert.equal(await another.isVisible(), visit !== VARIANTS[2])
    if (await another.isVisible()) {
      await another.click()
      const shared = JSON.parse((await page.locator('body').getAttribute('data-shared'))!)
      assert.ok(shared.text.includes(link) && shared.text.includes('R$ 49,90'), shared.text)
    }
  })
}

test('without scripts a link is read, scanned and sent', async () => {
  const { client, show } = await enter({ ...PHONE, javaScript: false })
  const { id } = await makeCharge(client, 4990)
  const page = await show(`/charges/${id}/share`)
  assert.equal(await button(page, 'Copiar link').isVisible(), false)
  assert.match(await page.getByLabel('Link', { exact: true }).inputValue(), /\/pay\//)
  await page.getByAltText('QR Code do link de pagamento').waitFor()
  await page.getByRole('link', { name: 'WhatsApp' }).waitFor()
})

test('support opens and copies the words for a payer', async () => {
  const { client, show } = await enter(PHONE)
  const { id } = await makeCharge(client, 4990)
  const page = await show(`/charges/${id}`)
  await page.getByText('Explicar ao pagador').click()
  await button(page, 'Copiar texto').click()
  await page.getByText('Texto copiado').waitFor()
  const text = await page.evaluate<string>('navigator.clipboard.readText()')
  assert.match(text, /^Olá, Maria da Silva! Sobre a cobrança de R\$ 49,90/)
  await isFine(page)
})
