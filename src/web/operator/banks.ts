import type { FastifyReply } from 'fastify'
import { renewalHorizon } from '../../core/banks/certificates.ts'
import { type ListedBank, listBanks } from '../../core/operator/companies-store.ts'
import { ascending, listOfAll } from '../../core/places/across.ts'
import { heading, moment, nothing, pager, pill, table } from '../dashboard/parts.ts'
import { type Html, html } from '../html.ts'
import { byCompany, momentOrNever, pageOf, partOf } from './parts.ts'
import { companyLink } from './shell.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

async function list(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language } = visit
  const { sections, banks: texts } = OPERATOR[language]
  const title = sections.banks
  const part = partOf(visit)
  const found = await listOfAll(app, (db) => listBanks(db, app.systemClock.now(), part), {
    companyOf: ({ companyId }) => companyId,
    compare: ascending(({ companyId }) => companyId),
    limit: part.limit,
  })
  const { shown, next } = pageOf(found, byCompany)
  const body = html`${heading(title)}<section class="card">${
    shown.length === 0 ? nothing(language, texts.empty) : tableOf(visit, shown)
  }${pager(visit, next)}</section>`
  return visit.send({ title, here: 'banks', body })
}

function stateOf({ app, language }: OperatorVisit, bank: ListedBank): Html {
  const texts = OPERATOR[language].banks
  const now = app.systemClock.now()
  const { certificateEndsAt: endsAt, error, failures } = bank
  if (error !== null) {
    return html`${pill(texts.failing(failures), 'bad')} <span class="soft small">${error}</span>`
  }
  if (endsAt <= now) return pill(texts.ended, 'bad')
  return endsAt < renewalHorizon(now) ? pill(texts.ending, 'warn') : pill(texts.ok, 'good')
}

function tableOf(visit: OperatorVisit, banks: ListedBank[]): Html {
  const { language } = visit
  const { banks: texts, company, sections } = OPERATOR[language]
  return table(
    sections.banks,
    [
      {
        title: company,
        kind: 'main',
        of: (one: ListedBank) => companyLink(visit, one.companyId, one.company),
      },
      { title: texts.profile, of: ({ profile }) => profile },
      { title: texts.state, of: (bank) => stateOf(visit, bank) },
      { title: texts.asked, of: ({ askedUntil }) => momentOrNever(askedUntil, language) },
      { title: texts.callbacks, kind: 'number', of: ({ callbacks }) => callbacks },
      { title: texts.certificate, of: ({ certificateEndsAt }) => moment(certificateEndsAt) },
      {
        title: texts.payouts,
        of: ({ payouts }) => (payouts === 'manual' ? texts.byHand : texts.byBank),
      },
    ],
    banks,
  )
}

export const banksRoutes: OperatorRoute[] = [{ method: 'GET', path: '/banks', handle: list }]
