import { uuids } from '../../db/arrays.ts'
import { type ColumnGroup, tableOf } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import { deleteOldest } from '../../db/delete-oldest.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { ChargeRef, Source } from '../../provider/port.ts'
import type { Charge } from '../charges/rules.ts'
import type { WhenLocked } from '../charges/store.ts'
import { claimDue, type DueKind, type DueRequest } from '../due.ts'
import { TASK } from '../tasks.ts'
import type { Payment, PaymentState, Recorded, Settled } from './rules.ts'

const SETTLED: ColumnGroup<Settled | null> = {
  columns: [
    ['settled_charge_id', 'uuid', (settled) => settled?.chargeId ?? null],
    ['settled', 'cents', (settled) => settled?.amount ?? 0],
    ['shortfall', 'cents', (settled) => settled?.shortfall ?? 0],
  ],
  read: ({ settled_charge_id: chargeId, settled: amount, shortfall }) =>
    chargeId === null ? null : ({ chargeId, amount, shortfall } as Settled),
}

const PAYMENT = tableOf<Payment>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  source: ['source', 'text'],
  endToEndId: ['end_to_end_id', 'text'],
  txid: ['txid', 'text'],
  amount: ['amount', 'cents'],
  returned: ['returned', 'cents'],
  chargeId: ['charge_id', 'uuid'],
  settled: SETTLED,
  status: ['status', 'text'],
  reason: ['reason', 'text'],
  booked: ['booked', 'bool'],
  receivedAt: ['received_at', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
  payer: ['payer_sealed', 'bytea'],
})

const KEY = tableOf<PaymentKey>({
  companyId: ['company_id', 'uuid'],
  source: ['source', 'text'],
  endToEndId: ['end_to_end_id', 'text'],
})

const SELECT = `select ${PAYMENT.names} from payments`

/**
 * If the bank has returned a part, or a part has settled a charge, its money is not whole any more,
 * so it stays unmatched.
 */
const IS_UNKNOWN = `status = 'UNMATCHED' and reason = 'UNKNOWN' and returned = 0 and settled = 0`

/** What identifies a payment. */
type PaymentKey = Pick<Payment, 'companyId' | 'source' | 'endToEndId'>

/** What is recorded of payments, in their order. Undefined if one is not recorded. */
export async function findRecorded(
  tx: Tx,
  wanted: PaymentKey[],
): Promise<(Recorded | undefined)[]> {
  const rows = await tx.query<{ position: number; recorded: Recorded }>({
    name: 'find_recorded_payments',
    text: `select k.position::int, p.recorded
           from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality
             k (company_id, source, end_to_end_id, position)
           cross join lateral (
             select case when ${IS_UNKNOWN} then 'unknown' else 'final' end as recorded
             from payments where company_id = k.company_id and source = k.source
               and end_to_end_id = k.end_to_end_id offset 0) p`,
    values: KEY.values(wanted),
  })
  const recorded = wanted.map((): Recorded | undefined => undefined)
  for (const row of rows) recorded[row.position - 1] = row.recorded
  return recorded
}

/** Locks payments that named nothing that we knew. Those that were decided about are left out. */
export async function lockUnknown(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  endToEndIds: string[],
  whenLocked: WhenLocked,
): Promise<Payment[]> {
  if (endToEndIds.length === 0) return []
  const rows = await tx.query({
    text: `${SELECT}
           where company_id = $1 and end_to_end_id = any ($2::text[]) and source = $3
             and ${IS_UNKNOWN}
           order by end_to_end_id for update ${whenLocked === 'skip' ? 'skip locked' : ''}`,
    values: [companyId, endToEndIds, source],
  })
  return rows.map(PAYMENT.read)
}

/** Writes what a payment is for, after the bank has named it. */
export async function updateMatch(tx: Tx, payment: Payment): Promise<void> {
  const { companyId, endToEndId, source, txid, chargeId, status, reason, payer } = payment
  await tx.query({
    text: `update payments
           set txid = $4, charge_id = $5, status = $6, reason = $7, payer_sealed = $8
           where company_id = $1 and end_to_end_id = $2 and source = $3`,
    values: [companyId, endToEndId, source, txid, chargeId, status, reason, payer],
  })
}

