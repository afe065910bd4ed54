import Type from 'typebox'
import { PAGE } from '../../core/fields.ts'
import { changeWebhook, createWebhook } from '../../core/webhooks/commands.ts'
import { targetFault } from '../../core/webhooks/rules.ts'
import { find, list, remove } from '../../core/webhooks/store.ts'
import {
  CreatedWebhook,
  NewWebhook,
  showWebhook,
  WebhookChange,
  WebhookView,
} from '../../core/webhooks/view.ts'
import { isUuid, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { page } from '../page.ts'
import { route } from '../route.ts'

function webhookIdOf(call: { params: Record<string, string> }): Uuid {
  const id = call.params.id ?? ''
  if (!isUuid(id)) throw problem('webhook_not_found')
  return id
}

const create = route({
  method: 'POST',
  path: '/webhook',
  operationId: 'createWebhook',
  tag: 'Webhooks',
  summary: 'Register a webhook',
  description: 'The answer is the only one that shows the secret.',
  scope: 'webhooks:write',
  body: NewWebhook,
  example: { name: 'shop', url: 'http://127.0.0.1:4000/pix', events: ['charge.paid'] },
  check: ({ url }, { local }) => [targetFault(url, local)],
  data: CreatedWebhook,
  status: 201,
  message: 'Webhook created.',
  problems: [],
  handle: (call) =>
    call.commit(async (tx) => {
      const { webhook, secret } = await createWebhook(tx, call.app, call.company, call.body)
      return { ...showWebhook(webhook), secret }
    }),
})

const listAll = route({
  method: 'GET',
  path: '/webhook',
  operationId: 'listWebhooks',
  tag: 'Webhooks',
  summary: 'List webhooks, newest first',
  scope: 'webhooks:read',
  query: Type.Object(PAGE),
  data: Type.Array(WebhookView),
  status: 200,
  message: 'Webhooks listed.',
  problems: [],
  async handle(call) {
    const { filter, cut } = page(call, null)
    return cut(await list(call.app.db, call.company.id, filter)).map(showWebhook)
  },
})

const get = route({
  method: 'GET',
  path: '/webhook/{id}',
  operationId: 'getWebhook',
  tag: 'Webhooks',
  summary: 'Get a webhook',
  scope: 'webhooks:read',
  data: WebhookView,
  status: 200,
  message: 'Webhook found.',
  problems: ['webhook_not_found'],
  async handle(call) {
    const webhook = await find(call.app.db, call.company.id, webhookIdOf(call))
    if (!webhook) throw problem('webhook_not_found')
    return showWebhook(webhook)
  },
})

const change = route({
  method: 'PUT',
  path: '/webhook/{id}',
  operationId: 'changeWebhook',
  tag: 'Webhooks',
  summary: 'Change a webhook',
  description: 'Only the fields sent are changed.',
  scope: 'webhooks:write',
  body: WebhookChange,
  example: { events: ['charge.paid', 'charge.expired'] },
  check: ({ url }, { local }) => [targetFault(url, local)],
  data: WebhookView,
  status: 200,
  message: 'Webhook changed.',
  problems: ['webhook_not_found'],
  handle(call) {
    const id = webhookIdOf(call)
    return call.commit(async (tx) =>
      showWebhook(await changeWebhook(tx, call.app, call.company, id, call.body)),
    )
  },
})

const removeOne = route({
  method: 'DELETE',
  path: '/webhook/{id}',
  operationId: 'deleteWebhook',
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  scope: 'webhooks:write',
  data: Type.Object({ id: Type.String({ format: 'uuid' }) }),
  status: 200,
  message: 'Webhook deleted.',
  problems: ['webhook_not_found'],
  handle(call) {
    const id = webhookIdOf(call)
    return call.commit(async (tx) => {
      if (!(await remove(tx, call.company.id, id))) throw problem('webhook_not_found')
      return { id }
    })
  },
})

export const webhookRoutes = [create, listAll, get, change, removeOne]
