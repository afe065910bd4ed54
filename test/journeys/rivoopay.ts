import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { Client, Reply } from '../support/api.ts'
import type { Received } from '../support/receiver.ts'

/**
 * The requests of RivooPay's n8n node, by what its sources send: JSON is asked for and announced in
 * every request, GET and DELETE too, and forms send each field that was opened, also an empty one.
 */
export type Node = {
  get(path: string): Promise<Reply>
  post(path: string, json?: unknown, idempotencyKey?: string): Promise<Reply>
  put(path: string, json: unknown): Promise<Reply>
  delete(path: string): Promise<Reply>
}

const JSON_ONLY = { accept: 'application/json', 'content-type': 'application/json' }

export function openNode(client: Client, apiVersion: string | null): Node {
  const version: Record<string, string> = apiVersion ? { 'X-Api-Version': apiVersion } : {}
  const send = (method: string, path: string, json?: unknown, headers = {}) =>
    client.call(method, path, {
      ...(json === undefined ? {} : { json }),
      headers: { ...JSON_ONLY, ...version, ...headers },
    })
  return {
    get: (path) => send('GET', path),
    post: (path, json, key) =>
      send('POST', path, json, key === undefined ? {} : { 'Idempotency-Key': key }),
    put: (path, json) => send('PUT', path, json),
    delete: (path) => send('DELETE', path),
  }
}

/** What the node hands on: an envelope would be unwrapped, a bare answer goes on as it is. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
export function bare({ status, body, text }: Reply, expected: number): any {
  assert.equal(status, expected, text)
  assert.ok(!('errors' in body), 'no envelope')
  return body
}

/** The events that its trigger subscribes to when none is chosen. */
export const TRIGGER_EVENTS = [
  'charge.pending',
  'charge.processing',
  'charge.paid',
  'charge.received',
  'charge.expired',
  'subscription.authorized',
  'subscription.rejected',
  'subscription.charge.paid',
  'subscription.charge.failed',
]

/** Whether its trigger takes a delivery: the whole header has to be the one signature it makes. */
export function triggerAccepts({ headers, body }: Received, secret: string): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return headers['x-webhook-signature'] === expected
}
