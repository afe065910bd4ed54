import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KINDS } from '../../src/core/payers/kinds.ts'
import { on } from '../citus/cluster.ts'
import { cloneDatabase } from '../support/database.ts'
import { NOT_OF_PAYERS } from './not-of-payers.ts'

const url = await cloneDatabase()

type Column = { table: string; column: string }

const nameOf = ({ table, column }: Column) => `${table}.${column}`

/** Every column that can hold a text, a hash or something sealed. */
const stored = async () => {
  const { rows } = await on(url, (client) =>
    client.query<Column>(
      `select c.relname as "table", a.attname as "column"
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition and a.attnum > 0 and not a.attisdropped
       and a.atttypid::regtype::text in
         ('text', 'text[]', 'jsonb', 'json', 'bytea', 'integer[]', 'character varying', 'inet')`,
    ),
  )
  return rows
}

const named = (columns: Record<string, readonly string[]>) =>
  Object.entries(columns).flatMap(([table, names]) =>
    names.map((column) => nameOf({ table, column })),
  )

const erased = new Set(KINDS.flatMap(({ columns }) => named(columns)))
const kept = Object.values(NOT_OF_PAYERS).flatMap(named)

test('of every column it is decided whether it may tell who a payer is', async () => {
  const all = (await stored()).map(nameOf)
  assert.ok(all.length > 200, 'the columns are found')
  const undecided = all.filter((name) => !erased.has(name) && !kept.includes(name))
  assert.deepEqual(
    undecided.sort(),
    [],
    'add each of them to a kind in src/core/payers/, or to test/payers/not-of-payers.ts',
  )
})

test('what is decided is decided once, and of columns that there are', async () => {
  const all = new Set((await stored()).map(nameOf))
  const known = [...erased].filter((name) => !/\.customer_id$/.test(name))
  assert.deepEqual([...known, ...kept].filter((name) => !all.has(name)).sort(), [])
  assert.deepEqual(
    kept.filter((name, i) => erased.has(name) || kept.indexOf(name) !== i),
    [],
  )
})
