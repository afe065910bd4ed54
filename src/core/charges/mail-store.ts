import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { MailOutcome } from '../mails/rules.ts'
import type { ChargeId } from './store.ts'

/** A mail about a charge that somebody has sent. Without an outcome it waits, or is long gone. */
export type ChargeMail = { createdAt: Date; outcome: MailOutcome | null }

const MAX_MAILS = 20

/** The newest mails first. */
export async function listMails(tx: Tx, { companyId, id }: ChargeId): Promise<ChargeMail[]> {
  const rows = await tx.query<{ created_at: Date; outcome: MailOutcome | null }>({
    text: `select s.created_at, m.outcome from charge_mails s
           left join mails m on m.company_id = s.company_id and m.id = s.id
           where s.company_id = $1 and s.charge_id = $2 order by s.id desc limit $3`,
    values: [companyId, id, MAX_MAILS],
  })
  return rows.map(({ created_at, outcome }) => ({ createdAt: created_at, outcome }))
}

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
