import { describeError, type Log } from '../lib/log.ts'
import type { Outcome } from '../provider/port.ts'

/** How long an order is left to who took it up: longer than a bank is waited for. */
export const LEASE_S = 60

/** How long after an unanswered order the bank is asked again; the last stands for all later. */
const RETRY_S = [5, 30, 120, 600, 1800]

export const retryIn_s = (attempt: number): number => RETRY_S[attempt - 1] ?? RETRY_S.at(-1)!

/** Money to move through a bank, told and asked about under an id of ours. */
export type Order<T> = {
  log: Log
  /** Whether the bank may have been told before; written down before it is first told. */
  orderedBefore: boolean
  find(): Promise<Outcome<T | null>>
  order(): Promise<Outcome<T>>
}

/**
 * Gets an order carried out once. Who may have told the bank before asks what became of it, and
 * tells it again only when it never got it. A bank that fails to answer has said nothing yet.
 */
export async function carryOut<T>({
  log,
  orderedBefore,
  find,
  order,
}: Order<T>): Promise<Outcome<T>> {
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
