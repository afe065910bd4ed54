import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import {
  type RefusalReason,
  verify,
  type WebhookEvent,
  WebhookVerificationError,
} from 'vintem/webhooks'
import { headersOf, signerOf } from '../../src/core/deliveries/signing.ts'
import type { EVENTS, EventType } from '../../src/core/events.ts'
import { makeSecret } from '../../src/core/webhooks/rules.ts'
import { newId } from '../../src/lib/ids.ts'
import { watchComparisons } from '../support/comparisons.ts'
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

function refuses(reason: RefusalReason, act: () => unknown): void {
  assert.throws(act, (error: unknown) => {
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
  assert.deepEqual(verify(ours, got!.headers, got!.body), sold)
  const scheme = 'x-webhook-signature'
  assert.deepEqual(verify(ours, got!.headers, got!.body, { scheme }), sold)
  const theirs = new Webhook(ours).verify(got!.body, got!.headers as Record<string, string>)
  assert.deepEqual(theirs, sold)
  refuses('wrong-signature', () => verify(secret, got!.headers, got!.body))
})

test('what we sign is what the library of Standard Webhooks signs', () => {
  const signed = headers['webhook-signature']
  assert.equal(new Webhook(secret).sign(headers['webhook-id']!, now, body), signed)
})

test('headers are read from Headers, from Node and from plain objects in any case', () => {
  const capitals = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  const distinct = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value]]),
  )
  for (const form of [headers, new Headers(headers), capitals, distinct]) {
    assert.deepEqual(verify(secret, form, body, { now }), event)
  }
})

test('the body is text or bytes as they arrived', () => {
  const bytes = Buffer.from(body)
  for (const raw of [body, bytes, new Uint8Array(bytes)]) {
    assert.deepEqual(verify(secret, headers, raw, { now }), event)
  }
  const parsed = event as never
  assert.throws(() => verify(secret, headers, parsed, { now }), /rawBody: .* before any parsing/)
})

test('a body changed in any one byte is refused, whichever signature counts', () => {
  for (const scheme of ['standard-webhooks', 'x-webhook-signature'] as const) {
    for (const i of Buffer.from(body).keys()) {
      const changed = Buffer.from(body)
      changed[i]! ^= 1
      refuses('wrong-signature', () => verify(secret, headers, changed, { now, scheme }))
    }
    const again = JSON.stringify(event, null, 1)
    refuses('wrong-signature', () => verify(secret, headers, again, { now, scheme }))
  }
})

test('bytes that are no UTF-8 are refused, and not read as something that was signed', () => {
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
  refuses('wrong-signature', () => verify(secret, signed, bytes, { now }))
})

test('id and time are signed too', () => {
  const others = {
    'webhook-id': sign()['webhook-id']!,
    'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1),
  }
  for (const [name, value] of Object.entries(others)) {
    refuses('wrong-signature', () => verify(secret, { ...headers, [name]: value }, body, { now }))
  }
})

test('another secret, a signature of another kind and a shortened one are refused', () => {
  refuses('wrong-signature', () => verify(makeSecret(), headers, body, { now }))
  const [, signature] = headers['webhook-signature']!.split(',')
  const wrong = [`v2,${signature}`, signature!, 'v1,', 'v1', `v1,${signature!.slice(1)}`, '…']
  for (const value of wrong) {
    const sent = { ...headers, 'webhook-signature': value }
    refuses('wrong-signature', () => verify(secret, sent, body, { now }))
  }
})

test('five minutes are tolerated, into either direction, or as many seconds as are asked for', () => {
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  const check = (seconds: number, toleranceSeconds?: number) =>
    verify(secret, headers, body, {
      now: at(seconds),
      ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
    })
  assert.deepEqual(check(300), event)
  assert.deepEqual(check(-300), event)
  refuses('too-old', () => check(301))
  refuses('too-new', () => check(-301))
  assert.deepEqual(check(3600, 3600), event)
  refuses('too-old', () => check(11, 10))
  refuses('too-old', () => check(0, Number.NaN))
})

