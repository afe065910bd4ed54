import type { Language } from '../lib/language.ts'
import type { State } from './found.ts'

const pt = {
  locale: 'pt_BR',
  caption: 'Pagamento via Pix',
  mark: 'AMBIENTE DE TESTES',
  imageAlt: (company: string) => `${company}: pagamento via Pix`,
  test: 'TESTE, sem valor real.',
  charge(state: State, company: string) {
    if (state === 'paid') return `Pagamento recebido por ${company}.`
    if (state === 'refunded') return `Pagamento devolvido por ${company}.`
    if (state === 'expired' || state === 'canceled') return 'Este link não pode mais ser pago.'
    if (state === 'checking') return `Pagamento em análise por ${company}.`
    if (state === 'collecting') return `Cobrança de ${company} no Pix Automático.`
    return `Cobrança de ${company}. Abra para pagar com QR Code ou Pix Copia e Cola.`
  },
  link: (price: string | null, company: string) =>
    `${price === null ? '' : `${price} · `}Venda de ${company}. Abra para pagar com Pix.`,
  subscription: (price: string, company: string) =>
    `${price} no Pix Automático. Assinatura de ${company}.`,
}

/** What a messenger shows of a link to a page. It never names the payer. */
type PreviewTexts = typeof pt

const en: PreviewTexts = {
  locale: 'en_US',
  caption: 'Pix payment',
  mark: 'TEST ENVIRONMENT',
  imageAlt: (company) => `${company}: Pix payment`,
  test: 'TEST, no real money.',
  charge(state, company) {
    if (state === 'paid') return `Payment received by ${company}.`
    if (state === 'refunded') return `Payment returned by ${company}.`
    if (state === 'expired' || state === 'canceled') return 'This link can no longer be paid.'
    if (state === 'checking') return `${company} is checking a payment.`
    if (state === 'collecting') return `Charge from ${company} through Pix Automático.`
    return `Charge from ${company}. Open it to pay by QR code or Pix copy and paste.`
  },
  link: (price, company) =>
    `${price === null ? '' : `${price} · `}Sold by ${company}. Open it to pay by Pix.`,
  subscription: (price, company) => `${price} through Pix Automático. Subscription of ${company}.`,
}

export const PREVIEW: Record<Language, PreviewTexts> = { pt, en }
