import type { FastifyReply } from 'fastify'
import { chargeFileWriter, withWithdrawals } from '../../core/balance/charge-file.ts'
import {
  asOf,
  CHARGE_KINDS,
  CHARGE_STATUSES,
  type Charge,
  type ChargeKind,
  type ChargeStatus,
  PAYMENT_STATUSES,
  type PaymentStatus,
} from '../../core/charges/rules.ts'
import {
  countCharges,
  type Found,
  findCharges,
  type Meaning,
  meaningsIn,
  meaningsOf,
  type Query,
  type SoughtText,
  searchCharges,
  type Where,
} from '../../core/charges/search.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { isLocalDate, localDateOf } from '../../pix/local-time.ts'
import { punctuateTaxId } from '../../pix/tax-id.ts'
import { type Field, field, type Option } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { CHARGES } from './charges-texts.ts'
import { recordFile, sendCsv } from './csv.ts'
import {
  type Column,
  card,
  heading,
  listedTaxId,
  moment,
  money,
  notFound,
  nothing,
  notice,
  pager,
  pill,
  table,
} from './parts.ts'
import { makeLink } from './record-pages.ts'
import { chargePill } from './states.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50
/** Up to so many charges are counted. More are called more. */
const MAX_COUNTED = 1000

export const searching = ({ app, company }: Visit): Where => ({
  db: app.db,
  vault: app.vault,
  companyId: company.id,
  now: app.clock.now(),
})

/** The text in the search box, and what the person has chosen that it means. */
const soughtIn = ({ query: { q = '', as } }: Visit): SoughtText => ({ text: q, as })

/** One page of charges, and what the text of the search box is taken for. */
function findPage(visit: Visit, filters: Query, limit: number): Promise<Found> {
  const after = fromPublic('charge', visit.query.after ?? '')
  return findCharges(searching(visit), soughtIn(visit), filters, { limit, after })
}

async function show(visit: Visit): Promise<FastifyReply> {
  const { language, query, app } = visit
  const texts = CHARGES[language]
  const [first] = meaningsIn(soughtIn(visit))
  if (first?.kind === 'charge') {
    const charge = await app.charges.find({ companyId: visit.company.id, id: first.value })
    if (charge) return visit.redirect(`/charges/${toPublic('charge', charge.id)}`)
  }
  const filters = filtersOf(visit)
  const hasFaults = Object.keys(filters.faults).length > 0
  const body = hasFaults ? null : await listOf(visit, filters)
  const file = html`<a class="button quiet slim" href="${visit.url(`/charges.csv?${new URLSearchParams(urlFilters(visit))}`)}" title="${texts.csvHint}" download>${icon('download')}<span>${texts.csv}</span></a>`
  const plans = html`<a class="button quiet slim" href="${visit.url('/plans')}">${texts.plans}</a>`
  const create = visit.can('payments:write') && makeLink(visit, '/new', texts.create)
  return visit.send({
    title: texts.title,
    here: 'charges',
    status: hasFaults ? 400 : 200,
    body: html`${heading(texts.title, html`${plans}${file}${create}`)}
${query.done === 'too-long' && notice(texts.csvTooLong, 'warn')}
${filterForm(visit, filters)}${body}`,
  })
}

async function listOf(visit: Visit, { query: filters, isFiltered }: Filters): Promise<Html> {
  const { language, query } = visit
  const texts = CHARGES[language]
  // One more than the page holds shows whether there is a next page.
  const { meaning, query: sought, charges: found } = await findPage(visit, filters, PAGE_SIZE + 1)
  const charges = found.slice(0, PAGE_SIZE)
  const next = found.length > PAGE_SIZE ? toPublic('charge', charges.at(-1)!.id) : null
  // The pages that follow search for the same thing.
  const around = meaning ? { ...visit, query: { ...query, as: meaning.kind } } : visit
  if (charges.length === 0)
    return html`${soughtNotice(visit, null)}${card(null, emptyOf(visit, isFiltered))}`
  const now = visit.app.clock.now()
  const total = query.after === undefined && (await totalOf(visit, sought))
  return html`${soughtNotice(visit, meaning)}
${card(
  null,
  html`${total}${table(
    texts.caption,
    columnsOf(visit),
    charges.map((charge) => asOf(charge, now)),
  )}${pager(around, next)}`,
)}`
}

function emptyOf({ language, query }: Visit, isFiltered: boolean): Html {
  const texts = CHARGES[language]
  const meanings = meaningsOf(query.q ?? '')
  if (meanings.length === 0 && !isFiltered) return nothing(language, texts.empty)
  if (meanings.length === 0) {
    return notFound(texts.foundNothing, texts.changeFilters)
  }
  const words = meanings.map((meaning) => wordsOf(meaning, texts.sought)).join(', ')
  return notFound(texts.foundNothing, texts.tried(words))
}

async function totalOf(visit: Visit, query: Query): Promise<Html> {
  const texts = CHARGES[visit.language]
  const { count, sum, isMore } = await countCharges(searching(visit), query, MAX_COUNTED)
  const words = isMore
    ? texts.countMore(numberOf(MAX_COUNTED))
    : texts.count(count, numberOf(count), formatReais(sum))
  return html`<p class="soft">${words}</p>`
}

const numberOf = (count: number): string => new Intl.NumberFormat('pt-BR').format(count)

