import { type Database, isOfRows } from '../../db/database.ts'
import { type Batcher, createBatcher } from '../../lib/batch.ts'
import { newId } from '../../lib/ids.ts'
import type { Event } from '../events.ts'
import type { KeptAnswer } from '../idempotency.ts'
import type { Charge } from './rules.ts'
import { type ChargeId, findMany } from './store.ts'

/** All that one creation leaves behind, written together or not at all. */
export type Creation = { charge: Charge; events: Event[]; kept: KeptAnswer | null }

export type ChargeGroups = {
  /** Commits a charge together with those that arrive at the same time. Resolved means durable. */
  create: Batcher<Creation, null>
  /** Reads a charge together with those asked for at the same time. */
  find: Batcher<ChargeId, Charge | null>
}

const MOST_WRITES = 128
const MOST_READS = 256

export function groupCharges(db: Database): ChargeGroups {
  return {
    create: createBatcher((group) => insertMany(db, group), {
      most: MOST_WRITES,
      lanes: 2,
      isOfOne: isOfRows,
    }),
    find: createBatcher((group) => findMany(db, group), {
      most: MOST_READS,
      lanes: 2,
      isOfOne: isOfRows,
    }),
  }
}

const hex = (bytes: Buffer | null | undefined): string | null => bytes?.toString('hex') ?? null

function toInput({ charge, kept }: Creation) {
  return {
    company_id: charge.companyId,
    id: charge.id,
    kind: charge.kind,
    amount: charge.amount,
    payment_status: charge.paymentStatus,
    dev_mode: charge.devMode,
    external_id: charge.externalId,
    fingerprint: hex(charge.fingerprint),
    customer_id: charge.customerId,
    // A payer without a customer yet is found by tax id, or becomes this one.
    new_customer_id: charge.customerId === null && charge.payer ? newId() : null,
    payer_name: charge.payer?.name ?? null,
    payer_index: hex(charge.payer?.index),
    payer_sealed: hex(charge.payer?.sealed),
    items: charge.items,
    need_shipping: charge.needShipping,
    notify_customer: charge.notifyCustomer,
    success_url: charge.successUrl,
    failed_url: charge.failedUrl,
    br_code: charge.brCode,
    created_at: charge.createdAt,
    expires_at: charge.expiresAt,
    kept_key: kept?.key ?? null,
    kept_fingerprint: hex(kept?.fingerprint),
    kept_status: kept?.status ?? null,
    kept_body: kept?.sealedBody.toString('base64') ?? null,
  }
}

const toEvents = ({ events }: Creation) =>
  events.map(({ companyId, id, type, payload, createdAt }) => ({
    company_id: companyId,
    id,
    type,
    payload,
    created_at: createdAt,
  }))

/**
 * Charges, their payers, events and kept answers of a whole group in one statement, and so in one
 * commit. Rows carry our own ids and are skipped where they already stand, so that the statement
 * can be repeated when a connection is lost and nobody knows whether it was carried out. A violated
 * unique index fails the group; the batcher then finds the one row at fault. Rows are inserted in
 * the order of their keys, so that the groups of two processes cannot deadlock.
 */
const INSERT = `
with input as materialized (
  select * from json_to_recordset($1) as i (
    company_id uuid, id uuid, kind text, amount bigint, payment_status text, dev_mode boolean,
    external_id text, fingerprint text, customer_id uuid, new_customer_id uuid, payer_name text,
    payer_index text, payer_sealed text, items jsonb, need_shipping boolean,
    notify_customer boolean, success_url text, failed_url text, br_code text,
    created_at timestamptz, expires_at timestamptz, kept_key text,
    kept_fingerprint text, kept_status smallint, kept_body text)
), payer as materialized (
  select distinct on (company_id, payer_index)
    company_id, decode(payer_index, 'hex') as tax_id_index, new_customer_id as id, payer_name as name,
    decode(payer_sealed, 'hex') as sealed, created_at
  from input where new_customer_id is not null order by company_id, payer_index
), known as materialized (
  select p.company_id, p.tax_id_index, c.id from payer p cross join lateral (
    select c.id from customers c
    where c.company_id = p.company_id and c.tax_id_index = p.tax_id_index order by c.id limit 1) c
), made as (
  insert into customers
    (company_id, id, name, status, tax_id_index, sealed, origin, created_at, updated_at)
  select p.company_id, p.id, p.name, 'ACTIVE', p.tax_id_index, p.sealed, 'charge', p.created_at,
    p.created_at
  from payer p left join known k using (company_id, tax_id_index) where k.id is null
  order by p.company_id, p.tax_id_index
  on conflict (company_id, tax_id_index) where origin = 'charge'
    do update set updated_at = customers.updated_at
  returning company_id, tax_id_index, id
), customer as (
  select company_id, encode(tax_id_index, 'hex') as payer_index, id from known
  union all select company_id, encode(tax_id_index, 'hex'), id from made
), charge as (
  insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, external_id,
    fingerprint, customer_id, payer_name, payer_index, payer_sealed, items, need_shipping,
    notify_customer, success_url, failed_url, br_code, created_at, expires_at)
  select i.company_id, i.id, i.kind, i.amount, 'OPEN', i.payment_status, i.dev_mode, i.external_id,
    decode(i.fingerprint, 'hex'), coalesce(i.customer_id, c.id), i.payer_name,
    decode(i.payer_index, 'hex'), decode(i.payer_sealed, 'hex'), i.items, i.need_shipping,
    i.notify_customer, i.success_url, i.failed_url, i.br_code, i.created_at, i.expires_at
  from input i left join customer c using (company_id, payer_index)
  order by i.company_id, i.id
  on conflict (company_id, id) do nothing
), event as (
  insert into events (company_id, id, type, payload, created_at)
  select company_id, id, type, payload, created_at
  from json_to_recordset($2) as e (
    company_id uuid, id uuid, type text, payload text, created_at timestamptz)
  order by company_id, id
  on conflict (company_id, id) do nothing
)
insert into idempotency_keys (company_id, key, fingerprint, status, sealed_body, created_at)
select company_id, kept_key, decode(kept_fingerprint, 'hex'), kept_status,
  decode(kept_body, 'base64'), created_at
from input where kept_key is not null order by company_id, kept_key`

async function insertMany(db: Database, group: Creation[]): Promise<null[]> {
  await db.query({
    name: 'create_charges',
    text: INSERT,
    values: [JSON.stringify(group.map(toInput)), JSON.stringify(group.flatMap(toEvents))],
  })
  return group.map(() => null)
}
