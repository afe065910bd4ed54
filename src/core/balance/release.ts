import type { Tx } from '../../db/database.ts'
import { post } from '../../ledger/post.ts'
import { chargeReleased } from '../../ledger/recipes.ts'
import type { Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { record } from '../charges/record.ts'
import { isReleasable, receivedOf, release } from '../charges/rules.ts'
import { lockStates } from '../charges/store.ts'
import { heldFromPending as heldForDisputes } from '../disputes/store.ts'
import { heldFromPending } from '../refunds/store.ts'

/** Makes the money of paid charges withdrawable if the company's delay is over. */
export async function releaseCharges(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<number> {
  const locked = await lockStates(tx, companyId, ids)
  const charges = locked.filter((charge) => isReleasable(charge, now))
  const [returned, disputed] = await Promise.all([
    heldFromPending(
      tx,
      companyId,
      charges.flatMap(({ id, refunded }) => (refunded > 0 ? [id] : [])),
    ),
    heldForDisputes(
      tx,
      companyId,
      charges.map(({ id }) => id),
    ),
    record(
      tx,
      charges.map((charge) => release(charge, now)),
    ),
  ])
  const postings = charges.flatMap((charge) => {
    const { booked, endToEndId, id } = charge
    const left = toCents(receivedOf(charge) - (returned.get(id) ?? 0) - (disputed.get(id) ?? 0))
    if (!booked || left === 0) return []
    return [chargeReleased({ endToEndId: endToEndId!, amount: left, chargeId: id })]
  })
  await post(tx, companyId, postings, now)
  return charges.length
}
