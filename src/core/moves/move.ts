import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { allowTriggers, type Citus, coordinatorOf, readCitus } from '../../db/citus.ts'
import { createClient } from '../../db/servers.ts'
import type { Uuid } from '../../lib/ids.ts'
import { OperatorFault } from '../../lib/operator-fault.ts'
import { CHANGES, waitUntilAppliedAt } from '../companies/announce.ts'
import { LEFT_BEHIND, lockCompany, removeCompany, removeRows } from '../company-tables/remove.ts'
import { readTables, type Table } from '../company-tables/tables.ts'
import type { MoveState } from '../places/store.ts'
import { catchUp, copyAt, copyRest } from './changes.ts'
import { copyTable, countRows, type Ends, type Key } from './copy.ts'
import { requireSameEnd, verifyCopy } from './verify.ts'
import { unwatchCompany, watchCompany } from './watch.ts'

/** The class of the advisory locks of writers, which the migration names too. */
const WRITERS = 1986618989
/** Writers are refused for so long at most. The change is given up before, and tried again. */
const REFUSED_MS = 4_500
const LOCK_MS = 1_500
/** Of that time, what the change itself needs. */
const RESERVED_MS = 700
const TRIES = 5
/** Workers look this often which companies they leave alone. */
const WORKERS_MS = 2_500
/** Longer than any request takes after its body has arrived, and so the place was found. */
const GRACE_MS = 60_000

/** Rows are copied and compared as texts, which two servers may otherwise write in two ways. */
const SETTINGS = `${LEFT_BEHIND}; set timezone = 'UTC'; set datestyle = 'ISO';
  set intervalstyle = 'postgres'; set bytea_output = 'hex'; set extra_float_digits = 1`

/** Where a move has got to. If it is killed anywhere, the same command goes on. */
export type Step =
  | 'prepared'
  | 'copied'
  | 'caught up'
  | 'locked'
  | 'ready'
  | 'left'
  | 'arrived'
  | 'removed'

type Move = {
  companyId: Uuid
  /** The addresses of all places. */
  urls: string[]
  /** The numbers of two places, from 1 on. */
  from: number
  to: number
  onStep?(step: Step): void | Promise<void>
  /** How long workers have to notice that the company moves. Less in tests. */
  workers_ms?: number
  /** How long requests that have begun in the old place have to end. Less in tests. */
  grace_ms?: number
}

export type Moved = { /** For how long writers were refused. */ refused_ms: number; rows: number }

/** Moves a company to another place while it works. It is refused for a moment at the end. */
export async function moveCompany(move: Move): Promise<Moved> {
  const { from, to, companyId, onStep = () => {} } = move
  return withEnds(move, async (ends) => {
    const { source } = ends
    let refused_ms = 0
    if ((await stateAt(source, companyId)) !== 'left') {
      await prepare(ends, move)
      await onStep('prepared')
      await copyBulk(ends, companyId)
      await onStep('copied')
      await catchUp(ends, companyId)
      const verified = await verifyCopy(ends, companyId, () => copyAt(ends, companyId))
      await onStep('caught up')
      refused_ms = await changePlace(ends, move, verified)
    } else await arrive(ends, move, performance.now() + REFUSED_MS)
    await onStep('arrived')
    await pause(move.grace_ms ?? GRACE_MS)
    await requireForgotten(move)
    await askBankSoon(ends.target, companyId)
    const rows = await clearSource(ends, companyId)
    await unwatchCompany(ends.changers.target, companyId)
    await source.query('delete from company_moves where company_id = $1', [companyId])
    await onStep('removed')
    return { refused_ms, rows }
  }).catch((error) => {
    if (error instanceof OperatorFault) throw error
    const text = `The move from place ${from} to ${to} was interrupted: ${(error as Error).message}. The same command goes on.`
    throw new OperatorFault(text, { cause: error })
  })
}