test('a time that is not written as whole seconds is refused', () => {
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
    refuses('malformed-timestamp', () => verify(secret, sent, body, { now }))
  }
})

test('a header that is missing or empty is named', () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const { [name]: _, ...rest } = headers
    for (const sent of [rest, { ...rest, [name]: '' }, new Headers(rest)]) {
      refuses('missing-header', () => verify(secret, sent, body, { now }))
      assert.throws(() => verify(secret, sent, body, { now }), { message: `${name}: missing` })
    }
  }
  const scheme = 'x-webhook-signature'
  refuses('missing-header', () => verify(secret, {}, body, { scheme }))
})

test('while the sender rotates, either secret verifies; while the receiver does, one fits', () => {
  const [former, latter, stranger] = [makeSecret(), makeSecret(), makeSecret()]
  const both = sign([latter, former])
  for (const scheme of ['standard-webhooks', 'x-webhook-signature'] as const) {
    for (const one of [former, latter]) {
      assert.deepEqual(verify(one, both, body, { now, scheme }), event)
    }
    refuses('wrong-signature', () => verify(stranger, both, body, { now, scheme }))
    for (const one of [former, latter]) {
      assert.deepEqual(verify([latter, former], sign([one]), body, { now, scheme }), event)
    }
    refuses('wrong-signature', () =>
      verify([latter, former], sign([stranger]), body, { now, scheme }),
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
    assert.deepEqual(verify(one, got!.headers, got!.body), sold)
    const theirs = new Webhook(one).verify(got!.body, got!.headers as Record<string, string>)
    assert.deepEqual(theirs, sold)
  }
})

test('two signatures in X-Webhook-Signature, as servers sent them before, verify by either', () => {
  const [former, latter] = [makeSecret(), makeSecret()]
  const scheme = 'x-webhook-signature'
  const values = [latter, former].map((one) => sign([one])['x-webhook-signature'])
  for (const one of [former, latter]) {
    assert.deepEqual(verify(one, { [scheme]: values.join(', ') }, body, { scheme }), event)
  }
})

test('without its stamp a delivery is refused, unless the body alone was asked for', () => {
  const { 'x-webhook-signature': signature } = headers
  const bare = { 'x-webhook-signature': signature! }
  refuses('missing-header', () => verify(secret, bare, body, { now }))
  assert.deepEqual(verify(secret, bare, body, { scheme: 'x-webhook-signature' }), event)
})

test('a secret that could never verify is a mistake of the settings, not of the request', () => {
  const unset = undefined as unknown as string
  for (const wrong of [unset, '', 'whsec_', secret.slice(6), `${secret}\n`, [], [secret, '']]) {
    assert.throws(() => verify(wrong, headers, body, { now }), { name: 'TypeError' })
  }
  const scheme = 'sha1' as 'standard-webhooks'
  assert.throws(() => verify(secret, headers, body, { now, scheme }), { name: 'TypeError' })
})

test('the types know every event by the name it has in a payload', () => {
  type Names = (typeof EVENTS)[EventType] | 'Webhook.Test'
  const missing: Exclude<Names, WebhookEvent['event']>[] = []
  const invented: Exclude<WebhookEvent['event'], Names>[] = []
  const known: WebhookEvent = verify(secret, headers, body, { now })
  if (known.event === 'Charge.Paid') assert.equal(known.charge.total satisfies number, 1990)
  assert.deepEqual([...missing, ...invented], [])
})

test('signatures are compared in constant time', (t) => {
  const compared = watchComparisons(t)
  verify(secret, headers, body, { now })
  assert.equal(compared.length, 1)
  refuses('wrong-signature', () => verify(makeSecret(), headers, body, { now }))
  assert.equal(compared.length, 2)
})
