import { texts, uuids } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { end as endBillings } from '../billings/store.ts'
import { emit } from '../events.ts'
import { countSales } from './link-counts.ts'
import { type Change, type Charge, eventsOf, isSale } from './rules.ts'
import { CHANGING, insert, lock } from './store.ts'

const UPDATE = `update charges c set ${CHANGING.assigned('u')}
  from unnest($1::uuid[], $2::uuid[], ${CHANGING.parameters(3)})
    u (company_id, id, ${CHANGING.names})
  where c.company_id = u.company_id and c.id = u.id`

/** Writes the state of charges. */
async function update(tx: Tx, charges: Charge[]): Promise<void> {
  if (charges.length === 0) return
  const companyIds = uuids(charges.map(({ companyId }) => companyId))
  const ids = uuids(charges.map(({ id }) => id))
  const values = [companyIds, ids, ...CHANGING.values(charges)]
  await tx.query({ name: 'update_charges', text: UPDATE, values })
}

/**
 * Lets the same request create another charge although this one is open still. It changes no state,
 * so it has no event.
 */
export async function forgetRequest(tx: Tx, { companyId, id }: Charge): Promise<void> {
  await tx.query({
    text: `update charges set fingerprint = null
           where company_id = $1 and id = $2 and status = 'OPEN'`,
    values: [companyId, id],
  })
}

/** What stays of the texts of a charge whose payer is erased. Null: the link as it is. */
export type KeptTexts = Pick<Charge, 'id' | 'externalId' | 'description' | 'link'>

/**
 * Erases who the payer of charges is, and all by which a charge is found by its payer. The erasure
 * takes the place of the customer. It changes no state, so it has no event. An open charge is left
 * alone.
 */
export async function eraseFromCharges(
  tx: Tx,
  companyId: Uuid,
  erasureId: Uuid,
  kept: KeptTexts[],
): Promise<void> {
  await tx.query({
    text: `update charges c set customer_id = $2, payer_name = null, payer_index = null,
             payer_sealed = null, email_index = null, shipping_sealed = null, fingerprint = null,
             external_id = k.external_id, description = k.description,
             link = coalesce(k.link::jsonb, c.link)
           from unnest($3::uuid[], $4::text[], $5::text[], $6::text[])
             k (id, external_id, description, link)
           where c.company_id = $1 and c.id = k.id and c.status <> 'OPEN'`,
    values: [
      companyId,
      erasureId,
      uuids(kept.map(({ id }) => id)),
      texts(kept.map(({ externalId }) => externalId)),
      texts(kept.map(({ description }) => description)),
      texts(kept.map(({ link }) => link && JSON.stringify(link))),
    ],
  })
}

/** If a charge of an agreement changes by one of these events, its billing ends. */
const BILLING_ENDS = {
  'charge.paid': 'PAID',
  'charge.expired': 'FAILED',
  'charge.canceled': 'CANCELED',
} as const

/**
 * The only way that a charge changes: its new state, its events and the end of its billing are
 * written in one transaction. They may be of several companies. A test keeps other files from
 * updating charges.
 */
export async function record(tx: Tx, changes: Change[]): Promise<void> {
  const [sales, others] = [changes.filter(isSale), changes.filter((one) => !isSale(one))]
  // A bank names who pays by a static code without their address.
  const emails = sales.map(() => null)
  const ofAgreements = changes.filter(({ charge }) => charge.recurrenceId !== null)
  const endings = Object.entries(BILLING_ENDS).flatMap(([event, status]) => {
    const ended = ofAgreements.filter((change) => change.event === event)
    const byCompany = Map.groupBy(ended, ({ charge }) => charge.companyId)
    return [...byCompany].map(([companyId, own]) => ({ companyId, own, status }))
  })
  await Promise.all([
    // Before the update, because it compares with the states before.
    countSales(tx, others),
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
