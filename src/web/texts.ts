import type { Language } from '../lib/language.ts'

/** The errors that are shown as pages. */
export type Fault = 'missing' | 'closed' | 'busy' | 'unavailable' | 'invalid' | 'broken'

const pt = {
  /** The language as a browser names it. */
  tag: 'pt-BR',
  /** The name of the other language, in that language. */
  otherLanguage: 'English',
  skip: 'Ir para o conteúdo',
  skipToMenu: 'Ir para o menu',
  poweredBy: 'Pagamento via Pix · Vintém',
  faults: {
    missing: {
      title: 'Página não encontrada',
      text: 'Confira o endereço: ele pode estar incompleto. Se você recebeu um link de pagamento, peça à loja que envie novamente.',
    },
    closed: {
      title: 'Esta ação não está mais disponível',
      text: 'A cobrança ou assinatura já foi encerrada. Volte e atualize a página para ver a situação atual.',
    },
    busy: {
      title: 'Muitas tentativas',
      text: 'Aguarde alguns segundos e tente novamente.',
    },
    unavailable: {
      title: 'Serviço indisponível no momento',
      text: 'Não conseguimos falar com o banco. Nada foi cobrado. Tente novamente em alguns minutos.',
    },
    invalid: {
      title: 'Não foi possível enviar',
      text: 'Houve um problema com os dados enviados. Volte e tente novamente.',
    },
    broken: {
      title: 'Algo deu errado',
      text: 'O problema é do nosso lado e foi registrado. Tente novamente em alguns minutos.',
    },
  } satisfies Record<Fault, { title: string; text: string }>,
}

/** Texts that all pages share. The texts of one page are in a file beside it. */
type Texts = typeof pt

const en: Texts = {
  tag: 'en',
  otherLanguage: 'Português',
  skip: 'Skip to content',
  skipToMenu: 'Skip to menu',
  poweredBy: 'Pix payment · Vintém',
  faults: {
    missing: {
      title: 'Page not found',
      text: 'Check the address: part of it may be missing. If you were sent a payment link, ask the store to send it again.',
    },
    closed: {
      title: 'This is no longer possible',
      text: 'The charge or subscription has ended. Go back and reload the page to see its current status.',
    },
    busy: { title: 'Too many attempts', text: 'Wait a few seconds and try again.' },
    unavailable: {
      title: 'Not available right now',
      text: 'The bank could not be reached. Nothing was charged. Try again in a few minutes.',
    },
    invalid: {
      title: 'It could not be sent',
      text: 'There was a problem with the data that was sent. Go back and try again.',
    },
    broken: {
      title: 'Something went wrong on our side',
      text: 'The error was recorded. Try again in a few minutes.',
    },
  },
}

export const TEXTS: Record<Language, Texts> = { pt, en }
