import { isLocalDate } from '../../pix/local-time.ts'
import { type Field, field, type Option } from '../forms.ts'
import { type Html, html } from '../html.ts'
import type { SignedIn } from './visit.ts'

/** A page with filters in its URL. */
export type Filtered = Pick<SignedIn, 'query' | 'request' | 'language'>

const FILTERS = {
  pt: {
    filter: 'Filtrar',
    clear: 'Limpar filtros',
    wrongDay: 'Informe um dia válido.',
    wrongOrder: 'A data final é anterior à inicial.',
  },
  en: {
    filter: 'Filter',
    clear: 'Clear filters',
    wrongDay: 'Enter a valid day.',
    wrongOrder: 'The last day is before the first.',
  },
} as const

const control = ({ query }: Filtered, name: string, label: string, more: Partial<Field>): Html =>
  field(
    { name, label, value: query[name] ?? '', fault: null, wrong: '', isFilledIn: true, ...more },
    false,
  )

/** A choice of one value, or of all. */
export const selectFilter = (
  visit: Filtered,
  name: string,
  label: string,
  all: string,
  options: Option[],
): Html => control(visit, name, label, { options: [{ value: '', label: all }, ...options] })

export const searchFilter = (visit: Filtered, name: string, label: string): Html =>
  control(visit, name, label, { type: 'search' })

/** A day. What is no day, or ends a period before its start, is marked. */
export function dayFilter(visit: Filtered, name: 'from' | 'to', label: string): Html {
  const { wrongDay, wrongOrder } = FILTERS[visit.language]
  const { from = '', to = '' } = visit.query
  const day = visit.query[name] ?? ''
  const isBackwards = name === 'to' && isLocalDate(from) && isLocalDate(to) && to < from
  const fault = day !== '' && !isLocalDate(day) ? wrongDay : isBackwards ? wrongOrder : null
  return control(visit, name, label, { type: 'date', fault })
}

/** Filters of a list, in its URL. */
export function filterForm(
  { request, query, language }: Filtered,
  controls: Html[],
  kind: 'filters' | 'filters even' = 'filters',
): Html {
  const texts = FILTERS[language]
  const path = request.url.split('?')[0]!
  const isFiltered = Object.keys(query).length > 0
  return html`<form class="${kind}" method="get" action="${path}">${controls}
<button class="button slim">${texts.filter}</button>${isFiltered && html`<a class="button quiet slim" href="${path}">${texts.clear}</a>`}</form>`
}
