import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { payer, startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { makeCharge, makePaid } from '../support/payments.ts'
import { browsing, fitsTheWindow, isAccessible, type Visit } from './support.ts'

const api = await startApi()
const { visitor } = browsing()

const DESKTOP: Visit = { size: { width: 1280, height: 800 } }
const PHONE: Visit = { phone: true, size: { width: 390, height: 844 } }

/** A company with charges of people with short and long names, and a browser of its owner. */
async function enter(visit: Visit, language: 'pt' | 'en' = 'pt') {
  const client = await api.client()
  const paid = await makePaid(api, client, 2500)
  for (let i = 0; i < 12; i++) {
    const name = i % 3 === 0 ? 'Maximiliano '.repeat(21) : 'x'.repeat(i % 3 === 1 ? 255 : 9)
    await makeCharge(client, 1000 + i, { customer: payer({ name }), description: 'd'.repeat(140) })
  }
  const owner = await signIn(api, client.company, { language })
  const { context, open } = await visitor({ ...visit, language })
  await useSessionIn(context, api, owner)
  return { client, paid, show: (path: string) => open(`${api.url}${owner.home}${path}`) }
}

async function isFine(page: Page): Promise<void> {
  await isAccessible(page)
  await fitsTheWindow(page)
}

/** How many rows are whole on the first screen. */
const wholeRows = (page: Page): Promise<number> =>
  page.evaluate<number>(`[...document.querySelectorAll('.list-card tbody tr')].filter((row) => {
    const { top, bottom, height } = row.getBoundingClientRect()
    return height > 0 && top >= 0 && bottom <= innerHeight
  }).length`)

for (const [visit, rows] of [
  [DESKTOP, 8],
  [PHONE, 5],
  [{ ...DESKTOP, dark: true }, 8],
] as const) {
  const { width } = visit.size!
  test(`${rows} whole charges are on the first screen, ${width} px wide${visit.dark ? ', dark' : ''}`, async () => {
    const { show } = await enter(visit, visit.dark ? 'en' : 'pt')
    for (const path of ['/charges', '/charges?period=7d&kind=PIX', '/charges?done=view-saved']) {
      const page = await show(path)
      const found = await wholeRows(page)
      assert.ok(found >= rows, `${path}: ${found}`)
      await isFine(page)
    }
    for (const path of ['/customers', '/subscriptions', '/unmatched', '/products']) {
      await isFine(await show(path))
    }
  })
}

test('a row leads to its charge wherever it is pressed, and has one link', async () => {
  const { paid, show } = await enter(PHONE)
  const page = await show('/charges?status=PAID')
  assert.equal(await page.locator('.list-card tbody tr a').count(), 1)
  const { x, y } = (await page.locator('.list-card tbody td.moment').boundingBox())!
  await Promise.all([page.waitForURL(/charge_/), page.mouse.click(x + 5, y + 5)])
  assert.match(page.url(), new RegExp(paid.id))
})

test('the search box and the list are few keys from the top of the page', async () => {
  const { show } = await enter(DESKTOP)
  const page = await show('/charges')
  const keys = async (wanted: string, first: string[]) => {
    for (const key of first) await page.keyboard.press(key)
    for (let i = first.length; i < 20; i++) {
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(wanted)})`)) return i
      await page.keyboard.press('Tab')
    }
    return 20
  }
  assert.ok((await keys('[name=q]', ['Tab', 'Enter', 'Tab'])) <= 8)
  await page.reload()
  const toRow = await keys('.whole', ['Tab', 'Enter', 'Tab', 'Enter', 'Tab'])
  assert.ok(toRow <= 8, `${toRow}`)
  await page.keyboard.press('Enter')
  await page.waitForURL(/charge_/)
})

test('charges are picked one by one, between two, and all, and canceled together', async () => {
  const { show } = await enter(DESKTOP)
  const page = await show('/charges?status=OPEN')
  const boxes = page.locator('input[name="id"]')
  const bar = page.locator('.pick-bar')
  assert.equal(await bar.isVisible(), false)
  await boxes.nth(1).click()
  await boxes.nth(3).click({ modifiers: ['Shift'] })
  await bar.getByText('3 selecionadas').waitFor()
  await isFine(page)
  await page.locator('[data-pick-all]').click()
  await bar.getByText('12 selecionadas').waitFor()
  await page.locator('[data-pick-all]').click()
  await boxes.nth(0).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Baixar CSV' }).click()
  await download
  await page.getByRole('button', { name: 'Cancelar cobranças' }).click()
  await page.getByText('Cancelar 1 cobrança?').waitFor()
  await isFine(page)
  await page.getByRole('button', { name: 'Cancelar 1 cobrança' }).click()
  await page.getByText('1 cobrança cancelada').waitFor()
  await isFine(page)
  await page.getByRole('link', { name: 'Cobranças' }).last().click()
  assert.equal(await page.locator('input[name="id"]').count(), 11)
})

test('without scripts charges are picked, and filters are saved and deleted', async () => {
  const { show } = await enter({ ...PHONE, javaScript: false })
  const page = await show('/charges')
  await page.locator('input[name="id"]').nth(2).check()
  await page.getByRole('button', { name: 'Reenviar' }).click()
  await page.getByRole('button', { name: 'Enviar 1 e-mail' }).click()
  await page.getByText('1 e-mail na fila de envio').waitFor()
  await fitsTheWindow(page)
  const list = await show('/charges?status=OPEN&min=10,05')
  await list.getByText('Salvar visão').click()
  await list.getByLabel('Nome da visão').fill('Maiores em aberto')
  await list.getByRole('button', { name: 'Salvar' }).click()
  await list.getByText('Visão salva').waitFor()
  await fitsTheWindow(list)
  const other = await show('/charges')
  await other.getByRole('link', { name: 'Maiores em aberto' }).click()
  await other.getByRole('button', { name: 'Excluir visão' }).click()
  await other.getByText('Visão excluída').waitFor()
})
