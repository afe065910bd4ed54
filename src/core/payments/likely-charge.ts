import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import type { Vault } from '../../lib/vault.ts'
import { isTaxIdShape, kindOfTaxId, plainTaxId } from '../../pix/tax-id.ts'
import { findDueNear } from '../charges/payable-store.ts'
import { amountAt, asOf, type Charge } from '../charges/rules.ts'
import { searchCharges } from '../charges/search.ts'
import { findMany } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { type Payment, payableBy, undecidedOf } from './rules.ts'
import { openPayer } from './sealing.ts'

/** Who pays, as far as that is known. A bank may mask the tax id: ***.982.247-**. */
type KnownPayer = { name: string | null; taxId: string | null }

/** A received payment that matched no charge. */
type Unassigned = { amount: number; receivedAt: Date; payer: KnownPayer }

/** A charge that the payment may have been meant for, with what it asked for at that moment. */
export type Candidate = {
  amount: number
  createdAt: Date
  /** Whether it was never paid, so that a payment for it is still missing. */
  isUnpaid: boolean
  payer: KnownPayer
}

/** What speaks for a charge. `partOfTaxId`: the bank masks the others of its digits. */
export const SIGNS = ['named', 'amount', 'taxId', 'partOfTaxId', 'name', 'time'] as const
export type Sign = (typeof SIGNS)[number]

/**
 * How likely a charge is, from 0 to 100, and why. It is probable only if it is unpaid and both its
 * amount and its payer fit: the same payer pays for other things too, and others pay the same.
 */
type Likelihood = { score: number; signs: Sign[]; isProbable: boolean }

const POINTS = { amount: 35, taxId: 40, partOfTaxId: 30, name: 15, time: 10 }
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
  const taxId = comparedTaxIds(payment.payer.taxId, charge.payer.taxId)
  const points: Partial<Record<Sign, number>> = {
    amount: payment.amount === charge.amount ? POINTS.amount : 0,
    taxId: taxId === 'same' ? POINTS.taxId : 0,
    partOfTaxId: taxId === 'same in part' ? POINTS.partOfTaxId : 0,
    name: Math.round(POINTS.name * sharedWords(payment.payer.name, charge.payer.name)),
    time: timePoints(age_ms),
  }
  const signs = SIGNS.filter((sign) => (points[sign] ?? 0) > 0)
  const sum = signs.reduce((all, sign) => all + points[sign]!, 0)
  const score = Math.max(0, sum - (charge.isUnpaid ? 0 : NOT_UNPAID))
  const isSamePerson =
    taxId === 'unknown' ? isWholeName(payment.payer.name, charge.payer.name) : taxId !== 'different'
  const isProbable = charge.isUnpaid && points.amount !== 0 && isSamePerson
  return { score, signs, isProbable }
}

type Ranked<C> = Likelihood & { charge: C }

/** The likely charges of a payment, the best first. Of two as likely the newer one is before. */
export function rankCharges<C extends Candidate & { id: string }>(
  payment: Unassigned,
  charges: C[],
): Ranked<C>[] {
  const likely = charges.flatMap((charge) => {
    const found = likelihoodOf(payment, charge)
    return found && found.score >= LIKELY ? [{ charge, ...found }] : []
  })
  const order = (a: Ranked<C>, b: Ranked<C>) =>
    Number(b.isProbable) - Number(a.isProbable) ||
    b.score - a.score ||
    (a.charge.id < b.charge.id ? 1 : -1)
  return likely.sort(order)
}

/** Compares digit by digit where both show one. A mask that hides most of them is no sign. */
export function comparedTaxIds(
  given: string | null,
  known: string | null,
): 'same' | 'same in part' | 'different' | 'unknown' {
  if (given === null || known === null) return 'unknown'
  const [one, other] = [plainTaxId(given), plainTaxId(known)]
  if (one.length !== other.length) return 'unknown'
  const shown = [...one].flatMap((digit, i) => (digit === '*' ? [] : [[digit, other[i]]]))
  if (shown.some(([a, b]) => a !== b)) return 'different'
  if (shown.length < 6) return 'unknown'
  return shown.length === one.length ? 'same' : 'same in part'
}

/** The part of the words of the shorter name that the other name has too, from 0 to 1. */
function sharedWords(given: string | null, known: string | null): number {
  const [one, other] = [wordsOf(given), wordsOf(known)]
  const [few, many] = one.size < other.size ? [one, other] : [other, one]
  return few.size === 0 ? 0 : few.intersection(many).size / few.size
}

