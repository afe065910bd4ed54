import {
  type Cipheriv,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto'
import { assert } from './assert.ts'
import { createMemo } from './memo.ts'

/**
 * The hashes that one secret makes. They are known of former secrets too, whose hashes nobody can
 * open and make again.
 */
export type Hashes = {
  /** Identifies the secret without revealing it: four bytes at the head of every envelope. */
  keyId: string
  /** A keyed hash that finds equal values again without revealing them. */
  index(companyId: string, value: string): Buffer
  /** Recognises a request again; keyed, since what it hashes could be guessed. */
  fingerprint(parts: string[]): Buffer
  /** The stored form of an API key. */
  hashKey(key: string): Buffer
  /** Ends the address of a page, so that nobody can make one up who knows the rest of it. */
  tag(address: string): string
  /** The stored form of a one-time code; `context` (company, row) ties it to what it is for. */
  hashCode(code: string, context: string): Buffer
  /**
   * Hashes a stored hash again, behind the id of this secret. Whoever knows only the secret before
   * can then no longer find out by guessing what was hashed.
   */
  wrap(hash: Buffer): Buffer
}

/** All that one secret gives. */
export type Keys = Hashes & {
  /**
   * Seals text; `context` (company, row) must be given again to open it, so that rows cannot be
   * swapped.
   */
  seal(text: string, context: string): Buffer
  open(envelope: Buffer, context: string): string
  /**
   * Short keyed hashes of parts of values, of at most 15 bytes each, by which a value is found that
   * has them. They differ from company to company, and several parts may have the same one.
   */
  tokens(companyId: string, parts: string[]): number[]
  /** What makes its hashes, to be kept when the secret itself is gone. */
  hashing(): string
}

/** What is kept of a former secret, and when it was replaced. */
export type Former = { keyId: string; hashing: string; replacedAt: Date }

/**
 * Keeps what must not be readable in the database. One secret outside of it gives, by derivation, a
 * key for each use; losing the database alone therefore reveals no payer, no API key and no
 * one-time code. While a secret is replaced by another there are two, of which one is present: it
 * makes all that is new, and either opens what it has sealed.
 */
export type Vault = Keys & {
  /** The present secret first, and then the other one, if there is one. */
  readonly each: readonly Keys[]
  /** The secret that was the first. Its hashes name what must keep its name. */
  readonly first: Hashes
  /** All forms in which a hash may be stored, the present one first. */
  forms(hash: (of: Hashes) => Buffer): Buffer[]
  /** All forms in which a fingerprint that was just made may be stored, the present one first. */
  formsOf(fingerprint: Buffer): Buffer[]
  /** The form of a fingerprint that stays when a secret is replaced. */
  firstFormOf(fingerprint: Buffer): Buffer
  /** Whether a stored fingerprint is of the request of one that was just made. */
  isSameRequest(stored: Buffer, made: Buffer): boolean
  /** Whether an address of something that was made at a moment ends with its tag. */
  isTag(tag: string, address: string, madeAt: Date): boolean
  /** Makes another secret the present one. */
  use(keyId: string): void
  /** Learns from the database which secret is present, and what is kept of former ones. */
  learn(presentId: string, formers: Former[]): void
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

/** What each key is for. Their order is that of the bytes which are kept of a former secret. */
const HASHING = [
  'blind index',
  'api keys',
  'requests',
  'one-time codes',
  'page addresses',
  'stored hashes',
] as const

type HashingUse = (typeof HASHING)[number]
type HashingKeys = Record<HashingUse, Buffer>

const deriveFrom = (secret: Buffer, use: string, size: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'vintem', use, size))

const KEY_BYTES = 32

function readHashing(text: string): HashingKeys {
  const bytes = Buffer.from(text, 'base64')
  assert(bytes.length === HASHING.length * KEY_BYTES, 'all keys are kept')
  const parts = HASHING.map((use, i) => [use, bytes.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES)])
  return Object.fromEntries(parts)
}

