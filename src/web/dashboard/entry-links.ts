import { bookedSource } from '../../core/payments/rules.ts'
import { findByIds } from '../../core/payments/store.ts'
import { findPaymentsOf } from '../../core/refunds/store.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import type { Visit } from './visit.ts'

/** An entry of the ledger, by what it is about. */
type About = { reference: string; chargeId?: unknown }

/** The unmatched payments that refunds return, by the references of the entries. */
export type Refunded = Map<string, string>

export async function findRefunded({ app, company }: Visit, entries: About[]): Promise<Refunded> {
  const ids = entries.flatMap(({ reference, chargeId }) =>
    chargeId ? [] : (fromPublic('rfnd', reference) ?? []),
  )
  const found = await findPaymentsOf(app.db, company.id, ids)
  return new Map([...found].map(([id, endToEndId]) => [toPublic('rfnd', id), endToEndId]))
}

type Linked = { type: string; reference: string; chargeId?: string | undefined }

/** The page of the charge, withdrawal, dispute or payment that an entry is about. */
export function linkOf(
  visit: Visit,
  { type, reference, chargeId }: Linked,
  refunded: Refunded,
): string | null {
  if (type.startsWith('WITHDRAWAL_')) return `/balance/withdrawals/${reference}`
  if (!visit.can('payments:read')) return null
  const payment = type.startsWith('PAYMENT_') ? reference : refunded.get(reference)
  if (payment !== undefined) return `/unmatched/${payment}`
  return chargeId === undefined ? null : `/charges/${chargeId}`
}

/**
 * The page of the charge that a payment paid after all, because the bank has named it since. Links
 * to the payment are older than that.
 */
export async function laterChargeOf(visit: Visit, endToEndId: string): Promise<string | null> {
  const { app, company } = visit
  const [payment] = await findByIds(app.db, company.id, bookedSource(company), [endToEndId])
  return payment?.status === 'MATCHED' && payment.chargeId
    ? `/charges/${toPublic('charge', payment.chargeId)}`
    : null
}
