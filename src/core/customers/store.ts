import { bytes, texts, uuids } from '../../db/arrays.ts'
import { arrayParameters, companyTableOf, newestOf, type Part } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { type PartsSought, partsOf } from './parts.ts'
import type { Customer, Private } from './rules.ts'
import {
  indexEmail,
  indexPhone,
  openPerson,
  type SealedPerson,
  sealPerson,
  tokensOf,
} from './sealing.ts'

/** A customer whose private fields are sealed. `origin` is who has created it. */
type StoredCustomer = Omit<Customer, keyof Private> &
  Pick<SealedPerson, 'index' | 'sealed'> & { origin: 'client' | 'charge' }

const CUSTOMER = companyTableOf<StoredCustomer>('customers', {
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

const SET_INDEXES = `update customers set email_index = $3, phone_index = $4,
    search_tokens = $5::int4[]
  where company_id = $1 and id = $2`

/**
 * Lets a customer be found by e-mail address, phone and parts of them. By the whole address, those
 * whom a charge has made are found by their charges.
 */
async function saveIndexes(tx: Tx, vault: Vault, customer: Customer): Promise<void> {
  const { companyId, id, email, phone } = customer
  const index = email === undefined ? null : indexEmail(vault, companyId, email)
  const tokens = tokensOf(vault, companyId, partsOf(customer))
  const values = [companyId, id, index, indexPhone(vault, companyId, phone), tokens]
  await tx.query({ text: SET_INDEXES, values })
}

function open(vault: Vault, stored: StoredCustomer): Customer {
  const { index, sealed, origin: _, ...customer } = stored
  return { ...openPerson(vault, customer.companyId, { index, sealed }), ...customer }
}

const toCustomer = (vault: Vault, row: Row): Customer => open(vault, CUSTOMER.read(row))

export async function insert(tx: Tx, vault: Vault, customer: Customer): Promise<void> {
  const sealed = sealPerson(vault, customer.companyId, customer)
  const stored = { ...customer, ...sealed, origin: 'client' } as const
  await tx.query({ text: INSERT, values: CUSTOMER.values([stored]) })
  await saveIndexes(tx, vault, customer)
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
             where company_id = $1 and id = $2 and tax_id_index <> all ($8::bytea[])
             on conflict do nothing
           )
           update customers set name = $3, status = $4, tax_id_index = $5, sealed = $6,
             updated_at = $7,
             origin = case when tax_id_index = any ($8::bytea[]) then origin else 'client' end
           where company_id = $1 and id = $2`,
    values: [
      customer.companyId,
      customer.id,
      customer.name,
      customer.status,
      index,
      sealed,
      customer.updatedAt,
      bytes(vault.each.map((keys) => keys.index(customer.companyId, customer.taxId))),
    ],
  })
  await saveIndexes(tx, vault, customer)
}

export async function find(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Customer | null> {
  const found = await CUSTOMER.find(tx, companyId, id, lock)
  return found && open(vault, found)
}

/** The payer of something at a moment, who is a customer or becomes one. */
export type MadePayer = { companyId: Uuid; payer: SealedPerson & { name: string }; at: Date }

const FIND_OR_CREATE = `with input as (
    select ${CUSTOMER.inserted('i')}, i.phone_index, i.search_tokens
    from unnest(${CUSTOMER.parameters(1)}, ${arrayParameters(CUSTOMER.count + 1, ['bytea', 'text'])})
      i (${CUSTOMER.names}, phone_index, search_tokens)
  ), payer as materialized (
    select distinct on (i.company_id, i.tax_id_index) i.*,
      (select c.id from customers c where c.company_id = i.company_id
         and c.tax_id_index = i.tax_id_index order by c.id limit 1) as known_id
    from input i order by i.company_id, i.tax_id_index
  ), made as (
    insert into customers (${CUSTOMER.names}, phone_index, search_tokens)
    select ${CUSTOMER.select('p')}, p.phone_index, p.search_tokens::int4[]
    from payer p where p.known_id is null
    on conflict (company_id, tax_id_index) where origin = 'charge'
      do update set updated_at = customers.updated_at
    returning company_id, tax_id_index, id
  )
  select company_id, tax_id_index, known_id as id from payer where known_id is not null
  union all select company_id, tax_id_index, id from made`

const payerKey = (companyId: Uuid, index: Buffer): string => `${companyId} ${index.toString('hex')}`

/**
 * The customers with the tax ids of payers, in their order. Those who are not there are created, in
 * the order of the tax ids, so that two transactions cannot wait for each other.
 */
export async function findOrCreate(tx: Tx, wanted: MadePayer[]): Promise<Uuid[]> {
  const known = await findKnown(tx, wanted)
  const made = await findOrMake(
    tx,
    wanted.filter((_, i) => known[i] === null),
  )
  return known.map((id) => id ?? made.shift()!)
}

/**
 * While a secret is replaced: the customers who are known by the other one, for each payer. Those
 * who are known by the present one, or by none, are null.
 */
export async function findKnown(
  tx: Tx,
  wanted: Pick<MadePayer, 'companyId' | 'payer'>[],
): Promise<(Uuid | null)[]> {
  const found = wanted.map((): Uuid | null => null)
  const asked = wanted.flatMap(({ companyId, payer: { otherIndexes = [] } }, position) =>
    otherIndexes.map((index) => ({ companyId, index, position })),
  )
  if (asked.length === 0) return found
  const rows = await tx.query<{ position: number; id: Uuid }>({
    text: `select k.position::int, c.id
           from unnest($1::uuid[], $2::bytea[])
             with ordinality k (company_id, tax_id_index, position)
           cross join lateral (
             select id from customers c
             where c.company_id = k.company_id and c.tax_id_index = k.tax_id_index
             order by id limit 1) c`,
    values: [
      uuids(asked.map(({ companyId }) => companyId)),
      bytes(asked.map(({ index }) => index)),
    ],
  })
  for (const { position, id } of rows) found[asked[position - 1]!.position] = id
  return found
}

async function findOrMake(tx: Tx, wanted: MadePayer[]): Promise<Uuid[]> {
  if (wanted.length === 0) return []
  const customers = wanted.map(
    ({ companyId, payer: { name, index, sealed }, at }): StoredCustomer => ({
      companyId,
      id: newId(),
      name,
      status: 'ACTIVE',
      index,
      sealed,
      origin: 'charge',
      createdAt: at,
      updatedAt: at,
    }),
  )
  const phones = bytes(wanted.map(({ payer }) => payer.phoneIndex ?? null))
  const tokens = texts(wanted.map(({ payer }) => payer.tokens ?? null))
  const rows = await tx.query<{ company_id: Uuid; tax_id_index: Buffer; id: Uuid }>({
    name: 'find_or_create_customers',
    text: FIND_OR_CREATE,
    values: [...CUSTOMER.values(customers), phones, tokens],
  })
  const found = new Map(
    rows.map(({ company_id, tax_id_index, id }) => [payerKey(company_id, tax_id_index), id]),
  )
  return wanted.map(({ companyId, payer }) => found.get(payerKey(companyId, payer.index))!)
}

export async function list(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  { taxId, ...part }: Part & { taxId: string | null },
): Promise<Customer[]> {
  const indexes = taxId === null ? [null] : vault.each.map((keys) => keys.index(companyId, taxId))
  const found = await newestOf(indexes, part.limit, (index) =>
    CUSTOMER.list(tx, companyId, { ...part, index }),
  )
  return found.map((stored) => open(vault, stored))
}

/** Customers by their ids or by an e-mail address, newest first. Deleted ones are left out. */
export async function findByEmailOrIds(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  wanted: { email: string; ids: Uuid[]; limit: number },
): Promise<Customer[]> {
  const indexes = vault.each.map((keys) => indexEmail(keys, companyId, wanted.email))
  const rows = await tx.query({
    text: `select ${COLUMNS} from customers c
           where company_id = $1 and email_index = any ($2::bytea[])
           union
           select ${COLUMNS} from customers c where company_id = $1 and id = any ($3::uuid[])
           order by id desc limit $4`,
    values: [companyId, bytes(indexes), wanted.ids, wanted.limit],
  })
  return rows.map((row) => toCustomer(vault, row))
}

/** Customers whose names begin with a text, in any case and with its accents, by name. */
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

/** Customers with a phone, newest first. */
export async function findByPhone(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  phone: string,
  limit: number,
): Promise<Customer[]> {
  const indexes = vault.each.map((keys) => indexPhone(keys, companyId, phone))
  const found = await newestOf(indexes, limit, async (index) => {
    const rows = await tx.query({
      text: `select ${COLUMNS} from customers c
             where company_id = $1 and phone_index = $2 and phone_index > ''
             order by id desc limit $3`,
      values: [companyId, index, limit],
    })
    return rows.map(CUSTOMER.read)
  })
  return found.map((stored) => open(vault, stored))
}

/** A customer as it is stored, whom the search does not find yet. */
export type Unindexed = SealedPerson & { companyId: Uuid; id: Uuid; name: string }

/** Customers of all companies whom the search does not find yet, in the order of their index. */
export async function listUnindexed(tx: Tx, limit: number): Promise<Unindexed[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from customers c where search_tokens is null
           order by company_id, id limit $1`,
    values: [limit],
  })
  return rows.map((row) => CUSTOMER.read(row))
}

