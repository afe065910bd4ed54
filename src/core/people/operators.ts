import type { Tx } from '../../db/database.ts'
import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskEmail } from '../../pix/masks.ts'
import { recordForInstallation } from '../activity/record.ts'
import type { Author } from '../activity/rules.ts'
import type { App } from '../app.ts'
import type { LetterPerson } from '../mails/layout.ts'
import { compose, paragraph } from '../mails/letters.ts'
import { queueMails } from '../mails/store.ts'
import { service } from './letters.ts'
import { withdrawOperating } from './link-store.ts'
import { invitationIdOf, type PersonLink } from './links.ts'
import { listOperators } from './role-store.ts'
import type { Person } from './rules.ts'
import { lockPerson } from './second-factors-store.ts'
import { deleteSessions, setOperator } from './store.ts'

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
type WrongSignIns = {
  what: 'wrong-password' | 'wrong-code'
  person: Subject
  tries: number
  at: Date
}

const pt = {
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
  address: 'De onde',
  at: 'Alterado em (horário de Brasília)',
  notYou:
    'Não reconhece esta alteração? Confira Pessoas e Atividades nas páginas da operação. “vintem person remove --operator” retira quem não deve operar o serviço.',
  tries: 'Tentativas',
  hour: 'Na hora que começou em (horário de Brasília)',
  notThem:
    'Pergunte à pessoa se foi ela. Se não foi, alguém tenta entrar: quem errou códigos já sabe a senha, e ela deve ser trocada.',
}

type Texts = typeof pt

const en: Texts = {
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
  address: 'From where',
  at: 'Changed at (Brasília time)',
  notYou:
    'You do not know of this change? Check People and Activity in the pages of the operator. "vintem person remove --operator" removes whoever is not to operate the service.',
  tries: 'Tries',
  hour: 'In the hour from (Brasília time)',
  notThem:
    'Ask them whether it was them. If not, somebody tries to get in: whoever sent wrong codes knows the password already, and it must be changed.',
}

const TEXTS: Record<Language, Texts> = { pt, en }

/** So many operators get a mail at most. */
const MAX_OPERATORS = 50

type MailApp = Pick<App, 'vault' | 'systemClock'>

/** To an operator, about another one. */
export function composeOperatorChange(
  { email: to, language }: LetterPerson,
  change: OperatorChange | WrongSignIns,
  author: LetterAuthor,
  now: Date,
): Letter {
  const texts = TEXTS[language]
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

/** Writes to all operators but the one it is about. */
export async function mailOperators(
  tx: Tx,
  { vault, systemClock }: MailApp,
  change: OperatorChange | WrongSignIns,
  author: Author,
): Promise<void> {
  const now = systemClock.now()
  const all = await listOperators(tx, MAX_OPERATORS)
  const others = all.filter(({ email }) => email !== change.person.email)
  const mails = others.map((reader) => ({
    companyId: reader.id,
    kind: 'access-changed' as const,
    letter: composeOperatorChange(reader, change, author, now),
    expiresAt: null,
    createdAt: now,
  }))
  await queueMails(tx.people, vault, mails)
}

/** Notes that somebody was invited to operate the installation. */
export async function noteOperatorInvited(
  tx: Tx,
  app: MailApp,
  link: PersonLink,
  author: Author,
): Promise<void> {
  const record = { type: 'invitation', id: invitationIdOf(link) } as const
  await recordForInstallation(tx, author, { action: 'operator.invite', record })
  await mailOperators(tx, app, { what: 'invited', person: link }, author)
}

/** Notes that somebody operates the installation from now on. */
export async function noteOperatorJoined(
  tx: Tx,
  app: MailApp,
  person: Person,
  author: Author,
): Promise<void> {
  const record = { type: 'person', id: person.id } as const
  await recordForInstallation(tx, author, { action: 'operator.join', record })
  await mailOperators(tx, app, { what: 'joined', person }, author)
}

/**
 * Lets a person no longer operate the installation. Their sessions end, and so do invitations to
 * operate that are by them or to them. False if they are no operator.
 */
export async function removeOperator(
  tx: Tx,
  app: MailApp,
  { id }: Pick<Person, 'id'>,
  author: Author,
): Promise<boolean> {
  const person = await lockPerson(tx, id)
  if (!person.isOperator) return false
  await setOperator(tx, id, false, app.systemClock.now())
  await deleteSessions(tx, id)
  const withdrawn = await withdrawOperating(tx, person)
  const record = { type: 'person', id } as const
  const details = withdrawn > 0 ? { withdrawn } : null
  await recordForInstallation(tx, author, { action: 'operator.remove', record, details })
  await mailOperators(tx, app, { what: 'removed', person }, author)
  return true
}
