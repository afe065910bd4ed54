import { randomBytes } from 'node:crypto'
import type { ControlTx } from '../../db/database.ts'
import type { Hashes, Vault } from '../../lib/vault.ts'
import type { LinkKind, PersonLink } from './link-store.ts'
import * as store from './link-store.ts'

export type { LinkKind, PersonLink }

const TOKEN_BYTES = 32
const TOKEN_FORM = /^[\w-]{43}$/

const MINUTE_MS = 60_000
/** How long a link works. */
export const LINK_MS: Record<LinkKind, number> = {
  'sign-in': 15 * MINUTE_MS,
  invitation: 7 * 24 * 60 * MINUTE_MS,
  password: 30 * MINUTE_MS,
}

const PATHS: Record<LinkKind, string> = {
  'sign-in': '/sign-in/link',
  invitation: '/invitation',
  password: '/password',
}

const hashOf = (by: Hashes, kind: LinkKind, token: string): Buffer =>
  by.hashCode(token, `link:${kind}`)

type NewLink = Omit<PersonLink, 'tokenHash' | 'createdAt' | 'expiresAt' | 'usedAt'>

/** A link of a person who is known. */
export const linkOf = (
  kind: LinkKind,
  { id, email, language }: { id: string; email: string; language: PersonLink['language'] },
): NewLink => ({
  kind,
  personId: id,
  email,
  companyId: null,
  role: null,
  makesOperator: false,
  invitedBy: null,
  language,
})

/** Makes a link that works once. The database has only a hash of its token. */
export async function makeLink(
  tx: ControlTx,
  vault: Vault,
  publicUrl: string,
  link: NewLink,
  now: Date,
): Promise<{ url: string; link: PersonLink }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const made: PersonLink = {
    ...link,
    tokenHash: hashOf(vault, link.kind, token),
    createdAt: now,
    expiresAt: new Date(now.getTime() + LINK_MS[link.kind]),
    usedAt: null,
  }
  await store.insertLink(tx, made)
  return { url: `${publicUrl}${PATHS[link.kind]}/${token}`, link: made }
}

/** A link that still works, or null. It is not used by this. */
export async function findLink(
  tx: ControlTx,
  vault: Vault,
  kind: LinkKind,
  token: string,
  now: Date,
): Promise<PersonLink | null> {
  if (!TOKEN_FORM.test(token)) return null
  const hashes = vault.forms((by) => hashOf(by, kind, token))
  const link = await store.findLink(tx, hashes)
  return link && link.usedAt === null && link.expiresAt > now ? link : null
}

/** Uses a link. False if somebody else was faster, or if its time is over. */
export const useLink = (tx: ControlTx, { tokenHash }: PersonLink, now: Date): Promise<boolean> =>
  store.useLink(tx, tokenHash, now)

/** Names an invitation in URLs and in the activity log. It does not open the link. */
export const invitationIdOf = ({ tokenHash }: PersonLink): string => tokenHash.toString('base64url')
