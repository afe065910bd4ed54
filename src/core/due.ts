import type { Row, Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { STILL_FAILS } from './setbacks.ts'

/**
 * A kind of due work: rows of a table that wait for a moment, declared once. Workers, test clocks,
 * metrics and the pages of operators ask by statements that are made from this declaration. In its
 * SQL `d` is a row.
 */
export type DueKind = {
  /** The name of its task. */
  name: string
  /** What operators and metrics call it, if not so. Kinds with one label are one for them. */
  label?: string
  table: string
  /** The column of the company, `company_id` if nothing is said, and the one beside it. */
  company?: string
  key: string
  /** The column that says when a row is due, which an index has. A claim moves it. */
  dueAt: string
  /** When a row is due, if not when the column says but some time after it. */
  moment?: string
  /** Which rows wait for their moment. */
  where: string
  /**
   * The same condition in a form that no index over all companies fits. The planner could choose
   * such an index for one company, and read the rows of all.
   */
  whereOfOne?: string
  /** Rows that nobody works on for now, although their moment has come. `now` is the company's. */
  except?: (now: string) => string
  /** Rows for which this is true come after all others. */
  last?: string
  /** Rows with the first of these values come first. An index has the column before `dueAt`. */
  ranks?: { column: string; values: string[] }
  /** It waits for banks: a company that is set aside in it is not late, but its bank is. */
  waitsForBank?: true
  /** Its moments are in real time, whatever the clock of a company says. */
  isRealTime?: true
  /** Companies are served one after the other, so that the long queue of one delays no other. */
  isByCompany?: true
  /** An interval: how long a claimed row is left to whoever has claimed it, if not `LEASE_S`. */
  lease?: string
  /** What a claim writes besides. `f.now` is the company's now, `f.until` the end of the lease. */
  set?: string[]
  /** What a claim tells of a row as it was before. */
  before?: string
}

/** Which due work is wanted. */
export type DueRequest = {
  /** Real time. A company with a clock of its own is compared with that clock. */
  now: Date
  max: number
  /** If a company is named, only its work: its clock is being moved. */
  only: Uuid | null
  /** Companies of which nothing is wanted. */
  except: Uuid[]
  /** If companies are served one after the other: how much of each, and who was served last. */
  each?: number
  after?: Uuid
}

/** How long a claimed row is left to its worker: longer than a bank is waited for. */
export const LEASE_S = 60

/** Whether the company of a row is suspended. They are few, and looked up once a statement. */
export const IS_SUSPENDED = `d.company_id = any (array(
  select c.id from companies c where c.suspended_at is not null))`

/** Before every company. */
export const FIRST_COMPANY = '00000000-0000-0000-0000-000000000000' as Uuid

const NOW = '$1::timestamptz'
const MS = `interval '1 millisecond'`

const companyOf = ({ company = 'company_id' }: DueKind): string => `d.${company}`
const momentOf = ({ dueAt, moment = `d.${dueAt}` }: DueKind): string => moment

/** Which rows wait and are worked on, `now` being the time of their company. */
const waiting = (where: string, { except }: DueKind, now: string): string =>
  except ? `${where} and not (${except(now)})` : where
const waitingOfOne = (kind: DueKind, now: string): string =>
  waiting(kind.whereOfOne ?? kind.where, kind, now)

const columnsOf = (kind: DueKind, ahead: string): string => `${companyOf(kind)} as company_id,
  d.${kind.key} as key, ${ahead} as ahead_ms, ${momentOf(kind)} - ${ahead} * ${MS} as since
  ${kind.before ? `, ${kind.before}` : ''}`

/** What a claim writes is computed here, because Citus takes nothing but columns in an update. */
const timesOf = ({ lease = `interval '${LEASE_S} seconds'` }: DueKind, ahead: string): string =>
  `, ${NOW} + ${ahead} * ${MS} as now, ${NOW} + ${ahead} * ${MS} + ${lease} as until`

/** Orders by an expression over the moment, so that those that come last are last. */
const orderBy = ({ last }: DueKind, moment: string): string =>
  `order by ${last ? `${last}, ` : ''}${moment}`

/** Due rows of companies without a clock of their own. */
const inRealTime = (kind: DueKind, ofWhom: string, limit: string, lock = ''): string =>
  `select ${columnsOf(kind, '0::int8')} ${lock && timesOf(kind, '0')} from ${kind.table} d
   where ${waiting(kind.where, kind, NOW)} and d.${kind.dueAt} <= ${NOW}
     ${kind.moment ? `and ${kind.moment} <= ${NOW}` : ''} and ${ofWhom}
   ${orderBy(kind, `d.${kind.dueAt}`)} limit ${limit} ${lock}`

/** How many rows a statement finds, and the companies that it leaves out, as SQL. */
type Extent = { limit: string; except: string }
const REQUESTED: Extent = { limit: '$2', except: '$3::uuid[]' }

/** Of all companies, the oldest first. It is found by an index over all companies. */
const oldestFirst = (kind: DueKind, { limit, except }: Extent, lock = ''): string => {
  const hasNoClock = `not exists (select from test_clocks t where t.company_id = ${companyOf(kind)})`
  const isWanted = `${companyOf(kind)} <> all (${except})`
  return inRealTime(kind, kind.isRealTime ? isWanted : `${isWanted} and ${hasNoClock}`, limit, lock)
}

/**
 * Due rows of companies with a clock of their own, company by company: nothing here fits an index
 * over the moments of all companies. Clocks that advance are left to whoever advances them.
 */
const byClocks = (kind: DueKind, only: Uuid | null, { limit, except }: Extent, lock = ''): string =>
  `select c.* from test_clocks t cross join lateral (
     select ${columnsOf(kind, 't.ahead_ms')} ${lock && timesOf(kind, 't.ahead_ms')}
     from ${kind.table} d
     where ${companyOf(kind)} = t.company_id
       and ${waitingOfOne(kind, `(${NOW} + t.ahead_ms * ${MS})`)}
       and ${momentOf(kind)} - ${NOW} <= t.ahead_ms * ${MS}
     ${orderBy(kind, `d.${kind.dueAt} - ${NOW}`)} limit ${limit} ${lock}) c
   where ${only === null ? 't.target is null' : 't.company_id = $4'}
     and t.company_id <> all (${except})
   order by c.since limit ${limit}`

/**
 * Due rows of the next companies that have some. It jumps in an index from company to company, so
 * that one with thousands of rows costs as much as one with a single row.
 */
function oneByOne(kind: DueKind, lock: string): string {
  const next = (after: string) =>
    `select d.company_id from ${kind.table} d where ${kind.where} and d.company_id > ${after}
     order by d.company_id limit 1`
  const { column, values } = kind.ranks ?? { column: '', values: [] }
  const ranks = values.map((value, n) => `(${n}, '${value}')`).join()
  const ofRank = inRealTime(
    kind,
    `d.company_id = c.company_id and d.${column} = k.value`,
    '$4',
    lock,
  )
  const own = kind.ranks
    ? `select d.* from (values ${ranks}) k (n, value) cross join lateral (${ofRank}) d
       order by k.n limit $4`
    : inRealTime(kind, 'd.company_id = c.company_id', '$4', lock)
  return `with recursive company as (
      (${next('$5')})
      union all
      select n.company_id from company c cross join lateral (${next('c.company_id')}) n
    )
    select d.* from company c cross join lateral (${own}) d
    where c.company_id <> all ($3::uuid[]) limit $2`
}

/** The statements that together find the due rows of a request. */
function partsOf(kind: DueKind, only: Uuid | null, lock: string): string[] {
  if (kind.isByCompany) return [oneByOne(kind, lock)]
  const clocks = kind.isRealTime ? [] : [byClocks(kind, only, REQUESTED, lock)]
  return only === null ? [oldestFirst(kind, REQUESTED, lock), ...clocks] : clocks
}

const valuesOf = (kind: DueKind, { now, max, only, except, each, after }: DueRequest) => {
  const others = kind.isByCompany ? [each ?? max, after ?? FIRST_COMPANY] : only ? [only] : []
  return [now, max, except, ...others]
}

const nameOf = (verb: string, { name }: DueKind, only: Uuid | null): string =>
  `${verb}: ${name}${only === null ? '' : ' of one'}`

/** Due rows of one company, and how far its clock is ahead. */
export type DueOfCompany = { companyId: Uuid; clockAhead_ms: number; ids: Uuid[] }

/** Due rows by company, oldest first, and whether there may be more. It takes no locks. */
export async function findDue(
  tx: Tx,
  kind: DueKind,
  request: DueRequest,
): Promise<{ due: Map<Uuid, DueOfCompany>; isFull: boolean }> {
  const { only, max } = request
  const rows = await tx.query<{ company_id: Uuid; key: Uuid; ahead_ms: number }>({
    name: nameOf('find', kind, only),
    text: union(partsOf(kind, only, '')),
    values: valuesOf(kind, request),
  })
  const due = new Map<Uuid, DueOfCompany>()
  for (const [companyId, own] of Map.groupBy(rows, ({ company_id }) => company_id)) {
    const ids = own.map(({ key }) => key)
    due.set(companyId, { companyId, clockAhead_ms: own[0]!.ahead_ms, ids })
  }
  return { due, isFull: rows.length >= max }
}

const union = (parts: string[]): string => parts.map((part) => `(${part})`).join(' union all ')

/**
 * Claims due rows: until the lease is over, nobody else does. Rows that somebody is just claiming
 * are left to them. If a worker dies, its rows are due again when the lease is over.
 */
export function claimDue<R extends Row>(
  tx: Tx,
  kind: DueKind,
  request: DueRequest,
  returning = 'd.*',
): Promise<R[]> {
  const { table, key, dueAt, set = [] } = kind
  const parts = partsOf(kind, request.only, 'for update skip locked')
  const found = parts.map((_, i) => `select * from part${i}`).join(' union all ')
  return tx.query<R>({
    name: nameOf('claim', kind, request.only),
    text: `with ${parts.map((part, i) => `part${i} as materialized (${part})`).join(', ')},
           f as (${found})
           update ${table} d set ${[`${dueAt} = f.until`, ...set].join(', ')}
           from f where ${companyOf(kind)} = f.company_id and d.${key} = f.key
           returning ${returning}`,
    values: valuesOf(kind, request),
  })
}

/** No more are counted, so that a long queue costs no more than a short one. */
export const MAX_COUNTED = 1000

/** What is asked about a kind of due work, each as a statement with one value. */
export type DueSource = {
  name: string
  /**
   * When work of the company `$1` is due next, whose now is `$2`: in the past if it is due and not
   * done. Null if no clock waits for such work. Work that is not done must not count, because a
   * clock would stop there without end.
   */
  next: string | null
  /** Since when work is due, in real time, which is `$1`. */
  oldest: string
  /** How much is due at the real time `$1`, up to a limit. */
  count: string
  /** Whether something is due then. Null if its task looks by itself. */
  isDue: string | null
  /** The count is not exact. */
  isEstimate?: true
}

/** Whoever does work of a kind. */
export type WithSource = { source: DueSource }

const NOBODY = `'{}'::uuid[]`

export function sourceOf(kind: DueKind): DueSource {
  const aside = `array(select company_id from setbacks
    where task = '${kind.name}' and ${STILL_FAILS})`
  const due = (max: number, except = kind.waitsForBank ? aside : NOBODY) => {
    const extent = { limit: String(max), except }
    // Those that come last in a claim have waited as long as others.
    const any = { ...kind, last: '' }
    const clocks = kind.isRealTime ? [] : [byClocks(any, null, extent)]
    return union([oldestFirst(any, extent), ...clocks])
  }
  return {
    name: kind.label ?? kind.name,
    next: kind.isRealTime
      ? null
      : `select min(at) from (select ${momentOf(kind)} as at from ${kind.table} d
           where ${companyOf(kind)} = $1 and ${waitingOfOne(kind, '$2::timestamptz')} offset 0) d`,
    oldest: `select min(since) from (${due(1)}) d`,
    count: `select least(count(*), ${MAX_COUNTED}) from (${due(MAX_COUNTED)}) d`,
    isDue: `select exists (${due(1, NOBODY)})`,
  }
}

/** Work of a kind, and when it is due. */
export type DueWork<T extends WithSource> = { task: T; at: Date }

/**
 * The next due work of a company of every kind, the earliest first. While a clock advances this is
 * read often, so it is one statement, with a plan that never searches all companies.
 */
export async function dueWorkOf<T extends WithSource>(
  tx: Tx,
  tasks: readonly T[],
  companyId: Uuid,
  now: Date,
): Promise<DueWork<T>[]> {
  const clocked = tasks.filter(({ source }) => source.next !== null)
  const [row] = await tx.query<Record<string, Date | null>>({
    name: 'due_work',
    text: `select ${clocked.map(({ source }, n) => `(${source.next}) as "${n}"`).join()}`,
    values: [companyId, now],
  })
  return clocked
    .flatMap((task, n) => (row![n] ? [{ task, at: row![n] }] : []))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** The tasks of which something is due. It is asked often, so it is one statement. */
export async function findDueTasks<T extends WithSource>(
  tx: Tx,
  tasks: readonly T[],
  now: Date,
): Promise<T[]> {
  const asked = tasks.filter(({ source }) => source.isDue !== null)
  const [row] = await tx.query<Record<string, boolean>>({
    name: 'find_due_tasks',
    text: `select ${asked.map(({ source }, n) => `(${source.isDue}) as "${n}"`).join()}`,
    values: [now],
  })
  return asked.filter((_, n) => row![n])
}

/** How much of one kind is due, and since when; null if nothing is. */
export type Queue = { name: string; due: number; since: Date | null; isEstimate: boolean }

/** What is due of every kind. */
export const readQueues = (tx: Tx, tasks: readonly WithSource[], now: Date): Promise<Queue[]> =>
  ask(
    tx,
    tasks,
    now,
    ({ count, oldest, isEstimate = false }) =>
      `(${count}) as due, (${oldest}) as since, ${isEstimate} as "isEstimate"`,
  ).then(addUp)

/** Since when the oldest work of every kind is due. */
export const readOldest = (
  tx: Tx,
  tasks: readonly WithSource[],
  now: Date,
): Promise<Pick<Queue, 'name' | 'since'>[]> =>
  ask(tx, tasks, now, ({ oldest }) => `0 as due, (${oldest}) as since`).then(addUp)

function ask(
  tx: Tx,
  tasks: readonly WithSource[],
  now: Date,
  columns: (source: DueSource) => string,
): Promise<Queue[]> {
  const parts = tasks.map(({ source }) => `select '${source.name}' as name, ${columns(source)}`)
  return tx.query<Row & Queue>({ text: parts.join(' union all '), values: [now] })
}

/** Queues with the same name as one: of several kinds, or of several places. */
export function addUp(queues: Queue[]): Queue[] {
  const all = new Map<string, Queue>()
  for (const queue of queues) {
    const { due = 0, since = null } = all.get(queue.name) ?? {}
    const first = [since, queue.since].filter((at) => at !== null).sort(ascending)[0] ?? null
    all.set(queue.name, { ...queue, due: due + queue.due, since: first })
  }
  return [...all.values()]
}

const ascending = (a: Date, b: Date): number => a.getTime() - b.getTime()
