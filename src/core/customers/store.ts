import { tableOf } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Customer, Private } from './rules.ts'
import { indexEmail, openPerson, type SealedPerson, sealPerson } from './sealing.ts'

/** A customer whose private fields are sealed. `origin` is who has created it. */
type StoredCustomer = Omit<Customer, keyof Private> & SealedPerson & { origin: 'client' | 'charge' }

const CUSTOMER = tableOf<StoredCustomer>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  name: ['name', 'text'],
  status: ['status', 'text'],
  index: ['tax_id_index', 'bytea'],
  sealed: ['sealed', 'bytea'],
  origin: ['origin', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
})

const COLUMNS = CUSTOMER.select('c')
const INSERT = CUSTOMER.insertInto('customers')

/** Lets a customer be found by e-mail address. Those whom a charge has made are found by it. */
const SET_EMAIL = 'update customers set email_index = $3 where company_id = $1 and id = $2'

async function saveEmail(tx: Tx, vault: Vault, customer: Customer): Promise<void> {
  const { companyId, id, email } = customer
  const index = email === undefined ? null : indexEmail(vault, companyId, email)
  await tx.query({ text: SET_EMAIL, values: [companyId, id, index] })
}

function toCustomer(vault: Vault, row: Row): Customer {
  const { index, sealed, origin: _, ...customer } = CUSTOMER.read(row)
  return { ...openPerson(vault, customer.companyId, { index, sealed }), ...customer }
}

export async function insert(tx: Tx, vault: Vault, customer: Customer): Promise<void> {
  const sealed = sealPerson(vault, customer.companyId, customer)
  const stored = { ...customer, ...sealed, origin: 'client' } as const
  await tx.query({ text: INSERT, values: CUSTOMER.values([stored]) })
  await saveEmail(tx, vault, customer)
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
  await saveEmail(tx, vault, customer)
}

export async function find(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Customer | null> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from customers c where company_id = $1 and id = $2 ${lock}`,
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
  const customer: StoredCustomer = {
    companyId,
    id: newId(),
    name: payer.name,
    status: 'ACTIVE',
    index: payer.index,
    sealed: payer.sealed,
    origin: 'charge',
    createdAt: now,
    updatedAt: now,
  }
  const [made] = await tx.query<{ id: Uuid }>({
    text: `${INSERT}
           on conflict (company_id, tax_id_index) where origin = 'charge'
             do update set updated_at = customers.updated_at
           returning id`,
    values: CUSTOMER.values([customer]),
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
  const rows = await tx.query({
    text: `select ${COLUMNS} from customers c
           where company_id = $1
             and ($2::uuid is null or id < $2)
             and ($3::bytea is null or tax_id_index = $3)
           order by id desc limit $4`,
    values: [companyId, filter.after, index, filter.limit],
  })
  return rows.map((row) => toCustomer(vault, row))
}

/** Customers by their ids or by an e-mail address, newest first. Deleted ones are left out. */
export async function findByEmailOrIds(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  wanted: { email: string; ids: Uuid[]; limit: number },
): Promise<Customer[]> {
  const index = indexEmail(vault, companyId, wanted.email)
  const rows = await tx.query({
    text: `select ${COLUMNS} from customers c where company_id = $1 and email_index = $2
           union
           select ${COLUMNS} from customers c where company_id = $1 and id = any ($3::uuid[])
           order by id desc limit $4`,
    values: [companyId, index, wanted.ids, wanted.limit],
  })
  return rows.map((row) => toCustomer(vault, row))
}

/** Customers whose names begin with a text, in upper or lower case, by name. */
export async function findByName(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  start: string,
  limit: number,
): Promise<Customer[]> {
  // The operators compare bytes, as the index does. No character comes after the last one.
  const rows = await tx.query({
    text: `select ${COLUMNS} from customers c
           where company_id = $1 and lower(name) ~>=~ lower($2)
             and lower(name) ~<~ (lower($2) || chr(1114111))
           order by lower(name) using ~<~, id limit $3`,
    values: [companyId, start, limit],
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

/**
 * Some customers whose name has words that begin with these, which are folded. Their order is any,
 * because to sort all who share a common name would take long.
 */
export async function findIdsByName(
  tx: Tx,
  companyId: Uuid,
  words: string[],
  limit: number,
): Promise<Uuid[]> {
  const scope = companyId.replaceAll('-', '')
  const wanted = words.map((word) => `${scope}${word}:*`).join(' & ')
  const rows = await tx.query<{ id: Uuid }>({
    text: `select id from customers c
           where name_words(company_id, name) @@ to_tsquery('simple', $2) and company_id = $1
           limit $3`,
    values: [companyId, wanted, limit],
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
