import type { FastifyReply } from 'fastify'
import { html } from '../html.ts'
import { type IconName, icon } from '../layout.ts'
import { newBatchRoutes } from './new-batch.ts'
import { newChargeRoutes } from './new-charge.ts'
import { newCodeRoutes } from './new-code.ts'
import { newLinkRoutes } from './new-link.ts'
import { newPlanRoutes } from './new-plan.ts'
import { newSubscriptionRoutes } from './new-subscription.ts'
import { NEW, type NewKind } from './new-texts.ts'
import { heading } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const KINDS: { kind: NewKind; sign: IconName }[] = [
  { kind: 'charge', sign: 'plus' },
  { kind: 'link', sign: 'copy' },
  { kind: 'plan', sign: 'clock' },
  { kind: 'batch', sign: 'download' },
  { kind: 'code', sign: 'qr' },
  { kind: 'subscription', sign: 'repeat' },
]

function show(visit: Visit): FastifyReply {
  const { language, url } = visit
  const texts = NEW[language]
  const choice = (path: string, sign: IconName, { title, text }: { title: string; text: string }) =>
    html`<li><a class="card choice" href="${url(path)}">${icon(sign)}<span><strong>${title}</strong><span class="soft">${text}</span></span>${icon('next')}</a></li>`
  const kinds = KINDS.map(({ kind, sign }) => choice(`/new/${kind}`, sign, texts.kinds[kind]))
  return visit.send({
    title: texts.title,
    here: 'new',
    body: html`${heading(texts.title)}<p class="soft">${texts.choose}</p><ul class="columns kinds">${choice('/counter', 'qr', texts.counter)}${kinds}</ul>`,
  })
}

export const newRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/new', needs: 'payments:write', handle: show },
  ...newChargeRoutes,
  ...newLinkRoutes,
  ...newPlanRoutes,
  ...newBatchRoutes,
  ...newCodeRoutes,
  ...newSubscriptionRoutes,
]
