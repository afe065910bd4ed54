import type { Prefix } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'

const pt = {
  label: 'Busca geral',
  placeholder: 'Buscar nome, telefone, valor…',
  button: 'Buscar em tudo',
  title: 'Busca',
  titleFor: (text: string) => `Busca por “${text}”`,
  hint: 'Busque por nome ou parte dele, telefone ou os últimos dígitos, CPF ou CNPJ, e-mail, valor (19,90), sua referência, ID de qualquer registro ou o final dele, endereço de um link, ID da transação (E2E) ou o nome de uma página.',
  keys: 'Aperte / ou Ctrl+K para buscar de qualquer página, e ↓ para ir aos resultados.',
  nothing: (text: string) => `Nada encontrado para “${text}”`,
  nothingHint: 'Confira o que foi digitado ou tente outra informação.',
  all: 'Ver todos',
  more: (group: string) => `Ver todos: ${group}`,
  groups: {
    pages: 'Páginas',
    ids: 'Por ID',
    customers: 'Clientes',
    charges: 'Cobranças',
    links: 'Links',
    subscriptions: 'Assinaturas',
    unmatched: 'Pix sem cobrança',
    withdrawals: 'Saques',
  },
  noPayer: 'Pagador não informado',
  records: {
    charge: 'Cobrança',
    clnt: 'Cliente',
    dispute: 'Disputa',
    evt: 'Evento e entregas',
    link: 'Link',
    plan: 'Carnê',
    prod: 'Produto',
    qrs: 'QR Code fixo',
    rcpt: 'Recebedor',
    rec: 'Assinatura',
    rfnd: 'Devolução',
    wd: 'Saque',
  } satisfies Record<Prefix, string>,
}

type Texts = typeof pt

const en: Texts = {
  label: 'Find anything',
  placeholder: 'Search name, phone, amount…',
  button: 'Find everywhere',
  title: 'Search',
  titleFor: (text) => `Search for “${text}”`,
  hint: 'Search by a name or part of it, a phone or its last digits, CPF or CNPJ, e-mail, amount (19,90), your reference, the ID of any record or its end, the address of a link, transaction ID (E2E), or the name of a page.',
  keys: 'Press / or Ctrl+K to search from any page, and ↓ to go to the results.',
  nothing: (text) => `Nothing found for “${text}”`,
  nothingHint: 'Check what you typed, or try something else.',
  all: 'See all',
  more: (group) => `See all: ${group}`,
  groups: {
    pages: 'Pages',
    ids: 'By ID',
    customers: 'Customers',
    charges: 'Charges',
    links: 'Links',
    subscriptions: 'Subscriptions',
    unmatched: 'Unmatched payments',
    withdrawals: 'Withdrawals',
  },
  noPayer: 'Unknown payer',
  records: {
    charge: 'Charge',
    clnt: 'Customer',
    dispute: 'Dispute',
    evt: 'Event and deliveries',
    link: 'Link',
    plan: 'Payment plan',
    prod: 'Product',
    qrs: 'Static code',
    rcpt: 'Recipient',
    rec: 'Subscription',
    rfnd: 'Refund',
    wd: 'Withdrawal',
  },
}

export const SEARCH: Record<Language, Texts> = { pt, en }
