import type { Language } from '../core/companies/rules.ts'

/** What every page says. A page's own words stand beside it. */
export type Texts = {
  /** The language as a browser names it. */
  tag: string
  /** The other language, in its own words. */
  otherLanguage: string
  skip: string
  poweredBy: string
  faults: Record<Fault, { title: string; text: string }>
}

/** What can keep a page from being shown. */
export type Fault = 'missing' | 'closed' | 'busy' | 'unavailable' | 'invalid' | 'broken'

const pt: Texts = {
  tag: 'pt-BR',
  otherLanguage: 'English',
  skip: 'Ir para o conteúdo',
  poweredBy: 'Pagamento por Pix com Vintém',
  faults: {
    missing: {
      title: 'Página não encontrada',
      text: 'Confira o endereço: ele pode ter sido copiado pela metade. Se você recebeu um link de pagamento, peça a quem enviou que mande de novo.',
    },
    closed: {
      title: 'Isso não é mais possível',
      text: 'A cobrança ou assinatura já foi encerrada. Volte à página anterior para ver a situação atual.',
    },
    busy: {
      title: 'Muitos pedidos ao mesmo tempo',
      text: 'Espere alguns segundos e tente de novo.',
    },
    unavailable: {
      title: 'Serviço indisponível no momento',
      text: 'Não foi possível falar com o banco. Nada foi cobrado. Tente de novo em alguns minutos.',
    },
    invalid: {
      title: 'Não entendemos o pedido',
      text: 'Algo no formulário não chegou como deveria. Volte e tente de novo.',
    },
    broken: {
      title: 'Algo deu errado do nosso lado',
      text: 'O erro foi registrado. Tente de novo em alguns minutos.',
    },
  },
}

const en: Texts = {
  tag: 'en',
  otherLanguage: 'Português',
  skip: 'Skip to content',
  poweredBy: 'Pix payment by Vintém',
  faults: {
    missing: {
      title: 'Page not found',
      text: 'Check the address: part of it may be missing. If you were sent a payment link, ask for it again.',
    },
    closed: {
      title: 'This is no longer possible',
      text: 'The charge or subscription has ended. Go back to see how it stands.',
    },
    busy: { title: 'Too many requests at once', text: 'Wait a few seconds and try again.' },
    unavailable: {
      title: 'Not available right now',
      text: 'The bank could not be reached. Nothing was charged. Try again in a few minutes.',
    },
    invalid: {
      title: 'We did not understand that',
      text: 'Something in the form did not arrive as it should. Go back and try again.',
    },
    broken: {
      title: 'Something went wrong on our side',
      text: 'The error was recorded. Try again in a few minutes.',
    },
  },
}

export const TEXTS: Record<Language, Texts> = { pt, en }
