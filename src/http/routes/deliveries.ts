import Type from 'typebox'
import { noDelivery, redeliver, replay, sendTest } from '../../core/deliveries/commands.ts'
import { list } from '../../core/deliveries/log-store.ts'
import {
  DeliveryQuery,
  DeliveryView,
  Replay,
  Replayed,
  readDeliveryId,
  showDelivery,
} from '../../core/deliveries/view.ts'
import { find } from '../../core/webhooks/store.ts'
import { problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { deliveryPage } from '../page.ts'
import { route } from '../route.ts'
import { asList, delivered, redelivered, replayed, tested } from '../samples.ts'
import { webhookIdOf } from './webhooks.ts'

const listAll = route({
  method: 'GET',
  path: '/webhook/{id}/deliveries',
  operationId: 'listDeliveries',
  client: ['deliveries', 'list'],
  sample: asList(delivered),
  tag: 'Webhooks',
  summary: 'List the deliveries to a webhook, newest event first',
  description:
    'Every attempt with what the receiver answered. Finished deliveries are kept for 30 days, unless the server is configured otherwise.',
  scope: 'webhooks:read',
  query: DeliveryQuery,
  data: Type.Array(DeliveryView),
  status: 200,
  message: 'Deliveries listed.',
  problems: ['webhook_not_found'],
  async handle(call) {
    const { app, company, query } = call
    const key = { companyId: company.id, webhookId: webhookIdOf(call) }
    if (!(await find(app.db, key.companyId, key.webhookId))) throw problem('webhook_not_found')
    const status = query.status ?? null
    return readPage(
      deliveryPage(call, key.webhookId),
      (part) => list(app.db, key, { ...part, status }),
      showDelivery,
    )
  },
})

const again = route({
  method: 'POST',
  path: '/webhook/delivery/{id}/redeliver',
  operationId: 'redeliver',
  client: ['deliveries', 'redeliver'],
  changes: { record: 'delivery', pt: 'Entrega reenviada', en: 'Delivery sent again' },
  sample: redelivered,
  tag: 'Webhooks',
  summary: 'Send a delivery again, now',
  description:
    'Also one that was delivered. The receiver gets the same body with the same webhook-id, and if it fails, all retries again.',
  scope: 'webhooks:write',
  data: DeliveryView,
  status: 200,
  message: 'The delivery is due.',
  problems: ['webhook_not_found'],
  async handle(call) {
    const { app, company } = call
    const id = readDeliveryId(call.params.id ?? '')
    if (!id) throw noDelivery()
    const key = { companyId: company.id, ...id }
    return call.commit(async (tx) => ({ data: showDelivery(await redeliver(tx, app, key)) }))
  },
})

const many = route({
  method: 'POST',
  path: '/webhook/{id}/replay',
  operationId: 'replayDeliveries',
  client: ['deliveries', 'replay'],
  changes: { record: 'webhook', pt: 'Entregas reenviadas', en: 'Deliveries sent again' },
  sample: replayed,
  tag: 'Webhooks',
  summary: 'Send deliveries again',
  description:
    'Of the events that were written from `from` on and before `to`; without them, of all. By default those that did not arrive: they failed, or wait for their next try.',
  scope: 'webhooks:write',
  unknownFields: 'refused',
  body: Replay,
  example: { from: '2026-08-16T00:00:00Z', to: '2026-08-17T00:00:00Z', status: 'FAILED' },
  data: Replayed,
  status: 200,
  message: 'The deliveries are due.',
  problems: ['webhook_not_found'],
  handle(call) {
    const { app, company, body } = call
    const key = { companyId: company.id, webhookId: webhookIdOf(call) }
    return call.commit(async (tx) => ({ data: { replayed: await replay(tx, app, key, body) } }))
  },
})

const tryOut = route({
  method: 'POST',
  path: '/webhook/{id}/test',
  operationId: 'testWebhook',
  client: ['webhooks', 'test'],
  changes: { record: 'webhook', pt: 'Webhook testado', en: 'Webhook tested' },
  sample: tested,
  tag: 'Webhooks',
  summary: 'Send a test event to a webhook',
  description:
    'The event `webhook.test` goes to this webhook alone, whatever it subscribes to. The list of deliveries shows the result.',
  scope: 'webhooks:write',
  data: DeliveryView,
  status: 201,
  message: 'Test event created.',
  problems: ['webhook_not_found'],
  handle(call) {
    const { app, company } = call
    const key = { companyId: company.id, webhookId: webhookIdOf(call) }
    return call.commit(async (tx) => ({ data: showDelivery(await sendTest(tx, app, key)) }))
  },
})

export const deliveryRoutes = [listAll, again, many, tryOut]
