import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { unwrapWebhook } from '../../../packages/client/src/webhooks.js'
import { newId, toPublic } from '../../lib/ids.ts'
import { makeSecret } from '../webhooks/rules.ts'
import { headersOf, signerOf } from './signing.ts'

const now = new Date('2026-08-20T15:00:00.000Z')
const sign = (secret: string, body: string, eventId = newId()) =>
  headersOf({
    eventId,
    deliveryId: 'dlv_1',
    type: 'charge.paid',
    mode: 'live',
    body,
    now,
    signers: [signerOf(secret)],
  })

test('signatures are HMAC-SHA256, whatever the length of the secret and of the body', () => {
  const bytes = fc.uint8Array({ maxLength: 200, size: 'max' })
  fc.assert(
    fc.property(bytes, fc.string({ unit: 'binary', maxLength: 300 }), (key, body) => {
      const secret = `whsec_${Buffer.from(key).toString('base64')}`
      const eventId = newId()
      const headers = sign(secret, body, eventId)
      const whole = createHmac('sha256', secret).update(body).digest('hex')
      assert.equal(headers['x-webhook-signature'], `sha256=${whole}`)
      const signed = `${toPublic('evt', eventId)}.${now.getTime() / 1000}.${body}`
      const part = createHmac('sha256', Buffer.from(key)).update(signed).digest('base64')
      assert.equal(headers['webhook-signature'], `v1,${part}`)
    }),
  )
})

test('a long body is signed like a short one', () => {
  const [secret, body] = [makeSecret(), 'é'.repeat(40_000)]
  const whole = createHmac('sha256', secret).update(body).digest('hex')
  assert.equal(sign(secret, body)['x-webhook-signature'], `sha256=${whole}`)
})

test('bytes are verified as they arrived: a byte order mark is part of what was signed', async () => {
  const secret = makeSecret()
  const bytes = (text: string) => new TextEncoder().encode(text)
  const json = '{"event":"Charge.Paid"}'
  const marked = sign(secret, `\ufeff${json}`)
  // JSON cannot begin with the mark, but the signature of these bytes is right.
  await assert.rejects(
    () => unwrapWebhook(bytes(`\ufeff${json}`), marked, secret, { now }),
    SyntaxError,
  )
  await assert.rejects(() => unwrapWebhook(bytes(json), marked, secret, { now }), {
    reason: 'wrong-signature',
  })
  const plain = sign(secret, json)
  assert.deepEqual(await unwrapWebhook(bytes(json), plain, secret, { now }), JSON.parse(json))
  const added = bytes(`\ufeff${json}`)
  await assert.rejects(() => unwrapWebhook(added, plain, secret, { now }), {
    reason: 'wrong-signature',
  })
})
