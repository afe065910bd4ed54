import { setTimeout as pause } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { isPublic } from '../../lib/addresses.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { change, makeSecret, OVERLAP_MS, secretContext, type Webhook } from './rules.ts'
import * as store from './store.ts'
import type { NewWebhook, WebhookChange } from './view.ts'

/** Whoever registers a webhook does not wait longer for somebody's name servers. */
const PATIENCE_MS = 2_000

/**
 * Refuses a name that leads to a private address already now. A name that nobody knows yet is
 * taken: every connection is checked anyway, and this only reports it earlier.
 */
export async function requirePublicTarget(
  { config, lookup }: Uses<'config' | 'lookup'>,
  url: string,
): Promise<void> {
  if (config.local) return
  const found = await Promise.race([
    lookup(new URL(url).hostname).catch(() => []),
    pause(PATIENCE_MS, [], { ref: false }),
  ])
  if (!found.every(({ address }) => isPublic(address))) {
    throw invalid('url: must not lead to a private or reserved address')
  }
}

export async function createWebhook(
  tx: Tx,
  app: Uses<'clock' | 'config' | 'vault'>,
  company: Company,
  body: Static<typeof NewWebhook>,
): Promise<{ webhook: Webhook; secret: string }> {
  const max = app.config.webhooksPerCompany
  if ((await store.countForAdding(tx, company.id)) >= max) throw tooMany(max)
  const { url, name, events } = body
  const now = app.clock.now()
  const base = { companyId: company.id, id: newId(), createdAt: now, updatedAt: now }
  const health = { deactivated: null, failingSince: null, pausedUntil: null }
  const webhook: Webhook = { ...base, url, name, events, status: 'ACTIVE', ...health }
  const secret = makeSecret()
  await store.insert(tx, webhook, app.vault.seal(secret, secretContext(company.id, webhook.id)))
  return { webhook, secret }
}

const tooMany = (max: number) =>
  problem(
    'webhook_limit_exceeded',
    `A company may have at most ${max} webhooks. Delete one, or let one receive more events.`,
  )

async function lockWebhook(tx: Tx, company: Company, id: Uuid): Promise<Webhook> {
  const webhook = await store.find(tx, company.id, id, 'for update')
  if (!webhook) throw problem('webhook_not_found')
  return webhook
}

export async function changeWebhook(
  tx: Tx,
  app: Uses<'clock'>,
  company: Company,
  id: Uuid,
  body: Static<typeof WebhookChange>,
): Promise<Webhook> {
  const webhook = await lockWebhook(tx, company, id)
  const changed = change(webhook, body, app.clock.now())
  await store.update(tx, changed)
  const isReset = webhook.failingSince !== null && changed.failingSince === null
  if (isReset) await store.markWorking(tx, [{ companyId: company.id, webhookId: id }])
  return changed
}

/** Gives a webhook a new secret. The previous one is valid for another day. */
export async function rotateSecret(
  tx: Tx,
  app: Uses<'clock' | 'vault'>,
  company: Company,
  id: Uuid,
): Promise<{ webhook: Webhook; secret: string }> {
  const now = app.clock.now()
  const webhook = { ...(await lockWebhook(tx, company, id)), updatedAt: now }
  const secret = makeSecret()
  const sealed = app.vault.seal(secret, secretContext(company.id, id))
  await store.replaceSecret(tx, webhook, sealed, new Date(now.getTime() + OVERLAP_MS))
  return { webhook, secret }
}

export async function deleteWebhook(tx: Tx, company: Company, id: Uuid): Promise<void> {
  if (!(await store.remove(tx, company.id, id))) throw problem('webhook_not_found')
}
