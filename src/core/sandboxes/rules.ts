import { problem } from '../../lib/problems.ts'

/** How many sandboxes of a company there are at once, until they are removed. */
export const MAX_SANDBOXES = 20
/** For how many seconds one may be used. */
export const [MIN_LIFETIME_S, MAX_LIFETIME_S] = [60, 86_400]

/**
 * Seconds after its end in which it is not removed, longer than what a request, a task or an audit
 * does that has begun before; and those until it is, with the two rounds of the task around them.
 */
export const [GRACE_S, REMOVED_S] = [120, 240]

/** How often sandboxes are made: by a company, and from an address. */
export const [NEW_SANDBOX_S, NEW_SANDBOXES] = [30, MAX_SANDBOXES]

export const tooMany = (wait_s: number) =>
  problem(
    'rate_limited',
    `A company has at most ${MAX_SANDBOXES} sandboxes until they are removed, some minutes after DELETE /sandbox or their end.`,
    { 'Retry-After': String(Math.max(1, wait_s)) },
  )

export const tooOften = (wait_s: number) =>
  problem('rate_limited', 'Too many sandboxes are made. Use one for several tests, or wait.', {
    'Retry-After': String(Math.ceil(wait_s)),
  })

export const onlyMaker = () =>
  problem(
    'sandbox_only',
    'A sandbox that POST /sandbox has made makes no others. Use the key of the company that has made it.',
  )

export const notRemovable = () =>
  problem('sandbox_only', 'Only a sandbox that POST /sandbox has made can be removed.')
