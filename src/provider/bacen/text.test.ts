import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatDecimal, toCents } from '../../lib/money.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { plainWords, readAmount, readDay, readLocation, readMoment, writeMoment } from './text.ts'

test('every amount is read back as it was written, to the cent', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_AMOUNT }), (cents) => {
      const written = formatDecimal(toCents(cents))
      assert.match(written, /^\d{1,10}\.\d{2}$/)
      assert.equal(readAmount(written), cents)
      assert.equal(readAmount(Number(written)), cents)
    }),
  )
})

test('amounts with fewer decimals are whole, and what is no amount is none', () => {
  const amounts = {
    '12': 1200,
    '12.3': 1230,
    '37.000': 3700,
    '37.1200': 3712,
    '0.07': 7,
    ' 5.00 ': 500,
    '007.10': 710,
  }
  for (const [text, cents] of Object.entries(amounts)) assert.equal(readAmount(text), cents)
  const wrong = ['', '12,34', '1.234,56', '-1.00', '1.005', '1e3', '0x10', 'NaN', '.5', '5.']
  for (const value of [
    ...wrong,
    '9'.repeat(13),
    null,
    undefined,
    {},
    [],
    true,
    -5,
    1e21,
    0.1 + 0.2,
  ]) {
    assert.equal(readAmount(value), null, String(value))
  }
})

test('every moment is read back, to the second where a bank has no milliseconds', () => {
  const range = { min: new Date('2020-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }
  fc.assert(
    fc.property(fc.date(range), (at) => {
      const second = new Date(Math.floor(at.getTime() / 1000) * 1000)
      for (const offset of ['Z', '-03:00'] as const) {
        assert.deepEqual(readMoment(writeMoment(at, { dates: 'milliseconds', offset })), at)
        const written = writeMoment(at, { dates: 'seconds', offset })
        assert.match(written, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|-03:00)$/)
        assert.deepEqual(readMoment(written), second)
      }
    }),
  )
})

test('moments are read with any offset and precision, and by the clock of Brasília without one', () => {
  const noon = new Date('2026-03-01T15:00:00.000Z')
  const same = ['2026-03-01T15:00:00Z', '2026-03-01T12:00:00-03:00', '2026-03-01T12:00:00.000']
  for (const text of [...same, '2026-03-01 12:00:00-0300', '2026-03-01T15:00:00.000000z']) {
    assert.deepEqual(readMoment(text), noon, text)
  }
  const leap = new Date('2027-01-01T00:00:00.000Z')
  for (const text of ['2026-12-31T23:59:60Z', '2026-12-31T20:59:60.250-03:00']) {
    assert.deepEqual(readMoment(text), leap, text)
  }
  for (const value of [
    '',
    '2026-03-01',
    '2026-13-01T00:00:00Z',
    '2026-03-01T12:00:61Z',
    'agora',
    1772377200,
    null,
  ]) {
    assert.equal(readMoment(value), null, String(value))
  }
  assert.equal(readDay('2026-03-01T00:00:00Z'), '2026-03-01')
  assert.equal(readDay('2026-02-30'), null)
})

test('a location loses its scheme, and what no code could hold is none', () => {
  assert.equal(readLocation('https://pix.example.com/v2/abc'), 'pix.example.com/v2/abc')
  assert.equal(readLocation(' pix.example.com/v2/abc '), 'pix.example.com/v2/abc')
  for (const value of ['', 'a b', 'x'.repeat(78), 'é', 'ftp://pix.example.com', 7, null]) {
    assert.equal(readLocation(value), null)
  }
})

test('what a bank says is shown without keys, documents, addresses and secrets', () => {
  const secrets = [
    '529.982.247-25',
    '52998224725',
    '12.345.678/0001-95',
    '+5511987654321',
    'ana@example.com',
    '7c084cd4-54af-4172-a516-a7d1a12b75cc',
    'https://x.example/cb/abc',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkw',
    'c2VjcmV0LXNlY3JldC1zZWNyZXQ=',
  ]
  for (const secret of secrets) {
    const words = plainWords(`O valor ${secret} não é aceito.`)
    assert.equal(words, 'O valor … não é aceito', secret)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const words = plainWords(text)
      assert.ok(words.length <= 140)
      assert.doesNotMatch(words, /\p{Cc}|\d{6}|:\/\/\S/u)
    }),
  )
})