/** Gives up a move that has not changed the place yet. What was copied is removed. */
export async function cancelMove(move: Move): Promise<void> {
  await withEnds(move, async ({ source, target, changers, tables }) => {
    const { companyId } = move
    if ((await stateAt(source, companyId)) === 'left') {
      throw new OperatorFault('The company has left this place already.')
    }
    // If this is killed and the company moved again, everything is copied again.
    await source.query(`update company_moves set progress = '{}' where company_id = $1`, [
      companyId,
    ])
    await target.query(`update company_moves set state = 'arriving' where company_id = $1`, [
      companyId,
    ])
    for (const table of tables.toReversed()) await removeRows(target, table, companyId)
    await unwatchCompany(changers.target, companyId)
    await target.query('delete from company_moves where company_id = $1', [companyId])
    await unwatchCompany(changers.source, companyId)
    await source.query('delete from company_changes where company_id = $1', [companyId])
    await source.query('delete from company_moves where company_id = $1', [companyId])
  })
}

async function withEnds<R>(
  move: Pick<Move, 'companyId' | 'urls' | 'from' | 'to'>,
  act: (ends: Ends) => Promise<R>,
): Promise<R> {
  const opened: pg.Client[] = []
  const open = async (url: string) => {
    const client = createClient(url, { application_name: 'vintem move' })
    client.on('error', () => {})
    await client.connect()
    opened.push(client)
    await client.query(SETTINGS)
    return client
  }
  const openChanger = async (client: pg.Client, place: number) => {
    const citus = await readCitus(client)
    if (citus === null) return client
    requireHolder(citus, place)
    const url = move.urls[place - 1]!
    const coordinator = coordinatorOf(citus, url)
    const changer = coordinator === url ? client : await open(coordinator)
    await allowTriggers(changer)
    return changer
  }
  try {
    const source = await open(move.urls[move.from - 1]!)
    const target = await open(move.urls[move.to - 1]!)
    if (!(await lockCompany(source, move.companyId))) {
      throw new OperatorFault('Another command is moving this company now.')
    }
    const changers = {
      source: await openChanger(source, move.from),
      target: await openChanger(target, move.to),
    }
    return await act({ source, target, changers, tables: await readTables(source) })
  } finally {
    for (const client of opened) await client.end()
  }
}

/** Locks are per node: at another one than its writers use, a mover would not wait for them. */
function requireHolder({ holder }: Citus, place: number): void {
  if (!holder || holder.isHere) return
  throw new OperatorFault(
    `Citus keeps place ${place} on ${holder.host}:${holder.port}, but its address names another node. Correct it in PLACES on every server, start them again, and repeat the command.`,
  )
}

async function stateAt(client: pg.ClientBase, companyId: Uuid): Promise<MoveState | null> {
  const { rows } = await client.query<{ state: MoveState }>(
    'select state from company_moves where company_id = $1',
    [companyId],
  )
  return rows[0]?.state ?? null
}

/** Both places know of the move before anything is copied, and workers leave the company alone. */
async function prepare({ source, target, changers, tables }: Ends, move: Move): Promise<void> {
  const { companyId, from, to } = move
  const begin = `insert into company_moves (company_id, state, other_place) values ($1, $2, $3)
    on conflict (company_id) do update
    set state = excluded.state, other_place = excluded.other_place`
  await requireIndexed(source, from)
  await target.query(begin, [companyId, 'arriving', from])
  await source.query(begin, [companyId, 'leaving', to])
  await removeLate(target, tables, companyId)
  await watchCompany(changers.source, tables, companyId)
  await watchCompany(
    changers.target,
    tables.filter(({ kind }) => kind !== 'log'),
    companyId,
  )
  await pause(move.workers_ms ?? WORKERS_MS)
}

