import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { partsOf } from './parts.ts'
import { type Customer, change, type Private, pickPrivate } from './rules.ts'
import { indexPhone, openPerson, tokensOf } from './sealing.ts'
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

/** Customers whom one call indexes. */
const MAX_INDEXED = 500

/**
 * Lets customers be found by phone and by parts of what is known of them: those from before there
 * was such a search, and those of another version of Vintém. SQL cannot do that, because they are
 * sealed. Returns whether there may be more to do.
 */
export async function indexCustomers(
  app: Uses<'db' | 'log' | 'vault'>,
  max = MAX_INDEXED,
): Promise<boolean> {
  const customers = await store.listUnindexed(app.db, max)
  for (const [companyId, own] of Map.groupBy(customers, (customer) => customer.companyId)) {
    const found = own.map((customer) => ({ id: customer.id, ...indexesOf(app, customer) }))
    await store.setIndexes(app.db, companyId, found)
  }
  return customers.length === max
}

/** If a customer cannot be opened, logs that, and indexes the others. */
function indexesOf({ vault, log }: Uses<'log' | 'vault'>, customer: store.Unindexed) {
  const { companyId, id, name } = customer
  const person = { name, ...opened() }
  return {
    phoneIndex: indexPhone(vault, companyId, person.phone),
    tokens: tokensOf(vault, companyId, partsOf(person)),
  }

  function opened(): Private {
    try {
      return openPerson(vault, companyId, customer)
    } catch {
      log.warn({ company: companyId, customer: id }, 'a customer cannot be read')
      return { taxId: '' }
    }
  }
}
