import type { FastifyReply } from 'fastify'
import { waitUntilApplied } from '../../core/companies/announce.ts'
import { forCompany, withCompanyClock } from '../../core/companies/clock.ts'
import type { Company } from '../../core/companies/rules.ts'
import { findCompanies } from '../../core/companies/store.ts'
import { readFigures } from '../../core/figures/figures.ts'
import { CONVERSION_DAYS, daysTogether } from '../../core/figures/rules.ts'
import { changeSuspension } from '../../core/operator/commands.ts'
import {
  findForOperator,
  type ListedCompany,
  listForOperator,
} from '../../core/operator/companies-store.ts'
import { askAll, descending, listOfAll } from '../../core/places/across.ts'
import { placeOf } from '../../core/places/front.ts'
import type { Balance } from '../../ledger/books.ts'
import { readBalances } from '../../ledger/post.ts'
import { forEachLimited } from '../../lib/for-each-limited.ts'
import { idOfSuffix, suffixOf, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { punctuateTaxId } from '../../pix/tax-id.ts'
import { backLink, confirmation } from '../dashboard/form-parts.ts'
import {
  card,
  doneNotice,
  heading,
  idText,
  moment,
  money,
  notice,
  pager,
  pill,
  table,
} from '../dashboard/parts.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { keysCard } from './keys.ts'
import { manyNotice, pickBar, pickBox } from './many-companies.ts'
import { byId, emptyList, momentOrNever, pageOf, partOf, searchForm } from './parts.ts'
import { companyLink } from './shell.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

/** So many companies have their sums read at once. */
const AT_ONCE = 4

/** A company with the figures of its money. */
type Shown = ListedCompany & { volume: number; balance: Balance; company: Company }

async function list(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language, query } = visit
  const texts = OPERATOR[language]
  const part = partOf(visit)
  const found = await listOfAll(app, (db) => listForOperator(db, query.q?.trim() ?? '', part), {
    companyOf: ({ id }) => id,
    compare: descending(({ id }) => id),
    limit: part.limit,
  })
  const { shown, next } = pageOf(found, byId)
  const companies = await withMoney(visit, shown)
  const title = texts.sections.companies
  const create = html`<a class="button slim" href="${visit.url('/companies/new')}">${texts.many.create}</a>`
  const body = html`${heading(title, create)}${manyNotice(visit)}${searchForm(visit, '/companies', texts.companies.placeholder)}
<section class="card">${companies.length === 0 ? emptyList(visit) : html`${tableOf(visit, companies)}${pickBar(visit)}`}${pager(visit, next)}</section>`
  return visit.send({ title, here: 'companies', body, scripts: ['list.js'] })
}

async function withMoney({ app }: OperatorVisit, listed: ListedCompany[]): Promise<Shown[]> {
  const ids = listed.map(({ id }) => id)
  const companies = merged(await askAll(app, (db) => findCompanies(db, ids)))
  const volumes = new Map<Uuid, number>()
  const balances = new Map<Uuid, Balance>()
  await forEachLimited(AT_ONCE, [...companies.values()], async (company) => {
    const own = withCompanyClock(forCompany(await placeOf(app, company.id), company), company)
    const [balance] = (await readBalances(own.db, [company.id])).values()
    balances.set(company.id, balance!)
    const period = daysTogether(CONVERSION_DAYS, own.clock.now())
    const [figures] = await readFigures(own, company, [period])
    volumes.set(company.id, figures!.received.sum)
  })
  return listed.map((one) => ({
    ...one,
    volume: volumes.get(one.id)!,
    balance: balances.get(one.id)!,
    company: companies.get(one.id)!,
  }))
}

const merged = <V>(maps: Map<Uuid, V>[]): Map<Uuid, V> => new Map(maps.flatMap((map) => [...map]))

/** All that the company has, whether or not it can be withdrawn now. */
const totalOf = (balance: Balance): number =>
  Object.values(balance).reduce((sum, cents) => sum + cents, 0)

function auditPill({ language }: OperatorVisit, { difference, auditedAt }: ListedCompany): Html {
  const texts = OPERATOR[language].companies
  if (difference !== null) return pill(texts.differs, 'bad')
  return auditedAt ? pill(texts.audited, 'good') : pill(texts.notAudited, 'calm')
}

