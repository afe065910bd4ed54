import { setTimeout as pause } from 'node:timers/promises'
import { cannotWrite, openPool } from './database.ts'

/** Asks a database now and then whether it can be written to, by a connection of its own. */
export type Probe = {
  /** What keeps the database from being written to, or null. It never throws, and ends in time. */
  fault(): Promise<string | null>
  close(): Promise<void>
}

export const NO_ANSWER = 'The database does not answer.'

/**
 * Writes without changing anything. The connection is not one of those that requests use: if they
 * are all busy, the database is still there. Those who ask at the same time share one answer.
 */
export function openProbe(url: string, timeout_ms: number): Probe {
  const pool = openPool(url, 1, '', {
    application_name: 'vintem probe',
    connectionTimeoutMillis: timeout_ms,
    query_timeout: timeout_ms,
    statement_timeout: timeout_ms,
    lock_timeout: timeout_ms,
  })
  let asking: Promise<string | null> | undefined
  let closing: Promise<void> | undefined
  const ask = async (): Promise<string | null> => {
    try {
      await pool.query('update installation set last_position = last_position')
      return null
    } catch (error) {
      return cannotWrite(error) ? describeRefusal((error as { code: string }).code) : NO_ANSWER
    }
  }
  return {
    fault() {
      asking ??= ask().finally(() => {
        asking = undefined
      })
      return asking
    },
    close() {
      closing ??= pool.end()
      return closing
    },
  }
}

/** Asks a database whether it answers anything at all. */
export type Ping = {
  /** It never throws, and ends in time. A refusal is an answer too. */
  answers(): Promise<boolean>
  close(): Promise<void>
}

/** A connection that does not answer is replaced after so many times the timeout. */
const REPLACED_AFTER = 5

export function openPing(url: string, timeout_ms: number): Ping {
  const pool = openPool(url, 1, '', {
    application_name: 'vintem ping',
    connectionTimeoutMillis: REPLACED_AFTER * timeout_ms,
    query_timeout: REPLACED_AFTER * timeout_ms,
  })
  let closing: Promise<void> | undefined
  const ask = () =>
    pool.query('select 1').then(
      () => true,
      (error: Error) => !/timeout/i.test(error.message),
    )
  return {
    async answers() {
      const waiting = new AbortController()
      const late = waitInSteps(timeout_ms, waiting.signal).then(() => false)
      const answered = await Promise.race([ask(), late])
      waiting.abort()
      return answered
    },
    close() {
      closing ??= pool.end()
      return closing
    },
  }
}

const STEP_MS = 50

/**
 * Waits for so long, in steps. A process that gets little of the processor is late with each step,
 * so it waits longer for what it has had no time to read.
 */
async function waitInSteps(ms: number, signal: AbortSignal): Promise<void> {
  for (let left_ms = ms; left_ms > 0 && !signal.aborted; left_ms -= STEP_MS) await pause(STEP_MS)
}

/** Why nothing can be written, by the SQLSTATE of the refusal. */
export function describeRefusal(code: string): string {
  if (code === '25006') return 'The database is read-only: nothing can be written.'
  if (code === '53100') return 'The disk of the database is full: nothing can be written.'
  return `The database cannot be written to (SQLSTATE ${code}).`
}
