import { createHmac } from 'node:crypto'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { AnyEventType } from '../events.ts'

/** What a receiver is told beside the body, and signed with every secret that is valid now. */
export type Signed = {
  eventId: Uuid
  deliveryId: string
  type: AnyEventType
  body: string
  /** The newest first. */
  secrets: string[]
  now: Date
}

/**
 * The headers of a delivery: those of the interface, whose signature is keyed by the whole secret,
 * and those of Standard Webhooks, keyed by the bytes that its second part stands for. Made here and
 * not by that project's library, whose hash in script costs several times the rest of a delivery.
 */
export function headersOf({ eventId, deliveryId, type, body, secrets, now }: Signed) {
  const id = toPublic('evt', eventId)
  const seconds = String(Math.floor(now.getTime() / 1000))
  const plain = secrets.map((secret) => `sha256=${hmac(secret, body, 'hex')}`)
  const standard = secrets.map(
    (secret) => `v1,${hmac(keyOf(secret), `${id}.${seconds}.${body}`, 'base64')}`,
  )
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Vintem-Webhooks/1',
    'x-webhook-event': type,
    'x-webhook-delivery': deliveryId,
    'x-webhook-timestamp': now.toISOString(),
    'x-webhook-signature': plain.join(', '),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  }
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64')

const hmac = (key: string | Buffer, text: string, form: 'hex' | 'base64'): string =>
  createHmac('sha256', key).update(text).digest(form)
