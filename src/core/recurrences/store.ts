import { bytes, dates, timestamps, uuids } from '../../db/arrays.ts'
import { companyTableOf, type Part } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { addDays, type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { AgreementStatus } from '../../provider/port.ts'
import { overdueIds, retried } from '../billings/store.ts'
import { PAYER } from '../charges/store.ts'
import { type DueKind, IS_SUSPENDED } from '../due.ts'
import { TASK } from '../tasks.ts'
import type { EndReason, Recurrence } from './rules.ts'

const RECURRENCE = companyTableOf<Recurrence>('recurrences', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  isTemplate: ['is_template', 'bool'],
  originId: ['origin_id', 'uuid'],
  productId: ['product_id', 'uuid'],
  productName: ['product_name', 'text'],
  value: ['value', 'cents'],
  frequency: ['frequency', 'text'],
  dayDue: ['day_due', 'int8'],
  dayGenerateCharge: ['day_generate_charge', 'int8'],
  customerId: ['customer_id', 'uuid'],
  payer: PAYER,
  status: ['status', 'text'],
  authStatus: ['auth_status', 'text'],
  externalId: ['external_id', 'text'],
  brCode: ['br_code', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz'],
  decidedAt: ['decided_at', 'timestamptz'],
  firstOn: ['first_on', 'date'],
  cycles: ['cycles', 'int8'],
  lastDueOn: ['last_due_on', 'date'],
  nextAt: ['next_at', 'timestamptz'],
  endReason: ['end_reason', 'text'],
  split: ['split', 'json'],
})

const COLUMNS = RECURRENCE.select('r')

const INSERT = RECURRENCE.insertInto('recurrences')

export async function insert(tx: Tx, recurrence: Recurrence): Promise<void> {
  await tx.query({ text: INSERT, values: RECURRENCE.values([recurrence]) })
}

/** Writes what the payer's or the merchant's decision changes. */
export async function updateDecision(tx: Tx, recurrence: Recurrence): Promise<void> {
  await tx.query({
    text: `update recurrences set status = $3, auth_status = $4, decided_at = $5,
             first_on = $6::date, next_at = $7
           where company_id = $1 and id = $2`,
    values: [
      recurrence.companyId,
      recurrence.id,
      recurrence.status,
      recurrence.authStatus,
      recurrence.decidedAt,
      recurrence.firstOn,
      recurrence.nextAt,
    ],
  })
}

/** Writes that one cycle of each was generated, and when the next one is due. */
export async function updateCycles(tx: Tx, companyId: Uuid, all: Recurrence[]): Promise<void> {
  await tx.query({
    name: 'update_cycles',
    text: `update recurrences r set cycles = r.cycles + 1, last_due_on = u.due_on,
             next_at = u.next_at
           from unnest($2::uuid[], $3::date[], $4::timestamptz[]) u (id, due_on, next_at)
           where r.company_id = $1 and r.id = u.id`,
    values: [
      companyId,
      uuids(all.map(({ id }) => id)),
      dates(all.map(({ lastDueOn }) => lastDueOn)),
      timestamps(all.map(({ nextAt }) => nextAt)),
    ],
  })
}

/** Writes the due day of a cycle that was rescheduled after all others. */
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

/** Writes why somebody of the company has canceled it. */
export async function setEndReason(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  reason: EndReason,
): Promise<void> {
  await tx.query({
    text: `update recurrences set end_reason = $3
           where company_id = $1 and id = $2 and status = 'CANCELED'`,
    values: [companyId, id, reason],
  })
}

export const { find, list } = RECURRENCE

/** Recurrences of a company by id. */
export async function findMany(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, Recurrence>> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from recurrences r where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  const recurrences = rows.map(RECURRENCE.read)
  return new Map(recurrences.map((recurrence) => [recurrence.id, recurrence]))
}

export async function findByExternalId(
  tx: Tx,
  companyId: Uuid,
  externalId: string,
): Promise<Recurrence | null> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from recurrences r where company_id = $1 and external_id = $2`,
    values: [companyId, externalId],
  })
  return rows[0] ? RECURRENCE.read(rows[0]) : null
}

/** The latest agreement that was started through a template or a link, by any or one payer. */
export async function findStarted(
  tx: Tx,
  companyId: Uuid,
  originId: Uuid,
  payerIndexes: Buffer[] | null = null,
): Promise<Recurrence | null> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from recurrences r
           where company_id = $1 and origin_id = $2
             and ($3::bytea[] is null or payer_index = any ($3))
           order by id desc limit 1`,
    values: [companyId, originId, payerIndexes && bytes(payerIndexes)],
  })
  return rows[0] ? RECURRENCE.read(rows[0]) : null
}

/** Which recurrences a list has. */
export type RecurrenceFilter = {
  isTemplate: boolean | null
  authStatus: AgreementStatus | null
  customerId: Uuid | null
  /** Those of any of these customers. */
  customerIds?: Uuid[] | null
  /** The template through which payers came. */
  originId?: Uuid | null
  /** Those that are overdue, or of which the bank tries a charge again. */
  late?: Late | null
}

export type Late = 'overdue' | 'retrying'

/** Adds to a statement the parameters that it needs. */
type Bind = (value: unknown) => string

function isLate(late: Late, now: Date, bind: Bind): string {
  const today = localDateOf(now)
  if (late === 'overdue') return `id in (${overdueIds(bind(today))})`
  const retrying = retried(bind(today), bind(startOfDay(addDays(today, 1))))
  return `id in (select recurrence_id from billings where company_id = $1 and ${retrying})`
}

