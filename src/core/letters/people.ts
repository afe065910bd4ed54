import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskEmail } from '../../pix/masks.ts'
import { compose, type LetterCompany, paragraph, type Reader, service } from './layout.ts'

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
    role: 'Sua função',
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
  factors: {
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
      'Sua conta ficou sem verificação em duas etapas: em empresas com dinheiro real, você não poderá sacar nem devolver até ativá-la de novo.',
    counts: (at: string) =>
      `Ela foi configurada só com a senha. Por segurança, vale para movimentar dinheiro real a partir de ${at} (horário de Brasília), ou assim que você a confirmar por e-mail na página Segurança da sua conta.`,
    notYou:
      'Não foi você? Crie já uma nova senha em “Esqueci minha senha”, na página de entrada, confira a página Segurança da sua conta e avise quem administra a sua empresa.',
    notAsked:
      'Você não pediu isso? Crie já uma nova senha em “Esqueci minha senha”, na página de entrada, e avise quem administra a sua empresa.',
  },
  operators: {
    subject: {
      invited: 'Uma pessoa foi convidada para operar o serviço',
      joined: 'O serviço tem uma nova pessoa na operação',
      removed: 'Uma pessoa deixou a operação do serviço',
      'factor-added': 'Verificação em duas etapas: uma pessoa da operação adicionou uma forma',
      'factor-removed': 'Verificação em duas etapas: uma pessoa da operação removeu uma forma',
      'wrong-password': 'Senhas erradas na conta de uma pessoa da operação',
      'wrong-code': 'Códigos errados na conta de uma pessoa da operação',
    },
    person: 'Pessoa',
    by: 'Alterado por',
    commandLine: (user: string) => `${user} (linha de comando)`,
    address: 'IP',
    at: 'Alterado em (horário de Brasília)',
    notYou:
      'Não reconhece esta alteração? Confira Pessoas e Atividades nas páginas da operação. “vintem person remove --operator” retira quem não deve operar o serviço.',
    tries: 'Tentativas',
    hour: 'Na hora que começou em (horário de Brasília)',
    notThem:
      'Pergunte à pessoa se foi ela. Se não foi, alguém tenta entrar: quem errou códigos já sabe a senha, e ela deve ser trocada.',
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
  factors: {
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
  },
  operators: {
    subject: {
      invited: 'Someone was invited to operate the service',
      joined: 'The service has a new operator',
      removed: 'Someone no longer operates the service',
      'factor-added': 'Two-step verification: an operator added a way of verification',
      'factor-removed': 'Two-step verification: an operator removed a way of verification',
      'wrong-password': 'Wrong passwords for the account of an operator',
      'wrong-code': 'Wrong codes for the account of an operator',
    },
    person: 'Person',
    by: 'Changed by',
    commandLine: (user) => `${user} (command line)`,
    address: 'IP',
    at: 'Changed at (Brasília time)',
    notYou:
      'You do not know of this change? Check People and Activity in the pages of the operator. "vintem person remove --operator" removes whoever is not to operate the service.',
    tries: 'Tries',
    hour: 'In the hour from (Brasília time)',
    notThem:
      'Ask them whether it was them. If not, somebody tries to get in: whoever sent wrong codes knows the password already, and it must be changed.',
  },
}

const TEXTS: Record<Language, Texts> = { pt, en }

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
  { email, language }: Reader,
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
  { email, language }: Reader,
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
export function composePasswordChanged({ email, language }: Reader, at: Date): Letter {
  const { changed: texts } = TEXTS[language]
  return compose(service(language), {
    to: email,
    subject: texts.subject,
    title: texts.title,
    blocks: [paragraph(texts.intro(formatMoment(at))), paragraph(texts.notYou)],
  })
}

/** What was changed about how somebody signs in. */
export type FactorChange =
  | 'app-added'
  | 'app-removed'
  | 'passkey-added'
  | 'passkey-removed'
  | 'codes-renewed'
  | 'reset'

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
  { email, language }: Reader,
  change: FactorChange,
  { passkey, isLast = false, countsAt = null, by = null }: AboutChange,
  at: Date,
): Letter {
  const { subject, intro, reset, again, name, without, counts, notYou, notAsked } =
    TEXTS[language].factors
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

/** An invited person may have no name yet. */
type Subject = { email: string; name?: string }

/** Who has made a change, and from where. If no person has, it was made on the command line. */
type LetterAuthor = { kind: string; name: string; address: string | null }

/** A change of who operates the installation, or of how they prove who they are. */
export type OperatorChange = {
  what: 'invited' | 'joined' | 'removed' | 'factor-added' | 'factor-removed'
  person: Subject
}

/** What was wrong at sign-in within an hour, which `at` begins. */
export type WrongSignIns = {
  what: 'wrong-password' | 'wrong-code'
  person: Subject
  tries: number
  at: Date
}

/** To an operator, about another one. */
export function composeOperatorChange(
  { email: to, language }: Reader,
  change: OperatorChange | WrongSignIns,
  author: LetterAuthor,
  now: Date,
): Letter {
  const { operators: texts } = TEXTS[language]
  const { what, person } = change
  const masked = maskEmail(person.email)
  const by = author.kind === 'person' ? maskEmail(author.name) : texts.commandLine(author.name)
  const isWrong = 'tries' in change
  const facts: [string, string][] = [
    [texts.person, person.name ? `${person.name} (${masked})` : masked],
    isWrong ? [texts.tries, String(change.tries)] : [texts.by, by],
    ...(author.address ? [[texts.address, author.address] satisfies [string, string]] : []),
    isWrong ? [texts.hour, formatMoment(change.at)] : [texts.at, formatMoment(now)],
  ]
  const subject = texts.subject[what]
  const advice = paragraph(isWrong ? texts.notThem : texts.notYou)
  const blocks = [{ kind: 'facts', facts } as const, advice]
  return compose(service(language), { to, subject, title: subject, blocks })
}
