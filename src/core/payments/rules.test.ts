import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EMPTY, enter } from '../../ledger/books.ts'
import * as recipes from '../../ledger/recipes.ts'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { Problem } from '../../lib/problems.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { type Charge, newCharge, receivedOf, STORED_STATES, settle } from '../charges/rules.ts'
import { type Payment, paidCharge, undecidedOf, withSettled } from './rules.ts'

const NOW = new Date('2026-08-20T15:00:00Z')
const RECEIVED = new Date('2026-08-19T12:00:00Z')
const TERMS = { delay_s: 60, booked: true, now: NOW }

function chargeOf(amount: number, [status, paymentStatus]: (typeof STORED_STATES)[number]): Charge {
  const times = { createdAt: NOW, expiresAt: NOW }
  const fixed = { companyId: newId(), id: newId(), kind: 'PIX' as const, ...times }
  return newCharge({ ...fixed, amount: toCents(amount), status, paymentStatus })
}

const paymentOf = (amount: number, returned: number): Payment => ({
  companyId: newId(),
  id: newId(),
  source: 'simulated',
  endToEndId: 'E1',
  txid: null,
  amount: toCents(amount),
  returned: toCents(returned),
  chargeId: null,
  settled: null,
  status: 'UNMATCHED',
  reason: 'UNKNOWN',
  booked: true,
  receivedAt: RECEIVED,
  createdAt: RECEIVED,
  payer: null,
})

/** The postings of a payment from its arrival on, in the way that commands post them. */
function postingsOf(payment: Payment, charge: Charge, end: 'kept' | 'returned' | 'refused') {
  const { endToEndId, amount, returned } = payment
  const of = (cents: number) => ({ endToEndId, amount: toCents(cents), chargeId: null })
  const rest = { ref: 'rfnd_2', amount: undecidedOf(payment) }
  const returnOf = [recipes.refundHeld(rest, 'unmatched')]
  const ends = {
    kept: () => [recipes.paymentAccepted(of(rest.amount))],
    returned: () => [...returnOf, recipes.refundPaid(rest)],
    refused: () => [...returnOf, recipes.refundReleased(rest, 'unmatched')],
  }
  return [
    recipes.paymentUnmatched(of(amount)),
    ...(returned > 0 ? [recipes.bankReturn({ ref: 'rfnd_1', amount: returned }, 'unmatched')] : []),
    recipes.paymentMatched({ ...of(receivedOf(charge)), chargeId: charge.id }),
    ...(rest.amount > 0 ? ends[end]() : []),
  ]
}

const AMOUNT = fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: MAX_AMOUNT }))

test('whatever arrives for a charge that is settled by hand, no cent is lost or made', () => {
  const isUnpaid = ([status]: (typeof STORED_STATES)[number]) =>
    status === 'OPEN' || status === 'EXPIRED'
  const situation = fc.record({
    state: fc.constantFrom(...STORED_STATES.filter(isUnpaid)),
    asked: AMOUNT,
    sent: AMOUNT,
    share: fc.double({ min: 0, max: 0.99, noNaN: true }),
    end: fc.constantFrom('kept' as const, 'returned' as const, 'refused' as const),
  })
  const holds = fc.property(situation, ({ state, asked, sent, share, end }) => {
    const before = paymentOf(sent, Math.floor(sent * share))
    const came = undecidedOf(before)
    const { charge, event, at } = settle(chargeOf(asked, state), { ...before, amount: came }, TERMS)
    const payment = withSettled(before, charge)
    const rest = undecidedOf(payment)
    assert.deepEqual(
      [charge.status, charge.paymentStatus, charge.endToEndId, charge.paymentDate, event, at],
      ['COMPLETED', 'PAID', 'E1', RECEIVED, 'charge.paid', NOW],
    )
    assert.equal(charge.amount, asked)
    assert.equal(receivedOf(charge) + charge.shortfall, asked)
    assert.equal(payment.returned + receivedOf(charge) + rest, sent)
    assert.ok(receivedOf(charge) > 0 && (rest === 0 || charge.shortfall === 0))
    assert.deepEqual(payment.settled, {
      chargeId: charge.id,
      amount: receivedOf(charge),
      shortfall: charge.shortfall,
    })
    assert.equal(payment.status, rest === 0 ? 'ACCEPTED' : 'UNMATCHED')
    assert.equal(paidCharge(payment), charge.id)
    const { books, entries } = enter(EMPTY, postingsOf(payment, charge, end))
    assert.deepEqual(books.balance, {
      available: end === 'kept' ? rest : 0,
      pending: receivedOf(charge),
      held: 0,
      unmatched: end === 'refused' ? rest : 0,
      disputed: 0,
      recipients: 0,
    })
    const atBank = entries.reduce(
      (sum, { debit, credit, amount }) =>
        sum + (debit === 'bank' ? amount : 0) - (credit === 'bank' ? amount : 0),
      0,
    )
    const owed = Object.values(books.balance).reduce((sum, one) => sum + one, 0)
    assert.equal(atBank - owed, 0)
  })
  fc.assert(holds, { seed: 31, numRuns: 2000 })
})

test('a charge that is paid or canceled is settled by no money', () => {
  for (const state of STORED_STATES) {
    const [status] = state
    const money = { endToEndId: 'E1', receivedAt: RECEIVED, amount: toCents(1000) }
    const act = () => settle(chargeOf(1000, state), money, TERMS)
    if (status === 'OPEN' || status === 'EXPIRED') assert.equal(act().charge.shortfall, 0)
    else assert.throws(act, (error) => error instanceof Problem && error.status === 409)
  }
})
