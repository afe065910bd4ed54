/** An error of the client, whose class may be that of another copy. */
type Answer = Error & { status: number; code: string }

const isAnswered = (error: unknown): error is Answer =>
  error instanceof Error && 'status' in error && 'code' in error

/** Whether Vintém has answered with this. */
export const isAnswer = (error: unknown, status: number, code: string): error is Answer =>
  isAnswered(error) && error.status === status && error.code === code

/**
 * Whether Vintém refuses what the shop's customer or operator can correct. While the same request is
 * still under way, nobody knows yet.
 */
export const isRefusal = (error: unknown): error is Answer =>
  isAnswered(error) &&
  (error.status === 400 || (error.status === 409 && error.code !== 'idempotency_in_progress'))
