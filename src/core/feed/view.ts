import Type, { type Static } from 'typebox'
import { idOfSuffix, suffixOf, toPublic } from '../../lib/ids.ts'
import { EVENT_TYPES, TEST_EVENT } from '../events.ts'
import { PAGE, Timestamp } from '../fields.ts'
import type { FeedEntry, FeedPosition, WrittenEvent } from './store.ts'

export const AnyType = Type.Enum([...EVENT_TYPES, TEST_EVENT])

/** The longest time that a request waits for events. */
const MAX_WAIT_S = 30

export const FeedQuery = Type.Object({
  limit: PAGE.limit,
  after: Type.Optional(
    Type.String({ maxLength: 255, description: 'The id of the last event that you have' }),
  ),
  type: Type.Optional(AnyType),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_S,
      description:
        'If there is nothing new, answer when there is, or with an empty list after so many seconds',
    }),
  ),
  include: Type.Optional(
    Type.Enum(['redeliveries'], {
      description:
        'Show events once more when they are redelivered or replayed while somebody waits for events of the company',
    }),
  ),
  order: Type.Optional(
    Type.Enum(['oldest', 'newest'], { default: 'oldest', description: 'Which come first' }),
  ),
})

export const EventView = Type.Object({
  id: Type.String({ description: 'The same as the webhook-id of its deliveries' }),
  type: AnyType,
  createdAt: Timestamp,
  devMode: Type.Boolean({
    description: 'Whether it is about play money: of a sandbox, or of a dev-mode charge',
  }),
  data: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'What receivers get as their body',
  }),
  redelivery: Type.Optional(
    Type.Object(
      {
        id: Type.String({ description: 'What to send as `after` to continue after this entry' }),
        webhookId: Type.String({ format: 'uuid' }),
        requestedAt: Timestamp,
      },
      { description: 'Only with include=redeliveries, for an event that is sent again' },
    ),
  ),
})

export const showEvent = (event: WrittenEvent): Static<typeof EventView> => ({
  id: toPublic('evt', event.id),
  type: event.type,
  createdAt: event.createdAt.toISOString(),
  devMode: event.mode !== 'live',
  data: JSON.parse(event.payload),
})

/** What continues after an entry: the id of its event, or a text with the position itself. */
export const cursorOf = ({ event, at, redelivery }: FeedEntry): string =>
  redelivery ? `rdl_${at.position}_${suffixOf(at.id)}` : toPublic('evt', event.id)

/** The position in the cursor of a redelivery, or null if it is something else. */
export function readRedeliveryCursor(text: string): FeedPosition | null {
  const [, position, suffix] = /^rdl_(\d{1,15})_(\w{26})$/.exec(text) ?? []
  const id = suffix ? idOfSuffix(suffix) : null
  return id ? { position: Number(position), id } : null
}

export function showEntry(entry: FeedEntry): Static<typeof EventView> {
  const shown = showEvent(entry.event)
  if (!entry.redelivery) return shown
  const { webhookId, askedAt } = entry.redelivery
  const requestedAt = askedAt.toISOString()
  return { ...shown, redelivery: { id: cursorOf(entry), webhookId, requestedAt } }
}
