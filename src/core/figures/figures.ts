import type { Balance } from '../../ledger/books.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import type { Period } from './rules.ts'

export type { Period } from './rules.ts'

/** How many there are, and their sum in cents. */
export type Sum = { count: number; sum: number }

/**
 * Where received money came from: the kind of the charge that it paid when it arrived. UNMATCHED: a
 * Pix that paid no charge when it arrived, whatever was decided about it later.
 */
export const SOURCES = ['PIX', 'LINK', 'STATIC', 'RECURRING', 'UNMATCHED'] as const
export type Source = (typeof SOURCES)[number]

/**
 * What the ledger says of a period. An entry belongs to a period by the moment when it was booked,
 * and the entries of a period follow each other: for every account, what it held before the first
 * one and what they moved make what it held after the last one. Over all accounts together:
 * closing − opening = received − returned − withdrawn + play.
 */
export type Figures = {
  /** Recebido bruto: all that entered the bank. Each Pix counts once, with its fine and interest. */
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

type Given = Pick<App, 'db' | 'clock'>

/**
 * The figures of each period, in their order. Periods may have any ends, may overlap, and may reach
 * into the future: then they have what is booked until now. All are of the same moment, so figures
 * of adjacent periods add up. Reads tables of hours, so the cost is that of the hours, not of the
 * payments in them.
 */
export declare function readFigures(
  app: Given,
  company: Company,
  periods: Period[],
): Promise<Figures[]>

/**
 * What was sold by product, the most money first: items of links and products of subscriptions whose
 * charges were paid on the days in São Paulo of the period. The prices are those of the items, so
 * a discount, a fine or interest is not in them.
 */
export type ProductSum = { productId: Uuid; name: string; quantity: number; sum: number }
export declare function readProducts(
  app: Given,
  company: Company,
  period: Period,
  limit: number,
): Promise<ProductSum[]>

/**
 * How many charges were made in a period, and how many of those are paid until now. Sales of static
 * codes are left out, because they are made by being paid, and trials of a live company are no sales.
 * The period begins and ends with a whole hour, as days do.
 */
export type Conversion = { made: number; paid: number }
export declare function readConversion(
  app: Given,
  company: Company,
  period: Period,
): Promise<Conversion>

/**
 * Subscriptions. `mrr` (cents in a month), `active` and `overdue` are those of now, whatever the
 * period. Active: approved by the payer, and not over. Overdue: active, and the last charge that
 * was due could not be collected. `started` and `canceled` are those of the period.
 */
export type SubscriptionFigures = {
  mrr: number
  active: number
  started: number
  canceled: number
  overdue: number
}
export declare function readSubscriptionFigures(
  app: Given,
  company: Company,
  period: Period,
): Promise<SubscriptionFigures>
