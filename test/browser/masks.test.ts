import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Client, startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { ADDRESS, at, linkTo } from '../support/pages.ts'
import { makeTemplate, readSubscription } from '../support/subscriptions.ts'
import { browsing, isAccessible } from './support.ts'

const api = await startApi()
const { open } = browsing()
const client = await api.client()

const offerPage = async (seller: Client = client): Promise<Page> =>
  open(at(api, (await makeTemplate(seller)).url))

const caretOf = (page: Page, id: string): Promise<number> =>
  page.evaluate(`document.getElementById('${id}').selectionStart`)

const putCaret = (page: Page, id: string, place: number) =>
  page.evaluate(`document.getElementById('${id}').focus();
    document.getElementById('${id}').setSelectionRange(${place}, ${place})`)

async function type(page: Page, id: string, text: string): Promise<string> {
  await page.fill(`#${id}`, '')
  await page.locator(`#${id}`).pressSequentially(text)
  return page.inputValue(`#${id}`)
}

async function paste(page: Page, id: string, text: string): Promise<string> {
  await page.fill(`#${id}`, '')
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
  await page.locator(`#${id}`).press('Control+V')
  return page.inputValue(`#${id}`)
}

test('CPF, CNPJ with or without letters, and phones get their punctuation while they are typed', async () => {
  const page = await offerPage()
  const cases: [id: string, typed: string, written: string][] = [
    ['taxId', '5', '5'],
    ['taxId', '5299', '529.9'],
    ['taxId', '52998224725', '529.982.247-25'],
    ['taxId', '11222333000181', '11.222.333/0001-81'],
    ['taxId', '12abc34501de35', '12.ABC.345/01DE-35'],
    ['taxId', '529.982.247-25', '529.982.247-25'],
    ['phone', '11', '(11'],
    ['phone', '1133334444', '(11) 3333-4444'],
    ['phone', '11988887777', '(11) 98888-7777'],
    ['phone', '5511988887777', '(11) 98888-7777'],
    ['phone', '+1 202 555 0100', '+1 202 555 0100'],
  ]
  for (const [id, typed, written] of cases) assert.equal(await type(page, id, typed), written)
})

longTest('what is pasted is written like what is typed, and nothing of it is lost', async () => {
  const page = await offerPage()
  const cases: [id: string, pasted: string, written: string][] = [
    ['taxId', ' 529 982 247 25 ', '529.982.247-25'],
    ['taxId', '12.abc.345/01de-35', '12.ABC.345/01DE-35'],
    ['phone', '+55 (11) 98888-7777', '(11) 98888-7777'],
    ['phone', '011 98888 7777', '(11) 98888-7777'],
    ['taxId', '112223330001812', '112223330001812'],
  ]
  for (const [id, pasted, written] of cases) {
    assert.equal(await paste(page, id, pasted), written)
    assert.equal(await caretOf(page, id), written.length)
  }
})

longTest(
  'the caret stays where somebody corrects, and a deletion gets past the punctuation',
  async () => {
    const page = await offerPage()
    await type(page, 'taxId', '52998224725')
    await putCaret(page, 'taxId', 2)
    await page.keyboard.press('Backspace')
    assert.equal(await page.inputValue('#taxId'), '599.822.472-5')
    assert.equal(await caretOf(page, 'taxId'), 1)
    await page.keyboard.type('2')
    assert.equal(await page.inputValue('#taxId'), '529.982.247-25')
    assert.equal(await caretOf(page, 'taxId'), 2)
    await putCaret(page, 'taxId', 4)
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Backspace')
    assert.equal(await page.inputValue('#taxId'), '529.822.472-5')
    assert.equal(await caretOf(page, 'taxId'), 2)
    await putCaret(page, 'taxId', 3)
    await page.keyboard.press('Delete')
    await page.keyboard.press('Delete')
    assert.equal(await page.inputValue('#taxId'), '529.224.725')
    assert.equal(await caretOf(page, 'taxId'), 4)
  },
)

longTest(
  'what is typed can be deleted again from the end, one key for each character',
  async () => {
    const page = await offerPage()
    for (const [id, text] of [
      ['taxId', '11222333000181'],
      ['phone', '11988887777'],
    ] as const) {
      await type(page, id, text)
      for (const _ of text) await page.keyboard.press('Backspace')
      assert.equal(await page.inputValue(`#${id}`), '')
    }
  },
)

test('a form with punctuation is sent without it, and given back with it when it is refused', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'pix@example.com' })
  const { url } = await makeTemplate(live)
  const person = { name: 'Maria', email: 'maria@example.com', phone: '(11) 98888-7777' }
  const send = (fields: Record<string, string>) =>
    fetch(at(api, url), { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
  const refused = await send({ ...person, taxId: '529.982.247-24' })
  assert.equal(refused.status, 422)
  const page = await refused.text()
  for (const written of ['value="529.982.247-24"', 'value="(11) 98888-7777"']) {
    assert.ok(page.includes(written), written)
  }
  const own = await makeTemplate(client)
  const taken = await fetch(at(api, own.url), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ...person, taxId: '12.ABC.345/01DE-35' }),
  })
  assert.equal(taken.status, 303)
  assert.equal((await readSubscription(client, own.id)).id, own.id)
})

const addressPage = async (javaScript = true) =>
  open(await linkTo(api, client, { total: 5000, needShipping: true }), { javaScript })

longTest('the state is filled in from the CEP while it is typed', async () => {
  const page = await addressPage()
  const cases = ['01310100 SP', '69301000 RR', '69400000 AM', '73700000 GO']
  for (const [cep, state] of cases.map((pair) => pair.split(' '))) {
    await type(page, 'postalCode', cep!)
    assert.equal(await page.inputValue('#state'), state)
  }
  await type(page, 'postalCode', '00000000')
  assert.equal(await page.inputValue('#state'), 'GO', 'no state has it')
  await isAccessible(page)
})

longTest('without JavaScript a state that is not chosen is filled in by the server', async () => {
  const page = await addressPage(false)
  const { state: _, ...others } = ADDRESS
  for (const [name, value] of Object.entries(others)) await page.fill(`#${name}`, value)
  await page.getByRole('button', { name: 'Continuar' }).click()
  await page.locator('main[data-state=open]').waitFor()
  const { data } = (await client.get('/charge')).body
  const shown = (await client.get(`/charge/${data[0].id}`)).body.data
  assert.equal(shown.shipping.state, 'SP')
})
