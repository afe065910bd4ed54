import type { Config } from '../config.ts'
import { mostConnections } from '../db/connection-counts.ts'
import type { Database } from '../db/database.ts'
import type { Finding } from './finding.ts'

type Setting = { name: string; setting: string }

/** Settings that must have these values, and what happens otherwise. */
const NEEDED: Record<string, [value: string, harm: string]> = {
  jit: [
    'off',
    'statements are compiled at each run, which takes seconds (a pooler may drop our jit=off)',
  ],
  autovacuum: ['on', 'tables and indexes grow without end'],
  track_counts: ['on', 'autovacuum does not find the tables that need it'],
  enable_indexscan: ['on', 'due work is found by reading whole tables'],
  enable_bitmapscan: ['on', 'lists are found by reading whole tables'],
  enable_memoize: ['on', 'joins are slow'],
}

/** Finds settings of PostgreSQL that make Vintém slow, or stop it under load. */
export async function inspectSettings(db: Database, config: Config): Promise<Finding> {
  const rows = await db.query<Setting>({
    text: `select name, setting from pg_settings where name = any ($1::text[])`,
    values: [[...Object.keys(NEEDED), 'max_connections', 'superuser_reserved_connections']],
  })
  const values = new Map(rows.map(({ name, setting }) => [name, setting]))
  const wrong = findWrongSettings(values, config.databasePoolSize, config.processes)
  if (wrong.length === 0) return ['ok', 'All settings of PostgreSQL are right.']
  return ['warning', `Set in PostgreSQL: ${wrong.join('; ')}.`]
}

/** The wrong settings, each with the right value and the reason. */
export function findWrongSettings(
  values: ReadonlyMap<string, string>,
  poolSize: number,
  processes: number,
): string[] {
  const wrong = Object.entries(NEEDED)
    .filter(([name, [value]]) => values.has(name) && values.get(name) !== value)
    .map(([name, [value, harm]]) => `${name} = ${value}, or ${harm}`)
  const reserved = Number(values.get('superuser_reserved_connections') ?? 0)
  const free = Number(values.get('max_connections')) - reserved
  const needed = mostConnections(poolSize, processes)
  if (free < needed) {
    const who = processes === 1 ? 'one process uses' : `${processes} processes use`
    wrong.push(`max_connections = ${needed + reserved} or more, or ${who} them all up`)
  }
  return wrong
}
