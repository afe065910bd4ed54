import { randomFillSync } from 'node:crypto'
import { assert } from './assert.ts'

/** A UUID in its usual lower-case text form. Columns are `uuid`; TypeIDs exist at the edge only. */
export type Uuid = string

/**
 * Prefixes of the public identifiers. Companies and webhooks are plain UUIDs, as the contract types
 * them.
 */
export type Prefix = 'charge' | 'clnt' | 'prod' | 'qrs' | 'rec' | 'wd' | 'rfnd' | 'evt'

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const DIGIT = new Map([...ALPHABET].map((letter, value) => [letter, value]))
const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SUFFIX_FORM = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

const pool = new Uint8Array(8192)
let used = pool.length
let lastMs = 0
let sequence = 0

/**
 * A UUIDv7. The 12 bits after the millisecond count up within it, so that ids made by one process
 * sort in the order they were made; the other 62 bits are random, so that none can be guessed.
 */
export function newId(): Uuid {
  const now = Date.now()
  sequence = now > lastMs ? 0 : sequence + 1
  if (now > lastMs) lastMs = now
  if (sequence > 0xfff) {
    lastMs += 1
    sequence = 0
  }
  if (used + 8 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const r = pool.subarray(used, used + 8)
  used += 8
  const variant = HEX[(r[0]! & 0x3f) | 0x80]! + HEX[r[1]!]
  const tail = HEX[r[2]!]! + HEX[r[3]!] + HEX[r[4]!] + HEX[r[5]!] + HEX[r[6]!] + HEX[r[7]!]
  const count = sequence.toString(16).padStart(3, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${variant}-${tail}`
}

export const isUuid = (text: string): boolean => UUID_FORM.test(text)

/** The 26 characters a UUID has in a TypeID. They also make a valid Pix txid. */
export function suffixOf(id: Uuid): string {
  const hex = id.replaceAll('-', '')
  assert(hex.length === 32, 'an id is a UUID')
  // 26 digits of 5 bits hold 130 bits: the number is read as if two zero bits stood before it.
  let text = ''
  let value = 0
  let bits = 2
  for (let i = 0; i < 32; i += 2) {
    value = (value << 8) | Number.parseInt(hex.slice(i, i + 2), 16)
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >>> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return text
}

export function idOfSuffix(suffix: string): Uuid | null {
  if (!SUFFIX_FORM.test(suffix)) return null
  let hex = ''
  let value = 0
  let bits = -2
  for (const letter of suffix) {
    value = (value << 5) | DIGIT.get(letter)!
    bits += 5
    while (bits >= 8) {
      bits -= 8
      hex += HEX[(value >>> bits) & 255]
    }
    value &= (1 << bits) - 1
  }
  const part = (from: number, to: number) => hex.slice(from, to)
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`
}

export function toPublic(prefix: Prefix, id: Uuid): string {
  return `${prefix}_${suffixOf(id)}`
}

/** Null when the text is not an id of this kind: to a client that is the same as an unknown one. */
export function fromPublic(prefix: Prefix, text: string): Uuid | null {
  return text.startsWith(`${prefix}_`) ? idOfSuffix(text.slice(prefix.length + 1)) : null
}

/**
 * A company and one of its records in 43 characters of a URL. What arrives without an API key (a
 * payer's page, a bank's payload location) names its company this way, so no lookup searches all
 * companies.
 */
export function packPair(companyId: Uuid, id: Uuid): string {
  return Buffer.from((companyId + id).replaceAll('-', ''), 'hex').toString('base64url')
}

export function unpackPair(token: string): { companyId: Uuid; id: Uuid } | null {
  if (!/^[\w-]{43}$/.test(token)) return null
  const hex = Buffer.from(token, 'base64url').toString('hex')
  const uuid = (h: string) =>
    `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`
  return { companyId: uuid(hex.slice(0, 32)), id: uuid(hex.slice(32)) }
}
