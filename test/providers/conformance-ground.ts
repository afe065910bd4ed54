import type { Uuid } from '../../src/lib/ids.ts'
import type { Payee, Payouts, PixReturn, Provider } from '../../src/provider/port.ts'
import type { ManualClock } from '../support/api.ts'

/** A bank, a payee who has an account there, and people who pay. */
export type Ground = {
  provider: Provider
  /** Null where the bank sends no money. */
  payouts: Payouts | null
  /** Whether it knows of a charge that it was paid when it is to be removed. */
  remembers: boolean
  /** Whether it says how the amount of a charge with a due date came about. */
  namesParts: boolean
  /** Whether the bank has Pix Automático. */
  agrees: boolean
  payee: Payee
  clock: ManualClock
  /** Pays a code, and returns the end-to-end id. */
  pay(brCode: string, amount: number): Promise<string>
  /** Pays what is to be paid today for a charge with a due date, which is this amount. */
  payDue(brCode: string, amount: number): Promise<string>
  payKey(amount: number): Promise<string>
  /** Returns money of a payment without an order. */
  returnByItself(endToEndId: string, amount: number): Promise<PixReturn>
  /** What payers dispute. Null where the bank tells of no disputes. */
  disputes: {
    open(endToEndId: string, amount: number): Promise<string>
    decide(id: string, decision: 'WON' | 'LOST' | 'CANCELED'): Promise<void>
  } | null
  decide(agreement: { id: Uuid; brCode: string }, decision: Decision): Promise<void>
  /** What payers' banks do today. */
  collect(pays: boolean): Promise<void>
  /** What is asked meanwhile does not reach the bank: a gateway answers with 404. */
  withoutRoute(ask: () => Promise<void>): Promise<void>
  /** Asserts that nothing went wrong that no answer has shown. */
  verify(): void
}

export type Decision = 'approve' | 'reject' | 'cancel'
export type Open = () => Promise<Ground>

export type Guarantee = (words: string, act: (ground: Ground) => Promise<void>) => unknown

/** Everything from an hour ago to an hour from now. */
export const around = ({ clock }: Ground) => ({
  from: new Date(clock.now().getTime() - 3_600_000),
  to: new Date(clock.now().getTime() + 3_600_000),
})

export const idsOf = (pix: { endToEndId: string }[]): string[] =>
  pix.map(({ endToEndId }) => endToEndId).sort()
