import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { Problem } from '../../lib/problems.ts'
import type { ReceivedPix } from '../../provider/port.ts'
import { chargeTxid, staticTxid } from '../../provider/txid.ts'
import {
  asOf,
  type Change,
  type Charge,
  cancel,
  expire,
  isDue,
  isReleasable,
  matchPayment,
  release,
  type StaticCode,
  saleOf,
  simulation,
  type Terms,
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
  description: null,
  fingerprint: null,
  customerId: null,
  payer: null,
  link: null,
  brCode: '000201',
  due: null,
  noticeAt: null,
  split: null,
  endToEndId: null,
  createdAt: START,
  expiresAt: at(60),
  paymentDate: null,
  releaseAt: null,
  booked: false,
  refunded: toCents(0),
  shortfall: toCents(0),
  staticCodeId: null,
  recurrenceId: null,
  shipping: null,
  linkId: null,
  ...fields,
})

const TERMS: Terms = { delay_s: 60, booked: true, now: at(10) }

const pix = (charge: Charge, seconds: number, endToEndId = 'E1', amount = charge.amount) => ({
  endToEndId,
  txid: chargeTxid(charge.id),
  amount,
  receivedAt: at(seconds),
})

const EXPIRED = { status: 'EXPIRED', paymentStatus: 'EXPIRED' } as const

const codeOf = (act: () => unknown): string => {
  try {
    act()
    return 'none'
  } catch (error) {
    return (error as Problem).code
  }
}

const DUE_TERMS = {
  dueDate: '2026-08-20',
  daysAfterDue: 30,
  fine: { type: 'FIXED', value: 20 },
} as const
const LATE_s = 86_400

test('the parts that a bank names count if they are of this charge and of all the money', () => {
  const charge = open({ due: { terms: DUE_TERMS, paid: null }, expiresAt: at(30 * LATE_s) })
  const parts = (original: number, fine: number) => ({
    original: toCents(original),
    fine: toCents(fine),
    interest: toCents(0),
    discount: toCents(0),
    rebate: toCents(0),
  })
  const paidBy = (amount: number, named?: ReturnType<typeof parts>) => {
    const received = {
      ...pix(charge, LATE_s, 'E1', toCents(amount)),
      ...(named && { parts: named }),
    }
    const match = matchPayment(charge, received, TERMS)
    return match.kind === 'paid'
      ? [match.charge.due!.paid!.fine, match.charge.due!.paid!.total]
      : null
  }
  assert.deepEqual(paidBy(1020), [20, 1020])
  assert.deepEqual(paidBy(1010, parts(1000, 10)), [10, 1010], 'the bank may know better')
  assert.deepEqual(paidBy(1020, parts(1020, 0)), [20, 1020], 'of another amount: ours count')
  assert.deepEqual(paidBy(1020, parts(1000, 10)), [20, 1020], 'of less money: ours count')
  assert.equal(paidBy(1010), null)
  assert.equal(paidBy(1010, parts(1010, 0)), null)
  assert.equal(paidBy(1010, parts(1000, 20)), null)
})

test('an open charge is paid by its exact amount before its deadline', () => {
  const charge = open()
  const match = matchPayment(charge, pix(charge, 10), TERMS)
  assert.equal(match.kind, 'paid')
  const { charge: paid, event, at: when } = match as Change
  assert.deepEqual([event, when], ['charge.paid', at(10)])
  assert.deepEqual(paid, {
    ...charge,
    status: 'COMPLETED',
    paymentStatus: 'PAID',
    endToEndId: 'E1',
    booked: true,
    paymentDate: at(10),
    releaseAt: at(70),
  })
})

test('money is released after the company’s delay, and a trial’s is no money', () => {
  const charge = open()
  const paidBy = (terms: Terms) => (matchPayment(charge, pix(charge, 10), terms) as Change).charge
  assert.deepEqual(paidBy({ ...TERMS, delay_s: 0 }).releaseAt, at(10))
  assert.deepEqual(paidBy({ ...TERMS, delay_s: 86_400 }).releaseAt, at(86_410))
  assert.equal(paidBy({ ...TERMS, delay_s: 0, booked: false }).booked, false)
})

