import pino from 'pino'

export type Log = pino.Logger

/**
 * Lines are built from named fields, never from whole requests or errors of the database, so that
 * no payer's data and no key can slip in. The destination gathers lines; a crash flushes what it
 * holds.
 */
export function createLog(level: string): Log {
  const destination = pino.destination({ fd: 1, sync: false, minLength: 4096, periodicFlush: 500 })
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}

/** What may be said of an unexpected error: its name, code and place, but not the values in it. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { code, constraint, table } = error as {
    code?: string
    constraint?: string
    table?: string
  }
  // A database error's message may quote the offending value; our own messages never do.
  const fromDatabase = 'severity' in error
  return {
    error: error.name,
    message: fromDatabase ? undefined : error.message,
    code,
    constraint,
    table,
    stack: error.stack?.split('\n').slice(1, 12).join('\n'),
  }
}
