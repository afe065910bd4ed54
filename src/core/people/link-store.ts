import { bytes } from '../../db/arrays.ts'
import { tableOf } from '../../db/columns.ts'
import type { ControlTx, Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import type { Person, Role } from './rules.ts'

export type LinkKind = 'sign-in' | 'invitation' | 'password'

/** A link that works once. */
export type PersonLink = {
  tokenHash: Buffer
  kind: LinkKind
  /** Null: an invitation of somebody who is not known yet. */
  personId: Uuid | null
  /** In lower case. */
  email: string
  companyId: Uuid | null
  role: Role | null
  makesOperator: boolean
  /** Whose invitation it is: it ends with their right to invite. Null: the command line's. */
  invitedBy: Uuid | null
  language: Language
  createdAt: Date
  expiresAt: Date
  usedAt: Date | null
}

const LINK = tableOf<PersonLink>({
  tokenHash: ['token_hash', 'bytea'],
  kind: ['kind', 'text'],
  personId: ['person_id', 'uuid'],
  email: ['email', 'text'],
  companyId: ['company_id', 'uuid'],
  role: ['role', 'text'],
  makesOperator: ['makes_operator', 'bool'],
  invitedBy: ['invited_by', 'uuid'],
  language: ['language', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz'],
  usedAt: ['used_at', 'timestamptz'],
})

/** If it is sent again because the connection was lost, the link is there already. */
export async function insertLink(tx: ControlTx, link: PersonLink): Promise<void> {
  await tx.query({
    text: `${LINK.insertInto('person_links')} on conflict (token_hash) do nothing`,
    values: LINK.values([link]),
  })
}

/** A link by its hash. Of one token there are several while a secret is replaced. */
export async function findLink(tx: ControlTx, tokenHashes: Buffer[]): Promise<PersonLink | null> {
  const [row] = await tx.query({
    name: 'find_person_link',
    text: `select ${LINK.select('l')} from person_links l where token_hash = any ($1::bytea[])`,
    values: [bytes(tokenHashes)],
  })
  return row ? LINK.read(row) : null
}

export async function useLink(tx: ControlTx, tokenHash: Buffer, now: Date): Promise<boolean> {
  const rows = await tx.query({
    text: `update person_links set used_at = $2
           where token_hash = $1 and used_at is null and expires_at > $2 returning 1`,
    values: [tokenHash, now],
  })
  return rows.length > 0
}

/** How many links of a kind were made for a person since then. */
export async function countLinks(
  tx: ControlTx,
  personId: Uuid,
  kind: LinkKind,
  since: Date,
): Promise<number> {
  const [row] = await tx.query<Row & { count: number }>({
    text: `select count(*)::int as count from person_links
           where person_id = $1 and kind = $2 and created_at > $3`,
    values: [personId, kind, since],
  })
  return row!.count
}

/** Ends the links of a person that were not used. */
export async function deleteLinks(tx: ControlTx, personId: Uuid, kinds: LinkKind[]): Promise<void> {
  await tx.query({
    text: `delete from person_links
           where person_id = $1 and kind = any ($2::text[]) and used_at is null`,
    values: [personId, kinds],
  })
}

/** The invitations of a company that wait to be accepted, newest first. */
export async function listInvitations(
  tx: ControlTx,
  companyId: Uuid,
  now: Date,
): Promise<PersonLink[]> {
  const rows = await tx.query({
    text: `select ${LINK.select('l')} from person_links l
           where company_id = $1 and kind = 'invitation' and used_at is null and expires_at > $2
           order by created_at desc, email`,
    values: [companyId, now],
  })
  return rows.map(LINK.read)
}

/** An invitation of a company that waits to be accepted. */
export async function findInvitation(
  tx: ControlTx,
  companyId: Uuid,
  tokenHash: Buffer,
  now: Date,
): Promise<PersonLink | null> {
  const link = await findLink(tx, [tokenHash])
  const isTheirs = link?.kind === 'invitation' && link.companyId === companyId
  return isTheirs && link.usedAt === null && link.expiresAt > now ? link : null
}

/** The invitations that wait for a person, by their e-mail. */
export async function listInvitationsTo(
  tx: ControlTx,
  email: string,
  now: Date,
): Promise<PersonLink[]> {
  const rows = await tx.query({
    text: `select ${LINK.select('l')} from person_links l
           where email = $1 and kind = 'invitation' and used_at is null and expires_at > $2
           order by created_at desc`,
    values: [email, now],
  })
  return rows.map(LINK.read)
}

/** Withdraws an invitation of a company. False if it was accepted, or never was. */
export async function deleteInvitation(
  tx: ControlTx,
  companyId: Uuid,
  tokenHash: Buffer,
): Promise<boolean> {
  const rows = await tx.query({
    text: `delete from person_links
           where company_id = $1 and token_hash = $2 and kind = 'invitation' and used_at is null
           returning 1`,
    values: [companyId, tokenHash],
  })
  return rows.length > 0
}

/** Ends what a person has invited others to in a company. Returns how many there were. */
export async function withdrawInvitations(
  tx: ControlTx,
  companyId: Uuid,
  invitedBy: Uuid,
): Promise<number> {
  const rows = await tx.query({
    text: `delete from person_links
           where company_id = $1 and invited_by = $2 and kind = 'invitation' and used_at is null
           returning 1`,
    values: [companyId, invitedBy],
  })
  return rows.length
}

/** Ends invitations to operate that are by a person, or to them. Returns how many there were. */
export async function withdrawOperating(
  tx: ControlTx,
  { id, email }: Pick<Person, 'id' | 'email'>,
): Promise<number> {
  const rows = await tx.query({
    text: `delete from person_links
           where makes_operator and (invited_by = $1 or email = $2) and kind = 'invitation'
             and used_at is null
           returning 1`,
    values: [id, email],
  })
  return rows.length
}

/** Ends the invitations of an e-mail to a company, or to the installation. */
export async function replaceInvitations(
  tx: ControlTx,
  companyId: Uuid | null,
  email: string,
): Promise<void> {
  await tx.query({
    text: `delete from person_links
           where company_id is not distinct from $1 and email = $2 and kind = 'invitation'
             and used_at is null`,
    values: [companyId, email],
  })
}

/** Deletes links whose time was over before. */
export async function purgeLinks(tx: ControlTx, before: Date): Promise<void> {
  await tx.query({
    text: 'delete from person_links where expires_at <= $1',
    values: [before],
  })
}
