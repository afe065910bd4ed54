import type { Cents } from '../../lib/money.ts'
import type { Outcome } from '../port.ts'

/** With these amounts an integrator can see what happens if a bank refuses or does not answer. */
export const REFUSED_AMOUNT = 66_666
export const UNANSWERED_AMOUNT = 55_555

export const accept = <T>(value: T): Outcome<T> => ({ kind: 'accepted', value })

export const reject = (reason: string): Outcome<never> => ({ kind: 'rejected', reason })

export const refused = ({ amount }: { amount: Cents }): string | null =>
  amount === REFUSED_AMOUNT ? 'the simulated bank refuses this amount' : null

/** The order is carried out in any case. For one amount the answer is lost. */
export const answer = <T>({ amount }: { amount: Cents }, value: T): Outcome<T> =>
  amount === UNANSWERED_AMOUNT ? { kind: 'unknown', reason: 'no answer in time' } : accept(value)