/** Payments from one source by the scheme's ids. Ids without a payment are left out. */
export async function findByIds(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  endToEndIds: string[],
): Promise<Payment[]> {
  const rows = await tx.query({
    text: `${SELECT}
           where company_id = $1 and end_to_end_id = any ($2::text[]) and source = $3`,
    values: [companyId, endToEndIds, source],
  })
  return rows.map(PAYMENT.read)
}

/** Which of these ids are charges or static codes of the company, as payments name them. */
export async function findNamed(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, ChargeRef>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & ChargeRef>({
    text: `select id, due from charges where company_id = $1 and id = any ($2::uuid[])
           union all
           select id, null from static_codes where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** When booked payments were received, by the scheme's ids. */
export async function findArrivals(
  tx: Tx,
  companyId: Uuid,
  endToEndIds: string[],
): Promise<Map<string, Date>> {
  const rows = await tx.query<{ end_to_end_id: string; received_at: Date }>({
    text: `select end_to_end_id, received_at from payments
           where company_id = $1 and end_to_end_id = any ($2::text[]) and booked`,
    values: [companyId, endToEndIds],
  })
  return new Map(rows.map((row) => [row.end_to_end_id, row.received_at]))
}

/**
 * Inserts payments in the order of their ids, so that two transactions cannot wait for each other.
 * Returns false when another transaction has inserted one of them in the meantime.
 */
export async function insert(tx: Tx, payments: Payment[]): Promise<boolean> {
  if (payments.length === 0) return true
  const orderOf = ({ companyId, endToEndId }: Payment) => companyId + endToEndId
  const sorted = payments.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  const written = await tx.query({
    name: 'insert_payments',
    text: `${PAYMENT.insertInto('payments')}
           on conflict (company_id, end_to_end_id, source) do nothing returning 1`,
    values: PAYMENT.values(sorted),
  })
  return written.length === payments.length
}

export async function lock(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  endToEndId: string,
): Promise<Payment | null> {
  const rows = await tx.query({
    text: `${SELECT}
           where company_id = $1 and end_to_end_id = $2 and source = $3 for update`,
    values: [companyId, endToEndId, source],
  })
  return rows[0] ? PAYMENT.read(rows[0]) : null
}

/**
 * Locks an unmatched payment by the scheme's id, which is all that a merchant knows. If a trial has
 * the same id as a payment of a real bank, takes the latter.
 */
export async function lockUnmatched(
  tx: Tx,
  companyId: Uuid,
  endToEndId: string,
): Promise<Payment | null> {
  const rows = await tx.query({
    text: `${SELECT}
           where company_id = $1 and end_to_end_id = $2 and reason is not null
           order by source limit 1 for update`,
    values: [companyId, endToEndId],
  })
  return rows[0] ? PAYMENT.read(rows[0]) : null
}

/** Payments that matched no charge when they arrived, by the scheme's ids. Takes no locks. */
export async function findUnmatched(
  tx: Tx,
  companyId: Uuid,
  endToEndIds: string[],
): Promise<Payment[]> {
  if (endToEndIds.length === 0) return []
  const rows = await tx.query({
    text: `${SELECT}
           where company_id = $1 and end_to_end_id = any ($2::text[]) and reason is not null
           order by end_to_end_id, source`,
    values: [companyId, endToEndIds],
  })
  return rows.map(PAYMENT.read)
}

/** Payments that named a charge and did not match it, or have settled it, the oldest first. */
export async function listUnmatchedOf(
  tx: Tx,
  { companyId, id, endToEndId }: Pick<Charge, 'companyId' | 'id' | 'endToEndId'>,
  limit: number,
): Promise<Payment[]> {
  const rows = await tx.query({
    text: `${SELECT} where company_id = $1 and reason is not null
             and (charge_id = $2 or (end_to_end_id = $4 and settled_charge_id = $2))
           order by id limit $3`,
    values: [companyId, id, limit, endToEndId],
  })
  return rows.map(PAYMENT.read)
}

/** Writes what was decided about a payment, and what the bank has returned of it. */
export async function updateStatus(tx: Tx, payment: Payment): Promise<void> {
  await tx.query({
    text: `update payments set status = $3, returned = $5, settled_charge_id = $6, settled = $7,
             shortfall = $8
           where company_id = $1 and end_to_end_id = $2 and source = $4`,
    values: [
      payment.companyId,
      payment.endToEndId,
      payment.status,
      payment.source,
      payment.returned,
      payment.settled?.chargeId ?? null,
      payment.settled?.amount ?? 0,
      payment.settled?.shortfall ?? 0,
    ],
  })
}

type PaymentFilter = { limit: number; after: Uuid | null; status: PaymentState }

/** Payments that matched no charge when they arrived, newest first. */
export async function listUnmatched(
  tx: Tx,
  companyId: Uuid,
  { limit, after, status }: PaymentFilter,
): Promise<Payment[]> {
  const rows = await tx.query({
    text: `${SELECT} where company_id = $1 and status = $2 and reason is not null
             and ($3::uuid is null or id < $3) order by id desc limit $4`,
    values: [companyId, status, after, limit],
  })
  return rows.map(PAYMENT.read)
}

/** How many payments wait for a decision, up to a limit, and how much money that is about. */
export async function sumUndecided(
  tx: Tx,
  companyId: Uuid,
  limit: number,
): Promise<{ count: number; sum: number }> {
  const [row] = await tx.query<{ count: number; sum: number }>({
    name: 'sum_undecided_payments',
    text: `select count(*)::int8 as count,
             coalesce(sum(p.amount - p.returned - p.settled), 0)::int8 as sum
           from (select amount, returned, settled from payments
             where company_id = $1 and status = 'UNMATCHED' and reason is not null
             order by id desc limit $2) p`,
    values: [companyId, limit],
  })
  return row!
}

/** The callback of a bank, sealed as it was sent. */
export type StoredCallback = {
  companyId: Uuid
  id: Uuid
  provider: string
  sealed: Buffer
  receivedAt: Date
  nextAttemptAt: Date
}

const CALLBACK = tableOf<StoredCallback>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  provider: ['provider', 'text'],
  sealed: ['sealed', 'bytea'],
  receivedAt: ['received_at', 'timestamptz'],
  nextAttemptAt: ['next_attempt_at', 'timestamptz'],
})

/** Can be repeated: a callback that is stored already is skipped. */
export async function insertCallbacks(tx: Tx, callbacks: StoredCallback[]): Promise<void> {
  await tx.query({
    name: 'insert_callbacks',
    text: `${CALLBACK.insertInto('bank_callbacks')} on conflict (company_id, id) do nothing`,
    values: CALLBACK.values(callbacks),
  })
}

export async function markProcessed(
  tx: Tx,
  callbacks: Pick<StoredCallback, 'companyId' | 'id'>[],
  now: Date,
): Promise<void> {
  if (callbacks.length === 0) return
  await tx.query({
    name: 'mark_processed',
    text: `update bank_callbacks c set processed_at = $3
           from unnest($1::uuid[], $2::uuid[]) p (company_id, id)
           where c.company_id = p.company_id and c.id = p.id and c.processed_at is null`,
    values: [
      uuids(callbacks.map(({ companyId }) => companyId)),
      uuids(callbacks.map(({ id }) => id)),
      now,
    ],
  })
}

export type DueCallback = {
  companyId: Uuid
  id: Uuid
  provider: string
  sealed: Buffer
  attempts: number
}

const DUE = tableOf<DueCallback>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  provider: ['provider', 'text'],
  sealed: ['sealed', 'bytea'],
  attempts: ['attempts', 'int8'],
})

/**
 * Callbacks that are stored and not processed: the process died in between, or the bank has not
 * confirmed them yet. Each attempt waits longer than the one before it, up to an hour.
 */
export const DUE_CALLBACKS: DueKind = {
  name: TASK.callbacks,
  table: 'bank_callbacks',
  key: 'id',
  dueAt: 'next_attempt_at',
  where: 'd.processed_at is null',
  isRealTime: true,
  isByCompany: true,
  lease: `interval '30 seconds' * (2 ^ least(d.attempts, 7))`,
  set: ['attempts = attempts + 1'],
}

export const claimCallbacks = async (tx: Tx, request: DueRequest): Promise<DueCallback[]> =>
  (await claimDue(tx, DUE_CALLBACKS, request, DUE.select('d'))).map(DUE.read)

export const purgeProcessed = (tx: Tx, before: Date, max: number): Promise<number> =>
  deleteOldest(tx, 'bank_callbacks', 'processed_at', before, max)
