import type { Tx } from '../../db/database.ts'
import { lowestIdAt, timeOf, toPublic, type Uuid } from '../../lib/ids.ts'
import type { Entry } from './rules.ts'
import { ENTRY } from './store.ts'

/** The entry of a charge's creation is written within so long. */
const CREATION_MS = 60_000

/**
 * What was done to a charge, the oldest first. The entry of its creation is in no index of charges,
 * so that creating stays fast: its id is near that of the charge.
 */
export async function listOfCharge(
  tx: Tx,
  companyId: Uuid,
  chargeId: Uuid,
  limit: number,
): Promise<Entry[]> {
  const end = lowestIdAt(new Date(timeOf(chargeId).getTime() + CREATION_MS))
  const columns = ENTRY.select('a')
  const rows = await tx.query({
    text: `(select ${columns} from activity a
            where company_id = $1 and id > $3 and id < $4 and record_id = $2
              and action in ('createPixCharge', 'createPaymentLink')
            order by id limit 1)
           union all
           (select ${columns} from activity a
            where company_id = $1 and record_id = $2 and record_type = 'charge'
              and action not in ('createPixCharge', 'createPaymentLink')
            order by id limit $5)`,
    values: [companyId, toPublic('charge', chargeId), chargeId, end, limit],
  })
  return rows.map(ENTRY.read)
}
