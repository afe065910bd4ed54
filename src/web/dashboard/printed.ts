import { type Html, html } from '../html.ts'
import { printButton } from './finance-parts.ts'
import type { Visit } from './visit.ts'

const LISTED = 50
/** So many lines are printed at once. More make a page too heavy, so they are parts. */
const PRINTED = 500
/** So many lines are read before other requests are served. */
const SLICE = 100

type Asked = Pick<Visit, 'query'>

/** Whether all lines are asked for, to print them. */
export const isToPrint = ({ query }: Asked): boolean => query.print === 'all'

/** The part of a list that a page shows, and where the next one begins. */
export type Listed<T> = { lines: T[]; next: string | null; isPart: boolean }

/** Reads the lines of a page, which are more if it is to be printed. */
export async function readShown<T extends { entry: number }>(
  visit: Asked,
  read: (part: { limit: number; after: number | null }) => Promise<T[]>,
): Promise<Listed<T>> {
  const size = isToPrint(visit) ? PRINTED : LISTED
  const given = visit.query.after ?? ''
  const first = /^\d{1,15}$/.test(given) ? Number(given) : null
  const found: T[] = []
  for (let after = first; found.length <= size; after = found.at(-1)!.entry) {
    const limit = Math.min(SLICE, size + 1 - found.length)
    const slice = await read({ limit, after })
    found.push(...slice)
    if (slice.length < limit) break
  }
  const lines = found.slice(0, size)
  const next = found.length > size ? String(lines.at(-1)!.entry) : null
  return { lines, next, isPart: next !== null || first !== null }
}

/** Prints the page, or opens all lines to print them if the page has only some. */
export function printAction(visit: Visit, label: string, { isPart }: Listed<unknown>): Html {
  if (isToPrint(visit)) return printButton(label, 'when opened')
  if (!isPart) return printButton(label)
  const { after: _, done: _done, ...filters } = visit.query
  const search = new URLSearchParams({ ...(filters as Record<string, string>), print: 'all' })
  const [path] = visit.request.url.split('?')
  return html`<a class="button quiet slim" href="${`${path}?${search}`}">${label}</a>`
}

/** Says on paper that it has only a part of the list, whose totals are above it. */
export const partNote = (visit: Visit, { isPart, lines }: Listed<unknown>): Html | false =>
  isPart &&
  html`<p${!isToPrint(visit) && html` class="print-only"`}>${PRINT[visit.language].part(lines.length)}</p>`

const PRINT = {
  pt: {
    part: (count: number) =>
      `Esta é uma parte da lista, com ${count} ${count === 1 ? 'linha' : 'linhas'}. Os totais são do período inteiro.`,
  },
  en: {
    part: (count: number) =>
      `This is a part of the list, with ${count} ${count === 1 ? 'line' : 'lines'}. The totals are of the whole period.`,
  },
}
