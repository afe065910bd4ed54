import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import {
  type RefusalReason,
  signWebhook,
  unwrapWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '../../packages/client/src/webhooks.js'
import { headersOf, signerOf } from '../../src/core/deliveries/signing.ts'
import { type AnyEventType, EVENTS, type EventType, TEST_EVENT } from '../../src/core/events.ts'
import { makeSecret } from '../../src/core/webhooks/rules.ts'
import { fromPublic, newId } from '../../src/lib/ids.ts'
import { makeReceiver } from '../support/webhooks.ts'
import { openShop } from './shop.ts'

const shop = await openShop()
const now = new Date('2026-08-20T15:00:00.000Z')
const body = '{"event":"Charge.Paid","charge":{"id":"charge_pão","status":"PAID","total":1990}}'
const event = JSON.parse(body)
const secret = makeSecret()

const sign = (secrets: string[] = [secret]): Record<string, string> =>
  headersOf({
    eventId: newId(),
    deliveryId: 'dlv_1',
    type: 'charge.paid',
    mode: 'live',
    body,
    now,
    signers: secrets.map(signerOf),
  })

const headers = sign()

function refuses(reason: RefusalReason, act: () => Promise<unknown>): Promise<void> {
  return assert.rejects(act, (error: unknown) => {
    assert.ok(error instanceof WebhookVerificationError, String(error))
    assert.ok(error instanceof Error && error.name === 'WebhookVerificationError')
    assert.equal(error.reason, reason, error.message)
    return true
  })
}

test('a real delivery verifies, by us and by the library of Standard Webhooks', async () => {
  const { receiver, webhook } = await makeReceiver(shop.client)
  const ours: string = webhook.secret
  const sold = await shop.sell(1990)
  const [got, ...more] = receiver.received
  assert.deepEqual(more, [])
  assert.deepEqual(await unwrapWebhook(got!.body, got!.headers, ours), sold)
  const scheme = 'x-webhook-signature'
  assert.deepEqual(await unwrapWebhook(got!.body, got!.headers, ours, { scheme }), sold)
  const theirs = new Webhook(ours).verify(got!.body, got!.headers as Record<string, string>)
  assert.deepEqual(theirs, sold)
  await refuses('wrong-signature', () => unwrapWebhook(got!.body, got!.headers, secret))
})

test('what we sign is what the library of Standard Webhooks signs', async () => {
  const signed = headers['webhook-signature']
  assert.equal(new Webhook(secret).sign(headers['webhook-id']!, now, body), signed)
})

test('for tests, the client signs what the server would send', async () => {
  const secrets = [secret, makeSecret()]
  const types = Object.entries({ ...EVENTS, [TEST_EVENT]: 'Webhook.Test' })
  assert.ok(types.length > 20)
  for (const [type, name] of types) {
    const eventId = newId()
    const text = JSON.stringify({ event: name, charge: { id: 'charge_pão' } })
    for (const valid of [secrets, secrets.slice(0, 1)]) {
      const ours = headersOf({
        eventId,
        deliveryId: 'dlv_1',
        type: type as AnyEventType,
        mode: 'live',
        body: text,
        now,
        signers: valid.map(signerOf),
      })
      const options = { id: ours['webhook-id'], now, mode: 'live' } as const
      const { body: sent, headers } = await signWebhook(JSON.parse(text), valid, options)
      const { 'x-webhook-delivery': delivery, ...others } = headers
      assert.deepEqual({ ...others, 'x-webhook-delivery': 'dlv_1' }, { ...ours })
      assert.match(delivery!, /^[\w+/-]{20,}$/)
      assert.equal(sent, text)
    }
  }
  const made = await signWebhook(event, secret)
  assert.equal(made.headers['x-webhook-mode'], 'sandbox')
  assert.ok(fromPublic('evt', made.headers['webhook-id']!))
  assert.deepEqual(await unwrapWebhook(made.body, made.headers, secret), event)
  const old = await signWebhook(event, secret, { now: new Date(Date.now() - 600_000) })
  await refuses('too-old', () => unwrapWebhook(old.body, old.headers, secret))
  await assert.rejects(() => signWebhook(event, 'whsec_x'), /^TypeError: secret: /)
})

test('headers are read from Headers, from Node and from plain objects in any case', async () => {
  const capitals = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  const distinct = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value]]),
  )
  for (const form of [headers, new Headers(headers), capitals, distinct]) {
    assert.deepEqual(await unwrapWebhook(body, form, secret, { now }), event)
  }
})

