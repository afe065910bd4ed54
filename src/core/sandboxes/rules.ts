import { problem } from '../../lib/problems.ts'

/** How many sandboxes of a company there are at once. */
export const MAX_SANDBOXES = 20
/** For how many seconds one may be used. */
export const [MIN_LIFETIME_S, MAX_LIFETIME_S] = [60, 86_400]

/** How often sandboxes are made: by a company, and from an address. */
export const [NEW_SANDBOX_S, NEW_SANDBOXES] = [30, MAX_SANDBOXES]

export const tooMany = (wait_s: number) =>
  problem(
    'rate_limited',
    `A company has at most ${MAX_SANDBOXES} sandboxes. Remove one by DELETE /sandbox, or wait until one ends.`,
    { 'Retry-After': String(Math.max(1, wait_s)) },
  )

export const tooOften = (wait_s: number) =>
  problem('rate_limited', 'Too many sandboxes are made. Use one for several tests, or wait.', {
    'Retry-After': String(Math.ceil(wait_s)),
  })

export const notRemovable = () =>
  problem('sandbox_only', 'Only a sandbox that POST /sandbox has made can be removed.')
