import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { type Customer, change, pickPrivate } from './rules.ts'
import * as store from './store.ts'
import type { CustomerChange, NewCustomer } from './view.ts'

/** Always creates: a merchant may want to have one person twice. */
export async function createCustomer(
  tx: Tx,
  app: App,
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
  app: App,
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
