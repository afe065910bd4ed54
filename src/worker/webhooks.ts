import type { App } from '../core/app.ts'
import { inTimeOf, nowOf } from '../core/companies/clock.ts'
import { giveUp, warn } from '../core/deliveries/health.ts'
import { findFailing } from '../core/deliveries/health-store.ts'
import { despair, type Failing, WARN_AFTER_MS } from '../core/deliveries/rules.ts'
import type { WebhookKey } from '../core/deliveries/store.ts'
import {
  drop,
  findStranded,
  forgetPreviousSecrets,
  purge,
  type Stranded,
  shelve,
} from '../core/deliveries/upkeep-store.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

/** Few enough that nobody waits for the locks of one statement. */
const MOST = 5_000
const DAY_MS = 24 * 3600 * 1000

/** Repeats what works off a part at a time, until a part is not full. */
async function workOff(part: () => Promise<number>, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) if ((await part()) < MOST) return
}

/** Warns companies of webhooks that only fail, and gives those up that go on failing. */
export async function watchWebhooks(
  app: App,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  const since = new Date(app.wall.now().getTime() - WARN_AFTER_MS)
  for (const webhook of await findFailing(app.db, since, only)) {
    if (signal?.aborted) return
    await dealWith(inTimeOf(app, webhook), webhook).catch((error) => {
      const about = { ...describeError(error), webhook: webhook.webhookId }
      app.log.error(about, 'a failing webhook was not dealt with')
    })
  }
}

async function dealWith(app: App, webhook: WebhookKey & Failing): Promise<void> {
  const next = despair(webhook, app.clock.now())
  if (next === 'warn') await warn(app, webhook)
  if (next === 'give up') await giveUp(app, { ...webhook, url: null }, 'FAILING')
}

/** Takes what no webhook will get out of the queue, which thereby stays short. */
export async function clearQueue(app: App, signal?: AbortSignal): Promise<void> {
  for (const webhook of await findStranded(app.db, 'deliveries')) {
    await workOff(() => setAside(app, webhook), signal)
  }
}

function setAside(app: App, webhook: Stranded): Promise<number> {
  if (webhook.isDeleted) return drop(app.db, 'deliveries', webhook, MOST)
  const at = nowOf(app, webhook).toISOString()
  const reason = { at, status: null, error: 'webhook inactive', latencyMs: 0, response: '' }
  return shelve(app.db, webhook, reason, MOST)
}

/** Deletes deliveries that ended long ago or went to webhooks that are deleted. */
export async function purgeDeliveries(app: App, signal?: AbortSignal): Promise<void> {
  const { db, wall, config } = app
  const now = wall.now()
  const before = new Date(now.getTime() - config.deliveryRetentionDays * DAY_MS)
  await workOff(() => purge(db, before, MOST), signal)
  for (const webhook of await findStranded(db, 'delivery_log')) {
    if (webhook.isDeleted) await workOff(() => drop(db, 'delivery_log', webhook, MOST), signal)
  }
  await forgetPreviousSecrets(db, now)
}
