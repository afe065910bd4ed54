import { booleans, bytes, integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Charge } from './rules.ts'

/**
 * Writes everything that can change in a charge. All other columns are fixed when it is created.
 */
export async function update(tx: Tx, companyId: Uuid, charges: Charge[]): Promise<void> {
  if (charges.length === 0) return
  await tx.query({
    name: 'update_charges',
    text: `update charges c set status = u.status, payment_status = u.payment_status,
             br_code = u.br_code, end_to_end_id = u.end_to_end_id, payment_date = u.payment_date,
             settles_at = u.settles_at, booked = u.booked, refunded = u.refunded,
             expires_at = u.expires_at, shipping_sealed = u.shipping_sealed
           from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[],
             $7::timestamptz[], $8::timestamptz[], $9::bool[], $10::int8[], $11::timestamptz[],
             $12::bytea[])
             u (id, status, payment_status, br_code, end_to_end_id, payment_date, settles_at,
               booked, refunded, expires_at, shipping_sealed)
           where c.company_id = $1 and c.id = u.id`,
    values: [companyId, ...stateColumns(charges), bytes(charges.map((charge) => charge.shipping))],
  })
}

const stateColumns = (charges: Charge[]): Buffer[] => [
  uuids(charges.map((charge) => charge.id)),
  texts(charges.map((charge) => charge.status)),
  texts(charges.map((charge) => charge.paymentStatus)),
  texts(charges.map((charge) => charge.brCode)),
  texts(charges.map((charge) => charge.endToEndId)),
  timestamps(charges.map((charge) => charge.paymentDate)),
  timestamps(charges.map((charge) => charge.releaseAt)),
  booleans(charges.map((charge) => charge.booked)),
  integers(charges.map((charge) => charge.refunded)),
  timestamps(charges.map((charge) => charge.expiresAt)),
]

/** Inserts charges that are paid when they are created: those of static codes. */
export async function insertSales(tx: Tx, companyId: Uuid, charges: Charge[]): Promise<void> {
  if (charges.length === 0) return
  await tx.query({
    name: 'insert_sales',
    text: `insert into charges (company_id, kind, id, status, payment_status, br_code,
             end_to_end_id, payment_date, settles_at, booked, refunded, expires_at, amount,
             dev_mode, static_code_id, created_at)
           select $1, 'STATIC', * from unnest($2::uuid[], $3::text[], $4::text[], $5::text[],
             $6::text[], $7::timestamptz[], $8::timestamptz[], $9::bool[], $10::int8[],
             $11::timestamptz[], $12::int8[], $13::bool[], $14::uuid[], $15::timestamptz[])`,
    values: [
      companyId,
      ...stateColumns(charges),
      integers(charges.map((charge) => charge.amount)),
      booleans(charges.map((charge) => charge.devMode)),
      uuids(charges.map((charge) => charge.staticCodeId)),
      timestamps(charges.map((charge) => charge.createdAt)),
    ],
  })
}
