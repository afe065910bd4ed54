import {
  CHARGE_KINDS,
  type ChargeKind,
  PAYMENT_STATUSES,
  type PaymentStatus,
} from '../../core/charges/rules.ts'
import type { Query, Where } from '../../core/charges/search.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { formatDay, isLocalDate, type LocalDate, localDateOf } from '../../pix/local-time.ts'
import type { Field, Option } from '../forms.ts'
import type { Html } from '../html.ts'
import { CHARGES, type ChargeTab } from './charges-texts.ts'
import { type Chip, chosenChips, findForm, withFilters } from './list-parts.ts'
import { daysOf, type PeriodName, periodIn } from './periods.ts'
import type { Visit } from './visit.ts'

/** Where a person searches, who finds only by what their role sees. */
export const searching = ({ app, company, can }: Visit): Where => ({
  db: app.db,
  vault: app.vault,
  companyId: company.id,
  now: app.clock.now(),
  isMasked: !can('payments:write'),
})

/** What each tab selects. */
export const TABS: Record<ChargeTab, Query> = {
  ALL: {},
  OPEN: { status: 'OPEN' },
  PAID: { status: 'COMPLETED', isReturned: false },
  EXPIRED: { status: 'EXPIRED' },
  CANCELED: { status: 'CANCELED' },
  REFUNDED: { paymentStatus: 'REFUNDED' },
}
export const TAB_NAMES = Object.keys(TABS) as ChargeTab[]

/**
 * The names of the filters in the URL. The search box has `q`, and `as` says what it means. Older
 * addresses have `payment`, `amount` and the status COMPLETED, which no control has any more.
 */
const NAMES = [
  'status',
  'payment',
  'kind',
  'period',
  'by',
  'from',
  'to',
  'amount',
  'min',
  'max',
  'dev',
] as const
type Name = (typeof NAMES)[number]

/** Up to so many charges are chosen one by one. */
export const MAX_PICKED = 100

/** The filters of a page of charges: what is searched for, and what is wrong with some of them. */
export type Filters = {
  /** All filters but the tab. */
  query: Query
  tab: ChargeTab | null
  period: PeriodName | null
  /** The days that the filters name, with which date of a charge counts. */
  days: { by: 'created' | 'paid'; from: LocalDate | null; to: LocalDate | null }
  faults: Partial<Record<Name, string>>
  isFiltered: boolean
}

const oneOf = <T extends string>(all: readonly T[], value: string | undefined): T | undefined =>
  all.find((one) => one === value)

/** The tab that the URL names. Another status is a filter like others, and no tab is marked. */
const tabOf = ({ status, payment }: Visit['query']): ChargeTab | null =>
  status === 'COMPLETED' || payment ? null : (oneOf(TAB_NAMES, status) ?? 'ALL')

/** Reads the filters of the URL. What is no choice of ours is left out. */
export function filtersOf(visit: Visit): Filters {
  const { query: given } = visit
  const faults: Filters['faults'] = {}
  const days = readDays(visit, faults)
  const amounts = readAmounts(visit, faults)
  const status = oneOf(TAB_NAMES, given.status)
  const query: Query = definedOf({
    status: given.status === 'COMPLETED' ? 'COMPLETED' : undefined,
    paymentStatus: oneOf<PaymentStatus>(PAYMENT_STATUSES, given.payment),
    kind: oneOf<ChargeKind>(CHARGE_KINDS, given.kind),
    devMode: given.dev === 'only' ? true : given.dev === 'none' ? false : undefined,
    ...amounts,
    [`${days.by}From`]: days.from ?? undefined,
    [`${days.by}To`]: days.to ?? undefined,
  })
  const tab = tabOf(given)
  const isFiltered = NAMES.some((name) => name !== 'by' && name !== 'status' && given[name])
  const period = periodIn(given)
  const isNarrowed = isFiltered || (status ?? 'ALL') !== 'ALL' || query.status !== undefined
  // An older address may have both a status and a state of the payment.
  const both = tab === null && status ? TABS[status] : {}
  return { query: { ...both, ...query }, tab, period, days, faults, isFiltered: isNarrowed }
}

const definedOf = (fields: Record<string, unknown>): Query =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function readDays({ query, language, app }: Visit, faults: Filters['faults']): Filters['days'] {
  const texts = CHARGES[language]
  const by = query.by === 'paid' ? 'paid' : 'created'
  const period = periodIn(query)
  if (period) {
    const { first, last } = daysOf(period, localDateOf(app.clock.now()))
    return { by, from: first, to: last }
  }
  const [from, to] = [query.from, query.to].map((day) => (day && isLocalDate(day) ? day : null))
  if (query.from && !from) faults.from = texts.wrongDay
  if (query.to && !to) faults.to = texts.wrongDay
  if (from && to && to < from) faults.to = texts.wrongPeriod
  return { by, from: from ?? null, to: to ?? null }
}

