import { checkoutUrl } from '../core/charges/addresses.ts'
import { isPlayMoney, receivedOf } from '../core/charges/rules.ts'
import { receiptLines } from '../core/receipts/lines.ts'
import type { ReceiptLine } from '../core/receipts/texts.ts'
import type { Language } from '../lib/language.ts'
import { formatReais } from '../lib/money.ts'
import { CHECKOUT } from './checkout-texts.ts'
import type { ChargePage } from './found.ts'
import { type Html, html } from './html.ts'
import { icon, inLanguage } from './layout.ts'
import { dueFact, type Fact, type Result, result, webAddress } from './parts.ts'

/** The title of the page, which is also the name of a saved file. */
export function receiptTitle({ charge, company, language }: ChargePage): string {
  const { title, testTitle } = RECEIPT[language]
  const amount = formatReais(receivedOf(charge))
  return isPlayMoney(company, charge) ? testTitle(amount) : title(amount)
}

/** The receipt of a paid charge, with buttons to save and to share it. */
export function receipt(page: ChargePage, state: 'paid' | 'refundedAll'): Html {
  const { charge, company, language, app, purchase = [] } = page
  const [texts, own] = [CHECKOUT[language], RECEIPT[language]]
  const successUrl = webAddress(charge.link?.successUrl)
  const lines = receiptLines(app, company, charge, purchase, language)
  const isPart = state === 'paid' && charge.refunded > 0
  const shown: Result = {
    ...(state === 'paid' ? { kind: 'good', icon: 'check' } : { kind: 'calm', icon: 'back' }),
    ...texts[state],
    ...(isPart && { text: own.refundedPart }),
    ...(state === 'paid' && isPlayMoney(company, charge) && { title: own.test.confirmed }),
    facts: [...lines.map((line) => factOf(line, page)), dueFact(page.collection, language)],
    more: actions(page),
    link: successUrl ? { url: successUrl, label: texts.success } : null,
    opensLink: state === 'paid',
  }
  return html`${testMark(page)}${printHead(page)}${result(shown, language)}${printFoot(page)}`
}

const SUMS: ReceiptLine['kind'][] = ['amount', 'charged', 'refunded']

function factOf({ kind, label, values }: ReceiptLine, { charge, language }: ChargePage): Fact {
  const [first, ...others] = values
  if (SUMS.includes(kind)) return [label, first, 'sum']
  if (kind === 'chargeId') return [label, html`<span class="code" translate="no">${first}</span>`]
  if (kind === 'endToEndId') return [label, transactionId(first!, language)]
  if (kind === 'purchase')
    return [label, values.map((value) => html`<span>${value}</span>`), 'rows']
  const small = others.map((value) => html`<br><span class="soft small">${value}</span>`)
  if (kind !== 'paidAt') return [label, html`${first}${small}`]
  const moment = charge.paymentDate!.toISOString()
  return [label, html`<time datetime="${moment}">${first}</time>${small}`]
}

function transactionId(id: string, language: ChargePage['language']): Html {
  const { copyId, idCopied } = RECEIPT[language]
  return html`<span class="code" translate="no">${id}</span>
<button type="button" class="button quiet slim js" data-copy-text="${id}" data-done="${idCopied}" aria-label="${copyId}">${icon('copy')}</button><span class="small done-text" role="status"></span>`
}

/** The buttons of a receipt. Only the URL of the page is shared. */
function actions(page: ChargePage): Html {
  const { save, share, copyLink, linkCopied, saveHint } = RECEIPT[page.language]
  const url = addressOf(page)
  return html`<div class="keep">
<button type="button" class="button quiet js" data-print>${save}</button>
<button type="button" class="button quiet js" data-share="${url}" data-title="${receiptTitle(page)}">${share}</button>
<button type="button" class="button quiet js" data-copy-text="${url}" data-done="${linkCopied}"><span>${copyLink}</span></button><p class="hide" role="status"></p>
<noscript><p class="hint">${saveHint}</p></noscript>
</div>`
}

const addressOf = ({ app, charge, chosen }: ChargePage): string =>
  inLanguage(checkoutUrl(app, charge), chosen)

/** Marks play money, on the screen and on paper. It is text, because printers may omit colors. */
function testMark({ charge, company, language }: ChargePage): Html | null {
  if (!isPlayMoney(company, charge)) return null
  const { title, text } = RECEIPT[language].test
  return html`<aside class="test-mark all" aria-label="${title}">${icon('alert')}<p><strong>${title}.</strong> ${text}</p></aside>`
}

/** The heading on paper. On the screen the page has the name of the company already. */
function printHead({ company, charge, language }: ChargePage): Html {
  const { printTitle, test } = RECEIPT[language]
  const title = isPlayMoney(company, charge) ? test.title : printTitle
  return html`<div class="paper paper-head" aria-hidden="true"><p>${company.name}</p><p>${title}</p></div>`
}

/** The URL on paper, where the receipt can be verified. */
function printFoot(page: ChargePage): Html {
  const { company, charge, language } = page
  const { check, test } = RECEIPT[language]
  const isTest = isPlayMoney(company, charge)
  return html`<div class="paper paper-foot" aria-hidden="true"><p>${check} ${addressOf(page)}</p>${isTest && html`<p class="stamp">${test.stamp}</p>`}</div>`
}

const pt = {
  /** The page's title, which is also the name of a saved file. */
  title: (amount: string) => `Comprovante Pix ${amount}`,
  testTitle: (amount: string) => `TESTE - Comprovante sem valor ${amount}`,
  refundedPart: 'Parte do valor foi devolvida.',
  test: {
    title: 'Comprovante de teste, sem valor',
    text: 'Ambiente de testes: nenhum valor real foi movimentado.',
    stamp: 'TESTE',
    confirmed: 'Pagamento confirmado (teste)',
  },
  save: 'Salvar ou imprimir',
  share: 'Compartilhar',
  copyLink: 'Copiar link',
  linkCopied: 'Link copiado',
  copyId: 'Copiar ID da transação',
  idCopied: 'ID copiado',
  /** Without scripts. */
  saveHint: 'Para salvar em PDF, use a opção Imprimir do seu navegador.',
  printTitle: 'Comprovante de pagamento Pix',
  check: 'Confira este comprovante em',
}

/** The texts of the page of a paid charge, except the lines of the receipt. */
type ReceiptTexts = typeof pt

const en: ReceiptTexts = {
  title: (amount) => `Pix receipt ${amount}`,
  testTitle: (amount) => `TEST - Receipt not valid ${amount}`,
  refundedPart: 'Part of the amount was returned.',
  test: {
    title: 'Test receipt, not valid',
    text: 'Test environment: no real money was moved.',
    stamp: 'TEST',
    confirmed: 'Payment confirmed (test)',
  },
  save: 'Save or print',
  share: 'Share',
  copyLink: 'Copy link',
  linkCopied: 'Link copied',
  copyId: 'Copy transaction ID',
  idCopied: 'ID copied',
  saveHint: 'To save it as a PDF, use your browser’s Print option.',
  printTitle: 'Pix payment receipt',
  check: 'Check this receipt at',
}

const RECEIPT: Record<Language, ReceiptTexts> = { pt, en }
