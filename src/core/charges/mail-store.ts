import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { MailOutcome, MailReason } from '../mails/rules.ts'
import type { ChargeId } from './store.ts'

/** A mail about a charge that somebody has sent. Without an outcome it waits, or is long gone. */
export type ChargeMail = {
  createdAt: Date
  outcome: MailOutcome | null
  reason: MailReason | null
}

/** A mail about a charge that nobody has sent by hand, and that its payer has not got. */
export type UnsentMail = Row & {
  kind: 'payment-link' | 'receipt'
  at: Date
  outcome: MailOutcome
  reason: MailReason | null
}

const MAX_MAILS = 20

/** The newest mails first. */
export async function listMails(tx: Tx, { companyId, id }: ChargeId): Promise<ChargeMail[]> {
  return tx.query<Row & ChargeMail>({
    text: `select s.created_at as "createdAt", m.outcome, m.reason from charge_mails s
           left join mails m on m.company_id = s.company_id and m.id = s.id
           where s.company_id = $1 and s.charge_id = $2 order by s.id desc limit $3`,
    values: [companyId, id, MAX_MAILS],
  })
}

/** The oldest first. */
export const listUnsent = (tx: Tx, { companyId, id }: ChargeId): Promise<UnsentMail[]> =>
  tx.query<UnsentMail>({
    text: `select m.kind, m.finished_at as at, m.outcome, m.reason from mails m
           where m.company_id = $1 and m.charge_id = $2 and m.outcome in ('FAILED', 'EXPIRED')
             and not exists (select from charge_mails s where s.company_id = m.company_id
               and s.charge_id = m.charge_id and s.id = m.id)
           order by m.id limit $3`,
    values: [companyId, id, MAX_MAILS],
  })

export async function insertMail(
  tx: Tx,
  { companyId, id }: ChargeId,
  mailId: Uuid,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `insert into charge_mails (company_id, charge_id, id, created_at)
           values ($1, $2, $3, $4)`,
    values: [companyId, id, mailId, now],
  })
}
