import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { compose, paragraph } from '../mails/letters.ts'
import { service } from './letters.ts'
import type { Person } from './rules.ts'

/** What somebody has changed about how they sign in. */
export type FactorChange =
  | 'app-added'
  | 'app-removed'
  | 'passkey-added'
  | 'passkey-removed'
  | 'codes-renewed'

type Texts = {
  subject: Record<FactorChange, string>
  intro(at: string): string
  name: string
  without: string
  notYou: string
}

const pt: Texts = {
  subject: {
    'app-added': 'Um aplicativo autenticador foi adicionado à sua conta',
    'app-removed': 'O aplicativo autenticador foi removido da sua conta',
    'passkey-added': 'Uma chave de acesso foi adicionada à sua conta',
    'passkey-removed': 'Uma chave de acesso foi removida da sua conta',
    'codes-renewed': 'Novos códigos de recuperação foram criados',
  },
  intro: (at) => `A mudança foi feita em ${at} (horário de Brasília).`,
  name: 'Chave de acesso',
  without:
    'Sua conta ficou sem verificação em duas etapas: em empresas com dinheiro real, você não poderá sacar nem reembolsar até ativá-la de novo.',
  notYou:
    'Não foi você? Crie já uma nova senha em “Esqueci minha senha”, na página de entrada, confira a página Segurança da sua conta e avise quem administra a sua empresa.',
}

const en: Texts = {
  subject: {
    'app-added': 'An authenticator app was added to your account',
    'app-removed': 'The authenticator app was removed from your account',
    'passkey-added': 'A passkey was added to your account',
    'passkey-removed': 'A passkey was removed from your account',
    'codes-renewed': 'New recovery codes were created',
  },
  intro: (at) => `The change was made on ${at} (Brasília time).`,
  name: 'Passkey',
  without:
    'Your account no longer has two-step verification: in companies with real money you cannot withdraw or refund until you set it up again.',
  notYou:
    'Wasn’t you? Choose a new password now with “Forgot your password?” on the sign-in page, check the Security page of your account, and inform whoever runs your company.',
}

const TEXTS: Record<Language, Texts> = { pt, en }

/** To the person, so that a change that they did not make is noticed. */
export function composeFactorChange(
  { email, language }: Person,
  change: FactorChange,
  { passkey, isLast = false }: { passkey?: string; isLast?: boolean },
  at: Date,
): Letter {
  const { subject, intro, name, without, notYou } = TEXTS[language]
  return compose(service(language), {
    to: email,
    subject: subject[change],
    title: subject[change],
    blocks: [
      paragraph(intro(formatMoment(at))),
      ...(passkey === undefined ? [] : [paragraph(`${name}: ${passkey}`)]),
      ...(isLast ? [paragraph(without)] : []),
      paragraph(notYou),
    ],
  })
}
