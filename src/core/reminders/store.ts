import { bytes, integers, texts, uuids } from '../../db/arrays.ts'
import { tableOf } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { DueKind } from '../due.ts'
import type { MailOutcome, MailReason } from '../mails/rules.ts'
import type { Occasion, Reminder, ReminderKey, ReminderRule } from './rules.ts'

const RULE = tableOf<ReminderRule>({
  companyId: ['company_id', 'uuid'],
  occasion: ['occasion', 'text'],
  day: ['day', 'int8'],
  enabled: ['enabled', 'bool'],
  channel: ['channel', 'text'],
  texts: ['texts', 'json'],
})

/** The rules of a company, the earliest day first. */
export async function listRules(tx: Tx, companyId: Uuid): Promise<ReminderRule[]> {
  const rows = await tx.query({
    name: 'list_reminder_rules',
    text: `select ${RULE.select('r')} from reminder_rules r where company_id = $1
           order by occasion desc, day`,
    values: [companyId],
  })
  return rows.map(RULE.read)
}

/** Replaces the rules of an occasion. */
export async function replaceRules(
  tx: Tx,
  companyId: Uuid,
  occasion: Occasion,
  rules: ReminderRule[],
): Promise<void> {
  await tx.query({
    text: 'delete from reminder_rules where company_id = $1 and occasion = $2',
    values: [companyId, occasion],
  })
  if (rules.length === 0) return
  await tx.query({ text: RULE.insertInto('reminder_rules'), values: RULE.values(rules) })
}

/** Companies whose open charges follow changed rules of reminders. */
export const RULE_CHANGES: DueKind = {
  name: 'follow reminder rules',
  table: 'reminder_changes',
  key: 'company_id',
  dueAt: 'due_at',
  where: 'true',
}

/** Lets all open charges of a company follow its rules from a moment on. */
export async function insertChange(tx: Tx, companyId: Uuid, dueAt: Date): Promise<void> {
  await tx.query({
    text: `insert into reminder_changes (company_id, due_at) values ($1, $2)
           on conflict (company_id) do update set due_at = excluded.due_at, after = null`,
    values: [companyId, dueAt],
  })
}

/** Locks the change of a company. Null if there is none, or not yet. */
export async function lockChange(
  tx: Tx,
  companyId: Uuid,
  now: Date,
): Promise<{ after: Uuid | null } | null> {
  const [row] = await tx.query<Row & { after: Uuid | null }>({
    text: `select after from reminder_changes where company_id = $1 and due_at <= $2 for update`,
    values: [companyId, now],
  })
  return row ?? null
}

export async function continueChange(tx: Tx, companyId: Uuid, after: Uuid): Promise<void> {
  await tx.query({
    text: 'update reminder_changes set after = $2 where company_id = $1',
    values: [companyId, after],
  })
}

export async function endChange(tx: Tx, companyId: Uuid): Promise<void> {
  await tx.query({
    text: 'delete from reminder_changes where company_id = $1',
    values: [companyId],
  })
}

/** The next open charges with a due date, in the order of their ids. */
export async function listOpenDue(
  tx: Tx,
  companyId: Uuid,
  after: Uuid | null,
  limit: number,
): Promise<Uuid[]> {
  const rows = await tx.query<{ id: Uuid }>({
    name: 'list_open_due',
    text: `select id from charges
           where company_id = $1 and status = 'OPEN' and due is not null
             and id > coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
           order by id limit $3`,
    values: [companyId, after, limit],
  })
  return rows.map(({ id }) => id)
}

const REMINDER = tableOf<Reminder>({
  companyId: ['company_id', 'uuid'],
  chargeId: ['charge_id', 'uuid'],
  occasion: ['occasion', 'text'],
  number: ['number', 'int8'],
  saidAt: ['said_at', 'timestamptz'],
  mailId: ['mail_id', 'uuid'],
  unmailed: ['unmailed', 'text'],
})

/** Which of these were said already. */
export async function findSaid(tx: Tx, companyId: Uuid, keys: ReminderKey[]): Promise<Reminder[]> {
  const rows = await tx.query({
    name: 'find_reminders',
    text: `select ${REMINDER.select('r')} from unnest($2::uuid[], $3::text[], $4::int8[])
             k (charge_id, occasion, number)
           join reminders r on r.company_id = $1 and r.charge_id = k.charge_id
             and r.occasion = k.occasion and r.number = k.number`,
    values: [
      companyId,
      uuids(keys.map(({ chargeId }) => chargeId)),
      texts(keys.map(({ occasion }) => occasion)),
      integers(keys.map(({ number }) => number)),
    ],
  })
  return rows.map(REMINDER.read)
}

/** A second one with the same key violates the primary key, and the transaction fails. */
export async function insertSaid(tx: Tx, reminders: Reminder[]): Promise<void> {
  if (reminders.length === 0) return
  await tx.query({
    name: 'insert_reminders',
    text: REMINDER.insertInto('reminders'),
    values: REMINDER.values(reminders),
  })
}

/**
 * A reminder, and what became of its mail. Without an outcome the mail waits. GONE: it was deleted
 * some time after it was over, so nobody knows any more.
 */
export type SentReminder = Omit<Reminder, 'companyId' | 'chargeId'> & {
  outcome: MailOutcome | 'GONE' | null
  reason: MailReason | null
}

/** So many may a charge have: one of each day, and one of each attempt. */
const MAX_REMINDERS = 100

/** The reminders of a charge, the oldest first. */
export const listSaid = (
  tx: Tx,
  { companyId, id }: { companyId: Uuid; id: Uuid },
): Promise<SentReminder[]> =>
  tx.query<Row & SentReminder>({
    text: `select r.occasion, r.number, r.said_at as "saidAt", r.mail_id as "mailId", r.unmailed,
             case when m.id is null then 'GONE' else m.outcome end as outcome, m.reason
           from reminders r
           left join mails m on m.company_id = r.company_id and m.id = r.mail_id
           where r.company_id = $1 and r.charge_id = $2 order by r.said_at limit $3`,
    values: [companyId, id, MAX_REMINDERS],
  })

/** Those of these addresses that want no reminders of the company. */
export async function findStops(
  tx: Tx,
  companyId: Uuid,
  emailIndexes: Buffer[],
): Promise<Buffer[]> {
  if (emailIndexes.length === 0) return []
  const rows = await tx.query<{ email_index: Buffer }>({
    name: 'find_reminder_stops',
    text: `select email_index from reminder_stops
           where company_id = $1 and email_index = any ($2::bytea[])`,
    values: [companyId, bytes(emailIndexes)],
  })
  return rows.map(({ email_index }) => email_index)
}

export async function insertStop(
  tx: Tx,
  companyId: Uuid,
  emailIndex: Buffer,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `insert into reminder_stops (company_id, email_index, created_at) values ($1, $2, $3)
           on conflict (company_id, email_index) do nothing`,
    values: [companyId, emailIndex, now],
  })
}

export async function deleteStop(tx: Tx, companyId: Uuid, emailIndexes: Buffer[]): Promise<void> {
  await tx.query({
    text: 'delete from reminder_stops where company_id = $1 and email_index = any ($2::bytea[])',
    values: [companyId, bytes(emailIndexes)],
  })
}
