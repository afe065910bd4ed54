import type { Tx } from '../../db/database.ts'
import { chargeReleased, type Posting } from '../../ledger/recipes.ts'
import { toCents } from '../../lib/money.ts'
import { type Charge, receivedOf } from '../charges/rules.ts'
import * as disputes from '../disputes/store.ts'
import * as store from './store.ts'

/** How much of a paid charge is in pending. */
export async function pendingOf(tx: Tx, { companyId, id, ...charge }: Charge): Promise<number> {
  const refunded = (await store.heldFromPending(tx, companyId, [id])).get(id) ?? 0
  const disputed = (await disputes.heldFromPending(tx, companyId, [id])).get(id) ?? 0
  return receivedOf(charge) - refunded - disputed
}

/**
 * What a charge still has in pending when all of its money has gone back: another part was taken
 * from available. Nothing releases it later, so it is released now. The refund and the dispute are
 * written before.
 */
export async function releaseOfRest(tx: Tx, before: Charge, after: Charge): Promise<Posting[]> {
  const isOver = before.paymentStatus === 'PAID' && after.paymentStatus === 'REFUNDED'
  const left = isOver ? await pendingOf(tx, before) : 0
  const { endToEndId, id: chargeId } = before
  const rest = { endToEndId: endToEndId!, amount: toCents(left), chargeId }
  return left > 0 ? [chargeReleased(rest)] : []
}