test('a payment that matches no charge has one reason, the first that applies', () => {
  const paid = { status: 'COMPLETED', paymentStatus: 'PAID', endToEndId: 'E0' } as const
  const [less, more] = [toCents(999), toCents(1001)]
  const cases: [reason: string, charge: Charge, seconds: number, amount?: typeof less][] = [
    ['WRONG_AMOUNT', open(), 10, less],
    ['WRONG_AMOUNT', open(), 10, more],
    ['WRONG_AMOUNT', open(EXPIRED), 10, less],
    ['LATE', open(), 60.001],
    ['LATE', open(), 61, more],
    ['LATE', open(EXPIRED), 60.001],
    ['LATE', open({ ...EXPIRED, kind: 'RECURRING' }), 60.001],
    ['CANCELED', open({ status: 'CANCELED' }), 10],
    ['CANCELED', open({ status: 'CANCELED' }), 99, less],
    ['DUPLICATE', open(paid), 10],
    ['DUPLICATE', open(paid), 99, less],
    ['DUPLICATE', open({ ...paid, paymentStatus: 'RECEIVED' }), 10],
    ['DUPLICATE', open({ ...paid, paymentStatus: 'REFUNDED' }), 10],
  ]
  for (const [reason, charge, seconds, amount = charge.amount] of cases) {
    const match = matchPayment(charge, pix(charge, seconds, 'E1', amount), TERMS)
    assert.deepEqual(match, { kind: 'unmatched', reason })
  }
})

test('what counts is when the payment arrived, whenever we learn of it', () => {
  const late = { ...TERMS, now: at(9000) }
  for (const kind of ['PIX', 'LINK', 'RECURRING'] as const) {
    for (const [state, seconds] of [
      [{}, 60],
      [EXPIRED, 60],
      [EXPIRED, 10],
    ] as const) {
      const charge = open({ kind, ...state })
      const match = matchPayment(charge, pix(charge, seconds), late) as Change
      assert.deepEqual([match.charge.status, match.charge.paymentDate], ['COMPLETED', at(seconds)])
      // The event of the expiry is not older than the one of the payment.
      assert.deepEqual(match.at, state === EXPIRED ? at(9000) : at(seconds))
    }
  }
  const waiting = open({ kind: 'RECURRING' })
  assert.equal(matchPayment(waiting, pix(waiting, 99), late).kind, 'paid', 'it has no deadline')
})

test('a Pix pays only the charge that it names, in any letter case', () => {
  const [one, other] = [open(), open()]
  assert.throws(() => matchPayment(one, pix(other, 10), TERMS), /assertion/)
  assert.throws(() => matchPayment(one, { ...pix(one, 10), txid: null }, TERMS), /assertion/)
  const loud = { ...pix(one, 10), txid: pix(one, 10).txid.toUpperCase() }
  assert.equal(matchPayment(one, loud, TERMS).kind, 'paid')
})

const code: StaticCode = {
  companyId: newId(),
  id: newId(),
  amount: toCents(250),
  devMode: false,
  brCode: '000201',
  externalId: null,
  createdAt: START,
}
const atTheCounter = (fields: Partial<ReceivedPix> = {}): ReceivedPix => ({
  endToEndId: 'E1',
  txid: staticTxid(code.id),
  amount: code.amount,
  receivedAt: at(10),
  ...fields,
})

