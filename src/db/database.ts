import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { assert } from '../lib/assert.ts'
import { inSlot, takeWithin } from '../lib/fair-queue.ts'
import { createMemo } from '../lib/memo.ts'
import { type Problem, problem } from '../lib/problems.ts'
import {
  cannotWrite,
  codeOf,
  isAway,
  isLostAnswer,
  isNotSent,
  isOutdated,
  isUnknown,
} from './away.ts'
import { createConfirming } from './confirming.ts'
import { type Connections, type Kind, undivided } from './connection-counts.ts'
import {
  createHeartbeat,
  type Heartbeat,
  type Refusing,
  refuseWhileUnresponsive,
} from './heartbeat.ts'
import { createNotifier, type Notifier } from './notifier.ts'
import { RETRY_FOR_MS } from './pool.ts'
import { CONFIRM, openPing } from './probe.ts'
import { noteRefusals } from './refusals.ts'
import { type Servers, serversOf } from './servers.ts'
import { mapSources, openSources, type Source } from './sources.ts'
import { asStatement, COMMIT } from './statement-spans.ts'

// Money is bigint in the database and stays below 2^53 by constraint, so numbers carry it exactly.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
// The driver would read a day as a moment in the time zone of the machine.
pg.types.setTypeParser(pg.types.builtins.DATE, String)
// If one small Buffer of a row is kept, its whole pool is kept, and Node's default is 64 KiB.
Buffer.poolSize = 8 * 1024

export type Row = Record<string, unknown>
export type Query = { name?: string; text: string; values?: unknown[] }

/** What a store needs: something that answers queries, a transaction or the pool itself. */
export type Tx = {
  query<R extends Row = Row>(query: Query): Promise<R[]>
  /** Wakes a task once what is written here is committed, for there is work for it. */
  wake(task: string): void
  /** Calls this once what is written here is committed. It must not fail. */
  afterCommit(act: () => void): void
  /** Notifies all servers once what is written here is committed. It may be lost, if seldom. */
  notify(channel: string, payload: string): void
  /**
   * Has something written just before the commit, together with all else that the same function is
   * to write. Outside a transaction it is written at once.
   */
  beforeCommit<T>(write: LastWrite<T>, items: T[]): Promise<void>
  /** Writes now what was to be written just before the commit. */
  flush(): Promise<void>
}

/**
 * The control database: people, and where companies are. With one database it is the same as any
 * other handle.
 */
export type ControlTx = Tx & {
  /** Where the tables of a company are. */
  at(companyId: string): Tx | Promise<Tx>
  /**
   * Undoes what this transaction has done where a company is, because that does not answer, and
   * goes on without. False: it cannot, because that is its own database, or the control database.
   */
  leaveOut(place: Tx): boolean
}

/** What is done in one transaction. */
export type Act<R> = (tx: Tx, control: ControlTx) => Promise<R>

export type LastWrite<T> = (tx: Tx, items: T[]) => Promise<void>

/**
 * A statement outside a transaction may be sent again when its connection is lost, so it must be
 * one that can be repeated: a read, or a write that skips rows that exist.
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
   * network. What is written to the control database is committed first.
   */
  transaction<R>(act: Act<R>): Promise<R>
  readonly control: ControlDatabase
  /** The same database for a request of this company, which gets no more than its share of it. */
  of(companyId: string): Database
  /** The same database for tasks: they have connections of their own. */
  tasks: Database
  /** A connection that is kept for long, by whoever listens or holds a lock. */
  connect(): Promise<Connection>
  pools: Record<Kind, pg.Pool>
  /** How many wait for a connection of each kind. */
  waiting(): Record<Kind, number>
  /** The SQLSTATE by which the server has just refused to write, or null. */
  refusedWrite(): string | null
  /** Whether the database answers, whatever is asked of it. */
  heartbeat: Pick<Heartbeat, 'isUnresponsive' | 'onUnresponsive'>
  end(): Promise<void>
}

export type ControlDatabase = Omit<Database, 'transaction' | 'of' | 'tasks'> &
  ControlTx & {
    transaction<R>(act: (tx: ControlTx, control: ControlTx) => Promise<R>): Promise<R>
    of(companyId: string): ControlDatabase
    tasks: ControlDatabase
  }

export type Connection = { client: pg.PoolClient; release(isLost?: boolean): void }

/** Nobody waits for a task, and all of them connect at once when a process starts. */
const TASK_RETRY_FOR_MS = 120_000
const MAX_ATTEMPTS = 5
/** How long a request waits for a connection while others have them all, and a task. */
const REQUEST_WAIT_MS = 20_000
const TASK_WAIT_MS = 300_000
/** How many companies have their view of the database at hand. */
const MAX_COMPANIES = 1_000
const RETRY_TRANSACTION = new Set(['40001', '40P01'])

