import {
  type Cipheriv,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto'
import { assert } from './assert.ts'
import { createMemo } from './memo.ts'

/**
 * Keeps what must not be readable in the database. One secret outside of it gives, by derivation, a
 * key for each use; losing the database alone therefore reveals no payer, no API key and no
 * one-time code.
 */
export type Vault = {
  /** Identifies the secret without revealing it: four bytes at the head of every envelope. */
  keyId: string
  /**
   * Seals text; `context` (company, row) must be given again to open it, so that rows cannot be
   * swapped.
   */
  seal(text: string, context: string): Buffer
  open(envelope: Buffer, context: string): string
  /** A keyed hash that finds equal values again without revealing them. */
  index(companyId: string, value: string): Buffer
  /**
   * Short keyed hashes of parts of values, of at most 15 bytes each, by which a value is found that
   * has them. They differ from company to company, and several parts may have the same one.
   */
  tokens(companyId: string, parts: string[]): number[]
  /** Recognises a request again; keyed, since what it hashes could be guessed. */
  fingerprint(parts: string[]): Buffer
  /** The stored form of an API key. */
  hashKey(key: string): Buffer
  /** Ends the address of a page, so that nobody can make one up who knows the rest of it. */
  tag(address: string): string
  /** The stored form of a one-time code; `context` (company, row) ties it to what it is for. */
  hashCode(code: string, context: string): Buffer
}

const KEY_ID_BYTES = 4
const BLOCK_BYTES = 16
/** The ciphers of so many companies are remembered for tokens. */
const MAX_TOKEN_CIPHERS = 512
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES

/** Random nonces, drawn for hundreds of envelopes at once. */
function createNonces(): { next(): Buffer } {
  const pool = Buffer.alloc(NONCE_BYTES * 512)
  let used = pool.length
  return {
    next() {
      if (used === pool.length) {
        randomFillSync(pool)
        used = 0
      }
      used += NONCE_BYTES
      return pool.subarray(used - NONCE_BYTES, used)
    },
  }
}

/** Most parts are plain letters and digits, which are written at once. */
function writePart(blocks: Buffer, at: number, part: string): void {
  assert(part.length < BLOCK_BYTES, 'a part fits into a block')
  for (let i = 0; i < part.length; i++) {
    const code = part.charCodeAt(i)
    if (code > 127) {
      assert(blocks.write(part, at, BLOCK_BYTES) < BLOCK_BYTES, 'a part fits into a block')
      return
    }
    blocks[at + i] = code
  }
}

export function createVault(secret: Buffer): Vault {
  assert(secret.length >= 32, 'the secret key has at least 32 bytes')
  const derive = (use: string, size: number) =>
    Buffer.from(hkdfSync('sha256', secret, 'vintem', use, size))
  const nonces = createNonces()
  const keyId = derive('key id', KEY_ID_BYTES)
  // A key object is prepared once; raw bytes would be at every use, at several times the cost.
  const keyFor = (use: string): KeyObject => createSecretKey(derive(use, 32))
  const sealing = keyFor('seal')
  const indexing = keyFor('blind index')
  const tokening = keyFor('tokens')
  const tokenCiphers = createMemo<Cipheriv>(MAX_TOKEN_CIPHERS)
  const hashing = keyFor('api keys')
  const recognising = keyFor('requests')
  const confirming = keyFor('one-time codes')
  const tagging = keyFor('page addresses')

  function seal(text: string, context: string): Buffer {
    const nonce = nonces.next()
    const cipher = createCipheriv('aes-256-gcm', sealing, nonce)
    cipher.setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([keyId, nonce, cipher.getAuthTag(), body])
  }

  function open(envelope: Buffer, context: string): string {
    assert(envelope.subarray(0, KEY_ID_BYTES).equals(keyId), 'sealed with the present secret key')
    const nonce = envelope.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', sealing, nonce)
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(envelope.subarray(KEY_ID_BYTES + NONCE_BYTES, HEAD_BYTES))
    return (
      decipher.update(envelope.subarray(HEAD_BYTES), undefined, 'utf8') + decipher.final('utf8')
    )
  }

  /**
   * A cipher of blocks hashes all parts at once, and keeps nothing of one block for the next. A
   * hash for each part, or a new cipher for each call, would take much longer.
   */
  function tokens(companyId: string, parts: string[]): number[] {
    const cipher = tokenCiphers.of(companyId, () => {
      const key = createHmac('sha256', tokening).update(companyId).digest()
      return createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
    })
    const blocks = Buffer.alloc(parts.length * BLOCK_BYTES)
    for (const [i, part] of parts.entries()) writePart(blocks, i * BLOCK_BYTES, part)
    const hashes = cipher.update(blocks)
    return parts.map((_, i) => hashes.readInt32BE(i * BLOCK_BYTES))
  }

  return {
    keyId: keyId.toString('hex'),
    seal,
    open,
    tokens,
    // A text that is cut costs less than a buffer of its own for each hash.
    index: (companyId, value) => {
      const hash = createHmac('sha256', indexing).update(`${companyId}:${value}`).digest('hex')
      return Buffer.from(hash.slice(0, 32), 'hex')
    },
    fingerprint: (parts) => createHmac('sha256', recognising).update(parts.join('\n')).digest(),
    hashKey: (key) => createHmac('sha256', hashing).update(key).digest(),
    // 120 bits are twenty characters, without a rest.
    tag: (address) =>
      createHmac('sha256', tagging).update(address).digest('base64url').slice(0, 20),
    hashCode: (code, context) =>
      createHmac('sha256', confirming).update(`${context}:${code}`).digest(),
  }
}
