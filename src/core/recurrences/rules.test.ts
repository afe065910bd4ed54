import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { Problem } from '../../lib/problems.ts'
import { isBusinessDay } from '../../pix/business-days.ts'
import {
  agreedDueDay,
  dueDay,
  type Frequency,
  firstGeneration,
  generationDay,
  maySchedule,
} from '../../pix/calendar.ts'
import { type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { Agreement, AgreementStatus } from '../../provider/port.ts'
import type { Billing } from '../billings/rules.ts'
import { make as makeProduct } from '../products/rules.ts'
import {
  askAgainAt,
  asOf,
  cancellation,
  follow,
  generate,
  isGenerating,
  type Recurrence,
  type RecurrenceStatus,
  termsOf,
} from './rules.ts'

const HOUR_MS = 3_600_000
const START = new Date('2026-08-20T15:00:00Z')
const later = (at: Date, ms: number) => new Date(at.getTime() + ms)

const undecided = (fields: Partial<Recurrence> = {}): Recurrence => ({
  companyId: newId(),
  id: newId(),
  isTemplate: false,
  originId: null,
  productId: newId(),
  productName: 'Pão todo mês',
  value: toCents(1990),
  frequency: 'MONTHLY',
  dayDue: 3,
  dayGenerateCharge: null,
  customerId: newId(),
  payer: { name: 'Maria', index: Buffer.alloc(16), sealed: Buffer.alloc(40) },
  status: 'OPEN',
  authStatus: 'CREATED',
  externalId: 'RR1',
  brCode: '000201',
  createdAt: START,
  expiresAt: later(START, 30 * 24 * HOUR_MS),
  decidedAt: null,
  firstOn: null,
  cycles: 0,
  lastDueOn: null,
  nextAt: later(START, 24 * HOUR_MS),
  endReason: null,
  split: null,
  ...fields,
})

const said = (status: AgreementStatus, decidedAt: Date | null = null): Agreement => ({
  externalId: 'RR1',
  brCode: '000201',
  status,
  decidedAt,
})

/** An agreement as it is once its payer has approved it. */
const approved = (at: Date, fields: Partial<Recurrence> = {}): Recurrence =>
  follow(undecided(fields), said('APPROVED', at), at)!.recurrence

function refusal(act: () => unknown): Problem {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof Problem)
    return error
  }
  return assert.fail('nothing was refused')
}

test('only an active product of a price that can be charged again and again is agreed to', () => {
  const product = makeProduct(
    newId(),
    newId(),
    { name: 'Pão', price: 1990, type: 'RECURRING', frequency: 'WEEKLY' },
    START,
  )
  assert.deepEqual(termsOf(product), {
    productId: product.id,
    productName: 'Pão',
    value: 1990,
    frequency: 'WEEKLY',
    dayDue: 3,
    dayGenerateCharge: null,
    split: null,
  })
  const own = termsOf({ ...product, dayDue: 7, dayGenerateCharge: 28 })
  assert.deepEqual([own.dayDue, own.dayGenerateCharge], [7, 28])
  const once = { ...product, type: 'ONE_TIME' as const }
  assert.equal(refusal(() => termsOf(once)).code, 'product_not_recurring')
  for (const wrong of [{ status: 'INACTIVE' as const }, { price: toCents(499) }]) {
    assert.match(refusal(() => termsOf({ ...product, ...wrong })).message, /^productId: /)
  }
})

test('the bank’s answer about an agreement changes it once, with an event for each decision', () => {
  const at = later(START, HOUR_MS)
  const says: [AgreementStatus, RecurrenceStatus, string | null][] = [
    ['APPROVED', 'OPEN', 'subscription.authorized'],
    ['REJECTED', 'CANCELED', 'subscription.rejected'],
    ['CANCELED', 'CANCELED', 'subscription.canceled'],
    ['EXPIRED', 'EXPIRED', null],
  ]
  for (const [authStatus, status, event] of says) {
    const decided = follow(undecided(), said(authStatus, at), later(at, HOUR_MS))!
    const { recurrence } = decided
    assert.deepEqual([decided.event, decided.at], [event, at])
    assert.deepEqual([recurrence.authStatus, recurrence.status], [authStatus, status])
    assert.equal(recurrence.decidedAt, at)
    assert.equal(recurrence.nextAt !== null, authStatus === 'APPROVED')
    assert.equal(follow(recurrence, said(authStatus, at), at), null, 'the same again is no news')
  }
  assert.equal(follow(undecided(), said('CREATED'), at), null)
  assert.equal(follow(undecided(), said('EXPIRED'), at)!.at, at, 'now, where the bank says no time')
})

