import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { type DueTerms, faultsOf, type Rate } from '../../pix/due-amount.ts'
import { addDays, addMonths, type LocalDate } from '../../pix/local-time.ts'
import { amountAt, asOf, type Charge, type ChargeStatus, receivedOf } from './rules.ts'

export const MIN_CHARGES = 2
export const MAX_CHARGES = 60

/** One sale that is paid in several charges with due dates. */
export type Plan = {
  companyId: Uuid
  id: Uuid
  /** The amounts of the charges add up to it. */
  total: Cents
  /** In the order of their due dates. */
  chargeIds: Uuid[]
  devMode: boolean
  externalId: string | null
  description: string | null
  fingerprint: Buffer | null
  createdAt: Date
}

/** So many parts that are alike, and the rest in the first. */
export function partsOf(total: number, count: number): Cents[] {
  const part = Math.floor(total / count)
  return Array.from({ length: count }, (_, i) =>
    toCents(i === 0 ? total - part * (count - 1) : part),
  )
}

/** The same day of each month, or its last day. */
export const monthsFrom = (first: LocalDate, count: number): LocalDate[] =>
  Array.from({ length: count }, (_, i) => addMonths(first, i))

/** The terms that all charges of a plan have. A discount ends so many days before each due date. */
export type PlanTerms = Omit<DueTerms, 'dueDate' | 'discounts'> & {
  discounts?: (Rate & { daysBeforeDue: number })[]
}

/** The terms of one charge. A discount whose day is over is left out. */
export function termsOf(
  { discounts, ...terms }: PlanTerms,
  dueDate: LocalDate,
  today: LocalDate,
): DueTerms {
  const dated = (discounts ?? [])
    .map(({ daysBeforeDue, ...rate }) => ({ ...rate, until: addDays(dueDate, -daysBeforeDue) }))
    .filter(({ until }) => until >= today)
  return { ...terms, dueDate, ...(dated.length > 0 && { discounts: dated }) }
}

/** How a sale is divided, as it was asked for. */
export type Division = {
  total: number
  count?: number
  amounts?: number[]
  firstDueDate?: LocalDate
  dueDates?: LocalDate[]
}

export type Part = { amount: Cents; dueDate: LocalDate }

/** The parts of a sale, or what is wrong with how it is to be divided, in sentences. */
export function divide({
  total,
  count,
  amounts,
  firstDueDate,
  dueDates,
}: Division): Part[] | string[] {
  const wanted = amounts?.length ?? dueDates?.length ?? count
  const faults = [
    wanted === undefined && 'count: send it, or amounts or dueDates, which are counted',
    count !== undefined &&
      wanted !== count &&
      `count: is ${count}, and there are ${wanted} amounts or dueDates`,
    amounts &&
      dueDates &&
      amounts.length !== dueDates.length &&
      `dueDates: there are ${dueDates.length}, and ${amounts.length} amounts`,
    !firstDueDate && !dueDates && 'firstDueDate: send it, or all dueDates',
    firstDueDate && dueDates && 'firstDueDate: send it or dueDates, not both',
    ...orderFaults(dueDates ?? []),
    amounts && sumFault(total, amounts),
    !amounts &&
      wanted !== undefined &&
      Math.floor(total / wanted) < MIN_CHARGE &&
      `total: each of ${wanted} equal parts would be less than ${MIN_CHARGE} cents`,
  ].filter((fault) => typeof fault === 'string')
  if (faults.length > 0) return faults
  const days = dueDates ?? monthsFrom(firstDueDate!, wanted!)
  const parts = amounts?.map(toCents) ?? partsOf(total, wanted!)
  return days.map((dueDate, i) => ({ dueDate, amount: parts[i]! }))
}

export const isDivided = (divided: Part[] | string[]): divided is Part[] =>
  typeof divided[0] === 'object'

const orderFaults = (days: LocalDate[]) =>
  days.map((day, i) =>
    i > 0 && day <= days[i - 1]!
      ? `dueDates[${i}]: must be after the one before, ${days[i - 1]}`
      : null,
  )

function sumFault(total: number, amounts: number[]): string | null {
  const sum = amounts.reduce((all, amount) => all + amount, 0)
  return sum === total ? null : `amounts: add up to ${sum} cents, and total is ${total}`
}

/**
 * What is wrong with the charges of a plan that is made today. What is wrong with all of them is
 * said once. `daysField` is the field that the due dates are from.
 */
export function planFaults(parts: Part[], terms: PlanTerms, today: LocalDate, hasDays: boolean) {
  const found = parts.flatMap(({ amount, dueDate }, i) =>
    faultsOf(amount, termsOf(terms, dueDate, today), today).map((fault) =>
      fault.replace(/^dueDate:/, hasDays ? `dueDates[${i}]:` : 'firstDueDate:'),
    ),
  )
  const fieldOf = (fault: string) => fault.slice(0, fault.indexOf(':'))
  return found.filter((fault, i) => found.findIndex((one) => fieldOf(one) === fieldOf(fault)) === i)
}

/** OPEN while something can be paid. After that, what became of the charges together. */
export function statusOf(charges: Pick<Charge, 'status'>[]): ChargeStatus {
  const has = (wanted: ChargeStatus) => charges.some(({ status }) => status === wanted)
  if (has('OPEN')) return 'OPEN'
  if (has('CANCELED')) return 'CANCELED'
  return has('EXPIRED') ? 'EXPIRED' : 'COMPLETED'
}

const sumOf = (amounts: number[]): Cents => toCents(amounts.reduce((all, one) => all + one, 0))

/** What has arrived, and what is to be paid today for all that is open. */
export function moneyOf(all: Charge[], now: Date): { received: Cents; toPay: Cents } {
  const charges = all.map((charge) => asOf(charge, now))
  const of = (status: ChargeStatus) => charges.filter((charge) => charge.status === status)
  return {
    received: sumOf(of('COMPLETED').map(receivedOf)),
    toPay: sumOf(of('OPEN').map((charge) => amountAt(charge, now))),
  }
}
