import type pg from 'pg'
import { cannotWrite, isUnknown, NoPrimary } from './away.ts'
import { openPool } from './pool.ts'
import { serversOf } from './servers.ts'

/** Asks a database now and then whether it can be written to, by a connection of its own. */
export type Probe = {
  /** What keeps the database from being written to, or null. It never throws, and ends in time. */
  fault(): Promise<string | null>
  close(): Promise<void>
}

export const NO_ANSWER = 'The database does not answer.'
const NOT_CONFIRMED = 'No standby confirms what is written to the database.'
const NO_PRIMARY = 'None of the database servers accepts writes.'

/** Writes without changing anything. */
const WRITE = 'update installation set secret_key_id = secret_key_id'
/** Is committed, and so waits for the standby, without a row that another would wait for. */
export const CONFIRM = `select pg_logical_emit_message(true, 'vintem', '')`

/** SQL: our connections that have committed, and wait for the standby to confirm it. */
const WAITING = `from pg_stat_activity where usename = current_user
  and application_name like 'vintem%' and wait_event = 'SyncRep'`

/**
 * The connection is not one of those that requests use: if they are all busy, the database is still
 * there. Those who ask at the same time share one answer.
 */
export function openProbe(url: string, timeout_ms: number): Probe {
  // If the write is late, there is time left to look why.
  const write_ms = Math.floor(timeout_ms * 0.75)
  const pool = openPool(url, 1, '', {
    isProbe: true,
    application_name: 'vintem probe',
    connectionTimeoutMillis: Math.floor(timeout_ms * 0.5),
    query_timeout: write_ms,
    // Less, so that the server has the time to say what it has waited for.
    statement_timeout: Math.floor(write_ms * 0.8),
    lock_timeout: Math.floor(write_ms * 0.8),
  })
  let asking: Promise<string | null> | undefined
  let closing: Promise<void> | undefined
  const ask = async (): Promise<string | null> => {
    try {
      await pool.query(WRITE)
      return null
    } catch (error) {
      if (error instanceof NoPrimary) return NO_PRIMARY
      if (isUnknown(error)) return NOT_CONFIRMED
      if (cannotWrite(error)) return describeRefusal((error as { code: string }).code)
      return whyLate()
    }
  }
  /** Nothing but the standby lets a commit wait, and no other limit of PostgreSQL ends that. */
  const whyLate = async (): Promise<string> => {
    const { rowCount } = await pool
      .query(`select ${WAITING} limit 1`)
      .catch(() => ({ rowCount: 0 }))
    return rowCount === 0 ? NO_ANSWER : NOT_CONFIRMED
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

/**
 * What a ping finds: the database answers, it answers but no standby confirms what is written, or
 * it is silent.
 */
export type Pulse = 'answers' | 'unconfirmed' | 'silent'

/** Asks a database whether it answers anything at all. */
export type Ping = {
  /** It never throws. A refusal is an answer too. */
  ask(): Promise<Pulse>
  /** The connection by which it asks. */
  pool: pg.Pool
  close(): Promise<void>
}

/** How long the server may take. Whoever asks waits less. */
const PING_MS = 6_000

/**
 * Looks for commits, of all processes, that have waited too long for the standby. They are left
 * alone: the server hides their rows from everybody, and would show them if it did not wait. Those
 * that change nothing are ended, because no limit of a statement does that, and more follow. The
 * result is null if there is no standby to wait for, or how many are late and how many were ended.
 */
const PING = `select case when current_setting('synchronous_standby_names') <> '' then (
    select array[count(*)::int,
      count(case when query in ($$${WRITE}$$, $$${CONFIRM}$$)
        then pg_cancel_backend(pid) end)::int]
    ${WAITING} and query_start < clock_timestamp() - interval '10 seconds') end as late`

export function openPing(url: string): Ping {
  const { setReplicated } = serversOf(url)
  const pool = openPool(url, 1, '', {
    isProbe: true,
    application_name: 'vintem ping',
    connectionTimeoutMillis: PING_MS,
    query_timeout: PING_MS,
    statement_timeout: PING_MS,
  })
  let closing: Promise<void> | undefined
  return {
    pool,
    async ask() {
      try {
        const { rows } = await pool.query<{ late: [number, number] | null }>(PING)
        const { late } = rows[0]!
        setReplicated(late !== null)
        return late !== null && late[0] > 0 ? 'unconfirmed' : 'answers'
      } catch (error) {
        return /timeout/i.test((error as Error).message) ? 'silent' : 'answers'
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
