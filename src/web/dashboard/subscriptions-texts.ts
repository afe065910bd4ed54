import { AGREEMENT } from '../../core/recurrences/texts.ts'
import type { Language } from '../../lib/language.ts'

export type Choice =
  | 'all'
  | 'approved'
  | 'overdue'
  | 'retrying'
  | 'created'
  | 'rejected'
  | 'expired'
  | 'canceled'
  | 'links'

const pt = {
  csv: 'Baixar CSV',
  ...AGREEMENT.pt,
  title: 'Assinaturas',
  filters: 'Filtrar assinaturas',
  choices: {
    all: 'Todas',
    approved: 'Ativas',
    overdue: 'Em atraso',
    retrying: 'Em nova tentativa',
    created: 'Aguardando',
    rejected: 'Recusadas',
    expired: 'Expiradas',
    canceled: 'Canceladas',
    links: 'Links',
  } satisfies Record<Choice, string>,
  none: 'Crie um link de assinatura e envie aos clientes: eles autorizam uma vez, e o banco paga.',
  noneFound: 'Nenhuma assinatura encontrada.',
  search: 'Buscar',
  searchHint: 'Nome, CPF ou CNPJ, e-mail ou celular de quem paga',
  make: 'Nova assinatura',
  customer: 'Cliente',
  anybody: 'Link para qualquer pessoa',
  product: 'Produto',
  value: 'Valor',
  state: 'Situação',
  next: 'Próxima cobrança',
  madeAt: 'Criada em',
  retrying: 'Nova tentativa',
  agreement: 'Autorização',
  since: 'Autorizada em',
  endedAt: 'Encerrada em',
  expiresAt: 'Autorizar até',
  dayDue: 'Prazo para pagar',
  days: (days: number) => (days === 1 ? '1 dia' : `${days} dias`),
  bankId: 'ID da recorrência',
  reason: 'Motivo do cancelamento',
  noReason: 'Selecione',
  nextCharges: 'Próximas cobranças',
  nextHint:
    'O vencimento é em dia útil. Se faltar saldo, o banco tenta de novo em até 3 dos 7 dias seguintes, também em fins de semana e feriados.',
  number: (number: number) => `${number}ª cobrança`,
  bank: 'Autorizar no banco simulado',
  openPage: 'Abrir a página do cliente',
  charges: 'Cobranças da assinatura',
  noCharges: 'A primeira cobrança é criada depois que o cliente autoriza.',
  charge: 'Cobrança',
  due: 'Vencimento',
  amount: 'Valor',
  what: 'O que aconteceu',
  followers: 'Quem assinou por este link',
  noFollowers: 'Ninguém assinou ainda.',
  cancel: 'Cancelar assinatura',
  closeLink: 'Encerrar link',
  cancelTitle: 'Cancelar esta assinatura?',
  closeTitle: 'Encerrar este link?',
  cancelText:
    'O banco é avisado, e nada mais é cobrado. O que já foi pago continua pago. Para voltar, o cliente precisa autorizar uma nova assinatura.',
  closeText: 'Ninguém mais poderá assinar por ele. As assinaturas já feitas continuam.',
  who: {
    title: 'Quem pode assinar',
    any: { title: 'Qualquer pessoa', text: 'Um link só, para muitos clientes.' },
    one: { title: 'Um cliente', text: 'Uma assinatura com os dados dele já preenchidos.' },
  },
  chooseProduct: 'Selecione',
  noProducts: 'Para criar uma assinatura, cadastre primeiro um produto do tipo assinatura.',
  makeProduct: 'Criar produto de assinatura',
  done: {
    made: 'Pronto. Copie o link e envie ao cliente.',
    canceled: 'Encerrada. Nada mais será cobrado.',
  },
}

type Texts = typeof pt

const en: Texts = {
  csv: 'Download CSV',
  ...AGREEMENT.en,
  title: 'Subscriptions',
  filters: 'Filter subscriptions',
  choices: {
    all: 'All',
    approved: 'Active',
    overdue: 'Overdue',
    retrying: 'Retrying',
    created: 'Waiting',
    rejected: 'Rejected',
    expired: 'Expired',
    canceled: 'Canceled',
    links: 'Links',
  },
  none: 'Create a subscription link and send it: customers authorize it once, and the bank pays.',
  noneFound: 'No subscription found.',
  search: 'Search',
  searchHint: 'Name, CPF or CNPJ, e-mail or phone of who pays',
  make: 'New subscription',
  customer: 'Customer',
  anybody: 'Link for anybody',
  product: 'Product',
  value: 'Amount',
  state: 'Status',
  next: 'Next charge',
  madeAt: 'Created at',
  retrying: 'Retrying',
  agreement: 'Authorization',
  since: 'Authorized at',
  endedAt: 'Ended at',
  expiresAt: 'Authorize by',
  dayDue: 'Time to pay',
  days: (days) => (days === 1 ? '1 day' : `${days} days`),
  bankId: 'Recurrence ID',
  reason: 'Reason for canceling',
  noReason: 'Choose',
  nextCharges: 'Next charges',
  nextHint:
    'Due dates are business days. Without funds the bank tries again on up to 3 of the next 7 days, weekends and holidays included.',
  number: (number) => `Charge ${number}`,
  bank: 'Authorize in the simulated bank',
  openPage: 'Open the customer’s page',
  charges: 'Charges of the subscription',
  noCharges: 'The first charge is created after the customer has authorized it.',
  charge: 'Charge',
  due: 'Due',
  amount: 'Amount',
  what: 'What happened',
  followers: 'Who subscribed through this link',
  noFollowers: 'Nobody has subscribed yet.',
  cancel: 'Cancel subscription',
  closeLink: 'Close link',
  cancelTitle: 'Cancel this subscription?',
  closeTitle: 'Close this link?',
  cancelText:
    'The bank is informed, and nothing more is charged. What was paid stays paid. To come back, the customer must authorize a new subscription.',
  closeText: 'Nobody will be able to subscribe through it. Existing subscriptions go on.',
  who: {
    title: 'Who can subscribe',
    any: { title: 'Anybody', text: 'One link for many customers.' },
    one: { title: 'One customer', text: 'One subscription with their details filled in.' },
  },
  chooseProduct: 'Choose',
  noProducts: 'To create a subscription, first add a product of the type subscription.',
  makeProduct: 'Create a subscription product',
  done: {
    made: 'Done. Copy the link and send it to the customer.',
    canceled: 'Ended. Nothing more will be charged.',
  },
}

export const SUBSCRIPTIONS: Record<Language, Texts> = { pt, en }
