import { randomBytes } from 'node:crypto'
import { assert } from './assert.ts'

/** A UUID in its usual lower-case text form. Columns are `uuid`; TypeIDs exist at the edge only. */
export type Uuid = string

/**
 * Prefixes of the public identifiers. Companies and webhooks are plain UUIDs, as the contract types
 * them.
 */
export type Prefix =
  | 'charge'
  | 'plan'
  | 'link'
  | 'clnt'
  | 'prod'
  | 'qrs'
  | 'rec'
  | 'wd'
  | 'rfnd'
  | 'evt'
  | 'dispute'
  | 'rcpt'

/** The digits of a TypeID, as character codes. */
const ALPHABET = Buffer.from('0123456789abcdefghjkmnpqrstvwxyz')
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const HEX_DIGITS = Buffer.from('0123456789abcdef')
/** The value of a hexadecimal digit by its character code. */
const NIBBLE = Uint8Array.from({ length: 103 }, (_, code) =>
  Math.max(0, '0123456789abcdef'.indexOf(String.fromCharCode(code))),
)
/** The value of a digit of a TypeID by its character code. */
const DIGIT = Uint8Array.from({ length: 123 }, (_, code) => Math.max(0, ALPHABET.indexOf(code)))
/** Where the 32 digits are in a UUID's text. */
const DIGITS_AT = [...'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'].flatMap((c, i) =>
  c === 'x' ? [i] : [],
)
const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SUFFIX_FORM = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Random digits, drawn for hundreds of ids at once. */
let random = ''
let used = 0
let lastMs = 0
let sequence = 0
let timePart = ''

function tick(): void {
  const now = Date.now()
  sequence += 1
  if (now <= lastMs && sequence <= 0xfff) return
  lastMs = Math.max(now, lastMs + 1)
  sequence = 0
  const time = lastMs.toString(16).padStart(12, '0')
  timePart = `${time.slice(0, 8)}-${time.slice(8)}-7`
}

function randomDigits(): string {
  if (used >= random.length) {
    random = randomBytes(8192).toString('hex')
    used = 0
  }
  used += 16
  return random.slice(used - 16, used)
}

/**
 * A UUIDv7. The 12 bits after the millisecond count up within it, so that ids made by one process
 * sort in the order they were made; the other 62 bits are random, so that none can be guessed.
 */
export function newId(): Uuid {
  tick()
  const digits = randomDigits()
  const count = HEX[sequence >> 8]!.slice(1) + HEX[sequence & 255]
  const variant = '89ab'[NIBBLE[digits.charCodeAt(0)]! & 3]
  return `${timePart}${count}-${variant}${digits.slice(1, 4)}-${digits.slice(4)}`
}

/** When a UUIDv7 was made. */
export const timeOf = (id: Uuid): Date =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))

/** The lowest UUIDv7 of a moment, to compare ids with it. None is older than 1970. */
export function lowestIdAt(at: Date): Uuid {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** One of the 16 bytes of a UUID. */
export const byteOf = (id: Uuid, i: number): number =>
  (NIBBLE[id.charCodeAt(DIGITS_AT[2 * i]!)]! << 4) | NIBBLE[id.charCodeAt(DIGITS_AT[2 * i + 1]!)]!

export const isUuid = (text: string): boolean => UUID_FORM.test(text)

/** Where a text is put together, since nothing else runs meanwhile. To join it would cost more. */
const SUFFIX = Buffer.alloc(26)
const UUID = Buffer.alloc(36, '-')

/** The 26 characters a UUID has in a TypeID. */
export function suffixOf(id: Uuid): string {
  assert(id.length === 36, 'an id is a UUID')
  // 26 digits of 5 bits hold 130 bits: the number is read as if two zero bits were before it.
  let at = 0
  let value = 0
  let bits = 2
  for (let i = 0; i < 16; i++) {
    value = (value << 8) | byteOf(id, i)
    bits += 8
    while (bits >= 5) {
      bits -= 5
      SUFFIX[at++] = ALPHABET[(value >>> bits) & 31]!
    }
    value &= (1 << bits) - 1
  }
  return SUFFIX.toString('latin1')
}

export function idOfSuffix(suffix: string): Uuid | null {
  if (!SUFFIX_FORM.test(suffix)) return null
  let at = 0
  let value = 0
  let bits = -2
  for (let i = 0; i < 26; i++) {
    value = (value << 5) | DIGIT[suffix.charCodeAt(i)]!
    bits += 5
    if (bits < 8) continue
    bits -= 8
    const byte = (value >>> bits) & 255
    UUID[DIGITS_AT[at++]!] = HEX_DIGITS[byte >> 4]!
    UUID[DIGITS_AT[at++]!] = HEX_DIGITS[byte & 15]!
    value &= (1 << bits) - 1
  }
  return UUID.toString('latin1')
}

/** The first and the last id whose 26 characters begin with these. Null if there are none. */
export function idsFrom(start: string): { from: Uuid; to: Uuid } | null {
  const from = idOfSuffix(start.padEnd(26, '0'))
  const to = idOfSuffix(start.padEnd(26, 'z'))
  return from !== null && to !== null ? { from, to } : null
}

export function toPublic(prefix: Prefix, id: Uuid): string {
  return `${prefix}_${suffixOf(id)}`
}

/** Null when the text is not an id of this kind: to a client that is the same as an unknown one. */
export function fromPublic(prefix: Prefix, text: string): Uuid | null {
  return text.startsWith(`${prefix}_`) ? idOfSuffix(text.slice(prefix.length + 1)) : null
}

/**
 * A company and one of its records in 43 characters of a URL. What arrives without an API key names
 * its company this way, so no lookup searches all companies.
 */
export function packPair(companyId: Uuid, id: Uuid): string {
  for (let i = 0; i < 16; i++) {
    PAIR[i] = byteOf(companyId, i)
    PAIR[16 + i] = byteOf(id, i)
  }
  return PAIR.toString('base64url')
}

/** Where a pair is put together, since nothing else runs meanwhile. */
const PAIR = Buffer.alloc(32)

export function unpackPair(token: string): { companyId: Uuid; id: Uuid } | null {
  if (!/^[\w-]{43}$/.test(token)) return null
  const hex = Buffer.from(token, 'base64url').toString('hex')
  const uuid = (h: string) =>
    `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`
  return { companyId: uuid(hex.slice(0, 32)), id: uuid(hex.slice(32)) }
}
