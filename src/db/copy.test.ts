import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { emptyDatabase } from '../../test/support/database.ts'
import { CopyIn, copyOut } from './copy.ts'
import { openTableClient } from './table-client.ts'

const client = await openTableClient(await emptyDatabase(), 'test')
after(() => client.end())
const columns = 'id, words, bytes, document, moment, day, list, amount, yes'
await client.query(
  `create table source (id int8, words text, bytes bytea, document jsonb, moment timestamptz,
     day date, list text[], amount numeric, yes bool);
   create table target (like source)`,
)

const text = fc.string({ unit: 'binary' }).map((one) => one.replaceAll('\0', '').toWellFormed())
const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })
const row = fc.tuple(
  optional(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
  optional(fc.oneof(text, fc.constantFrom('\\N', '\\.', '', 'a\tb\nc\rd\\e'))),
  optional(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
  optional(text.map((one) => JSON.stringify({ one }))),
  optional(
    fc.date({ min: new Date('0001-01-01'), max: new Date('9999-01-01'), noInvalidDate: true }),
  ),
  optional(fc.constantFrom('2026-11-19', 'infinity', '0001-01-01 BC')),
  optional(fc.array(text)),
  optional(fc.constantFrom('0.1', 'NaN', '123456789012345678901234567890.5')),
  optional(fc.boolean()),
)

test('rows of any values are the same after they were copied out and in', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (rows) => {
      await client.query('truncate source, target')
      for (const values of rows) {
        await client.query(`insert into source values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, values)
      }
      const lines = await Array.fromAsync(copyOut(client, `select ${columns} from source`))
      const copy = new CopyIn(client, `target (${columns})`)
      for (const one of lines) await copy.write(one)
      assert.equal(await copy.end(), rows.length)
      const { rows: different } = await client.query(
        `(select s::text from source s except all select t::text from target t) union all
         (select t::text from target t except all select s::text from source s)`,
      )
      assert.deepEqual(different, [])
    }),
    { numRuns: 100 },
  )
})

test('a reader that is slow makes the server wait, and memory stays as it is', async () => {
  const row_bytes = 1000
  const query = `select repeat('x', ${row_bytes}) from generate_series(1, 100000)`
  let [bytes, most] = [0, 0]
  for await (const lines of copyOut(client, query)) {
    bytes += lines.length
    most = Math.max(most, lines.length)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(bytes, 100_000 * (row_bytes + 1))
  assert.ok(most < 4 * 1024 * 1024, `at most ${most} bytes were held`)
})

test('a row that the table refuses ends the copy with the error of the database', async () => {
  const copy = new CopyIn(client, 'target (id)')
  await copy.write(Buffer.from('no number\n'))
  await assert.rejects(copy.end(), /invalid input syntax for type bigint/)
  await assert.rejects(Array.fromAsync(copyOut(client, 'select * from nowhere')), /does not exist/)
  assert.equal((await client.query('select 1 as one')).rows[0].one, 1)
})
