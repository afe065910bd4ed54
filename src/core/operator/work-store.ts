import type { Part } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { MailReason } from '../mails/rules.ts'

export type ListedWebhook = {
  companyId: Uuid
  company: string
  id: Uuid
  name: string
  url: string
  status: 'ACTIVE' | 'INACTIVE'
  failingSince: Date
  failures: number
  pausedUntil: Date | null
}

/** Webhooks of all companies that accept nothing now. Those that fail for longest come first. */
export async function listFailingWebhooks(
  tx: Tx,
  { limit, after }: { limit: number; after: { since: Date; id: Uuid } | null },
): Promise<ListedWebhook[]> {
  return tx.query<Row & ListedWebhook>({
    text: `select w.company_id as "companyId", c.name as company, w.id, w.name, w.url, w.status,
             w.failing_since as "failingSince", w.failures, w.paused_until as "pausedUntil"
           from webhooks w join companies c on c.id = w.company_id
           where w.failing_since is not null
             and ($1::timestamptz is null or (w.failing_since, w.id) > ($1, $2::uuid))
           order by w.failing_since, w.id limit $3`,
    values: [after?.since ?? null, after?.id ?? null, limit],
  })
}

export type ListedMail = {
  companyId: Uuid
  company: string | null
  id: Uuid
  kind: string
  attempts: number
  reason: MailReason | null
  createdAt: Date
  nextAttemptAt: Date
  finishedAt: Date | null
}

const MAIL = `select m.company_id as "companyId", c.name as company, m.id, m.kind, m.attempts, m.reason,
    m.created_at as "createdAt", m.next_attempt_at as "nextAttemptAt",
    m.finished_at as "finishedAt"
  from mails m left join companies c on c.id = m.company_id`

/** Mails that wait, those that are due for longest first. Whom they go to is sealed. */
export const listWaitingMails = (tx: Tx, limit: number): Promise<ListedMail[]> =>
  tx.query<Row & ListedMail>({
    text: `${MAIL} where m.finished_at is null order by m.next_attempt_at limit $1`,
    values: [limit],
  })

/** Mails that no mail server has accepted, newest first. */
export async function listFailedMails(tx: Tx, { limit, after }: Part): Promise<ListedMail[]> {
  return tx.query<Row & ListedMail>({
    text: `${MAIL} where m.outcome = 'FAILED' and ($1::uuid is null or m.id < $1)
           order by m.id desc limit $2`,
    values: [after, limit],
  })
}

export type Difference = {
  companyId: Uuid
  company: string
  difference: string
  auditedAt: Date
}

/** Companies whose books differ, in the order of their ids. */
export async function listDifferences(tx: Tx, { limit, after }: Part): Promise<Difference[]> {
  return tx.query<Row & Difference>({
    text: `select a.company_id as "companyId", c.name as company, a.difference,
             a.audited_at as "auditedAt"
           from audits a join companies c on c.id = a.company_id
           where a.difference is not null and ($1::uuid is null or a.company_id > $1)
           order by a.company_id limit $2`,
    values: [after, limit],
  })
}
