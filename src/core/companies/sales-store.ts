import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** Whether the company has, or ever had, a charge, code or agreement for real money. */
export async function hasRealSales(tx: Tx, companyId: Uuid): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>({
    text: `select exists (select from charges where company_id = $1 and not dev_mode)
             or exists (select from static_codes where company_id = $1 and not dev_mode)
             or exists (select from recurrences where company_id = $1) as found`,
    values: [companyId],
  })
  return row!.found
}
