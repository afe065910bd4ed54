/**
 * A failed assertion is a bug: it becomes a 500 and a log line, never an answer a client can rely
 * on.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
