import type { Language } from '../../lib/language.ts'
import { type Cents, formatReais } from '../../lib/money.ts'
import { formatDay, type LocalDate } from '../../pix/local-time.ts'
import { greetedName } from './layout.ts'
import { fill, type Values } from './placeholders.ts'

/** What a company tells a payer by WhatsApp or e-mail when it sends a page of ours. */
export const MESSAGE_SORTS = [
  'charge',
  'link',
  'overdue',
  'receipt',
  'plan',
  'reusable',
  'subscription',
] as const
export type MessageSort = (typeof MESSAGE_SORTS)[number]

/**
 * What each message may say, in braces. A receipt has no end, only what is late has a due date, and
 * a link for many has no payer.
 */
export const MESSAGE_PLACEHOLDERS: Record<MessageSort, readonly string[]> = {
  charge: ['nome', 'valor', 'link', 'validade', 'empresa'],
  link: ['nome', 'valor', 'link', 'validade', 'empresa'],
  overdue: ['nome', 'valor', 'link', 'validade', 'vencimento', 'empresa'],
  receipt: ['nome', 'valor', 'link', 'empresa'],
  plan: ['nome', 'valor', 'link', 'empresa'],
  reusable: ['produto', 'valor', 'link', 'validade', 'empresa'],
  subscription: ['nome', 'produto', 'valor', 'link', 'validade', 'empresa'],
}

/** The messages of companies that have written none. */
export const FIRST_MESSAGES: Record<Language, Record<MessageSort, string>> = {
  pt: {
    charge:
      'Olá, {nome}! Sua cobrança de {empresa} está pronta.\nValor: {valor}\nVálida até: {validade}\nPague com Pix:\n{link}',
    link: 'Olá, {nome}! Este é o seu link de pagamento de {empresa}.\nValor: {valor}\nVálido até: {validade}\nPague com Pix:\n{link}',
    overdue:
      'Olá, {nome}! Sua cobrança de {empresa} venceu em {vencimento}.\nValor hoje: {valor}\nVocê ainda pode pagar com Pix até {validade}:\n{link}\nSe já pagou, desconsidere esta mensagem.',
    receipt:
      'Olá, {nome}! {empresa} recebeu seu Pix de {valor}. Obrigado!\nVeja e salve o comprovante:\n{link}',
    plan: 'Olá, {nome}! Seu carnê de {empresa} está pronto.\nTotal: {valor}\nVeja as parcelas e pague com Pix:\n{link}',
    reusable:
      '{produto}, de {empresa}.\nValor: {valor}\nDisponível até: {validade}\nPague com Pix:\n{link}',
    subscription:
      'Olá, {nome}! Este é o link da sua assinatura de {produto}, de {empresa}.\nValor de cada cobrança: {valor}\nVálido até: {validade}\nAutorize uma vez no aplicativo do seu banco:\n{link}',
  },
  en: {
    charge:
      'Hello, {nome}! Your payment request from {empresa} is ready.\nAmount: {valor}\nValid until: {validade}\nPay with Pix:\n{link}',
    link: 'Hello, {nome}! This is your payment link from {empresa}.\nAmount: {valor}\nValid until: {validade}\nPay with Pix:\n{link}',
    overdue:
      'Hello, {nome}! Your payment to {empresa} was due on {vencimento}.\nAmount today: {valor}\nYou can still pay with Pix until {validade}:\n{link}\nIf you have already paid, please disregard this message.',
    receipt:
      'Hello, {nome}! {empresa} has received your Pix of {valor}. Thank you!\nView and save the receipt:\n{link}',
    plan: 'Hello, {nome}! Your installments at {empresa} are ready.\nTotal: {valor}\nView them and pay with Pix:\n{link}',
    reusable:
      '{produto}, from {empresa}.\nAmount: {valor}\nAvailable until: {validade}\nPay with Pix:\n{link}',
    subscription:
      'Hello, {nome}! This is the link of your subscription to {produto}, from {empresa}.\nAmount of each charge: {valor}\nValid until: {validade}\nAuthorize it once in the app of your bank:\n{link}',
  },
}

/** What a message is about. What there is not is null, and the line that says it is left out. */
export type AboutMessage = {
  company: string
  payerName: string | null
  /** What is sold, in the words of the company. */
  product: string | null
  /** Null: the payer chooses it. */
  amount: Cents | null
  /** Until when it can be paid, as people read it. Null: it has no end. */
  until: string | null
  dueDate: LocalDate | null
}

export const messageValues = (about: AboutMessage): Values => ({
  nome: about.payerName === null ? null : greetedName(about.payerName),
  produto: about.product,
  valor: about.amount === null ? null : formatReais(about.amount),
  validade: about.until,
  vencimento: about.dueDate && formatDay(about.dueDate),
  empresa: about.company,
})

/** A message with the address of its page, at its end if the company has put it nowhere. */
export function composeMessage(text: string, about: AboutMessage, link: string): string {
  const filled = fill(text, { ...messageValues(about), link })
  return filled.includes(link) ? filled : `${filled.trimEnd()}\n${link}`
}
