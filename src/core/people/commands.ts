import type { ControlTx, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import type { By } from '../letters/members.ts'
import { composeNewPassword, composePasswordChanged, composeSignInLink } from '../letters/people.ts'
import { queueMails } from '../mails/store.ts'
import { countLinks, deleteLinks, withdrawInvitations } from './link-store.ts'
import { LINK_MS, linkOf, makeLink } from './links.ts'
import { deleteMembership, lockOwners } from './member-store.ts'
import { mailAccessChange } from './owner-mails.ts'
import { MAX_NAME, mayInvite, type Person, type Role } from './rules.ts'
import { lockPerson } from './second-factors-store.ts'
import { emailOf } from './sign-in.ts'
import * as store from './store.ts'

/** What is needed to make links and to queue mails. */
export type LinkApp = Pick<App, 'vault' | 'publicUrl'>

export function requireName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= MAX_NAME) return trimmed
  throw invalid(`name: 1 to ${MAX_NAME} characters`)
}

/** Stores a new password, and ends all sessions and links of the person, or all but one session. */
export async function choosePassword(
  tx: ControlTx,
  { vault }: LinkApp,
  person: Person,
  hashed: string,
  now: Date,
  except: Uuid | null = null,
): Promise<void> {
  await store.setPassword(tx, person.id, hashed, now)
  await store.deleteSessions(tx, person.id, except)
  await deleteLinks(tx, person.id, ['password', 'sign-in'])
  const letter = composePasswordChanged(person, now)
  await queueMails(tx, vault, [
    { companyId: person.id, kind: 'password-changed', letter, expiresAt: null, createdAt: now },
  ])
}

const HOUR_MS = 3_600_000
/** More links than these are not mailed to a person within an hour. */
const MAX_PASSWORD_MAILS = 3

/** Mails a link to choose a new password. If nobody has the e-mail, nothing happens. */
export async function mailNewPassword(
  { db, systemClock, ...app }: Pick<App, 'db' | 'systemClock'> & LinkApp,
  typed: string,
): Promise<void> {
  const now = systemClock.now()
  await db.control.transaction(async (tx) => {
    const person = await store.findPersonByEmail(tx, emailOf(typed))
    if (!person) return
    // Requests at the same moment are counted one after the other.
    await lockPerson(tx, person.id)
    const since = new Date(now.getTime() - HOUR_MS)
    if ((await countLinks(tx, person.id, 'password', since)) >= MAX_PASSWORD_MAILS) return
    const made = await makeLink(tx, app.vault, app.publicUrl, linkOf('password', person), now)
    const minutes = LINK_MS.password / 60_000
    await queueMails(tx, app.vault, [
      {
        companyId: person.id,
        kind: 'new-password',
        letter: composeNewPassword(person, { url: made.url, minutes }),
        expiresAt: made.link.expiresAt,
        createdAt: now,
      },
    ])
  })
}

/** Makes the address at which a person signs in once, without a password. */
export async function makeSignInLink(
  tx: ControlTx,
  { vault, publicUrl }: LinkApp,
  person: Person,
  now: Date,
): Promise<string> {
  return (await makeLink(tx, vault, publicUrl, linkOf('sign-in', person), now)).url
}

/** More of these links are not mailed to a person within an hour. */
const MAX_LINK_MAILS = 3

/** Mails a person the address at which they sign in once, and go on at a page of ours. */
export async function mailSignInLink(
  { db, systemClock, ...app }: Pick<App, 'db' | 'systemClock'> & LinkApp,
  { id }: Pick<Person, 'id'>,
  next: string,
): Promise<void> {
  const now = systemClock.now()
  await db.control.transaction(async (tx) => {
    // Links that are asked for at the same moment are counted one after the other.
    const person = await lockPerson(tx, id)
    const since = new Date(now.getTime() - HOUR_MS)
    if ((await countLinks(tx, id, 'sign-in', since)) >= MAX_LINK_MAILS) return
    const made = await makeLink(tx, app.vault, app.publicUrl, linkOf('sign-in', person), now)
    const url = `${made.url}?${new URLSearchParams({ next })}`
    const minutes = LINK_MS['sign-in'] / 60_000
    const letter = composeSignInLink(person, { url, minutes })
    const { expiresAt } = made.link
    const mail = { companyId: id, kind: 'sign-in-link', letter, expiresAt, createdAt: now } as const
    await queueMails(tx, app.vault, [mail])
  })
}

const LAST_OWNER = 'role: a company has at least one owner; make somebody else an owner first'

async function requireRole(tx: ControlTx, companyId: Uuid, personId: Uuid): Promise<Role> {
  const role = await store.findRole(tx, companyId, personId)
  if (role) return role
  throw problem('route_not_found', 'The company has no such member.')
}

/** How many invitations have ended with the author's right to invite. */
type Withdrawn = { withdrawn?: number }

/** What somebody without the right to invite has invited others to ends. */
async function endInvitations(tx: ControlTx, companyId: Uuid, personId: Uuid): Promise<Withdrawn> {
  const withdrawn = await withdrawInvitations(tx, companyId, personId)
  return withdrawn > 0 ? { withdrawn } : {}
}

/**
 * Changes what a person may do in a company, and ends their sessions everywhere. The other owners
 * get a mail about a new owner. Null if the person has that role already.
 */
export async function changeRole(
  tx: Tx,
  control: ControlTx,
  { vault }: Pick<LinkApp, 'vault'>,
  company: Company,
  personId: Uuid,
  role: Role,
  by: By,
  now: Date,
): Promise<Withdrawn | null> {
  const owners = await lockOwners(control, company.id)
  if ((await requireRole(control, company.id, personId)) === role) return null
  if (role !== 'owner' && owners.length === 1 && owners[0] === personId) throw invalid(LAST_OWNER)
  await store.setMembership(control, company.id, personId, role, now)
  await store.deleteSessions(control, personId)
  if (role === 'owner') {
    const change = {
      what: 'owner-added',
      person: (await store.findPerson(control, personId))!,
      by,
    } as const
    await mailAccessChange(tx, control, vault, company, change, now, personId)
  }
  return mayInvite(role) ? {} : endInvitations(control, company.id, personId)
}

/** Removes a person from a company, and ends their sessions everywhere and their invitations. */
export async function removeMember(
  tx: ControlTx,
  companyId: Uuid,
  personId: Uuid,
): Promise<Withdrawn> {
  const owners = await lockOwners(tx, companyId)
  await requireRole(tx, companyId, personId)
  if (owners.length === 1 && owners[0] === personId) throw invalid(LAST_OWNER)
  await deleteMembership(tx, companyId, personId)
  await store.deleteSessions(tx, personId)
  return endInvitations(tx, companyId, personId)
}
