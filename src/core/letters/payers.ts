import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { type Cents, formatReais } from '../../lib/money.ts'
import { formatDay, formatMoment, type LocalDate } from '../../pix/local-time.ts'
import { type Block, compose, greetedName, type LetterCompany, paragraph } from './layout.ts'
import { type AboutMessage, messageValues } from './messages.ts'
import { blocksOf } from './placeholders.ts'

const pt = {
  amount: 'Valor',
  link: {
    subject: (company: string, amount: string) => `${company}: cobrança de ${amount}`,
    title: (amount: string) => `Cobrança de ${amount}`,
    greeting: (name: string | null) => (name === null ? 'Olá!' : `Olá, ${name}!`),
    intro: (company: string) => `${company} enviou um link de pagamento para você.`,
    andMore: (count: number) => (count === 1 ? 'e mais 1 item' : `e mais ${count} itens`),
    discount: 'Desconto',
    addition: 'Acréscimo',
    description: 'Descrição',
    until: 'Pague até',
    dueOn: 'Vencimento',
    pay: 'Pagar com Pix',
    plan: {
      subject: (company: string, count: number) => `${company}: seu carnê em ${count} parcelas`,
      title: (count: number, total: string) => `Carnê de ${total} em ${count} parcelas`,
      intro: (company: string) =>
        `${company} enviou um carnê para você. Cada parcela é paga com um Pix.`,
      total: 'Total',
      next: 'Próxima parcela',
      open: 'Ver as parcelas',
    },
    unknown:
      'Não reconhece esta cobrança? Ignore esta mensagem: nada será cobrado se você não pagar.',
  },
  receipt: {
    subject: (company: string, amount: string) =>
      `${company}: comprovante de pagamento de ${amount}`,
    /** Is before the subject of a receipt for play money. */
    test: '[TESTE]',
    title: 'Comprovante de pagamento',
    testTitle: 'Comprovante de teste, sem valor',
    greeting: (name: string | null) => (name === null ? 'Olá!' : `Olá, ${name}!`),
    intro: (company: string) => `${company} recebeu o seu pagamento via Pix.`,
    refunded: 'Este pagamento já foi devolvido, no todo ou em parte: veja o valor devolvido.',
    open: 'Ver e salvar o comprovante',
    unknown: 'Não reconhece este pagamento? Responda a este e-mail para falar com a loja.',
  },
}

type Texts = typeof pt

const en: Texts = {
  amount: 'Amount',
  link: {
    subject: (company, amount) => `${company}: payment request of ${amount}`,
    title: (amount) => `Payment request of ${amount}`,
    greeting: (name) => (name === null ? 'Hello!' : `Hello, ${name}!`),
    intro: (company) => `${company} sent you a payment link.`,
    andMore: (count) => (count === 1 ? 'and 1 more item' : `and ${count} more items`),
    discount: 'Discount',
    addition: 'Surcharge',
    description: 'Description',
    until: 'Pay by',
    dueOn: 'Due date',
    pay: 'Pay with Pix',
    plan: {
      subject: (company, count) => `${company}: your plan of ${count} installments`,
      title: (count, total) => `${total} in ${count} installments`,
      intro: (company) =>
        `${company} sent you a payment plan. Each installment is paid with a Pix.`,
      total: 'Total',
      next: 'Next installment',
      open: 'View the installments',
    },
    unknown:
      'You do not recognize this request? Ignore this message: nothing is charged unless you pay.',
  },
  receipt: {
    subject: (company, amount) => `${company}: payment receipt, ${amount}`,
    test: '[TEST]',
    title: 'Payment receipt',
    testTitle: 'Test receipt, not valid',
    greeting: (name) => (name === null ? 'Hello!' : `Hello, ${name}!`),
    intro: (company) => `${company} has received your Pix payment.`,
    refunded: 'All or part of this payment has been returned: see the amount returned.',
    open: 'View and save the receipt',
    unknown: 'You do not recognize this payment? Reply to this email to reach the store.',
  },
}

const TEXTS: Record<Language, Texts> = { pt, en }

const MAX_ITEMS = 20

/** What the company says itself, in place of our first words. */
type OwnWords = { text: string; about: AboutMessage }

/** The words of a letter around its facts and its button. */
const wordsOf = (own: OwnWords | null, ours: string[], facts: Block, button: Block): Block[] =>
  own
    ? blocksOf(own.text, messageValues(own.about), button, facts)
    : [...ours.map(paragraph), facts, button]

type LinkLetter = {
  to: string
  payerName: string
  own?: OwnWords | null
  amount: Cents
  url: string
  expiresAt: Date
  dueDate?: LocalDate | undefined
  devMode?: boolean
  /** What the merchant says that it is for. */
  description?: string | null
  /** The items, as the page of the payer shows them. */
  breakdown?: Breakdown
}

