import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import { asOf, type Charge } from '../charges/rules.ts'
import { searchCharges } from '../charges/search.ts'
import { findMany } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { type KnownPayer, likelyCharge, type Sign } from './likely-charge.ts'
import { type Payment, payableBy } from './rules.ts'
import { openPayer } from './sealing.ts'

/** So many charges of the same amount, and so many of the same payer, are compared. */
const MAX_COMPARED = 20

type Where = { db: Tx; vault: Vault; company: Company; now: Date }

/** The charge that a payment probably belongs to. `named`: the payment itself names it. */
export type Suggestion = { charge: Charge; signs: Sign[] | 'named' }

/** The charges that payments which matched none probably belong to, by the id of the payment. */
export async function findLikely(
  where: Where,
  payments: Payment[],
): Promise<Map<Uuid, Suggestion>> {
  const found = new Map<Uuid, Suggestion>()
  const named = payments.filter(({ chargeId }) => chargeId !== null)
  const companyId = where.company.id
  const charges = await findMany(
    where.db,
    named.map(({ chargeId }) => ({ companyId, id: chargeId! })),
  )
  for (const [i, { id }] of named.entries()) {
    const charge = charges[i]
    if (charge) found.set(id, { charge: asOf(charge, where.now), signs: 'named' })
  }
  for (const payment of payments) {
    const likely = payment.chargeId === null ? await findLikelyOf(where, payment) : null
    if (likely) found.set(payment.id, likely)
  }
  return found
}

async function findLikelyOf(where: Where, payment: Payment): Promise<Suggestion | null> {
  const { vault, company } = where
  const sealed = payment.payer && openPayer(vault, payment, payment.payer)
  const payer = { name: sealed?.name ?? null, taxId: sealed?.taxId ?? null }
  const compared = (await findCompared(where, payment, payer.taxId)).map((charge) => ({
    ...charge,
    charge,
    isUnpaid: charge.status === 'OPEN' || charge.status === 'EXPIRED',
    payer: payerOf(vault, company, charge),
  }))
  const { amount, receivedAt } = payment
  const likely = likelyCharge({ amount, receivedAt, payer }, compared)
  return likely && { charge: likely.charge.charge, signs: likely.signs }
}

/** Charges from before the payment, of its amount or of its payer, that its source could pay. */
async function findCompared(
  { db, vault, company, now }: Where,
  { id, amount, source }: Payment,
  taxId: string | null,
): Promise<Charge[]> {
  const where = { db, vault, companyId: company.id, now }
  // Ids are in the order of time, so these are the newest from before the payment.
  const page = { limit: MAX_COMPARED, after: id }
  const plain = plainTaxId(taxId ?? '')
  const [ofAmount, ofPayer] = await Promise.all([
    searchCharges(where, { amount }, page),
    isTaxIdShape(plain) ? searchCharges(where, { taxId: plain }, page) : [],
  ])
  const all = new Map([...ofAmount, ...ofPayer].map((charge) => [charge.id, charge]))
  return [...all.values()]
    .filter(({ devMode }) => payableBy(company, devMode) === source)
    .map((charge) => asOf(charge, now))
}

function payerOf(vault: Vault, { id }: Company, { payer }: Charge): KnownPayer {
  if (!payer) return { name: null, taxId: null }
  return { name: payer.name, taxId: openPerson(vault, id, payer).taxId }
}
