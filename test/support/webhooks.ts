import assert from 'node:assert/strict'
import { createDeliveryWorker, type DeliveryWorker } from '../../src/worker/deliver.ts'
import type { Client, TestApi } from './api.ts'
import { type Receiver, startReceiver } from './receiver.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

/** A delivery worker for as long as the tests of a file take. */
export function openDeliveryWorker(api: TestApi): DeliveryWorker {
  const delivering = createDeliveryWorker(api.app)
  api.atEnd(() => delivering.close())
  return delivering
}

/** Registers a webhook; gives what was answered, its secret too. */
export async function register(client: Client, url: string, events: string[]): Promise<Any> {
  const { status, body, text } = await client.post('/webhook', { url, name: 'Loja', events })
  assert.equal(status, 201, text)
  return body.data ?? body
}

/** A receiver on loopback, and the webhook that leads to it. */
export async function makeReceiver(
  client: Client,
  events = ['charge.paid'],
): Promise<{ receiver: Receiver; webhook: Any }> {
  const receiver = await startReceiver()
  return { receiver, webhook: await register(client, receiver.url, events) }
}
