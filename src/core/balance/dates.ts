import type { Tx } from '../../db/database.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { findArrivals } from '../payments/store.ts'
import { findFinished } from '../withdrawals/store.ts'
import type { ShownEntry } from './view.ts'

/** An entry with the dates of its payment or withdrawal. */
export type DatedEntry = ShownEntry & { paidAt?: Date; withdrawnAt?: Date }

/** Adds to each entry when its payment was received, or when its withdrawal was completed. */
export async function withDates(
  tx: Tx,
  companyId: Uuid,
  entries: ShownEntry[],
): Promise<DatedEntry[]> {
  const isOfPayment = ({ type }: ShownEntry) => /^(CHARGE|PAYMENT)_/.test(type)
  const paymentIds = entries.filter(isOfPayment).map(({ reference }) => reference)
  const withdrawalIds = entries.flatMap(({ reference }) => fromPublic('wd', reference) ?? [])
  const [paid, withdrawals] = await Promise.all([
    findArrivals(tx, companyId, paymentIds),
    withdrawalIds.length === 0 ? [] : findFinished(tx, companyId, withdrawalIds),
  ])
  const withdrawn = new Map(withdrawals.map(({ id, finishedAt }) => [id, finishedAt]))
  return entries.map((entry) => {
    const paidAt = paid.get(entry.reference)
    const withdrawnAt = withdrawn.get(fromPublic('wd', entry.reference) ?? '')
    return { ...entry, ...(paidAt ? { paidAt } : {}), ...(withdrawnAt ? { withdrawnAt } : {}) }
  })
}
