import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { isoOf } from '../../lib/clock.ts'
import type { PostResult } from '../../lib/http-sender.ts'
import { packPair, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { createMemo } from '../../lib/memo.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { App, Uses } from '../app.ts'
import { nowOf, withCompanyClock } from '../companies/clock.ts'
import { emit, testEvent } from '../events.ts'
import { TASK } from '../tasks.ts'
import { deactivateWebhook } from '../webhooks/health.ts'
import { pauseUntil, secretContext, type WebhookKey } from '../webhooks/rules.ts'
import {
  addFailures,
  type Failures,
  find as findWebhook,
  liftPause,
  markWorking,
  pause,
} from '../webhooks/store.ts'
import { type DeliveryKey, find, insert, makeDueNow, requeue } from './log-store.ts'
import { type Delivery, nextStateAfter } from './rules.ts'
import { headersOf, type Signer, signerOf } from './signing.ts'
import { type AttemptResult, type DueDelivery, deleteRows, type Receiver, record } from './store.ts'
import type { Replay } from './view.ts'

/** Signs a delivery and sends it. Rejects only if the signal aborts it. */
export async function send(
  app: Uses<'log' | 'sender' | 'systemClock' | 'vault'>,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<PostResult> {
  try {
    return await post(app, delivery, signal)
  } catch (error) {
    if (signal.aborted) throw error
    // A fault of ours counts as a failed attempt, so that the next one waits.
    app.log.error(describeError(error), 'a delivery could not be sent')
    const fault = 'could not be sent'
    return { outcome: 'failed', status: null, error: fault, body: '', latency_ms: 0 }
  }
}

/** The signers by receiver. All deliveries of one read have the same receiver object. */
const signers = new WeakMap<Receiver, Signer[]>()
/** The signers used last, by webhook and sealed secret. */
const opened = createMemo<Signer>(4096)

function signersOf(app: Uses<'vault'>, receiver: Receiver): Signer[] {
  const { companyId, webhookId, secretSealed, previousSecretSealed } = receiver
  const context = secretContext(companyId, webhookId)
  const sealed = previousSecretSealed ? [secretSealed, previousSecretSealed] : [secretSealed]
  return sealed.map((one) =>
    opened.of(webhookId + one.toString('latin1'), () => signerOf(app.vault.open(one, context))),
  )
}

function post(
  app: Uses<'sender' | 'systemClock' | 'vault'>,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<PostResult> {
  const { receiver, eventId, type, mode, payload: body } = delivery
  let own = signers.get(receiver)
  if (!own) {
    own = signersOf(app, receiver)
    signers.set(receiver, own)
  }
  const deliveryId = packPair(receiver.webhookId, eventId)
  const [now, ownNow] = [app.systemClock.now(), nowOf(app, receiver)]
  const headers = headersOf({ eventId, deliveryId, type, mode, body, signers: own, now, ownNow })
  return app.sender.post(receiver.url, headers, body, signal)
}

/** An attempt as it is stored, and the next state of its delivery. */
export function resultOf(delivery: DueDelivery, posted: PostResult, now: Date): AttemptResult {
  const { status, error, body: response, latency_ms } = posted
  const latencyMs = Math.round(latency_ms)
  return {
    delivery,
    at: now,
    attempt: { at: isoOf(now), status, error, latencyMs, response },
    next: nextStateAfter(posted.outcome, delivery.tries, now),
  }
}

/**
 * Stores the results of attempts: first those of the deliveries, then the health of their webhooks.
 * Returns the webhooks to which nothing may be sent for now.
 */
export async function recordResults(
  app: App,
  worker: number,
  results: AttemptResult[],
): Promise<Set<Uuid>> {
  const { light } = app.db
  await record(light, worker, results)
  const byWebhook = Map.groupBy(results, ({ delivery }) => delivery.receiver.webhookId)
  const receivers = [...byWebhook.values()].map(healthOf)
  await markWorking(
    light,
    receivers.filter(({ recovered }) => recovered),
  )
  const failed = receivers.filter(({ failures, gone }) => failures > 0 && !gone)
  const paused = pausedOf(await addFailures(light, failed))
  await pause(light, paused)
  const gone = receivers.flatMap(({ gone }) => (gone ? [gone] : []))
  for (const receiver of gone) {
    await deactivateWebhook(withCompanyClock(app, receiver), receiver, 'GONE')
  }
  return new Set([...paused, ...gone].map(({ webhookId }) => webhookId))
}

/** The health of a webhook after these results, of which the last counts. */
function healthOf(results: AttemptResult[]) {
  const { companyId, webhookId } = results[0]!.delivery.receiver
  const failed = results.filter(({ next }) => next.outcome !== 'DELIVERED')
  const works = results.at(-1)!.next.outcome === 'DELIVERED'
  return {
    companyId,
    webhookId,
    failures: works ? 0 : failed.length,
    at: results.at(-1)!.at,
    recovered:
      works && (failed.length > 0 || results.some(({ delivery }) => delivery.receiver.failing)),
    gone: results.find(({ attempt }) => attempt.status === 410)?.delivery.receiver ?? null,
  }
}

const pausedOf = (failed: Failures[]) =>
  failed.flatMap((one) => {
    const until = pauseUntil(one.failures, one.at)
    return until ? [{ ...one, until }] : []
  })

/**
 * If there are more rows, leave the rest to the worker, because a request must not wait so long.
 */
const MAX_DELETED = 50_000

/** Deletes the deliveries of a webhook that is deleted. */
export async function deleteDeliveries(tx: Tx, webhook: WebhookKey): Promise<void> {
  await deleteRows(tx, 'deliveries', webhook, MAX_DELETED)
  await deleteRows(tx, 'delivery_log', webhook, MAX_DELETED)
}

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
export async function redeliver(tx: Tx, app: Uses<'clock'>, key: DeliveryKey): Promise<Delivery> {
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
  app: Uses<'clock'>,
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
export async function sendTest(tx: Tx, app: Uses<'clock'>, key: WebhookKey): Promise<Delivery> {
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
