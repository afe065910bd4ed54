import { bytes, uuids } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

export type ChargeEmail = { companyId: Uuid; id: Uuid; emailIndex: Buffer }

/** Lets charges be found by their payers' e-mail addresses. Repeatable. */
export async function insertEmails(tx: Tx, found: ChargeEmail[]): Promise<void> {
  if (found.length === 0) return
  await tx.query({
    name: 'insert_charge_emails',
    text: `insert into charge_emails (company_id, email_index, charge_id)
           select * from unnest($1::uuid[], $2::bytea[], $3::uuid[]) on conflict do nothing`,
    values: [
      uuids(found.map(({ companyId }) => companyId)),
      bytes(found.map(({ emailIndex }) => emailIndex)),
      uuids(found.map(({ id }) => id)),
    ],
  })
}
