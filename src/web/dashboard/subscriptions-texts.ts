import type { EndReason } from '../../core/recurrences/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { SubscriptionWord } from './states.ts'

export type Choice = 'all' | 'approved' | 'created' | 'rejected' | 'expired' | 'canceled' | 'links'

type Texts = {
  title: string
  filters: string
  choices: Record<Choice, string>
  none: string
  noneFound: string
  make: string
  customer: string
  anybody: string
  product: string
  value: string
  state: string
  next: string
  madeAt: string
  retrying: string
  explained: Record<SubscriptionWord, string>
  agreement: string
  since: string
  endedAt: string
  expiresAt: string
  dayDue: string
  days(days: number): string
  bankId: string
  reason: string
  reasons: Record<EndReason, string>
  noReason: string
  nextCharges: string
  nextHint: string
  number(number: number): string
  share: string
  shareHint: Record<'link' | 'created', string>
  copyLink: string
  bank: string
  openPage: string
  charges: string
  noCharges: string
  charge: string
  due: string
  amount: string
  what: string
  followers: string
  noFollowers: string
  cancel: string
  closeLink: string
  cancelTitle: string
  closeTitle: string
  cancelText: string
  closeText: string
  steps: {
    planned(day: string): string
    scheduled(day: string): string
    retry(due: string, day: string): string
    late(due: string): string
    failed(last: string): string
    canceled: string
    paid(day: string): string
    unanswered: string
  }
  who: {
    title: string
    any: { title: string; text: string }
    one: { title: string; text: string }
  }
  chooseProduct: string
  noProducts: string
  makeProduct: string
  done: Record<'made' | 'canceled', string>
}

