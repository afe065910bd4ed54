import type { Cents } from '../lib/money.ts'

/**
 * The largest amount one charge may carry, R$ 9.999.999.999,99: what a BR Code's field 54 can
 * write.
 */
export const MAX_AMOUNT = 999_999_999_999 as Cents
/** The smallest amount of a dynamic charge or a payment link, R$ 5,00. */
export const MIN_CHARGE = 500 as Cents
