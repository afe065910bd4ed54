import pino from 'pino'
import { createLogOutput } from './log-output.ts'

export type Log = Omit<pino.Logger, 'flush'> & {
  /** Writes what waits, for `timeout_ms` at most. False if the system still hangs in a write. */
  flush(timeout_ms: number): Promise<boolean>
  /** Writes the line of a request; its fields but the caller's are ours, and need no escaping. */
  request(line: RequestLine): void
}

type RequestLine = {
  reqId: string
  op: string
  status: number
  ms: number
  company: string | undefined
  key: string | undefined
  /** What the caller calls the request, and the trace that it belongs to. */
  callerId: string | undefined
  traceparent: string | undefined
}

/**
 * Lines are built from named fields, never from whole requests or errors of the database, so that
 * no payer's data and no key can get in. If there are several processes, each line names its own.
 */
export function createLog(level: string, processName?: string): Log {
  const isOneOfSeveral = processName !== undefined
  const output = createLogOutput(1, isOneOfSeveral)
  const log = pino({ level, base: isOneOfSeveral ? { process: processName } : null }, output)
  const named = isOneOfSeveral ? `,"process":"${processName}"` : ''
  const info = log.levels.values.info
  // There is one such line for every request: those of a tick of the event loop go out together.
  let lines = ''
  const write = () => {
    output.write(lines)
    lines = ''
  }
  const request = ({ reqId, op, status, ms, company, key, ...caller }: RequestLine) => {
    if (!log.isLevelEnabled('info')) return
    if (lines === '') setImmediate(write)
    const who = company === undefined ? '' : `,"company":"${company}","key":"${key}"`
    const start = `{"level":${info},"time":${Date.now()}${named}`
    const head = `${start},"reqId":"${reqId}","op":"${op}"`
    const { callerId, traceparent } = caller
    const own = callerId === undefined ? '' : `,"callerId":${JSON.stringify(callerId)}`
    const trace = traceparent === undefined ? '' : `,"traceparent":"${traceparent}"`
    lines += `${head},"status":${status},"ms":${ms}${who}${own}${trace}}\n`
  }
  const flush = async (timeout_ms: number) => {
    if (lines !== '') write()
    return output.flush(timeout_ms)
  }
  return Object.assign(log, { request, flush })
}

/** What may be said of an unexpected error: its name, code and origin, not the values in it. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { code, constraint, table, cause } = error as {
    code?: string
    constraint?: string
    table?: string
    cause?: unknown
  }
  // A database error's message may quote the offending value; our own messages never do.
  const fromDatabase = 'severity' in error
  return {
    error: error.name,
    message: fromDatabase ? undefined : error.message,
    code,
    constraint,
    table,
    cause: causeOf(cause),
    stack: error.stack?.split('\n').slice(1, 12).join('\n'),
  }
}

/** The cause of an error: its code, or else its message if that quotes nothing. */
function causeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined
  const { code } = cause as { code?: string }
  return code ?? ('severity' in cause ? cause.name : cause.message)
}
