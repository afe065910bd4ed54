import { assert } from './assert.ts'

declare const cents: unique symbol
/** An amount of money in integer centavos. Nothing in the product holds money in any other form. */
export type Cents = number & { readonly [cents]: true }

export function toCents(value: number | string): Cents {
  const amount = Number(value)
  assert(Number.isSafeInteger(amount) && amount >= 0, 'money is a non-negative integer of cents')
  return amount as Cents
}

/** An amount with a decimal point: 1234.56. */
export function formatDecimal(amount: Cents): string {
  const digits = String(amount).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/**
 * An amount as people in Brazil read it: R$ 1.234,56. The space is an ordinary one, so that a
 * search for the amount finds it. Cut as text, since no fraction of a real is ever a number here. A
 * bigint is an amount that nobody pays, such as of an item, and may be beyond every limit. Only a
 * balance may be below zero: − R$ 1.234,56.
 */
export function formatReais(amount: number | bigint): string {
  const digits = String(amount < 0 ? -amount : amount).padStart(3, '0')
  const reais = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '.')
  return `${amount < 0 ? '− ' : ''}R$ ${reais},${digits.slice(-2)}`
}

const TYPED = /^(?:R\$)?\s*(\d{1,3}(?:\.\d{3})+|\d{1,13})(?:,(\d{1,2})|\.(\d{2}))?$/i

/**
 * The cents of an amount that a person has typed: 19,90, R$ 1.234,56, 1234 or 19.90. A dot before
 * three digits separates thousands. Null if it is no amount of reais.
 */
export function readReais(text: string): Cents | null {
  const found = TYPED.exec(text.trim())
  if (!found) return null
  const [, reais, afterComma, afterDot] = found
  const cents = (afterComma ?? afterDot ?? '').padEnd(2, '0')
  const amount = Number(reais!.replaceAll('.', '') + cents)
  return Number.isSafeInteger(amount) ? (amount as Cents) : null
}
