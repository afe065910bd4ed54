import { companyTableOf, type Part } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { type DueKind, type DueRequest, IS_SUSPENDED } from '../due.ts'
import { BOOKS_DIFFER, type Claim, claimOrders, dueOrders } from '../orders.ts'
import { TASK } from '../tasks.ts'
import { MAX_TRIES, type Spent, type Status, type Withdrawal } from './rules.ts'

const WITHDRAWAL = companyTableOf<Withdrawal>('withdrawals', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  value: ['value', 'cents'],
  destination: ['destination', 'text'],
  recipientId: ['recipient_id', 'uuid'],
  keySealed: ['key_sealed', 'bytea'],
  status: ['status', 'text'],
  failure: ['failure', 'text'],
  otpHash: ['otp_hash', 'bytea'],
  otpExpiresAt: ['otp_expires_at', 'timestamptz'],
  otpAttempts: ['otp_attempts', 'int8'],
  otpSent: ['otp_sent', 'int8'],
  endToEndId: ['end_to_end_id', 'text'],
  bankReference: ['bank_reference', 'text'],
  manual: ['manual', 'bool'],
  orderedAt: ['ordered_at', 'timestamptz'],
  attempts: ['attempts', 'int8'],
  nextAttemptAt: ['next_attempt_at', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
  confirmedAt: ['confirmed_at', 'timestamptz'],
  finishedAt: ['finished_at', 'timestamptz'],
  requestedBy: ['requested_by', 'uuid'],
  needsApproval: ['needs_approval', 'bool'],
  approvedBy: ['approved_by', 'uuid'],
  approvedAt: ['approved_at', 'timestamptz'],
  heldUntil: ['held_until', 'timestamptz'],
  heldFor: ['held_for', 'uuid'],
})

const COLUMNS = WITHDRAWAL.select('w')

/** What a withdrawal has when it is started. The other columns have their defaults. */
const STARTED = WITHDRAWAL.only(
  'companyId',
  'id',
  'value',
  'destination',
  'recipientId',
  'keySealed',
  'status',
  'otpHash',
  'otpExpiresAt',
  'createdAt',
  'requestedBy',
  'needsApproval',
  'heldUntil',
  'heldFor',
)

/**
 * Returns false when the company has a pending one. Waits for transactions that start or end one,
 * so that the answer stays true.
 */
export async function insert(tx: Tx, withdrawal: Withdrawal): Promise<boolean> {
  const rows = await tx.query({
    text: `${STARTED.insertInto('withdrawals')}
           on conflict (company_id) where status in ('PENDING_OTP', 'PROCESSING') do nothing
           returning id`,
    values: STARTED.values([withdrawal]),
  })
  return rows.length === 1
}

/** Writes all that a change of state changes. Only `countTry` counts tries. */
export async function update(tx: Tx, withdrawal: Withdrawal): Promise<void> {
  await tx.query({
    text: `update withdrawals set status = $3, failure = $4, otp_hash = $5, otp_expires_at = $6,
             otp_sent = $7, end_to_end_id = $8, next_attempt_at = $9, confirmed_at = $10,
             finished_at = $11, manual = $12, ordered_at = $13, approved_by = $14,
             approved_at = $15, needs_approval = $16
           where company_id = $1 and id = $2`,
    values: [
      withdrawal.companyId,
      withdrawal.id,
      withdrawal.status,
      withdrawal.failure,
      withdrawal.otpHash,
      withdrawal.otpExpiresAt,
      withdrawal.otpSent,
      withdrawal.endToEndId,
      withdrawal.nextAttemptAt,
      withdrawal.confirmedAt,
      withdrawal.finishedAt,
      withdrawal.manual,
      withdrawal.orderedAt,
      withdrawal.approvedBy,
      withdrawal.approvedAt,
      withdrawal.needsApproval,
    ],
  })
}

