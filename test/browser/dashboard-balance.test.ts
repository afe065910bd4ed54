import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { type MemberOptions, signIn, useSessionIn } from '../support/dashboard.ts'
import { longTest } from '../support/long.ts'
import { makePaid, makeUnmatched, order } from '../support/payments.ts'
import { startLocal } from './local.ts'
import {
  breaksNoWord,
  browsing,
  fitsTheWindow,
  INJECTION,
  isAccessible,
  showsAsText,
  type Visit,
} from './support.ts'

const local = await startLocal()
const browser = browsing()
const PHONE: Visit = { phone: true, size: { width: 390, height: 844 } }
const WIDE: Visit = { size: { width: 1280, height: 800 }, dark: true }

/** Somebody with a browser, signed in to a company. */
async function visitorOf(company: { id: string }, visit: Visit, options: MemberOptions = {}) {
  const member = await signIn(local, company, options)
  const visitor = await browser.visitor(visit)
  await useSessionIn(visitor.context, local, member)
  const open = (path: string) => visitor.open(`${local.url}${member.home}${path}`)
  return { ...visitor, member, open }
}

async function isFine(page: Page): Promise<void> {
  await isAccessible(page)
  await fitsTheWindow(page)
  await breaksNoWord(page)
}

const LOOKS: [name: string, visit: Visit, language: 'pt' | 'en'][] = [
  ['a phone, in Portuguese', PHONE, 'pt'],
  ['a wide and dark window, in English', WIDE, 'en'],
]

for (const [name, visit, language] of LOOKS) {
  longTest(`balance, statement and its file: ${name}`, async () => {
    const client = await local.client()
    await makePaid(local, client, 1990)
    const { open } = await visitorOf(client.company, visit, { language })
    await isFine(await open('/balance'))
    const page = await open('/balance/entries')
    const words = language === 'pt' ? ['Tipo', 'Cobrança paga'] : ['Type', 'Charge paid']
    await isFine(page)
    await page
      .getByText(language === 'pt' ? 'Filtros' : 'Filters')
      .first()
      .click()
    await page.getByLabel(words[0]!).selectOption({ label: words[1]! })
    await page.getByRole('button', { name: language === 'pt' ? 'Filtrar' : 'Apply' }).click()
    await page.waitForURL(/type=CHARGE_PAID/)
    assert.equal(await page.locator('tbody tr').count(), 1)
    await isFine(page)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ])
    assert.equal(file.suggestedFilename(), 'extrato.csv')
  })

  longTest(`a withdrawal with a wrong and the right code, and its approval: ${name}`, async () => {
    const client = await local.client({ email: `${language}@example.com` })
    const pt = language === 'pt'
    const owner = await visitorOf(client.company, visit, { language, name: 'Olga' })
    const finance = await visitorOf(client.company, visit, { language, role: 'finance' })
    const limit = await owner.open('/settings/approvals')
    await isFine(limit)
    await limit.getByRole('textbox').fill('20,00')
    await limit.getByRole('button', { name: pt ? 'Salvar' : 'Save' }).click()
    await limit.getByText('R$ 20,00').first().waitFor()
    await isFine(limit)

    const page = await finance.open('/balance/withdraw')
    await isFine(page)
    await page.getByRole('textbox').fill('2.000,00')
    await page.getByRole('button', { name: pt ? 'Sacar' : 'Withdraw', exact: true }).click()
    await page.locator('[aria-invalid=true]').waitFor()
    await isFine(page)
    await page.getByRole('textbox').fill('50,00')
    await page.getByRole('button', { name: pt ? 'Sacar' : 'Withdraw', exact: true }).click()
    await page.waitForURL(/withdrawals\/wd_/)
    await isFine(page)
    const code = await codeFromMailbox(finance, client.company)
    await enter(page, code === '000000' ? '000001' : '000000')
    await page.getByText(pt ? /Restam 4 tentativas/ : /4 tries are left/).waitFor()
    await isFine(page)
    await enter(page, code)
    await page.getByText(pt ? 'Aguardando aprovação' : 'Waiting for approval').waitFor()
    await isFine(page)

    const approval = await owner.open(new URL(page.url()).pathname.slice(owner.member.home.length))
    await isFine(approval)
    await approval.getByRole('button', { name: pt ? 'Aprovar' : 'Approve' }).click()
    await approval.getByText(pt ? /Saque aprovado/ : /Withdrawal approved/).waitFor()
    const end = approval.getByText(pt ? 'Concluído' : 'Completed')
    while ((await end.count()) === 0) await approval.reload()
    await approval.getByText('Olga').last().waitFor()
    await isFine(approval)
    await isFine(await owner.open('/balance/withdrawals'))
  })

  longTest(
    `unmatched payments are accepted and refunded, one after the other: ${name}`,
    async () => {
      const client = await local.client()
      const pt = language === 'pt'
      const { brCode } = await makePaid(local, client, 1990)
      await makeUnmatched(local, client, 700)
      const { open } = await visitorOf(client.company, visit, { language })
      for (const name of [INJECTION, `\u202e${'W'.repeat(254)}`]) {
        const { status, text } = await order(local, {
          brCode,
          payer: { name, taxId: '52998224725' },
        })
        assert.equal(status, 201, text)
      }
      const page = await open('/unmatched')
      await isFine(page)
      await showsAsText(page, INJECTION)
      const cards = page.locator('.decision')
      await cards
        .last()
        .getByRole('link', { name: pt ? 'Ficar com o valor' : 'Keep the money' })
        .click()
      await isFine(page)
      await page.getByRole('button', { name: pt ? 'Ficar com o valor' : 'Keep the money' }).click()
      await page.getByText(pt ? /Pronto, você ficou com o valor/ : /Money kept\. It/).waitFor()
      assert.equal(await cards.count(), 2)
      await isFine(page)
      await cards
        .last()
        .getByRole('link', { name: pt ? 'Ver detalhes' : 'View details' })
        .click()
      await page.getByText('529.982.247-25').waitFor()
      await isFine(page)
      await page.getByRole('link', { name: pt ? 'Devolver' : 'Refund' }).click()
      await isFine(page)
      await page.getByRole('textbox').fill('Obrigado')
      await page.getByRole('button', { name: pt ? 'Devolver' : 'Refund' }).click()
      await page.getByText(pt ? /Devolução iniciada/ : /Refund started/).waitFor()
      assert.equal(await cards.count(), 1)
      await isFine(await open('/unmatched?status=REFUNDING'))
    },
  )
}

