import type { List } from '../../../packages/client/src/index.ts'
import { type Args, ClientFault, type Option } from '../command.ts'
import { asTyped } from './faults.ts'

export const limitOption = (what: string): { limit: Option } => ({
  limit: { value: 'NUMBER', help: `at most so many ${what} (default 20)` },
})

export const readLimit = ({ options }: Args): number => readWhole(options, 'limit', 1, 10_000) ?? 20

/** The option of commands that make something. */
export const REPEAT = {
  'idempotency-key': {
    value: 'TEXT',
    help: 'makes it safe to run the command again: it acts once',
  },
}

/**
 * Runs a request. Its faults then name the options that were typed: --tax-id in place of
 * customer.taxId. `others` has those that are called otherwise than their field.
 */
export const inOptions = <R>(
  request: PromiseLike<R>,
  others: Record<string, string> = {},
): Promise<R> =>
  asTyped(request, (path) => {
    const field = path.replace(/\[\d+\]/g, '')
    return `--${others[field] ?? optionOf(field)}`
  })

const optionOf = (field: string): string =>
  field
    .split('.')
    .at(-1)!
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** A whole number that was typed. Undefined if it was not. */
export function readWhole(
  options: Args['options'],
  name: string,
  min: number,
  max: number,
): number | undefined {
  const text = options[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value
  throw new ClientFault(`--${name}: must be a whole number from ${min} to ${max}.`)
}

/** An amount in cents, as everywhere in the API. */
export function readCents(options: Args['options'], name: string): number | undefined {
  const text = options[name]
  if (text === undefined || /^[1-9]\d{0,14}$/.test(text)) return text ? Number(text) : undefined
  throw new ClientFault(`--${name}: must be in cents, such as 1990 for R$ 19,90.`)
}

/** The events that --events names, with commas. */
export function readList(text: string): string[] {
  const words = text.split(',').map((word) => word.trim())
  const named = [...new Set(words.filter(Boolean))]
  if (named.length > 0) return named
  throw new ClientFault('--events: names no event.')
}

/** The first records of a list. Pages are read only as far as they are needed. */
export const take = <T>(list: List<T>, limit: number): Promise<T[]> =>
  list.autoPagingToArray({ limit })

/** So many records of a page are asked for. */
export const pageOf = (count: number): number => Math.min(count, 100)

/** An object without what was not given. */
export const given = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
