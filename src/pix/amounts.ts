import type { Cents } from '../lib/money.ts'

/** The largest amount of a charge, R$ 9.999.999.999,99. Field 54 of a BR Code holds no more. */
export const MAX_AMOUNT = 999_999_999_999 as Cents
/** The smallest amount of a dynamic charge or a payment link, R$ 5,00. */
export const MIN_CHARGE = 500 as Cents
