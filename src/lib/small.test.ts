import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBuckets } from './bucket.ts'
import { formatMoment } from './local-time.ts'
import { isAddress, readMailbox } from './mailbox.ts'
import { formatReais, toCents } from './money.ts'
import { oneLine } from './one-line.ts'

test('anything but a non-negative integer is not money', () => {
  for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1.5', 'x']) {
    assert.throws(() => toCents(value))
  }
})

test('a bucket lets a burst through, then its rate, and tells how long to wait', () => {
  const buckets = createBuckets(10, 3)
  assert.deepEqual(
    [0, 0, 0].map(() => buckets.take('key', 0)),
    [0, 0, 0],
  )
  assert.equal(buckets.take('key', 0), 0.1)
  assert.equal(buckets.take('other', 0), 0, 'another name has its own')
  assert.equal(buckets.take('key', 100), 0)
  assert.ok(buckets.take('key', 150) > 0)
})

test('no sequence of requests gets more than burst plus rate times time', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }), (pauses) => {
      const buckets = createBuckets(20, 5)
      let now_ms = 0
      let passed = 0
      for (const pause of pauses) {
        now_ms += pause
        if (buckets.take('key', now_ms) === 0) passed += 1
      }
      assert.ok(passed <= 5 + (now_ms / 1000) * 20 + 1e-6)
    }),
  )
})

test('money is written as people in Brazil read it, to the last cent', () => {
  const shown = [0, 5, 99, 100, 123456, 100_000_000, Number.MAX_SAFE_INTEGER].map((cents) =>
    formatReais(toCents(cents)),
  )
  assert.deepEqual(shown.slice(0, 4), ['R$ 0,00', 'R$ 0,05', 'R$ 0,99', 'R$ 1,00'])
  assert.deepEqual(shown.slice(4), ['R$ 1.234,56', 'R$ 1.000.000,00', 'R$ 90.071.992.547.409,91'])
})

test('a moment is written by the clock of Brasília', () => {
  assert.equal(formatMoment(new Date('2026-08-20T15:04:59Z')), '20/08/2026 12:04')
  assert.equal(formatMoment(new Date('2026-01-01T02:59:00Z')), '31/12/2025 23:59')
  assert.equal(formatMoment(new Date('2026-01-01T03:00:00Z')), '01/01/2026 00:00')
})

test('a mailbox is one address, with a name or without', () => {
  const address = 'oi@example.com'
  assert.deepEqual(readMailbox(address), { name: '', address })
  assert.deepEqual(readMailbox(`Padaria, a boa <${address}>`), { name: 'Padaria, a boa', address })
  assert.deepEqual(readMailbox(`"Pão" <${address}>`), { name: 'Pão', address })
  assert.deepEqual(readMailbox(`<${address}>`), { name: '', address })
  for (const text of ['', 'x', `${address},${address}`, `A\n<${address}>`, `A <${address}> B`]) {
    assert.equal(readMailbox(text), null, text)
  }
  assert.equal(isAddress(`${'x'.repeat(64)}@${'y'.repeat(200)}.com`), false)
})

test('text of others is one line', () => {
  assert.equal(oneLine(' a\r\nb\u2028c\0d\t e\u202e '), 'a b c d e')
  assert.equal(oneLine('Família 👩‍👩‍👧 Silva'), 'Família 👩‍👩‍👧 Silva')
})
