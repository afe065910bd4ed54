import type { Language } from '../lib/language.ts'

const pt = {
  /** The page's title, which is also the name of a saved file. */
  title: (amount: string) => `Comprovante Pix ${amount}`,
  testTitle: (amount: string) => `TESTE - Comprovante sem valor ${amount}`,
  refundedPart: 'Parte do valor foi devolvida.',
  test: {
    title: 'Comprovante de teste, sem valor',
    text: 'Ambiente de testes: nenhum valor real foi movimentado.',
    stamp: 'TESTE',
    confirmed: 'Pagamento confirmado (teste)',
  },
  save: 'Salvar ou imprimir',
  share: 'Compartilhar',
  copyLink: 'Copiar link',
  linkCopied: 'Link copiado',
  copyId: 'Copiar ID da transação',
  idCopied: 'ID copiado',
  /** Without scripts. */
  saveHint: 'Para salvar em PDF, use a opção Imprimir do seu navegador.',
  printTitle: 'Comprovante de pagamento Pix',
  check: 'Confira este comprovante em',
}

/** The texts of the page of a paid charge, except the lines of the receipt. */
type ReceiptTexts = typeof pt

const en: ReceiptTexts = {
  title: (amount) => `Pix receipt ${amount}`,
  testTitle: (amount) => `TEST - Receipt not valid ${amount}`,
  refundedPart: 'Part of the amount was returned.',
  test: {
    title: 'Test receipt, not valid',
    text: 'Test environment: no real money was moved.',
    stamp: 'TEST',
    confirmed: 'Payment confirmed (test)',
  },
  save: 'Save or print',
  share: 'Share',
  copyLink: 'Copy link',
  linkCopied: 'Link copied',
  copyId: 'Copy transaction ID',
  idCopied: 'ID copied',
  saveHint: 'To save it as a PDF, use your browser’s Print option.',
  printTitle: 'Pix payment receipt',
  check: 'Check this receipt at',
}

export const RECEIPT: Record<Language, ReceiptTexts> = { pt, en }
