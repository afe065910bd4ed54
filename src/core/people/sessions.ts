import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { ControlTx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Hashes, Vault } from '../../lib/vault.ts'
import {
  isLive,
  MAX_IDLE_MS,
  MAX_SESSION_MS,
  type Person,
  SEEN_AGAIN_MS,
  type Session,
} from './rules.ts'
import * as store from './store.ts'

/** Where somebody signs in from. */
type Origin = { address: string; device: string }

/** How somebody has proved who they are. */
export type Proof = Pick<Session, 'hasSecondFactor' | 'byLink'> & { isConfirmed: boolean }

const TOKEN_BYTES = 32
const TOKEN_FORM = /^[\w-]{43}$/
const MAX_DEVICE = 255
/** A person has at most so many sessions. The one that was seen longest ago ends. */
const MAX_SESSIONS = 50

const hashOf = (by: Hashes, token: string): Buffer => by.hashCode(token, 'session')

const hashesOf = (vault: Vault, token: string): Buffer[] => vault.forms((by) => hashOf(by, token))

/** Starts a session. The token is for the cookie; the database has only its hash. */
export async function startSession(
  tx: ControlTx,
  vault: Vault,
  personId: Uuid,
  { address, device }: Origin,
  { isConfirmed, hasSecondFactor, byLink }: Proof,
  now: Date,
): Promise<{ session: Session; token: string }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const session: Session = {
    id: newId(),
    personId,
    tokenHash: hashOf(vault, token),
    createdAt: now,
    lastSeenAt: now,
    confirmedAt: isConfirmed ? now : null,
    hasSecondFactor,
    byLink,
    address,
    device: device.slice(0, MAX_DEVICE),
  }
  await store.insertSession(tx, session)
  await store.keepNewestSessions(tx, personId, MAX_SESSIONS)
  return { session, token }
}

/** Whose session a token is, or null if it has ended or never was. */
export async function useSession(
  tx: ControlTx,
  vault: Vault,
  token: string,
  now: Date,
): Promise<{ session: Session; person: Person } | null> {
  if (!TOKEN_FORM.test(token)) return null
  const found = await store.findSession(tx, hashesOf(vault, token))
  if (!found || !isLive(found.session, now)) return null
  const { id, lastSeenAt } = found.session
  if (now.getTime() - lastSeenAt.getTime() >= SEEN_AGAIN_MS) await store.touchSession(tx, id, now)
  return found
}

/** Ends the session of a token, if there is one. */
export async function endSession(tx: ControlTx, vault: Vault, token: string): Promise<void> {
  if (TOKEN_FORM.test(token)) await store.deleteSessionByToken(tx, hashesOf(vault, token))
}

/** Deletes sessions that have ended by their age. */
export async function purgeSessions(tx: ControlTx, now: Date): Promise<void> {
  const before = (age_ms: number) => new Date(now.getTime() - age_ms)
  await store.purgeSessions(tx, before(MAX_IDLE_MS), before(MAX_SESSION_MS))
}

/** A text that only pages of this session know. Every form of theirs has it. */
export const formTokenOf = (vault: Vault, { id }: Pick<Session, 'id'>): string =>
  shorten(vault.hashCode(id, 'form'))

const shorten = (hash: Buffer): string => hash.toString('base64url').slice(0, 22)

/** Whether a form has such a text. It may have been shown before the secret was replaced. */
export const isFormToken = (vault: Vault, session: Pick<Session, 'id'>, given: string): boolean =>
  vault
    .forms((by) => by.hashCode(session.id, 'form'))
    .some((hash) => {
      const [one, other] = [Buffer.from(given), Buffer.from(shorten(hash))]
      return one.length === other.length && timingSafeEqual(one, other)
    })
