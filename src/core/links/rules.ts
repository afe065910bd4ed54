import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import { MAX_AMOUNT, MIN_CHARGE } from '../../pix/amounts.ts'
import { isLocalDate, localDateOf } from '../../pix/local-time.ts'
import { type Item, itemTotal, type Split } from '../charges/rules.ts'

export const MAX_TITLE = 120
export const MAX_SLUG = 60
export const MAX_QUANTITY = 1_000_000
export const MIN_LIFETIME_S = 60
export const MAX_LIFETIME_S = 7 * 24 * 3600
/** Letters without accents and digits, in words that are joined by hyphens. */
export const SLUG_FORM = '^[a-z0-9]+(?:-[a-z0-9]+)*$'

/** Bounds of what a payer may type. Null: those of every charge. */
export type OpenAmount = { min: number | null; max: number | null }

/** A product by its public id, and how many of it one purchase has. */
export type LinkItem = { productId: string; quantity: number }

/** What the company decides of a link that many payers use. */
export type LinkTerms = {
  title: string
  description: string | null
  /** What one costs: exactly one of these three is not null. */
  amount: number | null
  items: LinkItem[] | null
  openAmount: OpenAmount | null
  /** How many one payer may buy at once. */
  minQuantity: number
  maxQuantity: number
  endsAt: Date | null
  /** How many sales there may be. Null: any number. */
  stock: number | null
  enabled: boolean
  needShipping: boolean
  successUrl: string | null
  /** How long each of its charges can be paid. */
  lifetime_s: number
  split: Split | null
}

/** What the changes of its charges count with the link. */
export type LinkCounts = {
  /** How often somebody has opened its page, without machines. */
  opened: number
  /** Charges that were made by it. */
  made: number
  /** Sales of the stock that are paid, or reserved by an open charge. */
  used: number
  paid: number
  received: Cents
}

export type ReusableLink = LinkTerms &
  LinkCounts & {
    companyId: Uuid
    id: Uuid
    slug: string
    createdAt: Date
    updatedAt: Date
  }

export const NO_COUNTS: LinkCounts = {
  opened: 0,
  made: 0,
  used: 0,
  paid: 0,
  received: toCents(0),
}

export const LINK_STATES = ['OPEN', 'OFF', 'ENDED', 'SOLD_OUT'] as const
export type LinkState = (typeof LINK_STATES)[number]

/** Whether a link sells now, or why not. */
export function stateOf(
  link: Pick<ReusableLink, 'enabled' | 'endsAt' | 'stock' | 'used'>,
  now: Date,
): LinkState {
  if (!link.enabled) return 'OFF'
  if (link.endsAt !== null && link.endsAt <= now) return 'ENDED'
  return link.stock !== null && link.used >= link.stock ? 'SOLD_OUT' : 'OPEN'
}

/** How many sales are left. A payment that arrived late may have sold more than there were. */
export const remainingOf = ({
  stock,
  used,
}: Pick<ReusableLink, 'stock' | 'used'>): number | null =>
  stock === null ? null : Math.max(0, stock - used)

/** The bounds of what a payer may type. */
export const boundsOf = ({ min, max }: OpenAmount): { min: number; max: number } => ({
  min: min ?? MIN_CHARGE,
  max: max ?? MAX_AMOUNT,
})

/** What one costs. Null: the payer types it. */
export function priceOf(link: Pick<LinkTerms, 'amount'>, items: Item[]): bigint | null {
  if (link.amount !== null) return BigInt(link.amount)
  if (items.length === 0) return null
  return items.reduce((sum, item) => sum + itemTotal(item), 0n)
}

/** What is wrong with the terms of a link, in sentences. `items` are its products as they are. */
export function faultsOf(terms: LinkTerms, items: Item[]): string[] {
  const { openAmount, minQuantity, maxQuantity } = terms
  const price = priceOf(terms, items)
  const field = terms.amount === null ? 'items' : 'amount'
  const least = price === null ? null : price * BigInt(minQuantity)
  const most = price === null ? null : price * BigInt(maxQuantity)
  const bounds = openAmount && boundsOf(openAmount)
  const found = [
    terms.endsAt !== null &&
      !isLocalDate(localDateOf(terms.endsAt)) &&
      'endsAt: must be a day from 2000 to 2999',
    maxQuantity < minQuantity && 'maxQuantity: must not be less than minQuantity',
    openAmount && maxQuantity > 1 && 'maxQuantity: must be 1 where the payer types the amount',
    bounds && bounds.max < bounds.min && 'openAmount.max: must not be less than openAmount.min',
    least !== null &&
      least < MIN_CHARGE &&
      `${field}: minQuantity of them cost ${least} cents, and a charge has at least ${MIN_CHARGE}`,
    most !== null &&
      most > MAX_AMOUNT &&
      `maxQuantity: so many cost ${most} cents, and a charge has at most ${MAX_AMOUNT}`,
    items.some(({ product }) => product.type === 'RECURRING') &&
      'items: a subscription has a link of its own; name products that are sold once',
  ]
  return found.filter((fault) => typeof fault === 'string')
}

/** The least that a purchase may cost. If its products have become too dear, as much as may be. */
export function leastOf(terms: LinkTerms, items: Item[]): Cents {
  const price = priceOf(terms, items) ?? BigInt(boundsOf(terms.openAmount!).min)
  const least = price * BigInt(terms.minQuantity)
  return toCents(least > MAX_AMOUNT ? MAX_AMOUNT : Number(least))
}

/** How many a payer wants, and what they want to pay if they may type it. */
export type Order = { quantity: number; amount: number | null }

/** What is wrong with an order, by its fields. */
export function orderFaults(terms: LinkTerms, { quantity, amount }: Order): (keyof Order)[] {
  const { minQuantity, maxQuantity, openAmount } = terms
  const isCounted = Number.isInteger(quantity) && quantity >= minQuantity && quantity <= maxQuantity
  const bounds = openAmount && boundsOf(openAmount)
  const isWithin =
    bounds === null || (amount !== null && amount >= bounds.min && amount <= bounds.max)
  return [...(isCounted ? [] : ['quantity' as const]), ...(isWithin ? [] : ['amount' as const])]
}

/** What an order costs. Throws if the products have become too cheap or too dear for a charge. */
export function totalOf(terms: LinkTerms, items: Item[], { quantity, amount }: Order): Cents {
  const price = priceOf(terms, items) ?? BigInt(amount ?? 0)
  const total = price * BigInt(quantity)
  if (total < MIN_CHARGE || total > MAX_AMOUNT) {
    throw invalid(`quantity: the total must be from ${MIN_CHARGE} to ${MAX_AMOUNT} cents`)
  }
  return toCents(Number(total))
}

/** The words of a title as an address has them. */
export function slugOf(title: string): string {
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '')
  return plain === '' ? 'link' : plain
}

/** What a charge of a link says to its payer. */
export const describe = ({ title }: Pick<LinkTerms, 'title'>, quantity: number): string =>
  quantity === 1 ? title : `${quantity} × ${title}`
