import { keyIdOf } from '../../src/core/companies/keys.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import type { Client } from '../support/api.ts'

/** The path of a page of the operator about a company, with what is picked on the page before. */
export function pathFor(path: string, { company, key }: Client): string {
  const id = suffixOf(company.id)
  const own = path.replace(':company', id)
  if (path.includes('/picked/')) return `${own}?id=${id}`
  return path.endsWith('/keys/revoke') ? `${own}?id=${suffixOf(keyIdOf(key)!)}` : own
}
