import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { payer, startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { longTest, variants } from '../support/long.ts'
import { makeCharge, makePaid, pay } from '../support/payments.ts'
import { register } from '../support/webhooks.ts'
import {
  browsing,
  fitsTheWindow,
  INJECTION,
  isAccessible,
  showsAsText,
  type Visit,
} from './support.ts'

const api = await startApi()
const { visitor } = browsing()

const PHONE = { phone: true, size: { width: 390, height: 844 } }

async function isFine(page: Page): Promise<void> {
  await isAccessible(page)
  await fitsTheWindow(page)
}

/** A company with charges in every state, and a browser of one of its people. */
async function enter(visit: Visit, language: 'pt' | 'en') {
  const client = await api.client()
  await register(client, 'http://127.0.0.1:9/hook', ['charge.paid'])
  const name = `${INJECTION}${'x'.repeat(120)}\u202e`
  const open = await makeCharge(client, 1990, { devMode: true, description: name.slice(0, 140) })
  await makeCharge(client, 700, { customer: payer({ name }) })
  const paid = await makePaid(api, client, 2500)
  await pay(api, paid.brCode)
  const owner = await signIn(api, client.company, { language })
  const { context, open: show } = await visitor({ ...visit, language })
  await useSessionIn(context, api, owner)
  return { client, open, paid, show: (path: string) => show(`${api.url}${owner.home}${path}`) }
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name }).first()

