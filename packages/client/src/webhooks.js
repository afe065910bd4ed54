// @ts-check
/**
 * For those who receive webhooks. JavaScript, so that the examples run without a build.
 *
 * @typedef {import('./generated/resources.ts').EventBody} WebhookEvent What was sent; `event` says
 *   which it is.
 *
 * @typedef {{ get(name: string): string | null }
 *   | { readonly [name: string]: string | readonly string[] | undefined }} WebhookHeaders
 *   `Headers`, Node's `request.headers`, or a plain object; names in any case. `x-webhook-mode` says
 *   whether it is play money (`sandbox`, `dev`) or money (`live`); it is not signed.
 *
 * @typedef {'missing-header' | 'malformed-timestamp' | 'too-old' | 'too-new' | 'wrong-signature'
 *   } RefusalReason
 *
 * @typedef {object} UnwrapOptions
 * @property {number} [toleranceSeconds] How far from now a delivery may have been signed, into
 *   either direction: 300.
 * @property {Date} [now] The present, for tests.
 * @property {'standard-webhooks' | 'x-webhook-signature'} [scheme] Which signature is needed.
 *   `standard-webhooks`, the default, signs id, time and body; `x-webhook-signature` is then checked
 *   too, if it is there. `x-webhook-signature` alone signs no time, so that a copy of the request
 *   is always accepted: choose it only where a proxy removes the other headers, and store what you
 *   have handled.
 *
 * @typedef {object} SignOptions What a delivery says about itself.
 * @property {string} [id] The id of the event, `webhook-id`: a new one.
 * @property {Date} [now] When it is sent: now.
 * @property {'live' | 'dev' | 'sandbox'} [mode] Whether it is money: `sandbox`.
 *
 * @typedef {{ body: string, headers: Record<string, string> }} SignedWebhook A request as it is
 *   sent: POST the body with these headers.
 */
import { randomName, toHex, webCrypto } from './web-crypto.js'

const TOLERANCE_S = 5 * 60
/** Padding may be left out. */
const SECRET = /^whsec_([A-Za-z0-9+/]{32,86})={0,2}$/
/** Whole seconds, written in one way only: other spellings of a number are not what was signed. */
const SECONDS = /^[1-9][0-9]{0,11}$/
/** A sender has two secrets at most. More signatures than a few are only work for the receiver. */
const MAX_SIGNATURES = 8
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** A request that is not to be believed: answer it with 400. `reason` is for programs. */
export class WebhookVerificationError extends Error {
  /**
   * @param {RefusalReason} reason
   * @param {string} message
   */
  constructor(reason, message) {
    super(message)
    this.name = 'WebhookVerificationError'
    this.reason = reason
  }
}

/**
 * Gives the event of a delivery that is genuine and recent.
 *
 * Deliveries come at least once: store the `webhook-id` of what you have handled.
 *
 * @param {string | Uint8Array | ArrayBuffer} rawBody as it arrived, before any parsing: other bytes
 *   of the same JSON do not verify
 * @param {WebhookHeaders} headers
 * @param {string | readonly string[]} secret as shown when the webhook was made or its secret was
 *   rotated; both while you change it
 * @param {UnwrapOptions} [options]
 * @returns {Promise<WebhookEvent>}
 * @throws {WebhookVerificationError} if it is not genuine or not recent
 * @throws {TypeError} if the secret or the body is not of a form that could ever verify
 */
export async function unwrapWebhook(rawBody, headers, secret, options = {}) {
  const { scheme = 'standard-webhooks', toleranceSeconds = TOLERANCE_S, now = new Date() } = options
  const secrets = checkSecrets(secret)
  const body = toBytes(rawBody)
  if (scheme === 'standard-webhooks') {
    await verifyStamped(secrets, headers, body, { now, toleranceSeconds })
    if (findHeader(headers, 'x-webhook-signature')) await verifyBody(secrets, headers, body)
  } else if (scheme === 'x-webhook-signature') await verifyBody(secrets, headers, body)
  else throw new TypeError(`scheme: there is no ${scheme}`)
  return JSON.parse(toText(body))
}

