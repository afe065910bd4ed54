import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../lib/ids.ts'
import { toCents } from '../lib/money.ts'
import { EMPTY, enter } from './books.ts'
import {
  type Account,
  bankReturn,
  chargePaid,
  chargeReleased,
  disputeAccepted,
  disputeHeld,
  disputeLost,
  disputeReleased,
  finePaid,
  interestPaid,
  KINDS,
  MOVED_BY,
  opening,
  type Posting,
  paymentAccepted,
  paymentMatched,
  paymentUnmatched,
  refundHeld,
  refundPaid,
  refundReleased,
  splitGiven,
  splitSettled,
  splitTaken,
  withdrawalHeld,
  withdrawalPaid,
  withdrawalReleased,
} from './recipes.ts'

const chargeId = newId()
const payment = { endToEndId: 'E1', amount: toCents(1990), chargeId }
const stray = { endToEndId: 'E2', amount: toCents(80), chargeId: null }
const refund = { ref: 'rfnd_1', amount: toCents(500), chargeId }
const dispute = { ref: 'dispute_1', amount: toCents(90), chargeId }
const withdrawal = { ref: 'wd_1', amount: toCents(700) }

/**
 * What each recipe changes, in cents. The bank's own account rises by a debit, ours by a credit.
 */
type Effects = Partial<Record<Account | 'bank', number>>

const RECIPES: [Posting, kindAndRef: string, Effects][] = [
  [opening(toCents(100_000)), 'OPENING opening', { bank: 100_000, available: 100_000 }],
  [chargePaid(payment), 'CHARGE_PAID E1', { bank: 1990, pending: 1990 }],
  [finePaid(stray, 'bank'), 'FINE_PAID E2', { bank: 80, pending: 80 }],
  [finePaid(stray, 'unmatched'), 'FINE_PAID E2', { unmatched: -80, pending: 80 }],
  [interestPaid(stray, 'bank'), 'INTEREST_PAID E2', { bank: 80, pending: 80 }],
  [interestPaid(stray, 'unmatched'), 'INTEREST_PAID E2', { unmatched: -80, pending: 80 }],
  [chargeReleased(payment), 'CHARGE_SETTLED E1', { pending: -1990, available: 1990 }],
  [paymentUnmatched(stray), 'PAYMENT_UNMATCHED E2', { bank: 80, unmatched: 80 }],
  [paymentAccepted(stray), 'PAYMENT_ACCEPTED E2', { unmatched: -80, available: 80 }],
  [paymentMatched(payment), 'CHARGE_PAID E1', { unmatched: -1990, pending: 1990 }],
  [refundHeld(refund, 'pending'), 'REFUND_HELD rfnd_1', { pending: -500, held: 500 }],
  [refundHeld(refund, 'available'), 'REFUND_HELD rfnd_1', { available: -500, held: 500 }],
  [refundHeld(refund, 'unmatched'), 'REFUND_HELD rfnd_1', { unmatched: -500, held: 500 }],
  [refundPaid(refund), 'REFUND_PAID rfnd_1', { held: -500, bank: -500 }],
  [refundReleased(refund, 'pending'), 'REFUND_RELEASED rfnd_1', { held: -500, pending: 500 }],
  [refundReleased(refund, 'available'), 'REFUND_RELEASED rfnd_1', { held: -500, available: 500 }],
  [refundReleased(refund, 'unmatched'), 'REFUND_RELEASED rfnd_1', { held: -500, unmatched: 500 }],
  [bankReturn(refund, 'pending'), 'BANK_RETURN rfnd_1', { pending: -500, bank: -500 }],
  [bankReturn(refund, 'available'), 'BANK_RETURN rfnd_1', { available: -500, bank: -500 }],
  [bankReturn(refund, 'unmatched'), 'BANK_RETURN rfnd_1', { unmatched: -500, bank: -500 }],
  [withdrawalHeld(withdrawal), 'WITHDRAWAL_HELD wd_1', { available: -700, held: 700 }],
  [withdrawalPaid(withdrawal), 'WITHDRAWAL_PAID wd_1', { held: -700, bank: -700 }],
  [withdrawalReleased(withdrawal), 'WITHDRAWAL_RELEASED wd_1', { held: -700, available: 700 }],
  [
    withdrawalHeld(withdrawal, 'recipients'),
    'WITHDRAWAL_HELD wd_1',
    { recipients: -700, held: 700 },
  ],
  [splitSettled(payment), 'SPLIT_SETTLED E1', { pending: -1990, recipients: 1990 }],
  [splitTaken(refund), 'SPLIT_TAKEN rfnd_1', { recipients: -500, available: 500 }],
  [splitGiven(refund), 'SPLIT_GIVEN rfnd_1', { available: -500, recipients: 500 }],
  [disputeHeld(dispute, 'pending'), 'DISPUTE_HELD dispute_1', { pending: -90, disputed: 90 }],
  [disputeHeld(dispute, 'available'), 'DISPUTE_HELD dispute_1', { available: -90, disputed: 90 }],
  [disputeHeld(dispute, 'unmatched'), 'DISPUTE_HELD dispute_1', { unmatched: -90, disputed: 90 }],
  [
    disputeReleased(dispute, 'pending'),
    'DISPUTE_RELEASED dispute_1',
    { disputed: -90, pending: 90 },
  ],
  [disputeAccepted(refund), 'DISPUTE_ACCEPTED rfnd_1', { disputed: -500, held: 500 }],
  [disputeLost(refund), 'DISPUTE_LOST rfnd_1', { disputed: -500, bank: -500 }],
]

