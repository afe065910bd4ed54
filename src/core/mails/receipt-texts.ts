import type { Language } from '../../lib/language.ts'

const pt = {
  subject: (company: string, amount: string) => `${company}: comprovante de pagamento de ${amount}`,
  /** Is before the subject of a receipt for play money. */
  test: '[TESTE]',
  title: 'Comprovante de pagamento',
  testTitle: 'Comprovante de teste, sem valor',
  greeting: (name: string | null) => (name === null ? 'Olá!' : `Olá, ${name}!`),
  intro: (company: string) => `${company} recebeu o seu pagamento via Pix.`,
  refunded: 'Este pagamento já foi devolvido, no todo ou em parte: veja o valor devolvido.',
  open: 'Ver e salvar o comprovante',
  unknown: 'Não reconhece este pagamento? Responda a este e-mail para falar com a loja.',
  /** At the end of every mail to a payer. */
  payerFooter: 'Mensagem automática. Para falar com a loja, responda a este e-mail.',
}

/** What a mail to a payer says when they have paid. */
type ReceiptLetterTexts = typeof pt

const en: ReceiptLetterTexts = {
  subject: (company, amount) => `${company}: payment receipt, ${amount}`,
  test: '[TEST]',
  title: 'Payment receipt',
  testTitle: 'Test receipt, not valid',
  greeting: (name) => (name === null ? 'Hello!' : `Hello, ${name}!`),
  intro: (company) => `${company} has received your Pix payment.`,
  refunded: 'All or part of this payment has been returned: see the amount returned.',
  open: 'View and save the receipt',
  unknown: 'You do not recognize this payment? Reply to this email to reach the store.',
  payerFooter: 'This is an automatic message. To reach the store, reply to this email.',
}

export const RECEIPT_LETTERS: Record<Language, ReceiptLetterTexts> = { pt, en }