/**
 * Makes a delivery as the server sends it, for tests of receivers.
 *
 * @param {WebhookEvent | string} event what is sent; a text is sent as it is
 * @param {string | readonly string[]} secret that of the webhook; while it is rotated both, the new
 *   one first
 * @param {SignOptions} [options]
 * @returns {Promise<SignedWebhook>}
 */
export async function signWebhook(event, secret, options = {}) {
  const {
    now = new Date(),
    mode = 'sandbox',
    id = `evt_0${(await randomName()).slice(0, 25)}`,
  } = options
  const secrets = checkSecrets(secret)
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const seconds = String(Math.floor(now.getTime() / 1000))
  const plain = secrets.map((one) => new TextEncoder().encode(one))
  const [newest = '', previous] = await signaturesOf(plain, body, toHex)
  const standard = await signaturesOf(secrets.map(keyOf), `${id}.${seconds}.${body}`, toBase64)
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Vintem-Webhooks/1',
    'x-webhook-event': nameOf(body),
    'x-webhook-mode': mode,
    'x-webhook-delivery': toBase64(new TextEncoder().encode(id)).replace(/=+$/, ''),
    'x-webhook-timestamp': now.toISOString(),
    'x-webhook-signature': `sha256=${newest}`,
    ...(previous === undefined ? {} : { 'x-webhook-signature-previous': `sha256=${previous}` }),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.map((one) => `v1,${one}`).join(' '),
  }
  return { body, headers }
}

/**
 * The name to which webhooks subscribe: `charge.paid` of `Charge.Paid`.
 * @param {string} body
 */
function nameOf(body) {
  const [, event = ''] = /^\{"event":"([\w.]+)"/.exec(body) ?? []
  return event.toLowerCase()
}

/**
 * @param {Uint8Array<ArrayBuffer>[]} keys
 * @param {string} text
 * @param {(bytes: Uint8Array) => string} write
 */
async function signaturesOf(keys, text, write) {
  const { subtle } = await webCrypto()
  const signed = new TextEncoder().encode(text)
  return Promise.all(
    keys.map(async (bytes) => {
      const key = await subtle.importKey('raw', bytes, HMAC, false, ['sign'])
      return write(new Uint8Array(await subtle.sign('HMAC', key, signed)))
    }),
  )
}

/**
 * By the headers of Standard Webhooks, which sign id, time and body. The key is the decoded base64
 * of the secret.
 * @param {string[]} secrets
 * @param {WebhookHeaders} headers
 * @param {Uint8Array<ArrayBuffer>} body
 * @param {{ now: Date, toleranceSeconds: number }} time
 */
async function verifyStamped(secrets, headers, body, { now, toleranceSeconds }) {
  const id = readHeader(headers, 'webhook-id')
  const timestamp = readHeader(headers, 'webhook-timestamp')
  const sent = readHeader(headers, 'webhook-signature').split(' ')
  checkTime(timestamp, now, toleranceSeconds)
  const signatures = sent.flatMap((one) => {
    const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(one) ?? []
    return base64 ? [fromBase64(base64)] : []
  })
  const stamp = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(stamp.length + body.length)
  signed.set(stamp)
  signed.set(body, stamp.length)
  await checkSignature(secrets.map(keyOf), signatures, signed)
}

/**
 * By the signature of the body alone, whose key is the whole secret as it is written. For a day
 * after a rotation the signature by the former secret is in a header of its own.
 * @param {string[]} secrets
 * @param {WebhookHeaders} headers
 * @param {Uint8Array<ArrayBuffer>} body
 */
async function verifyBody(secrets, headers, body) {
  const newest = readHeader(headers, 'x-webhook-signature')
  const previous = findHeader(headers, 'x-webhook-signature-previous')
  // Servers before that header existed sent both in the first one, with a comma between them.
  const sent = [...newest.split(/, ?/), previous ?? '']
  const signatures = sent.flatMap((one) => {
    const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(one) ?? []
    return hex ? [Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))] : []
  })
  const keys = secrets.map((secret) => new TextEncoder().encode(secret))
  await checkSignature(keys, signatures, body)
}

