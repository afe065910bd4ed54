import type { FastifyReply } from 'fastify'
import { chargeFileWriter, withWithdrawals } from '../../core/balance/charge-file.ts'
import { asOf, type Charge } from '../../core/charges/rules.ts'
import {
  countByState,
  countCharges,
  type Found,
  findCharges,
  MAX_NAMESAKES,
  type Meaning,
  meaningsIn,
  meaningsOf,
  type Query,
  queryOf,
  type SoughtText,
  searchCharges,
} from '../../core/charges/search.ts'
import { AMOUNTS_READ } from '../../core/charges/search-store.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { punctuateTaxId } from '../../pix/tax-id.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import {
  chosenFilters,
  type Filters,
  filterForm,
  filtersOf,
  pickedIn,
  searching,
  TAB_NAMES,
  TABS,
  urlFilters,
} from './charge-filters.ts'
import { countTabs, type Sums, sumsLine, sumsOf } from './charge-sums.ts'
import { CHARGES, type ChargeTab } from './charges-texts.ts'
import { recordFile, sendCsv } from './csv.ts'
import { tabs } from './form-parts.ts'
import {
  type Count,
  countOf,
  cutNotice,
  listCard,
  listHead,
  MAX_COUNTED,
  periodChips,
  toList,
  withFilters,
} from './list-parts.ts'
import {
  type Column,
  formatCount,
  heading,
  listedTaxId,
  moment,
  money,
  notFound,
  nothing,
  notice,
  pager,
  pill,
  rowLink,
  table,
} from './parts.ts'
import { pickAll, pickBar, pickBox, pickedNotice } from './picked-charges.ts'
import { makeLink } from './record-pages.ts'
import { savedViews, viewsNotice } from './saved-views.ts'
import { chargePill } from './states.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50

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
  const found = hasFaults ? null : await findList(visit, filters)
  const create = visit.can('payments:write') && makeLink(visit, '/new', texts.create)
  return visit.send({
    title: texts.title,
    here: 'charges',
    status: hasFaults ? 400 : 200,
    scripts: ['list.js'],
    body: html`${toList(visit)}${heading(texts.title, html`${links(visit)}${create}`)}
${query.done === 'too-long' && notice(texts.csvTooLong, 'warn')}${viewsNotice(visit)}${pickedNotice(visit)}
${listHead(
  filterForm(visit, filters),
  found && stateTabs(visit, filters, found.counts),
  html`<div class="chip-row">${periodChips(visit, '/charges', urlFilters(visit), filters.period)}${chosenFilters(visit, filters)}${await savedViews(visit, 'charges', urlFilters(visit))}</div>`,
)}
${found && listOf(visit, filters, found)}`,
  })
}

function links(visit: Visit): Html {
  const texts = CHARGES[visit.language]
  const file = withFilters(visit, '/charges.csv', urlFilters(visit))
  return html`<a class="button quiet slim" href="${visit.url('/plans')}">${texts.plans}</a><a class="button quiet slim narrow-icon" href="${file}" title="${texts.csvHint}" download>${icon('download')}<span>${texts.csv}</span></a>`
}

/** The charges of a page, and the figures above them. */
type List = Found & { counts: Map<ChargeTab, Count>; sums: Sums | null; isCut: boolean }

async function findList(visit: Visit, filters: Filters): Promise<List> {
  const tab = filters.tab ? TABS[filters.tab] : {}
  // One more than the page holds shows whether there is a next page.
  const found = await findPage(visit, { ...filters.query, ...tab }, PAGE_SIZE + 1)
  const { charges, meaning } = found
  // The tabs of a text that finds nothing in this state are those of its first meaning.
  const [first] = meaningsIn(soughtIn(visit))
  const sought = queryOf(filters.query, meaning ?? first ?? null)
  const all = await countByState(searching(visit), sought ?? filters.query, MAX_COUNTED)
  const counts = await countTabs(visit, filters, all)
  const isFirst = visit.query.after === undefined && charges.length > 0
  const sums = isFirst ? await sumsOf(visit, filters, found.query, all) : null
  return { ...found, counts, sums, isCut: all.isCut }
}

function listOf(visit: Visit, filters: Filters, found: List): Html {
  const { language, query } = visit
  const texts = CHARGES[language]
  const { meaning, sums, isCut } = found
  const charges = found.charges.slice(0, PAGE_SIZE)
  const next = found.charges.length > PAGE_SIZE ? toPublic('charge', charges.at(-1)!.id) : null
  // The pages that follow search for the same thing.
  const around = meaning ? { ...visit, query: { ...query, as: meaning.kind } } : visit
  const cut = isCut && cutNotice(visit, MAX_NAMESAKES)
  if (charges.length === 0)
    return html`${soughtNotice(visit, null)}${listCard(html`${cut}${emptyOf(visit, filters.isFiltered)}`)}`
  const now = visit.app.clock.now()
  return html`${soughtNotice(visit, meaning)}
${listCard(
  html`<div class="list-top">${pickAll(visit)}${sums && sumsLine(visit, sums)}</div>${cut}${rangeHint(visit, filters)}${table(
    texts.caption,
    columnsOf(visit),
    charges.map((charge) => asOf(charge, now)),
  )}${pickBar(visit)}${pager(around, next)}`,
)}`
}