/** Says what the text of the search box is taken for, and what else it may be. */
function soughtNotice(visit: Visit, meaning: Meaning | null): Html | null {
  const texts = CHARGES[visit.language]
  const { q = '' } = visit.query
  if (meaning === null) return null
  const others = meaningsOf(q).filter(({ kind }) => kind !== meaning.kind)
  const { after: _, ...here } = urlFilters(visit)
  const link = (other: Meaning) =>
    html` <a href="${visit.url(`/charges?${new URLSearchParams({ ...here, as: other.kind })}`)}">${wordsOf(other, texts.sought)}</a>`
  return html`<p class="notice sought" role="status">${icon('search')}<span>${texts.seeking(wordsOf(meaning, texts.sought))}${
    others.length > 0 &&
    html`<span class="soft small below">${texts.orAs}:${others.map(link)}</span>`
  }</span></p>`
}

function wordsOf(meaning: Meaning, names: Record<Meaning['kind'], string>): string {
  const { kind, value } = meaning
  if (kind === 'amount') return `${names[kind]} ${formatReais(value)}`
  if (kind === 'taxId') {
    return `${value.length === 11 ? 'CPF' : 'CNPJ'} ${punctuateTaxId(value)}`
  }
  return `${names[kind]} ${kind === 'charge' ? toPublic('charge', value) : value}`
}

function columnsOf(visit: Visit): Column<Charge>[] {
  const { columns } = CHARGES[visit.language]
  return [
    { title: columns.charge, kind: 'main', of: (charge) => nameOf(visit, charge) },
    { title: columns.state, of: (charge) => stateOf(visit, charge) },
    { title: columns.amount, kind: 'number', of: ({ amount }) => money(amount) },
    { title: columns.made, of: ({ createdAt }) => moment(createdAt) },
    { title: columns.paid, of: ({ paymentDate }) => (paymentDate ? moment(paymentDate) : '–') },
  ]
}

/** Who pays what: the name leads to the charge. */
function nameOf(visit: Visit, charge: Charge): Html {
  const texts = CHARGES[visit.language]
  const { payer, description, externalId, kind } = charge
  const taxId = payer && listedTaxId(openPerson(visit.app.vault, charge.companyId, payer).taxId)
  const more = [taxId, texts.kinds[kind], externalId, description].filter(Boolean).join(' · ')
  return html`<a href="${visit.url(`/charges/${toPublic('charge', charge.id)}`)}">${payer?.name ?? texts.noPayer}</a><span class="soft small below">${more}</span>`
}

/** The state of a charge in a word, and whether it is a test. */
export const stateOf = ({ language }: Pick<Visit, 'language'>, charge: Charge): Html =>
  html`<span class="pills">${chargePill(charge, language)}${
    charge.devMode && pill(CHARGES[language].devMark, 'warn')
  }</span>`

/** A file with more charges is refused, because nobody waits for it or can open it. */
const MAX_LINES = 100_000
/** So many lines of a file are written before other requests are served. */
const SLICE = 10

/** All charges that match, as a file for spreadsheets in Brazil. */
async function download(visit: Visit): Promise<FastifyReply> {
  const { query, faults } = filtersOf(visit)
  const search = new URLSearchParams(urlFilters(visit))
  if (Object.keys(faults).length > 0) return visit.redirect(`/charges?${search}`)
  const { query: sought, charges } = await findPage(visit, query, 1)
  const { count, isMore } = await countCharges(searching(visit), sought, MAX_LINES)
  if (isMore) return visit.redirect(`/charges?${search}`, 'too-long')
  const pieces = fileOf(visit, charges.length === 0 ? null : sought)
  await recordFile(visit, 'charges', urlFilters(visit), charges.length === 0 ? 0 : count)
  const day = localDateOf(visit.app.clock.now())
  return sendCsv(visit, `${CHARGES[visit.language].file}-${day}.csv`, pieces)
}

async function* fileOf(visit: Visit, query: Query | null): AsyncGenerator<string> {
  const { app, company } = visit
  const { heading, line } = chargeFileWriter(app.vault, visit.can('payments:write'))
  const where = searching(visit)
  yield heading
  for (let after: Uuid | null = null; query !== null; ) {
    const charges: Charge[] = await searchCharges(where, query, { limit: SLICE, after })
    const current = charges.map((charge) => asOf(charge, where.now))
    const dated = await withWithdrawals(app.db, company.id, current)
    yield dated.map(line).join('')
    if (charges.length < SLICE) return
    after = charges.at(-1)!.id
  }
}

export const chargesRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/charges.csv', needs: 'payments:read', handle: download },
  { method: 'GET', path: '/charges', needs: 'payments:read', handle: show },
]

/** The names of the filters in the URL. The search box has `q`, and `as` says what it means. */
const NAMES = ['status', 'payment', 'kind', 'by', 'from', 'to', 'amount', 'dev'] as const
type Name = (typeof NAMES)[number]

/** The filters of a page of charges: what is searched for, and what is wrong with some of them. */
type Filters = {
  query: Query
  faults: Partial<Record<Name, string>>
  isFiltered: boolean
}

const oneOf = <T extends string>(all: readonly T[], value: string | undefined): T | undefined =>
  all.find((one) => one === value)

/** Reads the filters of the URL. What is no choice of ours is left out. */
function filtersOf({ query: given, language }: Visit): Filters {
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
function urlFilters({ query }: Visit): Record<string, string> {
  const given = ['q', 'as', ...NAMES].map((name) => [name, query[name]])
  return Object.fromEntries(given.filter(([, value]) => value))
}

/** The search box and the filters. One form, so that each leaves the other as it is. */
function filterForm(visit: Visit, { faults, isFiltered }: Filters): Html {
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
