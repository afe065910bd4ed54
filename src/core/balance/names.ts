import type { Tx } from '../../db/database.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Source } from '../../provider/port.ts'
import { type ChargeName, findNames } from '../charges/store.ts'
import { findPaymentsOf as paymentsOfDisputes } from '../disputes/store.ts'
import { openPayer } from '../payments/sealing.ts'
import { findByIds } from '../payments/store.ts'
import { findPaymentsOf as paymentsOfRefunds } from '../refunds/store.ts'
import { findMany as findWithdrawals } from '../withdrawals/store.ts'
import { shownDestination } from '../withdrawals/view.ts'

/** `source` is that of the payments in the company's books. */
export type NamesOf = { db: Tx; vault: Vault; companyId: Uuid; source: Source }
/** `reference` is that of an entry of the ledger. */
type Of = { reference: string; chargeId: Uuid | null }

const idsOf = (prefix: 'wd' | 'rfnd' | 'dispute', lines: Of[]): Uuid[] =>
  lines.flatMap(({ reference }) => fromPublic(prefix, reference) ?? [])

/**
 * Adds to each line who has paid or is paid back, by their charge or else by their payment, and to
 * that of a withdrawal the masked key that it goes to. Each source is asked once for all lines.
 */
export async function withNames<T extends Of>(
  where: NamesOf,
  lines: T[],
): Promise<(T & { name: string | null })[]> {
  const { db, companyId } = where
  const ofNoCharge = lines.filter(({ chargeId }) => chargeId === null)
  const chargeIds = lines.flatMap(({ chargeId }) => chargeId ?? [])
  const [charges, destinations, payers] = await Promise.all([
    findNames(db, companyId, [...new Set(chargeIds)]),
    findWithdrawals(db, companyId, idsOf('wd', ofNoCharge)),
    namesOfPayments(where, ofNoCharge),
  ])
  const names = new Map(charges.map((one) => [one.id, nameOfCharge(one)]))
  const keys = new Map(destinations.map((one) => [one.id, shownDestination(one)]))
  const nameOf = ({ reference, chargeId }: Of) =>
    chargeId === null
      ? (payers.get(reference) ?? keys.get(fromPublic('wd', reference) ?? ''))
      : names.get(chargeId)
  return lines.map((line) => ({ ...line, name: nameOf(line) ?? null }))
}

/** Nobody is named by whoever pays a code at the counter. */
const nameOfCharge = ({ name, kind }: ChargeName): string | null =>
  name ?? (kind === 'STATIC' ? 'QR Code' : null)

/** Who has made payments without a charge, by the references of the lines. */
async function namesOfPayments(
  { db, vault, companyId, source }: NamesOf,
  lines: Of[],
): Promise<Map<string, string>> {
  const [refunds, disputes] = await Promise.all([
    paymentsOfRefunds(db, companyId, idsOf('rfnd', lines)),
    paymentsOfDisputes(db, companyId, idsOf('dispute', lines)),
  ])
  const paymentOf = ({ reference }: Of): string =>
    refunds.get(fromPublic('rfnd', reference) ?? '') ??
    disputes.get(fromPublic('dispute', reference) ?? '') ??
    reference
  const wanted = lines.map(paymentOf).filter((id) => !id.includes('_'))
  const payments = wanted.length === 0 ? [] : await findByIds(db, companyId, source, wanted)
  const payers = new Map(
    payments.map((payment) => [
      payment.endToEndId,
      payment.payer ? openPayer(vault, payment, payment.payer).name : undefined,
    ]),
  )
  return new Map(
    lines.flatMap((line) => {
      const name = payers.get(paymentOf(line))
      return name ? [[line.reference, name] as const] : []
    }),
  )
}