/** The items, and what is added to their sum or, if below zero, taken off. */
type Breakdown = { lines: Line[]; difference: bigint }
type Line = { name: string; quantity: number; total: bigint }

const sumOf = (lines: Line[]): bigint => lines.reduce((sum, { total }) => sum + total, 0n)

/** The items, one per row. The rows add up to the amount. */
function purchase(
  { language }: LetterCompany,
  { lines, difference }: Breakdown,
): [string, string][] {
  const { link: texts } = TEXTS[language]
  const shown = lines.slice(0, MAX_ITEMS)
  const rest = lines.slice(MAX_ITEMS)
  const facts = shown.map(({ name, quantity, total }): [string, string] => [
    `${quantity} × ${name}`,
    formatReais(total),
  ])
  if (rest.length > 0) facts.push([texts.andMore(rest.length), formatReais(sumOf(rest))])
  if (difference > 0n) facts.push([texts.addition, formatReais(difference)])
  if (difference < 0n) facts.push([texts.discount, formatReais(difference)])
  return facts
}

export function composePaymentLink(company: LetterCompany, link: LinkLetter): Letter {
  const { amount, link: texts } = TEXTS[company.language]
  const value = formatReais(link.amount)
  const facts: [string, string][] = [
    ...(link.description ? [[texts.description, link.description] as [string, string]] : []),
    ...(link.breakdown ? purchase(company, link.breakdown) : []),
    [amount, value],
    link.dueDate
      ? [texts.dueOn, formatDay(link.dueDate)]
      : [texts.until, formatMoment(link.expiresAt)],
  ]
  return compose(company, {
    to: link.to,
    subject: texts.subject(company.name, value),
    title: texts.title(value),
    blocks: [
      ...wordsOf(
        link.own ?? null,
        [texts.greeting(greetedName(link.payerName)), texts.intro(company.name)],
        { kind: 'facts', facts },
        { kind: 'button', label: texts.pay, url: link.url },
      ),
      paragraph(texts.unknown),
    ],
    isTest: link.devMode || company.mode === 'sandbox',
    toPayer: true,
  })
}

type PlanLetter = Pick<LinkLetter, 'to' | 'payerName' | 'url' | 'devMode' | 'description'> & {
  total: Cents
  count: number
  next: { amount: Cents; dueDate: LocalDate }
}

/** The mail with the page on which all charges of a plan are. */
export function composePlanLink(company: LetterCompany, plan: PlanLetter): Letter {
  const { link: texts } = TEXTS[company.language]
  const { to, url, count, next } = plan
  const total = formatReais(plan.total)
  const facts: [string, string][] = [
    ...(plan.description ? [[texts.description, plan.description] as [string, string]] : []),
    [texts.plan.total, total],
    [texts.plan.next, `${formatReais(next.amount)} · ${formatDay(next.dueDate)}`],
  ]
  return compose(company, {
    to,
    subject: texts.plan.subject(company.name, count),
    title: texts.plan.title(count, total),
    blocks: [
      paragraph(texts.greeting(greetedName(plan.payerName))),
      paragraph(texts.plan.intro(company.name)),
      { kind: 'facts', facts },
      { kind: 'button', label: texts.plan.open, url },
      paragraph(texts.unknown),
    ],
    isTest: plan.devMode || company.mode === 'sandbox',
    toPayer: true,
  })
}

type ReceiptLetter = {
  to: string
  payerName: string
  /** What has arrived. */
  amount: Cents
  isRefunded: boolean
  devMode: boolean
  lines: { label: string; values: string[] }[]
  url: string
  own?: OwnWords | null
}

/** The mail with a payer's receipt: the same lines as on its page, and a link to the page. */
export function composeReceipt(company: LetterCompany, receipt: ReceiptLetter): Letter {
  const { to, payerName, amount, isRefunded, devMode, lines, url, own = null } = receipt
  const { receipt: texts } = TEXTS[company.language]
  const isTest = devMode || company.mode === 'sandbox'
  const subject = texts.subject(company.name, formatReais(amount))
  const facts = lines.map(({ label, values }): [string, string] => [label, values.join(' · ')])
  const words = wordsOf(
    own,
    [texts.greeting(greetedName(payerName)), texts.intro(company.name)],
    { kind: 'facts', facts },
    { kind: 'button', label: texts.open, url },
  )
  const refunded = isRefunded ? [paragraph(texts.refunded)] : []
  const at = words.findIndex(({ kind }) => kind === 'facts')
  const blocks = [...words.slice(0, at), ...refunded, ...words.slice(at), paragraph(texts.unknown)]
  const marked = isTest ? `${texts.test} ${subject}` : subject
  return compose(company, {
    to,
    subject: marked,
    blocks,
    isTest,
    toPayer: true,
    title: isTest ? texts.testTitle : texts.title,
  })
}
