import {
  endOfPeriod,
  formatDay,
  isLocalDate,
  startOfDay,
  startOfPeriod,
} from '../../pix/local-time.ts'
import type { Field, Option } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { type Chip, chosenChips, findForm, listHead, type SearchBox } from './list-parts.ts'
import type { SignedIn } from './visit.ts'

/** A page with filters in its URL. */
export type Filtered = Pick<SignedIn, 'query' | 'request' | 'language'>

const FILTERS = {
  pt: {
    wrongDay: 'Informe um dia válido.',
    wrongOrder: 'A data final é anterior à inicial.',
  },
  en: {
    wrongDay: 'Enter a valid day.',
    wrongOrder: 'The last day is before the first.',
  },
} as const

const control = (
  { query }: Filtered,
  name: string,
  label: string,
  more: Partial<Field>,
): Field => ({
  name,
  label,
  value: query[name] ?? '',
  fault: null,
  wrong: '',
  isFilledIn: true,
  ...more,
})

/** A choice of one value, or of all. */
export const selectFilter = (
  visit: Filtered,
  name: string,
  label: string,
  all: string,
  options: Option[],
): Field => control(visit, name, label, { options: [{ value: '', label: all }, ...options] })

/** A day. What is no day, or ends a period before its start, is marked. */
export function dayFilter(visit: Filtered, name: 'from' | 'to', label: string): Field {
  const { wrongDay, wrongOrder } = FILTERS[visit.language]
  const { from = '', to = '' } = visit.query
  const day = visit.query[name] ?? ''
  const isBackwards = name === 'to' && isLocalDate(from) && isLocalDate(to) && to < from
  const fault = day !== '' && !isLocalDate(day) ? wrongDay : isBackwards ? wrongOrder : null
  return control(visit, name, label, { type: 'date', fault })
}

/** What stands above a list beside its filters, and filters of the URL that the form keeps. */
type Beside = {
  box?: SearchBox
  kept?: Record<string, string | undefined>
  tabs?: Shown
  periods?: Shown
}

/** The head of a list: its filters behind a button, and each one in use with its way out. */
export function filterHead(visit: Filtered, fields: Field[], beside: Beside = {}): Html {
  const { box = null, kept = {}, tabs, periods } = beside
  const path = visit.request.url.split('?')[0]!
  const used = fields.filter(({ value, fault }) => value !== '' && fault === null)
  const form = findForm(visit, path, {
    box,
    kept: givenIn(kept),
    fields,
    inUse: used.length,
    isOpen: fields.some(({ fault }) => fault !== null),
  })
  const chosen = used.map((one) => chipOf(visit, path, one))
  const clear = chosen.length > 0 ? path : null
  const chips = html`${periods}${chosenChips(visit, chosen, clear)}`
  return box
    ? listHead(form, tabs, html`<div class="chip-row">${chips}</div>`)
    : listHead(tabs, html`<div class="chip-row">${form}${chips}</div>`)
}

const givenIn = (filters: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filters).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  )

/** A filter in use, and the list without it. */
function chipOf({ query }: Filtered, path: string, { name, label, value, options }: Field): Chip {
  const { [name]: _, after: _after, done: _done, ...others } = query
  const search = new URLSearchParams(givenIn(others)).toString()
  const choice = options?.find((one) => one.value === value)?.label
  const words = choice ?? `${label} ${isLocalDate(value) ? formatDay(value) : value}`
  return { label: words, href: search ? `${path}?${search}` : path }
}

export type Span = { from: Date | null; to: Date | null }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const LOCAL_MINUTE = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d)$/

/** A moment of São Paulo as a browser sends it, such as 2026-08-20T14:30. */
function readMinute(text: string): Date | null {
  const [, day = '', hours, minutes] = LOCAL_MINUTE.exec(text) ?? []
  if (!isLocalDate(day)) return null
  const sinceMidnight_ms = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS
  return new Date(startOfDay(day).getTime() + sinceMidnight_ms)
}

/** The period of a filter, by days or minutes. The last day belongs to it. Others do not count. */
export function readSpan({ from = '', to = '' }: { from?: string; to?: string }): Span {
  return {
    from: isLocalDate(from) ? startOfPeriod(from) : readMinute(from),
    to: isLocalDate(to) ? endOfPeriod(to) : readMinute(to),
  }
}
