import { integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import { type Columns, tableOf } from '../../db/columns.ts'
import type { ControlTx, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { TASK } from '../tasks.ts'
import {
  type Budget,
  type BudgetOf,
  type MailKind,
  type MailOutcome,
  type MailReason,
  takeFrom,
} from './rules.ts'
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
  chargeId: ['charge_id', 'uuid'],
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

/** Mails to payers are sent after all others, both one company after the other. */
export type MailClass = 'first' | 'payers'

export const classOf = (kind: MailKind): MailClass =>
  kind === 'payment-link' || kind === 'receipt' ? 'payers' : 'first'

const WAITING: Record<MailClass, string> = {
  first: `finished_at is null and kind not in ('payment-link', 'receipt')`,
  payers: `finished_at is null and kind in ('payment-link', 'receipt')`,
}

/** Before every company. */
export const FIRST_COMPANY = '00000000-0000-0000-0000-000000000000' as Uuid

/** Which mails to claim next. */
export type ClaimFilter = {
  of: MailClass
  /** The company that was served last. */
  after: Uuid
  /** Companies that have enough mails in progress. */
  except: Uuid[]
  /** How many of each company, and of all. */
  each: number
  limit: number
}

const dueMails = (of: MailClass, condition = '') =>
  `select company_id, id from mails
   where company_id = f.company_id and ${WAITING[of]} ${condition} and next_attempt_at <= $1
   order by next_attempt_at limit $5 for update skip locked`

/** A company's links are sent before its receipts. */
const DUE: Record<MailClass, string> = {
  first: dueMails('first'),
  payers: `select m.* from (values (1, 'payment-link'), (2, 'receipt')) k (n, kind)
           cross join lateral (${dueMails('payers', 'and kind = k.kind')}) m
           order by k.n limit $5`,
}

const nextCompany = (of: MailClass, after: string) =>
  `select company_id from mails where ${WAITING[of]} and company_id > ${after}
   order by company_id limit 1`

/**
 * Claims due mails of the next companies that have some, with a lease. If their process dies,
 * another one sends the mails when the lease is over. The statement jumps in the index from company
 * to company, so that a company with thousands of mails costs as much as one with a single mail.
 */
export async function claimDue(
  tx: Tx,
  { of, after, except, each, limit }: ClaimFilter,
  now: Date,
  leaseUntil: Date,
): Promise<DueMail[]> {
  const rows = await tx.query({
    name: `claim_mails_${of}`,
    text: `with recursive found as (
             (${nextCompany(of, '$3')})
             union all
             select n.company_id from found f
             cross join lateral (${nextCompany(of, 'f.company_id')}) n
           ), due as materialized (
             select m.company_id, m.id from found f cross join lateral (${DUE[of]}) m
             where f.company_id <> all ($4::uuid[]) limit $6
           )
           update mails m set next_attempt_at = $2, attempts = m.attempts + 1
           from due where m.company_id = due.company_id and m.id = due.id
           returning ${DUE_MAIL.select('m')}`,
    values: [now, leaseUntil, after, except, each, limit],
  })
  return rows.map((row) => DUE_MAIL.read(row))
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

/** A mail that is over. */
export type Finished = { mail: DueMail; outcome: MailOutcome; reason: MailReason | null; at: Date }

/** Stores the outcome of mails and deletes their contents. */
export async function finish(tx: Tx, finished: Finished[]): Promise<void> {
  await tx.query({
    name: 'finish_mails',
    text: `update mails m set outcome = f.outcome, reason = f.reason, finished_at = f.at,
             sealed = null
           from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])
             f (company_id, id, outcome, reason, at)
           where m.company_id = f.company_id and m.id = f.id and m.finished_at is null`,
    values: [
      uuids(finished.map(({ mail }) => mail.companyId)),
      uuids(finished.map(({ mail }) => mail.id)),
      texts(finished.map(({ outcome }) => outcome)),
      texts(finished.map(({ reason }) => reason)),
      timestamps(finished.map(({ at }) => at)),
    ],
  })
}

/**
 * Sets the next attempt of a mail, unless its lease is over and another process has it. `counted` is
 * 0 if the mail was not offered to the server in this one.
 */
export async function postpone(
  tx: Tx,
  { companyId, id, attempts }: DueMail,
  nextAttemptAt: Date,
  reason: MailReason | null = null,
  counted: 0 | 1 = 1,
): Promise<void> {
  await tx.query({
    name: 'postpone_mail',
    text: `update mails set next_attempt_at = $4, reason = $5, attempts = attempts - $6::int
           where company_id = $1 and id = $2 and attempts = $3 and finished_at is null`,
    values: [companyId, id, attempts, nextAttemptAt, reason, 1 - counted],
  })
}

/**
 * Takes mails from their budgets. For each it returns the budget that is used up, or null. All
 * processes and machines count in the same rows, which are locked in the order of their names.
 */
export async function takeBudgets(
  tx: ControlTx,
  mails: Budget[][],
  now: Date,
): Promise<(BudgetOf | null)[]> {
  const names = [...new Set(mails.flat().map(({ name }) => name))].sort()
  if (names.length === 0) return mails.map(() => null)
  await tx.query({
    name: 'open_mail_budgets',
    text: `insert into mail_budgets (name, full_at) select name, $2 from unnest($1::text[]) name
           on conflict (name) do nothing`,
    values: [texts(names), now],
  })
  const rows = await tx.query<{ name: string; full_at: Date }>({
    name: 'lock_mail_budgets',
    text: `select name, full_at from mail_budgets where name = any ($1::text[])
           order by name for update`,
    values: [texts(names)],
  })
  const fullAt = new Map(rows.map(({ name, full_at }) => [name, full_at.getTime()]))
  const over = mails.map((budgets) => takeFrom(budgets, fullAt, now.getTime()))
  await tx.query({
    name: 'set_mail_budgets',
    text: `update mail_budgets b set full_at = t.full_at
           from unnest($1::text[], $2::timestamptz[]) t (name, full_at) where b.name = t.name`,
    values: [texts(names), timestamps(names.map((name) => new Date(fullAt.get(name)!)))],
  })
  return over
}

/** Budgets that are whole again need no rows. */
export async function purgeBudgets(tx: ControlTx, now: Date): Promise<void> {
  await tx.query({ text: 'delete from mail_budgets where full_at <= $1', values: [now] })
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
