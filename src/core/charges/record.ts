import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { end as endBillings } from '../billings/store.ts'
import { emit } from '../events.ts'
import { update } from './change-store.ts'
import { type Change, type Charge, eventsOf, isSale } from './rules.ts'
import { insert, lock } from './store.ts'

/** If a charge of an agreement changes by one of these events, its billing ends. */
const BILLING_ENDS = {
  'charge.paid': 'PAID',
  'charge.expired': 'FAILED',
  'charge.canceled': 'CANCELED',
} as const

/**
 * The only way that a charge changes: its new state, its events and the end of its billing are
 * written in one transaction. They may be of several companies. A test keeps `change-store.ts` from
 * being used anywhere else.
 */
export async function record(tx: Tx, changes: Change[]): Promise<void> {
  const [sales, others] = [changes.filter(isSale), changes.filter((one) => !isSale(one))]
  // Nobody knows who pays by a static code.
  const emails = sales.map(() => null)
  const ofAgreements = changes.filter(({ charge }) => charge.recurrenceId !== null)
  const endings = Object.entries(BILLING_ENDS).flatMap(([event, status]) => {
    const ended = ofAgreements.filter((change) => change.event === event)
    const byCompany = Map.groupBy(ended, ({ charge }) => charge.companyId)
    return [...byCompany].map(([companyId, own]) => ({ companyId, own, status }))
  })
  await Promise.all([
    update(tx, others.map(chargeOf)),
    insert(tx, sales.map(chargeOf), emails),
    ...endings.map(({ companyId, own, status }) =>
      endBillings(
        tx,
        companyId,
        own.map(({ charge }) => charge.id),
        status,
      ),
    ),
    emit(tx, changes.flatMap(eventsOf)),
  ])
}

const chargeOf = ({ charge }: Change): Charge => charge

export async function lockCharge(tx: Tx, companyId: Uuid, id: Uuid): Promise<Charge> {
  const [charge] = await lock(tx, companyId, [id])
  if (!charge) throw problem('charge_not_found')
  return charge
}

/** It changes no state, so it has no event. */
export { forgetRequest } from './change-store.ts'