/** Until the company lives there, what is copied would be counted by these rows once more. */
async function removeLate(target: pg.Client, tables: Table[], companyId: Uuid): Promise<void> {
  for (const table of tables.toReversed()) {
    if (table.kind === 'late') await removeRows(target, table, companyId)
  }
}

/** What the new place has indexed already would not be indexed there. */
async function requireIndexed(source: pg.ClientBase, from: number): Promise<void> {
  const { rowCount } = await source.query('select from backfills limit 1')
  if (rowCount === 0) return
  throw new OperatorFault(
    `Place ${from} still indexes old charges, which its workers do. Try again in some minutes.`,
  )
}

async function copyBulk(ends: Ends, companyId: Uuid): Promise<void> {
  const { source, target, tables } = ends
  const { rows } = await source.query<{ progress: Record<string, Key> }>(
    'select progress from company_moves where company_id = $1',
    [companyId],
  )
  const { progress } = rows[0]!
  const note = (name: string, last: Key) =>
    source.query(
      `update company_moves set progress = progress || jsonb_build_object($2::text, $3::jsonb)
       where company_id = $1`,
      [companyId, name, JSON.stringify(last)],
    )
  for (const table of tables.filter(({ kind }) => kind !== 'late')) {
    const { name } = table
    const last = progress[name] ?? null
    // An empty key says that the table is done.
    if (last?.length === 0) continue
    await withReferred(
      () =>
        copyTable(source, target, table, companyId, last, async (key) => {
          await note(name, key)
        }),
      () => catchUp(ends, companyId),
    )
    await note(name, [])
  }
}

/**
 * If a row refers to one that is not in the new place yet, because that was written after its table
 * was copied, copies what has changed, and tries again.
 */
async function withReferred(copy: () => Promise<void>, copyChanged: () => Promise<void>) {
  for (let tries = 1; ; tries += 1) {
    try {
      await copy()
      return
    } catch (error) {
      if ((error as { code?: string }).code !== '23503' || tries >= TRIES) throw error
      await copyChanged()
    }
  }
}

/**
 * Locks out writers, copies the rest, compares, and lets the company go to the new place. If it
 * takes too long, nothing is changed, and it is tried again. Returns for how long it took.
 */
async function changePlace(ends: Ends, move: Move, verified: number): Promise<number> {
  const { source, target, tables } = ends
  let refused_ms = 0
  for (let tries = 1; ; tries += 1) {
    await source.query(
      `update company_moves set quiet_until = now() + interval '30 seconds' where company_id = $1`,
      [move.companyId],
    )
    await pause(move.workers_ms ?? WORKERS_MS)
    await askBankSoon(source, move.companyId)
    const start_ms = performance.now()
    try {
      await tryToChange(ends, move, verified, start_ms + REFUSED_MS)
      return refused_ms + performance.now() - start_ms
    } catch (error) {
      await Promise.all([source, target].map((client) => client.query('rollback').catch(() => {})))
      refused_ms += performance.now() - start_ms
      if ((await stateAt(source, move.companyId)) === 'left') throw error
      const code = (error as { code?: string }).code ?? ''
      const isLate = error instanceof Late || ['55P03', '57014', '40P01'].includes(code)
      if (!isLate) throw error
      if (tries >= TRIES) {
        throw new OperatorFault(
          `The company could not change its place within ${REFUSED_MS / 1000} seconds in ${tries} attempts (${(error as Error).message}). It lives where it did, and what is copied stays: try again when it is quieter.`,
          { cause: error },
        )
      }
      await removeLate(target, tables, move.companyId)
      await pause(1_000)
      await catchUp(ends, move.companyId)
    }
  }
}

/**
 * Callbacks of the bank are refused while the company changes its place. What it has received
 * meanwhile is asked for as soon as tasks no longer leave the company alone, in either place.
 * `asked_until` is in the company's own time, which may be ahead.
 */
async function askBankSoon(client: pg.ClientBase, companyId: Uuid): Promise<void> {
  await client.query(
    `update reconciliations set next_attempt_at = least(next_attempt_at, asked_until, now())
     where company_id = $1`,
    [companyId],
  )
}

