import {
  countByState,
  countStates,
  type Query,
  type StateCounts,
} from '../../core/charges/search.ts'
import { readFigures } from '../../core/figures/figures.ts'
import { formatReais } from '../../lib/money.ts'
import { daysBetween, endOfPeriod, localDateOf, startOfPeriod } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { type Filters, searching, TAB_NAMES, TABS } from './charge-filters.ts'
import { CHARGES, type ChargeTab } from './charges-texts.ts'
import { type Count, countOf, countUpTo, MAX_COUNTED } from './list-parts.ts'
import { formatCount } from './parts.ts'
import type { Visit } from './visit.ts'

type State = Pick<StateCounts['states'][number], 'status' | 'isReturned' | 'count'>

const isIn = (tab: ChargeTab, { status, isReturned }: State): boolean => {
  const { status: wanted, isReturned: returned, paymentStatus } = TABS[tab]
  if (paymentStatus === 'REFUNDED') return isReturned
  return (wanted ?? status) === status && (returned ?? isReturned) === isReturned
}

const countIn = (states: State[], tab: ChargeTab): number =>
  states.filter((state) => isIn(tab, state)).reduce((sum, { count }) => sum + count, 0)

/**
 * How many charges each tab has. If there are more than are counted, and nothing is filtered, the
 * index of states counts those of each state; otherwise the newest ones are counted.
 */
export async function countTabs(
  visit: Visit,
  { query }: Pick<Filters, 'query'>,
  all: StateCounts,
): Promise<Map<ChargeTab, Count>> {
  const isAny = !visit.query.q && Object.keys(query).length === 0
  const { states, isCut } = all
  const isMore = all.isMore || isCut
  const each = isMore && isAny ? await countStates(searching(visit), MAX_COUNTED + 1) : null
  const counts = TAB_NAMES.map((tab): [ChargeTab, Count] => {
    if (!each) return [tab, { count: countIn(states, tab), isMore }]
    const count = countIn(each, tab)
    return [tab, countUpTo(count)]
  })
  return new Map(counts)
}

/** What of the charges of a list was paid, went back, and can still be paid, in cents. */
export type Sums = Count & {
  paid: number
  /** What was received in the period, if there are too many charges to add up. */
  received: number | null
  refunded: number
  open: number
  /** Whether more customers are meant than are looked at. */
  isCut: boolean
}

/** Adds up the charges of the tab. Tests count only if nothing else is looked at. */
export async function sumsOf(
  visit: Visit,
  { query: filters, tab, days }: Filters,
  sought: Query,
  all: StateCounts,
): Promise<Sums> {
  const isAll = tab === 'ALL' || !all.isMore
  const found = isAll ? all : await countByState(searching(visit), sought, MAX_COUNTED)
  const here = found.states.filter((state) => tab === null || isIn(tab, state))
  const counted = here.filter(({ devMode }) => !devMode || filters.devMode === true)
  const add = (of: (one: (typeof counted)[number]) => number) =>
    counted.reduce((sum, one) => sum + of(one), 0)
  const received = found.isMore ? await receivedOn(visit, { tab, filters, days }) : null
  return {
    count: here.reduce((sum, { count }) => sum + count, 0),
    isMore: found.isMore || found.isCut,
    isCut: found.isCut,
    paid: add(({ status, sum }) => (status === 'COMPLETED' ? sum : 0)),
    received,
    refunded: add(({ status, refunded }) => (status === 'COMPLETED' ? refunded : 0)),
    open: add(({ status, sum }) => (status === 'OPEN' ? sum : 0)),
  }
}

/** A period of payment may begin so many days ago for its figure to be read. */
const MAX_DAYS = 366

/** All that was received on the days of a list that filters nothing else, as reports say it. */
async function receivedOn(
  { app, company, query }: Visit,
  { tab, filters, days }: Pick<Filters, 'tab' | 'days'> & { filters: Query },
): Promise<number | null> {
  const { by, from, to } = days
  const others = Object.keys(filters).filter((name) => name !== 'paidFrom' && name !== 'paidTo')
  const today = localDateOf(app.clock.now())
  if (by !== 'paid' || !from || query.q || tab !== 'ALL' || others.length > 0) return null
  const count = daysBetween(from, today) + 1
  if (count < 1 || count > MAX_DAYS) return null
  const period = { from: startOfPeriod(from), to: endOfPeriod(to || today) }
  const [figures] = await readFigures(app, company, [period])
  return figures!.received.sum
}

/** How many charges there are, and the money of those that bring any. */
export function sumsLine({ language }: Visit, sums: Sums): Html {
  const texts = CHARGES[language]
  const { paid, received, refunded, open, isMore, isCut } = sums
  const newest = isCut
    ? '+'
    : html` <span class="small">${texts.newestOnly(formatCount(MAX_COUNTED))}</span>`
  const part = (label: string, cents: number, isPart: boolean) =>
    cents > 0 &&
    html`<span>${label} <strong class="money">${formatReais(cents)}</strong>${isPart && newest}</span>`
  return html`<p class="sums soft" title="${texts.sumsHint}"><span class="how-many">${texts.count(sums.count, countOf(sums))}</span>${received === null ? part(texts.sums.paid, paid, isMore) : part(texts.sums.received, received, false)}${part(texts.sums.refunded, refunded, isMore)}${part(texts.sums.open, open, isMore)}<span class="hide">${texts.sumsHint}</span></p>`
}