test('an agreement that is canceled at the bank because nobody decided in time has expired', () => {
  const expiresAt = undecided().expiresAt!
  for (const at of [expiresAt, later(expiresAt, HOUR_MS)]) {
    const { recurrence, event } = follow(undecided(), said('CANCELED', at), at)!
    const { status, authStatus, decidedAt } = recurrence
    assert.deepEqual(
      [status, authStatus, decidedAt, event],
      ['EXPIRED', 'EXPIRED', expiresAt, null],
    )
  }
  const before = later(expiresAt, -1)
  const canceled = follow(undecided(), said('CANCELED', before), later(expiresAt, HOUR_MS))!
  assert.equal(canceled.recurrence.authStatus, 'CANCELED')
  const ended = follow(approved(START), said('CANCELED', expiresAt), expiresAt)!
  assert.equal(ended.recurrence.authStatus, 'CANCELED')
})

test('an approved agreement can still be canceled, and one that has ended never changes', () => {
  const at = later(START, HOUR_MS)
  const open = approved(START)
  const ended = follow(open, said('CANCELED', at), at)!.recurrence
  assert.deepEqual([ended.status, ended.nextAt], ['CANCELED', null])
  for (const status of ['APPROVED', 'REJECTED', 'EXPIRED'] as const) {
    assert.equal(follow(ended, said(status, at), at), null, status)
  }
})

test('the first charge is generated on the day of approval in São Paulo, or the product’s next', () => {
  const table: [approvedAt: string, dayGenerateCharge: number | null, firstOn: LocalDate][] = [
    ['2026-08-31T02:59:59Z', null, '2026-08-30'],
    ['2026-08-31T03:00:00Z', null, '2026-08-31'],
    ['2026-09-01T02:59:59Z', 1, '2026-09-01'],
    ['2026-09-02T02:59:59Z', 1, '2026-09-01'],
    ['2026-09-02T03:00:00Z', 1, '2026-10-01'],
    ['2027-01-01T01:00:00Z', 28, '2027-01-28'],
    ['2028-02-29T12:00:00Z', null, '2028-02-29'],
  ]
  for (const [at, dayGenerateCharge, firstOn] of table) {
    const { recurrence } = follow(
      undecided({ dayGenerateCharge }),
      said('APPROVED', new Date(at)),
      START,
    )!
    assert.equal(recurrence.firstOn, firstOn, at)
    assert.deepEqual(recurrence.nextAt, new Date(`${firstOn}T03:00:00Z`))
  }
})

test('an undecided agreement is asked about less and less often, and expires at its deadline', () => {
  const expiresAt = later(START, 65 * HOUR_MS)
  const one = undecided({ createdAt: START, expiresAt })
  const asked = [START]
  while (asked.at(-1)! < expiresAt) asked.push(askAgainAt(one, asked.at(-1)!))
  const hours = asked.map((at) => (at.getTime() - START.getTime()) / HOUR_MS)
  assert.deepEqual(hours, [0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 56, 65])
  assert.deepEqual(askAgainAt(one, expiresAt), later(expiresAt, 24 * HOUR_MS))
  assert.equal(asOf(one, later(expiresAt, -1)), one)
  const over = asOf(one, expiresAt)
  assert.deepEqual([over.status, over.authStatus], ['EXPIRED', 'EXPIRED'])
  const accepted = approved(START, { expiresAt })
  assert.equal(asOf(accepted, later(expiresAt, HOUR_MS)), accepted)
})

test('an open recurrence can be canceled, also twice, and one that ended otherwise cannot', () => {
  const expiresAt = later(START, HOUR_MS)
  const ended = (status: AgreementStatus) =>
    follow(undecided(), said(status, START), START)!.recurrence
  assert.equal(cancellation(undecided({ expiresAt }), START), 'cancel')
  assert.equal(cancellation(approved(START), START), 'cancel')
  assert.equal(cancellation(ended('CANCELED'), START), 'already-canceled')
  const over: [Recurrence, RegExp][] = [
    [undecided({ expiresAt }), /EXPIRED/],
    [ended('EXPIRED'), /EXPIRED/],
    [ended('REJECTED'), /REJECTED/],
  ]
  for (const [recurrence, why] of over) {
    const refused = refusal(() => cancellation(recurrence, expiresAt))
    assert.equal(refused.code, 'recurrence_not_cancelable')
    assert.match(refused.message, why)
  }
})

test('a cycle creates a charge of the agreed value for the agreed payer, and then the next waits', () => {
  const at = new Date('2026-08-31T15:00:00Z')
  const one = approved(at)
  const { charge, billing, recurrence } = generate(one, at)
  assert.deepEqual(
    [charge.kind, charge.amount, charge.status, charge.paymentStatus, charge.recurrenceId],
    ['RECURRING', 1990, 'OPEN', 'PROCESSING', one.id],
  )
  assert.deepEqual([charge.customerId, charge.payer], [one.customerId, one.payer])
  // Through 10 September, the last day on which it can be tried: due on the 3rd, and 7 days more.
  assert.deepEqual(charge.expiresAt, new Date('2026-09-11T03:00:00Z'))
  assert.deepEqual(billing, {
    companyId: one.companyId,
    chargeId: charge.id,
    recurrenceId: one.id,
    cycle: 0,
    dueOn: '2026-09-03',
    status: 'PLANNED',
    unanswered: 0,
    ordered: false,
    nextAt: new Date('2026-08-31T03:00:00Z'),
  })
  assert.deepEqual(
    [recurrence.cycles, recurrence.lastDueOn, recurrence.nextAt],
    [1, '2026-09-03', new Date('2026-09-30T03:00:00Z')],
  )
  assert.equal(isGenerating(recurrence, at), false)
  assert.throws(() => generate(recurrence, at), /assertion failed/)
  assert.throws(() => generate({ ...one, authStatus: 'CANCELED' }, at), /assertion failed/)
})

