import { integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import { type Columns, tableOf } from '../../db/columns.ts'
import type { ControlTx, Tx } from '../../db/database.ts'
import { deleteOldest } from '../../db/delete-oldest.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { claimDue, type DueKind, type DueRequest } from '../due.ts'
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

/** Mails to payers are sent after all others, reminders last; each class by company. */
export type MailClass = 'first' | 'payers' | 'reminders'

export function classOf(kind: MailKind): MailClass {
  if (kind === 'reminder') return 'reminders'
  return kind === 'payment-link' || kind === 'receipt' ? 'payers' : 'first'
}

/** If a process is killed, another sends its mails after this time. Live processes renew it. */
export const LEASE_S = 8

/** Mails that are not sent yet. */
export const DUE_MAILS: DueKind = {
  name: TASK.mail,
  table: 'mails',
  key: 'id',
  dueAt: 'next_attempt_at',
  where: 'd.finished_at is null',
  isRealTime: true,
  isByCompany: true,
  lease: `interval '${LEASE_S} seconds'`,
  set: ['attempts = d.attempts + 1'],
}

/** A company's links are sent before its receipts. */
const OF_CLASS: Record<MailClass, DueKind> = {
  first: {
    ...DUE_MAILS,
    name: `${TASK.mail} first`,
    where: `d.finished_at is null and d.kind not in ('payment-link', 'receipt', 'reminder')`,
  },
  payers: {
    ...DUE_MAILS,
    name: `${TASK.mail} to payers`,
    where: `d.finished_at is null and d.kind in ('payment-link', 'receipt')`,
    ranks: { column: 'kind', values: ['payment-link', 'receipt'] },
  },
  reminders: {
    ...DUE_MAILS,
    name: `${TASK.mail} with reminders`,
    where: `d.finished_at is null and d.kind = 'reminder'`,
  },
}

/** Claims due mails of the next companies that have some. */
export const claimMails = async (tx: Tx, of: MailClass, request: DueRequest): Promise<DueMail[]> =>
  (await claimDue(tx, OF_CLASS[of], request, DUE_MAIL.select('d'))).map((row) => DUE_MAIL.read(row))

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
  kind: 'withdrawal-code' | 'email-confirmed' | 'invitation' | 'recipient-key-changed',
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

export const purgeFinished = (tx: Tx, before: Date, max: number): Promise<number> =>
  deleteOldest(tx, 'mails', 'finished_at', before, max)
