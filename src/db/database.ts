import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Problem, problem } from '../lib/problems.ts'

// Money is bigint in the database and stays below 2^53 by constraint, so numbers carry it exactly.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
export type Row = Record<string, unknown>
export type Query = { name?: string; text: string; values?: unknown[] }

/** What a store needs: something that answers queries, a transaction or the pool itself. */
export type Tx = {
  query<R extends Row = Row>(query: Query): Promise<R[]>
  /** Wakes a task once what is written here is committed, for there is work for it. */
  wake(task: string): void
}

/**
 * A statement outside a transaction may be sent again when its connection is lost, so it must be
 * one that can be repeated: a read, or a write that skips what already stands.
 */
export type Database = Tx & {
  /** For the few statements that carry the load, whose plan never depends on their parameters. */
  hot: Tx
  /**
   * For what a power cut may take back because it is then simply done again: its commits do not
   * wait for the disk. Rows are found by key or place, whatever the planner believes of a table's
   * size.
   */
  light: Tx
  /**
   * One command, one transaction. Retried as a whole where the database says so; never around the
   * network.
   */
  transaction<R>(act: (tx: Tx) => Promise<R>): Promise<R>
  pools: { plain: pg.Pool; hot: pg.Pool; light: pg.Pool }
  /** The SQLSTATE by which the server has just refused to write, or null. */
  refusedWrite(): string | null
  end(): Promise<void>
}

/** How long a request waits for a database that is away before it is told so. */
const PATIENCE_MS = 5_000
const LOCK_TIMEOUT_MS = 3_000
const MOST_ATTEMPTS = 5
const HOT_CONNECTIONS = 4
const LIGHT_CONNECTIONS = 3
/** Compiling a plan takes longer than running it: our statements touch few rows. */
const NO_JIT = '-c jit=off'
const GENERIC = '-c plan_cache_mode=force_generic_plan'
const BY_KEY = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'
const STATEMENT_TIMEOUT_MS = 30_000

const RETRY_TRANSACTION = new Set(['40001', '40P01'])
const DATABASE_AWAY = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '08000',
  '08003',
  '08006',
  '08001',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  '53300', // too_many_connections
])

/** The server answers but cannot write: it is read-only, or its disk or memory is full. */
export const cannotWrite = (error: unknown): boolean =>
  /^(25006|53(?!300)|58030)/.test(codeOf(error))

const codeOf = (error: unknown): string => (error as { code?: string } | undefined)?.code ?? ''

function isAway(error: unknown): boolean {
  const message = error instanceof Error ? error.message : ''
  return (
    DATABASE_AWAY.has(codeOf(error)) ||
    /Connection terminated|timeout exceeded|not queryable|Query read timeout/.test(message)
  )
}

/** The violated unique index, or null when the error is something else. */
export function violatedConstraint(error: unknown): string | null {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === '23505' ? (constraint ?? '') : null
}

/** Thrown in a transaction that another one has overtaken: it is run again from its beginning. */
export const overtaken = (): Error =>
  Object.assign(new Error('another transaction was faster'), { code: '40001' })

/** Whether a row is at fault, by its value, a constraint or a lock on it, and not the database. */
export const isOfRows = (error: unknown): boolean => /^(2[23]|55P03)/.test(codeOf(error))

export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'

export function openDatabase(
  url: string,
  size: number,
  wake: (task: string) => void = () => {},
): Database {
  const pool = openPool(url, size)
  // Planned once a connection: planning a group's statement anew takes as long as several rows.
  const hot = openPool(url, HOT_CONNECTIONS, GENERIC)
  const light = openPool(url, LIGHT_CONNECTIONS, `${GENERIC} ${BY_KEY} -c synchronous_commit=off`)
  const { noting, refusedWrite } = noteRefusals()
  const queryOn =
    (one: pg.Pool): Tx['query'] =>
    (query) =>
      noting(repeatWhileAway(() => runOn(one, query)))
  return {
    pools: { plain: pool, hot, light },
    refusedWrite,
    light: { query: queryOn(light), wake },
    hot: { query: queryOn(hot), wake },
    query: queryOn(pool),
    wake,
    transaction: (act) => noting(transact(pool, act, wake)),
    async end() {
      await Promise.all([pool.end(), hot.end(), light.end()])
    },
  }
}

