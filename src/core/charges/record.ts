import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { chargeEvent, emit } from '../events.ts'
import type { Change, Charge } from './rules.ts'
import { lock, update } from './store.ts'

/** The one way a charge changes: new state and event in the same transaction. */
export async function record(tx: Tx, companyId: Uuid, changes: Change[]): Promise<void> {
  await update(
    tx,
    companyId,
    changes.map(({ charge }) => charge),
  )
  await emit(
    tx,
    changes.map(({ charge, event, at }) => chargeEvent(event, charge, at)),
  )
}

export async function lockCharge(tx: Tx, companyId: Uuid, id: Uuid): Promise<Charge> {
  const [charge] = await lock(tx, companyId, [id])
  if (!charge) throw problem('charge_not_found')
  return charge
}
