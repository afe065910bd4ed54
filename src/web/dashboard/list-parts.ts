import type { Language } from '../../lib/language.ts'
import { type Field, field } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { tabs } from './form-parts.ts'
import { formatCount } from './parts.ts'
import { PERIODS, type PeriodName } from './periods.ts'
import type { Visit } from './visit.ts'

const LIST = {
  pt: {
    toList: 'Ir para a lista',
    filters: 'Filtros',
    active: (count: number) => `${count} em uso`,
    apply: 'Filtrar',
    clear: 'Limpar',
    period: 'Período',
    periods: { today: 'Hoje', '7d': '7 dias', month: 'Este mês', last: 'Mês passado' },
    remove: 'Remover filtro',
    chosen: 'Filtros em uso',
    cut: (most: string) =>
      `Há mais clientes assim; esta lista é de ${most} deles. Escreva mais, como o sobrenome.`,
  },
  en: {
    toList: 'Go to the list',
    filters: 'Filters',
    active: (count: number) => `${count} in use`,
    apply: 'Apply',
    clear: 'Clear',
    period: 'Period',
    periods: { today: 'Today', '7d': '7 days', month: 'This month', last: 'Last month' },
    remove: 'Remove filter',
    chosen: 'Filters in use',
    cut: (most: string) =>
      `There are more such customers; this list is of ${most} of them. Add a surname.`,
  },
} as const

/** A count of a tab. It is counted up to a limit, above which there are more. */
export type Count = { count: number; isMore: boolean }

/** Up to so many records are counted and added up. More are called more. */
export const MAX_COUNTED = 1000

export const countUpTo = (count: number): Count => ({
  count: Math.min(count, MAX_COUNTED),
  isMore: count > MAX_COUNTED,
})

export const countOf = ({ count, isMore }: Count): string =>
  `${formatCount(count)}${isMore ? '+' : ''}`

/** From the top of a page to its list, before all that stands above the list. */
export const toList = ({ language }: Pick<Visit, 'language'>): Html =>
  html`<a class="skip" href="#list">${LIST[language].toList}</a>`

/** The address of a list with other filters: null removes one. The first page is shown. */
export const withFilters = (
  { url }: Pick<Visit, 'url'>,
  ...list: Parameters<typeof listPath>
): string => url(listPath(...list))

/** The same within its company. */
function listPath(
  path: string,
  filters: Record<string, string>,
  changes: Record<string, string | null> = {},
): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...filters, ...changes })) {
    if (value) search.set(name, value)
  }
  return search.size > 0 ? `${path}?${search}` : path
}

/** The states of a list's records, in their order, and how many are in each. */
type States = {
  label: string
  all: string
  words: Record<string, string>
  counts: { status: string; count: number }[]
}

/** Links to the records of each state, with the other filters as they are. */
export function statusTabs(
  visit: Pick<Visit, 'url'>,
  path: string,
  filters: Record<string, string>,
  { label, all, words, counts }: States,
): Html {
  const count = (status: string) => counts.find((one) => one.status === status)?.count ?? 0
  const sum = counts.reduce((total, one) => total + one.count, 0)
  const here = Object.hasOwn(words, filters.status ?? '') ? filters.status : undefined
  const tab = (status: string | undefined, word: string) => ({
    label: word,
    count: formatCount(status === undefined ? sum : count(status)),
    path: listPath(path, filters, { status: status ?? null }),
    isHere: status === here,
  })
  const states = Object.entries(words).map(([status, word]) => tab(status, word))
  return tabs(visit, label, [tab(undefined, all), ...states])
}

export type Chip = { label: string; href: string; isHere?: boolean; isRemovable?: boolean }

/** Short links in a row, such as periods. What is chosen and can be removed has a cross. */
export const chips = (label: string, shown: Chip[], language: Language): Html | null =>
  shown.length === 0
    ? null
    : html`<nav class="chips" aria-label="${label}">${shown.map((chip) => chipOf(chip, language))}</nav>`

const chipOf = ({ label, href, isHere, isRemovable }: Chip, language: Language): Html =>
  isRemovable
    ? html`<a class="chip" href="${href}"><span class="hide">${LIST[language].remove}: </span><span>${label}</span>${icon('cross')}</a>`
    : html`<a class="chip" href="${href}"${isHere && html` aria-current="true"`}>${label}</a>`

/** Links to usual periods. That which is shown already leads to all days. */
export function periodChips(
  visit: Visit,
  path: string,
  filters: Record<string, string>,
  here: PeriodName | null,
): Html | null {
  const { period, periods } = LIST[visit.language]
  const all = PERIODS.map((name) => ({
    label: periods[name],
    isHere: name === here,
    href: withFilters(visit, path, filters, {
      period: name === here ? null : name,
      from: null,
      to: null,
    }),
  }))
  return chips(period, all, visit.language)
}

/** Filters in use that no tab and no period shows, each with its way out, and that of all. */
export function chosenChips(
  { language }: Pick<Visit, 'language'>,
  shown: Chip[],
  clear: string | null,
): Html | null {
  const texts = LIST[language]
  const all = shown.map((chip) => ({ ...chip, isRemovable: true }))
  const last = clear === null ? [] : [{ label: texts.clear, href: clear }]
  return chips(texts.chosen, [...all, ...last], language)
}

/** A search box in one line, whose label and hint are for screen readers and inside of it. */
export type SearchBox = { name: string; label: string; hint: string; value: string; find: string }

type FindForm = {
  /** Null: the list has filters only. */
  box: SearchBox | null
  /** Filters that the form leaves as they are. */
  kept: Record<string, string>
  fields: Field[]
  /** How many of the fields are in use. */
  inUse: number
  isOpen: boolean
}

/** The search box and the filters behind a button, in one form: each leaves the other alone. */
export function findForm(
  { language }: Pick<Visit, 'language'>,
  action: string,
  { box, kept, fields, inUse, isOpen }: FindForm,
): Html {
  const texts = LIST[language]
  const hidden = Object.entries(kept).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const filters =
    fields.length > 0 &&
    html`<details class="more-filters"${isOpen && html` open`}><summary class="button quiet slim">${texts.filters}${
      inUse > 0 &&
      html` <span class="count">${inUse}<span class="hide"> ${texts.active(inUse)}</span></span>`
    }</summary><div class="filters even">${fields.map((one) => field(one, false))}<button class="button slim">${texts.apply}</button></div></details>`
  return html`<form class="find" method="get" action="${action}" role="search">${hidden}
${box && searchBox(box)}${filters}</form>`
}

const searchBox = ({ name, label, hint, value, find }: SearchBox): Html =>
  html`<div class="search-box"><label class="hide" for="${name}">${label}</label><input id="${name}" name="${name}" type="search" maxlength="255" value="${value}" placeholder="${hint}" aria-describedby="${name}-hint"><span class="hide" id="${name}-hint">${hint}</span><button class="button slim">${icon('search')}<span class="wide-only">${find}</span></button></div>`

/** Says that a text means more customers than are looked for. */
export const cutNotice = ({ language }: Pick<Visit, 'language'>, most: number): Html =>
  html`<p class="hint">${LIST[language].cut(formatCount(most))}</p>`

/** What stands above a list: search, tabs, periods, all close together. */
export const listHead = (...parts: Shown[]): Html => html`<div class="list-head">${parts}</div>`

/** The list of a page, where the link before everything leads. */
export const listCard = (content: Html): Html =>
  html`<section class="card list-card" id="list" tabindex="-1">${content}</section>`
