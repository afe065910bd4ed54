import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { type Cents, formatReais } from '../../lib/money.ts'
import { withoutLinks } from '../../lib/one-line.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskEmail, maskPixKey } from '../../pix/masks.ts'
import { asIs, compose, type Fact, type LetterCompany, paragraph, type Reader } from './layout.ts'

const pt = {
  bankChange: {
    subject: (company: string) => `A conexão de ${company} com o banco foi alterada`,
    title: 'A conexão com o banco foi alterada',
    connected: (company: string) =>
      `Um banco foi conectado a ${company}. Os pagamentos passam a cair nesta conta.`,
    disconnected: (company: string) =>
      `O banco de ${company} foi desconectado. A empresa deixa de receber por Pix.`,
    keySubject: (company: string) => `A chave Pix de ${company} foi alterada`,
    keyTitle: 'A chave Pix foi alterada',
    keyChanged: (company: string) =>
      `A chave Pix de ${company} foi alterada. Os pagamentos passam a cair na conta desta chave.`,
    bank: 'Banco',
    pixKey: 'Chave Pix que recebe',
    payoutKey: 'Chave Pix dos saques',
    by: 'Alterado por',
    operator: 'Quem opera este serviço',
    at: 'Alterado em (horário de Brasília)',
    waits: (hours: number) =>
      `Por segurança, os saques das próximas ${hours} horas só saem na hora com a aprovação de uma segunda pessoa. Se o destino do dinheiro for alterado de novo, os saques que estiverem esperando serão cancelados, e não enviados.`,
    notYou:
      'Não reconhece esta alteração? Recuse no painel os saques que não pediu, volte a conexão ao que era, confira as pessoas com acesso ao painel e fale já com quem opera este serviço.',
  },
  accessChange: {
    subject: {
      'owner-added': (company: string) => `${company} tem um novo responsável`,
      'factors-reset': (company: string) =>
        `A verificação em duas etapas de uma pessoa de ${company} foi removida`,
      'approval-limit': (company: string) => `A aprovação de saques de ${company} foi alterada`,
      'key-created': (company: string) => `${company} tem uma nova chave de API`,
    },
    added: (company: string) =>
      `Uma pessoa passou a ser responsável por ${company}. No painel, ela pode sacar, criar chaves de API, trocar o banco e convidar outras pessoas.`,
    reset: (company: string) =>
      `A verificação em duas etapas de uma pessoa com acesso a ${company} foi removida. Até configurá-la de novo, essa pessoa entra só com a senha.`,
    limited: (company: string, above: string) =>
      `Os saques de ${company} acima de ${above} precisam da aprovação de uma segunda pessoa.`,
    unlimited: (company: string) =>
      `Os saques de ${company} não precisam mais da aprovação de uma segunda pessoa.`,
    created: (company: string) =>
      `Uma chave de API que pode movimentar o dinheiro de ${company} foi criada. Quem tem a chave não precisa de senha.`,
    key: 'Chave',
    can: 'O que ela permite',
    /** Those that move money, in the order in which they are named. */
    scopes: { 'payments:write': 'cobrar e devolver', 'balance:write': 'sacar' },
    person: 'Pessoa',
    before: 'Antes',
    after: 'Agora',
    none: 'Sem aprovação',
    by: 'Alterado por',
    operator: 'Quem opera este serviço',
    at: 'Alterado em (horário de Brasília)',
    notYou:
      'Não reconhece esta alteração? Confira no painel as pessoas com acesso e as chaves de API e fale já com quem opera este serviço.',
  },
  approval: {
    subject: (amount: string) => `Aprovar o saque de ${amount}?`,
    title: 'Um saque aguarda a sua aprovação',
    intro: (company: string) =>
      `Um saque de ${company} foi confirmado e precisa da aprovação de uma segunda pessoa antes de ser enviado.`,
    amount: 'Valor',
    destination: 'Chave Pix de destino',
    requestedBy: 'Solicitado por',
    apiKey: 'Chave de API',
    expires: 'Expira em (horário de Brasília)',
    held: (company: string) =>
      `A conexão de ${company} com o banco foi alterada há pouco. Por isso este saque só sai agora com a aprovação de uma segunda pessoa; sem ela, é enviado no horário abaixo. Não reconhece a alteração? Recuse o saque.`,
    sentAt: 'Enviado sem aprovação em (horário de Brasília)',
    button: 'Ver o saque',
    unknown:
      'Você não reconhece este saque? Recuse o saque no painel e troque as chaves de API da empresa.',
  },
}

