import { bytes, integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Charge, ChargeKind, ChargeStatus, Link, PaymentStatus } from './rules.ts'

export type ChargeRow = Row & {
  company_id: Uuid
  id: Uuid
  kind: ChargeKind
  amount: number
  status: ChargeStatus
  payment_status: PaymentStatus
  dev_mode: boolean
  external_id: string | null
  fingerprint: Buffer | null
  customer_id: Uuid | null
  payer_name: string | null
  payer_index: Buffer | null
  payer_sealed: Buffer | null
  link: Link | null
  br_code: string | null
  end_to_end_id: string | null
  created_at: Date
  expires_at: Date
  payment_date: Date | null
  settles_at: Date | null
  booked: boolean
  refunded: number
  static_code_id: Uuid | null
  recurrence_id: Uuid | null
  shipping_sealed: Buffer | null
}

export const toCharge = (row: ChargeRow): Charge => ({
  companyId: row.company_id,
  id: row.id,
  kind: row.kind,
  amount: toCents(row.amount),
  status: row.status,
  paymentStatus: row.payment_status,
  devMode: row.dev_mode,
  externalId: row.external_id,
  fingerprint: row.fingerprint,
  customerId: row.customer_id,
  payer:
    row.payer_name === null
      ? null
      : { name: row.payer_name, index: row.payer_index!, sealed: row.payer_sealed! },
  link: row.link,
  brCode: row.br_code,
  endToEndId: row.end_to_end_id,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  paymentDate: row.payment_date,
  releaseAt: row.settles_at,
  booked: row.booked,
  refunded: toCents(row.refunded),
  staticCodeId: row.static_code_id,
  recurrenceId: row.recurrence_id,
  shipping: row.shipping_sealed,
})

export type ChargeId = { companyId: Uuid; id: Uuid }

/** What of a charge can still change. */
type ChargeState = Pick<
  ChargeRow,
  | 'status'
  | 'payment_status'
  | 'br_code'
  | 'end_to_end_id'
  | 'expires_at'
  | 'payment_date'
  | 'refunded'
  | 'shipping_sealed'
>

const keysOf = (wanted: ChargeId[]): Buffer[] => [
  uuids(wanted.map(({ companyId }) => companyId)),
  uuids(wanted.map(({ id }) => id)),
]

/** Charges by id for several companies at once, in the order asked; null where there is none. */
export async function findMany(tx: Tx, wanted: ChargeId[]): Promise<(Charge | null)[]> {
  const rows = await tx.query<ChargeRow & { place: number }>({
    name: 'find_charges',
    text: `select k.place::int, c.*
           from unnest($1::uuid[], $2::uuid[]) with ordinality k (company_id, id, place)
           join charges c on c.company_id = k.company_id and c.id = k.id`,
    values: keysOf(wanted),
  })
  const charges = wanted.map((): Charge | null => null)
  for (const row of rows) charges[row.place - 1] = toCharge(row)
  return charges
}

const isAsKnown = (charge: Charge, row: ChargeState): boolean =>
  charge.status === row.status &&
  charge.paymentStatus === row.payment_status &&
  charge.refunded === row.refunded &&
  charge.brCode === row.br_code &&
  charge.expiresAt.getTime() === row.expires_at.getTime() &&
  (charge.shipping === null) === (row.shipping_sealed === null)

/** Charges that were read before, as they stand now: only what can change is asked for again. */
export async function refreshMany(tx: Tx, known: Charge[]): Promise<Charge[]> {
  const rows = await tx.query<ChargeState & { place: number }>({
    name: 'refresh_charges',
    text: `select k.place::int, c.status, c.payment_status, c.br_code, c.end_to_end_id,
             c.expires_at, c.payment_date, c.refunded, c.shipping_sealed
           from unnest($1::uuid[], $2::uuid[]) with ordinality k (company_id, id, place)
           join charges c on c.company_id = k.company_id and c.id = k.id`,
    values: keysOf(known),
  })
  const charges = [...known]
  for (const row of rows) {
    const charge = known[row.place - 1]!
    // Mostly nothing has changed, and then there is nothing to copy.
    if (isAsKnown(charge, row)) continue
    charges[row.place - 1] = {
      ...charge,
      status: row.status,
      paymentStatus: row.payment_status,
      brCode: row.br_code,
      endToEndId: row.end_to_end_id,
      expiresAt: row.expires_at,
      paymentDate: row.payment_date,
      refunded: toCents(row.refunded),
      shipping: row.shipping_sealed,
    }
  }
  return charges
}

