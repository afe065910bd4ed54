import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { type Cents, formatReais } from '../../lib/money.ts'
import { formatDay, type LocalDate } from '../../pix/local-time.ts'
import { type Block, compose, greetedName, type LetterCompany, paragraph } from './layout.ts'
import { blocksOf, fill } from './placeholders.ts'

/** What a company can write into its reminders, each in braces. */
export const PLACEHOLDERS = ['nome', 'valor', 'vencimento', 'link', 'empresa'] as const
type Placeholder = (typeof PLACEHOLDERS)[number]

/** Subject and text of a reminder. A line of the text becomes a paragraph. */
export type ReminderTexts = { subject: string; text: string }

/** What a reminder is about, by which its first text is chosen. */
export type ReminderSort = 'before' | 'today' | 'after' | 'failed'

/** The texts of companies that have written none. They take the same placeholders. */
export const FIRST_TEXTS: Record<Language, Record<ReminderSort, ReminderTexts>> = {
  pt: {
    before: {
      subject: '{empresa}: cobrança de {valor} vence em {vencimento}',
      text: 'Olá, {nome}!\nSua cobrança de {empresa} vence em {vencimento}. Pague com Pix em poucos segundos.',
    },
    today: {
      subject: '{empresa}: cobrança de {valor} vence hoje',
      text: 'Olá, {nome}!\nSua cobrança de {empresa} vence hoje, {vencimento}. Pague com Pix em poucos segundos.',
    },
    after: {
      subject: '{empresa}: cobrança de {valor} venceu em {vencimento}',
      text: 'Olá, {nome}!\nSua cobrança de {empresa} venceu em {vencimento} e ainda não identificamos o pagamento.\nSe você já pagou, desconsidere este e-mail.',
    },
    failed: {
      subject: '{empresa}: não foi possível debitar {valor}',
      text: 'Olá, {nome}!\nO débito de {valor} da sua assinatura com {empresa}, com vencimento em {vencimento}, não foi concluído. Em geral, isso acontece por falta de saldo.',
    },
  },
  en: {
    before: {
      subject: '{empresa}: {valor} due on {vencimento}',
      text: 'Hello, {nome}!\nYour payment to {empresa} is due on {vencimento}. Pay with Pix in a few seconds.',
    },
    today: {
      subject: '{empresa}: {valor} due today',
      text: 'Hello, {nome}!\nYour payment to {empresa} is due today, {vencimento}. Pay with Pix in a few seconds.',
    },
    after: {
      subject: '{empresa}: {valor} was due on {vencimento}',
      text: 'Hello, {nome}!\nYour payment to {empresa} was due on {vencimento} and we have not received it yet.\nIf you have already paid, please disregard this email.',
    },
    failed: {
      subject: '{empresa}: {valor} could not be debited',
      text: 'Hello, {nome}!\nThe debit of {valor} for your subscription with {empresa}, due on {vencimento}, was not completed. This is usually due to insufficient funds.',
    },
  },
}

const pt = {
  original: 'Valor original',
  fine: 'Multa',
  interest: 'Juros',
  discount: 'Desconto',
  rebate: 'Abatimento',
  today: 'Valor a pagar hoje',
  amount: 'Valor',
  description: 'Descrição',
  dueOn: 'Vencimento',
  titles: {
    due: (amount: string) => `Cobrança de ${amount}`,
    failed: 'Débito não concluído',
  },
  pay: 'Pagar com Pix',
  open: 'Ver a cobrança',
  nextTry: (day: string) =>
    `Seu banco tenta novamente em ${day}. Deixe saldo na conta até lá: você não precisa fazer mais nada.`,
  noMoreTries:
    'Não haverá nova tentativa de débito desta cobrança. Responda a este e-mail para combinar o pagamento com a loja.',
  unknown:
    'Não reconhece esta cobrança? Ignore esta mensagem: nada será cobrado se você não pagar.',
  unsubscribe: (company: string) => `Não quero mais lembretes de ${company}`,
}

