import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAddress, readMailbox } from './mailbox.ts'
import { formatReais, toCents } from './money.ts'
import { oneLine, withoutLinks } from './one-line.ts'

test('anything but a non-negative integer is not money', () => {
  for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1.5', 'x']) {
    assert.throws(() => toCents(value))
  }
})

test('money is written as people in Brazil read it, to the last cent', () => {
  const shown = [0, 5, 99, 100, 123456, 100_000_000, Number.MAX_SAFE_INTEGER].map((cents) =>
    formatReais(toCents(cents)),
  )
  assert.deepEqual(shown.slice(0, 4), ['R$ 0,00', 'R$ 0,05', 'R$ 0,99', 'R$ 1,00'])
  assert.equal(formatReais(-4005), '− R$ 40,05')
  assert.equal(formatReais(10n ** 20n), 'R$ 1.000.000.000.000.000.000,00')
  assert.deepEqual(shown.slice(4), ['R$ 1.234,56', 'R$ 1.000.000,00', 'R$ 90.071.992.547.409,91'])
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

test('no text of a stranger has an address that a mail program makes a link of', () => {
  const divided: [written: string, shown: string][] = [
    ['http://evil.example click here', 'http: / /evil. example click here'],
    ['a@b.c', 'a @ b. c'],
    ['www.evil.com.br/x', 'www. evil. com. br/x'],
    ['evil\u200b.com', 'evil . com'],
    ['evil.\u2060com', 'evil. com'],
    ['evil．com 或 evil。com', 'evil． com 或 evil。 com'],
    ['ma\u00adria＠evil', 'ma ria ＠ evil'],
    ['tel:+551199 mailto:x', 'tel: +551199 mailto: x'],
    ['\\\\evil\\share //evil', '\\ \\evil\\share / /evil'],
    ['J.Silva\u3164 & Cia. Ltda.', 'J. Silva & Cia. Ltda.'],
  ]
  for (const [written, shown] of divided) assert.equal(withoutLinks(written), shown)
  for (const plain of [
    'R$ 1.234,56 em 20/08/2026 às 12:30',
    '11.222.333/0001-81 · ***.***.247-25',
    'Café "Açaí", Ltda. ☕️ Família 👩‍👩‍👧 Silva @ 10',
    'GET /webhook/{id}/deliveries: veja',
  ]) {
    assert.equal(withoutLinks(plain), plain)
  }
})