test('each payment of a static code creates a paid charge', () => {
  const sale = saleOf(code, atTheCounter(), TERMS) as Change
  const { id, ...charge } = sale.charge
  assert.deepEqual([sale.event, sale.at], ['charge.paid', at(10)])
  assert.deepEqual(charge, {
    companyId: code.companyId,
    kind: 'STATIC',
    amount: 250,
    devMode: false,
    status: 'COMPLETED',
    paymentStatus: 'PAID',
    brCode: '000201',
    staticCodeId: code.id,
    recurrenceId: null,
    shipping: null,
    shortfall: 0,
    endToEndId: 'E1',
    booked: true,
    refunded: 0,
    createdAt: at(10),
    expiresAt: at(1810),
    paymentDate: at(10),
    releaseAt: at(70),
    externalId: null,
    description: null,
    fingerprint: null,
    customerId: null,
    payer: null,
    link: null,
    linkId: null,
    due: null,
    noticeAt: null,
    split: null,
  })
  const another = saleOf(code, atTheCounter({ endToEndId: 'E2' }), TERMS) as Change
  assert.notEqual(another.charge.id, id)
})

test('another amount than the static code’s is no sale', () => {
  for (const amount of [249, 251]) {
    const sale = saleOf(code, atTheCounter({ amount: toCents(amount) }), TERMS)
    assert.deepEqual(sale, { kind: 'unmatched', reason: 'WRONG_AMOUNT' })
  }
})

test('a paid charge is received when its delay is over, and no other ever is', () => {
  const charge = open()
  const { charge: paid } = matchPayment(charge, pix(charge, 10), TERMS) as Change
  assert.equal(isReleasable(paid, at(69.999)), false)
  assert.throws(() => release(paid, at(69.999)), /assertion/)
  const change = release(paid, at(70))
  assert.deepEqual(change, {
    charge: { ...paid, paymentStatus: 'RECEIVED' },
    event: 'charge.received',
    at: at(70),
  })
  for (const other of [charge, change.charge, { ...paid, paymentStatus: 'REFUNDED' } as const]) {
    assert.equal(isReleasable(other, at(99_999)), false)
    assert.throws(() => release(other, at(99_999)), /assertion/)
  }
})

test('at the deadline a charge is expired, for every reader', () => {
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

type Act = 'pay' | 'cancel' | 'expire' | 'receive'
const steps = fc.array(
  fc.record({
    act: fc.constantFrom<Act>('pay', 'cancel', 'expire', 'receive'),
    after_s: fc.integer({ min: 0, max: 40 }),
    // How long before now the payment arrived.
    ago_s: fc.integer({ min: 0, max: 90 }),
  }),
)

function apply(charge: Charge, act: Act, seconds: number, ago_s: number): Change | null {
  const now = at(seconds)
  if (act === 'expire') return isDue(charge, now) ? expire(charge, now) : null
  if (act === 'receive') return isReleasable(charge, now) ? release(charge, now) : null
  if (act === 'pay') {
    const received = pix(charge, seconds - ago_s, `E${seconds}`)
    const match = matchPayment(charge, received, { ...TERMS, now })
    return match.kind === 'paid' ? match : null
  }
  try {
    const change = cancel(charge, now)
    return change === 'already-canceled' ? null : change
  } catch (error) {
    assert.ok(error instanceof Problem)
    return null
  }
}

test('in whatever order things happen, nothing happens twice, and only a payment in time follows the end', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      let charge = open()
      let seconds = 0
      const changes: Change[] = []
      for (const { act, after_s, ago_s } of sequence) {
        seconds += after_s
        const change = apply(charge, act, seconds, ago_s)
        if (!change) continue
        changes.push(change)
        charge = change.charge
      }
      const events = changes.map(({ event }) => event!.slice('charge.'.length)).join(' ')
      assert.match(events, /^(canceled|(expired ?)?(paid( received)?)?)$/)
      const expired = changes.find(({ event }) => event === 'charge.expired')
      if (expired) assert.ok(expired.at >= at(60))
      const paid = changes.find(({ event }) => event === 'charge.paid')
      if (paid) assert.ok(paid.charge.paymentDate! <= at(60))
      if (expired && paid) assert.ok(paid.at >= expired.at)
      const received = changes.find(({ event }) => event === 'charge.received')
      const delay_ms = TERMS.delay_s * 1000
      if (received) assert.ok(+received.at - +paid!.charge.paymentDate! >= delay_ms)
    }),
  )
})
