import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createVault } from '../../lib/vault.ts'
import { digitParts, mailParts, nameParts, nameStarts, partsOf } from './parts.ts'

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`))
const local = fc.stringMatching(/^[a-z0-9._-]{1,24}$/)
const domain = fc.oneof(
  fc.constantFrom('gmail.com', 'hotmail.com', 'uol.com.br', 'padaria.com.br'),
  fc.stringMatching(/^[a-z]{1,12}\.(com|com\.br|org)$/),
)
const person = fc.record({
  name: fc
    .array(fc.stringMatching(/^[A-Za-zÀ-ÿ]{1,9}$/), { minLength: 1, maxLength: 5 })
    .map((words) => words.join(' ')),
  taxId: fc.oneof(digits(11), digits(14)),
  phone: fc.oneof(digits(10), digits(11)),
  email: fc.tuple(local, domain).map((both) => both.join('@')),
})
const LARGE = /@(gmail|hotmail|uol)\./
const slice = fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 20 }))

test('whoever has what is looked for has all its parts in the index', () => {
  fc.assert(
    fc.property(person, slice, (one, [at, length]) => {
      const parts = new Set(partsOf(one))
      const cut = (text: string) => text.slice(at % text.length, (at % text.length) + length)
      for (const [name, sought] of [
        ['name', nameParts(cut(one.name))],
        ['beginnings', nameStarts(cut(one.name))],
        ['phone', digitParts(cut(one.phone))],
        ['tax id', digitParts(cut(one.taxId.slice(one.taxId.length === 11 ? 6 : 8)))],
        ['end', digitParts(one.phone.slice(-4))?.end],
        ['email', mailParts(cut(one.email))],
        ['email in capitals', mailParts(cut(one.email.toUpperCase()))],
      ] as const) {
        // What is after the @ of a large service is not indexed.
        const isService = name.startsWith('email') && at % one.email.length > one.email.indexOf('@')
        if (!sought?.isOf(one) || (isService && LARGE.test(one.email))) continue
        assert.deepEqual(
          sought.parts.filter((part) => !parts.has(part)),
          [],
          name,
        )
      }
    }),
    { numRuns: 500 },
  )
})

const ANA = { name: 'Ana', taxId: '52998224725', phone: '11988887777', email: 'ana@gmail.com' }

test('of a tax id only the digits that lists show are indexed, and of a large service nothing', () => {
  const parts = partsOf(ANA)
  for (const hidden of ['5299', '2998', '9982', '9822', '8224']) {
    assert.ok(!parts.includes(`d${hidden}`), hidden)
  }
  assert.ok(parts.includes('d2472') && parts.includes('d4725') && parts.includes('e4725'))
  assert.ok(!parts.some((part) => /gma|mai|ail/.test(part)), `${parts}`)
  assert.equal(digitParts('5299')!.isOf(ANA), false)
})

test('a person has a bounded number of parts, numbers before all others', () => {
  const long = { ...ANA, name: 'abcdefghij '.repeat(23), email: `${'a1b2c3'.repeat(20)}@x.org` }
  const parts = partsOf(long)
  assert.ok(parts.length <= 96)
  assert.ok(parts.includes('e7777') && parts.includes('d1198'))
  assert.ok(nameParts('x'.repeat(255))!.parts.length <= 16)
})

test('short texts, and what all addresses have, are no parts', () => {
  for (const text of ['', 'ab', '.com', 'com', '.com.br', 'a b'])
    assert.equal(mailParts(text), null, text)
  for (const text of ['', '123', 'a1234', '1'.repeat(15), '12,90']) {
    assert.equal(digitParts(text), null, text)
  }
  assert.equal(nameParts('Zé'), null)
})

test('names are found by the beginnings of their words, also of short ones', () => {
  const person = { ...ANA, name: "João Lú 3e5 D'Ávila Ltda." }
  for (const text of ['joao', 'jo', 'lu', 'avil jo', '3e5', 'ltda d', 'João Lú']) {
    const words = nameStarts(text)
    const isFound = words?.parts.every((part) => partsOf(person).includes(part))
    assert.equal(isFound && words?.isOf(person), true, text)
  }
  for (const text of ['joana', 'oao', 'vila', 'ltda e', 'DÁ']) {
    assert.equal(nameStarts(text)?.isOf(person), false, text)
  }
  for (const text of ['', 'a', '!']) assert.equal(nameStarts(text), null, text)
})

test('tokens differ from company to company and from secret to secret, and are 32 bits', () => {
  const parts = partsOf(ANA)
  const vault = createVault(Buffer.alloc(32, 1))
  const tokens = vault.tokens('one', parts)
  assert.deepEqual(vault.tokens('one', parts), tokens)
  assert.deepEqual(vault.tokens('one', parts.slice(1)), tokens.slice(1), 'each for itself')
  const others = [
    ...vault.tokens('two', parts),
    ...createVault(Buffer.alloc(32, 2)).tokens('one', parts),
  ]
  assert.ok(others.every((token) => !tokens.includes(token)))
  assert.ok(tokens.every((token) => Number.isInteger(token) && Math.abs(token) <= 2 ** 31))
})
