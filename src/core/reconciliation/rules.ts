/** Periods overlap by so much, because banks list a payment a little later than they book it. */
export const OVERLAP_MS = 600_000
