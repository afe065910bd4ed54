import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatDecimal, formatReais, readReais, toCents } from './money.ts'

const amounts = fc.integer({ min: 0, max: 999_999_999_999 })

test('an amount that we have written is read as the same cents', () => {
  fc.assert(
    fc.property(amounts, (cents) => {
      const shown = formatReais(cents)
      const forms = [shown, shown.slice(3), shown.replaceAll('.', ''), ` ${shown.toLowerCase()} `]
      for (const form of [...forms, formatDecimal(toCents(cents))]) {
        assert.equal(readReais(form), cents, form)
      }
    }),
  )
})

test('whole reais need no cents', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9_999_999_999 }), (reais) => {
      assert.equal(readReais(String(reais)), reais * 100)
      assert.equal(readReais(formatReais(reais * 100).slice(0, -3)), reais * 100)
    }),
  )
})

test('what people type', () => {
  const typed: Record<string, number | null> = {
    '19,90': 1990,
    '19.90': 1990,
    'R$ 1.234,56': 123_456,
    'R$\u00a01.234,56': 123_456,
    r$10: 1000,
    '1.234': 123_400,
    '10,5': 1050,
    '0,01': 1,
    '0': 0,
    '': null,
    ',50': null,
    '1.5': null,
    '1,234.56': null,
    '12.34,56': null,
    '10,999': null,
    '-5,00': null,
    '10 reais': null,
    '1e3': null,
    '١٢': null,
  }
  for (const [text, cents] of Object.entries(typed)) assert.equal(readReais(text), cents, text)
})

test('any other text is refused, and never throws', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const cents = readReais(text)
      assert.ok(cents === null || (Number.isSafeInteger(cents) && cents >= 0))
    }),
  )
})
