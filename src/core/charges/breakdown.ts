import type { Cents } from '../../lib/money.ts'
import { type Item, itemTotal } from './rules.ts'

/** One item of a link and what it comes to: more than a charge may be, when `total` is less. */
export type Line = { name: string; quantity: number; total: bigint }

/** What is bought, and what is added to the sum of the items or, below zero, taken off it. */
export type Breakdown = { lines: Line[]; difference: bigint }

/** Lines and difference add up to the amount. Without items there is no difference. */
export function breakDown(amount: Cents, items: Item[]): Breakdown {
  const lines = items.map((item) => ({
    ...{ name: item.product.name, quantity: item.quantity },
    total: itemTotal(item),
  }))
  const difference = lines.length > 0 ? BigInt(amount) - sumOf(lines) : 0n
  return { lines, difference }
}

export const sumOf = (lines: Line[]): bigint => lines.reduce((sum, { total }) => sum + total, 0n)
