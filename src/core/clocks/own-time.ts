import type { Uuid } from '../../lib/ids.ts'

/**
 * Parts of statements that find due work. `$1` is the real time. Work of companies without a clock
 * is found by an index over all companies. Work of companies with a clock `t` is found company by
 * company, because it is compared with the time of that company.
 */

/** Whether the company of a row has no clock of its own. */
export const hasNoClock = (rows: string): string =>
  `not exists (select from test_clocks t where t.company_id = ${rows}.company_id)`

const AHEAD = `t.ahead_ms * interval '1 millisecond'`

/** The present time of the company whose clock is `t`. */
export const NOW = `($1::timestamptz + ${AHEAD})`

/**
 * Whether a moment is due by the clock `t`. It is written so that PostgreSQL uses an index by
 * company, not one over the moments of all companies.
 */
export const isDueByClock = (moment: string): string => `${moment} - $1::timestamptz <= ${AHEAD}`

/**
 * A sweep over all companies skips those whose clock is advancing. For these the worker runs the
 * same statement company by company.
 */
export const clockFilter = (only: Uuid | null, parameter: string): string =>
  only === null ? 't.target is null' : `t.company_id = ${parameter}`

/** The parameter that `clockFilter` adds to a statement. */
export const valuesOf = (only: Uuid | null): Uuid[] => (only === null ? [] : [only])
