import type { App } from '../core/app.ts'
import { nowOf, withCompanyClock } from '../core/companies/clock.ts'
import { giveUp, warn } from '../core/deliveries/health.ts'
import { findFailing } from '../core/deliveries/health-store.ts'
import { type Failing, failureAction, WARN_AFTER_MS } from '../core/deliveries/rules.ts'
import type { WebhookKey } from '../core/deliveries/store.ts'
import {
  drop,
  findOld,
  findStranded,
  forgetPreviousSecrets,
  purge,
  type Stranded,
  shelve,
} from '../core/deliveries/upkeep-store.ts'
import { TASK } from '../core/tasks.ts'
import type { Uuid } from '../lib/ids.ts'
import { guarded, inRounds } from './rounds.ts'

/** Few enough that nobody waits for the locks of one statement. */
const MOST = 5_000
const DAY_MS = 24 * 3600 * 1000

/** Warns companies of webhooks that only fail, and gives those up that go on failing. */
export async function watchWebhooks(
  app: App,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  const task = TASK.webhooks
  const since = new Date(app.systemClock.now().getTime() - WARN_AFTER_MS)
  const aside = new Set(only === null ? app.setbacks.companiesOf(task) : [])
  for (const webhook of await findFailing(app.db, since, only)) {
    if (signal?.aborted) return
    if (aside.has(webhook.companyId)) continue
    const act = () => dealWith(withCompanyClock(app, webhook), webhook)
    const failed = 'a failing webhook was not dealt with'
    await guarded(app, { task, only }, webhook.companyId, act, undefined, failed)
  }
}

async function dealWith(app: App, webhook: WebhookKey & Failing): Promise<void> {
  const next = failureAction(webhook, app.clock.now())
  if (next === 'warn') await warn(app, webhook)
  if (next === 'give up') await giveUp(app, { ...webhook, url: null }, 'FAILING')
}

/**
 * Works off what webhooks have in a table. Each company gets one part before any gets a second;
 * those that are set aside get none.
 */
async function inTurns(
  app: App,
  task: string,
  webhooks: Stranded[],
  part: (webhook: Stranded) => Promise<number>,
  signal?: AbortSignal,
): Promise<void> {
  const left = Map.groupBy(webhooks, ({ companyId }) => companyId)
  for (const companyId of app.setbacks.companiesOf(task)) left.delete(companyId)
  while (left.size > 0 && !signal?.aborted) {
    for (const [companyId, [webhook, ...others]] of left) {
      const act = () => part(webhook!)
      const failed = 'what no webhook will get was not cleared'
      const done = await guarded(app, { task, only: null }, companyId, act, null, failed)
      const rest = done === MOST ? [...others, webhook!] : others
      if (done === null || rest.length === 0) left.delete(companyId)
      else left.set(companyId, rest)
    }
  }
}

/** Takes what no webhook will get out of the queue, which thereby stays short. */
export async function clearQueue(app: App, signal?: AbortSignal): Promise<void> {
  const stranded = await findStranded(app.db, 'deliveries')
  await inTurns(app, TASK.queue, stranded, (webhook) => setAside(app, webhook), signal)
}

function setAside(app: App, webhook: Stranded): Promise<number> {
  if (webhook.isDeleted) return drop(app.db, 'deliveries', webhook, MOST)
  const at = nowOf(app, webhook).toISOString()
  const reason = { at, status: null, error: 'webhook inactive', latencyMs: 0, response: '' }
  return shelve(app.db, webhook, reason, MOST)
}

/** Deletes deliveries that ended long ago or went to webhooks that are deleted. */
export async function purgeDeliveries(app: App, signal?: AbortSignal): Promise<void> {
  const { db, systemClock, config } = app
  const now = systemClock.now()
  await purgeOld(app, new Date(now.getTime() - config.deliveryRetentionDays * DAY_MS), signal)
  const deleted = (await findStranded(db, 'delivery_log')).filter(({ isDeleted }) => isDeleted)
  const part = (webhook: Stranded) => drop(db, 'delivery_log', webhook, MOST)
  await inTurns(app, TASK.purge, deleted, part, signal)
  await forgetPreviousSecrets(db, now)
}

function purgeOld(app: App, before: Date, signal?: AbortSignal): Promise<void> {
  const rounds = { task: TASK.purge, only: null, signal }
  return inRounds(app, {
    ...rounds,
    async work(but) {
      const old = await findOld(app.db, before, MOST, but)
      let done = 0
      for (const { companyId, places } of old) {
        const act = () => purge(app.db, companyId, places, before)
        const failed = 'old deliveries were not deleted'
        done += await guarded(app, rounds, companyId, act, 0, failed)
      }
      const found = old.reduce((sum, { places }) => sum + places.length, 0)
      return { companies: old.map(({ companyId }) => companyId), done, isFull: found === MOST }
    },
  })
}
