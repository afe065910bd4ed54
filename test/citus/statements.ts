import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import { cloneDatabase } from '../support/database.ts'

/**
 * What is no question to the tables of a place, or ends a connection, or waits. Migrations begin
 * with a comment, and go to the coordinator.
 */
const LEFT_OUT = [
  /^\s*(?:begin|commit|rollback|set|reset|show|listen|unlisten|vacuum|analyze|checkpoint)\b/i,
  /^\s*(?:create|alter|drop|lock|truncate|copy|reindex|grant|revoke|do|explain|--)/i,
  /pg_(?:terminate_backend|cancel_backend|sleep|promote|reload_conf|advisory_lock)/i,
]
/** Not supported, an internal error, or a syntax error in what Citus makes of a statement. */
const REFUSED = /^(?:0A000|XX000|42601)$/

const isKnown = (text: string): boolean => !LEFT_OUT.some((pattern) => pattern.test(text))

/** The statements that tests have sent, see support/recorded-statements.ts. */
function readStatements(path: string): string[] {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const texts = lines.map((line): string => JSON.parse(line))
  return [...new Set(texts)].filter(isKnown).sort()
}

/** A value for a parameter. With nulls Citus would not plan what it plans for a company. */
function sampleOf(type: string): unknown {
  if (type.endsWith('[]')) return '{}'
  if (type === 'uuid') return randomUUID()
  if (type === 'boolean') return false
  if (/^(?:date|time)/.test(type)) return new Date(0)
  if (/^json/.test(type)) return '[]'
  if (type === 'tid') return '(0,1)'
  return /^(?:smallint|integer|bigint|numeric|double precision|real)$/.test(type) ? 1 : ''
}

async function typesOf(client: pg.Client, text: string): Promise<string[]> {
  const name = 'asked'
  await client.query(`prepare ${name} as ${text}`)
  const { rows } = await client.query<{ types: string[] }>(
    'select parameter_types::text[] as types from pg_prepared_statements where name = $1',
    [name],
  )
  await client.query(`deallocate ${name}`)
  return rows[0]!.types
}

/** Runs a statement in a transaction that is undone, and returns why Citus refuses it. */
async function refusalOf(client: pg.Client, text: string): Promise<string | null> {
  try {
    await client.query('begin')
    const types = await typesOf(client, text)
    await client.query(text, types.map(sampleOf))
    return null
  } catch (error) {
    const { code, message } = error as pg.DatabaseError
    return REFUSED.test(code ?? '') ? message : null
  } finally {
    await client.query('rollback')
  }
}

test('Citus takes every statement of the tests', async () => {
  const client = new pg.Client(await cloneDatabase())
  await client.connect()
  const statements = readStatements(process.env.TEST_STATEMENTS_READ!)
  assert.ok(statements.length > 10, 'statements are recorded')
  const refused: { error: string; text: string }[] = []
  try {
    for (const text of statements) {
      const error = await refusalOf(client, text)
      if (error !== null) refused.push({ error, text: text.replace(/\s+/g, ' ') })
    }
  } finally {
    await client.end()
  }
  console.log(`${statements.length} statements, ${refused.length} refused`)
  assert.deepEqual(refused, [])
})
