import type { Row, Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError, type Log } from '../lib/log.ts'
import type { Outcome } from '../provider/port.ts'
import { claimDue, type DueKind, type DueRequest } from './due.ts'

/** How long after an attempt without an answer the bank is asked again; the last one repeats. */
const RETRY_S = [5, 30, 120, 600, 1800]

export const retryIn_s = (attempt: number): number => RETRY_S[attempt - 1] ?? RETRY_S.at(-1)!

/** A claimed refund or withdrawal. */
export type Claim<T> = {
  companyId: Uuid
  order: T
  /** Whether the bank may have got the order before, from this worker or from another. */
  orderedBefore: boolean
}

/**
 * Refunds or withdrawals that banks are ordered to send. Each is marked as ordered when it is
 * claimed, before the bank gets the order, so that whoever claims it later asks the bank first. If
 * a company's books differ from its bank's, no money leaves it until somebody has looked.
 */
export const dueOrders = (name: string, table: 'refunds' | 'withdrawals'): DueKind => ({
  name,
  table,
  key: 'id',
  dueAt: 'next_attempt_at',
  where: `d.status = 'PROCESSING'`,
  except: () => BOOKS_DIFFER,
  before: 'd.ordered_at is not null as ordered_before',
  set: ['attempts = attempts + 1', 'ordered_at = coalesce(d.ordered_at, f.now)'],
})

export const BOOKS_DIFFER = `exists (
  select from audits a where a.company_id = d.company_id and a.difference is not null)`

/** Claims due orders. `toOrder` reads a row. */
export async function claimOrders<R extends Row, T extends { companyId: Uuid }>(
  tx: Tx,
  kind: DueKind,
  request: DueRequest,
  toOrder: (row: R) => T,
): Promise<Claim<T>[]> {
  const returning = 'd.*, f.ordered_before'
  const rows = await claimDue<R & { ordered_before: boolean }>(tx, kind, request, returning)
  return rows.map((row) => {
    const order = toOrder(row)
    return { companyId: order.companyId, order, orderedBefore: row.ordered_before }
  })
}

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
