import type { Static } from 'typebox'
import { browse, type Filter, find } from '../../core/deliveries/log-store.ts'
import {
  type Attempt,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryState,
} from '../../core/deliveries/rules.ts'
import { deliveryIdOf, readDeliveryId } from '../../core/deliveries/view.ts'
import { type AnyEventType, EVENT_TYPES, TEST_EVENT } from '../../core/events.ts'
import { eventPeriod, findEvent, type WrittenEvent } from '../../core/feed/store.ts'
import type { WebhookView } from '../../core/webhooks/view.ts'
import { isUuid, toPublic, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { type Html, html, type Shown } from '../html.ts'
import { facts } from '../parts.ts'
import { DELIVERIES } from './deliveries-texts.ts'
import { sendBelow, sendForDevelopers } from './developers.ts'
import { EVENT_WORDS } from './event-texts.ts'
import { dayFilter, filterHead, readSpan, selectFilter } from './filters.ts'
import { tryForm } from './form-parts.ts'
import { listCard } from './list-parts.ts'
import {
  card,
  idText,
  moment,
  notFound,
  nothing,
  notice,
  pager,
  pill,
  rowLink,
  type Tone,
  table,
} from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

type Webhook = Static<typeof WebhookView>

const PAGE_SIZE = 30
const TYPES: AnyEventType[] = [...EVENT_TYPES, TEST_EVENT]

const isOneOf = <T extends string>(all: readonly T[], text: string | undefined): T | null =>
  all.find((one) => one === text) ?? null

/** The webhooks by which the list can be filtered. */
async function listWebhooks(visit: Visit): Promise<Webhook[]> {
  return (await visit.operate<Webhook[]>('listWebhooks', { query: { limit: '1000' } })).data
}

async function readFilter({ app, company, query }: Visit): Promise<Filter> {
  return {
    limit: PAGE_SIZE,
    after: readDeliveryId(query.after ?? ''),
    webhookId: isUuid(query.webhook ?? '') ? query.webhook! : null,
    status: isOneOf(DELIVERY_STATES, query.status),
    type: isOneOf(TYPES, query.type),
    period: await eventPeriod(app.db, company.id, readSpan(query)),
  }
}

async function list(visit: Visit) {
  const { app, company, language } = visit
  const texts = DELIVERIES[language]
  const [webhooks, filter] = await Promise.all([listWebhooks(visit), readFilter(visit)])
  const { deliveries, next } = await browse(app.db, company.id, filter)
  const names = new Map(webhooks.map(({ id, name }) => [id, name]))
  const cursor = next && deliveryIdOf(next)
  const isFiltered = filter.webhookId ?? filter.status ?? filter.type ?? filter.period.beforeId
  const empty =
    cursor || isFiltered
      ? notFound(cursor ? texts.searchOn : texts.noneFound)
      : nothing(language, texts.none)
  const shown = deliveries.length > 0 ? deliveryTable(visit, deliveries, names) : empty
  const body = html`${filters(visit, webhooks)}
${listCard(html`${shown}${pager(visit, cursor)}`)}`
  return sendForDevelopers(visit, 'deliveries', { title: texts.title, body })
}

function filters(visit: Visit, webhooks: Webhook[]): Html {
  const { language } = visit
  const texts = DELIVERIES[language]
  const words = EVENT_WORDS[language]
  return filterHead(visit, [
    selectFilter(
      visit,
      'status',
      texts.state,
      texts.allStates,
      DELIVERY_STATES.map((value) => ({ value, label: texts.states[value] })),
    ),
    selectFilter(
      visit,
      'type',
      texts.event,
      texts.allEvents,
      TYPES.map((value) => ({ value, label: words[value] })),
    ),
    selectFilter(
      visit,
      'webhook',
      texts.webhook,
      texts.allWebhooks,
      webhooks.map(({ id, name }) => ({ value: id, label: name })),
    ),
    dayFilter(visit, 'from', texts.from),
    dayFilter(visit, 'to', texts.to),
  ])
}

type Found = { delivery: Delivery; event: WrittenEvent; webhook: Webhook }

async function findDelivery(visit: Visit): Promise<Found> {
  const { app, company, params } = visit
  const key = readDeliveryId(params.id ?? '')
  const delivery = key && (await find(app.db, { companyId: company.id, ...key }))
  const event = delivery && (await findEvent(app.db, company.id, delivery.eventId))
  if (!event) throw problem('webhook_not_found')
  const { data } = await visit.operate<Webhook>('getWebhook', {
    params: { id: delivery.webhookId },
  })
  return { delivery, event, webhook: data }
}

async function show(visit: Visit, status = 200, fault: Html | null = null) {
  const { language } = visit
  const texts = DELIVERIES[language]
  const found = await findDelivery(visit)
  const { delivery } = found
  const title = texts.deliveryOf(EVENT_WORDS[language][delivery.type])
  const again =
    visit.can('webhooks:write') &&
    visit.formOf(
      visit.url(`/developers/deliveries/${deliveryIdOf(delivery)}/redeliver`),
      html`<button class="button slim">${texts.redeliver}</button>`,
    )
  const attempts = delivery.attempts.map((_attempt, i) => showAttempt(visit, delivery, i))
  const body = html`${fault}
<div class="columns">
${card(null, factsOf(visit, found))}
${card(texts.request, showRequest(visit, found))}
</div>
${card(texts.attempts, html`<p class="soft">${attempts.length > 0 ? texts.responseText : texts.noAttempt}</p>${attempts.toReversed()}`)}`
  const done = { redelivered: texts.redelivered }
  return sendBelow(visit, 'deliveries', { title, actions: again, done, body, status })
}

function factsOf(visit: Visit, { delivery, webhook }: Found): Html {
  const texts = DELIVERIES[visit.language]
  const { eventId, status, nextAttemptAt, finishedAt } = delivery
  const id = toPublic('evt', eventId)
  return facts([
    [texts.state, stateOf(visit, status)],
    [
      texts.webhook,
      html`<a href="${visit.url(`/developers/webhooks/${webhook.id}`)}">${webhook.name}</a><br><span class="small soft">${webhook.url}</span>`,
    ],
    [texts.facts.created, moment(delivery.createdAt)],
    nextAttemptAt !== null && [texts.facts.next, moment(nextAttemptAt)],
    finishedAt !== null && [texts.facts.finished, moment(finishedAt)],
    [
      texts.facts.event,
      html`<a href="${visit.url(`/developers/events/${id}`)}"><code>${id}</code></a>`,
    ],
    [texts.facts.id, idText(deliveryIdOf(delivery), texts.facts.id, visit.language)],
  ])
}

const MADE_EACH_TIME = [
  'webhook-timestamp',
  'webhook-signature',
  'x-webhook-timestamp',
  'x-webhook-signature',
]

/**
 * The request as every attempt sends it. Its body is stored with the event. Time and signatures are
 * made for each attempt and are not stored, so they are named only.
 */
function showRequest({ language }: Visit, { delivery, event, webhook }: Found): Html {
  const texts = DELIVERIES[language]
  const headers = [
    ['content-type', 'application/json; charset=utf-8'],
    ['user-agent', 'Vintem-Webhooks/1'],
    ['x-webhook-event', delivery.type],
    ['x-webhook-mode', event.mode],
    ['x-webhook-delivery', deliveryIdOf(delivery)],
    ['webhook-id', toPublic('evt', delivery.eventId)],
  ].map(([name, value]) => `${name}: ${value}`)
  return html`<p class="soft">${texts.requestText}</p>
<h3>${texts.headers}</h3>
<pre class="code" tabindex="0">POST ${webhook.url}
${headers.join('\n')}
${MADE_EACH_TIME.map((name) => html`${name}: <em>${texts.eachAttempt}</em>\n`)}</pre>
<h3>${texts.body}</h3>
<pre class="code" tabindex="0">${event.payload}</pre>`
}

function showAttempt(visit: Visit, { attempts, status }: Delivery, i: number): Html {
  const texts = DELIVERIES[visit.language]
  const attempt = attempts[i]!
  const isLast = i === attempts.length - 1
  const { at, latencyMs, response } = attempt
  const [head, tail] = [texts.attempt(i + 1), answerOf(visit, attempt)]
  return html`<details class="attempt"${isLast && status !== 'DELIVERED' && html` open`}>
<summary>${head} · ${tail}<span class="soft small"> · ${moment(at)} · ${latencyMs} ms</span></summary>
${
  response === ''
    ? html`<p class="soft">${attempt.status === null ? texts.noAnswer : texts.emptyResponse}</p>`
    : html`<p class="small soft">${texts.response}</p><pre class="code" tabindex="0">${response}</pre>`
}</details>`
}

async function redeliver(visit: Visit) {
  const id = visit.params.id!
  const { fault } = await tryForm(() =>
    visit.operate('redeliver', { params: { id }, once: visit.form.once }),
  )
  if (fault) {
    const { inactive } = DELIVERIES[visit.language]
    return show(visit, fault.problem.status, notice(inactive, 'bad'))
  }
  return visit.redirect(`/developers/deliveries/${id}`, 'redelivered')
}

const ONE = '/developers/deliveries/:id'

const TONES: Record<DeliveryState, Tone> = { PENDING: 'warn', DELIVERED: 'good', FAILED: 'bad' }

export const stateOf = ({ language }: Visit, status: DeliveryState): Html =>
  pill(DELIVERIES[language].states[status], TONES[status])

/** What the receiver has answered to an attempt. */
function answerOf({ language }: Visit, attempt: Attempt | undefined): Shown {
  const texts = DELIVERIES[language]
  if (!attempt) return html`<span class="soft">${texts.waiting}</span>`
  const { status, error } = attempt
  const fault = error && (texts.errors[error] ?? error)
  if (status === null) return fault ?? texts.noAnswer
  return fault ? `HTTP ${status}: ${fault}` : `HTTP ${status}`
}

/** A table of deliveries. The names are those of the webhooks. */
export function deliveryTable(
  visit: Visit,
  deliveries: Delivery[],
  names: Map<Uuid, string>,
): Html {
  const { language } = visit
  const texts = DELIVERIES[language]
  const link = (delivery: Delivery) =>
    rowLink(
      visit.url(`/developers/deliveries/${deliveryIdOf(delivery)}`),
      EVENT_WORDS[language][delivery.type],
      delivery.type,
    )
  return table(
    texts.list,
    [
      { title: texts.event, kind: 'main', of: link },
      {
        title: texts.webhook,
        of: ({ webhookId }) =>
          html`<a href="${visit.url(`/developers/webhooks/${webhookId}`)}">${names.get(webhookId) ?? webhookId}</a>`,
      },
      { title: texts.state, kind: 'state', of: ({ status }) => stateOf(visit, status) },
      { title: texts.answer, of: ({ attempts }) => answerOf(visit, attempts.at(-1)) },
      {
        title: texts.attempts,
        kind: 'number',
        isWide: true,
        of: ({ attempts }) => attempts.length,
      },
      { title: texts.at, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
    ],
    deliveries,
  )
}

export const deliveriesRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/developers/deliveries', needs: 'webhooks:read', handle: list },
  { method: 'GET', path: ONE, needs: 'webhooks:read', handle: (visit) => show(visit) },
  { method: 'POST', path: `${ONE}/redeliver`, needs: 'webhooks:write', handle: redeliver },
]
