import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { makeSecret, secretContext, type Webhook } from './rules.ts'
import * as store from './store.ts'
import type { NewWebhook, WebhookChange } from './view.ts'

export async function createWebhook(
  tx: Tx,
  app: App,
  company: Company,
  body: Static<typeof NewWebhook>,
): Promise<{ webhook: Webhook; secret: string }> {
  const { url, name, events } = body
  const now = app.clock.now()
  const base = { companyId: company.id, id: newId(), createdAt: now, updatedAt: now }
  const webhook: Webhook = { ...base, url, name, events, status: 'ACTIVE' }
  const secret = makeSecret()
  await store.insert(tx, webhook, app.vault.seal(secret, secretContext(company.id, webhook.id)))
  return { webhook, secret }
}

export async function changeWebhook(
  tx: Tx,
  app: App,
  company: Company,
  id: Uuid,
  body: Static<typeof WebhookChange>,
): Promise<Webhook> {
  const webhook = await store.find(tx, company.id, id, 'for update')
  if (!webhook) throw problem('webhook_not_found')
  const changed: Webhook = {
    ...webhook,
    url: body.url ?? webhook.url,
    name: body.name ?? webhook.name,
    events: body.events ?? webhook.events,
    status: body.status ?? webhook.status,
    updatedAt: app.clock.now(),
  }
  await store.update(tx, changed)
  return changed
}
