import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Finding } from './finding.ts'

/** Connections of a process beside those for requests and those for tasks. */
const OTHER_CONNECTIONS = 16

type Setting = { name: string; setting: string }

/** Settings that must be as they are here, and what happens otherwise. */
const NEEDED: Record<string, [value: string, harm: string]> = {
  jit: [
    'off',
    'statements are compiled at each run, which takes seconds (a pooler may drop our jit=off)',
  ],
  autovacuum: ['on', 'tables and indexes grow without end'],
  track_counts: ['on', 'autovacuum does not know where to work'],
  enable_indexscan: ['on', 'due work is looked for in whole tables'],
  enable_bitmapscan: ['on', 'lists are looked for in whole tables'],
  enable_memoize: ['on', 'joins are slow'],
}

/** Looks for settings of the server that make Vintém slow, or stop it under load. */
export async function inspectSettings(db: Database, config: Config): Promise<Finding> {
  const rows = await db.query<Setting>({
    text: `select name, setting from pg_settings where name = any ($1::text[])`,
    values: [[...Object.keys(NEEDED), 'max_connections', 'superuser_reserved_connections']],
  })
  const values = new Map(rows.map(({ name, setting }) => [name, setting]))
  const harms = findHarms(values, config.databasePoolSize)
  if (harms.length === 0) return ['ok', 'No setting of PostgreSQL hurts.']
  return ['warning', `Set in PostgreSQL: ${harms.join('; ')}.`]
}

/** What is set so that it hurts, each with what to set and why. */
export function findHarms(values: ReadonlyMap<string, string>, poolSize: number): string[] {
  const harms = Object.entries(NEEDED)
    .filter(([name, [value]]) => values.has(name) && values.get(name) !== value)
    .map(([name, [value, harm]]) => `${name} = ${value}, or ${harm}`)
  const reserved = Number(values.get('superuser_reserved_connections') ?? 0)
  const free = Number(values.get('max_connections')) - reserved
  const needed = 2 * poolSize + OTHER_CONNECTIONS
  if (free < needed) {
    harms.push(`max_connections = ${needed + reserved} or more, or one process uses them all up`)
  }
  return harms
}
