import { nowOf } from '../core/companies/clock.ts'
import {
  deleteRows,
  findOld,
  findUndeliverable,
  moveToLog,
  purge,
  type UndeliverableWebhook,
} from '../core/deliveries/store.ts'
import type { DueOfCompany } from '../core/due.ts'
import type { FullApp } from '../core/full-app.ts'
import { TASK } from '../core/tasks.ts'
import { deactivateWebhook, warnCompany } from '../core/webhooks/health.ts'
import { failureAction } from '../core/webhooks/rules.ts'
import { type FailingWebhook, listFailing } from '../core/webhooks/store.ts'
import { guarded, workOff } from './loop.ts'

/** Rows of one statement. With more, others would wait too long for its locks. */
const MAX_ROWS = 5_000

/** Handles the failing webhooks of a company, in whose time the app is. Returns how many. */
export async function handleFailing(
  app: FullApp,
  { companyId, ids }: DueOfCompany,
): Promise<number> {
  const due = new Set(ids)
  const failing = (await listFailing(app.db, companyId)).filter(({ webhookId }) =>
    due.has(webhookId),
  )
  const errors: unknown[] = []
  for (const webhook of failing) {
    await handle(app, webhook).catch((error) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
  return ids.length
}

async function handle(app: FullApp, webhook: FailingWebhook): Promise<void> {
  const action = failureAction(webhook, app.clock.now())
  if (action === 'warn') await warnCompany(app, webhook)
  if (action === 'deactivate') await deactivateWebhook(app, { ...webhook, url: null }, 'FAILING')
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
      const done = await guarded(app, { task, only: null, failed }, companyId, act, null)
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

/** Deletes the ended deliveries of deleted webhooks. */
export async function purgeOfDeleted(app: FullApp, signal?: AbortSignal): Promise<void> {
  const { db } = app
  const deleted = (await findUndeliverable(db, 'delivery_log')).filter(({ isDeleted }) => isDeleted)
  const part = (webhook: UndeliverableWebhook) => deleteRows(db, 'delivery_log', webhook, MAX_ROWS)
  await inParts(app, TASK.retention, deleted, part, signal)
}

/** Deletes deliveries that ended before a moment. */
export function purgeOld(app: FullApp, before: Date, signal?: AbortSignal): Promise<void> {
  return workOff<string[]>(app, {
    task: TASK.retention,
    only: null,
    signal,
    atOnce: 1,
    failed: 'old deliveries were not deleted',
    async find(except) {
      const old = await findOld(app.db, before, MAX_ROWS, except)
      const rows = old.reduce((sum, { ctids }) => sum + ctids.length, 0)
      const due = new Map(old.map(({ companyId, ctids }) => [companyId, ctids]))
      return { due, isFull: rows === MAX_ROWS }
    },
    act: (companyId, ctids) => purge(app.db, companyId, ctids, before),
  })
}
