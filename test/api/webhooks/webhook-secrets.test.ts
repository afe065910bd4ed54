import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { removeOld } from '../../../src/worker/retention.ts'
import { type Client, startApi } from '../../support/api.ts'
import type { Received, Receiver } from '../../support/receiver.ts'
import { makeReceiver, openDeliveryWorker } from '../../support/webhooks.ts'
import { dump } from '../storage.ts'

const api = await startApi()
const delivering = openDeliveryWorker(api)
const DAY_S = 24 * 3600

async function rotate(client: Client, id: string): Promise<string> {
  const { status, body, text } = await client.post(`/webhook/${id}/rotate-secret`)
  assert.equal(status, 200, text)
  assert.match(body.data.secret, /^whsec_[\w+/]{43}=$/)
  return body.data.secret
}

/** Sends a test event and gives what the receiver got of it. */
async function received(client: Client, id: string, receiver: Receiver): Promise<Received> {
  await client.post(`/webhook/${id}/test`)
  await delivering.run()
  return receiver.received.at(-1)!
}

/** Both families of signatures by these secrets, as the interface describes them. */
function signatures({ headers, body }: Received, secrets: string[]) {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const [plain, previous] = secrets.map(
    (secret) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  )
  return {
    plain,
    previous,
    standard: secrets
      .map((secret) => Buffer.from(secret.slice(6), 'base64'))
      .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      .join(' '),
  }
}

function assertSigned(got: Received, secrets: string[]): void {
  const { 'x-webhook-signature': plain, 'webhook-signature': standard } = got.headers
  const previous = got.headers['x-webhook-signature-previous']
  assert.deepEqual({ plain, previous, standard }, signatures(got, secrets))
}

test('after a rotation both secrets sign for a day, the new one first, then it alone', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  assertSigned(await received(client, webhook.id, receiver), [webhook.secret])
  const secret = await rotate(client, webhook.id)
  assert.notEqual(secret, webhook.secret)
  assertSigned(await received(client, webhook.id, receiver), [secret, webhook.secret])
  api.clock.advance(DAY_S - 1)
  assertSigned(await received(client, webhook.id, receiver), [secret, webhook.secret])
  api.clock.advance(1)
  assertSigned(await received(client, webhook.id, receiver), [secret])
})

test('a receiver that compares X-Webhook-Signature exactly accepts the new secret at once', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const secret = await rotate(client, webhook.id)
  const got = await received(client, webhook.id, receiver)
  const by = (key: string) => `sha256=${createHmac('sha256', key).update(got.body).digest('hex')}`
  assert.equal(got.headers['x-webhook-signature'], by(secret))
  assert.equal(got.headers['x-webhook-signature-previous'], by(webhook.secret))
})

test('a second rotation within the day ends the validity of the oldest secret', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client)
  const second = await rotate(client, webhook.id)
  api.clock.advance(DAY_S / 2)
  const third = await rotate(client, webhook.id)
  assertSigned(await received(client, webhook.id, receiver), [third, second])
  api.clock.advance(DAY_S / 2)
  assertSigned(await received(client, webhook.id, receiver), [third, second])
  api.clock.advance(DAY_S / 2)
  assertSigned(await received(client, webhook.id, receiver), [third])
})

test('a rotation shows the webhook with its new secret, and no other answer ever does', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client)
  api.clock.advance(1)
  const { body } = await client.post(`/webhook/${webhook.id}/rotate-secret`)
  const { secret, ...shown } = body.data
  const { secret: former, ...before } = webhook
  assert.deepEqual(shown, { ...before, updatedAt: api.clock.now().toISOString() })
  const texts = [
    (await client.get(`/webhook/${webhook.id}`)).text,
    (await client.get('/webhook')).text,
    (await client.put(`/webhook/${webhook.id}`, {})).text,
    await dump(api),
  ]
  for (const text of texts) {
    for (const one of [secret, former]) assert.ok(!text.includes(one.slice(6)))
  }
})

test('a secret that no longer signs is deleted, one that still signs is not', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client)
  await rotate(client, webhook.id)
  const previous = async () => {
    const [row] = await api.rows<{ previous_secret_sealed: Buffer | null }>(
      'select previous_secret_sealed from webhooks where id = $1',
      [webhook.id],
    )
    return row!.previous_secret_sealed
  }
  api.clock.advance(DAY_S - 1)
  await removeOld(api.app)
  assert.ok(await previous())
  api.clock.advance(1)
  await removeOld(api.app)
  assert.equal(await previous(), null)
})