test('without scripts money is withdrawn and an unmatched payment accepted', async () => {
  const client = await local.client({ email: 'plain@example.com' })
  await makeUnmatched(local, client, 700)
  const visitor = await visitorOf(client.company, { javaScript: false, phone: true })
  const page = await visitor.open('/unmatched')
  await page.getByRole('link', { name: 'Ficar com o valor' }).click()
  await page.getByRole('button', { name: 'Ficar com o valor' }).click()
  await page.getByText(/Nenhum pagamento aguarda/).waitFor()
  await page.goto(`${local.url}${visitor.member.home}/balance/withdraw`)
  await page.getByRole('button', { name: /Sacar tudo/ }).click()
  await page.waitForURL(/withdrawals\/wd_/)
  await enter(page, await codeFromMailbox(visitor, client.company))
  await page.getByText(/Em andamento|Concluído/).waitFor()
})

/** The code that a company was sent, as it is in the mailbox of a local installation. */
async function codeFromMailbox(
  { open }: { open(path: string): Promise<Page> },
  { email }: { email: string },
): Promise<string> {
  const page = await open('/balance')
  const digits = page.locator('.mail', { hasText: email }).locator('.digits')
  do await page.goto(`${local.url}/mailbox`)
  while ((await digits.count()) === 0)
  const code = await digits.first().innerText()
  await page.close()
  return code
}

async function enter(page: Page, code: string): Promise<void> {
  await page.getByRole('textbox').fill(code)
  await page.getByRole('button', { name: /Confirmar saque|Confirm withdrawal/ }).click()
}
