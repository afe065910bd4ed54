import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId, packPair, suffixOf, toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { isValidTaxId, punctuateTaxId } from '../../pix/tax-id.ts'
import { staticTxid } from '../../provider/txid.ts'
import { meaningsOf, SOUGHT } from './search.ts'

const first = (text: string) => meaningsOf(text)[0]
const kinds = (text: string) => meaningsOf(text).map(({ kind }) => kind)

/** As it is pasted: with spaces around it, or characters that nobody sees. */
const pasted = (text: string) => [text, `  ${text}\n`, `\u200e${text}\ufeff`]

test('the id of a charge and the addresses of its pages are the charge', () => {
  for (let i = 0; i < 100; i++) {
    const [company, id] = [newId(), newId()]
    const name = toPublic('charge', id)
    const texts = [
      name,
      name.toUpperCase(),
      `https://pay.example.com/pay/${packPair(company, id)}?lang=en`,
      `https://pay.example.com/dashboard/${suffixOf(company)}/charges/${name}`,
    ]
    for (const text of texts.flatMap(pasted)) {
      assert.deepEqual(meaningsOf(text), [{ kind: 'charge', value: id }], text)
    }
  }
})

test('a txid is that of a charge or of a static code, in small letters or capitals', () => {
  for (let i = 0; i < 100; i++) {
    const id = newId()
    for (const text of [suffixOf(id), staticTxid(id)]) {
      assert.deepEqual(first(text), { kind: 'txid', value: text })
      assert.deepEqual(first(text.toUpperCase())?.kind, 'txid')
    }
  }
})

const digits = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
const text = (numbers: number[]) => numbers.join('')

test('an endToEndId has 32 characters that begin with E', () => {
  fc.assert(
    fc.property(digits(20), fc.stringMatching(/^[A-Za-z0-9]{11}$/), (numbers, rest) => {
      const id = `E${text(numbers)}${rest}`
      for (const one of pasted(id)) {
        assert.deepEqual(first(one), { kind: 'endToEndId', value: id })
      }
    }),
  )
})

test('a CPF or CNPJ is one with and without punctuation', () => {
  fc.assert(
    fc.property(fc.oneof(digits(11), digits(14)), (numbers) => {
      const value = text(numbers)
      for (const one of [value, punctuateTaxId(value)].flatMap(pasted)) {
        assert.deepEqual(first(one), { kind: 'taxId', value }, one)
      }
      assert.deepEqual(kinds(value).includes('externalId'), true)
    }),
  )
  assert.ok(isValidTaxId('12ABC34501DE35'))
  assert.deepEqual(first('12.abc.345/01de-35'), { kind: 'taxId', value: '12ABC34501DE35' })
  assert.equal(first('PEDIDO00000012')?.kind, 'externalId')
})

test('an amount with cents is an amount first, and a whole number is also a reference', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99_999_999 }), (cents) => {
      const shown = formatReais(cents)
      for (const one of [shown, shown.slice(3), shown.replaceAll('.', '')].flatMap(pasted)) {
        assert.deepEqual(first(one), { kind: 'amount', value: cents }, one)
      }
    }),
  )
  assert.deepEqual(meaningsOf('1042'), [
    { kind: 'externalId', value: '1042' },
    { kind: 'amount', value: 104_200 },
    { kind: 'part', value: '1042' },
    { kind: 'referenceStart', value: '1042' },
  ])
  assert.deepEqual(kinds('0'), ['externalId'])
})

test('an e-mail address, a reference and a name', () => {
  assert.deepEqual(first(' Maria@Example.com '), { kind: 'email', value: 'Maria@Example.com' })
  assert.deepEqual(kinds('pedido-1042'), ['externalId', 'name', 'part', 'referenceStart'])
  assert.deepEqual(kinds('João da Silva'), ['externalId', 'name'])
})

test('a phone is one however it is written, and four digits may be a part of one', () => {
  for (const typed of ['(11) 98888-7777', '+55 11 98888.7777', '011 98888 7777']) {
    assert.deepEqual(first(typed), { kind: 'phone', value: '11988887777' }, typed)
  }
  assert.deepEqual(kinds('11988887777').slice(0, 2), ['taxId', 'phone'])
  assert.ok(kinds('8888-7777').includes('part'))
  assert.ok(!kinds('87').includes('part'))
})

test('any text has meanings of different kinds, none of them longer than a field', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (typed) => {
      const found = meaningsOf(typed)
      assert.equal(new Set(found.map(({ kind }) => kind)).size, found.length)
      for (const { kind, value } of found) {
        assert.ok(SOUGHT.includes(kind))
        assert.ok(typeof value === 'number' ? value > 0 : value !== '' && value.length <= 255)
        assert.ok(typeof value === 'number' || (value.isWellFormed() && !value.includes('\0')))
      }
    }),
  )
  assert.deepEqual(meaningsOf(' \u200b '), [])
})
