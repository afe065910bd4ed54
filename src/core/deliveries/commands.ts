import { isoOf } from '../../lib/clock.ts'
import type { PostResult } from '../../lib/http-sender.ts'
import { packPair, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { createMemo } from '../../lib/memo.ts'
import type { App } from '../app.ts'
import { nowOf, withCompanyClock } from '../companies/clock.ts'
import { secretContext } from '../webhooks/rules.ts'
import { giveUp } from './health.ts'
import { addFailures, type Failures, markWorking, pause } from './health-store.ts'
import { judge, pauseUntil } from './rules.ts'
import { headersOf, type Signer, signerOf } from './signing.ts'
import { type DueDelivery, type Receiver, type Result, record } from './store.ts'

/** Signs a delivery and sends it. Rejects only when the signal aborts it. */
export async function send(
  app: App,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<PostResult> {
  try {
    return await post(app, delivery, signal)
  } catch (error) {
    if (signal.aborted) throw error
    // A fault of ours is an attempt like any other, so that it is not repeated without a pause.
    app.log.error(describeError(error), 'a delivery could not be sent')
    const fault = 'could not be sent'
    return { outcome: 'failed', status: null, error: fault, body: '', latency_ms: 0 }
  }
}

/** The signers of receivers that are at hand: all that is read of a line at once shares them. */
const signers = new WeakMap<Receiver, Signer[]>()
/** The secrets that were used of late, by their webhook and envelope. */
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

/** An attempt as it is kept, and what follows from it. */
export function resultOf(delivery: DueDelivery, exchange: PostResult, now: Date): Result {
  const { status, error, body: response, latency_ms } = exchange
  const latencyMs = Math.round(latency_ms)
  return {
    delivery,
    at: now,
    attempt: { at: isoOf(now), status, error, latencyMs, response },
    verdict: judge(exchange.outcome, delivery.tries, now),
  }
}

/**
 * Writes down what receivers did: first of the deliveries, then of the receivers themselves. Tells
 * the webhooks that nothing more is to be sent to for now.
 */
export async function recordResults(
  app: App,
  worker: number,
  results: Result[],
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
  for (const receiver of gone) await giveUp(withCompanyClock(app, receiver), receiver, 'GONE')
  return new Set([...paused, ...gone].map(({ webhookId }) => webhookId))
}

/** What the results of one webhook say of its receiver: its last word counts. */
function healthOf(results: Result[]) {
  const { companyId, webhookId } = results[0]!.delivery.receiver
  const failed = results.filter(({ verdict }) => verdict.outcome !== 'DELIVERED')
  const works = results.at(-1)!.verdict.outcome === 'DELIVERED'
  return {
    ...{ companyId, webhookId, failures: works ? 0 : failed.length },
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
