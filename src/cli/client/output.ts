import { columns } from '../command.ts'

/** Characters that a terminal would carry out, or that change the direction of a text. */
const UNSAFE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** What a server sent, without anything that a terminal would carry out. */
export const plain = (text: string): string => text.replace(UNSAFE, '\ufffd')

/** The same, of a text with several lines. */
export const plainLines = (text: string): string => text.split('\n').map(plain).join('\n')

const MAX_CELL = 60

/** A text from outside, as a cell of a table. */
export function cell(text: string | null | undefined): string {
  if (text === null || text === undefined || text === '') return '-'
  const safe = plain(text)
  return safe.length > MAX_CELL ? `${safe.slice(0, MAX_CELL - 1)}…` : safe
}

/** A moment in the time of this machine. */
export const localTime = (text: string | null | undefined): string =>
  text ? new Date(text).toLocaleString('sv-SE') : '-'

/** A table with a heading, or a sentence if it has no rows. */
export const tableOf = (heading: string[], rows: string[][], none: string): string =>
  rows.length === 0 ? `${none}\n` : columns([heading, ...rows])

/** Names and values, one in a line. What has no value is left out. */
export const factsOf = (rows: [name: string, value: string | null | undefined][]): string =>
  columns(rows.filter(([, value]) => value).map(([name, value]) => [name, plain(value!)]))
