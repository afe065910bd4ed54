import type { Tx } from '../../db/database.ts'
import { isoOf } from '../../lib/clock.ts'
import type { PostResult } from '../../lib/http-sender.ts'
import { packPair, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { createMemo } from '../../lib/memo.ts'
import type { App } from '../app.ts'
import { nowOf, withCompanyClock } from '../companies/clock.ts'
import { deactivateWebhook } from '../webhooks/health.ts'
import { pauseUntil } from '../webhooks/health-rules.ts'
import { addFailures, type Failures, markWorking, pause } from '../webhooks/health-store.ts'
import { secretContext, type WebhookKey } from '../webhooks/rules.ts'
import { nextStateAfter } from './rules.ts'
import { headersOf, type Signer, signerOf } from './signing.ts'
import { type AttemptResult, type DueDelivery, type Receiver, record } from './store.ts'
import { deleteRows } from './upkeep-store.ts'

/** Signs a delivery and sends it. Rejects only if the signal aborts it. */
export async function send(
  app: App,
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

function signersOf(app: App, receiver: Receiver): Signer[] {
  const { companyId, webhookId, secretSealed, previousSecretSealed } = receiver
  const context = secretContext(companyId, webhookId)
  const sealed = previousSecretSealed ? [secretSealed, previousSecretSealed] : [secretSealed]
  return sealed.map((one) =>
    opened.of(webhookId + one.toString('latin1'), () => signerOf(app.vault.open(one, context))),
  )
}

function post(app: App, delivery: DueDelivery, signal: AbortSignal): Promise<PostResult> {
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
