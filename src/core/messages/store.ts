import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { MessageSort } from '../letters/messages.ts'
import type { OwnMessages } from './rules.ts'

export async function findOwn(tx: Tx, companyId: Uuid): Promise<OwnMessages> {
  const rows = await tx.query<{ sort: MessageSort; text: string }>({
    name: 'find_company_messages',
    text: 'select sort, text from company_messages where company_id = $1',
    values: [companyId],
  })
  return Object.fromEntries(rows.map(({ sort, text }) => [sort, text]))
}

/** Keeps a message of a company, or forgets it, so that ours is sent again. */
export async function replace(
  tx: Tx,
  companyId: Uuid,
  sort: MessageSort,
  text: string | null,
): Promise<void> {
  const values = [companyId, sort]
  if (text === null) {
    await tx.query({
      text: 'delete from company_messages where company_id = $1 and sort = $2',
      values,
    })
    return
  }
  await tx.query({
    text: `insert into company_messages (company_id, sort, text) values ($1, $2, $3)
           on conflict (company_id, sort) do update set text = excluded.text`,
    values: [...values, text],
  })
}