type Texts = typeof pt

const en: Texts = {
  bankChange: {
    subject: (company) => `The bank connection of ${company} was changed`,
    title: 'The bank connection was changed',
    connected: (company) =>
      `A bank was connected to ${company}. Payments now arrive at this account.`,
    disconnected: (company) =>
      `The bank of ${company} was disconnected. The company can no longer be paid by Pix.`,
    keySubject: (company) => `The Pix key of ${company} was changed`,
    keyTitle: 'The Pix key was changed',
    keyChanged: (company) =>
      `The Pix key of ${company} was changed. Payments now arrive at the account of this key.`,
    bank: 'Bank',
    pixKey: 'Pix key that receives',
    payoutKey: 'Pix key of withdrawals',
    by: 'Changed by',
    operator: 'Whoever operates this service',
    at: 'Changed at (Brasília time)',
    waits: (hours) =>
      `For safety, withdrawals of the next ${hours} hours leave at once only if a second person approves them. If where the money goes is changed again, withdrawals that wait are canceled instead of sent.`,
    notYou:
      'You do not know of this change? Refuse withdrawals that you did not ask for in the dashboard, change the connection back, check who has access to the dashboard, and contact whoever operates this service now.',
  },
  accessChange: {
    subject: {
      'owner-added': (company) => `${company} has a new owner`,
      'factors-reset': (company) => `Two-step verification of a member of ${company} was removed`,
      'approval-limit': (company) => `The approval of withdrawals of ${company} was changed`,
      'key-created': (company) => `${company} has a new API key`,
    },
    added: (company) =>
      `Someone is now an owner of ${company}. In the dashboard they can withdraw, create API keys, change the bank and invite others.`,
    reset: (company) =>
      `Two-step verification was removed from a person with access to ${company}. Until they set it up again, they sign in with the password alone.`,
    limited: (company, above) =>
      `Withdrawals of ${company} above ${above} need the approval of a second person.`,
    unlimited: (company) =>
      `Withdrawals of ${company} no longer need the approval of a second person.`,
    created: (company) =>
      `An API key that can move the money of ${company} was created. Whoever has the key needs no password.`,
    key: 'Key',
    can: 'What it allows',
    scopes: { 'payments:write': 'charge and refund', 'balance:write': 'withdraw' },
    person: 'Person',
    before: 'Before',
    after: 'Now',
    none: 'No approval',
    by: 'Changed by',
    operator: 'Whoever operates this service',
    at: 'Changed at (Brasília time)',
    notYou:
      'You do not know of this change? Check the members and the API keys in the dashboard, and contact whoever operates this service now.',
  },
  approval: {
    subject: (amount) => `Approve the withdrawal of ${amount}?`,
    title: 'A withdrawal waits for your approval',
    intro: (company) =>
      `A withdrawal of ${company} is confirmed and needs the approval of a second person before it is sent.`,
    amount: 'Amount',
    destination: 'Destination Pix key',
    requestedBy: 'Requested by',
    apiKey: 'API key',
    expires: 'Expires at (Brasília time)',
    held: (company) =>
      `The bank connection of ${company} was changed a short time ago. So this withdrawal only leaves now if a second person approves it; otherwise it is sent at the time below. You do not know of the change? Refuse the withdrawal.`,
    sentAt: 'Sent without approval at (Brasília time)',
    button: 'View the withdrawal',
    unknown:
      'You do not recognize this withdrawal? Refuse it in the dashboard and replace the company’s API keys.',
  },
}

const TEXTS: Record<Language, Texts> = { pt, en }

export type BankChange = {
  /** Null if only the Pix key of the company has changed. */
  bank: string | null
  /** Where money goes from now on; null if the bank was disconnected. */
  keys: { pixKey: string; payoutKey: string | null } | null
  by: By
  /** How long withdrawals wait because of it. */
  waitHours: number
}

