import type { Row, Tx } from '../db/database.ts'
import type { Clock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError, type Log } from '../lib/log.ts'
import type { Outcome } from '../provider/port.ts'
import { type ClaimRequest, claimRows } from './claims.ts'

/** How long a claimed order is left to its worker: longer than a bank is waited for. */
export const LEASE_S = 60

/** How long after an attempt without an answer the bank is asked again; the last one repeats. */
const RETRY_S = [5, 30, 120, 600, 1800]

export const retryIn_s = (attempt: number): number => RETRY_S[attempt - 1] ?? RETRY_S.at(-1)!

/** A claimed refund or withdrawal. */
export type Claim<T> = {
  order: T
  /** Whether the bank may have got the order before, from this worker or from another. */
  orderedBefore: boolean
}

/**
 * Whether an order, `d` in SQL, may be carried out. If a company's books differ from its bank's, no
 * money leaves it until somebody has looked.
 */
export const MAY_BE_ORDERED = `d.status = 'PROCESSING' and not exists (
  select from audits a where a.company_id = d.company_id and a.difference is not null)`

/**
 * Whether a withdrawal may be carried out. No money leaves a suspended company, except what its
 * bank may already have been ordered to send: there the outcome must be known.
 */
export const MAY_BE_PAID_OUT = `${MAY_BE_ORDERED} and (d.ordered_at is not null or not exists (
  select from companies c where c.id = d.company_id and c.suspended_at is not null))`

/** Which orders are claimed, and how their rows are read. `last` are those that others precede. */
type Orders<R extends Row, T> = {
  table: string
  where: string
  last?: string
  toOrder: (row: R) => T
}

/**
 * Claims due refunds or withdrawals. Each is marked as ordered here, before the bank gets the
 * order, so that whoever claims it later asks the bank first.
 */
export async function claimOrders<R extends Row, T>(
  tx: Tx,
  { table, where, last, toOrder }: Orders<R, T>,
  request: ClaimRequest,
): Promise<Claim<T>[]> {
  const rows = await claimRows<R & { ordered_before: boolean }>(
    tx,
    {
      table,
      key: 'id',
      dueAt: 'next_attempt_at',
      where,
      ...(last ? { last } : {}),
      before: 'd.ordered_at is not null as ordered_before',
      set: ['attempts = attempts + 1', 'ordered_at = coalesce(d.ordered_at, claimed.now)'],
      returning: 'd.*, claimed.ordered_before',
    },
    request,
  )
  return rows.map((row) => ({ order: toOrder(row), orderedBefore: row.ordered_before }))
}

/** A request for orders that are due now, of all companies but some, or only of one. */
export const dueNow = (
  { systemClock }: { systemClock: Clock },
  max: number,
  only: Uuid | null,
  except: Uuid[],
): ClaimRequest => ({ now: systemClock.now(), lease_s: LEASE_S, max, only, except })

/** Money to move through a bank. Our id makes it one order, however often it is given. */
type BankOrder<T> = {
  log: Log
  orderedBefore: boolean
  find(): Promise<Outcome<T | null>>
  order(): Promise<Outcome<T>>
}

/**
 * Has an order carried out once. If the bank may have got it before, asks what became of it, and
 * orders again only if the bank never got it. If the bank fails to answer, the outcome is unknown.
 */
export async function carryOut<T>({
  log,
  orderedBefore,
  find,
  order,
}: BankOrder<T>): Promise<Outcome<T>> {
  try {
    const found = orderedBefore ? await find() : null
    if (found === null) return await order()
    if (found.kind !== 'accepted') return found
    return found.value === null ? await order() : { kind: 'accepted', value: found.value }
  } catch (error) {
    log.error(describeError(error), 'the bank could not be spoken to')
    return { kind: 'unknown', reason: 'the bank could not be spoken to' }
  }
}
