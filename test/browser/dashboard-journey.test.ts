import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { isLong } from '../support/long.ts'
import { startReceiver } from '../support/receiver.ts'
import { startLocal } from './local.ts'
import { browsing } from './support.ts'

const local = await startLocal()
const browser = browsing()
const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name }).first().click()
const follow = (page: Page, name: string | RegExp) =>
  page.getByRole('link', { name }).first().click()
const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()
/** Reloads the page until it shows the text, because it says so only when it is looked at. */
async function comesToShow(page: Page, text: string | RegExp): Promise<void> {
  while ((await page.getByText(text).count()) === 0) await page.reload()
}
/** Where the test's own server shows what the service says it shows. */
const here = (url: string): string => url.replace('http://vintem.test', local.url)
const copied = (page: Page, start: string) =>
  page.locator(`[data-copy^="${start}"]`).first().getAttribute('data-copy')

async function payAtBank(page: Page, brCode: string): Promise<void> {
  await page.goto(`${local.url}/bank?code=${encodeURIComponent(brCode)}`)
  await press(page, /^Pagar/)
}

async function typePayer(page: Page): Promise<void> {
  await page.getByLabel('Nome', { exact: true }).fill('Maria da Silva')
  await page.getByLabel('CPF ou CNPJ').fill('529.982.247-25')
}

/** A new charge is shared first. Its page is beyond. */
async function openCharge(page: Page): Promise<void> {
  await page.waitForURL(/\/charges\/charge_\w+\/share/)
  await page.goto(page.url().replace(/\/share.*/, ''))
}

/** Makes a link, pays it as a payer does, and sees that its page shows the payment by itself. */
async function sellByLink(page: Page, beside: Page, home: string): Promise<string> {
  await page.goto(`${home}/new/link`)
  await typePayer(page)
  await page.getByLabel('Total em reais').fill('30,00')
  await press(page, 'Criar link')
  await openCharge(page)
  await beside.goto(here((await copied(page, 'http://vintem.test/pay/'))!))
  await press(beside, 'Gerar código Pix')
  const brCode = await beside.locator('#code').inputValue()
  await payAtBank(beside, brCode)
  await shows(page, 'Pagamento recebido')
  return brCode
}

async function withdraw(page: Page, beside: Page, home: string): Promise<void> {
  await page.goto(`${home}/balance`)
  await follow(page, 'Sacar')
  await page.getByLabel('Quanto você quer sacar?').fill('50,00')
  await press(page, /^Sacar$/)
  await shows(page, 'Aguardando código')
  await beside.goto(`${local.url}/mailbox`)
  const digits = beside.locator('.otp .digits')
  while ((await digits.count()) === 0) await beside.reload()
  await page.getByLabel('Código de 6 dígitos').fill(await digits.innerText())
  await press(page, 'Confirmar saque')
  await shows(page, /Em andamento|Concluído/)
}

/** A key and a webhook, whose receiver fails first and gets the event when it is sent again. */
async function connect(page: Page, beside: Page, home: string): Promise<void> {
  await page.goto(`${home}/developers/keys/new`)
  await page.getByLabel('Nome', { exact: true }).fill('loja virtual')
  await press(page, 'Criar chave')
  await shows(page, /vk_sandbox_/)
  const receiver = await startReceiver()
  const { answer } = receiver
  receiver.answer = (response) => response.writeHead(500).end()
  await page.goto(`${home}/developers/webhooks/new`)
  await page.getByLabel('Nome', { exact: true }).fill('Loja')
  await page.getByLabel('Endereço (URL)').fill(receiver.url)
  await press(page, 'Criar webhook')
  await shows(page, /whsec_/)
  await page.goto(`${home}/new/charge`)
  await page.getByLabel('Valor em reais').fill('7,00')
  await typePayer(page)
  await press(page, 'Cobrar')
  await openCharge(page)
  await payAtBank(beside, (await copied(page, '000201'))!)
  await shows(page, 'Pagamento recebido')
  await page.goto(`${home}/developers/deliveries`)
  await comesToShow(page, '500')
  receiver.answer = answer
  await follow(page, /Cobrança paga|charge\.paid/)
  await press(page, 'Enviar de novo')
  await comesToShow(page, 'Entregue')
}

/** Accepts the invitation in another browser. */
async function joinAsViewer(theirs: Page): Promise<void> {
  await comesToShow(theirs, 'bia@example.com')
  await follow(theirs, /bia@example.com/)
  const letter = theirs.frameLocator('iframe')
  const link = letter.locator('a[href*="/invitation/"]').first()
  await theirs.goto(here((await link.getAttribute('href'))!))
  await theirs.getByLabel('Seu nome').fill('Bia Lima')
  await theirs.getByLabel('Senha').first().fill('um-cavalo-verde-corre-47')
  await press(theirs, 'Aceitar convite')
  await theirs.waitForURL(/\/dashboard\/\w+/)
}

test('a newcomer does a day’s work in the dashboard without a command line', async () => {
  const visitor = await browser.visitor()
  const page = await visitor.open(local.url)
  const beside = await visitor.context.newPage()
  await press(page, 'Abrir o painel')
  await page.waitForURL(/\/dashboard\/\w+/)
  const home = page.url().split('?')[0]!

  const brCode = await sellByLink(page, beside, home)
  await follow(page, 'Devolver')
  await follow(page, 'Outro valor')
  await page.getByLabel('Valor da devolução').fill('15,00')
  await press(page, 'Continuar')
  await press(page, 'Devolver R$ 15,00')
  await shows(page, 'Devolução de R$ 15,00')

  await withdraw(page, beside, home)
  if (!isLong) return

  await payAtBank(beside, brCode)
  await page.goto(`${home}/unmatched`)
  await shows(page, 'Pago em duplicidade')
  await follow(page, 'Ficar com o valor')
  await press(page, 'Ficar com o valor')
  await page.goto(`${home}/unmatched?status=ACCEPTED`)
  await shows(page, 'Pago em duplicidade')

  await connect(page, beside, home)

  await page.goto(`${home}/settings/members`)
  await follow(page, 'Convidar')
  await page.getByLabel('E-mail').fill('bia@example.com')
  await page.getByLabel(/Somente leitura/).check()
  await press(page, 'Enviar convite')
  await shows(page, 'Convite enviado.')
  const theirs = await (await browser.visitor()).open(`${local.url}/mailbox`)
  await joinAsViewer(theirs)
  assert.equal(await theirs.getByRole('link', { name: 'Cobrar', exact: true }).count(), 0)
  const refused = await theirs.goto(`${home}/new/charge`)
  assert.equal(refused!.status(), 403)
  await shows(theirs, 'Sua função não permite esta ação')
})
