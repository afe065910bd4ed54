import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toCents } from '../lib/money.ts'
import { isBusinessDay } from './business-days.ts'
import { amountOn, type DueTerms, faultsOf, firstLateDay, lastDayToPay } from './due-amount.ts'
import { addDays, type LocalDate } from './local-time.ts'

const ORIGINAL = toCents(10_000)
// A Friday.
const DUE = '2026-08-21'
const plain: DueTerms = { dueDate: DUE, daysAfterDue: 30 }
const totalOn = (terms: Partial<DueTerms>, on: LocalDate) =>
  amountOn(ORIGINAL, { ...plain, ...terms }, on).total

/** The examples of API Pix for validadeAposVencimento: due date, days, and the last day to pay. */
const EXAMPLES: [string, number, string][] = [
  ['2020-10-20', 4, '2020-10-26'],
  ['2020-12-25', 0, '2020-12-28'],
  ['2020-12-25', 1, '2020-12-29'],
  ['2020-12-25', 3, '2020-12-31'],
  ['2020-12-25', 4, '2021-01-04'],
  ['2021-08-27', 5, '2021-09-01'],
  ['2021-08-28', 5, '2021-09-06'],
]

for (const [dueDate, daysAfterDue, last] of EXAMPLES) {
  test(`due on ${dueDate} and payable for ${daysAfterDue} days more, it can be paid until ${last}`, () => {
    assert.equal(lastDayToPay({ dueDate, daysAfterDue }), last)
  })
}

test('two days late with 3 % of fine and 1 % a day, R$ 100,00 are R$ 105,00, as in API Pix', () => {
  const terms: Partial<DueTerms> = {
    dueDate: '2026-08-19',
    fine: { type: 'PERCENT', value: 300 },
    interest: { type: 'PERCENT_PER_DAY', value: 100, days: 'CALENDAR' },
  }
  assert.deepEqual(amountOn(ORIGINAL, { ...plain, ...terms }, '2026-08-21'), {
    on: '2026-08-21',
    original: 10_000,
    fine: 300,
    interest: 200,
    discount: 0,
    rebate: 0,
    total: 10_500,
  })
})

test('on the weekend after its due date nothing is added, on Monday three days are', () => {
  const interest = { type: 'FIXED_PER_DAY', value: 100, days: 'CALENDAR' } as const
  const totals = ['2026-08-21', '2026-08-22', '2026-08-23', '2026-08-24'].map((on) =>
    totalOn({ interest, fine: { type: 'FIXED', value: 7 } }, on),
  )
  assert.deepEqual(totals, [10_000, 10_000, 10_000, 10_307])
})

test('a due date on a weekend moves to Monday, and interest counts from there', () => {
  const interest = { type: 'FIXED_PER_DAY', value: 10, days: 'CALENDAR' } as const
  const totals = ['2026-08-22', '2026-08-24', '2026-08-25'].map((on) =>
    totalOn({ dueDate: '2026-08-22', interest }, on),
  )
  assert.deepEqual(totals, [10_000, 10_000, 10_010])
})

test('business days leave weekends out', () => {
  const interest = { type: 'FIXED_PER_DAY', value: 10, days: 'BUSINESS' } as const
  assert.equal(totalOn({ interest }, '2026-08-24'), 10_010)
  assert.equal(totalOn({ interest }, '2026-08-31'), 10_060)
})

test('a discount holds up to and on its day, then the next one', () => {
  const discounts = [
    { type: 'FIXED', value: 500, until: '2026-08-20' },
    { type: 'FIXED', value: 1000, until: '2026-08-14' },
  ] as const
  const totals = ['2026-08-13', '2026-08-14', '2026-08-15', '2026-08-20', '2026-08-21'].map((on) =>
    totalOn({ discounts: [...discounts] }, on),
  )
  assert.deepEqual(totals, [9_000, 9_000, 9_500, 9_500, 10_000])
})

test('a discount until the due date moves with it', () => {
  const dueDate = '2026-08-22'
  const discounts = [{ type: 'FIXED', value: 500, until: dueDate } as const]
  assert.equal(totalOn({ dueDate, discounts }, '2026-08-24'), 9_500)
  assert.equal(totalOn({ dueDate, discounts }, '2026-08-25'), 10_000)
})

test('a discount for each day before the due date', () => {
  const discountPerDay = { type: 'PERCENT', value: 100, days: 'CALENDAR' } as const
  assert.equal(totalOn({ discountPerDay }, '2026-08-11'), 9_000)
  assert.equal(
    totalOn({ discountPerDay: { ...discountPerDay, days: 'BUSINESS' } }, '2026-08-11'),
    9_200,
  )
  assert.equal(totalOn({ discountPerDay }, DUE), 10_000)
})

