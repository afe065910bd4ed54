import type { Static } from 'typebox'
import { listOfEvent } from '../../core/deliveries/log-store.ts'
import { type AnyEventType, EVENT_TYPES, type EventMode, TEST_EVENT } from '../../core/events.ts'
import { eventPeriod, findEvent, listNewest, type WrittenEvent } from '../../core/feed/store.ts'
import type { WebhookView } from '../../core/webhooks/view.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { problem } from '../../lib/problems.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { deliveryTable } from './deliveries.ts'
import { sendBelow, sendForDevelopers } from './developers.ts'
import { EVENT_WORDS } from './event-texts.ts'
import { dayFilter, filterHead, readSpan, selectFilter } from './filters.ts'
import { listCard } from './list-parts.ts'
import { card, idText, moment, notFound, nothing, pager, rowLink, table } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50
const TYPES: AnyEventType[] = [...EVENT_TYPES, TEST_EVENT]

async function list(visit: Visit) {
  const { app, company, language, query } = visit
  const texts = EVENT_PAGES[language]
  const type = TYPES.find((one) => one === query.type) ?? null
  const to = query.to === undefined ? {} : { to: query.to }
  const period = await eventPeriod(app.db, company.id, readSpan(to))
  const after = fromPublic('evt', query.after ?? '')
  const { events, next } = await listNewest(app.db, company.id, {
    limit: PAGE_SIZE,
    after,
    type,
    period,
  })
  const isFiltered = type !== null || period.to !== null
  const empty =
    next || isFiltered
      ? notFound(next ? texts.searchOn : texts.noneFound)
      : nothing(language, texts.none)
  const shown = events.length > 0 ? eventTable(visit, events) : empty
  const words = EVENT_WORDS[language]
  const filters = filterHead(visit, [
    selectFilter(
      visit,
      'type',
      texts.type,
      texts.all,
      TYPES.map((value) => ({ value, label: words[value] })),
    ),
    dayFilter(visit, 'to', texts.until),
  ])
  const body = html`${filters}${listCard(html`${shown}${pager(visit, next && toPublic('evt', next))}`)}`
  return sendForDevelopers(visit, 'events', { title: texts.title, body })
}

function eventTable(visit: Visit, events: WrittenEvent[]): Html {
  const { language } = visit
  const texts = EVENT_PAGES[language]
  const link = ({ id, type }: WrittenEvent) =>
    rowLink(
      visit.url(`/developers/events/${toPublic('evt', id)}`),
      EVENT_WORDS[language][type],
      type,
    )
  return table(
    texts.list,
    [
      { title: texts.type, kind: 'main', of: link },
      { title: texts.id, of: ({ id }) => idText(toPublic('evt', id), texts.id, language) },
      { title: texts.mode, of: ({ mode }) => texts.modes[mode] },
      { title: texts.at, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
    ],
    events,
  )
}

/** An event with its body and its deliveries. The body of no event has a payer's document. */
async function show(visit: Visit) {
  const { app, company, language, params } = visit
  const texts = EVENT_PAGES[language]
  const id = fromPublic('evt', params.id ?? '')
  const event = id && (await findEvent(app.db, company.id, id))
  if (!event) throw problem('route_not_found')
  const [deliveries, { data: webhooks }] = await Promise.all([
    listOfEvent(app.db, company.id, event.id),
    visit.operate<Static<typeof WebhookView>[]>('listWebhooks', { query: { limit: '1000' } }),
  ])
  const names = new Map(webhooks.map(({ id, name }) => [id, name]))
  const title = EVENT_WORDS[language][event.type]
  const sent =
    deliveries.length > 0
      ? deliveryTable(visit, deliveries, names)
      : nothing(language, texts.noDeliveries)
  const about = facts([
    [texts.type, html`<code>${event.type}</code>`],
    [texts.id, idText(toPublic('evt', event.id), texts.id, language)],
    [texts.at, moment(event.createdAt)],
    [texts.mode, texts.modes[event.mode]],
  ])
  const content = html`<p class="soft">${texts.bodyText}</p><pre class="code" tabindex="0">${JSON.stringify(JSON.parse(event.payload), null, 2)}</pre>`
  const body = html`<div class="columns">${card(null, about)}${card(texts.body, content)}</div>
${card(texts.deliveries, sent)}`
  return sendBelow(visit, 'events', { title, body })
}

export const eventsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/developers/events', needs: 'webhooks:read', handle: list },
  { method: 'GET', path: '/developers/events/:id', needs: 'webhooks:read', handle: show },
]

const pt = {
  title: 'Eventos',
  list: 'Eventos da empresa, do mais recente ao mais antigo',
  none: 'Quando uma cobrança for criada ou paga, o evento aparece aqui.',
  noneFound: 'Nenhum evento com estes filtros.',
  searchOn: 'Nada encontrado até aqui. A busca ainda não chegou ao fim: veja os mais antigos.',
  type: 'Evento',
  all: 'Todos',
  until: 'Até o dia',
  at: 'Quando',
  id: 'ID',
  mode: 'Modo',
  modes: {
    sandbox: 'Testes',
    dev: 'Desenvolvimento',
    live: 'Produção',
  } satisfies Record<EventMode, string>,
  body: 'Conteúdo',
  bodyText: 'É o corpo que os webhooks recebem. Ele não tem dados pessoais do pagador.',
  deliveries: 'Entregas deste evento',
  noDeliveries: 'Nenhum webhook recebia este evento.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Events',
  list: 'Events of the company, newest first',
  none: 'When a charge is created or paid, the event is shown here.',
  noneFound: 'No event matches these filters.',
  searchOn: 'Nothing was found so far. The search is not at its end yet: see older ones.',
  type: 'Event',
  all: 'All',
  until: 'Until',
  at: 'When',
  id: 'ID',
  mode: 'Mode',
  modes: { sandbox: 'Sandbox', dev: 'Development', live: 'Live' },
  body: 'Content',
  bodyText: 'This is the body that webhooks get. It has no personal data of the payer.',
  deliveries: 'Deliveries of this event',
  noDeliveries: 'No webhook was subscribed to this event.',
}

const EVENT_PAGES: Record<Language, Texts> = { pt, en }
