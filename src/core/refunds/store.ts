import { companyTableOf, type Part } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Source } from '../../provider/port.ts'
import type { DueKind, DueRequest } from '../due.ts'
import { type Claim, claimOrders, dueOrders } from '../orders.ts'
import { TASK } from '../tasks.ts'
import type { Refund, RefundState } from './rules.ts'

const REFUND = companyTableOf<Refund>('refunds', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  endToEndId: ['end_to_end_id', 'text'],
  paymentSource: ['payment_source', 'text'],
  chargeId: ['charge_id', 'uuid'],
  amount: ['amount', 'cents'],
  comment: ['comment', 'text'],
  bankReason: ['bank_reason', 'text'],
  source: ['source', 'text'],
  disputed: ['disputed', 'cents'],
  booked: ['booked', 'bool'],
  status: ['status', 'text'],
  failure: ['failure', 'text'],
  orderedAt: ['ordered_at', 'timestamptz'],
  returnId: ['return_id', 'text'],
  attempts: ['attempts', 'int8'],
  nextAttemptAt: ['next_attempt_at', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
  finishedAt: ['finished_at', 'timestamptz'],
})

const SELECT = `select ${REFUND.names} from refunds`

export async function insert(tx: Tx, refund: Refund): Promise<void> {
  await tx.query({ text: REFUND.insertInto('refunds'), values: REFUND.values([refund]) })
}

export const { find } = REFUND

export async function finish(tx: Tx, refund: Refund): Promise<void> {
  await tx.query({
    text: `update refunds set status = $3, failure = $4, return_id = $5, finished_at = $6
           where company_id = $1 and id = $2`,
    values: [
      refund.companyId,
      refund.id,
      refund.status,
      refund.failure,
      refund.returnId,
      refund.finishedAt,
    ],
  })
}

/** The payments that refunds return, by the id of the refund. */
export async function findPaymentsOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, string>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<{ id: Uuid; endToEndId: string }>({
    text: `select id, end_to_end_id as "endToEndId" from refunds
           where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return new Map(rows.map(({ id, endToEndId }) => [id, endToEndId]))
}

export const listOfCharge = (
  tx: Tx,
  companyId: Uuid,
  chargeId: Uuid,
  part: Part,
): Promise<Refund[]> => REFUND.list(tx, companyId, { ...part, chargeId })

/** Those that were started from `from` until before `to`. */
export type RefundFilter = { status: RefundState | null; from: Date; to: Date }

/** Refunds of trials move no money, and are left out. */
const FILTERED = `company_id = $1 and created_at >= $2 and created_at < $3 and booked
  and ($4::text is null or status = $4)`

/** The refunds of a period, the newest first. */
export async function listOfPeriod(
  tx: Tx,
  companyId: Uuid,
  { limit, after, from, to, status }: Part & RefundFilter,
): Promise<Refund[]> {
  const rows = await tx.query({
    text: `${SELECT} where ${FILTERED} and ($5::uuid is null or id < $5) order by id desc limit $6`,
    values: [companyId, from, to, status, after, limit],
  })
  return rows.map(REFUND.read)
}

/** How many refunds of a period there are of each state, and their sums. */
export const sumByState = (
  tx: Tx,
  companyId: Uuid,
  { from, to, status }: RefundFilter,
): Promise<{ status: RefundState; count: number; sum: number }[]> =>
  tx.query({
    text: `select status, count(*)::int8 as count, sum(amount)::int8 as sum
           from refunds where ${FILTERED} group by status`,
    values: [companyId, from, to, status],
  })

/** The refunds of payments, by the scheme's ids of the payments. */
export async function listOfPayments(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  endToEndIds: string[],
): Promise<Refund[]> {
  const rows = await tx.query({
    text: `${SELECT}
           where company_id = $1 and end_to_end_id = any ($2::text[]) and payment_source = $3`,
    values: [companyId, endToEndIds, source],
  })
  return rows.map(REFUND.read)
}

/** How much of a charge completed refunds have returned. */
export async function sumReturned(tx: Tx, companyId: Uuid, chargeId: Uuid): Promise<number> {
  const rows = await tx.query<{ sum: number }>({
    text: `select coalesce(sum(amount), 0)::bigint as sum from refunds
           where company_id = $1 and charge_id = $2 and status = 'COMPLETED'`,
    values: [companyId, chargeId],
  })
  return rows[0]!.sum
}

/** How much of a charge has gone back or is on its way to its payer. */
export async function sumUnfailed(tx: Tx, companyId: Uuid, chargeId: Uuid): Promise<number> {
  const rows = await tx.query<{ sum: number }>({
    text: `select coalesce(sum(amount), 0)::bigint as sum from refunds
           where company_id = $1 and charge_id = $2 and status <> 'FAILED'`,
    values: [companyId, chargeId],
  })
  return rows[0]!.sum
}

/** How much of charges refunds took while it was pending: that is not released any more. */
export async function heldFromPending(
  tx: Tx,
  companyId: Uuid,
  chargeIds: Uuid[],
): Promise<Map<Uuid, number>> {
  if (chargeIds.length === 0) return new Map()
  const rows = await tx.query<{ charge_id: Uuid; sum: number }>({
    text: `select charge_id, sum(amount)::bigint as sum from refunds
           where company_id = $1 and charge_id = any ($2::uuid[]) and source = 'pending'
             and status <> 'FAILED'
           group by charge_id`,
    values: [companyId, chargeIds],
  })
  return new Map(rows.map(({ charge_id, sum }) => [charge_id, sum]))
}

/** Those that a bank has left without an answer come after the others. */
export const DUE_REFUNDS: DueKind = {
  ...dueOrders(TASK.refunds, 'refunds'),
  last: 'd.attempts > 0',
}

export const claimDueRefunds = (tx: Tx, request: DueRequest): Promise<Claim<Refund>[]> =>
  claimOrders(tx, DUE_REFUNDS, request, REFUND.read)

/** Ends the lease of a refund until its next attempt, unless another worker has claimed it. */
export async function postpone(tx: Tx, refund: Refund, until: Date): Promise<void> {
  const { companyId, id, attempts } = refund
  await tx.query({
    text: `update refunds set next_attempt_at = $4
           where company_id = $1 and id = $2 and attempts = $3 and status = 'PROCESSING'`,
    values: [companyId, id, attempts, until],
  })
}
