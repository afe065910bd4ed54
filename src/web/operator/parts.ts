import { idOfSuffix, suffixOf, type Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { moment, notFound, nothing } from '../dashboard/parts.ts'
import { DASHBOARD } from '../dashboard/texts.ts'
import { type Html, html } from '../html.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorVisit } from './visit.ts'

export const PAGE_SIZE = 20

/** The records of a page, and the cursor of the next one. One more was read than is shown. */
export function pageOf<T>(
  records: T[],
  cursorOf: (record: T) => string,
): { shown: T[]; next: string | null } {
  const shown = records.slice(0, PAGE_SIZE)
  const last = shown.at(-1)
  return { shown, next: last && records.length > PAGE_SIZE ? cursorOf(last) : null }
}

/** The id after which a page starts, from the URL. */
const afterOf = ({ query }: Pick<OperatorVisit, 'query'>): Uuid | null =>
  idOfSuffix(query.after ?? '')

export const partOf = (visit: Pick<OperatorVisit, 'query'>) => ({
  limit: PAGE_SIZE + 1,
  after: afterOf(visit),
})

export const byId = ({ id }: { id: Uuid }): string => suffixOf(id)
export const byCompany = ({ companyId }: { companyId: Uuid }): string => suffixOf(companyId)

export const momentOrNever = (at: Date | null, language: Language): Html | string =>
  at === null ? OPERATOR[language].never : moment(at)

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1)
  return `${Math.round(bytes / 1024 ** power)} ${UNITS[power]}`
}

/** A box to search in, and its button. The label says what is understood. */
export function searchForm(
  { language, query, url }: OperatorVisit,
  path: string,
  label: string,
): Html {
  return html`<form class="filters card" method="get" action="${url(path)}" role="search">
<div class="field search"><label for="q">${label}</label><input id="q" name="q" type="search" maxlength="255" value="${query.q ?? ''}"></div>
<button class="button">${OPERATOR[language].find}</button></form>`
}

/** In place of a list with a search box that has nobody. */
export function emptyList({ language, query }: OperatorVisit): Html {
  const text = query.q?.trim()
  return text ? notFound(DASHBOARD[language].nothingFor(text)) : nothing(language)
}
