import type { Tx } from '../../db/database.ts'
import type { Books } from '../../ledger/books.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import type { Posting } from '../../ledger/recipes.ts'
import { NO_SHIFT, readGot, type Shift, shiftParts } from '../../ledger/recipients.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Charge } from '../charges/rules.ts'
import { givenOf } from '../charges/split.ts'
import { heldOfCharges } from './store.ts'

/**
 * What the recipients of a charge get or pay so that they have their parts of what is left of it:
 * what was received less what goes back or is held for a dispute, as it is recorded. The books are
 * locked before. For a charge without recipients it asks nothing.
 */
export async function shiftOf(tx: Tx, charge: Charge | null, ref: string): Promise<Shift> {
  if (charge === null || charge.split === null) return NO_SHIFT
  const { companyId, id: chargeId } = charge
  const [disputed, got] = await Promise.all([
    heldOfCharges(tx, companyId, [chargeId]),
    readGot(tx, companyId, chargeId),
  ])
  const parts = givenOf(charge, disputed.get(chargeId) ?? 0).map(({ recipientId, amount }) => ({
    recipientId,
    amount: amount - (got.get(recipientId) ?? 0),
  }))
  return shiftParts(tx, companyId, { ref, chargeId }, parts)
}

/**
 * Posts what a refund, a return or a dispute moves of a payment, with what it changes for the
 * recipients of its charge. What they pay comes first, so that it is there, and what they get last.
 */
export async function postOfCharge(
  tx: Tx,
  companyId: Uuid,
  of: { charge: Charge | null; ref: string },
  postings: Posting[],
  now: Date,
): Promise<Books> {
  const books = await lockBooks(tx, companyId)
  const shift = await shiftOf(tx, of.charge, of.ref)
  const all = shift.moved < 0 ? [...shift.postings, ...postings] : [...postings, ...shift.postings]
  return (await post(tx, companyId, all, now, books, shift.entries))!
}
