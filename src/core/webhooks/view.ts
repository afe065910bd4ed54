import Type, { type Static } from 'typebox'
import { EVENT_TYPES } from '../events.ts'
import { HttpUrl, ShortText, Timestamp } from '../fields.ts'
import type { Webhook } from './rules.ts'

const Status = Type.Enum(['ACTIVE', 'INACTIVE'])
const Events = Type.Array(Type.Enum(EVENT_TYPES), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  uniqueItems: true,
})

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
  deactivated: Type.Optional(
    Type.Enum(['GONE', 'FAILING'], {
      description:
        'Why we made it INACTIVE: it answered 410, or it failed for five days. Make it ACTIVE again once it works.',
    }),
  ),
  failingSince: Type.Optional(
    Type.String({ format: 'date-time', description: 'Since when it has taken nothing' }),
  ),
  pausedUntil: Type.Optional(
    Type.String({ format: 'date-time', description: 'It failed so often that it is left alone' }),
  ),
})

export const WebhookWithSecret = Type.Object({
  ...WebhookView.properties,
  secret: Type.String({ description: 'Signs the deliveries. Shown once, here.' }),
})

export function showWebhook(webhook: Webhook, now: Date): Static<typeof WebhookView> {
  const { id, url, name, companyId, status, events } = webhook
  const { deactivated, failingSince, pausedUntil } = webhook
  const shown: Static<typeof WebhookView> = {
    id,
    url,
    name,
    companyId,
    status,
    events,
    createdAt: webhook.createdAt.toISOString(),
    updatedAt: webhook.updatedAt.toISOString(),
  }
  if (deactivated !== null) shown.deactivated = deactivated
  if (failingSince !== null) shown.failingSince = failingSince.toISOString()
  if (pausedUntil !== null && pausedUntil > now) shown.pausedUntil = pausedUntil.toISOString()
  return shown
}
