import type { Static } from 'typebox'
import { searchCharges } from '../../core/charges/search.ts'
import { findByEmailOrIds, findByName } from '../../core/customers/store.ts'
import { type CustomerView, showCustomer } from '../../core/customers/view.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import type { Visit } from './visit.ts'

export type ShownCustomer = Static<typeof CustomerView>

/** So many of an address's newest charges are looked through for customers. */
const CHARGES_READ = 100

/**
 * A page of the customers whom a text names: by tax id, by e-mail address or by the start of a
 * name. An empty text names all.
 */
export async function searchCustomers(
  visit: Visit,
  text: string,
  page: { limit: number; after?: string | undefined },
): Promise<{ data: ShownCustomer[]; next: string | null }> {
  const { limit, after } = page
  const taxId = plainTaxId(text)
  const query = { limit: String(limit), ...(after ? { after } : {}) }
  if (text === '') return visit.operate<ShownCustomer[]>('listCustomers', { query })
  if (isTaxIdShape(taxId)) {
    return visit.operate<ShownCustomer[]>('listCustomers', { query: { ...query, taxId } })
  }
  if (text.includes('@')) return { data: await findByEmail(visit, text, limit), next: null }
  const { app, company } = visit
  const found = await findByName(app.db, app.vault, company.id, text, limit)
  return { data: found.map(showCustomer), next: null }
}

async function findByEmail(
  { app, company }: Visit,
  email: string,
  limit: number,
): Promise<ShownCustomer[]> {
  const { db, vault, clock } = app
  const where = { db, vault, companyId: company.id, now: clock.now() }
  const charges = await searchCharges(where, { email }, { limit: CHARGES_READ, after: null })
  const ids = charges.flatMap(({ customerId }) => customerId ?? [])
  const wanted = { email, ids: [...new Set(ids)], limit }
  const found = await findByEmailOrIds(db, vault, company.id, wanted)
  return found.map(showCustomer)
}
