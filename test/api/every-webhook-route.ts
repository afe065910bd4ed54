import assert from 'node:assert/strict'
import { newId, packPair } from '../../src/lib/ids.ts'
import { createDeliveryWorker } from '../../src/worker/deliver.ts'
import type { Client, TestApi } from '../support/api.ts'
import { makeReceiver } from '../support/webhooks.ts'
import { dataOf, type Made, on, type Try } from './tries.ts'

const WEBHOOK = {
  url: 'https://loja.example/hook',
  name: 'Loja',
  events: ['charge.paid', 'charge.expired'],
}
const NO_WEBHOOK = '00000000-0000-7000-8000-000000000000'
const NO_EVENT = 'evt_00000000000000000000000000'
const NO_DELIVERY = packPair(NO_WEBHOOK, newId())

type Webhooks = Pick<Made, 'webhook' | 'listening' | 'inactive' | 'delivered' | 'retrying'>

/** A webhook that gets no event, one with deliveries in two states, and one that is inactive. */
export async function prepareWebhooks(api: TestApi, client: Client): Promise<Webhooks> {
  const { receiver, webhook } = await makeReceiver(client)
  const delivering = createDeliveryWorker(api.app)
  const test = async () => {
    const reply = await client.post(`/webhook/${webhook.id}/test`)
    assert.equal(reply.status, 201, reply.text)
    await delivering.run()
    return dataOf(reply).id
  }
  receiver.answer = (response) => response.end('obrigada')
  const [delivered] = [await test(), await test()]
  receiver.answer = (response) => response.writeHead(500).end('sem espaço')
  const retrying = await test()
  await delivering.close()
  const make = async () => dataOf(await client.post('/webhook', WEBHOOK)).id
  const inactive = await make()
  await client.put(`/webhook/${inactive}`, { status: 'INACTIVE' })
  return { listening: webhook.id, delivered, retrying, inactive, webhook: await make() }
}

/** The first test event that was delivered. */
async function testEventOf(client: Client): Promise<string> {
  const reply = await client.get('/event?order=newest&type=webhook.test')
  return dataOf(reply).at(-1).id
}

const webhooks: Try[] = [
  ...on('createWebhook', {
    created: (client) => client.post('/webhook', WEBHOOK),
    invalid_value: (client) => client.post('/webhook', { ...WEBHOOK, url: 'x', events: [] }),
  }),
  ...on('listWebhooks', {
    listed: (client) => client.get('/webhook?limit=1'),
    invalid_value: (client) => client.get('/webhook?limit=x'),
  }),
  ...on('getWebhook', {
    found: (client, { webhook }) => client.get(`/webhook/${webhook}`),
    webhook_not_found: (client) => client.get(`/webhook/${NO_WEBHOOK}`),
  }),
  ...on('changeWebhook', {
    changed: (client, { webhook }) => client.put(`/webhook/${webhook}`, { status: 'INACTIVE' }),
    webhook_not_found: (client) => client.put(`/webhook/${NO_WEBHOOK}`, { name: 'x' }),
  }),
  ...on('rotateWebhookSecret', {
    rotated: (client, { webhook }) => client.post(`/webhook/${webhook}/rotate-secret`),
    webhook_not_found: (client) => client.post(`/webhook/${NO_WEBHOOK}/rotate-secret`),
  }),
  ...on('deleteWebhook', {
    deleted: (client, { webhook }) => client.delete(`/webhook/${webhook}`),
    webhook_not_found: (client) => client.delete(`/webhook/${NO_WEBHOOK}`),
  }),
]

const deliveries: Try[] = [
  ...on('listDeliveries', {
    listed: (client, { listening }) => client.get(`/webhook/${listening}/deliveries`),
    'one page': (client, { listening }) => client.get(`/webhook/${listening}/deliveries?limit=1`),
    'those that were delivered': (client, { listening }) =>
      client.get(`/webhook/${listening}/deliveries?status=DELIVERED`),
    invalid_value: (client, { listening }) =>
      client.get(`/webhook/${listening}/deliveries?status=LOST&limit=0`),
    webhook_not_found: (client) => client.get(`/webhook/${NO_WEBHOOK}/deliveries`),
  }),
  ...on('redeliver', {
    'one that waits': (client, { retrying }) =>
      client.post(`/webhook/delivery/${retrying}/redeliver`),
    'one that was delivered': (client, { delivered }) =>
      client.post(`/webhook/delivery/${delivered}/redeliver`),
    webhook_not_found: (client) => client.post(`/webhook/delivery/${NO_DELIVERY}/redeliver`),
  }),
  ...on('replayDeliveries', {
    replayed: (client, { listening }) =>
      client.post(`/webhook/${listening}/replay`, { status: 'ALL' }),
    invalid_value: (client, { inactive }) => client.post(`/webhook/${inactive}/replay`),
    webhook_not_found: (client) => client.post(`/webhook/${NO_WEBHOOK}/replay`),
  }),
  ...on('testWebhook', {
    created: (client, { listening }) => client.post(`/webhook/${listening}/test`),
    invalid_value: (client, { inactive }) => client.post(`/webhook/${inactive}/test`),
    webhook_not_found: (client) => client.post(`/webhook/${NO_WEBHOOK}/test`),
  }),
]

const events: Try[] = [
  ...on('listEvents', {
    'one page': (client) => client.get('/event?limit=2'),
    'of one type': (client) => client.get('/event?type=webhook.test'),
    nothing: (client) => client.get('/event?type=subscription.rejected'),
    'the newest first': (client) => client.get('/event?order=newest&type=webhook.test&limit=1'),
    invalid_value: (client) => client.get('/event?after=x&limit=2'),
  }),
  ...on('getEvent', {
    found: async (client) => client.get(`/event/${await testEventOf(client)}`),
    event_not_found: (client) => client.get(`/event/${NO_EVENT}`),
  }),
  ...on('listEventDeliveries', {
    listed: async (client) => client.get(`/event/${await testEventOf(client)}/deliveries`),
    event_not_found: (client) => client.get(`/event/${NO_EVENT}/deliveries`),
  }),
  ...on('listRequests', {
    'one page': async (client, _made, api) => {
      await api.app.requestLog.idle()
      return client.get('/request-log?limit=2&status=REFUSED&operation=listEventDeliveries')
    },
    invalid_value: (client) => client.get('/request-log?status=LOST&keyId=x'),
  }),
]

export const WEBHOOK_TRIES: Try[] = [...webhooks, ...deliveries, ...events]
