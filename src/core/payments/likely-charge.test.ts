import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Candidate, LIKELY, likelihoodOf, rankCharges } from './likely-charge.ts'

const RECEIVED = new Date('2026-08-20T15:00:00Z')
const HOUR_MS = 3_600_000

const payers = fc.record({
  name: fc.option(
    fc.constantFrom('Maria da Silva', 'MARIA SILVA', 'João Souza', 'Loja Ré', '', 'da de do'),
  ),
  taxId: fc.option(
    fc.constantFrom('52998224725', '***.982.247-**', '529.982.247-25', '11222333000181', 'x', ''),
  ),
})
const charges = fc.record({
  id: fc.uuid(),
  amount: fc.constantFrom(1990, 1991, 500),
  createdAt: fc
    .integer({ min: -HOUR_MS, max: 60 * 24 * HOUR_MS })
    .map((age_ms) => new Date(RECEIVED.getTime() - age_ms)),
  isUnpaid: fc.boolean(),
  payer: payers,
})
const payments = payers.map((payer) => ({ amount: 1990, receivedAt: RECEIVED, payer }))

const scoreOf = (...given: Parameters<typeof likelihoodOf>) => likelihoodOf(...given)?.score ?? -1

test('a score is from 0 to 100, and a charge that is made after the payment has none', () => {
  fc.assert(
    fc.property(payments, charges, (payment, charge) => {
      const score = scoreOf(payment, charge)
      assert.equal(score === -1, charge.createdAt > payment.receivedAt)
      assert.ok(score <= 100)
    }),
  )
})

test('what agrees better is never less likely', () => {
  fc.assert(
    fc.property(payments, charges, (payment, charge) => {
      const score = scoreOf(payment, charge)
      const better: Candidate[] = [
        { ...charge, amount: payment.amount },
        { ...charge, isUnpaid: true },
        { ...charge, payer: { ...charge.payer, name: payment.payer.name } },
        { ...charge, createdAt: charge.createdAt > RECEIVED ? charge.createdAt : RECEIVED },
      ]
      const taxId = payment.payer.taxId
      if (taxId?.length === 11) better.push({ ...charge, payer: { ...charge.payer, taxId } })
      for (const one of better.filter(({ payer }) => payer.name !== '')) {
        assert.ok(scoreOf(payment, one) >= score, JSON.stringify([charge, one]))
      }
    }),
  )
})

test('an unpaid charge of the same amount and payer is more likely than any without both', () => {
  fc.assert(
    fc.property(payments, charges, charges, (payment, charge, other) => {
      const payer = { ...payment.payer, taxId: '52998224725' }
      const [exact, ...rest] = [
        { ...charge, amount: payment.amount, isUnpaid: true, payer, createdAt: RECEIVED },
        { ...other, amount: payment.amount + 1 },
        { ...other, payer: { ...other.payer, taxId: '11144477735' } },
      ]
      const given = { ...payment, payer }
      for (const one of rest) assert.ok(scoreOf(given, exact!) > scoreOf(given, one))
    }),
  )
})

test('the order of the charges does not matter, and only what is likely is named', () => {
  const shuffled = fc
    .uniqueArray(charges, { selector: ({ id }) => id, maxLength: 8 })
    .chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    )
  fc.assert(
    fc.property(payments, shuffled, (payment, [list, other]) => {
      const idsOf = (charges: typeof list) =>
        rankCharges(payment, charges).map(({ charge }) => charge.id)
      assert.deepEqual(idsOf(list), idsOf(other))
      const likely = list.filter((charge) => scoreOf(payment, charge) >= LIKELY)
      assert.deepEqual(idsOf(list).sort(), likely.map(({ id }) => id).sort())
      const [best, ...rest] = rankCharges(payment, list)
      for (const one of rest) assert.ok(best!.isProbable ? true : !one.isProbable)
    }),
  )
})

test('the signs say why: amount, tax id even if it is masked, name in any spelling, time', () => {
  const payment = {
    amount: 1990,
    receivedAt: RECEIVED,
    payer: { name: 'MARIA APARECIDA DA SILVA', taxId: '***.982.247-**' },
  }
  const made = (fields: Partial<Candidate>) => ({
    amount: 1990,
    createdAt: new Date(RECEIVED.getTime() - 10 * 24 * HOUR_MS),
    isUnpaid: true,
    payer: { name: null, taxId: null },
    ...fields,
  })
  const signsOf = (fields: Partial<Candidate>) => likelihoodOf(payment, made(fields))!.signs
  assert.deepEqual(signsOf({}), ['amount'])
  assert.deepEqual(signsOf({ amount: 1, createdAt: RECEIVED }), ['time'])
  assert.deepEqual(signsOf({ payer: { name: null, taxId: '52998224725' } }), [
    'amount',
    'partOfTaxId',
  ])
  assert.deepEqual(signsOf({ payer: { name: null, taxId: '11144477735' } }), ['amount'])
  assert.deepEqual(signsOf({ payer: { name: 'Maria Silva', taxId: null } }), ['amount', 'name'])
  assert.deepEqual(signsOf({ payer: { name: 'José da Costa', taxId: null } }), ['amount'])
})

test('only an unpaid charge of the same amount and payer is probable', () => {
  fc.assert(
    fc.property(payments, charges, (payment, charge) => {
      const found = likelihoodOf(payment, charge)
      if (!found?.isProbable) return
      assert.ok(charge.isUnpaid && charge.amount === payment.amount)
      assert.ok(found.signs.some((sign) => /axId|name/.test(sign)))
      const [given, known] = [payment.payer.taxId, charge.payer.taxId]
      const whole = /^(\d{11}|\d{14})$/
      if (whole.test(given ?? '') && whole.test(known ?? '')) assert.equal(given, known)
      assert.ok(found.score >= LIKELY)
    }),
  )
})

test('a first name is not enough to call a charge probable', () => {
  const isProbable = (given: string, known: string) =>
    likelihoodOf(
      { amount: 1990, receivedAt: RECEIVED, payer: { name: given, taxId: null } },
      {
        amount: 1990,
        createdAt: RECEIVED,
        isUnpaid: true,
        payer: { name: known, taxId: '52998224725' },
      },
    )!.isProbable
  assert.ok(isProbable('MARIA SILVA', 'Maria Aparecida da Silva'))
  assert.ok(!isProbable('MARIA SOUZA', 'Maria'))
  assert.ok(!isProbable('MARIA', 'Maria da Silva'))
  assert.ok(!isProbable('MARIA', 'Maria'))
})