const pt: Texts = {
  title: 'Assinaturas',
  filters: 'Filtrar assinaturas',
  choices: {
    all: 'Todas',
    approved: 'Ativas',
    created: 'Aguardando',
    rejected: 'Recusadas',
    expired: 'Expiradas',
    canceled: 'Canceladas',
    links: 'Links',
  },
  none: 'Crie um link de assinatura e envie aos clientes: eles autorizam uma vez, e o banco paga.',
  noneFound: 'Nenhuma assinatura nesta situação.',
  make: 'Nova assinatura',
  customer: 'Cliente',
  anybody: 'Link para qualquer pessoa',
  product: 'Produto',
  value: 'Valor',
  state: 'Situação',
  next: 'Próxima cobrança',
  madeAt: 'Criada em',
  retrying: 'Nova tentativa',
  explained: {
    link: 'Quem abre o link informa os próprios dados e autoriza a assinatura no banco.',
    closed: 'Ninguém mais pode assinar por este link. As assinaturas já feitas continuam.',
    created: 'O cliente ainda não autorizou no aplicativo do banco. Envie o link a ele.',
    approved:
      'O cliente autorizou. O banco paga cada cobrança no dia, sem ele precisar fazer nada.',
    rejected: 'O cliente recusou a autorização no banco. Se foi engano, crie uma nova assinatura.',
    expired: 'O prazo de 30 dias para autorizar acabou. Crie uma nova assinatura.',
    canceled: 'Nada mais é cobrado. O que já foi pago continua pago.',
  },
  agreement: 'Acordo',
  since: 'Autorizada em',
  endedAt: 'Encerrada em',
  expiresAt: 'Autorizar até',
  dayDue: 'Prazo para pagar',
  days: (days) => (days === 1 ? '1 dia' : `${days} dias`),
  bankId: 'Número no banco',
  reason: 'Motivo do cancelamento',
  reasons: {
    CUSTOMER_ASKED: 'O cliente pediu',
    NOT_PAID: 'Falta de pagamento',
    MISTAKE: 'Criada por engano',
    OTHER: 'Outro motivo',
  },
  noReason: 'Selecione',
  nextCharges: 'Próximas cobranças',
  nextHint: 'O débito ocorre em dia útil; se faltar saldo, o banco tenta novamente em até 7 dias.',
  number: (number) => `${number}ª cobrança`,
  share: 'Link para o cliente',
  shareHint: {
    link: 'Envie por mensagem ou publique na sua página.',
    created: 'O cliente abre o link e autoriza no aplicativo do banco.',
  },
  copyLink: 'o link',
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
  steps: {
    planned: (day) => `Será enviada ao banco em ${day}.`,
    scheduled: (day) => `Agendada no banco do cliente para ${day}.`,
    retry: (due, day) =>
      `Não foi paga em ${due}, em geral por falta de saldo. O banco tenta de novo em ${day}.`,
    late: (due) => `Não foi paga em ${due}. Aguardando a resposta do banco.`,
    failed: (last) =>
      `Não foi paga: o banco tentou até ${last}, em geral sem saldo na conta. Fale com o cliente.`,
    canceled: 'Cancelada antes do débito.',
    paid: (day) => `Paga em ${day}.`,
    unanswered: 'O banco não está respondendo; continuamos perguntando.',
  },
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

const en: Texts = {
  title: 'Subscriptions',
  filters: 'Filter subscriptions',
  choices: {
    all: 'All',
    approved: 'Active',
    created: 'Waiting',
    rejected: 'Rejected',
    expired: 'Expired',
    canceled: 'Canceled',
    links: 'Links',
  },
  none: 'Create a subscription link and send it: customers authorize it once, and the bank pays.',
  noneFound: 'No subscription with this status.',
  make: 'New subscription',
  customer: 'Customer',
  anybody: 'Link for anybody',
  product: 'Product',
  value: 'Amount',
  state: 'Status',
  next: 'Next charge',
  madeAt: 'Created at',
  retrying: 'Retrying',
  explained: {
    link: 'Whoever opens the link enters their details and authorizes the subscription at their bank.',
    closed: 'Nobody can subscribe through this link any more. Existing subscriptions go on.',
    created: 'The customer has not authorized it in the app of their bank yet. Send them the link.',
    approved: 'The customer has authorized it. The bank pays each charge on its day by itself.',
    rejected: 'The customer refused it at their bank. If that was a mistake, create a new one.',
    expired: 'The 30 days to authorize it are over. Create a new subscription.',
    canceled: 'Nothing more is charged. What was paid stays paid.',
  },
  agreement: 'Agreement',
  since: 'Authorized at',
  endedAt: 'Ended at',
  expiresAt: 'Authorize by',
  dayDue: 'Time to pay',
  days: (days) => (days === 1 ? '1 day' : `${days} days`),
  bankId: 'Number at the bank',
  reason: 'Reason for canceling',
  reasons: {
    CUSTOMER_ASKED: 'The customer asked for it',
    NOT_PAID: 'It was not paid',
    MISTAKE: 'Created by mistake',
    OTHER: 'Another reason',
  },
  noReason: 'Choose',
  nextCharges: 'Next charges',
  nextHint: 'Debits are made on business days; without funds the bank tries again within 7 days.',
  number: (number) => `Charge ${number}`,
  share: 'Link for the customer',
  shareHint: {
    link: 'Send it by message, or publish it on your page.',
    created: 'The customer opens the link and authorizes it in the app of their bank.',
  },
  copyLink: 'the link',
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
  steps: {
    planned: (day) => `Goes to the bank on ${day}.`,
    scheduled: (day) => `Scheduled at the customer’s bank for ${day}.`,
    retry: (due, day) =>
      `Not paid on ${due}, mostly for lack of funds. The bank tries again on ${day}.`,
    late: (due) => `Not paid on ${due}. Waiting for the answer of the bank.`,
    failed: (last) =>
      `Not paid: the bank tried until ${last}, mostly without funds in the account. Contact the customer.`,
    canceled: 'Canceled before the debit.',
    paid: (day) => `Paid on ${day}.`,
    unanswered: 'The bank does not answer; we keep asking.',
  },
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