/** Links to the charges of each state, with how many there are. */
function stateTabs(visit: Visit, { tab }: Filters, counts: Map<ChargeTab, Count>): Html {
  const texts = CHARGES[visit.language]
  const { status: _status, payment: _payment, ...here } = urlFilters(visit)
  const search = (name: ChargeTab) =>
    new URLSearchParams({ ...here, ...(name === 'ALL' ? {} : { status: name }) })
  return tabs(
    visit,
    texts.status,
    TAB_NAMES.map((name) => ({
      label: texts.tabs[name],
      count: countOf(counts.get(name)!),
      path: `/charges${search(name).size > 0 ? `?${search(name)}` : ''}`,
      isHere: name === tab,
    })),
  )
}

/** A range of amounts is looked for among the newest charges only, so the page says it. */
function rangeHint({ language }: Visit, { query }: Filters): Html | false {
  const isRange = query.amountFrom !== undefined || query.amountTo !== undefined
  return (
    isRange && html`<p class="hint">${CHARGES[language].amountsOnly(formatCount(AMOUNTS_READ))}</p>`
  )
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
    {
      title: html`<span class="hide">${CHARGES[visit.language].pick}</span>`,
      kind: 'pick',
      of: (charge) => pickBox(visit, charge),
    },
    { title: columns.charge, kind: 'main', of: (charge) => nameOf(visit, charge) },
    { title: columns.state, kind: 'state', of: (charge) => stateOf(visit, charge) },
    { title: columns.made, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
    { title: columns.paid, of: ({ paymentDate }) => (paymentDate ? moment(paymentDate) : '–') },
    { title: columns.amount, kind: 'number', of: ({ amount }) => money(amount) },
  ]
}

/** Who pays what. The row leads to the charge. */
function nameOf(visit: Visit, charge: Charge): Html {
  const texts = CHARGES[visit.language]
  const { payer, description, externalId, kind } = charge
  const taxId = payer && listedTaxId(openPerson(visit.app.vault, charge.companyId, payer).taxId)
  const more = [taxId, texts.kinds[kind], externalId, description].filter(Boolean).join(' · ')
  const path = visit.url(`/charges/${toPublic('charge', charge.id)}`)
  return rowLink(path, payer?.name ?? texts.noPayer, more)
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
  const { query, tab, faults } = filtersOf(visit)
  const search = new URLSearchParams(urlFilters(visit))
  if (Object.keys(faults).length > 0) return visit.redirect(`/charges?${search}`)
  const ids = pickedIn(visit)
  if (ids?.length === 0) return visit.redirect('/charges', 'none')
  const filters = { ...query, ...(tab ? TABS[tab] : {}), ...(ids ? { ids } : {}) }
  const { query: sought, charges } = await findPage(visit, filters, 1)
  const { count, isMore, isCut } = await countCharges(searching(visit), sought, MAX_LINES)
  // The list says what to do. A file would look as if it had all.
  if (isCut) return visit.redirect(`/charges?${search}`)
  if (isMore) return visit.redirect(`/charges?${search}`, 'too-long')
  const pieces = fileOf(visit, charges.length === 0 ? null : sought)
  await recordFile(visit, 'charges', urlFilters(visit), charges.length === 0 ? 0 : count)
  const day = localDateOf(visit.app.clock.now())
  return sendCsv(visit, `${CHARGES[visit.language].file}-${day}.csv`, pieces)
}

async function* fileOf(visit: Visit, query: Query | null): AsyncGenerator<string> {
  const { app, company } = visit
  const { heading, line } = chargeFileWriter(app.vault, visit.can('payments:write'))
  const hasWithdrawals = visit.can('balance:read')
  const where = searching(visit)
  yield heading
  for (let after: Uuid | null = null; query !== null; ) {
    const charges: Charge[] = await searchCharges(where, query, { limit: SLICE, after })
    const current = charges.map((charge) => asOf(charge, where.now))
    const dated = hasWithdrawals
      ? await withWithdrawals(app.db, company.id, current)
      : current.map((charge) => ({ ...charge, withdrawnAt: null }))
    yield dated.map(line).join('')
    if (charges.length < SLICE) return
    after = charges.at(-1)!.id
  }
}

export const chargesRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/charges.csv', needs: 'payments:read', handle: download },
  { method: 'GET', path: '/charges', needs: 'payments:read', handle: show },
]
