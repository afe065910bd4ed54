import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SEALED, UNCHANGED } from '../../src/core/secrets/columns.ts'
import { startApi } from '../support/api.ts'

const { rows } = await startApi()

/** Every column of bytes, of all tables. Parts of a table count as that. */
const BYTES = `select c.relname || '.' || a.attname as name
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
    and not c.relispartition and a.atttypid = 'bytea'::regtype order by 1`

const listed = SEALED.flatMap(({ name, sealed, computed, hashed }) =>
  [...Object.keys(sealed), ...Object.keys(computed), ...hashed].map(
    (column) => `${name}.${column}`,
  ),
)

test('every column of bytes is listed with what becomes of it when a secret is replaced', async () => {
  const found = await rows<{ name: string }>(BYTES)
  const ofBytes = listed.filter((name) => name !== 'customers.search_tokens')
  assert.deepEqual(
    [...ofBytes, ...Object.keys(UNCHANGED)].sort(),
    found.map(({ name }) => name).sort(),
  )
  assert.equal(new Set(listed).size, listed.length, 'none is listed twice')
})

test('each table is read in the order of its primary key', async () => {
  for (const { name, key } of SEALED) {
    const found = await rows<{ column: string; type: string }>(
      `select a.attname::text as column, t.typname::text as type
       from pg_constraint p cross join unnest(p.conkey) with ordinality i (attnum, n)
       join pg_attribute a on a.attrelid = p.conrelid and a.attnum = i.attnum
       join pg_type t on t.oid = a.atttypid
       where p.conrelid = $1::regclass and p.contype = 'p' order by i.n`,
      [name],
    )
    assert.deepEqual(
      key,
      found.map(({ column, type }) => [column, type]),
      name,
    )
  }
})
