import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReais } from './bank.ts'

test('an amount is read as people write it, and nothing else is', () => {
  const amounts: [string, number | null][] = [
    ['19,90', 1990],
    ['19,9', 1990],
    ['19.90', 1990],
    ['19', 1900],
    ['R$ 1.234,56', 123_456],
    [' 0,01 ', 1],
    ['1.000', 100_000],
    ...['', '0', '0,00', '-1', '1e3', '1,234.56', '19,901', '1 000', '99999999999,00'].map(
      (text) => [text, null] as [string, null],
    ),
  ]
  for (const [text, cents] of amounts) assert.equal(readReais(text), cents, text)
})
