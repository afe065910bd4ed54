import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Devolver pagamento',
  about: 'O pagamento',
  parts: 'Quanto devolver',
  amount: 'Valor da devolução',
  whole: (amount: string) => `Total · ${amount}`,
  half: (amount: string) => `Metade · ${amount}`,
  other: 'Outro valor',
  wrong: (most: string) => `Informe um valor de R$ 0,01 a ${most}, como 10,00.`,
  next: 'Continuar',
  reason: 'Motivo',
  reasonHint: 'O pagador lê este texto no aplicativo do banco.',
  tooLong: (most: number) => `Use no máximo ${most} caracteres.`,
  optional: 'opcional',
  where: 'O dinheiro volta para a conta de onde saiu o Pix. Isso não pode ser desfeito.',
  button: (amount: string) => `Devolver ${amount}`,
  payer: 'Pagador',
  received: 'Recebido',
  refunded: 'Já devolvido',
  left: 'Pode ser devolvido',
  available: 'Saldo disponível',
  pending: 'Saldo a liberar',
}

export type RefundTexts = typeof pt

const en: RefundTexts = {
  title: 'Refund payment',
  about: 'The payment',
  parts: 'How much to refund',
  amount: 'Amount to refund',
  whole: (amount) => `All · ${amount}`,
  half: (amount) => `Half · ${amount}`,
  other: 'Another amount',
  wrong: (most) => `Type an amount from R$ 0,01 to ${most}, such as 10,00.`,
  next: 'Continue',
  reason: 'Reason',
  reasonHint: 'The payer reads this text in the app of their bank.',
  tooLong: (most) => `Use at most ${most} characters.`,
  optional: 'optional',
  where: 'The money goes back to the account that sent the Pix. This cannot be undone.',
  button: (amount) => `Refund ${amount}`,
  payer: 'Payer',
  received: 'Received',
  refunded: 'Refunded already',
  left: 'Can be refunded',
  available: 'Available balance',
  pending: 'Pending balance',
}

export const REFUND: Record<Language, RefundTexts> = { pt, en }
