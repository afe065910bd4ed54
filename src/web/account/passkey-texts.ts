import type { Language } from '../../lib/language.ts'

const pt = {
  signIn: 'Entrar com chave de acesso',
  use: 'Usar chave de acesso',
  canceled: 'Nenhuma chave de acesso foi usada. Tente de novo ou escolha outra forma.',
  unsupported: 'Este navegador não aceita chaves de acesso. Atualize-o ou escolha outra forma.',
  needsScripts: 'Para usar uma chave de acesso, ative o JavaScript.',
  needsName: (url: string) =>
    `Chaves de acesso só funcionam em um domínio ou em localhost. Neste computador, abra ${url}.`,
  refused:
    'Não reconhecemos esta chave de acesso, ou a página ficou aberta por muito tempo. Tente de novo.',
  refusedTitle: 'Não foi possível entrar',
  toSignIn: 'Entrar de outra forma',
}

type Texts = typeof pt

const en: Texts = {
  signIn: 'Sign in with a passkey',
  use: 'Use a passkey',
  canceled: 'No passkey was used. Try again or choose another way.',
  unsupported: 'This browser does not support passkeys. Update it or choose another way.',
  needsScripts: 'To use a passkey, enable JavaScript.',
  needsName: (url) =>
    `Passkeys work only on a domain or on localhost. On this computer, open ${url}.`,
  refused: 'We do not recognize this passkey, or the page was open for too long. Try again.',
  refusedTitle: 'You could not be signed in',
  toSignIn: 'Sign in another way',
}

export const PASSKEY: Record<Language, Texts> = { pt, en }