/**
 * The violated unique index, or null when the error is something else. Citus appends the number of
 * a shard, and passes on only the message of another node.
 */
export function violatedConstraint(error: unknown): string | null {
  const { code, constraint, message = '' } = error as pg.DatabaseError
  if (code !== '23505') return null
  return (constraint ?? /"([^"]+)"/.exec(message)?.[1] ?? '').replace(/_\d{6,}$/, '')
}

/** Thrown in a transaction that conflicts with another: it is run again from its beginning. */
export const serializationConflict = (): Error =>
  Object.assign(new Error('another transaction was faster'), { code: '40001' })

/**
 * Whether a row is at fault, by its value, a constraint, a lock on it or a company that moves, and
 * not the database.
 */
export const isRowError = (error: unknown): boolean =>
  /^(2[23]|55P03)/.test(codeOf(error)) || isMoving((error as Error | undefined)?.cause)

/** Whether the company of a row is changing its place; see `watch_moving_company` in the baseline. */
const isMoving = (error: unknown): boolean => codeOf(error) === 'VM001'

export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'

/** Is called after each commit. */
export type Listener = {
  wake(task: string): void
  wrote(): void
  /** How long was waited for a connection that was not free. */
  waited?(pool: string, seconds: number): void
  /** By which the server knows the connections. */
  name?: string
}
const NOBODY: Listener = { wake() {}, wrote() {} }
type AfterCommit = Listener & Pick<Notifier, 'notify'> & Pick<Servers, 'lost'>

type Parts = Pick<Tx, 'query' | 'wake' | 'notify'> & {
  /** What a transaction writes just before its commit. */
  last?: Map<LastWrite<unknown>, unknown[]>
  /** What a transaction does after its commit. */
  later?: (() => void)[]
}

/** Of one database, which has people and all companies. */
export function createTx({ query, wake, notify, last, later }: Parts): ControlTx {
  const tx: ControlTx = {
    query,
    wake,
    notify,
    afterCommit: (act) => (later ? void later.push(act) : act()),
    async beforeCommit<T>(write: LastWrite<T>, items: T[]) {
      if (!last) return write(tx, items)
      const others = last.get(write as LastWrite<unknown>) ?? []
      last.set(write as LastWrite<unknown>, [...others, ...items])
    },
    async flush() {
      const left = [...(last ?? [])]
      last?.clear()
      await Promise.all(left.map(([write, items]) => write(tx, items)))
    },
    at: () => tx,
    // Outside a transaction there is nothing to undo.
    leaveOut: () => !last,
  }
  return tx
}

/** The statements of a connection of one's own, for those who expect a transaction. */
export const txOn = (client: pg.ClientBase): ControlTx =>
  createTx({
    query: async <R extends Row>(query: Query) =>
      (await client.query<R>(query as pg.QueryConfig)).rows,
    wake() {},
    notify() {},
  })

/** It is the control database too. */
const asControl = (db: Omit<ControlDatabase, 'control'>): ControlDatabase =>
  Object.assign(db, { control: db as ControlDatabase })

/** A number of connections is one for requests, and as many again for tasks. */
type Size = number | Connections

