import type { Language } from '../../lib/language.ts'
import type { Cents } from '../../lib/money.ts'
import { type Charge, type Item, itemTotal } from './rules.ts'

/** One item of a link and its total, which may be more than a charge may be. */
type Line = { name: string; quantity: number; total: bigint }

/** The items, and what is added to their sum or, if below zero, taken off. */
export type Breakdown = { lines: Line[]; difference: bigint }

/** Lines and difference add up to the amount. Without items there is no difference. */
export function breakDown(amount: Cents, items: Item[]): Breakdown {
  const lines = items.map((item) => ({
    name: item.product.name,
    quantity: item.quantity,
    total: itemTotal(item),
  }))
  const difference = lines.length > 0 ? BigInt(amount) - sumOf(lines) : 0n
  return { lines, difference }
}

export const sumOf = (lines: Line[]): bigint => lines.reduce((sum, { total }) => sum + total, 0n)

const DIFFERS: Record<Language, (total: Cents, sum: bigint) => string> = {
  en: (total, sum) =>
    `total: ${total} cents are not the sum of the items, which is ${sum} cents. The payer is asked for the total.`,
  pt: (total, sum) =>
    `total: ${total} centavos diferem da soma dos itens, que vale ${sum} centavos. O pagador paga o total.`,
}

/** What is allowed in a link, but probably a mistake. */
export function linkWarnings(
  { amount, link }: Pick<Charge, 'amount' | 'link'>,
  language: Language,
): string[] {
  const { lines, difference } = breakDown(amount, link?.items ?? [])
  return difference === 0n ? [] : [DIFFERS[language](amount, sumOf(lines))]
}
