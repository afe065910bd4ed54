import Type, { type Static } from 'typebox'
import { packPair, toPublic, type Uuid, unpackPair } from '../../lib/ids.ts'
import { AnyType } from '../feed/view.ts'
import { PAGE, Timestamp } from '../fields.ts'
import { type Attempt, DELIVERY_STATES, type Delivery } from './rules.ts'

const State = Type.Enum([...DELIVERY_STATES])

export const DeliveryQuery = Type.Object({ ...PAGE, status: Type.Optional(State) })

export const Replay = Type.Object({
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
  status: Type.Optional(Type.Enum(['FAILED', 'DELIVERED', 'ALL'], { default: 'FAILED' })),
})

export const Replayed = Type.Object({
  replayed: Type.Integer({ description: 'How many deliveries are due again' }),
})

const AttemptView = Type.Object({
  at: Timestamp,
  status: Type.Optional(Type.Integer({ description: 'The status of the answer, if one came' })),
  error: Type.Optional(Type.String({ description: 'What went wrong, if there is no status' })),
  latencyMs: Type.Integer(),
  response: Type.String({ description: 'The first KiB of the answer' }),
})

export const DeliveryView = Type.Object({
  id: Type.String({ description: 'What receivers get as X-Webhook-Delivery' }),
  webhookId: Type.String({ format: 'uuid' }),
  eventId: Type.String(),
  event: AnyType,
  status: State,
  attempts: Type.Array(AttemptView, { description: 'The oldest first' }),
  createdAt: Timestamp,
  nextAttemptAt: Type.Optional(Timestamp),
  finishedAt: Type.Optional(Timestamp),
})

/** A delivery has no name but those of its webhook and its event. */
export const deliveryIdOf = ({ webhookId, eventId }: Pick<Delivery, 'webhookId' | 'eventId'>) =>
  packPair(webhookId, eventId)

export function readDeliveryId(text: string): { webhookId: Uuid; eventId: Uuid } | null {
  const pair = unpackPair(text)
  return pair && { webhookId: pair.companyId, eventId: pair.id }
}

const showAttempt = ({ at, status, error, latencyMs, response }: Attempt) => ({
  at,
  ...(status === null ? {} : { status }),
  ...(error === null ? {} : { error }),
  latencyMs,
  response,
})

export function showDelivery(delivery: Delivery): Static<typeof DeliveryView> {
  const { webhookId, eventId, type: event, status, nextAttemptAt, finishedAt } = delivery
  const shown: Static<typeof DeliveryView> = {
    id: deliveryIdOf(delivery),
    webhookId,
    eventId: toPublic('evt', eventId),
    event,
    status,
    attempts: delivery.attempts.map(showAttempt),
    createdAt: delivery.createdAt.toISOString(),
  }
  if (nextAttemptAt !== null) shown.nextAttemptAt = nextAttemptAt.toISOString()
  if (finishedAt !== null) shown.finishedAt = finishedAt.toISOString()
  return shown
}
