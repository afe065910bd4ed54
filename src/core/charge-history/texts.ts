import type { Language } from '../../lib/language.ts'
import type { ReturnReason } from '../../provider/port.ts'
import type { UnmatchedReason } from '../charges/rules.ts'
import type { MailOutcome, MailReason } from '../mails/rules.ts'
import type { PaymentState } from '../payments/rules.ts'
import type { RefundState } from '../refunds/rules.ts'
import type { Unmailed } from '../reminders/rules.ts'

type Unpaid = 'expired' | 'opened' | 'unused' | 'canceled' | 'uncollected'

const pt = {
  made: 'Cobrança criada',
  madeBy: {
    person: (name: string) => `por ${name}, no painel`,
    key: (name: string) => `pela API, com a chave ${name}`,
    other: 'pelo sistema',
  },
  sale: 'Venda pelo QR Code fixo',
  subscription: 'Gerada pela assinatura',
  code: 'Código Pix gerado',
  mailed: 'Link enviado ao pagador por e-mail',
  mailedAgain: 'E-mail enviado de novo',
  outcomes: {
    SENT: 'Enviado',
    FAILED: 'Não foi possível enviar',
    EXPIRED: 'Não enviado: o prazo acabou',
    WAITING: 'Na fila de envio',
  } satisfies Record<MailOutcome | 'WAITING', string>,
  unsent: {
    'payment-link': 'Link não enviado por e-mail',
    receipt: 'Comprovante não enviado por e-mail',
  },
  reminder: 'Lembrete ao pagador',
  reminderSent: 'Lembrete enviado por e-mail',
  reminderExpired: 'E-mail não enviado: deixou de ser necessário.',
  unmailed: {
    CHANNEL: 'Só por webhook, como pede a regra.',
    NO_ADDRESS: 'Sem e-mail: o pagador não informou um endereço.',
    UNSUBSCRIBED: 'Sem e-mail: o pagador pediu para não receber lembretes.',
  } satisfies Record<Unmailed, string>,
  mailReasons: {
    RESTORED:
      'O serviço foi restaurado de uma cópia, e este e-mail já pode ter sido enviado antes.',
    PLAY_MONEY:
      'Em produção, e-mails de teste só vão para a própria empresa e para as pessoas dela.',
    RECIPIENT: 'Este endereço já recebeu e-mails demais hoje.',
    COMPANY: 'A empresa chegou ao limite de e-mails do dia.',
    ALL: 'O serviço chegou ao limite de e-mails do dia.',
  } satisfies Record<MailReason, string>,
  opened: 'Página de pagamento aberta',
  paid: 'Pagamento recebido',
  settled: {
    'by hand': 'Cobrança quitada manualmente',
    'by rule': 'Cobrança quitada pela regra de pagamentos exatos',
  },
  byRule:
    'O Pix veio sem código. A regra da empresa quitou esta cobrança porque era a única em aberto deste pagador com este valor.',
  shortBy: (amount: string) => `Faltaram ${amount} do valor cobrado.`,
  bank: 'Banco do pagador',
  simulated: 'Pagamento simulado',
  simulatedBank: 'Banco simulado',
  released: 'Valor liberado para saque',
  releaseAt: (moment: string) => `O valor fica disponível para saque em ${moment}.`,
  refund: (amount: string) => `Devolução de ${amount}`,
  bankReturn: (amount: string) => `O banco devolveu ${amount}`,
  bankReasons: {
    FRAUD: 'Contestação por fraude',
    OPERATIONAL_FAILURE: 'Falha operacional do banco',
    SUBSCRIPTION_CLAIM: 'Contestação de assinatura',
    OTHER: 'O banco não informou o motivo',
  } satisfies Record<ReturnReason, string>,
  refundStates: {
    PROCESSING: 'Em andamento',
    COMPLETED: 'Concluída',
    FAILED: 'Não realizada',
  } satisfies Record<RefundState, string>,
  disputed: (amount: string) => `O pagador contestou ${amount}`,
  canceled: 'Cobrança cancelada',
  expired: 'Cobrança expirada',
  collectionFailed: 'O banco não conseguiu cobrar',
  unmatched: (amount: string) => `Pix de ${amount} que não quitou a cobrança`,
  settling: (amount: string) => `Pix de ${amount} que foi usado para quitar a cobrança`,
  reasons: {
    LATE: 'Chegou depois do prazo.',
    CANCELED: 'A cobrança já estava cancelada.',
    DUPLICATE: 'A cobrança já estava paga.',
    WRONG_AMOUNT: 'O valor é diferente do cobrado.',
    UNKNOWN: 'Não informava a cobrança.',
  } satisfies Record<UnmatchedReason, string>,
  paymentStates: {
    MATCHED: 'Identificado',
    UNMATCHED: 'Aguardando decisão',
    ACCEPTED: 'Valor mantido',
    REFUNDING: 'Em devolução',
    REFUNDED: 'Devolvido',
    DISPUTED: 'Em disputa',
  } satisfies Record<PaymentState, string>,
  unpaid: {
    expired: 'Não foi paga: o prazo acabou.',
    opened: 'Não foi paga: o prazo acabou. A página de pagamento chegou a ser aberta.',
    unused: 'Não foi paga: o prazo acabou antes que o pagador gerasse o código Pix.',
    canceled: 'Não foi paga: a cobrança foi cancelada antes do pagamento.',
    uncollected: 'Não foi paga: o banco do pagador recusou todas as tentativas de débito.',
  } satisfies Record<Unpaid, string>,
}

