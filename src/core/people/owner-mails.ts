import type { ControlTx, Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import type { Vault } from '../../lib/vault.ts'
import { codeEmailOf } from '../companies/changes.ts'
import { type Company, MONEY_SCOPES, type Scope } from '../companies/rules.ts'
import type { Reader } from '../letters/layout.ts'
import { type AccessChange, type By, composeAccessChange, type NewKey } from '../letters/members.ts'
import type { MailKind } from '../mails/rules.ts'
import { queueMails } from '../mails/store.ts'

/** So many owners at most, first those who have been members longest. */
const MAX_OWNERS = 50

type Owner = Row & { id: Uuid; email: string; language: Language }

const listOwners = (tx: ControlTx, companyId: Uuid): Promise<Owner[]> =>
  tx.query<Owner>({
    text: `select p.id, p.email, p.language from memberships m join people p on p.id = m.person_id
           where m.company_id = $1 and m.role = 'owner'
           order by m.created_at, p.id limit $2`,
    values: [companyId, MAX_OWNERS],
  })

/**
 * Writes about a change that may let somebody else have the money: to all owners, and to the
 * company. It also goes to the address that the company had until just now, because whoever makes
 * such a change may have changed the address first. `except` is an owner who knows.
 */
export async function mailOwners(
  tx: Tx,
  control: ControlTx,
  vault: Vault,
  company: Company,
  kind: MailKind,
  letterTo: (reader: Reader) => Letter,
  now: Date,
  except: Uuid | null = null,
): Promise<void> {
  const owners = (await listOwners(control, company.id)).filter(({ id }) => id !== except)
  const own = [company.email, codeEmailOf(company, now)]
  const readers = [...own.map((email) => ({ email, language: company.language })), ...owners]
  const byAddress = new Map(
    readers.toReversed().map((reader) => [reader.email.toLowerCase(), reader]),
  )
  const mails = [...byAddress.values()].map((reader) => ({
    companyId: company.id,
    kind,
    letter: letterTo(reader),
    expiresAt: null,
    createdAt: now,
  }))
  await queueMails(tx, vault, mails)
}

/** Writes to the owners and to the company about a change of who can reach its money. */
export const mailAccessChange = (
  tx: Tx,
  control: ControlTx,
  vault: Vault,
  company: Company,
  change: AccessChange,
  now: Date,
  except: Uuid | null = null,
): Promise<void> => {
  const letterTo = (reader: Reader) => composeAccessChange(company, reader, change, now)
  return mailOwners(tx, control, vault, company, 'access-changed', letterTo, now, except)
}

/** Whether all owners are told of a new key: one that moves real money without anybody's password. */
export const isKeyOfMoney = ({ mode }: Pick<Company, 'mode'>, scopes: readonly Scope[]): boolean =>
  mode === 'live' && MONEY_SCOPES.some((scope) => scopes.includes(scope))

/** Writes to all owners about a new key that can move money. */
export async function mailNewKey(
  tx: Tx,
  control: ControlTx,
  vault: Vault,
  company: Company,
  key: NewKey & { scopes: readonly Scope[] },
  by: By,
  now: Date,
): Promise<void> {
  if (!isKeyOfMoney(company, key.scopes)) return
  await mailAccessChange(tx, control, vault, company, { what: 'key-created', key, by }, now)
}

/**
 * Whether an address is of the company itself or of one of its people. A sandbox that was made with
 * a key has people only: anybody with a key makes many, and gives each any address.
 */
export async function isOwnAddress(
  tx: Tx,
  control: ControlTx,
  companyId: Uuid,
  address: string,
): Promise<boolean> {
  const company = await tx.query({
    text: `select 1 from companies where id = $1 and lower(email) = lower($2)
             and not exists (select from sandboxes where company_id = $1)`,
    values: [companyId, address],
  })
  if (company.length > 0) return true
  const people = await control.query({
    text: `select 1 from memberships m join people p on p.id = m.person_id
           where m.company_id = $1 and lower(p.email) = lower($2)`,
    values: [companyId, address],
  })
  return people.length > 0
}
