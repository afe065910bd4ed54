import type { Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { claimDue, type DueKind, type DueRequest } from './due.ts'
import { TASK } from './tasks.ts'

/** Starts to ask the bank of a new company for payments. */
export async function startReconciling(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: `insert into reconciliations (company_id, asked_until, next_attempt_at)
           values ($1, $2, $2)`,
    values: [companyId, now],
  })
}

/** Makes a company due, because its bank may have changed. */
export async function reconcileSoon(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: `update reconciliations set next_attempt_at = least(next_attempt_at, $2)
           where company_id = $1`,
    values: [companyId, now],
  })
}

/** Whether the last look back at a company's bank is more than a day ago. */
export async function mayLookBack(tx: Tx, companyId: Uuid, now: Date): Promise<boolean> {
  const rows = await tx.query({
    text: `select from reconciliations where company_id = $1
           and (looked_back_at is null or looked_back_at <= $2::timestamptz - interval '1 day')`,
    values: [companyId, now],
  })
  return rows.length === 1
}

export async function markLookedBack(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: 'update reconciliations set looked_back_at = $2 where company_id = $1',
    values: [companyId, now],
  })
}

/** Records that the bank has listed all payments of which it has returned something. */
export async function markReturnsListed(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: 'update reconciliations set returns_listed_at = $2 where company_id = $1',
    values: [companyId, now],
  })
}

/** All returns that the bank has made before this moment are recorded; null if none were listed. */
export async function findReturnsListed(tx: Tx, companyId: Uuid): Promise<Date | null> {
  const [row] = await tx.query<{ returns_listed_at: Date | null }>({
    text: 'select returns_listed_at from reconciliations where company_id = $1',
    values: [companyId],
  })
  return row?.returns_listed_at ?? null
}

/** Whether the bank was not asked about disputes for so long. */
export async function mayAskDisputes(tx: Tx, companyId: Uuid, before: Date): Promise<boolean> {
  const rows = await tx.query({
    text: `select from reconciliations where company_id = $1
           and (disputes_asked_at is null or disputes_asked_at <= $2)`,
    values: [companyId, before],
  })
  return rows.length === 1
}

export async function markDisputesAsked(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: 'update reconciliations set disputes_asked_at = $2 where company_id = $1',
    values: [companyId, now],
  })
}

/** All payments that the bank has listed up to this moment are recorded. */
export async function findAskedUntil(tx: Tx, companyId: Uuid): Promise<Date | null> {
  const [row] = await tx.query<{ asked_until: Date }>({
    text: 'select asked_until from reconciliations where company_id = $1',
    values: [companyId],
  })
  return row?.asked_until ?? null
}

/** The earliest `asked_until` of all companies with a real bank. */
export async function oldestAsked(tx: Tx): Promise<Date | null> {
  const [row] = await tx.query<{ asked: Date | null }>({
    text: `select min(greatest(r.asked_until, b.connected_at)) as asked
           from bank_connections b join reconciliations r on r.company_id = b.company_id`,
  })
  return row!.asked
}

export type DueReconciliation = {
  companyId: Uuid
  askedUntil: Date
  /** Whether the company has charges that may be paid. */
  hasOpenCharges: boolean
}

/** Companies whose bank is asked what it has received. */
export const RECONCILING: DueKind = {
  name: TASK.reconcile,
  table: 'reconciliations',
  key: 'company_id',
  dueAt: 'next_attempt_at',
  where: 'true',
  isRealTime: true,
  waitsForBank: true,
}

export const claimReconciliations = (tx: Tx, request: DueRequest): Promise<DueReconciliation[]> =>
  claimDue<DueReconciliation>(
    tx,
    RECONCILING,
    request,
    `d.company_id as "companyId", d.asked_until as "askedUntil", exists (
       select from charges c where c.company_id = d.company_id and c.status = 'OPEN')
       as "hasOpenCharges"`,
  )

/** Records up to when the bank has answered, and when it is asked next. */
export async function saveAskedUntil(
  tx: Tx,
  companyId: Uuid,
  askedUntil: Date,
  next: Date,
): Promise<void> {
  await tx.query({
    text: `update reconciliations set asked_until = greatest(asked_until, $2),
             next_attempt_at = $3 where company_id = $1`,
    values: [companyId, askedUntil, next],
  })
}
