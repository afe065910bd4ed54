import type { Row, Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Customer, CustomerStatus } from './rules.ts'
import { openPerson, type SealedPerson, sealPerson } from './sealing.ts'

type CustomerRow = Row & {
  company_id: Uuid
  id: Uuid
  name: string
  status: CustomerStatus
  tax_id_index: Buffer
  sealed: Buffer
  created_at: Date
  updated_at: Date
}

function toCustomer(vault: Vault, row: CustomerRow): Customer {
  const envelope: SealedPerson = { index: row.tax_id_index, sealed: row.sealed }
  return {
    ...openPerson(vault, row.company_id, envelope),
    companyId: row.company_id,
    id: row.id,
    name: row.name,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export async function insert(tx: Tx, vault: Vault, customer: Customer): Promise<void> {
  const { index, sealed } = sealPerson(vault, customer.companyId, customer)
  await tx.query({
    text: `insert into customers
             (company_id, id, name, status, tax_id_index, sealed, origin, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, 'client', $7, $8)`,
    values: [
      customer.companyId,
      customer.id,
      customer.name,
      customer.status,
      index,
      sealed,
      customer.createdAt,
      customer.updatedAt,
    ],
  })
}

/**
 * If the tax id changes, the old one is stored too, and charges with it create another customer.
 */
export async function update(tx: Tx, vault: Vault, customer: Customer): Promise<void> {
  const { index, sealed } = sealPerson(vault, customer.companyId, customer)
  await tx.query({
    text: `with former as (
             insert into former_tax_ids (company_id, tax_id_index, customer_id)
             select company_id, tax_id_index, id from customers
             where company_id = $1 and id = $2 and tax_id_index <> $5
             on conflict do nothing
           )
           update customers set name = $3, status = $4, tax_id_index = $5, sealed = $6,
             updated_at = $7, origin = case when tax_id_index = $5 then origin else 'client' end
           where company_id = $1 and id = $2`,
    values: [
      customer.companyId,
      customer.id,
      customer.name,
      customer.status,
      index,
      sealed,
      customer.updatedAt,
    ],
  })
}

export async function find(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Customer | null> {
  const rows = await tx.query<CustomerRow>({
    text: `select * from customers where company_id = $1 and id = $2 ${lock}`,
    values: [companyId, id],
  })
  return rows[0] ? toCustomer(vault, rows[0]) : null
}

/** The customer with the tax id of a payer. Creates one if there is none. */
export async function findOrCreate(
  tx: Tx,
  companyId: Uuid,
  payer: SealedPerson & { name: string },
  now: Date,
): Promise<Uuid> {
  const [known] = await tx.query<{ id: Uuid }>({
    text: `select id from customers where company_id = $1 and tax_id_index = $2
           order by id limit 1`,
    values: [companyId, payer.index],
  })
  if (known) return known.id
  const [made] = await tx.query<{ id: Uuid }>({
    text: `insert into customers
             (company_id, id, name, status, tax_id_index, sealed, origin, created_at, updated_at)
           values ($1, $2, $3, 'ACTIVE', $4, $5, 'charge', $6, $6)
           on conflict (company_id, tax_id_index) where origin = 'charge'
             do update set updated_at = customers.updated_at
           returning id`,
    values: [companyId, newId(), payer.name, payer.index, payer.sealed, now],
  })
  return made!.id
}

export async function list(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  filter: { limit: number; after: Uuid | null; taxId: string | null },
): Promise<Customer[]> {
  const index = filter.taxId === null ? null : vault.index(companyId, filter.taxId)
  const rows = await tx.query<CustomerRow>({
    text: `select * from customers
           where company_id = $1
             and ($2::uuid is null or id < $2)
             and ($3::bytea is null or tax_id_index = $3)
           order by id desc limit $4`,
    values: [companyId, filter.after, index, filter.limit],
  })
  return rows.map((row) => toCustomer(vault, row))
}

/** Every customer that has or had a tax id, deleted ones too. */
export async function findIdsByTaxId(tx: Tx, companyId: Uuid, index: Buffer): Promise<Uuid[]> {
  const rows = await tx.query<{ id: Uuid }>({
    text: `select id from customers where company_id = $1 and tax_id_index = $2
           union
           select customer_id from former_tax_ids where company_id = $1 and tax_id_index = $2`,
    values: [companyId, index],
  })
  return rows.map(({ id }) => id)
}

/** Deletes a customer. Charges keep their own copy of the payer, and the id. */
export async function remove(tx: Tx, companyId: Uuid, id: Uuid): Promise<boolean> {
  const rows = await tx.query({
    text: `with gone as (
             delete from customers where company_id = $1 and id = $2
             returning company_id, tax_id_index, id
           ), former as (
             insert into former_tax_ids (company_id, tax_id_index, customer_id)
             select company_id, tax_id_index, id from gone on conflict do nothing
           )
           select id from gone`,
    values: [companyId, id],
  })
  return rows.length === 1
}