test('half a cent is rounded up, once for each part', () => {
  const terms: DueTerms = { ...plain, rebate: { type: 'PERCENT', value: 5 } }
  assert.equal(amountOn(toCents(1000), terms, DUE).rebate, 1)
  assert.equal(amountOn(toCents(999), terms, DUE).rebate, 0)
})

const days = fc.constantFrom('CALENDAR' as const, 'BUSINESS' as const)
const kind = fc.constantFrom('FIXED' as const, 'PERCENT' as const)
const rate = fc.record({ type: kind, value: fc.integer({ min: 1, max: 400 }) })
const day = fc.integer({ min: -40, max: 700 }).map((n) => addDays('2026-07-01', n))
const sometimes = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined, freq: 1 })
const wholeTerms = fc
  .record({
    dueDate: day,
    daysAfterDue: fc.integer({ min: 0, max: 365 }),
    fine: sometimes(rate),
    interest: sometimes(
      fc.record({
        type: fc.constantFrom(
          'FIXED_PER_DAY' as const,
          'PERCENT_PER_DAY' as const,
          'PERCENT_PER_MONTH' as const,
          'PERCENT_PER_YEAR' as const,
        ),
        value: fc.integer({ min: 1, max: 400 }),
        days,
      }),
    ),
    early: sometimes(fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 3 })),
    discount: rate,
    discountPerDay: sometimes(
      fc.record({ type: kind, value: fc.integer({ min: 1, max: 10 }), days }),
    ),
    rebate: sometimes(rate),
  })
  .map(({ early, discount, discountPerDay, ...terms }) => {
    const discounts = [...new Set(early)].map((n) => ({
      ...discount,
      value: discount.value + n,
      until: addDays(terms.dueDate, -n),
    }))
    const found = early ? { discounts } : { discountPerDay }
    const given = Object.entries({ ...terms, ...found }).filter(([, one]) => one !== undefined)
    return Object.fromEntries(given) as DueTerms
  })

/**
 * The same amount in another way: in units of which a cent has a whole number, day by day, and with
 * the names and numbers of the modalities of API Pix.
 */
function calculatedAgain(original: number, terms: DueTerms, on: LocalDate): number {
  const UNIT = 10_000n * 30n * 365n * 21n * 252n
  const cents = (units: bigint) => {
    const [whole, rest] = [units / UNIT, units % UNIT]
    return rest * 2n >= UNIT ? whole + 1n : whole
  }
  const take = (base: bigint, type: string, value: number, parts = 1n) =>
    type.startsWith('FIXED')
      ? BigInt(value) * UNIT
      : (base * BigInt(value) * (UNIT / 10_000n)) / parts
  const working = (one: LocalDate): LocalDate =>
    isBusinessDay(one) ? one : working(addDays(one, 1))
  const vencimento = working(terms.dueDate)
  const abatimento = terms.rebate
    ? cents(take(BigInt(original), terms.rebate.type, terms.rebate.value))
    : 0n
  const base = BigInt(original) - abatimento
  let [atraso, atrasoUtil, antes, antesUtil] = [0n, 0n, 0n, 0n]
  for (let one = addDays(vencimento, 1); one <= on; one = addDays(one, 1)) {
    atraso += 1n
    if (isBusinessDay(one)) atrasoUtil += 1n
  }
  for (let one = addDays(on, 1); one <= vencimento; one = addDays(one, 1)) {
    antes += 1n
    if (isBusinessDay(one)) antesUtil += 1n
  }
  let total = base
  if (atrasoUtil > 0n) {
    if (terms.fine) total += cents(take(base, terms.fine.type, terms.fine.value))
    if (terms.interest) {
      const { type, value, days } = terms.interest
      const isUtil = days === 'BUSINESS'
      const parts = /MONTH$/.test(type)
        ? isUtil
          ? 21n
          : 30n
        : /YEAR$/.test(type)
          ? isUtil
            ? 252n
            : 365n
          : 1n
      total += cents(take(base, type, value, parts) * (isUtil ? atrasoUtil : atraso))
    }
  }
  if (on <= vencimento && terms.discountPerDay) {
    const { type, value, days } = terms.discountPerDay
    total -= cents(take(base, type, value) * (days === 'BUSINESS' ? antesUtil : antes))
  }
  let nearest: { until: string; type: string; value: number } | undefined
  for (const one of terms.discounts ?? []) {
    const until = one.until === terms.dueDate ? vencimento : one.until
    if (on <= until && (!nearest || until < nearest.until)) nearest = { ...one, until }
  }
  if (nearest) total -= cents(take(base, nearest.type, nearest.value))
  return Number(total)
}

