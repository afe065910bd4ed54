import { assert } from '../../lib/assert.ts'
import { suffixOf, type Uuid } from '../../lib/ids.ts'
import { type Cents, MAX_AMOUNT, MIN_CHARGE, toCents } from '../../lib/money.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { ReceivedPix } from '../../provider/port.ts'
import type { SealedPerson } from '../customers/sealing.ts'
import { chargeEvent, type Event, type EventType } from '../events.ts'
import type { ShownProduct } from '../products/view.ts'

export type ChargeKind = 'PIX' | 'LINK' | 'STATIC'
export type ChargeStatus = 'OPEN' | 'COMPLETED' | 'EXPIRED' | 'CANCELED'
export type PaymentStatus = 'PENDING' | 'PROCESSING' | 'PAID' | 'RECEIVED' | 'EXPIRED' | 'REFUNDED'

export const CHARGE_STATUSES: ChargeStatus[] = ['OPEN', 'COMPLETED', 'EXPIRED', 'CANCELED']
export const PAYMENT_STATUSES: PaymentStatus[] = [
  'PENDING',
  'PROCESSING',
  'PAID',
  'RECEIVED',
  'EXPIRED',
  'REFUNDED',
]

export const PIX_LIFETIME_S = 1800
export const LINK_LIFETIME_S = 7 * 24 * 3600
export const MAX_LIFETIME_S = 31_536_000

/** A product as it was shown when it was sold. */
export type Item = { quantity: number; product: ShownProduct }

/** What only a payment link has. */
export type Link = {
  items: Item[]
  needShipping: boolean
  notifyCustomer: boolean
  successUrl: string | null
  failedUrl: string | null
}

export type Payer = SealedPerson & { name: string }

export type Charge = {
  companyId: Uuid
  id: Uuid
  kind: ChargeKind
  amount: Cents
  status: ChargeStatus
  paymentStatus: PaymentStatus
  devMode: boolean
  externalId: string | null
  fingerprint: Buffer | null
  customerId: Uuid | null
  payer: Payer | null
  link: Link | null
  brCode: string | null
  endToEndId: string | null
  createdAt: Date
  expiresAt: Date
  paymentDate: Date | null
}

/** A code for the counter: paid many times, each payment a charge of its own. */
export type StaticCode = {
  companyId: Uuid
  id: Uuid
  amount: Cents
  devMode: boolean
  brCode: string
  createdAt: Date
}

/**
 * Past its deadline a charge is expired for everybody at once, even before the worker has written
 * it.
 */
export function asOf(charge: Charge, now: Date): Charge {
  return isDue(charge, now) ? { ...charge, status: 'EXPIRED', paymentStatus: 'EXPIRED' } : charge
}

export const isDue = (charge: Charge, now: Date): boolean =>
  charge.status === 'OPEN' && charge.expiresAt <= now

/**
 * A charge starts PENDING; one that is made with its code goes on to PROCESSING in the same breath.
 */
export function eventsOfCreation(charge: Charge): Event[] {
  const pending: Charge = { ...charge, paymentStatus: 'PENDING' }
  const events = [chargeEvent('charge.pending', pending, charge.createdAt)]
  if (charge.paymentStatus === 'PROCESSING') {
    events.push(chargeEvent('charge.processing', charge, charge.createdAt))
  }
  return events
}

/** A changed charge and what the change is called. */
export type Change = { charge: Charge; event: EventType; at: Date }

export function withCode(charge: Charge, brCode: string, now: Date): Change {
  assert(charge.status === 'OPEN' && charge.brCode === null, 'a code is issued once, while open')
  return {
    charge: { ...charge, brCode, paymentStatus: 'PROCESSING' },
    event: 'charge.processing',
    at: now,
  }
}

export type Settlement = ({ kind: 'paid' } & Change) | { kind: 'already-settled' | 'not-payable' }

/**
 * Decides what a received Pix does to its charge. The scheme's id tells a repeat from a second
 * payment.
 */
export function settle(charge: Charge, pix: ReceivedPix): Settlement {
  assert(pix.txid === suffixOf(charge.id), 'a Pix settles the charge it names')
  if (charge.endToEndId === pix.endToEndId) return { kind: 'already-settled' }
  const open = asOf(charge, pix.receivedAt).status === 'OPEN'
  if (!open || pix.amount !== charge.amount) return { kind: 'not-payable' }
  const { endToEndId, receivedAt: paymentDate } = pix
  const paid = { status: 'COMPLETED', paymentStatus: 'PAID', endToEndId, paymentDate } as const
  return { kind: 'paid', charge: { ...charge, ...paid }, event: 'charge.paid', at: paymentDate }
}

export function cancel(charge: Charge, now: Date): Change | 'already-canceled' {
  const { status } = asOf(charge, now)
  if (status === 'CANCELED') return 'already-canceled'
  if (status !== 'OPEN') throw notPayable(status)
  return { charge: { ...charge, status: 'CANCELED' }, event: 'charge.canceled', at: now }
}

export function expire(charge: Charge, now: Date): Change {
  assert(isDue(charge, now), 'only a due charge expires')
  return { charge: asOf(charge, now), event: 'charge.expired', at: now }
}

/**
 * Whether a simulated payment has anything to do; paid already is a success, a closed charge is
 * not.
 */
export function simulation(charge: Charge, now: Date): 'pay' | 'already-paid' {
  if (!charge.devMode) throw problem('charge_not_dev_mode')
  const { status } = asOf(charge, now)
  if (status === 'COMPLETED') return 'already-paid'
  if (status !== 'OPEN') throw notPayable(status)
  return 'pay'
}

const notPayable = (status: ChargeStatus) =>
  problem('charge_not_payable', `The charge is ${status} and can no longer change.`)

/** The total of a link: what was sent wins, otherwise the items add up to it. */
export function totalOf(total: number | undefined, items: Item[]): Cents {
  if (total !== undefined) return toCents(total)
  if (items.length === 0) throw invalid('total: send it, or items to calculate it from')
  const sum = items.reduce((all, { quantity, product }) => all + quantity * product.price, 0)
  if (sum < MIN_CHARGE || sum > MAX_AMOUNT) {
    throw invalid(
      `items: their total must be from ${MIN_CHARGE} to ${MAX_AMOUNT} cents, it is ${sum}`,
    )
  }
  return toCents(sum)
}
