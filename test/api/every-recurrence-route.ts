import assert from 'node:assert/strict'
import { billDue, collectDue, generateDue } from '../../src/worker/due.ts'
import { type Client, payer, type Reply, type TestApi } from '../support/api.ts'
import {
  decide,
  makeCustomer,
  makeRecurring,
  makeSubscription,
  makeTemplate,
  RECURRENCES,
  readSubscription,
  subscribe,
} from '../support/subscriptions.ts'
import { later } from './every-money-route.ts'
import { dataOf, NO_CUSTOMER, NO_PRODUCT, on, type Try } from './tries.ts'

const NO_RECURRENCE = 'rec_00000000000000000000000000'
const DAY_S = 24 * 3600
const DAYS = { dayDue: 4, dayGenerateCharge: 20 }

/** What is prepared: products and a customer, and recurrences in their states. */
type Scene = Awaited<ReturnType<typeof prepareScene>>

/** A company of its own: no other answer has its products, charges and money in it. */
async function prepareScene(api: TestApi, apiVersion: string) {
  const client = await api.client({ name: 'Assinaturas', pixKey: 'a@example.com' }, { apiVersion })
  const [product, customer] = [await makeRecurring(client, DAYS), await makeCustomer(client)]
  const once = dataOf(await client.post('/product', { name: 'Bolo', description: '', price: 700 }))
  const refused = await makeRecurring(client, { price: 66_666 })
  const template = (await makeTemplate(client, { productId: product })).id
  const personal = await makeTemplate(client, { productId: product, customerId: customer })
  assert.equal((await subscribe(api, personal.url)).status, 201)
  const rejected = await makeSubscription(client)
  await decide(api, rejected.emv, 'reject')
  const link = dataOf(await client.post('/charge/payment-link', linkOf(product)))
  await subscribe(api, link.url)
  const made = { product, customer, once: once.id, refused, template, personal: personal.id }
  const states = { rejected: rejected.id, link: link.id, ...(await makeBilled(api, client)) }
  return { client, ...made, ...states, waiting: (await makeSubscription(client)).id }
}

const linkOf = (productId: string) => ({
  customer: payer(),
  items: [{ productId, quantity: 1 }],
})

/** A subscription whose first charge is paid. */
async function makeBilled(api: TestApi, client: Client) {
  const { id, emv } = await makeSubscription(client, DAYS)
  await decide(api, emv, 'approve')
  await generateDue.run(api.app)
  await billDue.run(api.app)
  await later(api, 4 * DAY_S, () => collectDue.run(api.app))
  const [charge] = (await readSubscription(client, id)).charges
  assert.equal(charge.status, 'COMPLETED')
  return { billed: id, charge: charge.id }
}

const scenes = new WeakMap<Client, Promise<Scene>>()

/** Asks in the prepared company, which is another than the one of all other tries. */
const inScene =
  (ask: (client: Client, scene: Scene) => Promise<Reply>): Try['ask'] =>
  async (beside, _made, api) => {
    if (!scenes.has(beside)) scenes.set(beside, prepareScene(api, beside.company.apiVersion))
    const scene = await scenes.get(beside)!
    return ask(scene.client, scene)
  }

const onScene = (operationId: string, tries: Record<string, Parameters<typeof inScene>[0]>) =>
  on(
    operationId,
    Object.fromEntries(Object.entries(tries).map(([name, ask]) => [name, inScene(ask)])),
  )

const creation = (path: string): Parameters<typeof onScene>[1] => ({
  product_not_found: (client, { customer: customerId }) =>
    client.post(path, { productId: NO_PRODUCT, customerId }),
  customer_not_found: (client, { product: productId }) =>
    client.post(path, { productId, customerId: NO_CUSTOMER }),
  product_not_recurring: (client, { once: productId, customer: customerId }) =>
    client.post(path, { productId, customerId }),
  invalid_value: (client) => client.post(path, { productId: '', customerId: 7 }),
})

const writes: Try[] = [
  ...onScene('createRecurrence', {
    created: (client, { product: productId, customer: customerId }) =>
      client.post(RECURRENCES, { productId, customerId }),
    ...creation(RECURRENCES),
    provider_unavailable: (client, { refused: productId, customer: customerId }) =>
      client.post(RECURRENCES, { productId, customerId }),
  }),
  ...onScene('createRecurrenceTemplate', {
    'created for anybody': (client, { product: productId }) =>
      client.post(`${RECURRENCES}/template`, { productId }),
    'created for one customer': (client, { product: productId, customer: customerId }) =>
      client.post(`${RECURRENCES}/template`, { productId, customerId }),
    ...creation(`${RECURRENCES}/template`),
  }),
  ...onScene('cancelRecurrence', {
    canceled: (client, { waiting }) => client.post(`${RECURRENCES}/${waiting}/cancel`),
    'canceled already': (client, { waiting }) => client.post(`${RECURRENCES}/${waiting}/cancel`),
    'after a charge was paid': (client, { billed }) =>
      client.post(`${RECURRENCES}/${billed}/cancel`),
    'a template': (client, { template }) => client.post(`${RECURRENCES}/${template}/cancel`),
    recurrence_not_cancelable: (client, { rejected }) =>
      client.post(`${RECURRENCES}/${rejected}/cancel`),
    recurrence_not_found: (client) => client.post(`${RECURRENCES}/${NO_RECURRENCE}/cancel`),
  }),
]

const reads: Try[] = [
  ...onScene('listRecurrences', {
    listed: (client) => client.get(RECURRENCES),
    'one page': (client) => client.get(`${RECURRENCES}?limit=1`),
    invalid_value: (client) => client.get(`${RECURRENCES}?limit=0&after=x`),
  }),
  ...onScene('getRecurrence', {
    'without charges': (client, { waiting }) => client.get(`${RECURRENCES}/${waiting}`),
    'with a paid charge': (client, { billed }) => client.get(`${RECURRENCES}/${billed}`),
    'a template': (client, { template }) => client.get(`${RECURRENCES}/${template}`),
    recurrence_not_found: (client) => client.get(`${RECURRENCES}/${NO_RECURRENCE}`),
  }),
  ...onScene('getCharge', {
    'a subscription': (client, { billed }) => client.get(`/charge/${billed}`),
    'a charge of a subscription': (client, { charge }) => client.get(`/charge/${charge}`),
    'a template for anybody': (client, { template }) => client.get(`/charge/${template}`),
    'a template for one customer': (client, { personal }) => client.get(`/charge/${personal}`),
    'a subscription link': (client, { link }) => client.get(`/charge/${link}`),
  }),
]

/** What is read is read before it is canceled. */
export const RECURRENCE_TRIES: Try[] = [...reads, ...writes]
