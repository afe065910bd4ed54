import { DEFAULT_COLOR } from '../../lib/contrast.ts'
import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { formatMoment } from '../../pix/local-time.ts'
import type { LetterCompany, LetterPerson } from '../mails/layout.ts'
import { compose, paragraph } from '../mails/letters.ts'

const pt = {
  roles: {
    owner: 'Responsável',
    finance: 'Financeiro',
    support: 'Atendimento',
    developer: 'Desenvolvimento',
    viewer: 'Somente leitura',
  },
  operator: 'Operação do serviço',
  invitation: {
    subject: (company: string) => `Convite para o painel de ${company}`,
    title: (company: string) => `Você foi convidado para ${company}`,
    intro: (company: string, by: string | null) =>
      by === null
        ? `Você recebeu um convite para acessar o painel de ${company}.`
        : `${by} convidou você para acessar o painel de ${company}.`,
    role: 'Seu perfil',
    until: 'Aceite até (horário de Brasília)',
    accept: 'Aceitar convite',
    unknown:
      'Não esperava este convite? Ignore esta mensagem: sem o seu aceite, nada acontece. Não encaminhe este e-mail, pois o link vale para quem o abrir.',
  },
  password: {
    subject: 'Crie uma nova senha',
    title: 'Crie uma nova senha',
    intro: 'Recebemos um pedido para criar uma nova senha para a sua conta.',
    choose: 'Criar nova senha',
    validity: (minutes: number) =>
      `O link vale por ${minutes} minutos e só pode ser usado uma vez.`,
    notYou:
      'Não foi você quem pediu? Ignore esta mensagem: sua senha continua a mesma. Não encaminhe este e-mail a ninguém.',
  },
  link: {
    subject: 'Confirme a verificação em duas etapas',
    intro:
      'Abra este link para confirmar que este e-mail é seu. Assim, a verificação em duas etapas da sua conta vale na hora.',
    open: 'Confirmar por e-mail',
    notYou:
      'Não foi você quem pediu? Alguém pode ter a sua senha: não abra o link e crie já uma nova senha em “Esqueci minha senha”, na página de entrada. Não encaminhe este e-mail a ninguém.',
  },
  changed: {
    subject: 'Sua senha foi alterada',
    title: 'Sua senha foi alterada',
    intro: (at: string) => `A senha da sua conta foi alterada em ${at} (horário de Brasília).`,
    notYou:
      'Não foi você? Crie já uma nova senha em “Esqueci minha senha”, na página de entrada, e avise quem administra a sua empresa.',
  },
}

type Texts = typeof pt

const en: Texts = {
  roles: {
    owner: 'Owner',
    finance: 'Finance',
    support: 'Support',
    developer: 'Developer',
    viewer: 'Viewer',
  },
  operator: 'Operator of the service',
  invitation: {
    subject: (company) => `Invitation to the dashboard of ${company}`,
    title: (company) => `You are invited to ${company}`,
    intro: (company, by) =>
      by === null
        ? `You are invited to the dashboard of ${company}.`
        : `${by} invites you to the dashboard of ${company}.`,
    role: 'Your role',
    until: 'Accept it until (Brasília time)',
    accept: 'Accept the invitation',
    unknown:
      'Not expecting this? Ignore this message: nothing happens unless you accept. Do not forward this email, since the link works for whoever opens it.',
  },
  password: {
    subject: 'Choose a new password',
    title: 'Choose a new password',
    intro: 'We were asked to let you choose a new password for your account.',
    choose: 'Choose a new password',
    validity: (minutes) => `The link works for ${minutes} minutes, and only once.`,
    notYou:
      'Wasn’t you? Ignore this message: your password stays the same. Do not forward this email to anyone.',
  },
  link: {
    subject: 'Confirm two-step verification',
    intro:
      'Open this link to confirm that this email is yours. Two-step verification of your account then counts at once.',
    open: 'Confirm by email',
    notYou:
      'Wasn’t you? Someone may have your password: do not open the link, and choose a new password now with “Forgot your password?” on the sign-in page. Do not forward this email to anyone.',
  },
  changed: {
    subject: 'Your password was changed',
    title: 'Your password was changed',
    intro: (at) => `The password of your account was changed on ${at} (Brasília time).`,
    notYou:
      'Wasn’t you? Choose a new password now with “Forgot your password?” on the sign-in page, and inform whoever runs your company.',
  },
}

const TEXTS: Record<Language, Texts> = { pt, en }

/** The sender of letters that are about no company. */
export const service = (language: Language): LetterCompany => ({
  name: 'Vintém',
  email: '',
  color: DEFAULT_COLOR,
  mode: 'live',
  language,
})

type InvitationLetter = {
  to: string
  /** Null: an invitation to the whole installation. */
  company: LetterCompany | null
  role: keyof Texts['roles'] | null
  language: Language
  by: string | null
  url: string
  expiresAt: Date
}

export function composeInvitation(letter: InvitationLetter): Letter {
  const { to, company, role, language, by, url, expiresAt } = letter
  const { invitation: texts, roles, operator } = TEXTS[language]
  const from = company ? { ...company, language } : service(language)
  const facts: [string, string][] = [
    [texts.role, role ? roles[role] : operator],
    [texts.until, formatMoment(expiresAt)],
  ]
  return compose(from, {
    to,
    subject: texts.subject(from.name),
    title: texts.title(from.name),
    blocks: [
      paragraph(texts.intro(from.name, by)),
      { kind: 'facts', facts },
      { kind: 'button', label: texts.accept, url },
      paragraph(texts.unknown),
    ],
  })
}

export function composeNewPassword(
  { email, language }: LetterPerson,
  { url, minutes }: { url: string; minutes: number },
): Letter {
  const { password: texts } = TEXTS[language]
  return compose(service(language), {
    to: email,
    subject: texts.subject,
    title: texts.title,
    blocks: [
      paragraph(texts.intro),
      { kind: 'button', label: texts.choose, url },
      paragraph(texts.validity(minutes)),
      paragraph(texts.notYou),
    ],
  })
}

/** Brings the link with which a person shows that the mailbox is theirs. */
export function composeSignInLink(
  { email, language }: LetterPerson,
  { url, minutes }: { url: string; minutes: number },
): Letter {
  const { link: texts, password } = TEXTS[language]
  return compose(service(language), {
    to: email,
    subject: texts.subject,
    title: texts.subject,
    blocks: [
      paragraph(texts.intro),
      { kind: 'button', label: texts.open, url },
      paragraph(password.validity(minutes)),
      paragraph(texts.notYou),
    ],
  })
}

/** To the person, so that a change that they did not make is noticed. */
export function composePasswordChanged({ email, language }: LetterPerson, at: Date): Letter {
  const { changed: texts } = TEXTS[language]
  return compose(service(language), {
    to: email,
    subject: texts.subject,
    title: texts.title,
    blocks: [paragraph(texts.intro(formatMoment(at))), paragraph(texts.notYou)],
  })
}
