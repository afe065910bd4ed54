import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PATTERNS, toPlain, type Written } from './written.ts'

const PLAIN: Record<Written, RegExp> = {
  'tax-id': /^([0-9]{11}|[A-Z0-9]{12}[0-9]{2})$/,
  phone: /^[0-9]{10,11}$/,
  'postal-code': /^[0-9]{8}$/,
}
const KINDS = Object.keys(PLAIN) as Written[]

const WRITTEN: [Written, string, string][] = [
  ['tax-id', '529.982.247-25', '52998224725'],
  ['tax-id', ' 529 982 247 25 ', '52998224725'],
  ['tax-id', '11.222.333/0001-81', '11222333000181'],
  ['tax-id', '12.abc.345/01de-35', '12ABC34501DE35'],
  ['phone', '(11) 98888-8888', '11988888888'],
  ['phone', '+55 (11) 98888.8888', '11988888888'],
  ['phone', '(+55) 11 3888-8888', '1138888888'],
  ['phone', '+5555988888888', '55988888888'],
  ['phone', '55 98888-8888', '55988888888'],
  ['postal-code', '01310-100', '01310100'],
  ['postal-code', '01.310-100', '01310100'],
]

const REFUSED: [Written, string][] = [
  ...['', ' ', '.-/', '5299822472', '529.982.247-2５', '529_982_247_25', '529\n982.247-25'].map(
    (text): [Written, string] => ['tax-id', text],
  ),
  ...['', '()', '+55', '+54 11 98888-8888', '5511988888888', '+55+5511988888888'].map(
    (text): [Written, string] => ['phone', text],
  ),
  ...['11/98888-8888', '(１１) 98888-8888', '11 98888-8888 r. 2', '988888888'].map(
    (text): [Written, string] => ['phone', text],
  ),
  ...['', '-', '0131-10', '01310-1000', '01310–100', '0131o-100'].map((text): [Written, string] => [
    'postal-code',
    text,
  ]),
]

test('the usual ways to write a tax id, a phone and a postal code have one plain form', () => {
  for (const [kind, text, plain] of WRITTEN) assert.equal(toPlain(kind, text), plain, text)
})

test('other characters and other lengths are not accepted, and stay as they were written', () => {
  for (const [kind, text] of REFUSED) {
    assert.equal(toPlain(kind, text), text)
    assert.doesNotMatch(text, new RegExp(PATTERNS[kind], 'u'), text)
  }
})

test('what a pattern accepts has a plain form, which is accepted and stays the same', () => {
  const characters = fc.constantFrom(...'0123456789abzAZ ./-()+\n５é')
  const text = fc.array(characters, { maxLength: 24 }).map((all) => all.join(''))
  const near = fc
    .tuple(fc.constantFrom(...WRITTEN.map(([, one]) => one)), text, fc.nat(20))
    .map(([one, more, at]) => one.slice(0, at) + more.slice(0, 2) + one.slice(at))
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), fc.oneof(text, near), (kind, given) => {
      const isAccepted = new RegExp(PATTERNS[kind], 'u').test(given)
      const plain = toPlain(kind, given)
      assert.equal(PLAIN[kind].test(plain), isAccepted, given)
      assert.equal(toPlain(kind, plain), plain)
    }),
    { numRuns: 2000 },
  )
})

test('no text, however long, takes a pattern more than time in proportion to its length', () => {
  const start = process.cpuUsage()
  for (const pattern of Object.values(PATTERNS)) {
    for (const one of [' ', '(', '-', '. ', '1', '1 ', '+55', '(+55']) {
      assert.doesNotMatch(`${one.repeat(60_000)}x`, new RegExp(pattern, 'u'))
    }
  }
  // A pattern that goes back to every position takes minutes for these; ours take milliseconds.
  assert.ok(process.cpuUsage(start).user < 5_000_000, 'microseconds of this process alone')
})

test('text that is longer than anybody writes is left as it is', () => {
  assert.equal(toPlain('postal-code', `01310${'-'.repeat(56)}100`), '01310100')
  const long = `01310${'-'.repeat(57)}100`
  assert.equal(toPlain('postal-code', long), long)
})
