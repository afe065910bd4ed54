import type { UnmatchedReason } from '../../core/charges/rules.ts'
import type { MailOutcome } from '../../core/mails/rules.ts'
import type { PaymentState } from '../../core/payments/rules.ts'
import type { RefundState } from '../../core/refunds/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { ReturnReason } from '../../provider/port.ts'

export type Unpaid = 'expired' | 'opened' | 'unused' | 'canceled' | 'uncollected'

export type ChargeTexts = {
  title(amount: string): string
  back: string
  timeline: string
  payer: string
  details: string
  /** What the timeline says. */
  made: string
  madeBy: { person(name: string): string; key(name: string): string; other: string }
  sale: string
  subscription: string
  code: string
  mailed: string
  mailedAgain: string
  outcomes: Record<MailOutcome | 'WAITING', string>
  opened: string
  paid: string
  bank: string
  simulated: string
  simulatedBank: string
  released: string
  releaseAt(moment: string): string
  refund(amount: string): string
  bankReturn(amount: string): string
  bankReasons: Record<ReturnReason, string>
  refundStates: Record<RefundState, string>
  canceled: string
  expired: string
  collectionFailed: string
  unmatched(amount: string): string
  reasons: Record<UnmatchedReason, string>
  paymentStates: Record<PaymentState, string>
  decide: string
  entry(number: number): string
  event: string
  noDelivery: string
  delivered: string
  failed: string
  waiting: string
  unpaid: Record<Unpaid, string>
  /** The facts. */
  facts: {
    id: string
    kind: string
    reference: string
    description: string
    expires: string
    link: string
    pixCode: string
    txid: string
    endToEndId: string
    refunded: string
    left: string
    customer: string
    name: string
    taxId: string
    email: string
    phone: string
    shipping: string
  }
  masked: string
  noPayer: string
  /** What can be done. */
  copyLink: string
  copyLinkButton: string
  copied: string
  copyCode: string
  qr: string
  openPage: string
  refundButton: string
  cancelButton: string
  duplicate: string
  mailLink: string
  mailReceipt: string
  simulate: string
  payAtBank: string
  refresh: string
  live: string
  refundTitle: string
  refundLeft(amount: string): string
  refundAmount: string
  refundAmountHint: string
  refundReason: string
  refundReasonHint: string
  optional: string
  refundWrong(amount: string): string
  refundWhere: string
  cancelTitle: string
  cancelText(amount: string): string
  cancelConfirm: string
  done: Record<string, string>
}

