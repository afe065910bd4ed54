import type { Exchange } from '../../lib/exchange.ts'
import { packPair } from '../../lib/ids.ts'
import type { App } from '../app.ts'
import { secretContext } from '../webhooks/rules.ts'
import { deactivate, markFailing, markWorking, pause } from './health-store.ts'
import { judge, pauseUntil } from './rules.ts'
import { headersOf } from './signing.ts'
import { type Claimed, type Result, record, type WebhookKey } from './store.ts'

/** Signs a claimed delivery and sends it. Rejects only when the signal aborts it. */
export function send(app: App, delivery: Claimed, signal: AbortSignal): Promise<Exchange> {
  const { companyId, webhookId, eventId, type, payload: body, url } = delivery
  const sealed = [delivery.secretSealed, delivery.previousSecretSealed]
  const context = secretContext(companyId, webhookId)
  const secrets = sealed.flatMap((one) => (one ? [app.vault.open(one, context)] : []))
  const deliveryId = packPair(webhookId, eventId)
  const headers = headersOf({ eventId, deliveryId, type, body, secrets, now: app.clock.now() })
  return app.sender.post(url, headers, body, signal)
}

/** An attempt as it is kept, and what follows from it. */
export function resultOf(delivery: Claimed, exchange: Exchange, now: Date): Result {
  const { status, error, body: response, latency_ms } = exchange
  const latencyMs = Math.round(latency_ms)
  return {
    delivery,
    attempt: { at: now.toISOString(), status, error, latencyMs, response },
    verdict: judge(exchange.outcome, delivery.tries, now),
  }
}

/** What receivers did, written down: first of the deliveries, then of the receivers themselves. */
export async function recordResults(app: App, worker: number, results: Result[]): Promise<void> {
  const now = app.clock.now()
  await record(app.db.hot, worker, results, now)
  for (const [, ofOne] of Map.groupBy(results, ({ delivery }) => delivery.webhookId)) {
    await recordHealth(app, ofOne, now)
  }
}

async function recordHealth(app: App, results: Result[], now: Date): Promise<void> {
  const webhook: WebhookKey = results[0]!.delivery
  const last = results.at(-1)!
  const wasFailing = results.some(({ delivery }) => delivery.failing)
  if (results.some(({ attempt }) => attempt.status === 410)) {
    if (await deactivate(app.db, webhook, 'GONE', now)) {
      app.log.warn({ webhook: webhook.webhookId }, 'a receiver is gone: its webhook is inactive')
    }
  } else if (last.verdict.outcome === 'DELIVERED') {
    if (wasFailing || results.some(({ verdict }) => verdict.outcome !== 'DELIVERED')) {
      await markWorking(app.db, webhook)
    }
  } else {
    const until = pauseUntil(await markFailing(app.db, webhook, now), now)
    if (until) await pause(app.db, webhook, until)
  }
}