for (const visit of [{}, PHONE, { dark: true }]) {
  longTest(
    `finds a charge, refunds a part of it and cancels another: ${JSON.stringify(visit)}`,
    async () => {
      const { paid, open, show } = await enter(visit, 'pt')
      const page = await show('/charges')
      await isFine(page)
      await showsAsText(page, INJECTION)
      await page.getByLabel('Buscar').fill('25,00')
      await button(page, 'Buscar').click()
      await page.getByText('Buscando por valor R$ 25,00').waitFor()
      await isFine(page)
      await link(page, 'Maria da Silva').click()
      await page.getByText('Pagamento recebido').waitFor()
      assert.match(page.url(), new RegExp(paid.id))
      await isFine(page)
      await link(page, 'Devolver').click()
      await isFine(page)
      await link(page, 'Outro valor').click()
      await page.getByLabel('Valor da devolução').fill('99,00')
      await button(page, 'Continuar').click()
      await page.getByText('Informe um valor de R$ 0,01 a R$ 25,00').waitFor()
      await isFine(page)
      await page.getByLabel('Valor da devolução').fill('10,00')
      await button(page, 'Continuar').click()
      await page.getByLabel('Motivo').fill('Troca')
      await isFine(page)
      await button(page, 'Devolver R$ 10,00').click()
      await page.getByText('Devolução iniciada').waitFor()
      await page.getByText('Devolução de R$ 10,00', { exact: true }).waitFor()
      await isFine(page)
      const other = await show(`/charges/${open.id}`)
      await isFine(other)
      await showsAsText(other, INJECTION)
      await button(other, 'Copiar link').click()
      const copied = await other.evaluate<string>('navigator.clipboard.readText()')
      assert.match(copied, /\/pay\//)
      await button(other, 'Enviar link por e-mail').click()
      await other.getByText('E-mail na fila de envio').waitFor()
      await link(other, 'Cancelar cobrança').click()
      await isFine(other)
      await button(other, 'Cancelar cobrança').click()
      await other.getByText('foi cancelada antes do pagamento').waitFor()
      await isFine(other)
    },
  )
}

longTest('in English, at the size of a phone', async () => {
  const { open, show } = await enter(PHONE, 'en')
  const page = await show('/charges?status=OPEN')
  await isFine(page)
  await page.getByLabel('Search').fill(open.id)
  await button(page, 'Search').click()
  await page.getByText('Charge created').waitFor()
  await isFine(page)
  await button(page, 'Simulate payment').click()
  await page.getByText('Payment received').waitFor()
  await button(page, 'Duplicate').click()
  await page.getByText('This is the new one').waitFor()
  await isFine(page)
})

test('the page of an open charge shows by itself that it was paid', async () => {
  const { client, show } = await enter({}, 'pt')
  const charge = await makeCharge(client, 3300)
  const page = await show(`/charges/${charge.id}`)
  await page.getByText('Esta página se atualiza sozinha').waitFor()
  await pay(api, charge.brCode)
  await page.getByText('Pagamento recebido').waitFor()
  await isFine(page)
})

test('a form that is sent shows what it has done, also if the page hears of it first', async () => {
  const { open, client, show } = await enter({}, 'pt')
  const page = await show(`/charges/${open.id}`)
  const heard = new Promise<void>((resolve) => page.exposeFunction('hear', resolve))
  await page.addInitScript(`
    const Plain = EventSource
    window.EventSource = class extends Plain {
      constructor(url) {
        super(url)
        this.addEventListener('message', ({ data }) => data.includes('paid') && hear())
      }
    }`)
  await page.route('**/simulate', async (route) => {
    await client.post(`/charge/${open.id}/simulate-payment`)
    await heard
    await route.continue()
  })
  await page.reload()
  await button(page, 'Simular pagamento').click()
  await page.getByText('Pagamento simulado.').waitFor()
})

test('without scripts everything can be done too', async () => {
  const { open, show } = await enter({ javaScript: false, ...PHONE }, 'pt')
  const page = await show('/charges')
  await link(page, /^Em aberto/).click()
  await page.getByText('Filtros').click()
  await page.getByLabel('Cobranças de teste').selectOption('only')
  await button(page, 'Filtrar').click()
  await page.waitForURL(/dev=only/)
  assert.match(await page.locator('.sums').innerText(), /Em aberto R\$ 19,90/)
  await fitsTheWindow(page)
  await link(page, 'Maria da Silva').click()
  await link(page, 'Atualizar').click()
  await button(page, 'Simular pagamento').click()
  await page.getByText('Pagamento simulado.').waitFor()
  assert.match(page.url(), new RegExp(open.id))
  await fitsTheWindow(page)
})

/** Whether the controls of filters that stand side by side end on one line, inside of theirs. */
const areInRows = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const box = (one) => one.getBoundingClientRect()
    const places = [...document.querySelectorAll('.filters > *')].map((one) => ({
      place: box(one),
      control: box(one.querySelector('input, select') ?? one),
    }))
    const isBeside = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
    const isTorn = (a, b) =>
      isBeside(a.place, b.place) && Math.abs(a.control.bottom - b.control.bottom) > 1
    const isOut = ({ place, control }) => control.right > place.right + 1
    return places.length > 2 && !places.some((a) => isOut(a) || places.some((b) => isTorn(a, b)))
  })()`)

for (const size of variants([PHONE.size, { width: 1280, height: 800 }])) {
  test(`an error in a filter leaves the row of filters whole, ${size.width} px wide`, async () => {
    const { show } = await enter({ size }, 'pt')
    for (const path of [
      '/charges?amount=x&from=2026-08-20&to=2026-08-01',
      '/balance?from=2026-08-20&to=2026-08-01',
      '/developers/events?to=2026-02-31',
      '/developers/requests?from=2026-08-20&to=2026-08-01',
      '/settings/activity?from=2026-08-20&to=2026-08-01',
    ]) {
      const page = await show(path)
      assert.ok(await page.locator('.filters .fault:visible').count(), path)
      assert.ok(await areInRows(page), path)
      await isFine(page)
    }
  })
}

test('the browser tells all that is wrong with a new charge at once', async () => {
  const { show } = await enter({}, 'pt')
  const page = await show('/new/charge')
  const faults = () => page.locator('.fault:visible').allTextContents()
  await page.getByLabel('Valor').fill('0,01')
  await page.getByLabel('CPF ou CNPJ', { exact: true }).fill('123')
  await button(page, 'Cobrar').click()
  const wrong = ['Informe um valor como 19,90.', 'Informe um nome', 'CPF ou CNPJ inválido']
  for (const [i, text] of wrong.entries()) assert.ok((await faults())[i]?.startsWith(text), text)
  assert.equal((await faults()).length, 3)
  await page.getByLabel('Valor').fill('R$ 1.019,90')
  assert.equal((await faults()).length, 2)
})
