import { uuids } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import { CHANGING } from './columns.ts'
import type { Charge } from './rules.ts'

const UPDATE = `update charges c set ${CHANGING.assigned('u')}
  from unnest($1::uuid[], $2::uuid[], ${CHANGING.parameters(3)})
    u (company_id, id, ${CHANGING.names})
  where c.company_id = u.company_id and c.id = u.id`

/** Writes the state of charges. */
export async function update(tx: Tx, charges: Charge[]): Promise<void> {
  if (charges.length === 0) return
  const companyIds = uuids(charges.map(({ companyId }) => companyId))
  const ids = uuids(charges.map(({ id }) => id))
  const values = [companyIds, ids, ...CHANGING.values(charges)]
  await tx.query({ name: 'update_charges', text: UPDATE, values })
}

/** Lets the same request create another charge although this one is open still. */
export async function forgetRequest(tx: Tx, { companyId, id }: Charge): Promise<void> {
  await tx.query({
    text: `update charges set fingerprint = null
           where company_id = $1 and id = $2 and status = 'OPEN'`,
    values: [companyId, id],
  })
}
