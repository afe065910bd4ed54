import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { isoOf } from '../../lib/clock.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { AnyEventType, EventMode } from '../events.ts'

/** What a delivery is made from. It is signed with every secret that is valid now. */
type Signed = {
  eventId: Uuid
  deliveryId: string
  type: AnyEventType
  mode: EventMode
  body: string
  /** One for each secret that is valid now, the newest first. */
  signers: Signer[]
  /** The real time, which is signed: receivers compare it with theirs. */
  now: Date
  /** What time it is for the company, where a test clock is ahead. */
  ownNow?: Date
}

/**
 * The headers of a delivery: those of the interface, whose signature is keyed by the whole secret,
 * and those of Standard Webhooks, keyed by the bytes that its second part encodes. Made here and
 * not by that project's library, whose hash in script costs several times the rest of a delivery.
 */
export function headersOf({ eventId, deliveryId, type, mode, body, signers, ...at }: Signed) {
  const { now, ownNow = now } = at
  const id = toPublic('evt', eventId)
  const seconds = String(Math.floor(now.getTime() / 1000))
  const [plain, previous] = signers.map(({ whole }) => `sha256=${hmac(whole, body, 'hex')}`)
  const standard = signers.map(
    ({ part }) => `v1,${hmac(part, `${id}.${seconds}.${body}`, 'base64')}`,
  )
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Vintem-Webhooks/1',
    'x-webhook-event': type,
    'x-webhook-mode': mode,
    'x-webhook-delivery': deliveryId,
    'x-webhook-timestamp': isoOf(ownNow),
    // Receivers compare this header as a whole, so it has one value even while a secret is rotated.
    'x-webhook-signature': plain!,
    ...(previous === undefined ? {} : { 'x-webhook-signature-previous': previous }),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  }
}

/** The keys of one secret: the whole text, and the bytes that its second part encodes. */
export type Signer = { whole: KeyObject; part: KeyObject }

export const signerOf = (secret: string): Signer => ({
  whole: createSecretKey(secret, 'utf8'),
  part: createSecretKey(secret.slice('whsec_'.length), 'base64'),
})

const hmac = (key: KeyObject, text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', key).update(text).digest(encoding)
