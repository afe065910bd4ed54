import assert from 'node:assert/strict'
import type { Decision } from '../../src/provider/simulator/agreements.ts'
import { type Client, payer, type Reply, type TestApi } from './api.ts'

export const RECURRENCES = '/pix-automatic/recurrences'

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

/** What an answer of either version brings, when it is the one that is expected. */
function brought({ status, body, text }: Reply, expected: number): Any {
  assert.equal(status, expected, text)
  return body.data ?? body
}

/** A product that is charged every month, unless the fields say otherwise. */
export async function makeRecurring(
  client: Client,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const product = { name: 'Pão todo dia', description: 'Francês', price: 1990, ...fields }
  const recurring = { type: 'RECURRING', frequency: 'MONTHLY', ...product }
  return brought(await client.post('/product', recurring), 201).id
}

export async function makeCustomer(client: Client, fields = {}): Promise<string> {
  return brought(await client.post('/client', { ...payer(fields), status: 'ACTIVE' }), 201).id
}

/** A subscription of a new customer to a new product, as it is answered. */
export async function makeSubscription(
  client: Client,
  fields: Record<string, unknown> = {},
): Promise<Any> {
  const productId = await makeRecurring(client, fields)
  const customerId = await makeCustomer(client)
  return brought(await client.post(RECURRENCES, { productId, customerId }), 201)
}

/** A link through which payers subscribe by themselves. */
export async function makeTemplate(
  client: Client,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; url: string }> {
  const productId = fields.productId ?? (await makeRecurring(client))
  const { id } = brought(
    await client.post(`${RECURRENCES}/template`, { ...fields, productId }),
    201,
  )
  return { id, url: (await readSubscription(client, id)).paymentLinkUrl }
}

export const readSubscription = async (client: Client, id: string): Promise<Any> =>
  brought(await client.get(`${RECURRENCES}/${id}`), 200)

/** Subscribes as a payer does who has followed a link: without an API key. */
export const subscribe = (api: TestApi, url: string, json?: unknown): Promise<Reply> =>
  api.call('POST', `${new URL(url).pathname}/subscription`, json === undefined ? {} : { json })

/** Decides as a payer does in the app of their bank. */
export async function decide(
  api: TestApi,
  emv: string,
  decision: Decision,
  funds?: boolean,
): Promise<void> {
  brought(await api.call('POST', '/bank/authorizations', { json: { emv, decision, funds } }), 200)
}
