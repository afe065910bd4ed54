import type { Static } from 'typebox'
import { countToReplay } from '../../core/deliveries/log-store.ts'
import { eventPeriod } from '../../core/feed/store.ts'
import type { WebhookView } from '../../core/webhooks/view.ts'
import { field } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { DELIVERIES } from './deliveries-texts.ts'
import { sendBelow } from './developers.ts'
import { readSpan, type Span } from './filters.ts'
import { tryForm } from './form-parts.ts'
import { card, notice } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { WEBHOOKS } from './webhooks-texts.ts'

const WHICH = ['FAILED', 'DELIVERED', 'ALL'] as const
type Which = (typeof WHICH)[number]

/** More are not counted, because nobody needs to know exactly. */
const MAX_COUNTED = 10_000

type Asked = { which: Which; span: Span; typed: Record<'from' | 'to', string> }

function readAsked(given: Record<string, string | undefined>): Asked {
  const { from = '', to = '', status } = given
  const which = WHICH.find((one) => one === status) ?? 'FAILED'
  return { which, span: readSpan({ from, to }), typed: { from, to } }
}

/** Asks which deliveries to send again, and says how many they are. */
async function show(visit: Visit, asked: Asked, status = 200, fault: Html | null = null) {
  const { language, params } = visit
  const texts = DELIVERIES[language]
  const { data: webhook } = await visit.operate<Static<typeof WebhookView>>('getWebhook', {
    params: { id: params.id! },
  })
  const isAsked = visit.query.status !== undefined || visit.request.method === 'POST'
  const title = texts.replayTitle(webhook.name)
  const body = html`${fault}
${card(null, html`<p>${texts.replayText}</p>${choice(visit, asked)}${isAsked && (await confirm(visit, asked))}`)}`
  const back = { path: `/developers/webhooks/${params.id}`, label: webhook.name }
  return sendBelow(visit, 'webhooks', { title, body, status }, back)
}

function choice({ language, request }: Visit, { which, typed }: Asked): Html {
  const texts = DELIVERIES[language]
  const moment = (name: 'from' | 'to', label: string) =>
    field(
      {
        name,
        label,
        value: typed[name],
        fault: null,
        wrong: '',
        isFilledIn: true,
        type: 'datetime-local',
      },
      false,
    )
  const status = field(
    {
      name: 'status',
      label: texts.which,
      value: which,
      fault: null,
      wrong: '',
      options: WHICH.map((value) => ({ value, label: texts.whichStates[value] })),
    },
    false,
  )
  return html`<form class="filters" method="get" action="${request.url.split('?')[0]}"><div class="search">${status}</div>
${moment('from', texts.from)}${moment('to', texts.to)}<button class="button quiet slim">${texts.count}</button></form>`
}

/** How many deliveries would be sent, and the button that sends them. */
async function confirm(visit: Visit, { which, span, typed }: Asked): Promise<Html> {
  const { app, company, language, params } = visit
  const texts = DELIVERIES[language]
  const count = await countToReplay(
    app.db,
    { companyId: company.id, webhookId: params.id! },
    {
      period: await eventPeriod(app.db, company.id, span),
      status: which,
      now: app.clock.now(),
    },
    MAX_COUNTED + 1,
  )
  const sentence = texts.counted(Math.min(count, MAX_COUNTED), count > MAX_COUNTED)
  if (count === 0) return notice(sentence, 'calm')
  const content = html`<input type="hidden" name="status" value="${which}"><input type="hidden" name="from" value="${typed.from}"><input type="hidden" name="to" value="${typed.to}">
<p role="status"><strong>${sentence}</strong></p><div class="actions"><button class="button slim">${texts.replay}</button></div>`
  return visit.formOf(visit.url(`/developers/webhooks/${params.id}/replay`), content, {
    kind: 'card-form',
  })
}

async function replay(visit: Visit) {
  const asked = readAsked(visit.form)
  const { from, to } = asked.span
  const id = visit.params.id!
  const { fault } = await tryForm(() =>
    visit.operate('replayDeliveries', {
      params: { id },
      body: {
        status: asked.which,
        ...(from ? { from: from.toISOString() } : {}),
        ...(to ? { to: to.toISOString() } : {}),
      },
      once: visit.form.once,
    }),
  )
  if (!fault) return visit.redirect(`/developers/webhooks/${id}`, 'replayed')
  const { isInactive } = WEBHOOKS[visit.language]
  return show(visit, asked, fault.problem.status, notice(isInactive, 'bad'))
}

const PATH = '/developers/webhooks/:id/replay'

export const replayRoutes: DashboardRoute[] = [
  {
    method: 'GET',
    path: PATH,
    needs: 'webhooks:write',
    handle: (visit) => show(visit, readAsked(visit.query)),
  },
  { method: 'POST', path: PATH, needs: 'webhooks:write', handle: replay },
]