function hashesOf(keyId: Buffer, keys: HashingKeys): Hashes {
  // A key object is prepared once; raw bytes would be at every use, at several times the cost.
  const hmacBy = (use: HashingUse) => {
    const key = createSecretKey(keys[use])
    return () => createHmac('sha256', key)
  }
  const indexing = hmacBy('blind index')
  const hashing = hmacBy('api keys')
  const recognising = hmacBy('requests')
  const confirming = hmacBy('one-time codes')
  const tagging = hmacBy('page addresses')
  const wrapping = hmacBy('stored hashes')
  return {
    keyId: keyId.toString('hex'),
    // A text that is cut costs less than a buffer of its own for each hash.
    index: (companyId, value) => {
      const hash = indexing().update(`${companyId}:${value}`).digest('hex')
      return Buffer.from(hash.slice(0, 32), 'hex')
    },
    fingerprint: (parts) => recognising().update(parts.join('\n')).digest(),
    hashKey: (key) => hashing().update(key).digest(),
    // 120 bits are twenty characters, without a rest.
    tag: (address) => tagging().update(address).digest('base64url').slice(0, 20),
    hashCode: (code, context) => confirming().update(`${context}:${code}`).digest(),
    wrap: (hash) => Buffer.concat([keyId, wrapping().update(hash).digest()]),
  }
}

/** The id of the secret that has sealed an envelope, or has hashed a hash again. */
export const keyIdOf = (stored: Buffer): string => stored.toString('hex', 0, KEY_ID_BYTES)

const WRAPPED_BYTES = KEY_ID_BYTES + KEY_BYTES
/** Whether a hash was hashed again by a secret. Hashes that were not have other lengths. */
export const isWrappedBy = (keyId: string, hash: Buffer): boolean =>
  hash.length === WRAPPED_BYTES && keyIdOf(hash) === keyId

export function keysOf(secret: Buffer): Keys {
  assert(secret.length >= 32, 'the secret key has at least 32 bytes')
  const derive = (use: string, size: number) => deriveFrom(secret, use, size)
  const nonces = createNonces()
  const keyId = derive('key id', KEY_ID_BYTES)
  const hashing = Object.fromEntries(
    HASHING.map((use) => [use, derive(use, KEY_BYTES)]),
  ) as HashingKeys
  const sealing = createSecretKey(derive('seal', KEY_BYTES))
  const tokening = createSecretKey(derive('tokens', KEY_BYTES))
  const tokenCiphers = createMemo<Cipheriv>(MAX_TOKEN_CIPHERS)

  function seal(text: string, context: string): Buffer {
    const nonce = nonces.next()
    const cipher = createCipheriv('aes-256-gcm', sealing, nonce)
    cipher.setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([keyId, nonce, cipher.getAuthTag(), body])
  }

  function open(envelope: Buffer, context: string): string {
    assert(envelope.subarray(0, KEY_ID_BYTES).equals(keyId), 'sealed with this secret key')
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
    ...hashesOf(keyId, hashing),
    seal,
    open,
    tokens,
    hashing: () => Buffer.concat(HASHING.map((use) => hashing[use])).toString('base64'),
  }
}

/** Tags of a former secret count for what was made up to so long after it was replaced. */
const CLOCKS_DIFFER_MS = 300_000

/**
 * Each time that a secret was replaced, stored hashes were hashed again by the next one: those that
 * were so already, and those that were not. The last replacement may not be over.
 */
function formsOfHash(known: Hashes[], present: Hashes, hash: (of: Hashes) => Buffer): Buffer[] {
  const newest = hash(present)
  if (known.length === 1) return [newest]
  const plain = known.map((one) => (one.keyId === present.keyId ? newest : hash(one)))
  let before: Buffer[] = []
  let wrapped: Buffer[] = []
  for (let i = 1; i < known.length; i++) {
    before = wrapped
    wrapped = [...before, plain[i - 1]!, plain[i]!].map(known[i]!.wrap)
  }
  return [newest, ...plain.filter((one) => one !== newest), ...wrapped, ...before]
}

