import { nowOf, withCompanyClock } from '../core/companies/clock.ts'
import {
  deleteRows,
  findOld,
  findUndeliverable,
  moveToLog,
  purge,
  type UndeliverableWebhook,
} from '../core/deliveries/upkeep-store.ts'
import { deleteOldFollows } from '../core/feed/follow-store.ts'
import type { FullApp } from '../core/full-app.ts'
import { TASK } from '../core/tasks.ts'
import { deactivateWebhook, warnCompany } from '../core/webhooks/health.ts'
import { failureAction, WARN_AFTER_MS } from '../core/webhooks/health-rules.ts'
import { type FailingWebhook, findFailing } from '../core/webhooks/health-store.ts'
import { deletePreviousSecrets } from '../core/webhooks/store.ts'
import type { Uuid } from '../lib/ids.ts'
import { guarded, inRounds } from './rounds.ts'

/** Rows of one statement. With more, others would wait too long for its locks. */
const MAX_ROWS = 5_000
const DAY_MS = 24 * 3600 * 1000

/** Warns companies of webhooks that only fail, and deactivates those that continue to fail. */
export async function watchWebhooks(
  app: FullApp,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  const task = TASK.webhooks
  const since = new Date(app.systemClock.now().getTime() - WARN_AFTER_MS)
  const aside = new Set(only === null ? app.setbacks.companiesOf(task) : [])
  for (const webhook of await findFailing(app.db, since, only)) {
    if (signal?.aborted) return
    if (aside.has(webhook.companyId)) continue
    const act = () => handleFailing(withCompanyClock(app, webhook), webhook)
    const failed = 'a failing webhook was not handled'
    await guarded(app, { task, only }, webhook.companyId, act, undefined, failed)
  }
}

async function handleFailing(app: FullApp, webhook: FailingWebhook): Promise<void> {
  const next = failureAction(webhook, app.clock.now())
  if (next === 'warn') await warnCompany(app, webhook)
  if (next === 'deactivate') await deactivateWebhook(app, { ...webhook, url: null }, 'FAILING')
}

/**
 * Handles the rows of webhooks in parts. Each company gets one part before any gets a second. The
 * companies that are set aside get none.
 */
async function inParts(
  app: FullApp,
  task: string,
  webhooks: UndeliverableWebhook[],
  part: (webhook: UndeliverableWebhook) => Promise<number>,
  signal?: AbortSignal,
): Promise<void> {
  const left = Map.groupBy(webhooks, ({ companyId }) => companyId)
  for (const companyId of app.setbacks.companiesOf(task)) left.delete(companyId)
  while (left.size > 0 && !signal?.aborted) {
    for (const [companyId, [webhook, ...others]] of left) {
      const act = () => part(webhook!)
      const failed = 'deliveries of an inactive or deleted webhook were not removed'
      const done = await guarded(app, { task, only: null }, companyId, act, null, failed)
      const rest = done === MAX_ROWS ? [...others, webhook!] : others
      if (done === null || rest.length === 0) left.delete(companyId)
      else left.set(companyId, rest)
    }
  }
}

/** Removes deliveries to inactive and deleted webhooks from the queue, so that it stays short. */
export async function clearQueue(app: FullApp, signal?: AbortSignal): Promise<void> {
  const webhooks = await findUndeliverable(app.db, 'deliveries')
  await inParts(app, TASK.queue, webhooks, (webhook) => clear(app, webhook), signal)
}

function clear(app: FullApp, webhook: UndeliverableWebhook): Promise<number> {
  if (webhook.isDeleted) return deleteRows(app.db, 'deliveries', webhook, MAX_ROWS)
  const at = nowOf(app, webhook).toISOString()
  const reason = { at, status: null, error: 'webhook inactive', latencyMs: 0, response: '' }
  return moveToLog(app.db, webhook, reason, MAX_ROWS)
}

/** Deletes old deliveries, those of deleted webhooks, and what followers of feeds have left. */
export async function purgeDeliveries(app: FullApp, signal?: AbortSignal): Promise<void> {
  const { db, systemClock, config } = app
  const now = systemClock.now()
  await purgeOld(app, new Date(now.getTime() - config.deliveryRetentionDays * DAY_MS), signal)
  const deleted = (await findUndeliverable(db, 'delivery_log')).filter(({ isDeleted }) => isDeleted)
  const part = (webhook: UndeliverableWebhook) => deleteRows(db, 'delivery_log', webhook, MAX_ROWS)
  await inParts(app, TASK.purge, deleted, part, signal)
  await deletePreviousSecrets(db, now, app.setbacks.moving())
  while (!signal?.aborted && (await deleteOldFollows(db, MAX_ROWS)) === MAX_ROWS);
}

function purgeOld(app: FullApp, before: Date, signal?: AbortSignal): Promise<void> {
  const rounds = { task: TASK.purge, only: null, signal }
  return inRounds(app, {
    ...rounds,
    async work(except) {
      const old = await findOld(app.db, before, MAX_ROWS, except)
      let done = 0
      for (const { companyId, ctids } of old) {
        const act = () => purge(app.db, companyId, ctids, before)
        const failed = 'old deliveries were not deleted'
        done += await guarded(app, rounds, companyId, act, 0, failed)
      }
      const found = old.reduce((sum, { ctids }) => sum + ctids.length, 0)
      return { companies: old.map(({ companyId }) => companyId), done, isFull: found === MAX_ROWS }
    },
  })
}