test('the body is text or bytes as they arrived', async () => {
  const bytes = Buffer.from(body)
  for (const raw of [body, bytes, new Uint8Array(bytes)]) {
    assert.deepEqual(await unwrapWebhook(raw, headers, secret, { now }), event)
  }
  const parsed = event as never
  await assert.rejects(
    () => unwrapWebhook(parsed, headers, secret, { now }),
    /rawBody: .* before any parsing/,
  )
})

test('a body changed in any one byte is refused, whichever signature counts', async () => {
  for (const scheme of ['standard-webhooks', 'x-webhook-signature'] as const) {
    for (const i of Buffer.from(body).keys()) {
      const changed = Buffer.from(body)
      changed[i]! ^= 1
      await refuses('wrong-signature', () =>
        unwrapWebhook(changed, headers, secret, { now, scheme }),
      )
    }
    const again = JSON.stringify(event, null, 1)
    await refuses('wrong-signature', () => unwrapWebhook(again, headers, secret, { now, scheme }))
  }
})

test('bytes that are no UTF-8 are refused, and not read as something that was signed', async () => {
  const loose = '{"event":"\uFFFD"}'
  const signed = headersOf({
    eventId: newId(),
    deliveryId: 'dlv_1',
    type: 'charge.paid',
    now,
    mode: 'live',
    body: loose,
    signers: [signerOf(secret)],
  })
  const bytes = Buffer.from('{"event":"\xff"}', 'latin1')
  assert.equal(bytes.toString('utf8'), loose)
  await refuses('wrong-signature', () => unwrapWebhook(bytes, signed, secret, { now }))
})

test('id and time are signed too', async () => {
  const others = {
    'webhook-id': sign()['webhook-id']!,
    'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1),
  }
  for (const [name, value] of Object.entries(others)) {
    await refuses('wrong-signature', () =>
      unwrapWebhook(body, { ...headers, [name]: value }, secret, { now }),
    )
  }
})

test('another secret, a signature of another kind and a shortened one are refused', async () => {
  await refuses('wrong-signature', () => unwrapWebhook(body, headers, makeSecret(), { now }))
  const [, signature] = headers['webhook-signature']!.split(',')
  const wrong = [`v2,${signature}`, signature!, 'v1,', 'v1', `v1,${signature!.slice(1)}`, '…']
  for (const value of wrong) {
    const sent = { ...headers, 'webhook-signature': value }
    await refuses('wrong-signature', () => unwrapWebhook(body, sent, secret, { now }))
  }
})

test('five minutes are tolerated, into either direction, or as many seconds as are asked for', async () => {
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  const check = (seconds: number, toleranceSeconds?: number) =>
    unwrapWebhook(body, headers, secret, {
      now: at(seconds),
      ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
    })
  assert.deepEqual(await check(300), event)
  assert.deepEqual(await check(-300), event)
  await refuses('too-old', () => check(301))
  await refuses('too-new', () => check(-301))
  assert.deepEqual(await check(3600, 3600), event)
  await refuses('too-old', () => check(11, 10))
  await refuses('too-old', () => check(0, Number.NaN))
})

test('a time that is not written as whole seconds is refused', async () => {
  const seconds = headers['webhook-timestamp']!
  const others = [
    `${seconds}junk`,
    ` ${seconds}`,
    `0${seconds}`,
    `${seconds}.0`,
    '1e9',
    '-1',
    'now',
  ]
  for (const value of others) {
    const sent = { ...headers, 'webhook-timestamp': value }
    await refuses('malformed-timestamp', () => unwrapWebhook(body, sent, secret, { now }))
  }
})

test('a header that is missing or empty is named', async () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const { [name]: _, ...rest } = headers
    for (const sent of [rest, { ...rest, [name]: '' }, new Headers(rest)]) {
      await refuses('missing-header', () => unwrapWebhook(body, sent, secret, { now }))
      await assert.rejects(() => unwrapWebhook(body, sent, secret, { now }), {
        message: `${name}: missing`,
      })
    }
  }
  const scheme = 'x-webhook-signature'
  await refuses('missing-header', () => unwrapWebhook(body, {}, secret, { scheme }))
})

