import pg from 'pg'
import { newId } from '../../src/lib/ids.ts'

/** A statement that gave or changed something although the company it names has nothing. */
export type Leak = { text: string; why: string }

type Config = { text: string; values?: unknown[] }
// biome-ignore lint/suspicious/noExplicitAny: the driver has a dozen forms of this call
type AnyQuery = (...given: any[]) => any
type Callback = (error: Error | null, result?: pg.QueryResult) => void

/** A statement is tried until it has found something so often, or was run so often. */
const ENOUGH = { found: 2, runs: 20 }
const STRANGER = newId()
const bytesOf = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex')

const CHANGED = 'select relname from pg_stat_xact_user_tables where n_tup_upd + n_tup_del > 0'

/** Only such a statement can change rows; to look them up takes longer than most statements. */
const mayChange = (text: string): boolean =>
  /(?<!\bfor (no key )?)\bupdate\b|\bdelete\b/i.test(text)

/** A sweep over all companies names some to begin after, or to leave out. */
const isSweep = (text: string): boolean => /company_id (> \$|<> all \()/.test(text)

/**
 * Runs every statement that names a company a second time, for a company that has nothing, in a
 * transaction that is rolled back. Such a statement must find and change nothing.
 */
export async function watchStatements(databaseUrl: string) {
  const original = pg.Client.prototype.query as AnyQuery
  const probe = new pg.Client({ connectionString: databaseUrl, application_name: 'stranger' })
  await probe.connect()
  const ask = (text: string, values?: unknown[]): Promise<pg.QueryResult> =>
    original.call(probe, { text, values })
  const seen = new Map<string, { found: number; runs: number }>()
  const leaks: Leak[] = []
  let companies = new Set<string>()
  const others = new Set<unknown>()
  let queue: Promise<unknown> = Promise.resolve()

  async function refresh(values: unknown[]): Promise<boolean> {
    const isId = (value: unknown) => typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value)
    const unknown = values.filter(
      (one) => isId(one) && !companies.has(`${one}`) && !others.has(one),
    )
    if (unknown.length > 0) {
      const { rows } = await ask('select id from companies')
      companies = new Set(rows.map(({ id }) => id))
      for (const one of unknown) others.add(one)
    }
    return values.some((value) => asStranger(value, companies) !== value)
  }

  async function tryOut({ text, values }: Required<Config>): Promise<boolean> {
    if (isSweep(text) || !(await refresh(values))) return false
    await ask('begin')
    try {
      const result = await ask(
        text,
        values.map((value) => asStranger(value, companies)),
      )
      const { rows } = mayChange(text) ? await ask(CHANGED) : { rows: [] }
      // The stranger has nothing, so a row of the stranger was written by the statement itself.
      const found = result.rows.find((row) => row.company_id !== STRANGER && !isEmpty(row))
      if (found) leaks.push({ text, why: `gives ${JSON.stringify(found).slice(0, 200)}` })
      if (rows.length > 0) leaks.push({ text, why: `changes ${rows[0].relname}` })
    } catch (error) {
      const { code } = error as { code?: string }
      // A constraint: a row of a company that is not there cannot be written.
      if (!code?.startsWith('23')) leaks.push({ text, why: String(error) })
    } finally {
      await ask('rollback')
    }
    return true
  }

  pg.Client.prototype.query = function query(this: pg.Client, ...given: unknown[]) {
    const run = () => original.apply(this, given)
    const { text, values } = (given[0] ?? {}) as Config
    if (this === probe || !text || !values || !/^\s*(select|update|delete|with)/i.test(text)) {
      return run()
    }
    const count = seen.get(text) ?? { found: 0, runs: 0 }
    seen.set(text, count)
    if (count.found >= ENOUGH.found || count.runs >= ENOUGH.runs) return run()
    count.runs += 1
    const tried = queue.then(() => tryOut({ text, values }))
    queue = tried
    const note = (named: boolean, result?: pg.QueryResult) => {
      if (named && (result?.rowCount ?? 0) > 0) count.found += 1
    }
    const callback = given.at(-1)
    if (typeof callback !== 'function') {
      return tried.then(async (named) => {
        const result = await run()
        note(named, result)
        return result
      })
    }
    tried.then((named) => {
      const done: Callback = (error, result) => {
        note(named, result)
        ;(callback as Callback)(error, result)
      }
      original.apply(this, [...given.slice(0, -1), done])
    }, callback as Callback)
  } as typeof pg.Client.prototype.query

  return {
    leaks,
    /** The statements that found something for whom they named, and were tried for a stranger. */
    tried: () => [...seen].filter(([, { found }]) => found > 0).map(([text]) => text),
    async stop() {
      pg.Client.prototype.query = original as typeof pg.Client.prototype.query
      await queue
      await probe.end()
    },
  }
}

/** The same value for a company that has nothing. */
function asStranger(value: unknown, companies: Set<string>): unknown {
  if (Array.isArray(value)) {
    const changed = value.map((one) => asStranger(one, companies))
    return changed.some((one, i) => one !== value[i]) ? changed : value
  }
  if (typeof value === 'string') return companies.has(value) ? STRANGER : value
  if (!Buffer.isBuffer(value)) return value
  let bytes = value
  for (const id of companies) {
    for (let at = bytes.indexOf(bytesOf(id)); at >= 0; at = bytes.indexOf(bytesOf(id))) {
      if (bytes === value) bytes = Buffer.from(value)
      bytesOf(STRANGER).copy(bytes, at)
    }
  }
  return bytes
}

/** What sums, counts and lists of nothing are. How far the feed reaches is the same for all. */
const isEmpty = ({ next: _, ...row }: Record<string, unknown>): boolean =>
  Object.values(row).every(
    (value) => !value || value === '0' || (Array.isArray(value) && value.length === 0),
  )
