import { bytes, texts, timestamps, uuids } from '../../db/arrays.ts'
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

/**
 * Takes due mails of any company, longest due first, and leases them: whoever dies over one leaves
 * it to others once the lease has run out. Receipts, of which there may be thousands, come after
 * all others, and at most so many of them.
 */
export async function claimDue(
  tx: Tx,
  now: Date,
  leaseUntil: Date,
  most: number,
  mostReceipts = most,
): Promise<DueMail[]> {
  const rows = await tx.query<MailRow>({
    name: 'claim_mails',
    text: `with first as materialized (
             select company_id, id from mails
             where finished_at is null and kind <> 'receipt' and next_attempt_at <= $1
             order by next_attempt_at limit $3 for update skip locked
           ), receipts as materialized (
             select company_id, id from mails
             where finished_at is null and kind = 'receipt' and next_attempt_at <= $1
             order by next_attempt_at limit least($4, $3 - (select count(*) from first))
             for update skip locked
           )
           update mails m set next_attempt_at = $2, attempts = m.attempts + 1
           from (select * from first union all select * from receipts) due
           where m.company_id = due.company_id and m.id = due.id
           returning m.company_id, m.id, m.kind, m.sealed, m.attempts, m.expires_at, m.created_at`,
    values: [now, leaseUntil, most, mostReceipts],
  })
  return rows.map(toMail)
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
