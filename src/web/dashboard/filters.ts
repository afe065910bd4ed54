import { field, type Option } from '../forms.ts'
import { type Html, html } from '../html.ts'
import type { Visit } from './visit.ts'

const FILTERS = {
  pt: { filter: 'Filtrar', clear: 'Limpar filtros' },
  en: { filter: 'Filter', clear: 'Clear filters' },
} as const

/** A choice of one value, or of all. */
export const selectFilter = (
  { query }: Visit,
  name: string,
  label: string,
  all: string,
  options: Option[],
): Html =>
  field(
    {
      name,
      label,
      value: query[name] ?? '',
      fault: null,
      wrong: '',
      isFilledIn: true,
      options: [{ value: '', label: all }, ...options],
    },
    false,
  )

export const dayFilter = ({ query }: Visit, name: string, label: string): Html =>
  field(
    {
      name,
      label,
      value: query[name] ?? '',
      fault: null,
      wrong: '',
      isFilledIn: true,
      type: 'date',
    },
    false,
  )

/** Filters of a list, in its URL. */
export function filterForm({ request, query, language }: Visit, controls: Html[]): Html {
  const texts = FILTERS[language]
  const path = request.url.split('?')[0]!
  const isFiltered = Object.keys(query).length > 0
  return html`<form class="filters" method="get" action="${path}">${controls}
<button class="button slim">${texts.filter}</button>${isFiltered && html`<a class="button quiet slim" href="${path}">${texts.clear}</a>`}</form>`
}
