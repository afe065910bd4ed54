import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import { EVENT_TYPES, TEST_EVENT } from '../events.ts'
import { PAGE, Timestamp } from '../fields.ts'
import type { WrittenEvent } from './store.ts'

export const AnyType = Type.Enum([...EVENT_TYPES, TEST_EVENT])

/** The longest time that a request waits for events. */
export const MAX_WAIT_S = 30

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
})

export const showEvent = (event: WrittenEvent): Static<typeof EventView> => ({
  id: toPublic('evt', event.id),
  type: event.type,
  createdAt: event.createdAt.toISOString(),
  devMode: event.mode !== 'live',
  data: JSON.parse(event.payload),
})