const en: typeof pt = {
  original: 'Original amount',
  fine: 'Fine',
  interest: 'Interest',
  discount: 'Discount',
  rebate: 'Rebate',
  today: 'To pay today',
  amount: 'Amount',
  description: 'Description',
  dueOn: 'Due date',
  titles: {
    due: (amount) => `Payment request of ${amount}`,
    failed: 'Debit not completed',
  },
  pay: 'Pay with Pix',
  open: 'View the charge',
  nextTry: (day) =>
    `Your bank tries again on ${day}. Keep enough money in the account until then: there is nothing else to do.`,
  noMoreTries:
    'This charge will not be debited again. Reply to this email to arrange the payment with the store.',
  unknown:
    'You do not recognize this request? Ignore this message: nothing is charged unless you pay.',
  unsubscribe: (company) => `Stop reminders from ${company}`,
}

const TEXTS: Record<Language, typeof pt> = { pt, en }

/** What is to be paid, and how it comes about. */
type Amounts = {
  original: Cents
  fine: Cents
  interest: Cents
  discount: Cents
  rebate: Cents
  total: Cents
}

export type ReminderLetter = {
  to: string
  payerName: string
  /** Those of the company. Null: it has written none. */
  texts: ReminderTexts | null
  sort: ReminderSort
  amounts: Amounts
  dueDate: LocalDate
  description: string | null
  devMode: boolean
  url: string
  unsubscribeUrl: string
  /** Of a debit that has failed: when the bank tries again. Null: never. */
  nextTry?: LocalDate | null
}

type Values = Record<Exclude<Placeholder, 'link'>, string | null>

function factsOf({ language }: LetterCompany, letter: ReminderLetter): [string, string][] {
  const texts = TEXTS[language]
  const { amounts, dueDate, description, sort } = letter
  const { original, total } = amounts
  const { fine, interest, discount, rebate } = amounts
  const parts = Object.entries({ fine, interest, discount: -discount, rebate: -rebate })
    .filter(([, cents]) => cents !== 0)
    .map(([part, cents]): [string, string] => [texts[part as 'fine'], formatReais(cents)])
  const rows: [string, string | null][] = [
    [texts.description, description],
    [texts.original, total === original ? null : formatReais(original)],
    ...parts,
    [sort === 'failed' ? texts.amount : texts.today, formatReais(total)],
    [texts.dueOn, formatDay(dueDate)],
  ]
  return rows.filter((row): row is [string, string] => Boolean(row[1]))
}

/** A reminder, in the language and, if it has some, in the words of the company. */
export function composeReminder(company: LetterCompany, letter: ReminderLetter): Letter {
  const { language, name } = company
  const { sort, url, devMode, nextTry, unsubscribeUrl } = letter
  const texts = TEXTS[language]
  const { subject, text } = letter.texts ?? FIRST_TEXTS[language][sort]
  const amount = formatReais(letter.amounts.total)
  const values: Values = {
    nome: greetedName(letter.payerName),
    valor: amount,
    vencimento: formatDay(letter.dueDate),
    empresa: name,
  }
  const isFailed = sort === 'failed'
  const button: Block = { kind: 'button', label: isFailed ? texts.open : texts.pay, url }
  const facts: Block = { kind: 'facts', facts: factsOf(company, letter) }
  const next = nextTry ? texts.nextTry(formatDay(nextTry)) : texts.noMoreTries
  return compose(company, {
    to: letter.to,
    subject: fill(subject, values),
    title: isFailed ? texts.titles.failed : texts.titles.due(amount),
    blocks: [
      ...blocksOf(text, values, button, facts),
      paragraph(isFailed ? next : texts.unknown),
      { kind: 'link', label: texts.unsubscribe(name), url: unsubscribeUrl },
    ],
    isTest: devMode || company.mode === 'sandbox',
    toPayer: true,
    unsubscribeUrl,
  })
}
