import type { Language } from '../../lib/language.ts'
import type { EndReason, Recurrence } from './rules.ts'

export type SubscriptionWord = 'link' | 'closed' | Lowercase<Recurrence['authStatus']>

const pt = {
  explained: {
    link: 'Quem abre o link informa os próprios dados e autoriza a assinatura no banco.',
    closed: 'Este link não aceita mais assinaturas. As que já foram feitas continuam.',
    created: 'O cliente ainda não autorizou no aplicativo do banco. Envie o link a ele.',
    approved:
      'O cliente autorizou. O banco paga cada cobrança no dia, sem ele precisar fazer nada.',
    rejected: 'O cliente recusou a autorização no banco. Se foi engano, crie uma nova assinatura.',
    expired: 'O prazo de 30 dias para autorizar acabou. Crie uma nova assinatura.',
    canceled: 'Nada mais é cobrado. O que já foi pago continua pago.',
  } satisfies Record<SubscriptionWord, string>,
  reasons: {
    CUSTOMER_ASKED: 'O cliente pediu',
    NOT_PAID: 'Falta de pagamento',
    MISTAKE: 'Criada por engano',
    OTHER: 'Outro motivo',
  } satisfies Record<EndReason, string>,
  /** What has become of a charge, and what the bank does next. */
  steps: {
    planned: (day: string) => `Será enviada ao banco em ${day}.`,
    scheduled: (day: string) => `Agendada no banco do cliente para ${day}.`,
    retry: (due: string, day: string) =>
      `Não foi paga em ${due}, em geral por falta de saldo. O banco tenta de novo em ${day}.`,
    late: (due: string) => `Não foi paga em ${due}. Aguardando a resposta do banco.`,
    failed: (last: string) =>
      `Não foi paga: o banco tentou até ${last}, em geral sem saldo na conta. Fale com o cliente.`,
    canceled: 'Cancelada antes do débito.',
    paid: (day: string) => `Paga em ${day}.`,
    unanswered: 'O banco não está respondendo; continuamos perguntando.',
  },
}

/** What is said of an agreement and of its charges. */
export type AgreementTexts = typeof pt

const en: AgreementTexts = {
  explained: {
    link: 'Whoever opens the link enters their details and authorizes the subscription at their bank.',
    closed: 'Nobody can subscribe through this link any more. Existing subscriptions go on.',
    created: 'The customer has not authorized it in the app of their bank yet. Send them the link.',
    approved: 'The customer has authorized it. The bank pays each charge on its day by itself.',
    rejected: 'The customer refused it at their bank. If that was a mistake, create a new one.',
    expired: 'The 30 days to authorize it are over. Create a new subscription.',
    canceled: 'Nothing more is charged. What was paid stays paid.',
  },
  reasons: {
    CUSTOMER_ASKED: 'The customer asked for it',
    NOT_PAID: 'It was not paid',
    MISTAKE: 'Created by mistake',
    OTHER: 'Another reason',
  },
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
}

export const AGREEMENT: Record<Language, AgreementTexts> = { pt, en }