function isTagOf(keys: Hashes, tag: string, address: string): boolean {
  const [given, wanted] = [Buffer.from(tag), Buffer.from(keys.tag(address))]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** The secrets that are known. `next` is to replace the other one, or has just done so. */
function createKnown(secret: Buffer, next: Buffer | null) {
  // For a moment both settings may be the same secret.
  const own = next === null || next.equals(secret) ? [keysOf(secret)] : [secret, next].map(keysOf)
  const known = {
    each: own,
    all: own as Hashes[],
    endOf: new Map<string, Date>(),
    ownOf,
    use,
    learn,
  }

  function ownOf(keyId: string): Keys {
    const found = own.find((one) => one.keyId === keyId)
    assert(found, 'the secret is known')
    return found
  }

  function use(keyId: string): void {
    known.each = [ownOf(keyId), ...own.filter((one) => one.keyId !== keyId)]
  }

  function learn(presentId: string, formers: Former[]): void {
    use(presentId)
    const kept = formers.filter(({ keyId }) => keyId !== presentId)
    for (const { keyId, replacedAt } of kept) {
      known.endOf.set(keyId, new Date(replacedAt.getTime() + CLOCKS_DIFFER_MS))
    }
    const isNew = ({ keyId }: Keys) => !kept.some((one) => one.keyId === keyId)
    // The oldest first.
    known.all = [
      ...kept.map(({ keyId, hashing }) =>
        hashesOf(Buffer.from(keyId, 'hex'), readHashing(hashing)),
      ),
      ...known.each.filter(isNew),
    ]
  }

  return known
}

/** `next` is the secret that is to replace the other one, or has just done so. */
export function createVault(secret: Buffer, next: Buffer | null = null): Vault {
  const known = createKnown(secret, next)
  const present = (): Keys => known.each[0]!
  // With several secrets, what a fingerprint was made of, so that its other forms can be made.
  const partsOf = new WeakMap<Buffer, string[]>()

  const forms = (hash: (of: Hashes) => Buffer) => formsOfHash(known.all, present(), hash)

  function fingerprint(parts: string[]): Buffer {
    const made = present().fingerprint(parts)
    if (known.all.length > 1) partsOf.set(made, parts)
    return made
  }

  function formsOf(made: Buffer): Buffer[] {
    const parts = partsOf.get(made)
    return parts ? forms((one) => one.fingerprint(parts)) : [made]
  }

  return {
    get keyId() {
      return present().keyId
    },
    get each() {
      return known.each
    },
    get first() {
      return known.all[0]!
    },
    index: (companyId, value) => present().index(companyId, value),
    fingerprint,
    hashKey: (key) => present().hashKey(key),
    tag: (address) => present().tag(address),
    hashCode: (code, context) => present().hashCode(code, context),
    wrap: (hash) => present().wrap(hash),
    seal: (text, context) => present().seal(text, context),
    open: (envelope, context) => known.ownOf(keyIdOf(envelope)).open(envelope, context),
    tokens: (companyId, parts) => present().tokens(companyId, parts),
    hashing: () => present().hashing(),
    forms,
    formsOf,
    firstFormOf(made) {
      const parts = partsOf.get(made)
      return parts ? known.all[0]!.fingerprint(parts) : made
    },
    isSameRequest: (stored, made) =>
      stored.equals(made) || formsOf(made).some((form) => form.equals(stored)),
    isTag: (tag, address, madeAt) =>
      known.all.some((keys) => {
        const end = known.endOf.get(keys.keyId)
        return isTagOf(keys, tag, address) && (!end || madeAt < end)
      }),
    use: known.use,
    learn: known.learn,
  }
}
