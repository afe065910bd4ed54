/**
 * For those who receive webhooks: `import { verify } from 'vintem/webhooks'`. JavaScript with its
 * types beside it, since Node strips no types below node_modules.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

const TOLERANCE_S = 5 * 60
/** A key of 24 to 64 bytes. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/
/** Whole seconds, written in one way only: other spellings of a number are not what was signed. */
const SECONDS = /^[1-9][0-9]{0,11}$/

/** A request that is not to be believed. `reason` is a word for programs, `message` for people. */
export class WebhookVerificationError extends Error {
  constructor(reason, message) {
    super(message)
    this.name = 'WebhookVerificationError'
    this.reason = reason
  }
}

/** Gives the event of a delivery that is genuine and recent, and throws for any other. */
export function verify(secret, headers, rawBody, options = {}) {
  const { scheme = 'standard-webhooks', toleranceSeconds = TOLERANCE_S, now = new Date() } = options
  const secrets = checkSecrets(secret)
  const body = toText(rawBody)
  if (scheme === 'x-webhook-signature') verifyBody(secrets, headers, body)
  else if (scheme === 'standard-webhooks') {
    verifyStamped(secrets, headers, body, { now, toleranceSeconds })
  } else throw new TypeError(`scheme: there is no ${scheme}`)
  return JSON.parse(body)
}

/**
 * By the headers of Standard Webhooks, which sign id, time and body. That project's library makes
 * the signature. Its own `verify` is not used: it reads a time like `1700000000junk` as a number,
 * takes neither another tolerance nor another clock, and sees nothing in a `Headers` object.
 */
function verifyStamped(secrets, headers, body, { now, toleranceSeconds }) {
  const id = readHeader(headers, 'webhook-id')
  const timestamp = readHeader(headers, 'webhook-timestamp')
  const sent = readHeader(headers, 'webhook-signature').split(' ')
  checkTime(timestamp, now, toleranceSeconds)
  const signedAt = new Date(Number(timestamp) * 1000)
  const own = secrets.map((secret) => new Webhook(secret).sign(id, signedAt, body))
  checkSignature(own, sent)
}

/**
 * By the signature of the body alone, whose key is the whole secret as it is written. For a day
 * after a rotation the signature by the secret before is in a header of its own.
 */
function verifyBody(secrets, headers, body) {
  const newest = readHeader(headers, 'x-webhook-signature')
  const previous = findHeader(headers, 'x-webhook-signature-previous')
  // Servers before that header existed sent both in the first one, with a comma between them.
  const sent = [...newest.split(/, ?/), ...(previous ? [previous] : [])]
  const hmac = (secret) => createHmac('sha256', secret).update(body).digest('hex')
  const own = secrets.map((secret) => `sha256=${hmac(secret)}`)
  checkSignature(own, sent)
}

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

/** One of the sender's secrets must be one of ours; while either side rotates, there are two. */
function checkSignature(own, sent) {
  if (sent.some((theirs) => own.some((ours) => isEqual(ours, theirs)))) return
  throw new WebhookVerificationError(
    'wrong-signature',
    'no signature fits: another secret, or a body that is not the bytes that arrived',
  )
}

function isEqual(ours, theirs) {
  const [a, b] = [Buffer.from(ours), Buffer.from(theirs)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function readHeader(headers, name) {
  const text = findHeader(headers, name)
  if (text) return text
  throw new WebhookVerificationError('missing-header', `${name}: missing`)
}

/** From `Headers`, from Node's `request.headers`, or from a plain object in any case. */
function findHeader(headers, name) {
  const isNamed = ([key]) => key.toLowerCase() === name
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(isNamed)?.[1]
  return Array.isArray(value) ? value.join(' ') : value
}

/** A mistake in the receiver's own settings is another error than a request that is not genuine. */
function checkSecrets(secret) {
  const secrets = Array.isArray(secret) ? secret : [secret]
  const isSound = (one) => typeof one === 'string' && SECRET.test(one)
  if (secrets.length > 0 && secrets.every(isSound)) return secrets
  throw new TypeError('secret: must be whsec_ and base64, as it was shown, or an array of such')
}

function toText(rawBody) {
  if (typeof rawBody === 'string') return rawBody
  if (!(rawBody instanceof Uint8Array)) {
    throw new TypeError('rawBody: must be text or bytes as they arrived, before any parsing')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody)
  } catch {
    // Decoding loosely would make one text of different bytes, and only one of them was signed.
    throw new WebhookVerificationError('wrong-signature', 'the body is not UTF-8')
  }
}