/** Whether two names are those of one person. Many people have the same first name. */
export const isWholeName = (given: string | null, known: string | null): boolean =>
  sharedWords(given, known) === 1 && Math.min(wordsOf(given).size, wordsOf(known).size) > 1

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

/** A charge that a payment may belong to, as it is now, and why. */
export type Suggestion = {
  charge: Charge
  signs: Sign[]
  isProbable: boolean
  /** What the charge asked for when the payment arrived. */
  asked: Cents
  /** How long after the charge was made the payment arrived. */
  age_ms: number
  payerKind: 'cpf' | 'cnpj' | null
}

/** The charges that payments which matched none may belong to, by their ids, the best first. */
export async function findLikely(
  where: Where,
  payments: Payment[],
): Promise<Map<Uuid, Suggestion[]>> {
  const found = new Map<Uuid, Suggestion[]>()
  for (const payment of payments) found.set(payment.id, await findSuggestions(where, payment))
  return found
}

/** The charges that a payment may belong to, the best first. One that it names is before others. */
export async function findSuggestions(where: Where, payment: Payment): Promise<Suggestion[]> {
  const { vault, company, db, now } = where
  const { receivedAt, chargeId } = payment
  // What the bank has returned settles nothing any more.
  const amount = undecidedOf(payment)
  const sealed = payment.payer && openPayer(vault, payment, payment.payer)
  const payer = { name: sealed?.name ?? null, taxId: sealed?.taxId ?? null }
  const [named] =
    chargeId === null ? [] : await findMany(db, [{ companyId: company.id, id: chargeId }])
  const compared = await findCompared(where, { ...payment, amount }, payer.taxId)
  const unassigned = { amount, receivedAt, payer }
  const candidateOf = (charge: Charge) => ({
    id: charge.id,
    charge,
    amount: amountAt(charge, receivedAt),
    createdAt: charge.createdAt,
    isUnpaid: isUnpaid(charge),
    payer: payerOf(vault, company, charge),
  })
  const others = compared.filter(({ id }) => id !== chargeId).map(candidateOf)
  const ranked = rankCharges(unassigned, others).map((one) => ({ ...one, ...one.charge }))
  const first = named && candidateOf(asOf(named, now))
  const signs = first && likelihoodOf(unassigned, first)?.signs
  const all = [
    ...(first
      ? [{ ...first, signs: ['named' as const, ...(signs ?? [])], isProbable: first.isUnpaid }]
      : []),
    ...ranked,
  ]
  return all.map(({ charge, signs, isProbable, amount: asked, payer: { taxId } }) => ({
    charge,
    signs,
    isProbable,
    asked,
    age_ms: receivedAt.getTime() - charge.createdAt.getTime(),
    payerKind: taxId !== null && isTaxIdShape(taxId) ? kindOfTaxId(taxId) : null,
  }))
}

const isUnpaid = ({ status }: Charge): boolean => status === 'OPEN' || status === 'EXPIRED'

/**
 * Charges from before the payment, of its amount or of its payer, that its source could pay. An
 * open charge of a subscription is left out, because the payer's bank collects it.
 */
async function findCompared(
  { db, vault, company, now }: Where,
  { id, amount, source }: Payment,
  taxId: string | null,
): Promise<Charge[]> {
  const where = { db, vault, companyId: company.id, now, isMasked: false }
  // Ids are in the order of time, so these are the newest from before the payment.
  const page = { limit: MAX_COMPARED, after: id }
  const plain = plainTaxId(taxId ?? '')
  const [ofAmount, ofPayer, due] = await Promise.all([
    searchCharges(where, { amount }, page),
    isTaxIdShape(plain) ? searchCharges(where, { taxId: plain }, page) : [],
    findDueNear(db, company.id, amount, id),
  ])
  const all = new Map([...ofAmount, ...ofPayer, ...due].map((charge) => [charge.id, charge]))
  return [...all.values()]
    .filter(({ devMode }) => payableBy(company, devMode) === source)
    .filter(({ kind, status }) => kind !== 'RECURRING' || status !== 'OPEN')
    .map((charge) => asOf(charge, now))
}

function payerOf(vault: Vault, { id }: Company, { payer }: Charge): KnownPayer {
  if (!payer) return { name: null, taxId: null }
  return { name: payer.name, taxId: openPerson(vault, id, payer).taxId }
}