export function openDatabase(url: string, size: Size, listener = NOBODY): ControlDatabase {
  const sources = openSources(url, typeof size === 'number' ? undivided(size) : size, listener.name)
  const { noting, refusedWrite } = noteRefusals()
  const pools = mapSources(sources, ({ pool }) => pool)
  const { lost, confirmed, ...confirming } = createConfirming(serversOf(url), {
    write: () => runAtOnce(sources.hot, { text: CONFIRM }),
    watch: () => heartbeat.watch(),
  })
  const heartbeat = openHeartbeat(url, confirming)
  const orRefused = refuseWhileUnresponsive(heartbeat)
  const notifier = createNotifier((query) => runAtOnce(sources.light, query))
  const end = async () => {
    await notifier.idle()
    await Promise.all([heartbeat.close(), ...Object.values(pools).map((pool) => pool.end())])
  }
  const afterCommit = { ...listener, notify: notifier.notify, lost }
  // Each request asks for the database of its company.
  const ofCompanies = {
    requests: createMemo<ControlDatabase>(MAX_COMPANIES),
    tasks: createMemo<ControlDatabase>(MAX_COMPANIES),
  }
  /** The database for a company, or for nobody alone, with one of the two kinds of connections. */
  function view(kind: 'requests' | 'tasks', companyId: string | null): ControlDatabase {
    const isTask = kind === 'tasks'
    const wait_ms = isTask ? TASK_WAIT_MS : REQUEST_WAIT_MS
    const retryFor_ms = isTask ? TASK_RETRY_FOR_MS : RETRY_FOR_MS
    const lendOf = (source: Source): Lend => {
      const lend = lender(source, companyId, wait_ms, listener)
      return (act) => {
        heartbeat.watch()
        return lend(act)
      }
    }
    const whenSettled: Refusing = (work) => confirming.during(work, retryFor_ms)
    // Tasks wait: nobody else would do their work.
    const during: Refusing = isTask ? whenSettled : (work) => orRefused(() => whenSettled(work))
    const run = <R extends Row>(source: Source, query: Query): Promise<R[]> => {
      const runOnce = () => lendOf(source)((pool) => runOn<R>(pool, query))
      return confirmed(query, (attempt) => repeatWhileAway(() => attempt(runOnce()), retryFor_ms))
    }
    const txOn = (source: Source): ControlTx =>
      createTx({
        query: (query) => noting(during(() => run(source, query))),
        wake: listener.wake,
        notify: notifier.notify,
      })
    return asControl({
      ...txOn(sources[kind]),
      hot: txOn(sources.hot),
      light: txOn(sources.light),
      transaction: (act) =>
        noting(during(() => transact(lendOf(sources[kind]), act, afterCommit, retryFor_ms))),
      of: (id) => ofCompanies[kind].of(id, () => view(kind, id)),
      get tasks() {
        return view('tasks', null)
      },
      connect: () => {
        const open = () => connect(sources.long, companyId, wait_ms)
        // Only what is new is refused: nobody would give back a connection that comes later.
        return isTask ? repeatWhileAway(open, retryFor_ms) : during(async () => {}).then(open)
      },
      pools,
      waiting: () => mapSources(sources, ({ queue }) => queue.waiting()),
      refusedWrite,
      heartbeat,
      end,
    })
  }
  return view('requests', null)
}

/** Opens the heartbeat of the servers, which are in doubt until `settle` succeeds. */
function openHeartbeat(
  url: string,
  { settle, close }: Pick<ReturnType<typeof createConfirming>, 'settle' | 'close'>,
): Heartbeat {
  const { cutBefore, isInDoubt, lost, setReplicated, count } = serversOf(url)
  const ping = openPing(url)
  const isConnected = () => count() > ping.pool.totalCount
  const forget = () => setReplicated(false)
  const closeBoth = () => {
    close()
    return ping.close()
  }
  const parts = { cutBefore, isInDoubt, lost, isConnected, settle, forget }
  return createHeartbeat({ ...ping, ...parts, close: closeBoth })
}

/** Lends a connection of a pool for as long as something is done with it. */
type Lend = <R>(act: (pool: pg.Pool) => Promise<R>) => Promise<R>

const allBusy = () =>
  problem('service_unavailable', 'Too much is being done at once. Try again in a moment.')

function lender(
  { pool, queue, kind }: Source,
  companyId: string | null,
  most_ms: number,
  listener: Listener,
): Lend {
  const waited = (seconds: number) => listener.waited?.(kind, seconds)
  const wait = { most_ms, late: allBusy, waited }
  return (act) => inSlot(queue, companyId, wait, () => act(pool))
}

async function connect(
  { pool, queue }: Source,
  companyId: string | null,
  wait_ms: number,
): Promise<Connection> {
  const giveBack = await takeWithin(queue, companyId, wait_ms, allBusy)
  try {
    const client = await pool.connect()
    return {
      client,
      release(isLost = false) {
        client.release(isLost)
        giveBack()
      },
    }
  } catch (error) {
    giveBack()
    throw error
  }
}

/** Runs a statement that may be repeated, also while others wait until nothing is in doubt. */
const runAtOnce = ({ pool, queue }: Source, query: Query) =>
  repeatWhileAway(
    () => inSlot(queue, null, { most_ms: TASK_WAIT_MS, late: allBusy }, () => runOn(pool, query)),
    TASK_RETRY_FOR_MS,
  )

async function runOn<R extends Row>(pool: pg.Pool, query: Query): Promise<R[]> {
  const result = await asStatement(query, () => pool.query<R>(query as pg.QueryConfig))
  return result.rows
}

