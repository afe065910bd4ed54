import type { Balance } from '../../ledger/books.ts'
import type { Kind } from '../../ledger/recipes.ts'
import { type Movement, SOURCES, type Source } from '../../ledger/sums.ts'
import type { Uuid } from '../../lib/ids.ts'
import { addDays, type LocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'

const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS
/** A charge is written at most so long after the moment that it says it was made at. */
const WRITTEN_WITHIN_MS = HOUR_MS
/** Days of which charges are counted to say how many were paid. */
export const CONVERSION_DAYS = 30

export { type Movement, SOURCES, type Source } from '../../ledger/sums.ts'

/** From `from` on and before `to`. */
export type Period = { from: Date; to: Date }
export type Day = Period & { day: LocalDate }

/** How many there are, and their sum in cents. */
export type Sum = { count: number; sum: number }

/**
 * What the ledger says of a period. An entry belongs to a period by the moment when it was booked,
 * and the entries of a period follow each other: for every account, what it held before the first
 * one and what they moved make what it held after the last one. Over all accounts together:
 * closing − opening = received − returned − withdrawn + play.
 */
export type Figures = {
  /** Recebido bruto: all that entered the bank. A Pix counts once, with its fine and interest. */
  received: Sum
  /** The same by its source: together they are `received`. */
  bySource: Record<Source, Sum>
  /** Devolvido: refunds that were paid, returns by the bank, and disputes that were lost. */
  returned: Sum
  /** Líquido: received − returned. */
  net: number
  /** Sacado: withdrawals, and payouts to recipients, that were sent. */
  withdrawn: Sum
  /** The play money of a new sandbox, which nobody has paid. */
  play: number
  /** Every account before the first entry of the period, and after its last one until now. */
  opening: Balance
  closing: Balance
}

/**
 * What was sold of a product: items of links and products of subscriptions whose charges were paid
 * in the period. The prices are those of the items, so a discount, a fine or interest is not in
 * them.
 */
export type ProductSum = {
  productId: Uuid
  name: string
  quantity: number
  sum: number
  /** The sum in the period that this one is compared with. */
  before: number
}

/** Charges that were made, and how many of those are paid until now. */
export type Conversion = { made: number; paid: number }

/**
 * Subscriptions. `mrr` (cents in a month), `active` and `overdue` are those of now, whatever the
 * period. Active: approved by the payer, and not over. Overdue: active, with a charge that was due
 * in the last 30 days and is not paid, nor is any later one. Started: made in the period, and
 * approved by the payer. Canceled: approved once, and ended in the period.
 */
export type SubscriptionFigures = {
  mrr: number
  active: number
  started: number
  canceled: number
  overdue: number
}

/** The entries of a period: what they move, and what the accounts held before and after them. */
export type Entries = {
  movements: Movement[]
  opening: Balance
  closing: Balance
  /** The last entry before the period, and the last one in it. */
  before: number
  last: number
}

/** Each Pix has one of these when it arrives. Fine and interest have entries of their own. */
const ARRIVALS: Kind[] = ['CHARGE_PAID', 'PAYMENT_UNMATCHED']
const NONE: Sum = { count: 0, sum: 0 }

const add = (to: Sum, { kind, count, sum }: Movement): Sum => ({
  count: to.count + (kind === 'FINE_PAID' || kind === 'INTEREST_PAID' ? 0 : count),
  sum: to.sum + sum,
})

const sumOf = (movements: Movement[]): Sum => movements.reduce(add, NONE)

export const isReceipt = ({ debit, kind }: Pick<Movement, 'debit' | 'kind'>): boolean =>
  debit === 'bank' && kind !== 'OPENING'
export const isWithdrawal = ({ kind }: Pick<Movement, 'kind'>): boolean =>
  kind === 'WITHDRAWAL_PAID'
export const isReturn = ({ credit, kind }: Pick<Movement, 'credit' | 'kind'>): boolean =>
  credit === 'bank' && kind !== 'WITHDRAWAL_PAID'
export const isArrival = ({ debit, kind }: Pick<Movement, 'debit' | 'kind'>): boolean =>
  debit === 'bank' && ARRIVALS.includes(kind)

/** The one definition of every figure, see docs/concepts/figures.md. */
export function figuresOf({ movements, opening, closing }: Entries): Figures {
  const receipts = movements.filter(isReceipt)
  const from = (source: Source) => sumOf(receipts.filter((one) => one.source === source))
  const received = sumOf(receipts)
  const returned = sumOf(movements.filter(isReturn))
  return {
    received,
    bySource: Object.fromEntries(
      SOURCES.map((source) => [source, from(source)]),
    ) as Figures['bySource'],
    returned,
    net: received.sum - returned.sum,
    withdrawn: sumOf(movements.filter(isWithdrawal)),
    play: sumOf(movements.filter(({ kind }) => kind === 'OPENING')).sum,
    opening,
    closing,
  }
}

export const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS)

/** Up to when hours have all the charges that are made in them. */
export const completeUntil = (now: Date): Date =>
  hourOf(new Date(now.getTime() - WRITTEN_WITHIN_MS))

/** A day of the calendar in São Paulo. */
export const dayOf = (day: LocalDate): Day => ({
  day,
  from: startOfDay(day),
  to: startOfDay(addDays(day, 1)),
})

/** The last days of the calendar in São Paulo up to today, oldest first. */
export function lastDays(count: number, now: Date): Day[] {
  const today = localDateOf(now)
  return Array.from({ length: count }, (_, i) => dayOf(addDays(today, i + 1 - count)))
}

/** The last days of the calendar in São Paulo up to today, as one period. */
export function daysTogether(count: number, now: Date): Period {
  const days = lastDays(count, now)
  return { from: days[0]!.from, to: days.at(-1)!.to }
}

/** The same weekday of the week before, up to the same time of day. */
export function sameTimeLastWeek(now: Date): Period {
  const to = new Date(now.getTime() - WEEK_MS)
  return { from: startOfDay(localDateOf(to)), to }
}

/** A part of a period: whole days or hours, or any time, whose entries are read one by one. */
export type Part = Period & { span: 'day' | 'hour' | 'entries' }

/** The fewest parts that a period can be read in. */
export function partsOf({ from, to }: Period): Part[] {
  const [first, end] = [hourOf(new Date(from.getTime() + HOUR_MS - 1)), hourOf(to)]
  if (first > end) return cut([{ from, to, span: 'entries' }])
  const day = localDateOf(first)
  const firstDay = startOfDay(day) < first ? startOfDay(addDays(day, 1)) : first
  const endDay = startOfDay(localDateOf(end))
  const whole: Part[] =
    firstDay < endDay
      ? [
          { from: first, to: firstDay, span: 'hour' },
          { from: firstDay, to: endDay, span: 'day' },
          { from: endDay, to: end, span: 'hour' },
        ]
      : [{ from: first, to: end, span: 'hour' }]
  return cut([{ from, to: first, span: 'entries' }, ...whole, { from: end, to, span: 'entries' }])
}

const cut = (parts: Part[]): Part[] => parts.filter(({ from, to }) => from < to)
