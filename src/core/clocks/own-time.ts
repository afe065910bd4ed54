import type { Uuid } from '../../lib/ids.ts'

/**
 * Parts of statements that find due work. `$1` is the real now. Work of companies without a
 * clock is found by an index over all of them; work of a company with a clock `t` is found company by
 * company, for it is compared with the company's own now.
 */

/** Whether the company of a row lives in real time. */
export const hasNoClock = (rows: string): string =>
  `not exists (select from test_clocks t where t.company_id = ${rows}.company_id)`

const AHEAD = `t.ahead_ms * interval '1 millisecond'`

/** The now of the company whose clock is `t`. */
export const NOW = `($1::timestamptz + ${AHEAD})`

/**
 * Whether a moment has come by the clock `t`. Written so that no index over the moments of all
 * companies fits: one by company does.
 */
export const isDueByClock = (moment: string): string => `${moment} - $1::timestamptz <= ${AHEAD}`

/**
 * A sweep for everybody leaves those alone whose clock is being moved: they are played one by one,
 * by the same statement for one company.
 */
export const clockFilter = (only: Uuid | null, parameter: string): string =>
  only === null ? 't.target is null' : `t.company_id = ${parameter}`

/** The companies that due work is looked for, and the values that this adds to a statement. */
export const valuesOf = (only: Uuid | null): Uuid[] => (only === null ? [] : [only])
