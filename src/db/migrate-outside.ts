import type pg from 'pg'

/** The first line of a migration that must not run in a transaction. */
const MARK = '-- no transaction'
const BUILD = /^create (?:unique )?index concurrently (?:if not exists )?(\w+)/i

/** Whether a migration runs statement by statement, outside a transaction. */
export const isOutside = (sql: string): boolean => sql.split('\n', 1)[0]!.trim() === MARK

/** A statement ends with a semicolon at the end of a line. Comments are dropped. */
export function statementsOf(sql: string): string[] {
  return sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/**
 * Runs each statement by itself. After an end in the middle it is run again from its beginning, so
 * every statement must be one that can be repeated. An index that is already built is left as it
 * is; one that was left half-built is dropped first, because `if not exists` would keep it.
 */
export async function runOutside(
  client: pg.Client,
  sql: string,
  report: (line: string) => void = () => {},
): Promise<void> {
  // A server may end long statements for everybody, and an index of a large table takes long.
  await client.query('set statement_timeout = 0')
  for (const statement of statementsOf(sql)) {
    const name = BUILD.exec(statement)?.[1]
    const state = name === undefined ? 'missing' : await stateOf(client, name)
    if (state === 'built') continue
    if (state === 'half-built') await client.query(`drop index concurrently ${name}`)
    if (name !== undefined) report(`building the index ${name}, which may take long`)
    await client.query(statement)
  }
}

async function stateOf(
  client: pg.Client,
  index: string,
): Promise<'missing' | 'half-built' | 'built'> {
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [index],
  )
  return rows[0] ? (rows[0].valid ? 'built' : 'half-built') : 'missing'
}