type Play = {
  approvedAt: Date
  frequency: Frequency
  dayDue: number
  dayGenerateCharge: number | null
  /** How long after each moment at which there is work the worker comes round. */
  delays_ms: number[]
}

const DAY_MS = 24 * HOUR_MS
/** Mostly at once; sometimes hours late, and now and then away for weeks. */
const delay = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: DAY_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: DAY_MS, max: 100 * DAY_MS }) },
)
const anyMoment = fc.oneof(
  fc.date({
    min: new Date('2024-01-01T00:00:00Z'),
    max: new Date('2040-12-31T00:00:00Z'),
    noInvalidDate: true,
  }),
  // Ends of months and years, and leap days, to the millisecond.
  fc
    .tuple(
      fc.constantFrom('2026-01-31', '2027-08-31', '2028-02-29', '2026-12-31', '2027-01-30'),
      fc.constantFrom(0, 1, DAY_MS - 1),
    )
    .map(([day, ms]) => later(startOfDay(day), ms)),
)
const anyPlay: fc.Arbitrary<Play> = fc.record({
  approvedAt: anyMoment,
  frequency: fc.constantFrom<Frequency>('WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL'),
  dayDue: fc.integer({ min: 1, max: 7 }),
  dayGenerateCharge: fc.option(fc.integer({ min: 1, max: 28 })),
  delays_ms: fc.array(delay, { minLength: 45, maxLength: 45 }),
})

type Played = { billing: Billing; now: Date }

/**
 * What a worker makes of an agreement that comes round after each delay and does all that is due.
 */
function playOut({ approvedAt, delays_ms, ...terms }: Play): Played[] {
  let recurrence = approved(approvedAt, terms)
  let now = approvedAt
  const played: Played[] = []
  for (const delay_ms of delays_ms) {
    now = later(recurrence.nextAt! > now ? recurrence.nextAt! : now, delay_ms)
    while (isGenerating(recurrence, now)) {
      const cycle = generate(recurrence, now)
      played.push({ billing: cycle.billing, now })
      recurrence = cycle.recurrence
    }
  }
  return played
}

test('however late a worker runs, no cycle is skipped or charged twice', () => {
  fc.assert(
    fc.property(anyPlay, (play) => {
      const played = playOut(play)
      assert.ok(played.length >= 45)
      const firstOn = firstGeneration(localDateOf(play.approvedAt), play.dayGenerateCharge)
      played.forEach(({ billing, now }, n) => {
        assert.equal(billing.cycle, n)
        const day = generationDay(firstOn, play.frequency, n)
        assert.ok(now >= startOfDay(day), 'none is generated before its day')
      })
      const last = played.at(-1)!.now
      const next = generationDay(firstOn, play.frequency, played.length)
      assert.ok(startOfDay(next) > last, 'none that was due is left out')
    }),
  )
})

test('however late a worker runs, every cycle has its own business day, none too early', () => {
  fc.assert(
    fc.property(anyPlay, (play) => {
      const firstOn = firstGeneration(localDateOf(play.approvedAt), play.dayGenerateCharge)
      let before: LocalDate = ''
      playOut(play).forEach(({ billing: { dueOn, nextAt }, now }, n) => {
        assert.ok(isBusinessDay(dueOn), dueOn)
        assert.ok(dueOn > before, `${before} is followed by ${dueOn}`)
        const day = generationDay(firstOn, play.frequency, n)
        assert.ok(dueOn >= agreedDueDay(day, play.dayDue), 'the payer has the agreed days')
        assert.ok(dueOn >= agreedDueDay(localDateOf(now), play.dayDue), 'also when it comes late')
        const on = nextAt! > now ? localDateOf(nextAt!) : localDateOf(now)
        assert.ok(maySchedule(on, dueOn), 'the bank accepts the order then')
        before = dueOn
      })
    }),
  )
})

test('if the worker is never late, every cycle is due on the day of the calendar', () => {
  fc.assert(
    fc.property(anyPlay, (play) => {
      const delays_ms = play.delays_ms.map(() => 0)
      const firstOn = firstGeneration(localDateOf(play.approvedAt), play.dayGenerateCharge)
      const dues = playOut({ ...play, delays_ms }).map(({ billing }) => billing.dueOn)
      const days = dues.map((_, n) => generationDay(firstOn, play.frequency, n))
      assert.deepEqual(
        dues,
        days.map((day) => dueDay(day, play.dayDue)),
      )
    }),
  )
})