const pt: ChargeTexts = {
  title: (amount) => `Cobrança de ${amount}`,
  back: 'Cobranças',
  timeline: 'Linha do tempo',
  payer: 'Pagador',
  details: 'Dados da cobrança',
  made: 'Cobrança criada',
  madeBy: {
    person: (name) => `por ${name}, no painel`,
    key: (name) => `pela API, com a chave ${name}`,
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
  },
  opened: 'Página de pagamento aberta',
  paid: 'Pagamento recebido',
  bank: 'Banco do pagador',
  simulated: 'Pagamento simulado',
  simulatedBank: 'Banco simulado',
  released: 'Valor liberado para saque',
  releaseAt: (moment) => `O valor fica disponível para saque em ${moment}.`,
  refund: (amount) => `Devolução de ${amount}`,
  bankReturn: (amount) => `O banco devolveu ${amount}`,
  bankReasons: {
    FRAUD: 'Contestação por fraude',
    OPERATIONAL_FAILURE: 'Falha operacional do banco',
    SUBSCRIPTION_CLAIM: 'Contestação de assinatura',
    OTHER: 'O banco não informou o motivo',
  },
  refundStates: { PROCESSING: 'Em andamento', COMPLETED: 'Concluída', FAILED: 'Não realizada' },
  canceled: 'Cobrança cancelada',
  expired: 'Cobrança expirada',
  collectionFailed: 'O banco não conseguiu cobrar',
  unmatched: (amount) => `Pix de ${amount} que não quitou a cobrança`,
  reasons: {
    LATE: 'Chegou depois do prazo.',
    CANCELED: 'A cobrança já estava cancelada.',
    DUPLICATE: 'A cobrança já estava paga.',
    WRONG_AMOUNT: 'O valor é diferente do cobrado.',
    UNKNOWN: 'Não informava a cobrança.',
  },
  paymentStates: {
    MATCHED: 'Identificado',
    UNMATCHED: 'Aguardando decisão',
    ACCEPTED: 'Aceito',
    REFUNDING: 'Em devolução',
    REFUNDED: 'Devolvido',
  },
  decide: 'Decidir sobre este pagamento',
  entry: (number) => `Lançamento nº ${number}`,
  event: 'Evento',
  noDelivery: 'sem webhook',
  delivered: 'entregue',
  failed: 'falhou',
  waiting: 'na fila',
  unpaid: {
    expired: 'Não foi paga: o prazo acabou.',
    opened: 'Não foi paga: o prazo acabou. A página de pagamento chegou a ser aberta.',
    unused: 'Não foi paga: o prazo acabou antes que o pagador gerasse o código Pix.',
    canceled: 'Não foi paga: a cobrança foi cancelada antes do pagamento.',
    uncollected: 'Não foi paga: o banco do pagador recusou todas as tentativas de débito.',
  },
  facts: {
    id: 'Id',
    kind: 'Tipo',
    reference: 'Sua referência',
    description: 'Descrição',
    expires: 'Válida até',
    link: 'Link',
    pixCode: 'Código Pix',
    txid: 'Txid',
    endToEndId: 'Id do Pix',
    refunded: 'Devolvido',
    left: 'Ainda pode ser devolvido',
    customer: 'Ver cliente',
    name: 'Nome',
    taxId: 'CPF/CNPJ',
    email: 'E-mail',
    phone: 'Telefone',
    shipping: 'Entrega',
  },
  masked: 'Seu perfil vê os dados do pagador só em parte.',
  noPayer: 'Quem paga um QR Code fixo não se identifica para a loja.',
  copyLink: 'link de pagamento',
  copyLinkButton: 'Copiar link',
  copied: 'Copiado',
  copyCode: 'código Pix',
  qr: 'QR Code para pagar a cobrança',
  openPage: 'Abrir página de pagamento',
  refundButton: 'Devolver',
  cancelButton: 'Cancelar cobrança',
  duplicate: 'Duplicar',
  mailLink: 'Enviar link por e-mail',
  mailReceipt: 'Enviar comprovante por e-mail',
  simulate: 'Simular pagamento',
  payAtBank: 'Pagar no banco simulado',
  refresh: 'Atualizar',
  live: 'Aguardando pagamento. Esta página se atualiza sozinha.',
  refundTitle: 'Devolver pagamento',
  refundLeft: (amount) => `Podem ser devolvidos até ${amount}, em até 90 dias do pagamento.`,
  refundAmount: 'Valor da devolução',
  refundAmountHint: 'Deixe o valor inteiro, ou informe menos para devolver uma parte.',
  refundReason: 'Motivo',
  refundReasonHint: 'O pagador lê este texto no aplicativo do banco.',
  optional: 'opcional',
  refundWrong: (amount) => `Informe um valor de R$ 0,01 a ${amount}, como 10,00.`,
  refundWhere: 'O dinheiro volta para a conta de onde saiu o Pix.',
  cancelTitle: 'Cancelar cobrança?',
  cancelText: (amount) =>
    `A cobrança de ${amount} não poderá mais ser paga. Isso não pode ser desfeito.`,
  cancelConfirm: 'Cancelar cobrança',
  done: {
    made: 'Cobrança criada.',
    duplicated: 'Cobrança duplicada. Esta é a nova.',
    canceled: 'Cobrança cancelada.',
    refunded: 'Devolução iniciada. O banco conclui em instantes.',
    mailed: 'E-mail na fila de envio.',
    simulated: 'Pagamento simulado.',
  },
}

