import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { type Customer, change, pickPrivate } from './rules.ts'
import { indexPhone, openPerson } from './sealing.ts'
import * as store from './store.ts'
import type { CustomerChange, NewCustomer } from './view.ts'

/** Always creates: a merchant may want to have one person twice. */
export async function createCustomer(
  tx: Tx,
  app: Uses<'clock' | 'vault'>,
  company: Company,
  body: Static<typeof NewCustomer>,
): Promise<Customer> {
  const now = app.clock.now()
  const customer: Customer = {
    ...pickPrivate(body),
    companyId: company.id,
    id: newId(),
    name: body.name,
    status: body.status,
    createdAt: now,
    updatedAt: now,
  }
  await store.insert(tx, app.vault, customer)
  return customer
}

export async function changeCustomer(
  tx: Tx,
  app: Uses<'clock' | 'vault'>,
  company: Company,
  id: Uuid,
  body: Static<typeof CustomerChange>,
): Promise<Customer> {
  const customer = await store.find(tx, app.vault, company.id, id, 'for update')
  if (!customer) throw problem('customer_not_found')
  const changed = change(customer, body, app.clock.now())
  await store.update(tx, app.vault, changed)
  return changed
}

/** Customers whose phones one call indexes. */
const MAX_INDEXED = 500

/**
 * Indexes phones of customers whom nobody has indexed: those from before there was a search by
 * phone, and those of another version of Vintém. SQL cannot do that, because phones are sealed.
 * Returns whether there may be more to do.
 */
export async function indexPhones(
  app: Uses<'db' | 'log' | 'vault'>,
  max = MAX_INDEXED,
): Promise<boolean> {
  const customers = await store.listUnindexed(app.db, max)
  for (const [companyId, own] of Map.groupBy(customers, (customer) => customer.companyId)) {
    const found = own.map((customer) => ({ id: customer.id, phoneIndex: phoneOf(app, customer) }))
    await store.setPhoneIndexes(app.db, companyId, found)
  }
  return customers.length === max
}

/** If a customer cannot be opened, logs that and indexes the others. */
function phoneOf({ vault, log }: Uses<'log' | 'vault'>, customer: store.Unindexed): Buffer {
  const { companyId, id } = customer
  try {
    return indexPhone(vault, companyId, openPerson(vault, companyId, customer).phone)
  } catch {
    log.warn({ company: companyId, customer: id }, 'a customer cannot be read')
    return indexPhone(vault, companyId, undefined)
  }
}
