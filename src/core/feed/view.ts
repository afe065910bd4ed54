import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import { EVENT_TYPES, type Event, TEST_EVENT } from '../events.ts'
import { PAGE, Timestamp } from '../fields.ts'

export const AnyType = Type.Enum([...EVENT_TYPES, TEST_EVENT])

export const FeedQuery = Type.Object({
  limit: PAGE.limit,
  after: Type.Optional(
    Type.String({ maxLength: 255, description: 'The id of the last event that you have' }),
  ),
  type: Type.Optional(AnyType),
})

export const EventView = Type.Object({
  id: Type.String({ description: 'The same as the webhook-id of its deliveries' }),
  type: AnyType,
  createdAt: Timestamp,
  data: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'What receivers get as their body',
  }),
})

export const showEvent = ({ id, type, createdAt, payload }: Event): Static<typeof EventView> => ({
  ...{ id: toPublic('evt', id), type, createdAt: createdAt.toISOString() },
  data: JSON.parse(payload),
})