/** Locks charges of one company, in the order of their ids so that two lockers cannot deadlock. */
export async function lock(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Charge[]> {
  const rows = await tx.query<ChargeRow>({
    name: 'lock_charges',
    text: `select * from charges where company_id = $1 and id = any ($2::uuid[])
           order by id for update`,
    values: [companyId, ids],
  })
  return rows.map(toCharge)
}

/**
 * Locks charges that change by themselves, many at once. Their links are left out: each may have
 * 2 MB of items, and no state depends on them.
 */
export async function lockStates(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Charge[]> {
  const rows = await tx.query<ChargeRow>({
    name: 'lock_states',
    text: `select company_id, id, kind, amount, status, payment_status, dev_mode, external_id,
             fingerprint, customer_id, payer_name, payer_index, payer_sealed, null as link, br_code,
             end_to_end_id, created_at, expires_at, payment_date, settles_at, booked, refunded,
             static_code_id, recurrence_id, shipping_sealed
           from charges where company_id = $1 and id = any ($2::uuid[])
           order by id for update`,
    values: [companyId, ids],
  })
  return rows.map(toCharge)
}

/** Writes charges of agreements, which are on their way to the payers' banks. */
export async function insertRecurring(
  tx: Tx,
  companyId: Uuid,
  charges: Charge[],
  emailIndexes: (Buffer | null)[],
): Promise<void> {
  await tx.query({
    name: 'insert_recurring_charges',
    text: `insert into charges (company_id, kind, status, payment_status, dev_mode, id, amount,
             recurrence_id, customer_id, payer_name, payer_index, payer_sealed, created_at,
             expires_at, email_index)
           select $1, 'RECURRING', 'OPEN', 'PROCESSING', false, * from unnest($2::uuid[],
             $3::int8[], $4::uuid[], $5::uuid[], $6::text[], $7::bytea[], $8::bytea[],
             $9::timestamptz[], $10::timestamptz[], $11::bytea[])`,
    values: [
      companyId,
      uuids(charges.map((charge) => charge.id)),
      integers(charges.map((charge) => charge.amount)),
      uuids(charges.map((charge) => charge.recurrenceId)),
      uuids(charges.map((charge) => charge.customerId)),
      texts(charges.map(({ payer }) => payer?.name ?? null)),
      bytes(charges.map(({ payer }) => payer?.index ?? null)),
      bytes(charges.map(({ payer }) => payer?.sealed ?? null)),
      timestamps(charges.map((charge) => charge.createdAt)),
      timestamps(charges.map((charge) => charge.expiresAt)),
      bytes(emailIndexes),
    ],
  })
}

/** The charges of an agreement, newest first. */
export async function listOfRecurrence(
  tx: Tx,
  companyId: Uuid,
  recurrenceId: Uuid,
  most: number,
): Promise<Charge[]> {
  const rows = await tx.query<ChargeRow>({
    text: `select c.* from billings b
           join charges c on c.company_id = b.company_id and c.id = b.charge_id
           where b.company_id = $1 and b.recurrence_id = $2 order by b.cycle desc limit $3`,
    values: [companyId, recurrenceId, most],
  })
  return rows.map(toCharge)
}

export type Twin = { companyId: Uuid; externalId: string; fingerprint: Buffer }

/** The open charge that the very same request has made before. */
export async function findOpenTwin(tx: Tx, twin: Twin): Promise<Charge | null> {
  const rows = await tx.query<ChargeRow>({
    name: 'find_open_twin',
    text: `select * from charges where company_id = $1 and external_id = $2 and fingerprint = $3
             and status = 'OPEN'`,
    values: [twin.companyId, twin.externalId, twin.fingerprint],
  })
  return rows[0] ? toCharge(rows[0]) : null
}

export type MadeFilter = { from: Date; to: Date; after: Uuid | null; limit: number }

/** Charges made from `from` on and before `to`, oldest first. */
export async function listMade(tx: Tx, companyId: Uuid, filter: MadeFilter): Promise<Charge[]> {
  const rows = await tx.query<ChargeRow>({
    text: `select * from charges where company_id = $1 and created_at >= $2 and created_at < $3
             and ($4::uuid is null or id > $4)
           order by id limit $5`,
    values: [companyId, filter.from, filter.to, filter.after, filter.limit],
  })
  return rows.map(toCharge)
}
