import { type Cents, toCents } from '../lib/money.ts'
import { MAX_AMOUNT } from './amounts.ts'
import { countBusinessDays, nextBusinessDay } from './business-days.ts'
import { addDays, daysBetween, type LocalDate } from './local-time.ts'

/** Cents, or hundredths of a percent: 200 is 2,00 %. */
export type Rate = { type: 'FIXED' | 'PERCENT'; value: number }

export type CountedDays = 'CALENDAR' | 'BUSINESS'

export const INTEREST_TYPES = [
  'FIXED_PER_DAY',
  'PERCENT_PER_DAY',
  'PERCENT_PER_MONTH',
  'PERCENT_PER_YEAR',
] as const
export type Interest = {
  type: (typeof INTEREST_TYPES)[number]
  value: number
  days: CountedDays
}

/** How the amount of a charge depends on the day on which it is paid. */
export type DueTerms = {
  dueDate: LocalDate
  /** For how many days after the due date it can be paid. */
  daysAfterDue: number
  fine?: Rate
  interest?: Interest
  /** The one that ends first, of those that have not ended, is taken off. */
  discounts?: (Rate & { until: LocalDate })[]
  /** For each day before the due date. */
  discountPerDay?: Rate & { days: CountedDays }
  rebate?: Rate
}

/** What is to be paid on a day: original + fine + interest − discount − rebate. */
export type DueAmount = {
  on: LocalDate
  original: Cents
  fine: Cents
  interest: Cents
  discount: Cents
  rebate: Cents
  total: Cents
}

export const totalOfParts = (parts: Omit<DueAmount, 'on' | 'total'>): Cents =>
  toCents(parts.original + parts.fine + parts.interest - parts.discount - parts.rebate)

/** The last day on which nothing is added. A due date that is no business day moves to the next. */
export const lastDayInTime = ({ dueDate }: Pick<DueTerms, 'dueDate'>): LocalDate =>
  nextBusinessDay(dueDate)

/** The last day on which it can be paid. */
export const lastDayToPay = (terms: Pick<DueTerms, 'dueDate' | 'daysAfterDue'>): LocalDate =>
  nextBusinessDay(addDays(lastDayInTime(terms), terms.daysAfterDue))

/**
 * The first day on which fine and interest are added. It is a business day, because nobody can be
 * late on a day without banks. Interest then counts the days before it too.
 */
export const firstLateDay = (terms: Pick<DueTerms, 'dueDate'>): LocalDate =>
  nextBusinessDay(addDays(lastDayInTime(terms), 1))

/**
 * Interest is simple, and its percentage, like that of fine and discount, is of the original amount
 * less the rebate. Each part is rounded to whole cents once, and half a cent is rounded up.
 * Decision 48 says which rules API Pix gives, and which are our reading.
 */
export function amountOn(original: Cents, terms: DueTerms, on: LocalDate): DueAmount {
  const rebate = partOf(original, terms.rebate)
  const base = toCents(original - rebate)
  const isLate = on >= firstLateDay(terms)
  const fine = isLate ? partOf(base, terms.fine) : toCents(0)
  const interest = isLate ? interestOn(base, terms, on) : toCents(0)
  // Before the day on which a charge was made, a discount for each day could be more than all.
  const discount = toCents(Math.min(discountOn(base, terms, on), base - 1))
  const total = toCents(base + fine + interest - discount)
  return { on, original, fine, interest, discount, rebate, total }
}

/** The same terms for a charge that is made so many days later. */
export const moveTerms = (terms: DueTerms, days: number): DueTerms => ({
  ...terms,
  dueDate: addDays(terms.dueDate, days),
  ...(terms.discounts && {
    discounts: terms.discounts.map((one) => ({ ...one, until: addDays(one.until, days) })),
  }),
})

/** How many days a month and a year have, by the days that are counted. */
const DAYS = {
  FIXED_PER_DAY: { CALENDAR: 1, BUSINESS: 1 },
  PERCENT_PER_DAY: { CALENDAR: 1, BUSINESS: 1 },
  PERCENT_PER_MONTH: { CALENDAR: 30, BUSINESS: 21 },
  PERCENT_PER_YEAR: { CALENDAR: 365, BUSINESS: 252 },
}

function interestOn(base: Cents, terms: DueTerms, on: LocalDate): Cents {
  if (!terms.interest) return toCents(0)
  const { type, value, days } = terms.interest
  const rate: Rate = { type: type === 'FIXED_PER_DAY' ? 'FIXED' : 'PERCENT', value }
  return partOf(base, rate, countDays(lastDayInTime(terms), on, days), DAYS[type][days])
}