test('while the sender rotates, either secret verifies; while the receiver does, one fits', async () => {
  const [former, latter, stranger] = [makeSecret(), makeSecret(), makeSecret()]
  const both = sign([latter, former])
  for (const scheme of ['standard-webhooks', 'x-webhook-signature'] as const) {
    for (const one of [former, latter]) {
      assert.deepEqual(await unwrapWebhook(body, both, one, { now, scheme }), event)
    }
    await refuses('wrong-signature', () => unwrapWebhook(body, both, stranger, { now, scheme }))
    for (const one of [former, latter]) {
      assert.deepEqual(
        await unwrapWebhook(body, sign([one]), [latter, former], { now, scheme }),
        event,
      )
    }
    await refuses('wrong-signature', () =>
      unwrapWebhook(body, sign([stranger]), [latter, former], { now, scheme }),
    )
  }
})

test('after a rotation a real delivery verifies with the former secret and with the new one', async () => {
  const { receiver, webhook } = await makeReceiver(shop.client)
  const { body: rotated } = await shop.client.post(`/webhook/${webhook.id}/rotate-secret`)
  assert.notEqual(rotated.data.secret, webhook.secret)
  const sold = await shop.sell(2990)
  const [got] = receiver.received
  for (const { secret: one } of [webhook, rotated.data]) {
    assert.deepEqual(await unwrapWebhook(got!.body, got!.headers, one), sold)
    const theirs = new Webhook(one).verify(got!.body, got!.headers as Record<string, string>)
    assert.deepEqual(theirs, sold)
  }
})

test('two signatures in X-Webhook-Signature, as servers sent them before, verify by either', async () => {
  const [former, latter] = [makeSecret(), makeSecret()]
  const scheme = 'x-webhook-signature'
  const values = [latter, former].map((one) => sign([one])['x-webhook-signature'])
  for (const one of [former, latter]) {
    assert.deepEqual(
      await unwrapWebhook(body, { [scheme]: values.join(', ') }, one, { scheme }),
      event,
    )
  }
})

test('without its stamp a delivery is refused, unless the body alone was asked for', async () => {
  const { 'x-webhook-signature': signature } = headers
  const bare = { 'x-webhook-signature': signature! }
  await refuses('missing-header', () => unwrapWebhook(body, bare, secret, { now }))
  assert.deepEqual(
    await unwrapWebhook(body, bare, secret, { scheme: 'x-webhook-signature' }),
    event,
  )
})

test('a secret that could never verify is a mistake of the settings, not of the request', async () => {
  const unset = undefined as unknown as string
  for (const wrong of [unset, '', 'whsec_', secret.slice(6), `${secret}\n`, [], [secret, '']]) {
    await assert.rejects(() => unwrapWebhook(body, headers, wrong, { now }), { name: 'TypeError' })
  }
  const scheme = 'sha1' as 'standard-webhooks'
  await assert.rejects(() => unwrapWebhook(body, headers, secret, { now, scheme }), {
    name: 'TypeError',
  })
})

test('the types know every event by the name it has in a payload', async () => {
  type Names = (typeof EVENTS)[EventType] | 'Webhook.Test'
  const missing: Exclude<Names, WebhookEvent['event']>[] = []
  const invented: Exclude<WebhookEvent['event'], Names>[] = []
  const known: WebhookEvent = await unwrapWebhook(body, headers, secret, { now })
  if (known.event === 'Charge.Paid') assert.equal(known.charge.total satisfies number, 1990)
  assert.deepEqual([...missing, ...invented], [])
})

test('signatures are compared by Web Crypto, in constant time, and only a few of them', async (t) => {
  const verify = t.mock.method(crypto.subtle, 'verify')
  await unwrapWebhook(body, headers, secret, { now })
  assert.equal(verify.mock.callCount(), 2, 'both signatures')
  const many = Array.from({ length: 300 }, () => sign([makeSecret()])['webhook-signature'])
  const sent = { ...headers, 'webhook-signature': many.join(' ') }
  await refuses('wrong-signature', () => unwrapWebhook(body, sent, secret, { now }))
  assert.ok(verify.mock.callCount() < 12)
})

test('either signature that does not fit refuses the delivery', async () => {
  const other = sign([makeSecret()])
  for (const name of ['webhook-signature', 'x-webhook-signature']) {
    const sent = { ...headers, [name]: other[name] }
    await refuses('wrong-signature', () => unwrapWebhook(body, sent, secret, { now }))
  }
})
