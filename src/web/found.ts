import type { Billing } from '../core/billings/rules.ts'
import { find as findBilling } from '../core/billings/store.ts'
import { isOfPlainPages, readPageToken, type TokenName } from '../core/charges/addresses.ts'
import { findRenewal, replacesOther } from '../core/charges/renewals.ts'
import { type Charge, asOf as chargeAsOf, isSubscriptionLink } from '../core/charges/rules.ts'
import { forCompany, withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { placeOf } from '../core/places/front.ts'
import { asOf, type Recurrence } from '../core/recurrences/rules.ts'
import { find as findRecurrence } from '../core/recurrences/store.ts'
import type { Uuid } from '../lib/ids.ts'
import { problem } from '../lib/problems.ts'
import type { Vault } from '../lib/vault.ts'
import type { PageLanguage } from './language.ts'

/** The company that a page belongs to. `app` has the company's clock. */
export type Owner = { app: FullApp; company: Company; token: string }

/** What the token of a page names: a charge or a recurrence. */
export type Found = Owner & Shown
type Shown = { charge: Charge } | { recurrence: Recurrence }

/** The state of a charge or an agreement that its page shows. */
export type State =
  | 'form'
  | 'open'
  | 'collecting'
  | 'checking'
  | 'paid'
  | 'refunded'
  | 'expired'
  | 'canceled'
  | 'offer'
  | 'agreeing'
  | 'approved'
  | 'rejected'
  | 'unavailable'

/** After these states a page does not change any more. */
const FINAL: State[] = ['paid', 'refunded', 'expired', 'canceled', 'approved', 'rejected']
export const isFinal = (state: State): boolean => FINAL.includes(state)

export type FindOwner = (app: FullApp, id: Uuid) => Promise<Company | null>

type Looking = {
  /** Reads the kind of token that the address has. */
  read?: (vault: Vault, token: string) => TokenName | null
  findOwner?: FindOwner
}

export const findInDatabase: FindOwner = (app, id) => findCompany(app.db, id)

export async function lookUp(
  front: FullFront,
  token: string,
  { read = readPageToken, findOwner = findInDatabase }: Looking = {},
): Promise<Found> {
  const named = read(front.vault, token)
  const app = await placeOf(front, named?.companyId)
  const company = named && (await findOwner(app, named.companyId))
  if (!company) throw problem('charge_not_found')
  const owner = { app: withCompanyClock(forCompany(app, company), company), company, token }
  const now = owner.app.clock.now()
  const charge = await app.charges.find(named)
  const recurrence = charge ? null : await findRecurrence(owner.app.db, company.id, named.id)
  if (!charge && !recurrence) throw problem('charge_not_found')
  const found: Shown = charge
    ? { charge: chargeAsOf(charge, now) }
    : { recurrence: asOf(recurrence!, now) }
  const isShown = !named.isPlain || (!isOver(found, now) && (await isOfPlainPages(app, named.id)))
  if (!isShown) throw problem('charge_not_found')
  return { ...owner, ...found }
}

/** Who has just paid by an address without a tag still sees that. */
const LATE_MS = 3_600_000

/** Whether an address of before tags has ended with its charge or agreement. */
function isOver(found: Shown, now: Date): boolean {
  if ('recurrence' in found) return found.recurrence.status !== 'OPEN'
  const { status, paymentDate, expiresAt } = found.charge
  const end = paymentDate ?? expiresAt
  return status === 'CANCELED' || end.getTime() + LATE_MS <= now.getTime()
}

/** What the page of a subscription's charge shows of the subscription. */
export type Collection = Pick<Billing, 'dueOn' | 'nextAt'> & { productName: string }

/** Null if the charge belongs to no subscription. */
export async function findCollection({ db }: FullApp, charge: Charge): Promise<Collection | null> {
  const { companyId, id, recurrenceId } = charge
  if (recurrenceId === null) return null
  const [recurrence, billing] = await Promise.all([
    findRecurrence(db, companyId, recurrenceId),
    findBilling(db, companyId, id),
  ])
  return recurrence && billing && { ...billing, productName: recurrence.productName }
}

/** What a payer cannot do while the company is suspended. */
const NEEDS_COMPANY: State[] = ['form', 'open', 'offer', 'agreeing']

export function stateOf(found: Found): State {
  const state =
    'charge' in found ? stateOfCharge(found.charge) : stateOfRecurrence(found.recurrence)
  const isSuspended = found.company.suspendedAt !== null
  return isSuspended && NEEDS_COMPANY.includes(state) ? 'unavailable' : state
}

/** These pages ask their payer to pay, or to get a code. */
const ASKING: State[] = ['form', 'open', 'expired']
export const asksToPay = (state: State): boolean => ASKING.includes(state)

/**
 * The state of a page that asks nobody to pay whose money has come: after the end, or by the code
 * that an expired charge had before this one.
 */
export async function stateNow(found: Found): Promise<State> {
  const state = stateOf(found)
  if (!('charge' in found) || !asksToPay(state)) return state
  const { app, company, charge } = found
  const { current, hasMoney } = await findRenewal(app, company, charge)
  if (current.status === 'COMPLETED') return 'paid'
  return hasMoney ? 'checking' : state
}

/** Whether the state of the page follows from other payments than that of its charge. */
export async function needsOthers(found: Found): Promise<boolean> {
  const state = stateOf(found)
  if (!('charge' in found) || !asksToPay(state)) return false
  return state === 'expired' || (await replacesOther(found.app.db, found.charge))
}

function stateOfCharge(charge: Charge): State {
  const { status, paymentStatus, brCode, kind } = charge
  if (status === 'COMPLETED') return paymentStatus === 'REFUNDED' ? 'refunded' : 'paid'
  if (status !== 'OPEN') return status === 'EXPIRED' ? 'expired' : 'canceled'
  if (kind === 'RECURRING') return 'collecting'
  if (brCode !== null) return 'open'
  return isSubscriptionLink(charge) ? 'offer' : 'form'
}

const STATES = {
  CREATED: 'agreeing',
  APPROVED: 'approved',
  REJECTED: 'rejected',
  EXPIRED: 'expired',
  CANCELED: 'canceled',
} as const satisfies Record<Recurrence['authStatus'], State>

function stateOfRecurrence({ isTemplate, status, authStatus }: Recurrence): State {
  if (!isTemplate) return STATES[authStatus]
  return status === 'OPEN' ? 'offer' : 'canceled'
}

/** What the page of a charge shows, in any state of the charge. */
export type ChargePage = Owner &
  PageLanguage & {
    charge: Charge
    collection: Collection | null
    /** What was bought, if the charge is paid. */
    purchase?: string[]
    /** If it has expired: whether its payer can have a new code here, or where else. */
    again?: 'here' | { path: string } | null
    /** Whether money is here that nobody has decided about, so that nothing is asked for. */
    isChecking?: boolean
    /** Whether a payer looks at it, and not a machine or somebody of the company. */
    isPayer?: boolean
  }