/** What the timeline of a charge says. */
export type HistoryTexts = typeof pt

const en: HistoryTexts = {
  made: 'Charge created',
  madeBy: {
    person: (name) => `by ${name}, in the dashboard`,
    key: (name) => `by the API, with the key ${name}`,
    other: 'by the system',
  },
  sale: 'Sale by a static code',
  subscription: 'Made by the subscription',
  code: 'Pix code issued',
  mailed: 'Link sent to the payer by e-mail',
  mailedAgain: 'E-mail sent again',
  outcomes: {
    SENT: 'Sent',
    FAILED: 'Could not be sent',
    EXPIRED: 'Not sent: the time was over',
    WAITING: 'Waiting to be sent',
  },
  unsent: {
    'payment-link': 'Link not sent by e-mail',
    receipt: 'Receipt not sent by e-mail',
  },
  reminder: 'Payer reminded',
  reminderSent: 'Reminder sent by e-mail',
  reminderExpired: 'E-mail not sent: it was no longer needed.',
  unmailed: {
    CHANNEL: 'By webhook only, as the rule says.',
    NO_ADDRESS: 'No e-mail: the payer gave no address.',
    UNSUBSCRIBED: 'No e-mail: the payer wants no reminders.',
  },
  mailReasons: {
    PLAY_MONEY: 'In production, test e-mails go only to the company itself and its people.',
    RESTORED: 'The service was restored from a backup, and this e-mail may have been sent before.',
    RECIPIENT: 'This address has got too many e-mails today.',
    COMPANY: 'The company has reached its limit of e-mails for the day.',
    ALL: 'The service has reached its limit of e-mails for the day.',
  },
  opened: 'Payment page opened',
  paid: 'Payment received',
  settled: {
    'by hand': 'Charge settled by hand',
    'by rule': 'Charge settled by the rule for exact payments',
  },
  byRule:
    'The Pix came without a code. The rule of the company settled this charge, because it was the only open one of this payer with this amount.',
  shortBy: (amount) => `${amount} of the amount did not arrive.`,
  bank: 'Payer’s bank',
  simulated: 'Simulated payment',
  simulatedBank: 'Simulated bank',
  released: 'Money released for withdrawal',
  releaseAt: (moment) => `The money can be withdrawn from ${moment} on.`,
  refund: (amount) => `Refund of ${amount}`,
  bankReturn: (amount) => `The bank returned ${amount}`,
  bankReasons: {
    FRAUD: 'Fraud claim',
    OPERATIONAL_FAILURE: 'Operational failure of the bank',
    SUBSCRIPTION_CLAIM: 'Claim about a subscription',
    OTHER: 'The bank gave no reason',
  },
  refundStates: { PROCESSING: 'In progress', COMPLETED: 'Completed', FAILED: 'Not done' },
  disputed: (amount) => `The payer disputes ${amount}`,
  canceled: 'Charge canceled',
  expired: 'Charge expired',
  collectionFailed: 'The bank could not collect',
  unmatched: (amount) => `Pix of ${amount} that did not pay the charge`,
  settling: (amount) => `Pix of ${amount} that was used to settle the charge`,
  reasons: {
    LATE: 'It arrived after the deadline.',
    CANCELED: 'The charge was already canceled.',
    DUPLICATE: 'The charge was already paid.',
    WRONG_AMOUNT: 'Its amount is not that of the charge.',
    UNKNOWN: 'It did not name the charge.',
  },
  paymentStates: {
    MATCHED: 'Matched',
    UNMATCHED: 'Waiting for a decision',
    ACCEPTED: 'Money kept',
    REFUNDING: 'Being refunded',
    REFUNDED: 'Refunded',
    DISPUTED: 'Disputed',
  },
  unpaid: {
    expired: 'Not paid: the time was over.',
    opened: 'Not paid: the time was over. The payment page had been opened.',
    unused: 'Not paid: the time was over before the payer asked for the Pix code.',
    canceled: 'Not paid: the charge was canceled before it was paid.',
    uncollected: 'Not paid: the payer’s bank refused every attempt to collect it.',
  },
}

export const HISTORY: Record<Language, HistoryTexts> = { pt, en }