function discountOn(base: Cents, terms: DueTerms, on: LocalDate): Cents {
  const due = lastDayInTime(terms)
  if (on > due) return toCents(0)
  if (terms.discountPerDay) {
    return partOf(base, terms.discountPerDay, countDays(on, due, terms.discountPerDay.days))
  }
  // A discount until the due date moves with it.
  const ends = (terms.discounts ?? []).map((one) => ({
    ...one,
    until: one.until === terms.dueDate ? due : one.until,
  }))
  const [first] = ends
    .filter(({ until }) => on <= until)
    .sort((a, b) => daysBetween(b.until, a.until))
  return partOf(base, first)
}

/** The days after `from` until and with `to`. */
const countDays = (from: LocalDate, to: LocalDate, days: CountedDays): number =>
  days === 'CALENDAR' ? Math.max(0, daysBetween(from, to)) : countBusinessDays(from, to)

/**
 * `times` a rate of an amount, divided by `parts`. It is calculated without fractions. No part is
 * more than a charge may be: centuries away it would be no safe integer.
 */
function partOf(amount: Cents, rate: Rate | undefined, times = 1, parts = 1): Cents {
  if (!rate) return toCents(0)
  const isFixed = rate.type === 'FIXED'
  const whole = BigInt(rate.value) * BigInt(times) * (isFixed ? 1n : BigInt(amount))
  const divisor = isFixed ? 1n : 10_000n * BigInt(parts)
  return toCents(Math.min(Number((2n * whole + divisor) / (2n * divisor)), MAX_AMOUNT))
}

/** 100,00 %. */
const ALL = 10_000

/**
 * What is wrong with the terms of a charge that is made today, in sentences. Each begins with its
 * field. The shape of the terms is right already.
 */
export function faultsOf(original: Cents, terms: DueTerms, today: LocalDate): string[] {
  const { dueDate, fine, interest, discountPerDay, rebate } = terms
  const discounts = (terms.discounts ?? []).map((one, i) => ({ ...one, field: `discounts[${i}]` }))
  const faults = [
    dueDate < today && `dueDate: must not be before today, ${today}`,
    ...Object.entries({ fine, interest, discountPerDay, rebate }).map(([field, rate]) =>
      rate ? percentFault(field, rate) : null,
    ),
    ...discounts.flatMap((one) => [
      percentFault(one.field, one),
      one.until > dueDate && `${one.field}.until: must not be after dueDate, ${dueDate}`,
      one.until < today && `${one.field}.until: must not be before today, ${today}`,
    ]),
    new Set(discounts.map(({ until }) => until)).size < discounts.length &&
      'discounts: each must end on another day',
    new Set(discounts.map(({ type }) => type)).size > 1 &&
      'discounts: all must have the same type, FIXED or PERCENT',
    discounts.length > 0 &&
      discountPerDay !== undefined &&
      'discountPerDay: send it or discounts, not both',
  ].filter((fault) => typeof fault === 'string')
  return faults.length > 0 ? faults : amountFaults(original, terms, today)
}

const percentFault = (field: string, { type, value }: { type: string; value: number }) =>
  type.startsWith('PERCENT') && value > ALL
    ? `${field}.value: must be at most ${ALL}, which is 100,00 %`
    : null

/** On every day something must be left to pay, and not more than a charge may be. */
function amountFaults(original: Cents, terms: DueTerms, today: LocalDate): string[] {
  const rebate = partOf(original, terms.rebate)
  if (rebate >= original) return ['rebate.value: must be less than the amount of the charge']
  const base = toCents(original - rebate)
  const faults = (terms.discounts ?? []).map((one, i) =>
    partOf(base, one) >= base ? `discounts[${i}].value: ${TOO_MUCH}` : null,
  )
  if (discountOn(base, { ...terms, discounts: [] }, today) >= base) {
    faults.push(`discountPerDay.value: if it is paid today, it ${TOO_MUCH}`)
  }
  const last = lastDayToPay(terms)
  const found = faults.filter((fault) => fault !== null)
  if (found.length > 0) return found
  return amountOn(original, terms, last).total > MAX_AMOUNT
    ? [`interest.value: on the last day, ${last}, more than ${MAX_AMOUNT} cents would be to pay`]
    : []
}

const TOO_MUCH = 'must leave something of the amount to pay'