/** The amounts in the URL, as a range. */
function readAmounts({ query, language }: Visit, faults: Filters['faults']): Partial<Query> {
  const texts = CHARGES[language]
  const read = (name: 'min' | 'max' | 'amount') => {
    const cents = query[name] ? readReais(query[name]) : undefined
    const isWrong = cents === null || (cents !== undefined && (cents < 1 || cents > MAX_AMOUNT))
    if (!isWrong) return cents ?? undefined
    faults[name === 'amount' ? 'min' : name] = texts.wrongAmount
    return undefined
  }
  const [exact, min, max] = [read('amount'), read('min'), read('max')]
  if (min !== undefined && max !== undefined && max < min) faults.max = texts.wrongRange
  if (exact !== undefined) return { amount: exact }
  if (min !== undefined && min === max) return { amount: min }
  return definedOf({ amountFrom: min, amountTo: max })
}

/** The charges that were chosen one by one, if any were: the same name several times. */
export function pickedIn({ request }: Pick<Visit, 'request'>): Uuid[] | undefined {
  const { id = [], picked } = request.query as { id?: string | string[]; picked?: string }
  return picked === undefined ? undefined : pickedOf([id].flat())
}

/** The charges with these ids. What is no id is left out. */
export function pickedOf(texts: string[]): Uuid[] {
  const ids = texts.slice(0, MAX_PICKED).map((text) => fromPublic('charge', text))
  return [...new Set(ids.filter((id) => id !== null))]
}

/** The search and the filters of the URL, without the position in the list. */
export function urlFilters({ query }: Pick<Visit, 'query'>): Record<string, string> {
  const given = ['q', 'as', ...NAMES].map((name) => [name, query[name]])
  return Object.fromEntries(given.filter(([, value]) => value))
}

/** The search box and the filters. */
export function filterForm(visit: Visit, { faults }: Filters): Html {
  const { language, query } = visit
  const texts = CHARGES[language]
  const { status, payment, period } = urlFilters(visit)
  const named = query.from || query.to ? {} : { period }
  const kept = { status, payment, ...named }
  const inUse = (['kind', 'from', 'to', 'min', 'max', 'amount', 'dev'] as const).filter(
    (name) => query[name],
  )
  return findForm(visit, visit.url('/charges'), {
    box: {
      name: 'q',
      label: texts.search,
      hint: texts.searchHint,
      value: query.q ?? '',
      find: texts.find,
    },
    kept: Object.fromEntries(
      Object.entries(kept).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ),
    fields: fieldsOf(visit, faults),
    inUse: inUse.length,
    isOpen: Object.keys(faults).length > 0,
  })
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
  const amount = (name: 'min' | 'max', label: string) =>
    control(name, label, {
      value: query[name] ?? query.amount ?? '',
      inputmode: 'text',
      maxlength: 20,
    })
  return [
    control('by', texts.by, { options: dates }),
    control('from', texts.from, { type: 'date' }),
    control('to', texts.to, { type: 'date' }),
    amount('min', texts.min),
    amount('max', texts.max),
    choice('kind', texts.kind, texts.kinds),
    choice('dev', texts.dev, { only: texts.devOnly, none: texts.devNone }),
  ]
}

/** Each filter in use that stands in no tab and no chip of a period, with its way out. */
export function chosenFilters(visit: Visit, filters: Filters): Html | null {
  const texts = CHARGES[visit.language]
  const { query, days, period, isFiltered } = filters
  const { status, payment, kind, dev, q } = visit.query
  const here = urlFilters(visit)
  const without = (...names: Name[]) =>
    withFilters(visit, '/charges', here, Object.fromEntries(names.map((name) => [name, null])))
  const shown: (Chip | false)[] = [
    status === 'COMPLETED' && { label: texts.everPaid, href: without('status') },
    !!payment &&
      query.paymentStatus !== undefined && {
        label: texts.payments[query.paymentStatus],
        href: without('payment'),
      },
    query.kind !== undefined && !!kind && { label: texts.kinds[query.kind], href: without('kind') },
    query.devMode !== undefined && {
      label: dev === 'only' ? texts.devOnly : texts.devNone,
      href: without('dev'),
    },
    period === null && (days.from !== null || days.to !== null)
      ? { label: texts.daysOf[days.by](daysText(days)), href: without('from', 'to', 'by') }
      : days.by === 'paid' &&
        period !== null && { label: texts.daysOf.paid(''), href: without('by') },
    amountsText(query) !== null && {
      label: amountsText(query)!,
      href: without('amount', 'min', 'max'),
    },
  ]
  const clear = isFiltered || q ? visit.url('/charges') : null
  return chosenChips(
    visit,
    shown.filter((chip) => chip !== false),
    clear,
  )
}

const daysText = ({ from, to }: Filters['days']): string =>
  [from, to].map((day) => (day ? formatDay(day) : '…')).join(' – ')

function amountsText({ amount, amountFrom, amountTo }: Query): string | null {
  if (amount !== undefined) return formatReais(amount)
  if (amountFrom === undefined && amountTo === undefined) return null
  return [amountFrom, amountTo]
    .map((one) => (one === undefined ? '…' : formatReais(one)))
    .join(' – ')
}