/** That the company's money goes elsewhere, because somebody else may have done it. */
export function composeBankChange(
  company: LetterCompany,
  { email: to, language }: Reader,
  { bank, keys, by, waitHours }: BankChange,
  now: Date,
): Letter {
  const { bankChange: texts } = TEXTS[language]
  const facts: Fact[] = bank === null ? [] : [[texts.bank, bank]]
  if (keys) facts.push([texts.pixKey, asIs(maskPixKey(keys.pixKey))])
  if (keys?.payoutKey) facts.push([texts.payoutKey, asIs(maskPixKey(keys.payoutKey))])
  facts.push([texts.by, by ?? texts.operator], [texts.at, formatMoment(now)])
  const isKey = bank === null
  const intro = isKey ? texts.keyChanged : keys ? texts.connected : texts.disconnected
  return compose(
    { ...company, language },
    {
      to,
      subject: isKey ? texts.keySubject(company.name) : texts.subject(company.name),
      title: isKey ? texts.keyTitle : texts.title,
      blocks: [
        paragraph(intro(company.name)),
        { kind: 'facts', facts },
        ...(waitHours > 0 ? [paragraph(texts.waits(waitHours))] : []),
        paragraph(texts.notYou),
      ],
    },
  )
}

/** A key may have a long name, which whoever makes it chooses. */
const MAX_SHOWN_NAME = 60

/** A change of who can reach the money of a company. */
export type AccessChange = { by: By } & (
  | { what: 'owner-added' | 'factors-reset'; person: { name: string; email: string } }
  | { what: 'approval-limit'; before: Cents | null; after: Cents | null }
  | { what: 'key-created'; key: NewKey }
)

export type NewKey = { name: string; scopes: readonly string[] }

/** The name of who has made it. Null: whoever operates the installation. */
export type By = string | null

function accessIntro(
  { name }: LetterCompany,
  change: AccessChange,
  texts: Texts['accessChange'],
): string {
  if ('person' in change) return texts[change.what === 'owner-added' ? 'added' : 'reset'](name)
  if ('key' in change) return texts.created(name)
  const { after } = change
  return after === null ? texts.unlimited(name) : texts.limited(name, formatReais(after))
}

function accessFacts(change: AccessChange, texts: Texts['accessChange']): Fact[] {
  if ('person' in change) {
    const { name, email } = change.person
    return [[texts.person, asIs(`${withoutLinks(name)} (${maskEmail(email)})`)]]
  }
  if ('key' in change) {
    const { name, scopes } = change.key
    const words = Object.entries(texts.scopes).flatMap(([scope, word]) =>
      scopes.includes(scope) ? [word] : [],
    )
    return [
      [texts.key, name.slice(0, MAX_SHOWN_NAME)],
      [texts.can, words.join(', ')],
    ]
  }
  const limit = (above: Cents | null) => (above === null ? texts.none : `> ${formatReais(above)}`)
  return [
    [texts.before, limit(change.before)],
    [texts.after, limit(change.after)],
  ]
}

/** About a change of who can reach the money of a company. */
export function composeAccessChange(
  company: LetterCompany,
  { email: to, language }: Reader,
  change: AccessChange,
  at: Date,
): Letter {
  const { accessChange: texts } = TEXTS[language]
  const facts: Fact[] = [
    ...accessFacts(change, texts),
    [texts.by, change.by ?? texts.operator],
    [texts.at, formatMoment(at)],
  ]
  const subject = texts.subject[change.what](company.name)
  return compose(
    { ...company, language },
    {
      to,
      subject,
      title: subject,
      blocks: [
        paragraph(accessIntro(company, change, texts)),
        { kind: 'facts', facts },
        paragraph(texts.notYou),
      ],
    },
  )
}

type ApprovalLetter = {
  value: Cents
  destination: string
  /** Null: an API key; undefined: somebody who can no longer approve withdrawals. */
  requestedBy: string | null | undefined
  /** When it expires, or, if it is held, is sent without an approval. */
  until: Date
  isHeld: boolean
  url: string
}

/** To somebody who can approve a withdrawal. */
export function composeApproval(
  company: LetterCompany,
  { email, language }: Reader,
  { value, destination, requestedBy, until, isHeld, url }: ApprovalLetter,
): Letter {
  const { approval: texts } = TEXTS[language]
  const who = requestedBy === null ? texts.apiKey : requestedBy
  const facts: Fact[] = [
    [texts.amount, formatReais(value)],
    [texts.destination, asIs(maskPixKey(destination))],
    ...(who ? ([[texts.requestedBy, who]] as [string, string][]) : []),
    [isHeld ? texts.sentAt : texts.expires, formatMoment(until)],
  ]
  return compose(
    { ...company, language },
    {
      to: email,
      subject: texts.subject(formatReais(value)),
      title: texts.title,
      blocks: [
        paragraph((isHeld ? texts.held : texts.intro)(company.name)),
        { kind: 'facts', facts },
        { kind: 'button', label: texts.button, url },
        paragraph(texts.unknown),
      ],
    },
  )
}
