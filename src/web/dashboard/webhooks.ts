import type { Static } from 'typebox'
import {
  HEALTH_DELIVERIES,
  type Health,
  type HealthPart,
  healthOf,
} from '../../core/deliveries/health.ts'
import { list as listDeliveries, listLatest } from '../../core/deliveries/log-store.ts'
import type { Delivery } from '../../core/deliveries/rules.ts'
import { EVENT_TYPES, type EventType } from '../../core/events.ts'
import type { Operated } from '../../core/operate.ts'
import type { WebhookView, WebhookWithSecret } from '../../core/webhooks/view.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Problem } from '../../lib/problems.ts'
import { formatDay, formatMoment, localDateOf } from '../../pix/local-time.ts'
import { boxesOf, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { type Fact, facts } from '../parts.ts'
import { type Bar, barChart } from './chart.ts'
import { tenthsOf, writeTenths } from './comparison.ts'
import { deliveryTable, stateOf } from './deliveries.ts'
import { copyable, sendBelow, sendForDevelopers } from './developers.ts'
import { EVENT_WORDS } from './event-texts.ts'
import { type FormFault, tabs, tryForm } from './form-parts.ts'
import {
  type Column,
  card,
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
import { makeLink, slimForm } from './record-pages.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { WEBHOOKS } from './webhooks-texts.ts'

type Webhook = Static<typeof WebhookView>

const ALL = '/developers/webhooks'
const PAGE_SIZE = '50'
const LATEST = 10
/** So many webhooks are looked through for those that fail, and so many of those are shown. */
const MAX_SEARCHED = '1000'
const MAX_SHOWN = 50

const urlOf = (visit: Visit, { id }: Pick<Webhook, 'id'>, action = ''): string =>
  visit.url(`${ALL}/${id}${action && `/${action}`}`)

type State = 'active' | 'inactive' | 'gone' | 'failed' | 'paused' | 'failing'

const TONES: Record<State, Tone> = {
  active: 'good',
  inactive: 'calm',
  gone: 'bad',
  failed: 'bad',
  paused: 'warn',
  failing: 'bad',
}

function stateOfWebhook({ status, deactivated, pausedUntil, failingSince }: Webhook): State {
  if (status === 'INACTIVE') {
    return deactivated === 'GONE' ? 'gone' : deactivated === 'FAILING' ? 'failed' : 'inactive'
  }
  return pausedUntil ? 'paused' : failingSince ? 'failing' : 'active'
}

const statePill = (visit: Visit, webhook: Webhook): Html => {
  const state = stateOfWebhook(webhook)
  return pill(WEBHOOKS[visit.language][state], TONES[state])
}

/** Webhooks that fail, or were deactivated because they failed. */
const isFailing = ({ status, deactivated, failingSince }: Webhook): boolean =>
  !!deactivated || (status === 'ACTIVE' && !!failingSince)

/** Those that fail are looked for among the newest webhooks. */
async function readList({ operate, query }: Visit, isForFailing: boolean) {
  const limit = isForFailing ? MAX_SEARCHED : PAGE_SIZE
  const page = { limit, ...(query.after === undefined ? {} : { after: query.after }) }
  const { data, next } = await operate<Webhook[]>('listWebhooks', { query: page })
  return isForFailing
    ? { data: data.filter(isFailing).slice(0, MAX_SHOWN), next: null }
    : { data, next }
}

async function list(visit: Visit) {
  const { app, company, language, query } = visit
  const texts = WEBHOOKS[language]
  const isForFailing = query.state === 'failing'
  const { data, next } = await readList(visit, isForFailing)
  const latest = await listLatest(
    app.db,
    company.id,
    data.map(({ id }) => id),
  )
  const list = table(
    texts.list,
    columnsOf(visit, latest),
    data,
    isForFailing ? notFound(texts.noneFailing) : nothing(language, texts.none),
  )
  const states = [
    { label: texts.all, path: ALL, isHere: !isForFailing },
    { label: texts.allFailing, path: `${ALL}?state=failing`, isHere: isForFailing },
  ]
  return sendForDevelopers(visit, 'webhooks', {
    title: texts.title,
    actions: visit.can('webhooks:write') && makeLink(visit, `${ALL}/new`, texts.create),
    done: { deleted: texts.done.deleted },
    body: html`${tabs(visit, texts.filter, states)}${card(null, list)}
${pager(visit, next)}`,
  })
}

function columnsOf(visit: Visit, latest: Map<Uuid, Delivery>): Column<Webhook>[] {
  const texts = WEBHOOKS[visit.language]
  const lastOf = (webhook: Webhook) => {
    const delivery = latest.get(webhook.id)
    if (!delivery) return texts.noDelivery
    return html`${stateOf(visit, delivery.status)} <span class="small soft">${moment(delivery.createdAt)}</span>`
  }
  return [
    {
      title: texts.name,
      kind: 'main',
      of: (webhook) => rowLink(urlOf(visit, webhook), webhook.name, webhook.url),
    },
    { title: texts.state, kind: 'state', of: (webhook) => statePill(visit, webhook) },
    { title: texts.events, of: ({ events }) => events.length, kind: 'number', isWide: true },
    { title: texts.lastDelivery, of: lastOf },
  ]
}

/** A webhook with its health, its latest deliveries and all that can be done with it. */
async function show(visit: Visit, status = 200, fault: FormFault | null = null) {
  const { app, company, language, params } = visit
  const texts = WEBHOOKS[language]
  const webhook = await findWebhook(visit)
  const key = { companyId: company.id, webhookId: webhook.id }
  const newest = { limit: HEALTH_DELIVERIES, after: null, status: null }
  const sent = await listDeliveries(app.db, key, newest)
  const deliveries = sent.slice(0, LATEST)
  const all = visit.url(`/developers/deliveries?webhook=${params.id}`)
  const latest = html`${
    deliveries.length > 0
      ? deliveryTable(visit, deliveries, new Map([[webhook.id, webhook.name]]))
      : nothing(language)
  }<p><a href="${all}">${texts.allDeliveries}</a></p>`
  const body = html`${fault && notice(texts.isInactive, 'bad')}
<div class="columns">
${card(texts.state, stateFacts(visit, webhook))}
${card(texts.events, html`<ul class="plain-list">${webhook.events.map((type) => html`<li>${EVENT_WORDS[language][type]} <code class="soft">${type}</code></li>`)}</ul>`)}
</div>
${healthCard(visit, healthOf(sent))}
${card(texts.latest, latest)}`
  const { name: title } = webhook
  const actions = actionsOf(visit, webhook)
  return sendBelow(visit, 'webhooks', { title, actions, done: texts.done, body, status })
}

function stateFacts(visit: Visit, webhook: Webhook): Html {
  const texts = WEBHOOKS[visit.language]
  const { failingSince, pausedUntil } = webhook
  const shown: (Fact | false)[] = [
    [texts.state, statePill(visit, webhook)],
    failingSince !== undefined && [texts.failingSince, moment(failingSince)],
    pausedUntil !== undefined && [texts.pausedUntil, moment(pausedUntil)],
    [texts.url, webhook.url],
    [texts.created, moment(webhook.createdAt)],
  ]
  return html`<p class="soft">${texts.healthTexts[stateOfWebhook(webhook)]}</p>${facts(shown)}`
}

/** How often and how fast the receiver has accepted, over time. */
function healthCard({ language }: Visit, health: Health | null): Html | null {
  if (health === null) return null
  const { heading, ...texts } = WEBHOOKS[language].health
  const labelOf = ({ from }: HealthPart) =>
    health.each === 'hour' ? formatMoment(from).slice(-5) : formatDay(localDateOf(from)).slice(0, 5)
  const bars = (of: (part: HealthPart) => number): Bar[] =>
    health.parts.map((part) => ({
      label: labelOf(part),
      name: health.each === 'hour' ? formatMoment(part.from) : formatDay(localDateOf(part.from)),
      value: of(part),
      note: texts.attempts(part.attempts),
    }))
  const rate = {
    id: 'rate',
    title: texts.rate,
    heading: heading[health.each],
    bars: bars(rateOf),
    series: { value: texts.rate },
    brief: writeTenths,
    write: writeTenths,
  }
  const latency = {
    id: 'latency',
    title: texts.latency,
    heading: heading[health.each],
    bars: bars(({ median_ms }) => median_ms),
    series: { value: texts.latency },
    brief: writeTime,
    write: writeTime,
  }
  const figures = facts([
    [texts.rate, html`<strong>${writeTenths(rateOf(health))}</strong>`],
    [texts.latency, html`<strong>${writeTime(health.median_ms)}</strong>`],
    [texts.counted, texts.attempts(health.attempts)],
  ])
  return card(
    texts.title,
    html`<p class="soft small">${texts.hint(HEALTH_DELIVERIES)}</p>${figures}${barChart(rate, language)}${barChart(latency, language)}`,
  )
}

const rateOf = ({ attempts, accepted }: Pick<HealthPart, 'attempts' | 'accepted'>): number =>
  tenthsOf(accepted, attempts)

const writeTime = (time_ms: number): string =>
  time_ms < 1000
    ? `${Math.round(time_ms)} ms`
    : `${(time_ms / 1000).toFixed(1).replace('.', ',')} s`

function actionsOf(visit: Visit, webhook: Webhook): Html | null {
  if (!visit.can('webhooks:write')) return null
  const texts = WEBHOOKS[visit.language]
  const isActive = webhook.status === 'ACTIVE'
  const button = (action: string, label: string, kind = 'quiet') =>
    visit.formOf(
      urlOf(visit, webhook, action),
      html`<button class="button ${kind} slim">${label}</button>`,
    )
  const link = (action: string, label: string, kind = 'quiet') =>
    html`<a class="button ${kind} slim" href="${urlOf(visit, webhook, action)}">${label}</a>`
  return html`${isActive ? button('test', texts.test, '') : button('activate', texts.activate, '')}
${isActive && link('replay', texts.replay)}${link('edit', texts.edit)}${link('secret', texts.rotate)}
${isActive && button('deactivate', texts.deactivate)}${link('delete', texts.remove, 'quiet danger')}`
}

async function findWebhook(visit: Visit): Promise<Webhook> {
  const params = { id: visit.params.id! }
  return (await visit.operate<Webhook>('getWebhook', { params })).data
}

function showNew(visit: Visit, given: WebhookFields = EMPTY, fault: FormFault | null = null) {
  const { create: title } = WEBHOOKS[visit.language]
  const form = slimForm(visit, `${ALL}/new`, webhookFields(visit, given, fault), { label: title })
  return sendBelow(visit, 'webhooks', { title, fault, body: card(null, form) })
}

async function create(visit: Visit) {
  const given = readWebhook(visit)
  const { fault, done } = await tryForm(() =>
    visit.operate<Static<typeof WebhookWithSecret>>('createWebhook', {
      body: given,
      once: visit.form.once,
    }),
  )
  return fault ? showNew(visit, given, fault) : showSecret(visit, done, false)
}

/** The only page that ever shows the secret. If its form is sent again, it does not. */
function showSecret(
  visit: Visit,
  { data: webhook, isRepeated }: Operated<Static<typeof WebhookWithSecret>>,
  isRotated: boolean,
) {
  if (isRepeated) return visit.redirect(`${ALL}/${webhook.id}`, 'shown')
  const texts = WEBHOOKS[visit.language]
  const body = card(
    webhook.name,
    html`${notice(texts.secretOnce, 'warn')}${copyable(webhook.secret, texts.copySecret, visit)}
<p class="soft">${texts.secretText}</p>${isRotated && html`<p>${texts.rotatedText}</p>`}
<div class="actions"><a class="button slim" href="${urlOf(visit, webhook)}">${texts.toWebhook}</a></div>`,
  )
  return sendBelow(visit, 'webhooks', { title: texts.secretTitle, body })
}

function showEdit(
  visit: Visit,
  { id, name }: { id: Uuid; name: string },
  given: WebhookFields,
  fault: FormFault | null,
) {
  const { edit: title, save } = WEBHOOKS[visit.language]
  const path = `${ALL}/${id}`
  const fields = webhookFields(visit, given, fault)
  const form = slimForm(visit, `${path}/edit`, fields, { label: save })
  const page = { title, fault, body: card(null, form) }
  return sendBelow(visit, 'webhooks', page, { path, label: name })
}

async function edit(visit: Visit) {
  const webhook = await findWebhook(visit)
  return showEdit(visit, webhook, webhook, null)
}

async function save(visit: Visit) {
  const webhook = await findWebhook(visit)
  const { id } = webhook
  const given = readWebhook(visit)
  const { fault } = await tryForm(() =>
    visit.operate('changeWebhook', { params: { id }, body: given, once: visit.form.once }),
  )
  if (fault) return showEdit(visit, webhook, given, fault)
  return visit.redirect(`${ALL}/${id}`, 'changed')
}

async function setStatus(visit: Visit, status: 'ACTIVE' | 'INACTIVE', done: string) {
  const id = visit.params.id!
  await visit.operate('changeWebhook', {
    params: { id },
    body: { status },
    once: visit.form.once,
  })
  return visit.redirect(`${ALL}/${id}`, done)
}

const activate = (visit: Visit) => setStatus(visit, 'ACTIVE', 'activated')
const deactivate = (visit: Visit) => setStatus(visit, 'INACTIVE', 'deactivated')

async function test(visit: Visit) {
  const id = visit.params.id!
  const { fault } = await tryForm(() =>
    visit.operate('testWebhook', { params: { id }, once: visit.form.once }),
  )
  if (fault) return show(visit, fault.problem.status, fault)
  return visit.redirect(`${ALL}/${id}`, 'tested')
}

type Question = { title: string; text: string; action: 'secret' | 'delete'; label: string }

function ask(visit: Visit, { id, name }: Webhook, { title, text, action, label }: Question) {
  const path = `${ALL}/${id}`
  const form = slimForm(visit, `${path}/${action}`, html`<p>${text}</p>`, { label })
  const page = { title, body: card(null, form) }
  return sendBelow(visit, 'webhooks', page, { path, label: name })
}

async function askToRotate(visit: Visit) {
  const webhook = await findWebhook(visit)
  const { rotateTitle, rotateText: text, rotate: label } = WEBHOOKS[visit.language]
  return ask(visit, webhook, { title: rotateTitle(webhook.name), text, action: 'secret', label })
}

async function rotate(visit: Visit) {
  const done = await visit.operate<Static<typeof WebhookWithSecret>>('rotateWebhookSecret', {
    params: { id: visit.params.id! },
    once: visit.form.once,
  })
  return showSecret(visit, done, true)
}

async function askToDelete(visit: Visit) {
  const webhook = await findWebhook(visit)
  const { removeTitle, removeText: text, remove: label } = WEBHOOKS[visit.language]
  return ask(visit, webhook, { title: removeTitle(webhook.name), text, action: 'delete', label })
}

async function remove(visit: Visit) {
  const params = { id: visit.params.id! }
  await visit.operate('deleteWebhook', { params, once: visit.form.once })
  return visit.redirect(ALL, 'deleted')
}

const ONE = `${ALL}/:id`
const [READ, WRITE] = ['webhooks:read', 'webhooks:write'] as const

/** What a person types of a webhook. */
type WebhookFields = { name: string; url: string; events: EventType[] }

const EMPTY: WebhookFields = {
  name: '',
  url: '',
  events: ['charge.paid', 'charge.expired', 'charge.refunded'],
}

const readWebhook = ({ form }: Visit): WebhookFields => ({
  name: (form.name ?? '').trim(),
  url: (form.url ?? '').trim(),
  events: EVENT_TYPES.filter((type) => form[type] !== undefined),
})

/** Why an address is refused, by the words of the rule that it breaks. */
function urlFault({ items }: Problem, visit: Visit): string {
  const { urlWrong } = WEBHOOKS[visit.language]
  const rule = items.find(({ description }) => description.startsWith('url:'))?.description ?? ''
  if (/user or a password/.test(rule)) return urlWrong.credentials
  if (/private or reserved/.test(rule)) return urlWrong.private
  if (/public name/.test(rule)) return urlWrong.name
  return /must start with https:\/\/$/.test(rule) ? urlWrong.https : urlWrong.form
}

/** The fields of a new webhook, or of one that is changed. */
function webhookFields(visit: Visit, given: WebhookFields, fault: FormFault | null): Html {
  const { language } = visit
  const texts = WEBHOOKS[language]
  const isLocal = visit.app.config.local
  const wrong = (name: string, text: string) => (fault?.isWrong(name) ? text : null)
  const fields = fieldsOf([
    {
      name: 'name',
      label: texts.name,
      value: given.name,
      fault: wrong('name', texts.nameWrong),
      wrong: texts.nameWrong,
      hint: texts.nameHint,
      autocomplete: 'off',
    },
    {
      name: 'url',
      label: texts.url,
      value: given.url,
      fault: fault && wrong('url', urlFault(fault.problem, visit)),
      wrong: texts.urlWrong.form,
      hint: isLocal ? texts.urlHint.local : texts.urlHint.public,
      autocomplete: 'off',
      maxlength: 2048,
    },
  ])
  const boxes = EVENT_TYPES.map((type) => ({
    name: type,
    label: EVENT_WORDS[language][type],
    note: type,
    isChecked: given.events.includes(type),
  }))
  const events = boxesOf({
    name: 'events',
    title: texts.events,
    hint: texts.eventsHint,
    fault: wrong('events', texts.eventsWrong),
    boxes,
  })
  return html`${fields}${events}`
}

export const webhooksRoutes: DashboardRoute[] = [
  { method: 'GET', path: ALL, needs: READ, handle: list },
  { method: 'GET', path: `${ALL}/new`, needs: WRITE, confirmed: true, handle: (v) => showNew(v) },
  { method: 'POST', path: `${ALL}/new`, needs: WRITE, confirmed: true, handle: create },
  { method: 'GET', path: ONE, needs: READ, handle: (visit) => show(visit) },
  { method: 'GET', path: `${ONE}/edit`, needs: WRITE, handle: edit },
  { method: 'POST', path: `${ONE}/edit`, needs: WRITE, handle: save },
  { method: 'POST', path: `${ONE}/activate`, needs: WRITE, handle: activate },
  { method: 'POST', path: `${ONE}/deactivate`, needs: WRITE, handle: deactivate },
  { method: 'POST', path: `${ONE}/test`, needs: WRITE, handle: test },
  { method: 'GET', path: `${ONE}/secret`, needs: WRITE, confirmed: true, handle: askToRotate },
  { method: 'POST', path: `${ONE}/secret`, needs: WRITE, confirmed: true, handle: rotate },
  { method: 'GET', path: `${ONE}/delete`, needs: WRITE, handle: askToDelete },
  { method: 'POST', path: `${ONE}/delete`, needs: WRITE, handle: remove },
]