/** Lets customers of one company be found, except those who were changed in between. */
export async function setIndexes(
  tx: Tx,
  companyId: Uuid,
  found: { id: Uuid; phoneIndex: Buffer; tokens: string }[],
): Promise<void> {
  await tx.query({
    text: `update customers c set phone_index = i.phone_index,
             search_tokens = i.search_tokens::int4[]
           from unnest($2::uuid[], $3::bytea[], $4::text[]) i (id, phone_index, search_tokens)
           where c.company_id = $1 and c.id = i.id and c.search_tokens is null`,
    values: [
      companyId,
      uuids(found.map(({ id }) => id)),
      bytes(found.map(({ phoneIndex }) => phoneIndex)),
      texts(found.map(({ tokens }) => tokens)),
    ],
  })
}

/** Every customer that has or had a tax id, deleted ones too. */
export async function findIdsByTaxId(
  tx: Tx,
  companyId: Uuid,
  indexes: Buffer[],
  until: Date | null = null,
): Promise<Uuid[]> {
  const rows = await tx.query<{ id: Uuid }>({
    text: `select id from customers where company_id = $1 and tax_id_index = any ($2::bytea[])
             and ($3::timestamptz is null or created_at <= $3)
           union
           select f.customer_id from former_tax_ids f
           where f.company_id = $1 and f.tax_id_index = any ($2::bytea[])
             and ($3::timestamptz is null or exists (select from customers c
               where c.company_id = $1 and c.id = f.customer_id and c.created_at <= $3))`,
    values: [companyId, bytes(indexes), until],
  })
  return rows.map(({ id }) => id)
}

/** So many customers who seem to have what is looked for are compared with it. */
const MAX_CANDIDATES = 400

/**
 * Some customers who have all parts, the newest first. Two texts may have one token, and parts may
 * be in another order, so each is compared. As a subquery the tokens are not known to the planner:
 * of frequent ones it would believe that reading the whole table is quicker.
 */
export async function findByParts(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  { parts, isOf }: PartsSought,
  limit: number,
): Promise<Customer[]> {
  const sought = vault.each.map((keys) => tokensOf(keys, companyId, parts))
  const found = await newestOf(sought, MAX_CANDIDATES, async (tokens) => {
    const rows = await tx.query({
      text: `select ${COLUMNS} from (
               select * from customers
               where search_tokens @> (select $2::int4[]) and company_id = $1
               limit ${MAX_CANDIDATES}) c
             order by id desc`,
      values: [companyId, tokens],
    })
    return rows.map(CUSTOMER.read)
  })
  return found
    .map((stored) => open(vault, stored))
    .filter(isOf)
    .slice(0, limit)
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