const en: ChargeTexts = {
  title: (amount) => `Charge of ${amount}`,
  back: 'Charges',
  timeline: 'Timeline',
  payer: 'Payer',
  details: 'Details',
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
  opened: 'Payment page opened',
  paid: 'Payment received',
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
  canceled: 'Charge canceled',
  expired: 'Charge expired',
  collectionFailed: 'The bank could not collect',
  unmatched: (amount) => `Pix of ${amount} that did not pay the charge`,
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
    ACCEPTED: 'Accepted',
    REFUNDING: 'Being refunded',
    REFUNDED: 'Refunded',
  },
  decide: 'Decide about this payment',
  entry: (number) => `Ledger entry ${number}`,
  event: 'Event',
  noDelivery: 'no webhook',
  delivered: 'delivered',
  failed: 'failed',
  waiting: 'waiting',
  unpaid: {
    expired: 'Not paid: the time was over.',
    opened: 'Not paid: the time was over. The payment page had been opened.',
    unused: 'Not paid: the time was over before the payer asked for the Pix code.',
    canceled: 'Not paid: the charge was canceled before it was paid.',
    uncollected: 'Not paid: the payer’s bank refused every attempt to collect it.',
  },
  facts: {
    id: 'Id',
    kind: 'Kind',
    reference: 'Your reference',
    description: 'Description',
    expires: 'Valid until',
    link: 'Link',
    pixCode: 'Pix code',
    txid: 'Txid',
    endToEndId: 'Pix id',
    refunded: 'Refunded',
    left: 'Can still be refunded',
    customer: 'See customer',
    name: 'Name',
    taxId: 'CPF/CNPJ',
    email: 'E-mail',
    phone: 'Phone',
    shipping: 'Shipping',
  },
  masked: 'Your role sees the payer’s details only in part.',
  noPayer: 'Whoever pays a static code is not named to the store.',
  copyLink: 'payment link',
  copyLinkButton: 'Copy link',
  copied: 'Copied',
  copyCode: 'Pix code',
  qr: 'QR code to pay the charge',
  openPage: 'Open payment page',
  refundButton: 'Refund',
  cancelButton: 'Cancel charge',
  duplicate: 'Duplicate',
  mailLink: 'Send link by e-mail',
  mailReceipt: 'Send receipt by e-mail',
  simulate: 'Simulate payment',
  payAtBank: 'Pay at the simulated bank',
  refresh: 'Refresh',
  live: 'Waiting for payment. This page updates by itself.',
  refundTitle: 'Refund payment',
  refundLeft: (amount) => `Up to ${amount} can be refunded, within 90 days of the payment.`,
  refundAmount: 'Amount to refund',
  refundAmountHint: 'Leave the whole amount, or type less to refund a part.',
  refundReason: 'Reason',
  refundReasonHint: 'The payer reads this text in the app of their bank.',
  optional: 'optional',
  refundWrong: (amount) => `Type an amount from R$ 0,01 to ${amount}, such as 10,00.`,
  refundWhere: 'The money goes back to the account that sent the Pix.',
  cancelTitle: 'Cancel the charge?',
  cancelText: (amount) =>
    `The charge of ${amount} can no longer be paid then. This cannot be undone.`,
  cancelConfirm: 'Cancel charge',
  done: {
    made: 'Charge created.',
    duplicated: 'Charge duplicated. This is the new one.',
    canceled: 'Charge canceled.',
    refunded: 'Refund started. The bank completes it in a moment.',
    mailed: 'The e-mail is on its way.',
    simulated: 'Payment simulated.',
  },
}

export const CHARGE: Record<Language, ChargeTexts> = { pt, en }