/** How long a refused write is remembered. */
const REMEMBERED_MS = 10_000

/** Remembers a write that the server has refused: a full disk still takes some, but not all. */
function noteRefusals() {
  let last = { code: '', at_ms: Number.NEGATIVE_INFINITY }
  return {
    async noting<R>(work: Promise<R>): Promise<R> {
      try {
        return await work
      } catch (error) {
        const { cause } = error as Error
        if (cannotWrite(cause)) last = { code: codeOf(cause), at_ms: performance.now() }
        throw error
      }
    },
    refusedWrite: () => (performance.now() - last.at_ms < REMEMBERED_MS ? last.code : null),
  }
}

/** Settings that DATABASE_URL asks for itself would replace ours, so ours are added to them. */
function withSettings(url: string, settings: string): string {
  const address = new URL(url)
  const own = address.searchParams.get('options')
  address.searchParams.set('options', own ? `${own} ${settings}` : settings)
  return address.href
}

export function openPool(
  url: string,
  size: number,
  settings = '',
  limits: pg.PoolConfig = {},
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: withSettings(url, `${NO_JIT} ${settings}`.trim()),
    max: size,
    application_name: 'vintem',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // The server keeps the first limit; this one is for a server that has fallen silent.
    query_timeout: STATEMENT_TIMEOUT_MS + PATIENCE_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    connectionTimeoutMillis: PATIENCE_MS,
    keepAlive: true,
    ...limits,
  })
  // An idle connection that the server closes is replaced on next use; it must not end the process.
  pool.on('error', () => {})
  return pool
}

async function runOn<R extends Row>(
  client: { query: pg.Pool['query'] | pg.PoolClient['query'] },
  query: Query,
): Promise<R[]> {
  const result = await (client as pg.Pool).query<R>(query as pg.QueryConfig)
  return result.rows
}

async function transact<R>(
  pool: pg.Pool,
  act: (tx: Tx) => Promise<R>,
  wake: (task: string) => void,
): Promise<R> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await repeatWhileAway(() => pool.connect())
    const progress = { committing: false }
    const woken = new Set<string>()
    let lost: Error | undefined
    // The pool listens only to idle connections; one that is cut in our hands must not end the
    // process.
    const notice = (error: Error) => {
      lost = error
    }
    client.on('error', notice)
    try {
      await client.query('begin')
      const result = await act({
        query: (query) => runOn(client, query),
        wake: (task) => woken.add(task),
      })
      progress.committing = true
      await client.query('commit')
      for (const task of woken) wake(task)
      return result
    } catch (error) {
      await client.query('rollback').catch((fault: Error) => {
        lost = fault
      })
      if (attempt >= MOST_ATTEMPTS || !mayRetry(error, progress)) throw told(error)
    } finally {
      client.off('error', notice)
      client.release(lost)
    }
  }
}

/** Before the commit a lost connection has undone everything; during it, nobody knows. */
function mayRetry(error: unknown, { committing }: { committing: boolean }): boolean {
  return RETRY_TRANSACTION.has(codeOf(error)) || (isAway(error) && !committing)
}

/** What the operator is to know of it stays with it. */
const refusedWrite = (error: unknown): Problem =>
  Object.assign(
    problem('service_unavailable', 'The database cannot be written to. Try again later.'),
    { cause: error },
  )

/** What a client may hear of an operating fault; anything else is passed on as it is. */
function told(error: unknown): unknown {
  if (isAway(error)) return problem('service_unavailable')
  if (cannotWrite(error)) return refusedWrite(error)
  const busy = isLockTimeout(error) || codeOf(error) === '57014'
  return busy ? problem('service_unavailable', 'The record is busy. Try again in a moment.') : error
}

/** Waits out a database that restarts, a few seconds at most. */
async function repeatWhileAway<R>(work: () => Promise<R>): Promise<R> {
  const deadline = performance.now() + PATIENCE_MS
  for (let wait_ms = 20; ; wait_ms = Math.min(wait_ms * 2, 250)) {
    try {
      return await work()
    } catch (error) {
      const passing = isAway(error) || RETRY_TRANSACTION.has(codeOf(error))
      if (!passing) throw cannotWrite(error) ? told(error) : error
      if (performance.now() + wait_ms > deadline) throw told(error)
      await pause(wait_ms)
    }
  }
}
