import type { Letter } from '../../lib/mailer.ts'
import { type Cents, formatReais } from '../../lib/money.ts'
import { withoutLinks } from '../../lib/one-line.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskPixKey } from '../../pix/masks.ts'
import type { ReturnReason } from '../../provider/port.ts'
import { asIs, type Block, type Fact, htmlOf, type LetterCompany, textOf } from './layout.ts'
import { RECEIPT_LETTERS } from './receipt-texts.ts'
import { TEXTS } from './texts.ts'

export type { Letter }

export const paragraph = (text: string): Block => ({ kind: 'paragraph', text })
const MAX_ITEMS = 20
const MAX_SUBJECT = 150
const MAX_NAME = 60

const cut = (text: string, max: number): string => {
  const characters = [...text]
  return characters.length <= max
    ? text
    : `${characters
        .slice(0, max - 1)
        .join('')
        .trim()}…`
}

/**
 * The name that somebody is greeted by, cut if it is long. Null if it is none, but says something
 * else, such as an address: whoever makes a charge chooses the name of its payer.
 */
export function greetedName(name: string): string | null {
  const shown = withoutLinks(name)
  const isName = /\p{L}/u.test(shown) && shown === name.trim().replace(/\s+/g, ' ')
  return isName ? cut(shown, MAX_NAME) : null
}

type Contents = {
  to: string
  subject: string
  title: string
  blocks: Block[]
  isTest?: boolean
  /** A letter to a payer has the name of the company as sender, and replies go to the company. */
  toPayer?: boolean
}

/** Makes both parts of a letter. If it is about play money, it says so. */
export function compose(company: LetterCompany, contents: Contents): Letter {
  const { to, subject, title, blocks, isTest = company.mode === 'sandbox' } = contents
  const { automatic, sandbox } = TEXTS[company.language]
  const note = isTest ? [paragraph(sandbox)] : []
  const { payerFooter } = RECEIPT_LETTERS[company.language]
  const footer = contents.toPayer ? payerFooter : automatic
  const page = { title, blocks: [...blocks, ...note], footer }
  const sender = { name: cut(withoutLinks(company.name), MAX_NAME), replyTo: company.email }
  return {
    to,
    subject: cut(withoutLinks(subject), MAX_SUBJECT),
    text: textOf(company, page),
    html: htmlOf(company, page),
    ...(contents.toPayer && { sender }),
    ...(contents.toPayer && isTest && { isPlayMoney: true }),
  }
}

/** The code is in the body only, because locked screens show subjects. */
export function composeWithdrawalCode(
  company: LetterCompany,
  withdrawal: {
    code: string
    value: Cents
    destination: string
    lifetime_s: number
    expiresAt: Date
  },
): Letter {
  const { code, value, destination, lifetime_s, expiresAt } = withdrawal
  const { amount, destination: key, code: texts } = TEXTS[company.language]
  const facts: Fact[] = [
    [amount, formatReais(value)],
    [key, asIs(maskPixKey(destination))],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(formatReais(value)),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(company.name)),
      { kind: 'code', code },
      paragraph(texts.validity(lifetime_s / 60, formatMoment(expiresAt))),
      { kind: 'facts', facts },
      paragraph(texts.secrecy),
      paragraph(texts.notYou),
    ],
  })
}

export function composeWithdrawalCompleted(
  company: LetterCompany,
  withdrawal: { value: Cents; destination: string; endToEndId: string; finishedAt: Date },
): Letter {
  const { value, destination, endToEndId, finishedAt } = withdrawal
  const { amount, destination: key, completed: texts } = TEXTS[company.language]
  const facts: Fact[] = [
    [amount, formatReais(value)],
    [key, asIs(maskPixKey(destination))],
    [texts.at, formatMoment(finishedAt)],
    [texts.endToEndId, endToEndId],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(formatReais(value)),
    title: texts.title,
    blocks: [paragraph(texts.intro), { kind: 'facts', facts }, paragraph(texts.notYou)],
  })
}

