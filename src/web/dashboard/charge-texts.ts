import { HISTORY, type HistoryTexts } from '../../core/charge-history/texts.ts'
import type { Language } from '../../lib/language.ts'

export type ChargeTexts = HistoryTexts & {
  title(amount: string): string
  back: string
  timeline: string
  payer: string
  details: string
  decide: string
  entry(number: number): string
  event: string
  noDelivery: string
  delivered: string
  failed: string
  waiting: string
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
    received: string
    shortfall: string
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
  ...HISTORY.pt,
  title: (amount) => `Cobrança de ${amount}`,
  back: 'Cobranças',
  timeline: 'Linha do tempo',
  payer: 'Pagador',
  details: 'Dados da cobrança',
  decide: 'Decidir sobre este pagamento',
  entry: (number) => `Lançamento nº ${number}`,
  event: 'Evento',
  noDelivery: 'sem webhook',
  delivered: 'entregue',
  failed: 'falhou',
  waiting: 'na fila',
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
    received: 'Recebido',
    shortfall: 'Faltou',
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
  ...HISTORY.en,
  title: (amount) => `Charge of ${amount}`,
  back: 'Charges',
  timeline: 'Timeline',
  payer: 'Payer',
  details: 'Details',
  decide: 'Decide about this payment',
  entry: (number) => `Ledger entry ${number}`,
  event: 'Event',
  noDelivery: 'no webhook',
  delivered: 'delivered',
  failed: 'failed',
  waiting: 'waiting',
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
    received: 'Received',
    shortfall: 'Short by',
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