function tableOf(visit: OperatorVisit, companies: Shown[]): Html {
  const { language } = visit
  const { companies: texts, company, sections } = OPERATOR[language]
  return table(
    sections.companies,
    [
      {
        title: html`<span class="hide">${OPERATOR[language].many.picked}</span>`,
        kind: 'pick',
        of: (one: Shown) => pickBox(visit, one),
      },
      { title: company, kind: 'main', of: (one: Shown) => companyLink(visit, one.id, one.name) },
      {
        title: texts.mode,
        of: ({ mode, suspendedAt }) =>
          html`${texts.modes[mode]} ${suspendedAt && pill(texts.suspended, 'bad')}`,
      },
      { title: texts.volume, kind: 'number', of: ({ volume }) => money(volume) },
      { title: texts.balance, kind: 'number', of: ({ balance }) => money(totalOf(balance)) },
      { title: texts.audit, of: (one) => auditPill(visit, one) },
      { title: texts.lastActive, of: ({ lastActiveAt }) => momentOrNever(lastActiveAt, language) },
    ],
    companies,
  )
}

async function show(visit: OperatorVisit): Promise<FastifyReply> {
  const { language } = visit
  const { companies: texts, sections } = OPERATOR[language]
  const listed = await findListed(visit)
  const [one] = await withMoney(visit, [listed])
  const { company, balance, volume, name } = one!
  const body = html`${backLink(visit, '/companies', sections.companies)}${heading(name, changeLink(visit, listed))}
${doneNotice(visit, texts.done)}
${listed.suspendedAt && notice(html`${texts.suspendedSince} ${moment(listed.suspendedAt)}. ${texts.meaning}`, 'bad')}
${listed.difference && notice(html`${listed.difference} ${texts.differenceHint}`, 'bad')}
${card(
  null,
  facts([
    [texts.mode, texts.modes[company.mode]],
    [texts.volume, money(volume)],
    [texts.balance, money(totalOf(balance))],
    [texts.audit, auditPill(visit, listed)],
    [texts.lastActive, momentOrNever(listed.lastActiveAt, language)],
    [texts.created, moment(company.createdAt)],
    [texts.taxId, punctuateTaxId(company.taxId)],
    [texts.version, company.apiVersion],
    [texts.id, idText(company.id, texts.id, language)],
  ]),
)}
${await keysCard(visit, company.id)}`
  return visit.send({
    title: name,
    here: 'companies',
    body,
    styles: ['developers.css'],
    scripts: ['list.js'],
  })
}

async function findListed({ app, params }: OperatorVisit): Promise<ListedCompany> {
  const id = idOfSuffix(params.company ?? '')
  const listed = id && (await findForOperator((await placeOf(app, id)).db, id))
  if (!listed) throw problem('route_not_found')
  return listed
}

type Change = 'suspend' | 'resume'

const changeOf = ({ suspendedAt }: ListedCompany): Change => (suspendedAt ? 'resume' : 'suspend')
const pathOf = ({ id }: ListedCompany, change: Change | null = null): string =>
  `/companies/${suffixOf(id)}${change ? `/${change}` : ''}`

function changeLink({ url, language }: OperatorVisit, company: ListedCompany): Html {
  const change = changeOf(company)
  return html`<a class="button quiet slim" href="${url(pathOf(company, change))}">${OPERATOR[language].companies[change].link}</a>`
}

/** Asks whether a company is really to be suspended or resumed. */
const ask = (change: Change) => async (visit: OperatorVisit) => {
  const listed = await findListed(visit)
  if (changeOf(listed) !== change) return visit.redirect(pathOf(listed))
  const texts = OPERATOR[visit.language].companies[change]
  const title = texts.title(listed.name)
  const { text, button } = texts
  const action = pathOf(listed, change)
  const body = confirmation(visit, { title, text, action, button, back: pathOf(listed) })
  return visit.send({ title, here: 'companies', body })
}

/** Suspends or resumes a company. If it is so already, nothing is done. */
const act = (change: Change) => async (visit: OperatorVisit) => {
  const { author } = visit
  const listed = await findListed(visit)
  const app = await placeOf(visit.app, listed.id)
  await app.db.transaction((tx) =>
    changeSuspension(tx, listed.id, change === 'suspend', author, app.systemClock.now()),
  )
  await waitUntilApplied(app.db)
  return visit.redirect(pathOf(listed), change)
}

/** The page that asks, and the form that does it. */
const routesOf = (change: Change): OperatorRoute[] => {
  const path = `/companies/:company/${change}`
  return [
    { method: 'GET', path, confirmed: true, handle: ask(change) },
    { method: 'POST', path, confirmed: true, handle: act(change) },
  ]
}

export const companiesRoutes: OperatorRoute[] = [
  { method: 'GET', path: '/companies', handle: list },
  { method: 'GET', path: '/companies/:company', handle: show },
  ...routesOf('suspend'),
  ...routesOf('resume'),
]
