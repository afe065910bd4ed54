import type { LinkState } from '../core/links/rules.ts'
import type { Language } from '../lib/language.ts'

const pt = {
  each: 'cada',
  openAmount: 'Quanto você quer pagar?',
  between: (least: string, most: string | null) =>
    most === null ? `A partir de ${least}.` : `De ${least} a ${most}.`,
  amount: 'Valor em reais',
  amountWrong: (bounds: string) => `Informe um valor em reais. ${bounds}`,
  quantity: 'Quantidade',
  quantityHint: (least: number, most: number) => `De ${least} a ${most}.`,
  quantityWrong: (least: number, most: number) => `Informe uma quantidade de ${least} a ${most}.`,
  payer: 'Seus dados',
  make: 'Gerar código Pix',
  makeHint: 'Você recebe o código Pix e o QR Code na hora. Nada é pago ainda.',
  until: (moment: string) => `Vendas até ${moment}`,
  left: (count: number) => (count === 1 ? 'Resta 1' : `Restam ${count}`),
  changed: 'O valor mudou enquanto a página estava aberta. Confira antes de continuar.',
  sold: 'Vendido por',
  product: 'Produto',
  closed: {
    OFF: { title: 'Este link não está ativo', text: 'A loja não está vendendo por ele agora.' },
    ENDED: { title: 'As vendas terminaram', text: 'O prazo deste link já passou.' },
    SOLD_OUT: { title: 'Esgotado', text: 'Tudo o que havia neste link já foi vendido.' },
    HELD: {
      title: 'Esgotado por enquanto',
      text: 'O que resta está reservado por quem ainda vai pagar. Se alguém desistir, volta a ficar disponível: tente de novo mais tarde.',
    },
  } satisfies Record<Exclude<LinkState, 'OPEN'> | 'HELD', { title: string; text: string }>,
}

const en: typeof pt = {
  each: 'each',
  openAmount: 'How much do you want to pay?',
  between: (least, most) => (most === null ? `From ${least}.` : `From ${least} to ${most}.`),
  amount: 'Amount in reais',
  amountWrong: (bounds) => `Enter an amount in reais. ${bounds}`,
  quantity: 'Quantity',
  quantityHint: (least, most) => `From ${least} to ${most}.`,
  quantityWrong: (least, most) => `Enter a quantity from ${least} to ${most}.`,
  payer: 'Your details',
  make: 'Get the Pix code',
  makeHint: 'You get the Pix code and the QR code at once. Nothing is paid yet.',
  until: (moment) => `On sale until ${moment}`,
  left: (count) => `${count} left`,
  changed: 'The price has changed while the page was open. Check it before you go on.',
  sold: 'Sold by',
  product: 'Product',
  closed: {
    OFF: { title: 'This link is not active', text: 'The shop is not selling by it now.' },
    ENDED: { title: 'Sales have ended', text: 'The time of this link is over.' },
    SOLD_OUT: { title: 'Sold out', text: 'Everything there was is sold.' },
    HELD: {
      title: 'Sold out for now',
      text: 'What is left is reserved by people who have yet to pay. If somebody gives up, it is available again: try later.',
    },
  },
}

/** The texts of the page of a link that many payers use. */
export const LINK: Record<Language, typeof pt> = { pt, en }
