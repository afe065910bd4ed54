import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import type { ReceivedPix, Source } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import { findPayable, type Payable } from '../charges/payable-store.ts'
import { amountAt } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import { payableBy } from './rules.ts'
import { findRecorded } from './store.ts'

/** Payments of a company that have arrived together, from one source. */
type Arrived = { company: Company; payments: ReceivedPix[]; arrival: { source: Source } }

/** The charges that payments settle by the rule of their company, by the scheme's ids. */
export type Exact = Map<string, Uuid>

type Wanted = { company: Company; source: Source; pix: ReceivedPix; taxId: string }

/**
 * Finds the charges that payments settle by themselves, of companies that want that: a payment that
 * names nothing, and the only charge that its payer could pay with this amount when it arrived. A
 * charge that has to be locked anyway is locked afterwards, and looked at again. If a txid has the
 * form of ours, the payment is left to a person, even if we do not know the charge. Companies
 * without the rule, and payments that name a charge, cost nothing.
 */
export async function findExact(
  tx: Tx,
  vault: Vault,
  groups: Arrived[],
): Promise<Map<Uuid, Exact>> {
  const asked = groups.flatMap(wantedOf)
  const wanted = asked.length > 0 ? await withoutRecorded(tx, asked) : []
  const found: Map<Uuid, Exact> = new Map()
  if (wanted.length === 0) return found
  const payable = await findPayableOf(tx, vault, wanted)
  for (const [i, { company, source, pix }] of wanted.entries()) {
    const fitting = payable[i]!.filter(
      (charge) =>
        payableBy(company, charge.devMode) === source &&
        amountAt(charge, pix.receivedAt) === pix.amount,
    )
    if (fitting.length !== 1) continue
    const own = found.get(company.id) ?? new Map()
    found.set(company.id, own.set(pix.endToEndId, fitting[0]!.id))
  }
  return found
}

/**
 * A masked tax id may be that of somebody else, so it is not enough. If the bank has returned money
 * of the payment, the charge could not be paid any more, so that is left to a person too.
 */
function wantedOf({ company, payments, arrival }: Arrived): Wanted[] {
  if (!company.settlesExactPayments) return []
  return payments.flatMap((pix) => {
    const taxId = plainTaxId(pix.payer?.taxId ?? '')
    if (pix.returns || namedBy(pix.txid) !== null || !isTaxIdShape(taxId)) return []
    return [{ company, source: arrival.source, pix, taxId }]
  })
}

/** While a secret is replaced, charges and customers are looked for by the hashes of both. */
async function findPayableOf(tx: Tx, vault: Vault, wanted: Wanted[]): Promise<Payable[][]> {
  const asked = wanted.flatMap(({ company: { id: companyId }, taxId, pix: { receivedAt } }, of) =>
    vault
      .forms((by) => by.index(companyId, taxId))
      .flatMap((customerIndex) =>
        vault.each.map((keys) => {
          const payerIndex = keys.index(companyId, taxId)
          return { of, companyId, payerIndex, customerIndex, receivedAt }
        }),
      ),
  )
  const found = await findPayable(tx, asked)
  const payable = wanted.map(() => new Map<Uuid, Payable>())
  for (const [i, charges] of found.entries()) {
    for (const charge of charges) payable[asked[i]!.of]!.set(charge.id, charge)
  }
  return payable.map((charges) => [...charges.values()])
}

/** Reconciliation lists payments again that were recorded long ago. */
async function withoutRecorded(tx: Tx, wanted: Wanted[]): Promise<Wanted[]> {
  const keys = wanted.map(({ company, source, pix: { endToEndId } }) => ({
    companyId: company.id,
    source,
    endToEndId,
  }))
  const recorded = await findRecorded(tx, keys)
  return wanted.filter((_, i) => recorded[i] === undefined)
}
