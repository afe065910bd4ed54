import {
  CHARGE_KINDS,
  CHARGE_STATUSES,
  type ChargeKind,
  type ChargeStatus,
  PAYMENT_STATUSES,
  type PaymentStatus,
} from '../../core/charges/rules.ts'
import type { Query } from '../../core/charges/search.ts'
import { readReais } from '../../lib/money.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { isLocalDate } from '../../pix/local-time.ts'
import { type Field, field, type Option } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { CHARGES } from './charges-texts.ts'
import type { Visit } from './visit.ts'

/** The names of the filters in the URL. The search box has `q`, and `as` says what it means. */
const NAMES = ['status', 'payment', 'kind', 'by', 'from', 'to', 'amount', 'dev'] as const
type Name = (typeof NAMES)[number]

/** The filters of a page of charges: what is searched for, and what is wrong with some of them. */
export type Filters = {
  query: Query
  faults: Partial<Record<Name, string>>
  isFiltered: boolean
}

const oneOf = <T extends string>(all: readonly T[], value: string | undefined): T | undefined =>
  all.find((one) => one === value)

/** Reads the filters of the URL. What is no choice of ours is left out. */
export function filtersOf({ query: given, language }: Visit): Filters {
  const texts = CHARGES[language]
  const { from, to, amount } = given
  const faults: Filters['faults'] = {}
  const days = [from, to].map((day) => (day && isLocalDate(day) ? day : undefined))
  if (from && !days[0]) faults.from = texts.wrongDay
  if (to && !days[1]) faults.to = texts.wrongDay
  if (days[0] && days[1] && days[1] < days[0]) faults.to = texts.wrongPeriod
  const cents = amount ? readReais(amount) : null
  if (amount && (!cents || cents > MAX_AMOUNT)) faults.amount = texts.wrongAmount
  const period = given.by === 'paid' ? 'paid' : 'created'
  const query: Query = definedOf({
    status: oneOf<ChargeStatus>(CHARGE_STATUSES, given.status),
    paymentStatus: oneOf<PaymentStatus>(PAYMENT_STATUSES, given.payment),
    kind: oneOf<ChargeKind>(CHARGE_KINDS, given.kind),
    amount: cents ?? undefined,
    devMode: given.dev === 'only' ? true : given.dev === 'none' ? false : undefined,
    [`${period}From`]: days[0],
    [`${period}To`]: days[1],
  })
  const isFiltered = NAMES.some((name) => name !== 'by' && given[name])
  return { query, faults, isFiltered }
}

const definedOf = (fields: Record<string, unknown>): Query =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** The search and the filters of the URL, without the position in the list. */
export function urlFilters({ query }: Visit): Record<string, string> {
  const given = ['q', 'as', ...NAMES].map((name) => [name, query[name]])
  return Object.fromEntries(given.filter(([, value]) => value))
}

/** The search box and the filters. One form, so that each leaves the other as it is. */
export function filterForm(visit: Visit, { faults, isFiltered }: Filters): Html {
  const { language, query } = visit
  const texts = CHARGES[language]
  const box: Field = {
    name: 'q',
    label: texts.search,
    value: query.q ?? '',
    fault: null,
    wrong: '',
    hint: texts.searchHint,
    type: 'search',
    isFilledIn: true,
  }
  const hasFaults = Object.keys(faults).length > 0
  return html`<form class="card" method="get" action="${visit.url('/charges')}" role="search">
<div class="find">${field(box, false)}<button class="button">${icon('search')}<span>${texts.find}</span></button></div>
<details${(isFiltered || hasFaults) && html` open`}><summary>${texts.filters}</summary>
<div class="filters even">${fieldsOf(visit, faults).map((one) => field(one, false))}
<button class="button slim">${texts.apply}</button>${
    (isFiltered || query.q) &&
    html`<a class="button quiet slim" href="${visit.url('/charges')}">${texts.clear}</a>`
  }</div></details></form>`
}

function fieldsOf({ language, query }: Visit, faults: Filters['faults']): Field[] {
  const texts = CHARGES[language]
  const control = (name: Name, label: string, more: Partial<Field>): Field => ({
    name,
    label,
    value: query[name] ?? '',
    fault: faults[name] ?? null,
    wrong: '',
    isFilledIn: true,
    ...more,
  })
  const choice = (name: Name, label: string, words: Record<string, string>): Field => {
    const options: Option[] = Object.entries(words).map(([value, word]) => ({ value, label: word }))
    return control(name, label, { options: [{ value: '', label: texts.any }, ...options] })
  }
  const dates = [
    { value: '', label: texts.byCreation },
    { value: 'paid', label: texts.byPayment },
  ]
  return [
    choice('status', texts.status, texts.statuses),
    choice('payment', texts.payment, texts.payments),
    choice('kind', texts.kind, texts.kinds),
    control('by', texts.by, { options: dates }),
    control('from', texts.from, { type: 'date' }),
    control('to', texts.to, { type: 'date' }),
    control('amount', texts.amount, { inputmode: 'text', maxlength: 20 }),
    choice('dev', texts.dev, { only: texts.devOnly, none: texts.devNone }),
  ]
}