class Late extends Error {}

async function tryToChange(
  ends: Ends,
  move: Move,
  verified: number,
  deadline_ms: number,
): Promise<void> {
  const { source, target, tables } = ends
  const { companyId, onStep = () => {} } = move
  const company = tables.filter(({ name }) => name === 'companies')
  const late = tables.filter(({ kind }) => kind === 'late')
  /**
   * Ends each statement in time, and everything when there is no time left. If this process hangs,
   * the servers end the transaction, and the company works where it did.
   */
  const inTime = async () => {
    const left_ms = Math.floor(deadline_ms - RESERVED_MS - performance.now())
    if (left_ms <= 0) throw new Late('copying the rest took too long')
    const limits = `set local statement_timeout = ${left_ms};
      set local idle_in_transaction_session_timeout = ${left_ms + RESERVED_MS}`
    await Promise.all([source.query(limits), target.query(limits)])
  }
  await Promise.all([source.query('begin'), target.query('begin')])
  await inTime()
  await source.query(`set local lock_timeout = ${LOCK_MS}`)
  await source.query('select pg_advisory_xact_lock($1, hashtext($2))', [WRITERS, companyId])
  await onStep('locked')
  await copyRest(ends, companyId, inTime)
  await removeLate(target, tables, companyId)
  for (const table of inOrder(late)) {
    await inTime()
    await copyTable(source, target, table, companyId, null, async () => {})
  }
  await inTime()
  await requireSameEnd(ends, [...company, ...late], companyId, verified)
  await target.query(`update company_moves set state = 'ready' where company_id = $1`, [companyId])
  await target.query('commit')
  await onStep('ready')
  // From here on the company lives in the new place.
  await source.query(`update company_moves set state = 'left' where company_id = $1`, [companyId])
  await source.query('select pg_notify($1, $2)', [CHANGES, companyId])
  await source.query('commit')
  await onStep('left')
  await arrive(ends, move, deadline_ms)
}

/** The counted hours come last. */
const inOrder = (tables: Table[]): Table[] =>
  tables.toSorted((one, other) => rank(one) - rank(other))
const rank = ({ name }: Table): number => Number(name === 'counted_hours')

/**
 * Waits until servers have forgotten where the company was. It lives in the new place already, and
 * a server that asks where it is finds it there.
 */
async function arrive({ target }: Ends, move: Move, deadline_ms: number): Promise<void> {
  const left_ms = Math.max(200, deadline_ms - performance.now())
  await Promise.race([waitUntilAppliedAt(move.urls[move.from - 1]!), pause(left_ms)])
  await target.query(`delete from company_moves where company_id = $1 and state = 'ready'`, [
    move.companyId,
  ])
  await target.query('select pg_notify($1, $2)', [CHANGES, move.companyId])
}

/** A server that does not answer may still write to the old place, which refuses it until then. */
async function requireForgotten({ urls, from, companyId, to }: Move): Promise<void> {
  if (await waitUntilAppliedAt(urls[from - 1]!)) return
  throw new OperatorFault(
    `The company lives in place ${to}, but a server does not answer, and may not know it yet. Its rows in place ${from} stay until "vintem place move ${companyId} ${to}" is repeated.`,
  )
}

/** Copies the logs once more, and removes what is left in the old place. */
async function clearSource(ends: Ends, companyId: Uuid): Promise<number> {
  const { source, target, tables } = ends
  for (const table of tables.filter(({ kind }) => kind === 'log')) {
    await copyTable(source, target, table, companyId, null, async () => {})
  }
  const counts = await countRows(source, tables, companyId)
  await removeCompany(source, tables, companyId)
  await source.query('delete from company_changes where company_id = $1', [companyId])
  await unwatchCompany(ends.changers.source, companyId)
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}
