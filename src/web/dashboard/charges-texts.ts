import type { Sought } from '../../core/charges/meanings.ts'
import type { ChargeKind, ChargeStatus, PaymentStatus } from '../../core/charges/rules.ts'
import type { Language } from '../../lib/language.ts'

type Texts = {
  title: string
  caption: string
  search: string
  searchHint: string
  find: string
  filters: string
  apply: string
  clear: string
  any: string
  status: string
  payment: string
  kind: string
  by: string
  byCreation: string
  byPayment: string
  from: string
  to: string
  amount: string
  dev: string
  devOnly: string
  devNone: string
  devMark: string
  wrongAmount: string
  wrongDay: string
  wrongPeriod: string
  statuses: Record<ChargeStatus, string>
  payments: Record<PaymentStatus, string>
  kinds: Record<ChargeKind, string>
  columns: { charge: string; state: string; amount: string; made: string; paid: string }
  noPayer: string
  csv: string
  csvHint: string
  csvTooLong: string
  file: string
  create: string
  count: (count: number, shown: string, sum: string) => string
  countMore: (count: string) => string
  sought: Record<Sought, string>
  seeking: (what: string) => string
  orAs: string
  foundNothing: string
  tried: (what: string) => string
  empty: string
  changeFilters: string
}

const pt: Texts = {
  title: 'Cobranças',
  caption: 'Cobranças, da mais recente para a mais antiga',
  search: 'Buscar',
  searchHint:
    'Nome, CPF ou CNPJ, e-mail, valor (19,90), sua referência, id da cobrança, txid ou id do Pix.',
  find: 'Buscar',
  filters: 'Filtros',
  apply: 'Filtrar',
  clear: 'Limpar',
  any: 'Todos',
  status: 'Situação',
  payment: 'Pagamento',
  kind: 'Tipo',
  by: 'Período por',
  byCreation: 'Criação',
  byPayment: 'Pagamento',
  from: 'De',
  to: 'Até',
  amount: 'Valor exato',
  dev: 'Cobranças de teste',
  devOnly: 'Só testes',
  devNone: 'Sem testes',
  devMark: 'Teste',
  wrongAmount: 'Informe um valor como 19,90.',
  wrongDay: 'Informe uma data válida.',
  wrongPeriod: 'A data final é anterior à inicial.',
  statuses: { OPEN: 'Em aberto', COMPLETED: 'Paga', EXPIRED: 'Expirada', CANCELED: 'Cancelada' },
  payments: {
    PENDING: 'Sem código ainda',
    PROCESSING: 'Aguardando pagamento',
    PAID: 'Pago, a liberar',
    RECEIVED: 'Disponível para saque',
    EXPIRED: 'Expirado',
    REFUNDED: 'Devolvido',
  },
  kinds: {
    PIX: 'Pix',
    LINK: 'Link de pagamento',
    STATIC: 'QR Code fixo',
    RECURRING: 'Assinatura',
  },
  columns: {
    charge: 'Cobrança',
    state: 'Situação',
    amount: 'Valor',
    made: 'Criada em',
    paid: 'Paga em',
  },
  noPayer: 'Pagador não informado',
  csv: 'Baixar CSV',
  csvHint: 'Todas as cobranças filtradas, para planilhas',
  csvTooLong: 'São mais de 100.000 cobranças. Escolha um período menor para baixar.',
  file: 'cobrancas',
  create: 'Criar cobrança',
  count: (count, shown, sum) => `${count === 1 ? '1 cobrança' : `${shown} cobranças`} · ${sum}`,
  countMore: (count) => `Mais de ${count} cobranças`,
  sought: {
    charge: 'id da cobrança',
    txid: 'txid',
    endToEndId: 'id do Pix',
    taxId: 'CPF ou CNPJ',
    email: 'e-mail',
    amount: 'valor',
    externalId: 'referência',
    name: 'nome',
  },
  seeking: (what) => `Buscando por ${what}`,
  orAs: 'Buscar por',
  foundNothing: 'Nenhuma cobrança encontrada',
  tried: (what) => `Buscamos por ${what}.`,
  empty: 'Crie a primeira cobrança.',
  changeFilters: 'Mude ou limpe os filtros.',
}

const en: Texts = {
  title: 'Charges',
  caption: 'Charges, newest first',
  search: 'Search',
  searchHint:
    'Name, CPF or CNPJ, e-mail, amount (19,90), your reference, charge id, txid or Pix id.',
  find: 'Search',
  filters: 'Filters',
  apply: 'Apply',
  clear: 'Clear',
  any: 'All',
  status: 'Status',
  payment: 'Payment',
  kind: 'Kind',
  by: 'Date of',
  byCreation: 'Creation',
  byPayment: 'Payment',
  from: 'From',
  to: 'To',
  amount: 'Exact amount',
  dev: 'Tests',
  devOnly: 'Only tests',
  devNone: 'Without tests',
  devMark: 'Test',
  wrongAmount: 'Type an amount such as 19,90.',
  wrongDay: 'Type a valid date.',
  wrongPeriod: 'The last day is before the first.',
  statuses: { OPEN: 'Open', COMPLETED: 'Paid', EXPIRED: 'Expired', CANCELED: 'Canceled' },
  payments: {
    PENDING: 'No code yet',
    PROCESSING: 'Waiting for payment',
    PAID: 'Paid, not released',
    RECEIVED: 'Withdrawable',
    EXPIRED: 'Expired',
    REFUNDED: 'Refunded',
  },
  kinds: { PIX: 'Pix', LINK: 'Payment link', STATIC: 'Static code', RECURRING: 'Subscription' },
  columns: {
    charge: 'Charge',
    state: 'Status',
    amount: 'Amount',
    made: 'Created',
    paid: 'Paid',
  },
  noPayer: 'Payer not given',
  csv: 'Download CSV',
  csvHint: 'All filtered charges, for spreadsheets',
  csvTooLong: 'There are more than 100.000 charges. Choose a shorter period to download.',
  file: 'charges',
  create: 'New charge',
  count: (count, shown, sum) => `${count === 1 ? '1 charge' : `${shown} charges`} · ${sum}`,
  countMore: (count) => `More than ${count} charges`,
  sought: {
    charge: 'charge id',
    txid: 'txid',
    endToEndId: 'Pix id',
    taxId: 'CPF or CNPJ',
    email: 'e-mail',
    amount: 'amount',
    externalId: 'reference',
    name: 'name',
  },
  seeking: (what) => `Searching by ${what}`,
  orAs: 'Search by',
  foundNothing: 'No charge found',
  tried: (what) => `Searched by ${what}.`,
  empty: 'Create the first charge.',
  changeFilters: 'Change or clear the filters.',
}

export const CHARGES: Record<Language, Texts> = { pt, en }
