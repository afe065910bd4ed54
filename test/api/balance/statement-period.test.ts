import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStatement } from '../../../src/ledger/statement.ts'
import { startApi } from '../../support/api.ts'

const api = await startApi()
const MINUTE_MS = 60_000

test('a period has all its entries, also where their times are not quite in their order', async () => {
  const { company } = await api.client()
  const [start, entries] = [api.clock.now().getTime(), 400]
  // Every 20 minutes an entry, give or take 25 minutes.
  const shift = (i: number) => ((i * 7919) % 51) - 25
  const times = Array.from(
    { length: entries - 1 },
    (_, i) => new Date(start + ((i + 2) * 20 + shift(i)) * MINUTE_MS),
  )
  assert.ok(times.some((at, i) => i > 0 && at < times[i - 1]!))
  await api.rows(
    `insert into postings (company_id, entry, kind, ref, debit, credit, amount, available, pending,
       held, unmatched, created_at)
     select $1, n + 1, 'CHARGE_PAID', 'E' || n, 'bank', 'pending', 1, 1, 1, 0, 0, at
     from unnest($2::timestamptz[]) with ordinality t (at, n)`,
    [company.id, times],
  )
  await api.rows('update balances set entries = $2 where company_id = $1', [company.id, entries])
  const read = (from: Date | null, to: Date | null, order: 'newest first' | 'oldest first') =>
    readStatement(api.app.db, company.id, {
      limit: 1000,
      after: null,
      order,
      kind: null,
      account: null,
      from,
      to,
    })
  const all = await read(null, null, 'oldest first')
  assert.equal(all.length, entries)
  const bounds = [null, ...times.filter((_, i) => i % 37 === 0), new Date(start - MINUTE_MS)]
  for (const from of bounds) {
    for (const to of bounds) {
      const isIn = ({ createdAt }: { createdAt: Date }) =>
        (from === null || createdAt >= from) && (to === null || createdAt < to)
      const expected = all.filter(isIn).map(({ entry }) => entry)
      const found = (await read(from, to, 'oldest first')).map(({ entry }) => entry)
      assert.deepEqual(found, expected, `${from?.toISOString()} ${to?.toISOString()}`)
      const newest = (await read(from, to, 'newest first')).map(({ entry }) => entry)
      assert.deepEqual(newest, expected.toReversed())
    }
  }
})
