import { Counter, type Registry } from 'prom-client'
import type { Database, Row, Tx } from '../db/database.ts'
import type { Clock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError, type Log } from '../lib/log.ts'

/** After the first failure a company is left alone for so long, then twice as long each time. */
const SHORTEST_MS = 5_000
const LONGEST_MS = 600_000
/** More are not remembered: the one that failed longest ago is tried again. */
const MAX_REMEMBERED = 10_000

type Setback = { companyId: Uuid; failures: number; since: Date; until: Date }

/**
 * Companies whose work has failed in a task. The task leaves them alone for a while, so that they
 * do not stay at the head of its queue, and goes on with the others. Each process has its own list;
 * the database has a copy for `vintem doctor`.
 */
export type Setbacks = {
  /** Companies that a task is to leave alone now. */
  companiesOf(task: string): Uuid[]
  /** Of these, the ones that are being moved. For tasks that wait after a failure by themselves. */
  moving(): Uuid[]
  failed(task: string, companyId: Uuid, error: unknown): Promise<void>
  worked(task: string, companyId: Uuid): Promise<void>
  /** Replaces the companies that all tasks leave alone, because they are being moved. */
  leaveAlone(companies: Uuid[]): void
}

export function createSetbacks(
  db: Database,
  systemClock: Clock,
  registry: Registry,
  log: Log,
): Setbacks {
  const counter = new Counter({
    name: 'vintem_setbacks_total',
    help: 'How often work of a company failed, so that the task left it alone for a while',
    labelNames: ['task'],
    registers: [registry],
  })
  const tasks = new Map<string, Map<Uuid, Setback>>()
  let moving: Uuid[] = []
  const of = (task: string): Map<Uuid, Setback> => {
    const known = tasks.get(task) ?? new Map()
    tasks.set(task, known)
    return known
  }
  const write = (work: Promise<unknown>) =>
    work.catch((error) => log.warn(describeError(error), 'a setback was not written down'))

  return {
    companiesOf(task) {
      const now = systemClock.now()
      const failing = [...of(task).values()]
        .filter(({ until }) => until > now)
        .map(({ companyId }) => companyId)
      return moving.length === 0 ? failing : [...failing, ...moving]
    },
    moving: () => moving,
    leaveAlone(companies) {
      moving = companies
    },
    async failed(task, companyId, error) {
      const known = of(task)
      const now = systemClock.now()
      const before = known.get(companyId)
      counter.inc({ task })
      // What was under way when the company was set aside is of the same failure.
      if (before && before.until > now) return
      const failures = (before?.failures ?? 0) + 1
      const until = new Date(now.getTime() + pauseAfter_ms(failures))
      const setback = { companyId, failures, since: before?.since ?? now, until }
      known.delete(companyId)
      known.set(companyId, setback)
      if (known.size > MAX_REMEMBERED) known.delete(known.keys().next().value!)
      const { constraint, code, message, error: kind } = describeError(error)
      await write(save(db, task, setback, String(constraint ?? code ?? message ?? kind)))
    },
    async worked(task, companyId) {
      if (tasks.get(task)?.delete(companyId)) await write(remove(db, task, companyId))
    },
  }
}

export const pauseAfter_ms = (failures: number): number =>
  Math.min(SHORTEST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS)

const MAX_WRITTEN = 200

async function save(tx: Tx, task: string, setback: Setback, error: string): Promise<void> {
  const { companyId, failures, since, until } = setback
  await tx.query({
    text: `insert into setbacks (task, company_id, failures, error, since, until)
           values ($1, $2, $3, $4, $5, $6)
           on conflict (task, company_id) do update set failures = excluded.failures,
             error = excluded.error, since = excluded.since, until = excluded.until`,
    values: [task, companyId, failures, error.slice(0, MAX_WRITTEN), since, until],
  })
}

async function remove(tx: Tx, task: string, companyId: Uuid): Promise<void> {
  await tx.query({
    text: 'delete from setbacks where task = $1 and company_id = $2',
    values: [task, companyId],
  })
}

export type ShownSetback = Row & {
  task: string
  companyId: Uuid
  failures: number
  error: string
  since: Date
}

/**
 * Which setbacks count at the moment `$1`, as SQL. A pause that is over counts until the company
 * has had its next try, which deletes or renews it. If no try follows for so long, its process has
 * ended.
 */
export const STILL_FAILS = `until > $1::timestamptz - interval '${LONGEST_MS} milliseconds'`

/** Companies whose work fails, the oldest first. Without a limit, all of them. */
export const listSetbacks = (
  tx: Tx,
  now: Date,
  limit: number | null = null,
): Promise<ShownSetback[]> =>
  tx.query<ShownSetback>({
    text: `select task, company_id as "companyId", failures, error, since from setbacks
           where ${STILL_FAILS} order by since limit $2`,
    values: [now, limit],
  })

/** Of how many companies the work fails, by task. */
export const countSetbacks = (tx: Tx, now: Date): Promise<{ task: string; count: number }[]> =>
  tx.query<{ task: string; count: number }>({
    text: `select task, count(*)::int as count from setbacks where ${STILL_FAILS} group by task`,
    values: [now],
  })

/** Forgets what no process has renewed. */
export async function purgeSetbacks(tx: Tx, now: Date): Promise<void> {
  await tx.query({ text: `delete from setbacks where not ${STILL_FAILS}`, values: [now] })
}
