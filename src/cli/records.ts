import type { Company } from '../core/companies/rules.ts'
import { type ApiKey, findCompany } from '../core/companies/store.ts'
import type { Tx } from '../db/database.ts'
import { isUuid, suffixOf } from '../lib/ids.ts'
import { findVersion, VERSION_NAMES } from '../versions/history.ts'
import { columns, Refusal } from './command.ts'

export async function requireCompany(tx: Tx, text: string): Promise<Company> {
  const id = text.toLowerCase()
  const company = isUuid(id) ? await findCompany(tx, id) : null
  if (company) return company
  throw new Refusal(`No company has the id ${text}. "vintem company list" shows them all.`)
}

export function versionFault(name: string): string | null {
  if (findVersion(name)) return null
  return `There is no version ${name}. Choose one of ${VERSION_NAMES.join(', ')}.`
}

/** All fields of a company, under the names that the API gives them. */
export function showCompany({ releaseDelay_s, ...fields }: Company) {
  return { ...fields, settlementDelay: releaseDelay_s }
}

/** A key without its hash. `start` is the beginning of the key, by which it is recognized. */
export function showKey({ mode }: Company, key: ApiKey) {
  const { id, name, scopes, createdAt, lastUsedAt, revokedAt } = key
  return { id, start: `vk_${mode}_${suffixOf(id)}`, name, scopes, createdAt, lastUsedAt, revokedAt }
}

export function keyTable(keys: ReturnType<typeof showKey>[]): string {
  if (keys.length === 0) return 'No keys.\n'
  const heading = ['KEY ID', 'STARTS WITH', 'NAME', 'CREATED', 'LAST USED', 'REVOKED', 'SCOPES']
  const rows = keys.map(({ id, start, name, createdAt, lastUsedAt, revokedAt, scopes }) =>
    [id, start, name, time(createdAt), time(lastUsedAt), time(revokedAt)].concat(scopes.join(',')),
  )
  return columns([heading, ...rows])
}

export const time = (date: Date | null): string =>
  date ? `${date.toISOString().slice(0, 19)}Z` : '-'
