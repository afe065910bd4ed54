import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ERASED } from '../customers/rules.ts'
import { addTraits, matcherOf, noTraits } from './traits.ts'

const QUITERIA = {
  name: 'Quitéria Zampronha',
  taxId: '98765432100',
  email: 'quiteria.z+loja@example.com',
  phone: '11912345678',
  address: 'Rua do Canário Escondido',
  number: '12',
  district: 'Centro',
}

function matcher(...people: Record<string, string>[]) {
  const traits = noTraits()
  for (const one of people) addTraits(traits, one)
  return matcherOf(traits)
}

test('a text tells who a payer is by any usual writing of what is known of them', () => {
  const { tells, isAbout } = matcher(QUITERIA)
  for (const text of [
    'CPF 987.654.321-00',
    'cpf=98765432100&x',
    'quiteria.z+loja@example.com',
    'to=QUITERIA.Z+LOJA%40EXAMPLE.COM',
    '(11) 91234-5678',
    'tel:+5511912345678',
    '+55 11 91234 5678',
  ])
    assert.ok(isAbout(text) && tells(text), text)
  for (const text of [
    'Para QUITERIA ZAMPRONHA.',
    '{"nome":"Quit\\u00e9ria Zampronha"}',
    'name=quiteria%20zampronha',
    'entregar na rua do canario escondido, 12',
  ])
    assert.ok(tells(text) && !isAbout(text), text)
})

test('what belongs to many people tells nobody', () => {
  const { tells } = matcher(QUITERIA)
  for (const text of [
    '',
    'Centro',
    '12',
    'Quitéria Souza',
    'Zampronha Ltda',
    'E99999999202608201500198765432100x',
    '1198765432100',
    'charge_01k4d5cjd4fv8sgzq9bqyr0vzj',
  ])
    assert.ok(!tells(text), text)
  assert.ok(!matcher({ name: 'Maria', taxId: '98765432100' }).tells('Santa Maria, RS'))
})

test('in texts of their own records a part of the name is enough, and a particle is not', () => {
  const { names } = matcher({ ...QUITERIA, name: 'Quitéria dos Reis' })
  for (const text of ['pedido-quiteria-7', 'Aluguel da Quitéria', 'REIS'])
    assert.ok(names(text), text)
  for (const text of ['dos', 'pedido 7', 'reiserfs']) assert.ok(!names(text), text)
})

test('an answer keeps its form, ids and amounts, and loses the payer', () => {
  const { without } = matcher(QUITERIA)
  const answer = {
    data: {
      id: 'charge_01k4d5cjd4fv8sgzq9bqyr0vzj',
      total: 1990,
      customer: { name: QUITERIA.name, taxId: '***.***.321-00', email: 'q***@example.com' },
      company: { name: 'Padaria Zampronha' },
      shipping: { number: '12', district: 'centro', state: 'SP' },
      items: [{ quantity: 1, product: { name: 'Bolo' } }],
      none: null,
    },
  }
  assert.deepEqual(without(answer), {
    data: {
      ...answer.data,
      customer: { name: ERASED, taxId: ERASED, email: ERASED },
      shipping: { number: ERASED, district: ERASED, state: 'SP' },
    },
  })
})

const digits = (length: number) => fc.stringMatching(new RegExp(`^[1-9][0-9]{${length - 1}}$`))
const person = fc.record({
  name: fc
    .array(fc.stringMatching(/^[A-Za-zÀ-ÖØ-öø-ÿ]{3,9}$/), { minLength: 2, maxLength: 4 })
    .map((words) => words.join(' ')),
  taxId: digits(11),
  phone: digits(11),
  email: fc
    .tuple(fc.stringMatching(/^[a-z0-9._+-]{1,12}$/), fc.stringMatching(/^[a-z]{1,9}$/))
    .map(([local, domain]) => `${local}@${domain}.com`),
})
const around = fc.stringMatching(/^[ ,:;"{}<>\n]{1,5}$/)

test('whatever a person is called, they are found in a text, and erased from it', () => {
  fc.assert(
    fc.property(person, around, (one, space) => {
      const known = matcher(one)
      for (const value of [one.taxId, one.phone, one.email]) {
        assert.ok(known.isAbout(space + value + space), value)
      }
      for (const value of Object.values(one)) {
        assert.equal(known.without(value), ERASED)
        assert.equal(known.without(known.without(value)), ERASED, 'and once is enough')
      }
    }),
    { numRuns: 25 },
  )
})
