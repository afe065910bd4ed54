import Type, { type Static } from 'typebox'
import { EVENT_TYPES } from '../events.ts'
import { HttpUrl, ShortText, Timestamp } from '../fields.ts'
import type { Webhook } from './rules.ts'

const Status = Type.Enum(['ACTIVE', 'INACTIVE'])
const Events = Type.Array(Type.Enum(EVENT_TYPES), { minItems: 1, uniqueItems: true })

export const NewWebhook = Type.Object({ url: HttpUrl, name: ShortText, events: Events })

export const WebhookChange = Type.Object({
  url: Type.Optional(HttpUrl),
  name: Type.Optional(ShortText),
  events: Type.Optional(Events),
  status: Type.Optional(Status),
})

export const WebhookView = Type.Object({
  id: Type.String({ format: 'uuid' }),
  url: Type.String(),
  name: Type.String(),
  companyId: Type.String({ format: 'uuid' }),
  status: Status,
  events: Type.Array(Type.Enum(EVENT_TYPES)),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const CreatedWebhook = Type.Object({
  ...WebhookView.properties,
  secret: Type.String({ description: 'Signs the deliveries. Shown once, here.' }),
})

export function showWebhook(webhook: Webhook): Static<typeof WebhookView> {
  const { id, url, name, companyId, status, events } = webhook
  return {
    ...{ id, url, name, companyId, status, events },
    createdAt: webhook.createdAt.toISOString(),
    updatedAt: webhook.updatedAt.toISOString(),
  }
}