function effectsOf({ debit, credit, amount }: Posting): Effects {
  const raisedBy = (account: string, value: number) => (account === 'bank' ? -value : value)
  return { [debit]: raisedBy(debit, -amount), [credit]: raisedBy(credit, amount) }
}

for (const [posting, named, effects] of RECIPES) {
  test(`${named} books ${JSON.stringify(effects)}`, () => {
    assert.equal(`${posting.kind} ${posting.ref}`, named)
    assert.deepEqual(effectsOf(posting), effects)
    const ofCharge = /CHARGE|REFUND|RETURN|DISPUTE|SPLIT/.test(posting.kind)
    assert.equal(posting.chargeId, ofCharge ? chargeId : null, 'the charge, where there is one')
  })
}

test('there is no kind without its recipe', () => {
  assert.deepEqual([...new Set(RECIPES.map(([{ kind }]) => kind))].sort(), [...KINDS].sort())
})

test('an account that came later is moved by no other kinds than those it is found by', () => {
  for (const [account, kinds] of Object.entries(MOVED_BY)) {
    for (const [{ kind, debit, credit }, named] of RECIPES) {
      if (debit !== account && credit !== account) continue
      assert.ok((kinds as readonly string[]).includes(kind), `${named} moves ${account}`)
    }
  }
})

test('what the bank holds is what we owe, after any of them', () => {
  for (const [, named, effects] of RECIPES) {
    const { bank = 0, ...owed } = effects
    const change = Object.values(owed).reduce((sum, one) => sum + one, 0)
    assert.equal(change, bank, named)
  }
})

/** Money that is held leaves or goes back: either way nothing of the order remains. */
const orders = fc.array(
  fc.record({
    source: fc.constantFrom('pending', 'available', 'unmatched'),
    amount: fc.integer({ min: 1, max: 10_000 }).map(toCents),
    paid: fc.boolean(),
    endsAt: fc.nat(),
  }),
  { maxLength: 30 },
)

test('orders that were held at the same time leave or return whole, in any order', () => {
  fc.assert(
    fc.property(orders, (all) => {
      const start = toCents(1_000_000)
      const balance = { ...EMPTY.balance, available: start, pending: start, unmatched: start }
      const named = all.map((order, i) => ({ ...order, ref: `rfnd_${i}` }))
      const held = named.map((order) => refundHeld(order, order.source))
      const ends = named
        .toSorted((a, b) => a.endsAt - b.endsAt)
        .map((order) => (order.paid ? refundPaid(order) : refundReleased(order, order.source)))
      const { books } = enter({ ...EMPTY, balance }, [...held, ...ends])
      const left = (source: Account) =>
        all.reduce(
          (sum, o) => sum - (o.paid && o.source === source ? o.amount : 0),
          start as number,
        )
      assert.deepEqual(books.balance, {
        ...EMPTY.balance,
        available: left('available'),
        pending: left('pending'),
        held: 0,
        unmatched: left('unmatched'),
      })
    }),
  )
})