/**
 * Recurrences that a filter asks for, newest first. If an undecided agreement is past its deadline,
 * it counts as expired, as every reader sees it.
 */
export async function search(
  tx: Tx,
  companyId: Uuid,
  filter: RecurrenceFilter,
  page: Part,
  now: Date,
): Promise<Recurrence[]> {
  const { isTemplate, authStatus, customerId, originId = null, customerIds = null } = filter
  const values: unknown[] = [companyId, page.after, page.limit]
  const conditions = ['company_id = $1', '($2::uuid is null or id < $2)']
  const where = (condition: string, value: unknown) => {
    if (value !== null) conditions.push(condition.replace('?', `$${values.push(value)}`))
  }
  where('is_template = ?', isTemplate)
  where('customer_id = ?', customerId)
  where('customer_id = any (?::uuid[])', customerIds)
  where('origin_id = ?', originId)
  if (filter.late) conditions.push(isLate(filter.late, now, (value) => `$${values.push(value)}`))
  const listed = (state: string) =>
    `(select ${COLUMNS} from recurrences r where ${conditions.join(' and ')}${state}
      order by id desc limit $3)`
  const late = `not is_template and auth_status = 'CREATED' and expires_at <=`
  let text = listed('')
  if (authStatus !== null) {
    const [state, at] = [values.push(authStatus), values.push(now)]
    text = listed(` and auth_status = $${state} and not (${late} $${at})`)
    if (authStatus === 'EXPIRED') text += ` union all ${listed(` and ${late} $${at}`)}`
  }
  const rows = await tx.query({
    text: `select * from (${text}) found order by id desc limit $3`,
    values,
  })
  return rows.map(RECURRENCE.read)
}

/** How many agreements and templates there are in a state. */
export type RecurrenceCount = {
  /** Null: templates. */
  authStatus: AgreementStatus | null
  count: number
}

/** Counts agreements in each state, templates, and agreements that are late, up to a limit. */
export async function countStates(
  tx: Tx,
  companyId: Uuid,
  limit: number,
  now: Date,
): Promise<{ states: RecurrenceCount[] } & Record<Late, number>> {
  const isPast = `r.auth_status = 'CREATED' and r.expires_at <= $3`
  const countLate = async (late: Late): Promise<number> => {
    const values: unknown[] = [companyId, limit]
    const condition = isLate(late, now, (value) => `$${values.push(value)}`)
    const [row] = await tx.query<{ count: number }>({
      name: `count_${late}_recurrences`,
      text: `select count(*)::int8 as count from (select from recurrences
             where company_id = $1 and ${condition} limit $2) r`,
      values,
    })
    return row!.count
  }
  const [states, overdue, retrying] = await Promise.all([
    tx.query<RecurrenceCount>({
      name: 'count_states_of_recurrences',
      text: `select w.auth_status as "authStatus", f.count from
               unnest(array['CREATED', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELED', null])
                 w (auth_status)
             cross join lateral (select count(*)::int8 from (
               (select from recurrences r where r.company_id = $1 and not r.is_template
                  and r.auth_status = w.auth_status and not (${isPast}) limit $2)
               union all
               (select from recurrences r where r.company_id = $1 and not r.is_template
                  and w.auth_status = 'EXPIRED' and ${isPast} limit $2)
               union all
               (select from recurrences r where r.company_id = $1 and r.is_template
                  and w.auth_status is null limit $2)) s) f`,
      values: [companyId, limit, now],
    }),
    countLate('overdue'),
    countLate('retrying'),
  ])
  return { states, overdue, retrying }
}

/** Agreements and templates of a company that have not ended. */
export async function listOpen(tx: Tx, companyId: Uuid): Promise<Recurrence[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from recurrences r where company_id = $1 and status = 'OPEN'
           order by id`,
    values: [companyId],
  })
  return rows.map(RECURRENCE.read)
}

/** Locks recurrences of one company that have not ended, in the order of their ids. */
export async function lockOpen(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Recurrence[]> {
  const rows = await tx.query({
    name: 'lock_recurrences',
    text: `select ${COLUMNS} from recurrences r
           where company_id = $1 and id = any ($2::uuid[]) and status = 'OPEN'
           order by id for update`,
    values: [companyId, ids],
  })
  return rows.map(RECURRENCE.read)
}

const dueRecurrences = (name: string, authStatus: 'CREATED' | 'APPROVED'): DueKind => ({
  name,
  table: 'recurrences',
  key: 'id',
  dueAt: 'next_at',
  where: `d.next_at is not null and d.auth_status = '${authStatus}'`,
})

/** Agreements that the bank is asked about, because no callback came or because they expire. */
export const UNDECIDED: DueKind = dueRecurrences(TASK.agreements, 'CREATED')

/** Agreements whose next charge is generated. Suspended companies wait. */
export const GENERATING: DueKind = {
  ...dueRecurrences(TASK.generate, 'APPROVED'),
  except: () => IS_SUSPENDED,
}

/**
 * Writes when the bank is asked about an agreement that is undecided, or whose next charge is due.
 * If it was decided or generated in the meantime, the time that was written by that stays.
 */
export async function postpone(
  tx: Tx,
  { companyId, id, authStatus }: Recurrence,
  nextAt: Date,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update recurrences set next_at = $3
           where company_id = $1 and id = $2 and auth_status = $4
             and (auth_status = 'CREATED' or auth_status = 'APPROVED' and next_at <= $5)`,
    values: [companyId, id, nextAt, authStatus, now],
  })
}
