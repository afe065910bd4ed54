import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import { emit, testEvent } from '../events.ts'
import { TASK } from '../tasks.ts'
import { find as findWebhook } from '../webhooks/store.ts'
import { liftPause } from './health-store.ts'
import { type DeliveryKey, find, insert, makeDueNow, requeue } from './log-store.ts'
import type { Delivery } from './rules.ts'
import type { WebhookKey } from './store.ts'
import type { Replay } from './view.ts'

/**
 * Makes a webhook ready for what its company orders now: it may have been mended, so it is not left
 * alone any longer for having failed.
 */
async function makeReady(tx: Tx, key: WebhookKey): Promise<void> {
  const webhook = await findWebhook(tx, key.companyId, key.webhookId)
  if (!webhook) throw problem('webhook_not_found')
  if (webhook.status !== 'ACTIVE') {
    throw invalid('status: the webhook is INACTIVE; make it ACTIVE first, by PUT /webhook/{id}')
  }
  await liftPause(tx, key)
  tx.wake(TASK.deliver)
}

export const noDelivery = () =>
  problem('webhook_not_found', 'The company has no delivery with this id.')

async function requireDelivery(tx: Tx, key: DeliveryKey): Promise<Delivery> {
  const delivery = await find(tx, key)
  if (!delivery) throw noDelivery()
  return delivery
}

/** Sends a delivery now, whether it has ended or waits for its next try. */
export async function redeliver(tx: Tx, app: App, key: DeliveryKey): Promise<Delivery> {
  const now = app.clock.now()
  await requireDelivery(tx, key)
  await makeReady(tx, key)
  const only = { eventId: key.eventId, status: null, from: null, to: null }
  const revived = await requeue(tx, key, only, now)
  if (revived === 0) await makeDueNow(tx, key, only, now)
  return requireDelivery(tx, key)
}

/**
 * Sends deliveries again, of the events that were written in a span of time. What waits for its
 * next try has not arrived either, and goes out with those that failed.
 */
export async function replay(
  tx: Tx,
  app: App,
  key: WebhookKey,
  { from, to, status = 'FAILED' }: Static<typeof Replay>,
): Promise<number> {
  const now = app.clock.now()
  await makeReady(tx, key)
  const selection = {
    eventId: null,
    status: status === 'ALL' ? null : status,
    from: from === undefined ? null : new Date(from),
    to: to === undefined ? null : new Date(to),
  }
  const waiting = status === 'DELIVERED' ? 0 : await makeDueNow(tx, key, selection, now)
  return waiting + (await requeue(tx, key, selection, now))
}

/** Sends an event that tells of nothing, to see whether it arrives. */
export async function sendTest(tx: Tx, app: App, key: WebhookKey): Promise<Delivery> {
  const now = app.clock.now()
  await makeReady(tx, key)
  const event = testEvent(key.companyId, key.webhookId, now)
  await emit(tx, [event])
  const delivery = { ...key, eventId: event.id }
  await insert(tx, delivery, now)
  return requireDelivery(tx, delivery)
}