export function composeWithdrawalFailed(
  company: LetterCompany,
  { value, reason }: { value: Cents; reason: string },
): Letter {
  const { amount, failed: texts } = TEXTS[company.language]
  const facts: [string, string][] = [
    [amount, formatReais(value)],
    [texts.reason, reason],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(formatReais(value)),
    title: texts.title,
    blocks: [paragraph(texts.intro), { kind: 'facts', facts }],
  })
}

export type ReturnLetter = {
  amount: Cents
  reason: ReturnReason
  returnedAt: Date
  endToEndId: string
  returnId: string
  /** The public id of the charge that the payment has paid. */
  charge: string | null
  /** The available balance after the return. */
  available: number
}

/** The bank has returned money by itself. */
export function composeBankReturn(company: LetterCompany, letter: ReturnLetter): Letter {
  const { amount, returned: texts } = TEXTS[company.language]
  const { charge, available } = letter
  const facts: [string, string][] = [
    [amount, formatReais(letter.amount)],
    [texts.reason, texts.reasons[letter.reason]],
    [texts.at, formatMoment(letter.returnedAt)],
    ...(charge === null ? [] : [[texts.charge, charge] as [string, string]]),
    [texts.payment, letter.endToEndId],
    [texts.return, letter.returnId],
  ]
  const below = available < 0 ? [paragraph(texts.below(formatReais(available)))] : []
  return compose(company, {
    to: company.email,
    subject: texts.subject(formatReais(letter.amount)),
    title: texts.title,
    blocks: [paragraph(texts.intro), { kind: 'facts', facts }, ...below, paragraph(texts.unknown)],
  })
}

type LinkLetter = {
  to: string
  payerName: string
  amount: Cents
  url: string
  expiresAt: Date
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
    [texts.until, formatMoment(link.expiresAt)],
  ]
  return compose(company, {
    to: link.to,
    subject: texts.subject(company.name, value),
    title: texts.title(value),
    blocks: [
      paragraph(texts.greeting(greetedName(link.payerName))),
      paragraph(texts.intro(company.name)),
      { kind: 'facts', facts },
      { kind: 'button', label: texts.pay, url: link.url },
      paragraph(texts.unknown),
    ],
    isTest: link.devMode || company.mode === 'sandbox',
    toPayer: true,
  })
}

/** The name and address of a webhook, without the query string, which may be secret. */
function webhookFacts(
  { language }: LetterCompany,
  { name, url }: { name: string; url: string },
): Block {
  const { host, pathname } = new URL(url)
  const { webhook: texts } = TEXTS[language]
  const facts: Fact[] = [
    [texts.name, name],
    [texts.address, asIs(host + pathname)],
  ]
  return { kind: 'facts', facts }
}

export function composeWebhookFailing(
  company: LetterCompany,
  webhook: { name: string; url: string; failingSince: Date; end: Date },
): Letter {
  const { failing: texts } = TEXTS[company.language]
  return compose(company, {
    to: company.email,
    subject: texts.subject(webhook.name),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(formatMoment(webhook.failingSince))),
      webhookFacts(company, webhook),
      paragraph(texts.end(formatMoment(webhook.end))),
      paragraph(texts.repair),
    ],
  })
}

export function composeWebhookDeactivated(
  company: LetterCompany,
  webhook: { name: string; url: string; reason: 'GONE' | 'FAILING' },
): Letter {
  const { deactivated: texts } = TEXTS[company.language]
  return compose(company, {
    to: company.email,
    subject: texts.subject(webhook.name),
    title: texts.title,
    blocks: [
      paragraph(webhook.reason === 'GONE' ? texts.gone : texts.failing),
      webhookFacts(company, webhook),
      paragraph(texts.kept),
      paragraph(texts.activate),
    ],
  })
}

/** In time for somebody to renew it, which at some banks takes days. */
export function composeCertificateEnding(
  company: LetterCompany,
  { bank, endsAt }: { bank: string; endsAt: Date },
): Letter {
  const { certificate: texts } = TEXTS[company.language]
  const end = formatMoment(endsAt)
  const facts: [string, string][] = [
    [texts.bank, bank],
    [texts.end, end],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(bank, end.slice(0, 10)),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(company.name)),
      { kind: 'facts', facts },
      paragraph(texts.after),
      paragraph(texts.renew),
    ],
  })
}
