import { texts, timestamps, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { LocalDate } from '../../lib/local-time.ts'
import { toCents } from '../../lib/money.ts'
import type { Frequency } from '../../pix/calendar.ts'
import type { AgreementStatus } from '../../provider/port.ts'
import { clockFilter, hasNoClock, isDueByClock, valuesOf } from '../clocks/own-time.ts'
import type { Recurrence, RecurrenceStatus } from './rules.ts'

type RecurrenceRow = Row & {
  company_id: Uuid
  id: Uuid
  is_template: boolean
  origin_id: Uuid | null
  product_id: Uuid
  product_name: string
  value: number
  frequency: Frequency
  day_due: number
  day_generate_charge: number | null
  customer_id: Uuid | null
  payer_name: string | null
  payer_index: Buffer | null
  payer_sealed: Buffer | null
  status: RecurrenceStatus
  auth_status: AgreementStatus
  external_id: string | null
  br_code: string | null
  created_at: Date
  expires_at: Date | null
  decided_at: Date | null
  first_day: LocalDate | null
  cycles: number
  last_due_day: LocalDate | null
  next_at: Date | null
}

/** Days as text: the driver would make moments of them, in the time zone of the machine. */
const COLUMNS = 'r.*, r.first_on::text as first_day, r.last_due_on::text as last_due_day'

const toRecurrence = (row: RecurrenceRow): Recurrence => ({
  companyId: row.company_id,
  id: row.id,
  isTemplate: row.is_template,
  originId: row.origin_id,
  productId: row.product_id,
  productName: row.product_name,
  value: toCents(row.value),
  frequency: row.frequency,
  dayDue: row.day_due,
  dayGenerateCharge: row.day_generate_charge,
  customerId: row.customer_id,
  payer:
    row.payer_name === null
      ? null
      : { name: row.payer_name, index: row.payer_index!, sealed: row.payer_sealed! },
  status: row.status,
  authStatus: row.auth_status,
  externalId: row.external_id,
  brCode: row.br_code,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  decidedAt: row.decided_at,
  firstOn: row.first_day,
  cycles: row.cycles,
  lastDueOn: row.last_due_day,
  nextAt: row.next_at,
})

export async function insert(tx: Tx, recurrence: Recurrence): Promise<void> {
  const { payer } = recurrence
  await tx.query({
    text: `insert into recurrences (company_id, id, is_template, origin_id, product_id,
             product_name, value, frequency, day_due, day_generate_charge, customer_id, payer_name,
             payer_index, payer_sealed, status, auth_status, external_id, br_code, created_at,
             expires_at, next_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
             $19, $20, $21)`,
    values: [
      ...[recurrence.companyId, recurrence.id, recurrence.isTemplate, recurrence.originId],
      ...[recurrence.productId, recurrence.productName, recurrence.value, recurrence.frequency],
      ...[recurrence.dayDue, recurrence.dayGenerateCharge, recurrence.customerId],
      ...[payer?.name ?? null, payer?.index ?? null, payer?.sealed ?? null],
      ...[recurrence.status, recurrence.authStatus, recurrence.externalId, recurrence.brCode],
      ...[recurrence.createdAt, recurrence.expiresAt, recurrence.nextAt],
    ],
  })
}

/** Writes what a decision on an agreement changes. */
export async function updateDecision(tx: Tx, recurrence: Recurrence): Promise<void> {
  await tx.query({
    text: `update recurrences set status = $3, auth_status = $4, decided_at = $5,
             first_on = $6::date, next_at = $7
           where company_id = $1 and id = $2`,
    values: [
      ...[recurrence.companyId, recurrence.id, recurrence.status, recurrence.authStatus],
      ...[recurrence.decidedAt, recurrence.firstOn, recurrence.nextAt],
    ],
  })
}

/** Writes that cycles were generated, and when the next ones are. */
export async function updateCycles(tx: Tx, companyId: Uuid, all: Recurrence[]): Promise<void> {
  await tx.query({
    name: 'update_cycles',
    text: `update recurrences r set cycles = r.cycles + 1, last_due_on = u.due_on::date,
             next_at = u.next_at
           from unnest($2::uuid[], $3::text[], $4::timestamptz[]) u (id, due_on, next_at)
           where r.company_id = $1 and r.id = u.id`,
    values: [
      companyId,
      uuids(all.map(({ id }) => id)),
      texts(all.map(({ lastDueOn }) => lastDueOn)),
      timestamps(all.map(({ nextAt }) => nextAt)),
    ],
  })
}

/** Writes the day of a cycle that was put off behind all others. */
export async function updateLastDue(
  tx: Tx,
  { companyId, id }: Recurrence,
  lastDueOn: LocalDate,
): Promise<void> {
  await tx.query({
    text: 'update recurrences set last_due_on = $3::date where company_id = $1 and id = $2',
    values: [companyId, id, lastDueOn],
  })
}

export async function find(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Recurrence | null> {
  const rows = await tx.query<RecurrenceRow>({
    text: `select ${COLUMNS} from recurrences r where company_id = $1 and id = $2 ${lock}`,
    values: [companyId, id],
  })
  return rows[0] ? toRecurrence(rows[0]) : null
}

/** Those of a company, by their ids. */
export async function findMany(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, Recurrence>> {
  const rows = await tx.query<RecurrenceRow>({
    text: `select ${COLUMNS} from recurrences r where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return new Map(rows.map((row) => [row.id, toRecurrence(row)]))
}

export async function findByExternalId(
  tx: Tx,
  companyId: Uuid,
  externalId: string,
): Promise<Recurrence | null> {
  const rows = await tx.query<RecurrenceRow>({
    text: `select ${COLUMNS} from recurrences r where company_id = $1 and external_id = $2`,
    values: [companyId, externalId],
  })
  return rows[0] ? toRecurrence(rows[0]) : null
}

/** The agreement that was last started from a template or a link, that of one payer if asked. */
export async function findStarted(
  tx: Tx,
  companyId: Uuid,
  originId: Uuid,
  payerIndex: Buffer | null = null,
): Promise<Recurrence | null> {
  const rows = await tx.query<RecurrenceRow>({
    text: `select ${COLUMNS} from recurrences r
           where company_id = $1 and origin_id = $2 and ($3::bytea is null or payer_index = $3)
           order by id desc limit 1`,
    values: [companyId, originId, payerIndex],
  })
  return rows[0] ? toRecurrence(rows[0]) : null
}

export async function list(
  tx: Tx,
  companyId: Uuid,
  filter: { limit: number; after: Uuid | null },
): Promise<Recurrence[]> {
  const rows = await tx.query<RecurrenceRow>({
    text: `select ${COLUMNS} from recurrences r
           where company_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    values: [companyId, filter.after, filter.limit],
  })
  return rows.map(toRecurrence)
}

/** Those of a company that have not ended, links among them. */
export async function listOpen(tx: Tx, companyId: Uuid): Promise<Recurrence[]> {
  const rows = await tx.query<RecurrenceRow>({
    text: `select ${COLUMNS} from recurrences r where company_id = $1 and status = 'OPEN'
           order by id`,
    values: [companyId],
  })
  return rows.map(toRecurrence)
}

/** Locks those of one company that have not ended, in the order of their ids. */
export async function lockOpen(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Recurrence[]> {
  const rows = await tx.query<RecurrenceRow>({
    name: 'lock_recurrences',
    text: `select ${COLUMNS} from recurrences r
           where company_id = $1 and id = any ($2::uuid[]) and status = 'OPEN'
           order by id for update`,
    values: [companyId, ids],
  })
  return rows.map(toRecurrence)
}

/** Recurrences of one company that are due. */
export type DueRecurrences = { companyId: Uuid; clockAhead_ms: number; ids: Uuid[] }

const DUE = `select r.company_id, r.id, 0::int8 as ahead_ms from recurrences r
  where r.next_at <= $1 and r.auth_status = $3 and ${hasNoClock('r')}
    and r.company_id <> all ($4::uuid[])
  order by r.next_at limit $2`

const dueByClocks = (only: Uuid | null) =>
  `select t.company_id, r.id, t.ahead_ms from test_clocks t cross join lateral (
     select id, next_at from recurrences
     where company_id = t.company_id and next_at is not null and auth_status = $3
       and ${isDueByClock('next_at')} offset 0) r
   where ${clockFilter(only, '$5')} and t.company_id <> all ($4::uuid[])
   order by r.next_at limit $2`

/**
 * Due ones in a state of their agreement, of all companies but some or of one, found without locks,
 * and whether there may be more.
 */
export async function findDue(
  tx: Tx,
  authStatus: 'CREATED' | 'APPROVED',
  now: Date,
  most: number,
  only: Uuid | null,
  but: Uuid[],
): Promise<{ due: DueRecurrences[]; isFull: boolean }> {
  const rows = await tx.query<{ company_id: Uuid; id: Uuid; ahead_ms: number }>({
    name: `find_due_recurrences${only === null ? '' : '_of_one'}`,
    text: only === null ? `(${DUE}) union all (${dueByClocks(null)})` : dueByClocks(only),
    values: [now, most, authStatus, but, ...valuesOf(only)],
  })
  const byCompany = [...Map.groupBy(rows, ({ company_id }) => company_id)]
  const due = byCompany.map(([companyId, found]) => ({
    companyId,
    clockAhead_ms: found[0]!.ahead_ms,
    ids: found.map(({ id }) => id),
  }))
  return { due, isFull: rows.length >= most }
}

/** Puts off asking the bank about an agreement. */
export async function postpone(tx: Tx, { companyId, id }: Recurrence, nextAt: Date): Promise<void> {
  await tx.query({
    text: `update recurrences set next_at = $3
           where company_id = $1 and id = $2 and auth_status = 'CREATED'`,
    values: [companyId, id, nextAt],
  })
}

/** When something of a company's is due next. */
export async function nextAt(
  tx: Tx,
  companyId: Uuid,
  authStatus: 'CREATED' | 'APPROVED',
): Promise<Date | null> {
  const [row] = await tx.query<{ at: Date | null }>({
    text: `select min(next_at) as at from recurrences
           where company_id = $1 and next_at is not null and auth_status = $2`,
    values: [companyId, authStatus],
  })
  return row!.at
}
