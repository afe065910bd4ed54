import type { FastifyReply } from 'fastify'
import { INSTALLATION, type OwnAction } from '../../core/activity/rules.ts'
import { entriesOf } from '../dashboard/activity.ts'
import { ACTIVITY } from '../dashboard/activity-texts.ts'
import { heading } from '../dashboard/parts.ts'
import { html } from '../html.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

/** What the log of the installation has, for its filter. */
const ACTIONS: OwnAction[] = [
  'operator.invite',
  'operator.join',
  'operator.remove',
  'passkey.add',
  'passkey.remove',
  'password.change',
  'password.reset',
  'recovery-codes.create',
  'session.end',
  'session.start',
  'sign-in-link.create',
  'sign-in.unknown',
  'sign-in.wrong-code',
  'sign-in.wrong-password',
  'two-factor.disable',
  'two-factor.enable',
  'two-factor.reset',
]

async function show(visit: OperatorVisit): Promise<FastifyReply> {
  const { app, language } = visit
  const { title } = ACTIVITY[language]
  const log = { tx: app.db.people, id: INSTALLATION, actions: ACTIONS }
  const body = html`${heading(title)}<p class="soft">${OPERATOR[language].activity}</p>
${await entriesOf(visit, log)}`
  return visit.send({ title, here: 'activity', body })
}

export const activityRoutes: OperatorRoute[] = [{ method: 'GET', path: '/activity', handle: show }]