async function transact<R>(
  lendOne: Lend,
  act: (tx: ControlTx, control: ControlTx) => Promise<R>,
  afterCommit: AfterCommit,
  retryFor_ms: number,
): Promise<R> {
  const latest_ms = performance.now() + RETRY_FOR_MS
  for (let attempt = 1; ; attempt += 1) {
    const progress = { committing: false }
    try {
      return await lendOne(async (pool) => {
        const client = await repeatWhileAway(() => pool.connect(), retryFor_ms)
        return transactOn(client, act, afterCommit, progress)
      })
    } catch (error) {
      if (progress.committing && isLostAnswer(error)) afterCommit.lost()
      // It has cost a connection. Those that are opened now are right, unless a pooler has them.
      if (isOutdated(error) && performance.now() < latest_ms) attempt -= 1
      if (attempt >= MAX_ATTEMPTS || !mayRetry(error, progress)) throw toPublicError(error)
    }
  }
}

/** A statement after one that has failed in the same transaction. */
const ABORTED = '25P02'

async function transactOn<R>(
  client: pg.PoolClient,
  act: (tx: ControlTx, control: ControlTx) => Promise<R>,
  afterCommit: AfterCommit,
  progress: { committing: boolean },
): Promise<R> {
  const woken = new Set<string>()
  const notifications: [channel: string, payload: string][] = []
  const later: (() => void)[] = []
  let hasWritten = false
  let isOver = false
  let lost: Error | undefined
  let failure: unknown
  const beginning = client.query('begin')
  // It is sent with the first statement, which fails too if this fails.
  beginning.catch(() => {})
  try {
    const tx = createTx({
      async query<R extends Row>(query: Query) {
        // One of several that were sent together may have failed, and the others go on. Another
        // transaction may have the connection by now.
        assert(!isOver, 'a statement is sent before its transaction ends')
        const run = () => client.query<R>(query as pg.QueryConfig)
        const { rows, command, rowCount } = await asStatement(query, run).catch((error) => {
          // A statement that was sent with the one that has failed says only that one has.
          if (!failure || codeOf(error) !== ABORTED) failure = error
          throw failure
        })
        hasWritten ||= command !== 'SELECT' && rowCount !== null && rowCount > 0
        return rows
      },
      wake: (task) => woken.add(task),
      notify: (...notification) => notifications.push(notification),
      last: new Map(),
      later,
    })
    const result = await act(tx, tx)
    await beginning
    await tx.flush()
    progress.committing = true
    isOver = true
    const { command } = await asStatement(COMMIT, () => client.query('commit'))
    // PostgreSQL answers so, and without an error, if a statement has failed before.
    assert(command === 'COMMIT', 'a transaction in which a statement failed is not committed')
    for (const task of woken) afterCommit.wake(task)
    for (const notification of notifications) afterCommit.notify(...notification)
    if (hasWritten) afterCommit.wrote()
    for (const act of later) act()
    return result
  } catch (error) {
    isOver = true
    // On a connection that does not answer, a rollback would only wait.
    if (isAway(error)) lost = error as Error
    else {
      await client.query('rollback').catch((fault: Error) => {
        lost = fault
      })
    }
    throw error
  } finally {
    client.release(lost)
  }
}

/**
 * Before the commit a lost connection has undone everything; during it, nobody knows. A commit that
 * was never sent has not begun.
 */
function mayRetry(error: unknown, { committing }: { committing: boolean }): boolean {
  if (RETRY_TRANSACTION.has(codeOf(error)) || isNotSent(error)) return true
  return isAway(error) && !committing
}

/** Why a client is to come again. The cause, which is for the operator, stays with it. */
const unavailable = (cause: unknown, description?: string): Problem =>
  Object.assign(problem('service_unavailable', description), { cause })

/** What a client may know of an operating fault; anything else is passed on as it is. */
function toPublicError(error: unknown): unknown {
  if (isAway(error)) return unavailable(error)
  if (cannotWrite(error)) {
    return unavailable(error, 'The database cannot be written to. Try again later.')
  }
  if (isMoving(error)) {
    return unavailable(error, 'The company is changing its place. Try again in a moment.')
  }
  const busy = isLockTimeout(error) || codeOf(error) === '57014'
  return busy ? unavailable(error, 'The record is busy. Try again in a moment.') : error
}

/** Waits out a database that restarts, a few seconds at most. */
async function repeatWhileAway<R>(work: () => Promise<R>, retryFor_ms: number): Promise<R> {
  const deadline = performance.now() + retryFor_ms
  for (let wait_ms = 20; ; wait_ms = Math.min(wait_ms * 2, 250)) {
    try {
      return await work()
    } catch (error) {
      const passing = isAway(error) || RETRY_TRANSACTION.has(codeOf(error))
      if (!passing) throw cannotWrite(error) || isMoving(error) ? toPublicError(error) : error
      // Sent again, it would find its own rows, write nothing and not wait for the standby.
      if (isUnknown(error)) throw toPublicError(error)
      if (performance.now() + wait_ms > deadline) throw toPublicError(error)
      await pause(wait_ms)
    }
  }
}
