import type { Part } from '../../ledger/recipients.ts'
import { assert } from '../../lib/assert.ts'
import type { Cents } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import { type Charge, receivedOf, type Split, type SplitTerm } from './rules.ts'

/** All of it, in hundredths of a percent. */
export const WHOLE = 10_000
export const MAX_RECIPIENTS = 10

/** What is wrong with a split by itself. Its schema was not checked yet. */
export function splitFaults({ split }: Record<string, unknown>): (string | null)[] {
  const terms = Array.isArray(split) ? split.slice(0, MAX_RECIPIENTS) : []
  const ids = terms.map((term) => term?.recipientId)
  const percents = terms.reduce((sum, term) => sum + (Number(term?.percent) || 0), 0)
  const all =
    percents > WHOLE ? `split: its percentages are ${percents} together, more than ${WHOLE}` : null
  const single = terms.flatMap((term, i) => {
    const hasAmount = term?.amount !== undefined
    const hasPercent = term?.percent !== undefined
    return [
      hasAmount && hasPercent ? `split[${i}].percent: send it or amount, not both` : null,
      hasAmount || hasPercent ? null : `split[${i}].amount: send it, or percent`,
      ids[i] !== undefined && ids.indexOf(ids[i]) < i
        ? `split[${i}].recipientId: is named before; send one part for each recipient`
        : null,
    ]
  })
  return [...single, all]
}

/** Throws if the parts of an amount are more than it. */
export function requireWithin({ split, amount }: Pick<Charge, 'split' | 'amount'>): void {
  const asked = split === null ? 0 : sumOfParts(split, amount)
  if (asked <= amount) return
  throw invalid(
    `split: its parts are ${asked} cents together, more than the ${amount} cents of the charge`,
  )
}

/** Whole cents of a share. The cents that are left by rounding are the company's. */
const shareOf = (whole: number, numerator: number, denominator: number): number =>
  Number((BigInt(whole) * BigInt(numerator)) / BigInt(denominator))

/** What the terms ask for of an amount, each by itself. */
const askedBy = (term: SplitTerm, amount: number): number =>
  'amount' in term ? term.amount : shareOf(amount, term.percent, WHOLE)

/** What all parts of an amount are together. */
export const sumOfParts = (split: Split, amount: number): number =>
  split.reduce((sum, term) => sum + askedBy(term, amount), 0)

/**
 * What is each recipient's of what is left of a payment. Of all that was received a fixed amount is
 * itself, and if less was received than the parts ask for, they share it in proportion. Of what is
 * left after a return each has the same proportion, in whole cents, rounded down. So the parts
 * depend only on what is left, and not on how it came to that.
 */
export function partsOf(split: Split, received: number, left: number): Part[] {
  assert(left >= 0 && left <= received, 'what is left was received')
  const asked = sumOfParts(split, received)
  return split.map((term) => {
    const own = askedBy(term, received)
    const whole = asked > received ? shareOf(received, own, asked) : own
    return {
      recipientId: term.recipientId,
      amount: left === 0 ? 0 : shareOf(left, whole, received),
    }
  })
}

/** What is each recipient's of a charge: of what is asked, or of what was paid and not returned. */
export function partsNow(charge: Charge, asked: Cents): Part[] {
  if (charge.split === null) return []
  if (charge.status !== 'COMPLETED') return partsOf(charge.split, asked, asked)
  const received = receivedOf(charge)
  return partsOf(charge.split, received, received - charge.refunded)
}

/** The fields of a charge that decide what recipients have got of it. */
export type GivenTo = Pick<
  Charge,
  | 'amount'
  | 'due'
  | 'shortfall'
  | 'refunded'
  | 'split'
  | 'status'
  | 'paymentStatus'
  | 'booked'
  | 'endToEndId'
>

/**
 * What recipients should have got of a charge in the books, if so much of it is held for a dispute.
 * Until it is released they have nothing.
 */
export function givenOf(charge: GivenTo, disputed = 0): Part[] {
  const { split, status, paymentStatus, booked, refunded } = charge
  if (split === null) return []
  const isReleased = booked && status === 'COMPLETED' && paymentStatus !== 'PAID'
  const received = receivedOf(charge)
  if (isReleased) return partsOf(split, received, Math.max(0, received - refunded - disputed))
  return split.map(({ recipientId }) => ({ recipientId, amount: 0 }))
}
