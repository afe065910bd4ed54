import { cannotWrite, openPool } from './database.ts'

/** Asks a database now and then whether it can be written to, by a connection of its own. */
export type Probe = {
  /** What keeps the database from being written to, or null. It never throws, and ends in time. */
  fault(): Promise<string | null>
  close(): Promise<void>
}

export const SILENT = 'The database does not answer.'

/**
 * Writes without changing anything. The connection is not one of those that requests use: if they
 * are all busy, the database is still there. Those who ask at the same time share one answer.
 */
export function openProbe(url: string, patience_ms: number): Probe {
  const pool = openPool(url, 1, '', {
    application_name: 'vintem probe',
    connectionTimeoutMillis: patience_ms,
    query_timeout: patience_ms,
    statement_timeout: patience_ms,
    lock_timeout: patience_ms,
  })
  let asking: Promise<string | null> | undefined
  let closing: Promise<void> | undefined
  const ask = async (): Promise<string | null> => {
    try {
      await pool.query('update installation set last_position = last_position')
      return null
    } catch (error) {
      return cannotWrite(error) ? describeRefusal((error as { code: string }).code) : SILENT
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
export type Pulse = {
  /** It never throws, and ends in time. A refusal is an answer too. */
  answers(): Promise<boolean>
  close(): Promise<void>
}

export function openPulse(url: string, patience_ms: number): Pulse {
  const pool = openPool(url, 1, '', {
    application_name: 'vintem pulse',
    connectionTimeoutMillis: patience_ms,
    query_timeout: patience_ms,
  })
  let closing: Promise<void> | undefined
  return {
    async answers() {
      try {
        await pool.query('select 1')
        return true
      } catch (error) {
        return !/timeout/i.test((error as Error).message)
      }
    },
    close() {
      closing ??= pool.end()
      return closing
    },
  }
}

/** Why nothing can be written, by the SQLSTATE of the refusal. */
export function describeRefusal(code: string): string {
  if (code === '25006') return 'The database is read-only: nothing can be written.'
  if (code === '53100') return 'The disk of the database is full: nothing can be written.'
  return `The database cannot be written to (SQLSTATE ${code}).`
}
