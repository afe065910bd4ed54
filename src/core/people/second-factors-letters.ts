import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { formatMoment } from '../../pix/local-time.ts'
import type { LetterPerson } from '../mails/layout.ts'
import { compose, paragraph } from '../mails/letters.ts'
import { service } from './letters.ts'

/** What was changed about how somebody signs in. */
export type FactorChange =
  | 'app-added'
  | 'app-removed'
  | 'passkey-added'
  | 'passkey-removed'
  | 'codes-renewed'
  | 'reset'

const pt = {
  subject: {
    'app-added': 'Um aplicativo autenticador foi adicionado à sua conta',
    'app-removed': 'O aplicativo autenticador foi removido da sua conta',
    'passkey-added': 'Uma chave de acesso foi adicionada à sua conta',
    'passkey-removed': 'Uma chave de acesso foi removida da sua conta',
    'codes-renewed': 'Novos códigos de recuperação foram criados',
    reset: 'A verificação em duas etapas da sua conta foi removida',
  } satisfies Record<FactorChange, string>,
  intro: (at: string) => `A mudança foi feita em ${at} (horário de Brasília).`,
  /** Null: whoever operates the installation. */
  reset: (at: string, by: string | null) =>
    `${by ?? 'Quem opera a instalação'} removeu seu aplicativo autenticador, suas chaves de acesso e seus códigos de recuperação em ${at} (horário de Brasília). Você saiu de todos os dispositivos.`,
  again:
    'Entre com a sua senha e configure a verificação em duas etapas de novo, na página Segurança da sua conta.',
  name: 'Chave de acesso',
  without:
    'Sua conta ficou sem verificação em duas etapas: em empresas com dinheiro real, você não poderá sacar nem reembolsar até ativá-la de novo.',
  counts: (at: string) =>
    `Ela foi configurada só com a senha. Por segurança, vale para movimentar dinheiro real a partir de ${at} (horário de Brasília), ou assim que você a confirmar por e-mail na página Segurança da sua conta.`,
  notYou:
    'Não foi você? Crie já uma nova senha em “Esqueci minha senha”, na página de entrada, confira a página Segurança da sua conta e avise quem administra a sua empresa.',
  notAsked:
    'Você não pediu isso? Crie já uma nova senha em “Esqueci minha senha”, na página de entrada, e avise quem administra a sua empresa.',
}

type Texts = typeof pt

const en: Texts = {
  subject: {
    'app-added': 'An authenticator app was added to your account',
    'app-removed': 'The authenticator app was removed from your account',
    'passkey-added': 'A passkey was added to your account',
    'passkey-removed': 'A passkey was removed from your account',
    'codes-renewed': 'New recovery codes were created',
    reset: 'Two-step verification was removed from your account',
  },
  intro: (at) => `The change was made on ${at} (Brasília time).`,
  reset: (at, by) =>
    `${by ?? 'Whoever operates the installation'} removed your authenticator app, your passkeys and your recovery codes on ${at} (Brasília time). You are signed out on all devices.`,
  again:
    'Sign in with your password and set up two-step verification again, on the Security page of your account.',
  name: 'Passkey',
  without:
    'Your account no longer has two-step verification: in companies with real money you cannot withdraw or refund until you set it up again.',
  counts: (at) =>
    `It was set up with the password alone. To be safe, it counts for real money from ${at} (Brasília time), or as soon as you confirm it by email on the Security page of your account.`,
  notYou:
    'Wasn’t you? Choose a new password now with “Forgot your password?” on the sign-in page, check the Security page of your account, and inform whoever runs your company.',
  notAsked:
    'Did you not ask for this? Choose a new password now with “Forgot your password?” on the sign-in page, and inform whoever runs your company.',
}

const TEXTS: Record<Language, Texts> = { pt, en }

/** What else is known about a change. */
export type AboutChange = {
  passkey?: string
  isLast?: boolean
  /** From when on the factor counts, if it does not yet. */
  countsAt?: Date | null
  /** Who has reset the factors, if it was not the operator. */
  by?: string | null
}

/** To the person, so that a change that they did not make is noticed. */
export function composeFactorChange(
  { email, language }: LetterPerson,
  change: FactorChange,
  { passkey, isLast = false, countsAt = null, by = null }: AboutChange,
  at: Date,
): Letter {
  const { subject, intro, reset, again, name, without, counts, notYou, notAsked } = TEXTS[language]
  const moment = formatMoment(at)
  const isReset = change === 'reset'
  return compose(service(language), {
    to: email,
    subject: subject[change],
    title: subject[change],
    blocks: [
      paragraph(isReset ? reset(moment, by) : intro(moment)),
      ...(passkey === undefined ? [] : [paragraph(`${name}: ${passkey}`)]),
      ...(isReset ? [paragraph(again)] : []),
      ...(countsAt ? [paragraph(counts(formatMoment(countsAt)))] : []),
      ...(isLast ? [paragraph(without)] : []),
      paragraph(isReset ? notAsked : notYou),
    ],
  })
}
