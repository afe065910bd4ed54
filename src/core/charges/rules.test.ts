import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId, suffixOf } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { Problem } from '../../lib/problems.ts'
import {
  asOf,
  type Change,
  type Charge,
  cancel,
  expire,
  isDue,
  settle,
  simulation,
} from './rules.ts'

const START = new Date('2026-08-20T15:00:00Z')
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000)

const open = (fields: Partial<Charge> = {}): Charge => ({
  companyId: newId(),
  id: newId(),
  kind: 'PIX',
  amount: toCents(1000),
  status: 'OPEN',
  paymentStatus: 'PROCESSING',
  devMode: true,
  externalId: null,
  fingerprint: null,
  customerId: null,
  payer: null,
  link: null,
  brCode: '000201',
  endToEndId: null,
  createdAt: START,
  expiresAt: at(60),
  paymentDate: null,
  ...fields,
})

const pix = (charge: Charge, seconds: number, endToEndId = 'E1', amount = charge.amount) => ({
  endToEndId,
  txid: suffixOf(charge.id),
  amount,
  receivedAt: at(seconds),
})

const codeOf = (act: () => unknown): string => {
  try {
    act()
    return 'none'
  } catch (error) {
    return (error as Problem).code
  }
}

test('an open charge is paid by its exact amount before its deadline', () => {
  const charge = open()
  const settlement = settle(charge, pix(charge, 10))
  assert.equal(settlement.kind, 'paid')
  const { charge: paid, event } = settlement as Change
  assert.equal(event, 'charge.paid')
  assert.deepEqual(
    [paid.status, paid.paymentStatus, paid.endToEndId, paid.paymentDate],
    ['COMPLETED', 'PAID', 'E1', at(10)],
  )
  assert.equal(settle(paid, pix(paid, 10)).kind, 'already-settled', 'the same Pix again')
  assert.equal(settle(paid, pix(paid, 11, 'E2')).kind, 'not-payable', 'another Pix')
})

test('late money and another amount do not pay a charge', () => {
  const charge = open()
  assert.equal(settle(charge, pix(charge, 60)).kind, 'not-payable')
  assert.equal(settle(charge, pix(charge, 10, 'E1', toCents(999))).kind, 'not-payable')
})

test('the deadline itself is too late, for every reader alike', () => {
  const charge = open()
  assert.equal(asOf(charge, at(59.999)).status, 'OPEN')
  assert.equal(asOf(charge, at(60)).status, 'EXPIRED')
  assert.equal(expire(charge, at(60)).event, 'charge.expired')
  assert.throws(() => expire(charge, at(59)), /assertion/)
})

test('only dev-mode charges can be paid by simulation, and closed ones by nothing', () => {
  assert.equal(
    codeOf(() => simulation(open({ devMode: false }), START)),
    'charge_not_dev_mode',
  )
  assert.equal(
    codeOf(() => simulation(open({ status: 'CANCELED' }), START)),
    'charge_not_payable',
  )
  assert.equal(
    codeOf(() => simulation(open(), at(60))),
    'charge_not_payable',
  )
  assert.equal(simulation(open({ status: 'COMPLETED' }), at(99)), 'already-paid')
})

type Step = { act: 'pay' | 'cancel' | 'expire'; after_s: number }
const steps = fc.array(
  fc.record({
    act: fc.constantFrom<Step['act']>('pay', 'cancel', 'expire'),
    after_s: fc.integer({ min: 0, max: 40 }),
  }),
)

function apply(charge: Charge, act: Step['act'], seconds: number): Change | null {
  const now = at(seconds)
  if (act === 'expire') return isDue(charge, now) ? expire(charge, now) : null
  if (act === 'pay') {
    const settlement = settle(charge, pix(charge, seconds, `E${seconds}`))
    return settlement.kind === 'paid' ? settlement : null
  }
  try {
    const change = cancel(charge, now)
    return change === 'already-canceled' ? null : change
  } catch (error) {
    assert.ok(error instanceof Problem)
    return null
  }
}

test('whatever happens in whatever order, a charge is closed at most once, and in time', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      let charge = open()
      let seconds = 0
      const changes: Change[] = []
      for (const { act, after_s } of sequence) {
        seconds += after_s
        const change = apply(charge, act, seconds)
        if (!change) continue
        changes.push(change)
        charge = change.charge
      }
      assert.ok(changes.length <= 1)
      const [change] = changes
      if (change) assert.equal(change.event === 'charge.expired', change.at >= at(60))
    }),
  )
})