/**
 * @param {string} timestamp
 * @param {Date} now
 * @param {number} toleranceSeconds
 */
function checkTime(timestamp, now, toleranceSeconds) {
  if (!SECONDS.test(timestamp)) {
    throw new WebhookVerificationError('malformed-timestamp', 'webhook-timestamp: no whole seconds')
  }
  const age_s = Math.floor(now.getTime() / 1000) - Number(timestamp)
  // Asked so that a tolerance or a time that is no number lets nothing pass.
  if (Math.abs(age_s) <= toleranceSeconds) return
  if (age_s < 0) {
    const text = `webhook-timestamp: ${-age_s} s ahead; is the clock of this machine right?`
    throw new WebhookVerificationError('too-new', text)
  }
  throw new WebhookVerificationError('too-old', `webhook-timestamp: ${age_s} s in the past`)
}

/**
 * One of the sender's secrets must be one of ours; while either side rotates, there are two. Web
 * Crypto compares in constant time.
 * @param {Uint8Array<ArrayBuffer>[]} keys
 * @param {Uint8Array<ArrayBuffer>[]} signatures
 * @param {Uint8Array<ArrayBuffer>} signed
 */
async function checkSignature(keys, signatures, signed) {
  const { subtle } = await webCrypto()
  for (const bytes of keys) {
    const key = await subtle.importKey('raw', bytes, HMAC, false, ['verify'])
    for (const signature of signatures.slice(0, MAX_SIGNATURES)) {
      if (await subtle.verify('HMAC', key, signature, signed)) return
    }
  }
  throw new WebhookVerificationError(
    'wrong-signature',
    'no signature fits: another secret, or a body that is not the bytes that arrived',
  )
}

/**
 * @param {WebhookHeaders} headers
 * @param {string} name
 */
function readHeader(headers, name) {
  const text = findHeader(headers, name)
  if (text) return text
  throw new WebhookVerificationError('missing-header', `${name}: missing`)
}

/**
 * @param {WebhookHeaders} headers
 * @param {string} name
 * @returns {string | null | undefined}
 */
function findHeader(headers, name) {
  if (typeof headers.get === 'function') return headers.get(name)
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return Array.isArray(value) ? value.join(' ') : value
}

/**
 * A mistake in the receiver's own settings is another error than a request that is not genuine.
 * @param {string | readonly string[]} secret
 */
function checkSecrets(secret) {
  const secrets = typeof secret === 'string' ? [secret] : [...(secret ?? [])]
  if (secrets.length > 0 && secrets.every(isWebhookSecret)) return secrets
  throw new TypeError(
    'secret: must be whsec_ and base64 of 24 to 64 bytes, as it was shown, or an array of such',
  )
}

/**
 * Whether a text is of the form that secrets of webhooks have.
 * @param {string} text
 */
export function isWebhookSecret(text) {
  const [, base64 = ''] = SECRET.exec(text) ?? []
  // 24 to 64 bytes. No base64 has one character more than a multiple of four.
  return base64 !== '' && base64.length % 4 !== 1
}

/** @param {string} secret */
const keyOf = (secret) => fromBase64(secret.slice('whsec_'.length))

/** @param {Uint8Array} bytes */
const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes))

/** @param {string} text */
const fromBase64 = (text) =>
  Uint8Array.from(atob(text.replace(/=+$/, '')), (character) => character.charCodeAt(0))

/**
 * @param {string | Uint8Array | ArrayBuffer} rawBody
 * @returns {Uint8Array<ArrayBuffer>}
 */
function toBytes(rawBody) {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody)
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody)
  if (rawBody instanceof Uint8Array) return new Uint8Array(rawBody)
  throw new TypeError('rawBody: must be text or bytes as they arrived, before any parsing')
}

/** @param {Uint8Array<ArrayBuffer>} body */
function toText(body) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw new WebhookVerificationError('wrong-signature', 'the body is not UTF-8')
  }
}
