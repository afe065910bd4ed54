import type { FastifyReply } from 'fastify'
import { forCompany, withCompanyClock } from '../../core/companies/clock.ts'
import type { Company } from '../../core/companies/rules.ts'
import { findCompanies } from '../../core/companies/store.ts'
import {
  findForOperator,
  type ListedCompany,
  listForOperator,
} from '../../core/operator/companies-store.ts'
import { readDays } from '../../core/totals/commands.ts'
import { CONVERSION_DAYS } from '../../core/totals/rules.ts'
import type { Balance } from '../../ledger/books.ts'
import { readBalances } from '../../ledger/post.ts'
import { forEachLimited } from '../../lib/for-each-limited.ts'
import { idOfSuffix, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { punctuateTaxId } from '../../pix/tax-id.ts'
import { backLink } from '../dashboard/form-parts.ts'
import {
  card,
  heading,
  moment,
  money,
  nothing,
  notice,
  pager,
  pill,
  table,
} from '../dashboard/parts.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { byId, momentOrNever, pageOf, partOf, searchForm } from './parts.ts'
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
  const found = await listForOperator(app.db, query.q?.trim() ?? '', partOf(visit))
  const { shown, next } = pageOf(found, byId)
  const companies = await withMoney(visit, shown)
  const title = texts.sections.companies
  const body = html`${heading(title)}${searchForm(visit, '/companies', texts.companies.placeholder)}
<section class="card">${companies.length === 0 ? nothing(language) : tableOf(visit, companies)}${pager(visit, next)}</section>`
  return visit.send({ title, here: 'companies', body })
}

async function withMoney({ app }: OperatorVisit, listed: ListedCompany[]): Promise<Shown[]> {
  const ids = listed.map(({ id }) => id)
  const [companies, balances] = await Promise.all([
    findCompanies(app.db, ids),
    readBalances(app.db, ids),
  ])
  const volumes = new Map<Uuid, number>()
  await forEachLimited(AT_ONCE, [...companies.values()], async (company) => {
    const own = withCompanyClock(forCompany(app, company), company)
    const days = await readDays(own, company, CONVERSION_DAYS)
    volumes.set(
      company.id,
      days.reduce((all, { sum }) => all + sum, 0),
    )
  })
  return listed.map((one) => ({
    ...one,
    volume: volumes.get(one.id)!,
    balance: balances.get(one.id)!,
    company: companies.get(one.id)!,
  }))
}

/** All that the company has, whether or not it can be withdrawn now. */
const totalOf = ({ available, pending, held, unmatched }: Balance): number =>
  available + pending + held + unmatched

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
      { title: company, kind: 'main', of: (one: Shown) => companyLink(visit, one.id, one.name) },
      { title: texts.mode, of: ({ mode }) => texts.modes[mode] },
      { title: texts.volume, kind: 'number', of: ({ volume }) => money(volume) },
      { title: texts.balance, kind: 'number', of: ({ balance }) => money(totalOf(balance)) },
      { title: texts.audit, of: (one) => auditPill(visit, one) },
      { title: texts.lastActive, of: ({ lastActiveAt }) => momentOrNever(lastActiveAt, language) },
    ],
    companies,
  )
}

async function show(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language, params } = visit
  const { companies: texts, sections } = OPERATOR[language]
  const id = idOfSuffix(params.company ?? '')
  const listed = id && (await findForOperator(app.db, id))
  if (!listed) throw problem('route_not_found')
  const [one] = await withMoney(visit, [listed])
  const { company, balance, volume, name } = one!
  const body = html`${backLink(visit, '/companies', sections.companies)}${heading(name)}
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
    [texts.id, html`<code>${company.id}</code>`],
  ]),
)}`
  return visit.send({ title: name, here: 'companies', body })
}

export const companiesRoutes: OperatorRoute[] = [
  { method: 'GET', path: '/companies', handle: list },
  { method: 'GET', path: '/companies/:company', handle: show },
]
