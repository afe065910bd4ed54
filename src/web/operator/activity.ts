import type { FastifyReply } from 'fastify'
import { INSTALLATION, INSTALLATION_ACTIONS } from '../../core/activity/rules.ts'
import { wordsOf } from '../dashboard/action-texts.ts'
import { ACTIVITY, entriesOf } from '../dashboard/activity.ts'
import { heading } from '../dashboard/parts.ts'
import { html } from '../html.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

async function show(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language } = visit
  const { title } = ACTIVITY[language]
  const log = {
    db: app.db.control,
    id: INSTALLATION,
    words: wordsOf([]),
    actions: INSTALLATION_ACTIONS,
    everybody: 'all',
  } as const
  const body = html`${heading(title)}<p class="soft">${OPERATOR[language].activity}</p>
${await entriesOf(visit, log)}`
  return visit.send({ title, here: 'activity', body })
}

export const activityRoutes: OperatorRoute[] = [{ method: 'GET', path: '/activity', handle: show }]
