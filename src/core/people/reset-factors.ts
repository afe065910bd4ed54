import type { ControlTx, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Author } from '../activity/rules.ts'
import { findCompany } from '../companies/store.ts'
import type { By } from '../letters/members.ts'
import { recordForPerson } from './activity.ts'
import { deleteLinks } from './link-store.ts'
import { mailAccessChange } from './owner-mails.ts'
import type { Person } from './rules.ts'
import { type FactorApp, hasFactor, listFactors, mailChange } from './second-factors.ts'
import * as store from './second-factors-store.ts'
import { deleteSessions, listMemberships } from './store.ts'

/**
 * Removes all second factors of a person who has lost theirs, and ends their sessions. Then the
 * password is enough to sign in, and no real money can be moved until there is a factor again.
 * False if the person has none.
 */
export async function resetFactors(
  tx: Tx,
  control: ControlTx,
  app: FactorApp,
  { id }: Pick<Person, 'id'>,
  author: Author,
  by: By = null,
): Promise<boolean> {
  const person = await store.lockPerson(control, id)
  if (!hasFactor(await listFactors(control, person))) return false
  await store.removeTotp(control, id, app.systemClock.now())
  await store.deletePasskeys(control, id)
  await store.replaceRecoveryCodes(control, id, [])
  await deleteSessions(control, id)
  await deleteLinks(control, id, ['sign-in'])
  await mailChange(tx, app, person, 'reset', { isLast: true, by })
  await recordForPerson(control, app, id, author, 'two-factor.reset')
  await mailCompanies(control, app, person, by)
  return true
}

/** Writes to the companies of the person, because somebody may have wanted only the password. */
async function mailCompanies(
  tx: ControlTx,
  { vault, systemClock }: FactorApp,
  person: Person,
  by: By,
): Promise<void> {
  const change = { what: 'factors-reset', person, by } as const
  for (const { companyId } of await listMemberships(tx, person.id)) {
    const place = await tx.at(companyId)
    const company = (await findCompany(place, companyId))!
    await mailAccessChange(place, tx, vault, company, change, systemClock.now(), person.id)
  }
}

/**
 * Whether an owner of this company may reset the factors of a person: not of one who belongs to
 * another company too, or operates the installation, since that is not the owner’s to decide. While
 * the person is locked nobody adds them to another company.
 */
export async function mayOwnerReset(
  tx: ControlTx,
  companyId: Uuid,
  { id, isOperator }: Pick<Person, 'id' | 'isOperator'>,
): Promise<boolean> {
  const all = await listMemberships(tx, id)
  return !isOperator && all.length === 1 && all[0]!.companyId === companyId
}
