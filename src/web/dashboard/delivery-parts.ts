import type { Filter } from '../../core/deliveries/browse-store.ts'
import type { Attempt, Delivery, DeliveryState } from '../../core/deliveries/rules.ts'
import { deliveryIdOf } from '../../core/deliveries/view.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Html, html, type Shown } from '../html.ts'
import { DELIVERIES } from './deliveries-texts.ts'
import { EVENT_WORDS } from './event-texts.ts'
import { moment, pill, type Tone, table } from './parts.ts'
import type { Visit } from './visit.ts'

const TONES: Record<DeliveryState, Tone> = { PENDING: 'warn', DELIVERED: 'good', FAILED: 'bad' }

export const stateOf = ({ language }: Visit, status: DeliveryState): Html =>
  pill(DELIVERIES[language].states[status], TONES[status])

/** All deliveries of a company. */
export const ALWAYS: Omit<Filter, 'limit'> = {
  after: null,
  webhookId: null,
  status: null,
  type: null,
  period: { from: null, to: null, firstId: null, beforeId: null },
}

/** What the receiver has answered to an attempt. */
export function answerOf({ language }: Visit, attempt: Attempt | undefined): Shown {
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
    html`<a href="${visit.url(`/developers/deliveries/${deliveryIdOf(delivery)}`)}">${EVENT_WORDS[language][delivery.type]}</a><br><code class="soft">${delivery.type}</code>`
  return table(
    texts.list,
    [
      { title: texts.event, kind: 'main', of: link },
      {
        title: texts.webhook,
        of: ({ webhookId }) =>
          html`<a href="${visit.url(`/developers/webhooks/${webhookId}`)}">${names.get(webhookId) ?? webhookId}</a>`,
      },
      { title: texts.state, of: ({ status }) => stateOf(visit, status) },
      { title: texts.answer, of: ({ attempts }) => answerOf(visit, attempts.at(-1)) },
      { title: texts.attempts, kind: 'number', of: ({ attempts }) => attempts.length },
      { title: texts.at, of: ({ createdAt }) => moment(createdAt) },
    ],
    deliveries,
  )
}
