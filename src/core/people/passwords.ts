import { randomBytes, timingSafeEqual } from 'node:crypto'
import { isCommon } from '../../../packages/passwords/src/common-passwords.ts'
import { inSlot } from '../../lib/fair-queue.ts'
import { argon2id } from '../../lib/older-node.ts'
import { problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'

const MIN_PASSWORD = 12
const MAX_PASSWORD = 256

/** Why a password cannot be chosen. */
export type PasswordFault = 'short' | 'long' | 'common'

/** What is wrong with a new password. `about` are texts that others know, such as the e-mail. */
export function passwordFault(password: string, about: string[]): PasswordFault | null {
  const { length } = [...password]
  if (length < MIN_PASSWORD) return 'short'
  if (length > MAX_PASSWORD) return 'long'
  return isCommon(password, about) ? 'common' : null
}

/** The cost of a hash: memory in KiB, passes over it, lanes. As OWASP recommends, or more. */
type Cost = { memory: number; passes: number; parallelism: number }

const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32

/** How long a sign-in waits for its hash. */
const WAIT_MS = 10_000
/** If so many wait, the next are refused at once. */
const MAX_WAITING = 100

/** What hashes are made with: few at once, because each takes memory and a processor. */
type Hashing = Pick<App, 'passwords'>

const tooBusy = () => problem('service_unavailable', 'Too many people sign in right now.')

function hash(
  { passwords: { hashing } }: Hashing,
  address: string,
  password: string,
  salt: Buffer,
  cost: Cost,
): Promise<Buffer> {
  if (hashing.waiting() >= MAX_WAITING) throw tooBusy()
  const message = password.normalize('NFKC')
  return inSlot(hashing, address, { most_ms: WAIT_MS, late: tooBusy }, () =>
    argon2id({ message, nonce: salt, tagLength: HASH_BYTES, ...cost }),
  )
}

const textOf = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

/** Hashes a new password. The text has all that is needed to check it, in the PHC format. */
export async function hashPassword(
  app: Hashing,
  address: string,
  password: string,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const { memory, passes, parallelism } = COST
  const hashed = await hash(app, address, password, salt, COST)
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${textOf(salt)}$${textOf(hashed)}`
}

const FORM = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/

function parse(stored: string): Cost & { salt: Buffer; hashed: Buffer } {
  const [, memory, passes, parallelism, salt, hashed] = FORM.exec(stored)!
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt!, 'base64'),
    hashed: Buffer.from(hashed!, 'base64'),
  }
}

/** Whether the hash was made with another cost than hashes are made with now. */
export function isOutdated(stored: string): boolean {
  const { memory, passes, parallelism } = parse(stored)
  return memory !== COST.memory || passes !== COST.passes || parallelism !== COST.parallelism
}

/**
 * Whether the password is the stored one. If none is stored, or nobody has the e-mail, the same
 * work is done, so that the time says nothing.
 */
export async function isPassword(
  app: Hashing,
  address: string,
  password: string,
  stored: string | null,
): Promise<boolean> {
  if (stored === null || password.length > MAX_PASSWORD * 2) {
    await hash(app, address, password.slice(0, MAX_PASSWORD), randomBytes(SALT_BYTES), COST)
    return false
  }
  const { salt, hashed, ...cost } = parse(stored)
  return timingSafeEqual(await hash(app, address, password, salt, cost), hashed)
}
