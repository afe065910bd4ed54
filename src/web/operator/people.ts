import type { FastifyReply } from 'fastify'
import { type ListedPerson, listPeople } from '../../core/operator/companies-store.ts'
import { tabs } from '../dashboard/form-parts.ts'
import { heading, moment, pager, pill, table } from '../dashboard/parts.ts'
import { type Html, html } from '../html.ts'
import { byId, emptyList, momentOrNever, pageOf, partOf, searchForm } from './parts.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

async function list(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language, query } = visit
  const { sections, people: texts } = OPERATOR[language]
  const title = sections.people
  const onlyOperators = query.operators === '1'
  const filter = { search: query.q?.trim() ?? '', onlyOperators }
  const { shown, next } = pageOf(await listPeople(app.db.control, filter, partOf(visit)), byId)
  const lists = [
    { label: texts.all, path: '/people', isHere: !onlyOperators },
    { label: texts.operators, path: '/people?operators=1', isHere: onlyOperators },
  ]
  const body = html`${heading(title)}${tabs(visit, texts.lists, lists)}
${searchForm(visit, '/people', texts.placeholder)}
<section class="card">${shown.length === 0 ? emptyList(visit) : tableOf(visit, shown)}${pager(visit, next)}</section>`
  return visit.send({ title, here: 'people', body })
}

function tableOf({ language }: OperatorVisit, people: ListedPerson[]): Html {
  const { people: texts, sections } = OPERATOR[language]
  return table(
    sections.people,
    [
      {
        title: texts.person,
        kind: 'main',
        of: ({ name, email, isOperator }: ListedPerson) =>
          html`${name} ${isOperator && pill(texts.operator, 'calm')}<br><span class="soft small">${email}</span>`,
      },
      { title: texts.companies, kind: 'number', of: ({ companies }) => companies },
      {
        title: texts.secondFactor,
        of: ({ hasSecondFactor }) => (hasSecondFactor ? texts.yes : texts.no),
      },
      { title: texts.lastSeen, of: ({ lastSeenAt }) => momentOrNever(lastSeenAt, language) },
      { title: texts.created, of: ({ createdAt }) => moment(createdAt) },
    ],
    people,
  )
}

export const peopleRoutes: OperatorRoute[] = [{ method: 'GET', path: '/people', handle: list }]
