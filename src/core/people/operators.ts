import type { ControlTx } from '../../db/database.ts'
import { recordForInstallation } from '../activity/record.ts'
import type { Author } from '../activity/rules.ts'
import type { App } from '../app.ts'
import { composeOperatorChange, type OperatorChange, type WrongSignIns } from '../letters/people.ts'
import { queueMails } from '../mails/store.ts'
import { withdrawOperating } from './link-store.ts'
import { invitationIdOf, type PersonLink } from './links.ts'
import { listOperators } from './role-store.ts'
import type { Person } from './rules.ts'
import { lockPerson } from './second-factors-store.ts'
import { deleteSessions, setOperator } from './store.ts'

/** So many operators get a mail at most. */
const MAX_OPERATORS = 50

type MailApp = Pick<App, 'vault' | 'systemClock'>

/** Writes to all operators but the one it is about. */
export async function mailOperators(
  tx: ControlTx,
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
  await queueMails(tx, vault, mails)
}

/** Notes that somebody was invited to operate the installation. */
export async function noteOperatorInvited(
  tx: ControlTx,
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
  tx: ControlTx,
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
  tx: ControlTx,
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
