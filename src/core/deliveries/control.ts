import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import { emit, testEvent } from '../events.ts'
import { TASK } from '../tasks.ts'
import { liftPause } from '../webhooks/health-store.ts'
import type { WebhookKey } from '../webhooks/rules.ts'
import { find as findWebhook } from '../webhooks/store.ts'
import { type DeliveryKey, find, insert, makeDueNow, requeue } from './log-store.ts'
import type { Delivery } from './rules.ts'
import type { Replay } from './view.ts'

/**
 * Prepares a webhook for deliveries that its company asks for. If it is paused after failures, the
 * pause ends, because the company may have repaired it.
 */
async function prepareWebhook(tx: Tx, key: WebhookKey): Promise<void> {
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

/** Makes a delivery due now, whether it has ended or waits for its next try. */
export async function redeliver(tx: Tx, app: App, key: DeliveryKey): Promise<Delivery> {
  const now = app.clock.now()
  await requireDelivery(tx, key)
  await prepareWebhook(tx, key)
  const only = { eventId: key.eventId, status: null, from: null, to: null }
  const requeued = await requeue(tx, key, only, now)
  if (requeued === 0) await makeDueNow(tx, key, only, now)
  return requireDelivery(tx, key)
}

/**
 * Sends the deliveries of a period again. A delivery that waits for its next try has not arrived
 * either, so it is sent now, together with those that failed.
 */
export async function replay(
  tx: Tx,
  app: App,
  key: WebhookKey,
  { from, to, status = 'FAILED' }: Static<typeof Replay>,
): Promise<number> {
  const now = app.clock.now()
  await prepareWebhook(tx, key)
  const selection = {
    eventId: null,
    status: status === 'ALL' ? null : status,
    from: from === undefined ? null : new Date(from),
    to: to === undefined ? null : new Date(to),
  }
  const waiting = status === 'DELIVERED' ? 0 : await makeDueNow(tx, key, selection, now)
  return waiting + (await requeue(tx, key, selection, now))
}

/** Sends a test event. */
export async function sendTest(tx: Tx, app: App, key: WebhookKey): Promise<Delivery> {
  const now = app.clock.now()
  await prepareWebhook(tx, key)
  const event = testEvent(key.companyId, key.webhookId, now)
  await emit(tx, [event])
  const delivery = { ...key, eventId: event.id }
  await insert(tx, delivery, now)
  // The answer has the type of the event.
  await tx.flush()
  return requireDelivery(tx, delivery)
}
