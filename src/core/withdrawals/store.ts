import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { MOST_TRIES, type Spent, type Status, type Withdrawal } from './rules.ts'

type WithdrawalRow = Row & {
  company_id: Uuid
  id: Uuid
  value: number
  destination: string
  status: Status
  failure: string | null
  otp_hash: Buffer | null
  otp_expires_at: Date
  otp_attempts: number
  otp_sent: number
  end_to_end_id: string | null
  attempts: number
  next_attempt_at: Date | null
  created_at: Date
  confirmed_at: Date | null
  finished_at: Date | null
}

const toWithdrawal = (row: WithdrawalRow): Withdrawal => ({
  companyId: row.company_id,
  id: row.id,
  value: toCents(row.value),
  destination: row.destination,
  status: row.status,
  failure: row.failure,
  otpHash: row.otp_hash,
  otpExpiresAt: row.otp_expires_at,
  otpAttempts: row.otp_attempts,
  otpSent: row.otp_sent,
  endToEndId: row.end_to_end_id,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at,
  createdAt: row.created_at,
  confirmedAt: row.confirmed_at,
  finishedAt: row.finished_at,
})

/**
 * False when the company has a pending one. Waits for whoever is about to start or end one, so that
 * the answer stands.
 */
export async function insert(tx: Tx, withdrawal: Withdrawal): Promise<boolean> {
  const rows = await tx.query({
    text: `insert into withdrawals
             (company_id, id, value, destination, status, otp_hash, otp_expires_at, created_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (company_id) where status in ('PENDING_OTP', 'PROCESSING') do nothing
           returning id`,
    values: [
      ...[withdrawal.companyId, withdrawal.id, withdrawal.value, withdrawal.destination],
      ...[withdrawal.status, withdrawal.otpHash, withdrawal.otpExpiresAt, withdrawal.createdAt],
    ],
  })
  return rows.length === 1
}

/** Writes what a change of state can change; tries are counted by `countTry` alone. */
export async function update(tx: Tx, withdrawal: Withdrawal): Promise<void> {
  await tx.query({
    text: `update withdrawals set status = $3, failure = $4, otp_hash = $5, otp_expires_at = $6,
             otp_sent = $7, end_to_end_id = $8, next_attempt_at = $9, confirmed_at = $10,
             finished_at = $11
           where company_id = $1 and id = $2`,
    values: [
      ...[withdrawal.companyId, withdrawal.id, withdrawal.status, withdrawal.failure],
      ...[withdrawal.otpHash, withdrawal.otpExpiresAt, withdrawal.otpSent, withdrawal.endToEndId],
      ...[withdrawal.nextAttemptAt, withdrawal.confirmedAt, withdrawal.finishedAt],
    ],
  })
}

export async function find(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Withdrawal | null> {
  const rows = await tx.query<WithdrawalRow>({
    text: `select * from withdrawals where company_id = $1 and id = $2 ${lock}`,
    values: [companyId, id],
  })
  return rows[0] ? toWithdrawal(rows[0]) : null
}

export async function findPending(tx: Tx, companyId: Uuid): Promise<Withdrawal | null> {
  const rows = await tx.query<WithdrawalRow>({
    text: `select * from withdrawals
           where company_id = $1 and status in ('PENDING_OTP', 'PROCESSING')`,
    values: [companyId],
  })
  return rows[0] ? toWithdrawal(rows[0]) : null
}

export type Tried = { otpHash: Buffer; otpAttempts: number }

/** Spends a try and tells the code to compare with; null where there is none to spend. */
export async function countTry(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  now: Date,
): Promise<Tried | null> {
  const rows = await tx.query<Tried>({
    text: `update withdrawals set otp_attempts = otp_attempts + 1
           where company_id = $1 and id = $2 and status = 'PENDING_OTP'
             and otp_attempts < $3 and otp_expires_at > $4
           returning otp_hash as "otpHash", otp_attempts as "otpAttempts"`,
    values: [companyId, id, MOST_TRIES, now],
  })
  return rows[0] ?? null
}

/** Tries spent on withdrawals that ended unconfirmed, newest first. */
export const listSpent = (tx: Tx, companyId: Uuid, since: Date): Promise<Spent[]> =>
  tx.query<Spent>({
    text: `select otp_attempts as tries, finished_at as at from withdrawals
           where company_id = $1 and finished_at > $2 and confirmed_at is null
             and otp_attempts > 0
           order by finished_at desc`,
    values: [companyId, since],
  })

export type WithdrawalFilter = { limit: number; after: Uuid | null; status: Status | null }

/**
 * Newest first. A filter sees a withdrawal past its code's end as expired, as every reader does.
 */
export async function list(
  tx: Tx,
  companyId: Uuid,
  { limit, after, status }: WithdrawalFilter,
  now: Date,
): Promise<Withdrawal[]> {
  const rows = await tx.query<WithdrawalRow>({
    text: `select * from withdrawals
           where company_id = $1 and ($2::uuid is null or id < $2)
             and ($3::text is null or $3 = case
               when status = 'PENDING_OTP' and otp_expires_at <= $4 then 'EXPIRED' else status end)
           order by id desc limit $5`,
    values: [companyId, after, status, now, limit],
  })
  return rows.map(toWithdrawal)
}

export type WithdrawalId = { companyId: Uuid; id: Uuid }

/** Those past their code's end: found without locks, oldest first. */
export const findDue = (tx: Tx, now: Date, most: number): Promise<WithdrawalId[]> =>
  tx.query<WithdrawalId>({
    text: `select company_id as "companyId", id from withdrawals
           where status = 'PENDING_OTP' and otp_expires_at <= $1
           order by otp_expires_at limit $2`,
    values: [now, most],
  })

export type Claim = { withdrawal: Withdrawal; orderedBefore: boolean }

/**
 * Takes up due payouts: nobody else does before `until`. Each is marked as ordered here, before its
 * bank hears of it, so that whoever comes later asks first. Nothing is paid out for a company whose
 * books differ from its bank's.
 */
export async function claimPayouts(tx: Tx, now: Date, until: Date, most: number): Promise<Claim[]> {
  const rows = await tx.query<WithdrawalRow & { ordered_before: boolean }>({
    text: `with due as (
             select company_id, id, ordered_at is not null as ordered_before from withdrawals w
             where status = 'PROCESSING' and next_attempt_at <= $1 and not exists (
               select from audits a where a.company_id = w.company_id and a.difference is not null)
             order by next_attempt_at limit $3 for update skip locked
           )
           update withdrawals w set attempts = attempts + 1, next_attempt_at = $2,
             ordered_at = coalesce(ordered_at, $1)
           from due where w.company_id = due.company_id and w.id = due.id
           returning w.*, due.ordered_before`,
    values: [now, until, most],
  })
  return rows.map((row) => ({ withdrawal: toWithdrawal(row), orderedBefore: row.ordered_before }))
}
