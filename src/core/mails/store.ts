import { integers, uuids } from '../../db/arrays.ts'
import { type Columns, tableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { TASK } from '../tasks.ts'
import type { MailKind, MailOutcome } from './rules.ts'
import { type NewMail, type SealedMail, sealMail } from './sealing.ts'

/** A mail that this process sends, and the number of attempts, this one included. */
export type DueMail = SealedMail & { attempts: number }

const COLUMNS: Columns<SealedMail> = {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  kind: ['kind', 'text'],
  sealed: ['sealed', 'bytea'],
  expiresAt: ['expires_at', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
}
const MAIL = tableOf<SealedMail>(COLUMNS)
const DUE_MAIL = tableOf<DueMail>({ ...COLUMNS, attempts: ['attempts', 'int8'] })

/** Inserts mails. Their arrays are parameters from this number on. */
export const mailInsertSql = (first: number): string =>
  `insert into mails (${MAIL.names}, next_attempt_at)
   select *, created_at from unnest(${MAIL.parameters(first)}) m (${MAIL.names})`

export const mailColumns = MAIL.values

/** Queues mails in the transaction of the change that they are about. */
export const queueMails = (tx: Tx, vault: Vault, mails: NewMail[]): Promise<void> =>
  queueSealed(
    tx,
    mails.map((mail) => sealMail(vault, mail)),
  )

export async function queueSealed(tx: Tx, mails: SealedMail[]): Promise<void> {
  if (mails.length === 0) return
  await tx.query({ text: mailInsertSql(1), values: mailColumns(mails) })
  tx.wake(TASK.mail)
}

/** One-time codes are sent before all others. The others are sent one company after the other. */
export type MailClass = 'codes' | 'others'

/** The order of the mails of a company without codes: notices, links, receipts. */
const RANK = `case kind when 'payment-link' then 1 when 'receipt' then 2 else 0 end`
const RANKS = { withReceipts: '(0), (1), (2)', withoutReceipts: '(0), (1)' }

const WAITING: Record<MailClass, string> = {
  codes: `finished_at is null and kind = 'withdrawal-code'`,
  others: `finished_at is null and kind <> 'withdrawal-code'`,
}

/** Before every company. */
export const FIRST_COMPANY = '00000000-0000-0000-0000-000000000000' as Uuid

/** Which mail to claim next. */
export type ClaimFilter = {
  of: MailClass
  /** The company that was served last. */
  after: Uuid
  /** Companies that have enough mails in progress. */
  except: Uuid[]
  receipts: boolean
}

const dueMailOf = ({ of, receipts }: ClaimFilter) =>
  of === 'codes'
    ? `select company_id, id from mails
       where company_id = f.company_id and ${WAITING.codes} and next_attempt_at <= $1
       order by next_attempt_at limit 1 for update skip locked`
    : `select m.* from (values ${receipts ? RANKS.withReceipts : RANKS.withoutReceipts}) r (rank)
       cross join lateral (
         select company_id, id from mails
         where company_id = f.company_id and ${WAITING.others} and ${RANK} = r.rank
           and next_attempt_at <= $1
         order by next_attempt_at limit 1 for update skip locked) m
       order by r.rank limit 1`

const nextCompany = (of: MailClass, after: string) =>
  `select company_id from mails where ${WAITING[of]} and company_id > ${after}
   order by company_id limit 1`

/**
 * Claims a due mail of the next company that has one, with a lease. If its process dies, another
 * one sends the mail when the lease is over. The statement jumps in the index from company to
 * company, so that a company with thousands of mails costs as much as one with a single mail.
 */
export async function claimNext(
  tx: Tx,
  filter: ClaimFilter,
  now: Date,
  leaseUntil: Date,
): Promise<DueMail | null> {
  const [row] = await tx.query({
    name: `claim_mail_of_${filter.of}${filter.receipts ? '' : '_without_receipts'}`,
    text: `with recursive found as (
             (${nextCompany(filter.of, '$3')})
             union all
             select n.company_id from found f
             cross join lateral (${nextCompany(filter.of, 'f.company_id')}) n
           ), due as materialized (
             select m.company_id, m.id from found f cross join lateral (${dueMailOf(filter)}) m
             where f.company_id <> all ($4::uuid[]) limit 1
           )
           update mails m set next_attempt_at = $2, attempts = m.attempts + 1
           from due where m.company_id = due.company_id and m.id = due.id
           returning ${DUE_MAIL.select('m')}`,
    values: [now, leaseUntil, filter.after, filter.except],
  })
  return row ? DUE_MAIL.read(row) : null
}

/**
 * Renews the leases of mails that are being sent. A mail that waits for a later attempt, or that
 * another process has claimed, is not changed.
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

/** When the last mails of a kind were queued for a company, newest first, at most `max`. */
export async function listSent(
  tx: Tx,
  companyId: Uuid,
  kind: 'withdrawal-code' | 'email-confirmed' | 'invitation',
  since: Date,
  max: number,
): Promise<Date[]> {
  const rows = await tx.query<{ created_at: Date }>({
    text: `select created_at from mails
           where company_id = $1 and kind = '${kind}' and created_at > $2
           order by created_at desc limit $3`,
    values: [companyId, since, max],
  })
  return rows.map(({ created_at }) => created_at)
}

/** Stores the outcome of a mail and deletes its contents. */
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

/** Sets the next attempt of a mail, unless its lease is over and another process has it. */
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

/** Whether a mail of this kind is not sent yet. */
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