/** Stores the bank's own id of a payout. Only the worker that has claimed it last may do so. */
export async function storeReference(
  tx: Tx,
  { companyId, id, attempts }: Pick<Withdrawal, 'companyId' | 'id' | 'attempts'>,
  reference: string,
): Promise<boolean> {
  const rows = await tx.query({
    text: `update withdrawals set bank_reference = $4
           where company_id = $1 and id = $2 and attempts = $3 and status = 'PROCESSING'
           returning id`,
    values: [companyId, id, attempts, reference],
  })
  return rows.length === 1
}

export const { find } = WITHDRAWAL

/** Withdrawals by id, in no order. */
export async function findMany(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Withdrawal[]> {
  if (ids.length === 0) return []
  const rows = await tx.query({
    text: `select ${COLUMNS} from withdrawals w where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return rows.map(WITHDRAWAL.read)
}

/** When withdrawals were completed, of those that were. */
export async function findFinished(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<{ id: Uuid; finishedAt: Date }[]> {
  const rows = await tx.query<{ id: Uuid; finished_at: Date }>({
    text: `select id, finished_at from withdrawals
           where company_id = $1 and id = any ($2::uuid[]) and status = 'COMPLETED'`,
    values: [companyId, ids],
  })
  return rows.map(({ id, finished_at }) => ({ id, finishedAt: finished_at }))
}

/**
 * When the first withdrawal that was asked for at or after each moment was completed, or null.
 * Payouts are of the money of recipients.
 */
export async function findFirstCompleted(
  tx: Tx,
  companyId: Uuid,
  moments: Date[],
): Promise<(Date | null)[]> {
  if (moments.length === 0) return []
  const rows = await tx.query<{ finished_at: Date | null }>({
    text: `select (select w.finished_at from withdrawals w
                   where w.company_id = $1 and w.status = 'COMPLETED' and w.created_at >= m.at
                     and w.recipient_id is null
                   order by w.created_at limit 1) as finished_at
           from unnest($2::timestamptz[]) with ordinality m (at, position) order by m.position`,
    values: [companyId, moments],
  })
  return rows.map(({ finished_at }) => finished_at)
}

export async function findPending(tx: Tx, companyId: Uuid): Promise<Withdrawal | null> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from withdrawals w
           where company_id = $1 and status in ('PENDING_OTP', 'PROCESSING')`,
    values: [companyId],
  })
  return rows[0] ? WITHDRAWAL.read(rows[0]) : null
}

type Tried = { otpHash: Buffer; otpAttempts: number }

/** Counts a try and returns the hash to compare with; null when no try is left. */
export async function countTry(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  now: Date,
): Promise<Tried | null> {
  const rows = await tx.query<Tried>({
    text: `update withdrawals set otp_attempts = otp_attempts + 1
           where company_id = $1 and id = $2 and status = 'PENDING_OTP'
             and otp_attempts < $3 and otp_expires_at > $4 and confirmed_at is null
           returning otp_hash as "otpHash", otp_attempts as "otpAttempts"`,
    values: [companyId, id, MAX_TRIES, now],
  })
  return rows[0] ?? null
}

/** The tries for withdrawals that ended unconfirmed, newest first. */
export const listSpent = (tx: Tx, companyId: Uuid, since: Date): Promise<Spent[]> =>
  tx.query<Spent>({
    text: `select otp_attempts as tries, finished_at as at from withdrawals
           where company_id = $1 and finished_at > $2 and confirmed_at is null
             and otp_attempts > 0
           order by finished_at desc`,
    values: [companyId, since],
  })

/** Those that were asked for from `from` until before `to`. */
export type WithdrawalFilter = { status: Status | null; from?: Date | null; to?: Date | null }

/** The state that every reader takes a withdrawal for, also before a task has written it. */
const STATE = `case when status = 'PENDING_OTP' and otp_expires_at <= $2
    and (confirmed_at is null or held_until is null) then 'EXPIRED'
  else status end`
const FILTERED = `company_id = $1 and ($3::text is null or $3 = ${STATE})
  and ($4::timestamptz is null or created_at >= $4)
  and ($5::timestamptz is null or created_at < $5)`

const filterValues = (companyId: Uuid, { status, from, to }: WithdrawalFilter, now: Date) => [
  companyId,
  now,
  status,
  from ?? null,
  to ?? null,
]

/** Newest first. */
export async function list(
  tx: Tx,
  companyId: Uuid,
  { limit, after, ...filter }: Part & WithdrawalFilter,
  now: Date,
): Promise<Withdrawal[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from withdrawals w
           where ${FILTERED} and ($6::uuid is null or id < $6) order by id desc limit $7`,
    values: [...filterValues(companyId, filter, now), after, limit],
  })
  return rows.map(WITHDRAWAL.read)
}

export type StateSum = { status: Status; count: number; sum: number }

/** How many withdrawals there are of each state, and their sums. */
export const sumByState = (
  tx: Tx,
  companyId: Uuid,
  filter: WithdrawalFilter,
  now: Date,
): Promise<StateSum[]> =>
  tx.query<StateSum>({
    text: `select ${STATE} as status, count(*)::int8 as count, sum(value)::int8 as sum
           from withdrawals where ${FILTERED} group by 1`,
    values: filterValues(companyId, filter, now),
  })

/**
 * When the completed withdrawal before this one was asked for, or null. Payouts are of the money of
 * recipients.
 */
export async function findCompletedBefore(
  tx: Tx,
  companyId: Uuid,
  before: Date,
): Promise<Date | null> {
  const [row] = await tx.query<{ created_at: Date }>({
    text: `select created_at from withdrawals
           where company_id = $1 and status = 'COMPLETED' and created_at < $2
             and recipient_id is null
           order by created_at desc limit 1`,
    values: [companyId, before],
  })
  return row?.created_at ?? null
}

/** Withdrawals of an amount, or whose id of the scheme begins with a text, newest first. */
export async function findByText(
  tx: Tx,
  companyId: Uuid,
  { value, endToEndId }: { value: number | null; endToEndId: string | null },
  limit: number,
): Promise<Withdrawal[]> {
  // No character comes after the last one.
  const rows = await tx.query({
    text: `(select ${COLUMNS} from withdrawals w where company_id = $1 and value = $2
              order by id desc limit $4)
           union
           (select ${COLUMNS} from withdrawals w
            where company_id = $1 and end_to_end_id is not null and end_to_end_id ~>=~ $3
              and end_to_end_id ~<~ ($3 || chr(1114111))
            order by end_to_end_id using ~<~ limit $4)
           order by id desc limit $4`,
    values: [companyId, value, endToEndId, limit],
  })
  return rows.map(WITHDRAWAL.read)
}

/** Withdrawals whose code was not used in time, and those that are held no longer. */
export const EXPIRING: DueKind = {
  name: 'expire withdrawals',
  table: 'withdrawals',
  key: 'id',
  dueAt: 'otp_expires_at',
  where: `d.status = 'PENDING_OTP'`,
}

/**
 * No money leaves a suspended company, except what its bank may already have been ordered to send:
 * there the outcome must be known.
 */
export const DUE_PAYOUTS: DueKind = {
  ...dueOrders(TASK.payouts, 'withdrawals'),
  except: () => `${BOOKS_DIFFER} or d.ordered_at is null and ${IS_SUSPENDED}`,
}

export const claimDuePayouts = (tx: Tx, request: DueRequest): Promise<Claim<Withdrawal>[]> =>
  claimOrders(tx, DUE_PAYOUTS, request, WITHDRAWAL.read)

/** Withdrawals of more than `above`, alone or on one day, need the approval of a second person. */
type ApprovalLimit = { above: Cents; setBy: Uuid; setAt: Date }

export async function findLimit(tx: Tx, companyId: Uuid): Promise<ApprovalLimit | null> {
  const [row] = await tx.query<{ above: number; setBy: Uuid; setAt: Date }>({
    text: `select above, set_by as "setBy", set_at as "setAt" from approval_limits
           where company_id = $1`,
    values: [companyId],
  })
  return row ? { ...row, above: toCents(row.above) } : null
}

/** Null: no withdrawal needs an approval. */
export async function setLimit(
  tx: Tx,
  companyId: Uuid,
  limit: ApprovalLimit | null,
): Promise<void> {
  if (!limit) {
    await tx.query({
      text: 'delete from approval_limits where company_id = $1',
      values: [companyId],
    })
    return
  }
  await tx.query({
    text: `insert into approval_limits (company_id, above, set_by, set_at) values ($1, $2, $3, $4)
           on conflict (company_id) do update
             set above = excluded.above, set_by = excluded.set_by, set_at = excluded.set_at`,
    values: [companyId, limit.above, limit.setBy, limit.setAt],
  })
}

/** What was paid out without an approval, of the withdrawals that were started since then. */
export async function sumWithoutApproval(tx: Tx, companyId: Uuid, since: Date): Promise<Cents> {
  const [row] = await tx.query<{ sum: number }>({
    text: `select coalesce(sum(value), 0)::int8 as sum from withdrawals
           where company_id = $1 and status = 'COMPLETED' and created_at >= $2
             and not needs_approval`,
    values: [companyId, since],
  })
  return toCents(row!.sum)
}

/** Called in the transaction that starts the withdrawal. However long it waits, it must come. */
export async function requireApproval(tx: Tx, companyId: Uuid, id: Uuid): Promise<void> {
  await tx.query({
    text: `update withdrawals set needs_approval = true, held_until = null
           where company_id = $1 and id = $2`,
    values: [companyId, id],
  })
}

/** A manual withdrawal that is not sent yet, with what an operator needs to send it. */
export type WaitingPayout = {
  companyId: Uuid
  companyName: string
  id: Uuid
  value: Cents
  /** With the sealed key of a recipient it is masked. */
  destination: string
  keySealed: Buffer | null
  confirmedAt: Date
  /** If set, a bank may have got the order. Its statement shows whether it sent the money. */
  orderedAt: Date | null
  /** Whether the company's books differ, so that no money should leave it. */
  differs: boolean
}

/** For the operator: of all companies or of one, the longest waiting first. */
export const listWaiting = (tx: Tx, companyId: Uuid | null): Promise<WaitingPayout[]> =>
  tx.query<WaitingPayout>({
    text: `select w.company_id as "companyId", c.name as "companyName", w.id, w.value,
             w.destination, w.key_sealed as "keySealed", w.confirmed_at as "confirmedAt", w.ordered_at as "orderedAt",
             exists (select from audits a where a.company_id = w.company_id
               and a.difference is not null) as differs
           from withdrawals w join companies c on c.id = w.company_id
           where w.status = 'PROCESSING' and w.manual and ($1::uuid is null or w.company_id = $1)
           order by w.confirmed_at, w.id`,
    values: [companyId],
  })

/** How many withdrawals wait for an operator. */
export async function countWaiting(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    text: `select count(*) as count from withdrawals where status = 'PROCESSING' and manual`,
  })
  return row!.count
}

/** For the operator, who has only the id of a withdrawal. */
export async function findCompanyOf(tx: Tx, id: Uuid): Promise<Uuid | null> {
  const [row] = await tx.query<{ company_id: Uuid }>({
    text: 'select company_id from withdrawals where id = $1',
    values: [id],
  })
  return row?.company_id ?? null
}

/**
 * The withdrawal of any company that was sent with an id of the scheme. Takes a lock, so that no
 * other transaction can use the same id until this one ends.
 */
export async function findSentAs(tx: Tx, endToEndId: string): Promise<Uuid | null> {
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended('withdrawal ' || $1, 0))`,
    values: [endToEndId],
  })
  const [row] = await tx.query<{ id: Uuid }>({
    text: 'select id from withdrawals where end_to_end_id = $1',
    values: [endToEndId],
  })
  return row?.id ?? null
}
