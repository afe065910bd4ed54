import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { cloneDatabase } from '../../test/support/database.ts'
import { booleans, bytes, dates, integers, texts, tids, timestamps, uuids } from './arrays.ts'

const url = await cloneDatabase()

async function roundTrip<T>(type: string, array: Buffer): Promise<T[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ value: T }>(
      `select value${type === 'date' ? '::text' : ''} from unnest($1::${type}[]) with ordinality t (value, n) order by n`,
      [array],
    )
    return rows.map(({ value }) => value)
  } finally {
    await client.end()
  }
}

const orNull = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values), { maxLength: 20 })
const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'))
const moment = fc.date({
  min: new Date('1970-01-01'),
  max: new Date('2200-01-01'),
  noInvalidDate: true,
})

const place = fc
  .tuple(fc.nat(2 ** 32 - 1), fc.nat(2 ** 16 - 1))
  .map(([block, row]) => `(${block},${row})`)

const cases: [type: string, values: fc.Arbitrary<unknown[]>, encode: (values: never) => Buffer][] =
  [
    ['uuid', orNull(fc.uuid()), uuids],
    ['text', orNull(text), texts],
    ['int8', orNull(fc.maxSafeInteger()), integers],
    ['bool', orNull(fc.boolean()), booleans],
    ['bytea', orNull(fc.uint8Array().map((part) => Buffer.from(part))), bytes],
    ['timestamptz', orNull(moment), timestamps],
    ['tid', orNull(place), tids],
    ['date', orNull(moment.map((day) => day.toISOString().slice(0, 10))), dates],
  ]

for (const [type, values, encode] of cases) {
  test(`PostgreSQL reads back every ${type} of a binary array, and every null`, async () => {
    await fc.assert(
      fc.asyncProperty(values, async (sent) => {
        const received = await roundTrip<unknown>(type, encode(sent as never))
        const seen = type === 'int8' ? received.map((n) => (n === null ? n : Number(n))) : received
        assert.deepEqual(seen, sent)
      }),
      { numRuns: 20 },
    )
  })
}
