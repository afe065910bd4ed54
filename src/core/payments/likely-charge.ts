import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import { amountAt, asOf, type Charge } from '../charges/rules.ts'
import { searchCharges } from '../charges/search.ts'
import { findMany } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { type Payment, payableBy } from './rules.ts'
import { openPayer } from './sealing.ts'

/** Who pays, as far as that is known. A bank may mask the tax id: ***.982.247-**. */
type KnownPayer = { name: string | null; taxId: string | null }

/** A received payment that matched no charge. */
type Unassigned = { amount: number; receivedAt: Date; payer: KnownPayer }

/** A charge that the payment may have been meant for. */
export type Candidate = {
  amount: number
  createdAt: Date
  /** Whether it was never paid, so that a payment for it is still missing. */
  isUnpaid: boolean
  payer: KnownPayer
}

/** What speaks for a charge. */
const SIGNS = ['amount', 'taxId', 'name', 'time'] as const
export type Sign = (typeof SIGNS)[number]

/** How likely a charge is, from 0 to 100, and why. */
type Likelihood = { score: number; signs: Sign[] }

const POINTS = { amount: 35, taxId: 40, maskedTaxId: 30, name: 15, time: 10 }
/** A charge that is paid, or was canceled, is likely only if the payer is the same. */
const NOT_UNPAID = 15
/** A charge with fewer points is not worth showing: the same amount is not enough alone. */
export const LIKELY = 45

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How likely it is that a payment was meant for a charge. Null: it cannot be. */
export function likelihoodOf(payment: Unassigned, charge: Candidate): Likelihood | null {
  const age_ms = payment.receivedAt.getTime() - charge.createdAt.getTime()
  if (age_ms < 0) return null
  const points: Record<Sign, number> = {
    amount: payment.amount === charge.amount ? POINTS.amount : 0,
    taxId: taxIdPoints(payment.payer.taxId, charge.payer.taxId),
    name: Math.round(POINTS.name * sharedWords(payment.payer.name, charge.payer.name)),
    time: timePoints(age_ms),
  }
  const sum = SIGNS.reduce((all, sign) => all + points[sign], 0)
  const score = Math.max(0, sum - (charge.isUnpaid ? 0 : NOT_UNPAID))
  return { score, signs: SIGNS.filter((sign) => points[sign] > 0) }
}

/**
 * The charge that a payment was most likely meant for, and why. Null if none is likely. Of two
 * that are as likely it is the newer one.
 */
export function likelyCharge<C extends Candidate & { id: string }>(
  payment: Unassigned,
  charges: C[],
): { charge: C; signs: Sign[] } | null {
  const likely = charges.flatMap((charge) => {
    const found = likelihoodOf(payment, charge)
    return found && found.score >= LIKELY ? [{ charge, ...found }] : []
  })
  const [best] = likely.sort((a, b) => b.score - a.score || (a.charge.id < b.charge.id ? 1 : -1))
  return best ? { charge: best.charge, signs: best.signs } : null
}

/** Compares digit by digit where both show one. A mask that hides most of them is no sign. */
function taxIdPoints(given: string | null, known: string | null): number {
  if (given === null || known === null) return 0
  const [one, other] = [plainTaxId(given), plainTaxId(known)]
  if (one.length !== other.length) return 0
  const shown = [...one].flatMap((digit, i) => (digit === '*' ? [] : [[digit, other[i]]]))
  if (shown.length < 6 || shown.some(([a, b]) => a !== b)) return 0
  return shown.length === one.length ? POINTS.taxId : POINTS.maskedTaxId
}

/** The part of the words of the shorter name that the other name has too, from 0 to 1. */
function sharedWords(given: string | null, known: string | null): number {
  const [one, other] = [wordsOf(given), wordsOf(known)]
  const [few, many] = one.size < other.size ? [one, other] : [other, one]
  return few.size === 0 ? 0 : few.intersection(many).size / few.size
}

/** The words of a name without accents. Short ones, such as "da", name nobody. */
const wordsOf = (name: string | null): Set<string> =>
  new Set(
    (name ?? '')
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toUpperCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 2),
  )

/** People pay soon after they were asked to. */
function timePoints(age_ms: number): number {
  if (age_ms <= HOUR_MS) return POINTS.time
  if (age_ms <= DAY_MS) return 7
  return age_ms <= 7 * DAY_MS ? 4 : 0
}

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
    amount: amountAt(charge, payment.receivedAt),
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
