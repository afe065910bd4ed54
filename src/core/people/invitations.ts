import type { ControlTx, Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { EMAIL_FORM } from '../../lib/mailbox.ts'
import { invalid } from '../../lib/problems.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { composeInvitation } from '../letters/people.ts'
import { DAY_S, requireWithinLimit } from '../mails/rules.ts'
import { listSent, queueMails } from '../mails/store.ts'
import { type LinkApp, requireName } from './commands.ts'
import { listInvitations, replaceInvitations } from './link-store.ts'
import { makeLink, type PersonLink, useLink } from './links.ts'
import { countMembers, lockOperator, lockRole } from './member-store.ts'
import { mailAccessChange } from './owner-mails.ts'
import { MAX_EMAIL, mayInvite, type Person, type Role } from './rules.ts'
import { emailOf } from './sign-in.ts'
import * as store from './store.ts'

/** Of a company, people and invitations together. */
const MAX_PEOPLE = 500
const MAX_INVITATIONS = 100
/** Invitations that a company sends, so that nobody is annoyed in its name. */
const MAILS = { perHour: 50, perDay: 200 }

export type NewInvitation = {
  email: string
  /** Null: only the whole installation. */
  company: Company | null
  role: Role | null
  makesOperator: boolean
  language: Language
  /** The name of whoever invites. */
  by: string | null
  /** The invitation ends with their right to invite. Null: it is the command line's. */
  invitedBy: Uuid | null
}

/** Invites somebody by mail. A former invitation of the same e-mail no longer works. */
export async function invite(
  tx: Tx,
  control: ControlTx,
  { vault, publicUrl }: LinkApp,
  invitation: NewInvitation,
  now: Date,
): Promise<{ url: string; link: PersonLink }> {
  const { company, role, makesOperator, language, by, invitedBy } = invitation
  const email = emailOf(invitation.email)
  if (!EMAIL_FORM.test(email) || email.length > MAX_EMAIL) {
    throw invalid('email: must be an e-mail address')
  }
  const person = await store.findPersonByEmail(control, email)
  await replaceInvitations(control, company?.id ?? null, email)
  if (company) await requireRoom(tx, control, company, person, now)
  const made = await makeLink(
    control,
    vault,
    publicUrl,
    {
      kind: 'invitation',
      personId: person?.id ?? null,
      email,
      companyId: company?.id ?? null,
      role,
      makesOperator,
      invitedBy,
      language,
    },
    now,
  )
  const { url, link } = made
  const { expiresAt } = link
  const letter = composeInvitation({ to: email, company, role, language, by, url, expiresAt })
  const owner = company?.id ?? person?.id ?? newId()
  await queueMails(tx, vault, [
    { companyId: owner, kind: 'invitation', letter, expiresAt, createdAt: now },
  ])
  return made
}

async function requireRoom(
  tx: Tx,
  control: ControlTx,
  { id }: Company,
  person: Person | null,
  now: Date,
): Promise<void> {
  if (person && (await store.findRole(control, id, person.id))) {
    throw invalid('email: belongs to the company already; change the role instead')
  }
  const { length: waiting } = await listInvitations(control, id, now)
  if (waiting >= MAX_INVITATIONS || waiting + (await countMembers(control, id)) >= MAX_PEOPLE) {
    throw invalid(`email: at most ${MAX_INVITATIONS} invitations wait; withdraw some of them`)
  }
  const since = new Date(now.getTime() - DAY_S * 1000)
  const sent = await listSent(tx, id, 'invitation', since, MAILS.perDay)
  requireWithinLimit(sent, MAILS, now, (perHour, perDay) => {
    return `A company sends at most ${perHour} invitations an hour and ${perDay} a day.`
  })
}

/** Accepts an invitation as somebody who is known. False: it no longer works. */
export async function acceptInvitation(
  tx: ControlTx,
  app: Pick<LinkApp, 'vault'>,
  link: PersonLink,
  person: Person,
  now: Date,
): Promise<boolean> {
  if (link.email !== person.email || !(await isAuthorAllowed(tx, link))) return false
  if (!(await useLink(tx, link, now))) return false
  await join(tx, app, link, person, now)
  return true
}

/**
 * Whether whoever has invited may still do so. They may lose the right after the link was read, so
 * it is locked: before the link, because whoever takes the right away locks them in this order.
 */
async function isAuthorAllowed(
  tx: ControlTx,
  { invitedBy, companyId, makesOperator }: PersonLink,
): Promise<boolean> {
  if (invitedBy === null) return true
  if (companyId && !mayInvite(await lockRole(tx, companyId, invitedBy))) return false
  return !makesOperator || lockOperator(tx, invitedBy)
}

/** Lets a person be what the invitation says. The owners get a mail about a new one. */
async function join(
  tx: ControlTx,
  { vault }: Pick<LinkApp, 'vault'>,
  { companyId, role, makesOperator }: PersonLink,
  person: Person,
  now: Date,
): Promise<void> {
  const { id, name } = person
  if (makesOperator) await store.setOperator(tx, id, true, now)
  if (!companyId || !role || (await store.findRole(tx, companyId, id))) return
  await store.setMembership(tx, companyId, id, role, now)
  if (role !== 'owner') return
  const place = await tx.at(companyId)
  const company = (await findCompany(place, companyId))!
  const change = { what: 'owner-added', person, by: name } as const
  await mailAccessChange(place, tx, vault, company, change, now, id)
}

/**
 * Accepts an invitation as somebody new, who then has a name and a password. Null: it no longer
 * works.
 */
export async function acceptAsNew(
  tx: ControlTx,
  app: Pick<LinkApp, 'vault'>,
  link: PersonLink,
  { name, password }: { name: string; password: string },
  now: Date,
): Promise<Person | null> {
  const person: Person = {
    id: newId(),
    email: link.email,
    name: requireName(name),
    password,
    language: link.language,
    isOperator: false,
    totpSecret: null,
    totpConfirmedAt: null,
    totpLastPeriod: null,
    factorCountsAt: null,
    createdAt: now,
    updatedAt: now,
  }
  const isTaken = (await store.findPersonByEmail(tx, link.email)) !== null
  if (isTaken || !(await isAuthorAllowed(tx, link))) return null
  if (!(await useLink(tx, link, now))) return null
  await store.insertPerson(tx, person)
  await join(tx, app, link, person, now)
  return person
}
