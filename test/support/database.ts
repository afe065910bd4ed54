import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import pg from 'pg'

/** A database of its own for a test file, cloned from the migrated template in milliseconds. */
export const cloneDatabase = (): Promise<string> => createDatabase('template_vintem')

/** One in which nothing is migrated yet. */
export const emptyDatabase = (): Promise<string> => createDatabase('template1')

async function createDatabase(template: string): Promise<string> {
  const base = process.env.VINTEM_TEST_DATABASE
  if (!base) throw new Error('Run tests through npm test, or node test/run.ts FILE.')
  const name = `test_${randomBytes(8).toString('hex')}`
  await onBase(base, `create database ${name} template ${template}`)
  after(() => onBase(base, `drop database if exists ${name} with (force)`))
  const url = new URL(base)
  url.pathname = `/${name}`
  return url.href
}

async function onBase(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    // Two clones at once wait for each other: PostgreSQL refuses a template that is being copied.
    await client.query('select pg_advisory_lock(1)')
    await client.query(text)
  } finally {
    await client.end()
  }
}
