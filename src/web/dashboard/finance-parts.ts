import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import type { Visit } from './visit.ts'

/** What the pages of finance load beside `dashboard.css` and `actions.js`. */
export const FINANCE = { styles: ['finance.css'], scripts: ['print.js'] }

/** The totals above a list. Those that are false are left out. */
export const totals = (all: ([name: string, value: Html] | false)[]): Html =>
  html`<dl class="totals">${all.map(
    (one) => one && html`<div><dt>${one[0]}</dt><dd>${one[1]}</dd></div>`,
  )}</dl>`

/** A link to a file of exactly what is filtered. */
export function fileLink(
  { url }: Pick<Visit, 'url'>,
  path: string,
  filters: Record<string, string>,
  label: string,
): Html {
  const search = new URLSearchParams(filters)
  const address = search.size > 0 ? `${path}?${search}` : path
  return html`<a class="button quiet slim" href="${url(address)}" download>${icon('download')}<span>${label}</span></a>`
}

/** Without scripts the browser's own menu prints. */
export const printButton = (label: string, when?: 'when opened'): Html =>
  html`<button type="button" class="button quiet slim js" data-print${when && html`="now"`}>${label}</button>`

/** The filters of the URL that are given, by their names. */
export const givenOf = (
  { query }: Pick<Visit, 'query'>,
  names: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => (query[name] ? [[name, query[name]] as [string, string]] : [])),
  )

/** Reads a list in slices, so that other requests are served in between. */
export async function* slices<T, Cursor>(
  size: number,
  read: (after: Cursor | null) => Promise<T[]>,
  cursorOf: (record: T) => Cursor,
): AsyncGenerator<T[]> {
  for (let after: Cursor | null = null; ; ) {
    const records: T[] = await read(after)
    yield records
    if (records.length < size) return
    after = cursorOf(records.at(-1)!)
  }
}
