import { serializationConflict, type Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Source } from '../../provider/port.ts'
import { lockCharge } from '../charges/record.ts'
import type { Charge } from '../charges/rules.ts'
import { type Payment, paidCharge } from './rules.ts'
import * as store from './store.ts'

/** A payment, and the charge that it has paid. */
export type Paid = { payment: Payment; charge: Charge | null }

/** Locks a payment, after its charge. Null if it is not ours. */
export async function lockPaid(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  endToEndId: string,
): Promise<Paid | null> {
  const [seen] = await store.findByIds(tx, companyId, source, [endToEndId])
  if (!seen) return null
  const chargeId = paidCharge(seen)
  const charge = chargeId ? await lockCharge(tx, companyId, chargeId) : null
  const payment = await store.lock(tx, companyId, source, endToEndId)
  // If it has paid a charge in the meantime, that must be locked before it.
  if (paidCharge(payment!) !== chargeId) throw serializationConflict()
  return { payment: payment!, charge }
}
