import Type from 'typebox'
import { deleteDeliveries } from '../../core/deliveries/commands.ts'
import { LONG_PAGE, LONG_PAGE_SIZE } from '../../core/fields.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  requirePublicTarget,
  rotateSecret,
} from '../../core/webhooks/commands.ts'
import { targetFault } from '../../core/webhooks/rules.ts'
import { find, list } from '../../core/webhooks/store.ts'
import {
  NewWebhook,
  showWebhook,
  WebhookChange,
  WebhookView,
  WebhookWithSecret,
} from '../../core/webhooks/view.ts'
import { isUuid, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { Deleted, route } from '../route.ts'
import { changed, deleted, listed, newest, withSecret } from '../samples.ts'

export function webhookIdOf(call: { params: Record<string, string> }): Uuid {
  const id = call.params.id ?? ''
  if (!isUuid(id)) throw problem('webhook_not_found')
  return id
}

const create = route({
  method: 'POST',
  path: '/webhook',
  operationId: 'createWebhook',
  client: ['webhooks', 'create'],
  changes: { record: 'webhook', pt: 'Webhook criado', en: 'Webhook created' },
  sample: withSecret,
  tag: 'Webhooks',
  summary: 'Register a webhook',
  description: 'Only this answer shows the secret.',
  scope: 'webhooks:write',
  body: NewWebhook,
  example: { name: 'shop', url: 'http://127.0.0.1:4000/pix', events: ['charge.paid'] },
  check: ({ url }, { local }) => [targetFault(url, local)],
  data: WebhookWithSecret,
  status: 201,
  message: 'Webhook created.',
  problems: ['webhook_limit_exceeded'],
  async handle(call) {
    const { app, company, body } = call
    await requirePublicTarget(app, body.url)
    return call.commit(async (tx) => {
      const { webhook, secret } = await createWebhook(tx, app, company, body)
      return { data: { ...showWebhook(webhook, app.clock.now()), secret } }
    })
  },
})

const listAll = route({
  method: 'GET',
  path: '/webhook',
  operationId: 'listWebhooks',
  client: ['webhooks', 'list'],
  sample: listed,
  tag: 'Webhooks',
  summary: 'List webhooks, newest first',
  scope: 'webhooks:read',
  query: Type.Object(LONG_PAGE),
  data: Type.Array(WebhookView),
  status: 200,
  message: 'Webhooks listed.',
  problems: [],
  async handle(call) {
    const { app, company } = call
    const now = app.clock.now()
    return readPage(
      page(call, null, LONG_PAGE_SIZE),
      (part) => list(app.db, company.id, part),
      (webhook) => showWebhook(webhook, now),
    )
  },
})

const get = route({
  method: 'GET',
  path: '/webhook/{id}',
  operationId: 'getWebhook',
  client: ['webhooks', 'get'],
  sample: newest('listWebhooks'),
  tag: 'Webhooks',
  summary: 'Get a webhook',
  scope: 'webhooks:read',
  data: WebhookView,
  status: 200,
  message: 'Webhook found.',
  problems: ['webhook_not_found'],
  async handle(call) {
    const { app, company } = call
    const webhook = await find(app.db, company.id, webhookIdOf(call))
    if (!webhook) throw problem('webhook_not_found')
    return { data: showWebhook(webhook, app.clock.now()) }
  },
})

const change = route({
  method: 'PUT',
  path: '/webhook/{id}',
  operationId: 'changeWebhook',
  client: ['webhooks', 'update'],
  changes: { record: 'webhook', pt: 'Webhook alterado', en: 'Webhook changed' },
  sample: changed('getWebhook'),
  tag: 'Webhooks',
  summary: 'Change a webhook',
  description:
    'Only the fields sent are changed. An INACTIVE webhook gets nothing; made ACTIVE again, it gets what happens from then on, and the rest by a replay.',
  scope: 'webhooks:write',
  body: WebhookChange,
  example: { events: ['charge.paid', 'charge.expired'] },
  check: ({ url }, { local }) => [targetFault(url, local)],
  data: WebhookView,
  status: 200,
  message: 'Webhook changed.',
  problems: ['webhook_not_found'],
  async handle(call) {
    const { app, company, body } = call
    const id = webhookIdOf(call)
    if (body.url !== undefined) await requirePublicTarget(app, body.url)
    return call.commit(async (tx) => ({
      data: showWebhook(await changeWebhook(tx, app, company, id, body), app.clock.now()),
    }))
  },
})

const removeOne = route({
  method: 'DELETE',
  path: '/webhook/{id}',
  operationId: 'deleteWebhook',
  client: ['webhooks', 'delete'],
  changes: { record: 'webhook', pt: 'Webhook excluído', en: 'Webhook deleted' },
  sample: deleted,
  tag: 'Webhooks',
  summary: 'Delete a webhook and its deliveries',
  scope: 'webhooks:write',
  unknownFields: 'refused',
  data: Deleted,
  status: 200,
  message: 'Webhook deleted.',
  problems: ['webhook_not_found'],
  handle(call) {
    const id = webhookIdOf(call)
    return call.commit(async (tx) => {
      await deleteWebhook(tx, call.company, id)
      await deleteDeliveries(tx, { companyId: call.company.id, webhookId: id })
      return { data: { id } }
    })
  },
})

const rotate = route({
  method: 'POST',
  path: '/webhook/{id}/rotate-secret',
  operationId: 'rotateWebhookSecret',
  client: ['webhooks', 'rotateSecret'],
  changes: {
    record: 'webhook',
    pt: 'Novo segredo do webhook gerado',
    en: 'New webhook secret generated',
  },
  sample: withSecret,
  tag: 'Webhooks',
  summary: 'Give a webhook a new secret',
  description:
    'Only this answer shows it. For 24 hours deliveries are signed with the former secret too, so that receivers can be changed without a gap; a second rotation within that time ends it for the secret before.',
  scope: 'webhooks:write',
  data: WebhookWithSecret,
  status: 200,
  message: 'Secret rotated.',
  problems: ['webhook_not_found'],
  handle(call) {
    const { app, company } = call
    const id = webhookIdOf(call)
    return call.commit(async (tx) => {
      const { webhook, secret } = await rotateSecret(tx, app, company, id)
      return { data: { ...showWebhook(webhook, app.clock.now()), secret } }
    })
  },
})

export const webhookRoutes = [create, listAll, get, change, removeOne, rotate]
