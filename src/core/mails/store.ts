import { bytes, integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { TASK } from '../tasks.ts'
import type { MailKind, MailOutcome } from './rules.ts'
import { type NewMail, type SealedMail, sealMail } from './sealing.ts'

/** A mail that this process has to send, and how often that was begun, this time included. */
export type DueMail = SealedMail & { attempts: number }

type MailRow = Row & {
  company_id: Uuid
  id: Uuid
  kind: MailKind
  sealed: Buffer
  attempts: number
  expires_at: Date | null
  created_at: Date
}

const toMail = (row: MailRow): DueMail => ({
  companyId: row.company_id,
  id: row.id,
  kind: row.kind,
  sealed: row.sealed,
  attempts: row.attempts,
  expiresAt: row.expires_at,
  createdAt: row.created_at,
})

/** Writes mails in the transaction of what they tell about. */
export async function queueMails(tx: Tx, vault: Vault, mails: NewMail[]): Promise<void> {
  if (mails.length === 0) return
  await tx.query({
    text: `insert into mails
             (company_id, id, kind, sealed, expires_at, created_at, next_attempt_at)
           select *, created_at from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[],
             $5::timestamptz[], $6::timestamptz[])
             m (company_id, id, kind, sealed, expires_at, created_at)`,
    values: mailColumns(mails.map((mail) => sealMail(vault, mail))),
  })
  tx.wake(TASK.mail)
}

export const mailColumns = (mails: SealedMail[]): Buffer[] => [
  uuids(mails.map((mail) => mail.companyId)),
  uuids(mails.map((mail) => mail.id)),
  texts(mails.map((mail) => mail.kind)),
  bytes(mails.map((mail) => mail.sealed)),
  timestamps(mails.map((mail) => mail.expiresAt)),
  timestamps(mails.map((mail) => mail.createdAt)),
]

/** One-time codes go before all others; the others take turns by company. */
export type MailClass = 'codes' | 'others'

/** The order of a company's own mails that are no codes: notices, links, receipts. */
const RANK = `case kind when 'payment-link' then 1 when 'receipt' then 2 else 0 end`
const RANKS = { withReceipts: '(0), (1), (2)', withoutReceipts: '(0), (1)' }

const WAITING: Record<MailClass, string> = {
  codes: `finished_at is null and kind = 'withdrawal-code'`,
  others: `finished_at is null and kind <> 'withdrawal-code'`,
}

/** Before every company. */
export const FIRST_COMPANY = '00000000-0000-0000-0000-000000000000' as Uuid

export type Turn = {
  of: MailClass
  /** The company whose turn was last. */
  after: Uuid
  /** Companies that have enough under way. */
  but: Uuid[]
  receipts: boolean
}

const pick = ({ of, receipts }: Turn) =>
  of === 'codes'
    ? `select company_id, id from mails
       where company_id = h.company_id and ${WAITING.codes} and next_attempt_at <= $1
       order by next_attempt_at limit 1 for update skip locked`
    : `select m.* from (values ${receipts ? RANKS.withReceipts : RANKS.withoutReceipts}) r (rank)
       cross join lateral (
         select company_id, id from mails
         where company_id = h.company_id and ${WAITING.others} and ${RANK} = r.rank
           and next_attempt_at <= $1
         order by next_attempt_at limit 1 for update skip locked) m
       order by r.rank limit 1`

const nextCompany = (of: MailClass, after: string) =>
  `select company_id from mails where ${WAITING[of]} and company_id > ${after}
   order by company_id limit 1`

/**
 * Takes the due mail of the next company that has one, and leases it: if its sender dies, others
 * send it when the lease has run out. Companies are found by hops along an index, so that a company
 * with thousands of mails costs no more than one with a single mail.
 */
export async function claimNext(
  tx: Tx,
  turn: Turn,
  now: Date,
  leaseUntil: Date,
): Promise<DueMail | null> {
  const [row] = await tx.query<MailRow>({
    name: `claim_mail_of_${turn.of}${turn.receipts ? '' : '_without_receipts'}`,
    text: `with recursive hop as (
             (${nextCompany(turn.of, '$3')})
             union all
             select n.company_id from hop h
             cross join lateral (${nextCompany(turn.of, 'h.company_id')}) n
           ), due as materialized (
             select m.company_id, m.id from hop h cross join lateral (${pick(turn)}) m
             where h.company_id <> all ($4::uuid[]) limit 1
           )
           update mails m set next_attempt_at = $2, attempts = m.attempts + 1
           from due where m.company_id = due.company_id and m.id = due.id
           returning m.company_id, m.id, m.kind, m.sealed, m.attempts, m.expires_at, m.created_at`,
    values: [now, leaseUntil, turn.after, turn.but],
  })
  return row ? toMail(row) : null
}

/**
 * Lengthens the leases of mails that are being sent. A mail that was given back until a later
 * attempt, or that another process has taken, is left as it is.
 */
export async function renewLeases(tx: Tx, mails: DueMail[], until: Date): Promise<void> {
  if (mails.length === 0) return
  await tx.query({
    name: 'renew_mail_leases',
    text: `update mails m set next_attempt_at = $4
           from unnest($1::uuid[], $2::uuid[], $3::int8[]) s (company_id, id, attempts)
           where m.company_id = s.company_id and m.id = s.id and m.attempts = s.attempts
             and m.finished_at is null and m.next_attempt_at < $4`,
    values: [
      uuids(mails.map(({ companyId }) => companyId)),
      uuids(mails.map(({ id }) => id)),
      integers(mails.map(({ attempts }) => attempts)),
      until,
    ],
  })
}

/** When a company was sent its last mails of a kind, newest first, at most so many. */
export async function listSent(
  tx: Tx,
  companyId: Uuid,
  kind: 'withdrawal-code' | 'email-confirmed',
  since: Date,
  most: number,
): Promise<Date[]> {
  const rows = await tx.query<{ created_at: Date }>({
    text: `select created_at from mails
           where company_id = $1 and kind = '${kind}' and created_at > $2
           order by created_at desc limit $3`,
    values: [companyId, since, most],
  })
  return rows.map(({ created_at }) => created_at)
}

/** Ends a mail. What it said goes with it. */
export async function finish(
  tx: Tx,
  { companyId, id }: DueMail,
  outcome: MailOutcome,
  now: Date,
): Promise<void> {
  await tx.query({
    name: 'finish_mail',
    text: `update mails set outcome = $3, finished_at = $4, sealed = null
           where company_id = $1 and id = $2 and finished_at is null`,
    values: [companyId, id, outcome, now],
  })
}

/** Gives a mail back until its next attempt, unless its lease ran out and another has it. */
export async function postpone(
  tx: Tx,
  { companyId, id, attempts }: DueMail,
  nextAttemptAt: Date,
): Promise<void> {
  await tx.query({
    name: 'postpone_mail',
    text: `update mails set next_attempt_at = $4
           where company_id = $1 and id = $2 and attempts = $3 and finished_at is null`,
    values: [companyId, id, attempts, nextAttemptAt],
  })
}

/** Whether a mail of this kind still waits to be sent. */
export async function isWaiting(tx: Tx, companyId: Uuid, kind: MailKind): Promise<boolean> {
  const rows = await tx.query({
    text: `select 1 from mails where company_id = $1 and kind = $2 and finished_at is null limit 1`,
    values: [companyId, kind],
  })
  return rows.length > 0
}

export async function purgeFinished(tx: Tx, before: Date): Promise<void> {
  await tx.query({
    text: 'delete from mails where finished_at is not null and finished_at <= $1',
    values: [before],
  })
}