test('every amount is the same when it is calculated in another way', () => {
  const amounts = fc.integer({ min: 50_000, max: 999_999_999 })
  fc.assert(
    fc.property(amounts, wholeTerms, fc.integer({ min: -60, max: 400 }), (amount, terms, n) => {
      const on = addDays(terms.dueDate, n)
      const { original, fine, interest, discount, rebate, total } = amountOn(
        toCents(amount),
        terms,
        on,
      )
      assert.equal(total, calculatedAgain(amount, terms, on))
      assert.equal(total, original + fine + interest - discount - rebate)
    }),
    { numRuns: 300 },
  )
})

test('nobody pays a fine before the first day on which they are late, and all pay it from then on', () => {
  const fine = { type: 'FIXED', value: 1 } as const
  fc.assert(
    fc.property(day, fc.integer({ min: -5, max: 10 }), (dueDate, n) => {
      const on = addDays(dueDate, n)
      const { fine: paid } = amountOn(ORIGINAL, { ...plain, dueDate, fine }, on)
      assert.equal(paid, on >= firstLateDay({ dueDate }) ? 1 : 0)
    }),
  )
})

test('before a charge was made and centuries later there is an amount too, of a cent or more', () => {
  const terms: DueTerms = {
    ...plain,
    daysAfterDue: 0,
    interest: { type: 'FIXED_PER_DAY', value: 999_999_999_999, days: 'CALENDAR' },
    discountPerDay: { type: 'PERCENT', value: 9_000, days: 'CALENDAR' },
  }
  assert.deepEqual(faultsOf(ORIGINAL, terms, '2026-08-20'), [])
  assert.equal(amountOn(ORIGINAL, terms, '2000-01-01').total, 1)
  assert.equal(amountOn(ORIGINAL, terms, '2999-12-31').interest, 999_999_999_999)
  const far: Partial<DueTerms> = {
    dueDate: '2999-12-31',
    discountPerDay: { type: 'FIXED', value: 999_999_999_999, days: 'BUSINESS' },
  }
  assert.match(faultsOf(ORIGINAL, { ...plain, ...far }, DUE)[0]!, /^discountPerDay.value: /)
})

const TODAY = '2026-08-01'
const faults = (terms: Partial<DueTerms>) => faultsOf(ORIGINAL, { ...plain, ...terms }, TODAY)
const REFUSED: [string, Partial<DueTerms>][] = [
  ['dueDate: must not be before today, 2026-08-01', { dueDate: '2026-07-31' }],
  [
    'fine.value: must be at most 10000, which is 100,00 %',
    { fine: { type: 'PERCENT', value: 10_001 } },
  ],
  [
    'rebate.value: must be less than the amount of the charge',
    { rebate: { type: 'PERCENT', value: 10_000 } },
  ],
  [
    'discounts[0].until: must not be after dueDate, 2026-08-21',
    { discounts: [{ type: 'FIXED', value: 1, until: '2026-08-22' }] },
  ],
  [
    'discounts[0].until: must not be before today, 2026-08-01',
    { discounts: [{ type: 'FIXED', value: 1, until: '2026-07-31' }] },
  ],
  [
    'discounts[0].value: must leave something of the amount to pay',
    { discounts: [{ type: 'FIXED', value: 10_000, until: DUE }] },
  ],
  [
    'discounts: each must end on another day',
    { discounts: [1, 2].map((value) => ({ type: 'FIXED', value, until: DUE })) },
  ],
  [
    'discounts: all must have the same type, FIXED or PERCENT',
    {
      discounts: [
        { type: 'FIXED', value: 1, until: DUE },
        { type: 'PERCENT', value: 1, until: '2026-08-20' },
      ],
    },
  ],
  [
    'discountPerDay: send it or discounts, not both',
    {
      discounts: [{ type: 'FIXED', value: 1, until: DUE }],
      discountPerDay: { type: 'FIXED', value: 1, days: 'CALENDAR' },
    },
  ],
  [
    'discountPerDay.value: if it is paid today, it must leave something of the amount to pay',
    { discountPerDay: { type: 'PERCENT', value: 500, days: 'CALENDAR' } },
  ],
]

for (const [fault, terms] of REFUSED) {
  test(`refused: ${fault}`, () => assert.deepEqual(faults(terms), [fault]))
}

test('interest may not make more of a charge than a charge may be', () => {
  const interest = { type: 'PERCENT_PER_DAY', value: 10_000, days: 'CALENDAR' } as const
  const [fault] = faultsOf(toCents(999_999_999_999), { ...plain, interest }, TODAY)
  assert.match(
    fault!,
    /^interest\.value: on the last day, 2026-09-21, more than 999999999999 cents/,
  )
})

test('ordinary terms have no fault', () => {
  assert.deepEqual(
    faults({
      fine: { type: 'PERCENT', value: 200 },
      interest: { type: 'PERCENT_PER_MONTH', value: 100, days: 'CALENDAR' },
      discounts: [{ type: 'PERCENT', value: 500, until: '2026-08-10' }],
      rebate: { type: 'FIXED', value: 100 },
    }),
    [],
  )
})
