import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Hashes, Vault } from '../../lib/vault.ts'
import type { AppWithCharges } from '../charges/group.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { openPerson } from '../customers/sealing.ts'
import { mailboxOf } from '../mails/rules.ts'
import { readUnsubscribeToken } from './addresses.ts'
import { deleteStop, findStops, insertStop } from './store.ts'

/** An address that gets reminders of a company, or wants none any more. */
export type Reader = { company: Company; email: string; indexes: Buffer[]; isStopped: boolean }

/** By its mailbox: whoever wants no reminders gets none by another form of their address. */
export const indexStop = (by: Hashes, companyId: Uuid, email: string): Buffer =>
  by.index(companyId, `reminders:${mailboxOf(email)}`)

/** All indexes by which it may be stored, the present one first. */
export const indexesOfStop = (vault: Vault, companyId: Uuid, email: string): Buffer[] =>
  vault.forms((by) => indexStop(by, companyId, email))

/** Whom the address in a reminder is for. Throws if it is none of ours. */
export async function findReader(app: AppWithCharges, token: string): Promise<Reader> {
  const named = readUnsubscribeToken(app.vault, token)
  const company = named && (await findCompany(app.db, named.companyId))
  const charge = named && (await app.charges.find(named))
  const email = charge?.payer && openPerson(app.vault, charge.companyId, charge.payer).email
  if (!company || !email) throw problem('charge_not_found')
  const indexes = indexesOfStop(app.vault, company.id, email)
  return { company, email, indexes, isStopped: await isStopped(app, company.id, email) }
}

/** Whether an address wants no reminders of a company. */
export async function isStopped(
  { db, vault }: Pick<AppWithCharges, 'db' | 'vault'>,
  companyId: Uuid,
  email: string,
): Promise<boolean> {
  return (await findStops(db, companyId, indexesOfStop(vault, companyId, email))).length > 0
}

/** Stops the reminders of a company to an address, or sends them again. It can be repeated. */
export async function changeStop(
  app: AppWithCharges,
  { company, indexes }: Reader,
  wanted: 'stop' | 'again',
): Promise<void> {
  const { clock } = withCompanyClock(app, company)
  await app.db.transaction((tx) =>
    wanted === 'stop'
      ? insertStop(tx, company.id, indexes[0]!, clock.now())
      : deleteStop(tx, company.id, indexes),
  )
}
