import { assert } from '../../lib/assert.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { MAX_AMOUNT, MIN_CHARGE } from '../../pix/amounts.ts'
import {
  amountOn,
  type DueAmount,
  type DueTerms,
  lastDayToPay,
  totalOfParts,
} from '../../pix/due-amount.ts'
import { addDays, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { PaidParts, ReceivedPix } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { Company } from '../companies/rules.ts'
import type { SealedPerson } from '../customers/sealing.ts'
import {
  canceledEvent,
  chargeEvent,
  collectionEvent,
  type Event,
  type NoticeType,
  noticeEvent,
  type PublishedType,
  refundedEvent,
} from '../events.ts'
import type { ShownProduct } from '../products/view.ts'

export type ChargeKind = 'PIX' | 'LINK' | 'STATIC' | 'RECURRING'
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

export const CHARGE_KINDS: ChargeKind[] = ['PIX', 'LINK', 'STATIC', 'RECURRING']

/** Every pair of statuses that the database can hold. */
export const STORED_STATES: readonly [ChargeStatus, PaymentStatus][] = [
  ['OPEN', 'PENDING'],
  ['OPEN', 'PROCESSING'],
  ['COMPLETED', 'PAID'],
  ['COMPLETED', 'RECEIVED'],
  ['COMPLETED', 'REFUNDED'],
  ['EXPIRED', 'EXPIRED'],
  ['CANCELED', 'PENDING'],
  ['CANCELED', 'PROCESSING'],
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

/** Which charge of a plan it is, from 1, and of how many. */
export type PlanPart = { id: Uuid; number: number; count: number }

/** The terms of a charge with a due date, what was paid by them, and the plan that it is of. */
export type Due = { terms: DueTerms; paid: DueAmount | null; plan?: PlanPart }

/** Who gets which part of a charge: cents, or hundredths of a percent. */
export type SplitTerm = { recipientId: Uuid } & ({ amount: Cents } | { percent: number })
export type Split = SplitTerm[]

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
  /** What the payer reads on the page, and in the app of their bank. */
  description: string | null
  fingerprint: Buffer | null
  customerId: Uuid | null
  payer: Payer | null
  link: Link | null
  brCode: string | null
  /** Null if the amount does not depend on the day. */
  due: Due | null
  /** When something is to be said about the due date next. */
  noticeAt: Date | null
  /** Who gets which part of what is paid. Null: all of it is the company's. */
  split: Split | null
  endToEndId: string | null
  createdAt: Date
  expiresAt: Date
  paymentDate: Date | null
  /** When the money becomes withdrawable. */
  releaseAt: Date | null
  /** Whether the payment is booked in the ledger. */
  booked: boolean
  /** Cents that were returned to the payer, or are being returned. */
  refunded: Cents
  /** Cents of the amount that did not arrive, because a smaller payment has settled the charge. */
  shortfall: Cents
  staticCodeId: Uuid | null
  /** The agreement that the charge belongs to. The payer's bank collects it, without a code. */
  recurrenceId: Uuid | null
  /** The shipping address, sealed. Only the payer of a link gives one. */
  shipping: Buffer | null
  /** The reusable link that it is a sale of. */
  linkId: Uuid | null
}

/** Whether a payment of the charge is no real money. */
export const isPlayMoney = (company: Pick<Company, 'mode'>, charge: Pick<Charge, 'devMode'>) =>
  charge.devMode || company.mode === 'sandbox'

/** A code that can be paid many times. Each payment creates a charge. */
export type StaticCode = {
  companyId: Uuid
  id: Uuid
  amount: Cents
  devMode: boolean
  brCode: string
  /** The merchant's own name of it, which its sales have too. */
  externalId: string | null
  createdAt: Date
}

type NewCharge = Pick<Charge, 'companyId' | 'id' | 'kind' | 'amount' | 'createdAt' | 'expiresAt'> &
  Partial<Charge>

/** An open charge with the given fields. Every other field is empty. */
export const newCharge = (given: NewCharge): Charge => ({
  status: 'OPEN',
  paymentStatus: 'PENDING',
  devMode: false,
  externalId: null,
  description: null,
  fingerprint: null,
  customerId: null,
  payer: null,
  link: null,
  brCode: null,
  due: null,
  noticeAt: null,
  split: null,
  endToEndId: null,
  paymentDate: null,
  releaseAt: null,
  booked: false,
  refunded: toCents(0),
  shortfall: toCents(0),
  staticCodeId: null,
  recurrenceId: null,
  shipping: null,
  linkId: null,
  ...given,
})

/** What is to be paid on the day of a moment. */
export const amountAt = ({ amount, due }: Pick<Charge, 'amount' | 'due'>, at: Date): Cents =>
  due ? amountOn(amount, due.terms, localDateOf(at)).total : amount

/** What was asked of who has paid. */
const askedOf = ({ amount, due }: Pick<Charge, 'amount' | 'due'>): Cents =>
  due?.paid?.total ?? amount

/** How many cents of a paid charge have arrived. */
export const receivedOf = (charge: Pick<Charge, 'amount' | 'due' | 'shortfall'>): Cents =>
  toCents(askedOf(charge) - charge.shortfall)

export type Income = { price: Cents; fine: Cents; interest: Cents }

/**
 * What of the money of a paid charge is fine and interest. If less has arrived than was asked, the
 * price is paid first, then the interest.
 */
export function incomeOf(charge: Pick<Charge, 'amount' | 'due' | 'shortfall'>): Income {
  const received = receivedOf(charge)
  const asked = charge.due?.paid
  if (!asked) return { price: received, fine: toCents(0), interest: toCents(0) }
  const price = toCents(Math.min(received, asked.total - asked.fine - asked.interest))
  const interest = toCents(Math.min(received - price, asked.interest))
  return { price, interest, fine: toCents(received - price - interest) }
}

/** When a charge that is made at a moment expires: after its lifetime, or after its last day. */
export const expiryOf = (
  { due, lifetime_s }: { due: Due | null; lifetime_s: number },
  createdAt: Date,
): Date => (due ? endOf(due.terms) : new Date(createdAt.getTime() + lifetime_s * 1000))

/** When a charge with a due date can no longer be paid: at the end of its last day. */
export const endOf = (terms: DueTerms): Date => startOfDay(addDays(lastDayToPay(terms), 1))

/** Whether paying a link means subscribing to its one product. */
export const isSubscriptionLink = ({ link }: Pick<Charge, 'link'>): boolean =>
  link?.items.length === 1 && link.items[0]!.product.type === 'RECURRING'

/**
 * The charge as a reader sees it now. If it is past its deadline it is expired, even if no worker
 * has written that yet.
 */
export function asOf(charge: Charge, now: Date): Charge {
  return isDue(charge, now) ? { ...charge, status: 'EXPIRED', paymentStatus: 'EXPIRED' } : charge
}

/**
 * How long a charge at a real bank waits after its deadline before it expires. Banks report a
 * payment some seconds after they have received it.
 */
export const BANK_GRACE_MS = 2 * 60_000

/** Whether a charge is past its deadline. A charge of an agreement ends with its last retry. */
export const isDue = ({ status, kind, expiresAt }: Charge, now: Date): boolean =>
  status === 'OPEN' && kind !== 'RECURRING' && expiresAt <= now

/** A charge starts PENDING. If it is created with its code, it is PROCESSING right after that. */
export function eventsOfCreation(charge: Charge): Event[] {
  const pending: Charge = { ...charge, paymentStatus: 'PENDING' }
  const events = [chargeEvent('charge.pending', pending, charge.createdAt)]
  if (charge.paymentStatus === 'PROCESSING') {
    events.push(chargeEvent('charge.processing', charge, charge.createdAt))
  }
  return events
}

/** A changed charge, the event of the change, and when it happened. Null: there is no event. */
export type Change = { charge: Charge; at: Date } & (
  | { event: PublishedType | 'charge.canceled' | null }
  | { event: 'charge.refunded'; refund: { id: Uuid; amount: Cents } }
  | { event: NoticeType }
)

/** Whether the change creates the charge: a static code makes one of each of its payments. */
export const isSale = ({ charge, event }: Change): boolean =>
  charge.kind === 'STATIC' && event === 'charge.paid'

/** What happens to the subscription when one of its charges changes. */
const SUBSCRIPTION_EVENTS = {
  'charge.paid': 'subscription.charge.paid',
  'charge.expired': 'subscription.charge.failed',
} as const

/** How many cents of a charge can still go back. */
export const refundableOf = (charge: Charge): number =>
  charge.status === 'COMPLETED' ? receivedOf(charge) - charge.refunded : 0

/** An account that has money of payments. */
export type MoneyAccount = 'available' | 'pending' | 'unmatched'

/**
 * The account that has the money of a paid charge. Refunds, returns by the bank and disputes take
 * it from there, and what they give back goes there.
 */
export const accountOf = ({ paymentStatus }: Pick<Charge, 'paymentStatus'>): MoneyAccount =>
  paymentStatus === 'PAID' ? 'pending' : 'available'

/** The events of a change. A sale is created and paid at once, so it has the events of both. */
export function eventsOf(change: Change): Event[] {
  const { charge, event, at } = change
  if (event === null) return []
  if (event === 'charge.canceled') return [canceledEvent(charge, at)]
  if (event === 'charge.refunded') {
    return [refundedEvent(charge, change.refund, refundableOf(charge), at)]
  }
  if (event === 'charge.due' || event === 'charge.overdue') {
    return [
      noticeEvent(event, charge, amountOn(charge.amount, charge.due!.terms, localDateOf(at)), at),
    ]
  }
  const created = isSale(change) ? eventsOfCreation({ ...charge, paymentStatus: 'PROCESSING' }) : []
  const events = [...created, chargeEvent(event, charge, at)]
  if (charge.recurrenceId !== null && (event === 'charge.paid' || event === 'charge.expired')) {
    events.push(collectionEvent(SUBSCRIPTION_EVENTS[event], charge, at))
  }
  return events
}

export function withCode(charge: Charge, brCode: string, now: Date): Change {
  assert(charge.status === 'OPEN' && charge.brCode === null, 'a code is issued once, while open')
  return {
    charge: { ...charge, brCode, paymentStatus: 'PROCESSING' },
    event: 'charge.processing',
    at: now,
  }
}

/** Why a Pix pays no charge. */
export const UNMATCHED_REASONS = [
  'LATE',
  'CANCELED',
  'DUPLICATE',
  'WRONG_AMOUNT',
  'UNKNOWN',
] as const
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number]

/** What a payment does: it pays the charge, or it matches no charge for a reason. */
export type Match = ({ kind: 'paid' } & Change) | { kind: 'unmatched'; reason: UnmatchedReason }

/**
 * How long after the payment its money is released, and whether it is booked. If a live company
 * tries the simulated bank, the money is not booked. `now` is when we learn of the payment.
 */
export type Terms = { delay_s: number; booked: boolean; now: Date }

/**
 * Decides what a new Pix does to the charge that it names. If the Pix was in time, it pays a charge
 * that has expired too, because we may learn of it late. Then the event is dated now, because it
 * must not be older than the event of the expiry.
 */
export function matchPayment(charge: Charge, pix: ReceivedPix, terms: Terms): Match {
  const name = namedBy(pix.txid)
  const isNamed = name !== null && 'charge' in name && name.charge === charge.id
  assert(isNamed, 'a Pix pays only the charge it names')
  const reason = unmatched(charge, pix)
  if (reason) return { kind: 'unmatched', reason }
  const paid = { ...charge, ...paidBy(charge, pix, terms) }
  const at = charge.status === 'EXPIRED' ? terms.now : pix.receivedAt
  return { kind: 'paid', charge: paid, event: 'charge.paid', at }
}

function unmatched(
  charge: Charge,
  { amount, receivedAt, parts }: ReceivedPix,
): UnmatchedReason | null {
  if (charge.status === 'COMPLETED') return 'DUPLICATE'
  if (charge.status === 'CANCELED') return 'CANCELED'
  // An open charge of an agreement has no deadline of its own.
  const hasDeadline = charge.kind !== 'RECURRING' || charge.status === 'EXPIRED'
  if (hasDeadline && receivedAt > charge.expiresAt) return 'LATE'
  return amount === amountAt(charge, receivedAt) || isBanksAmount(charge, amount, parts)
    ? null
    : 'WRONG_AMOUNT'
}

/**
 * Whether the bank says how it came to an amount that is not ours. It may know a holiday of the
 * payer's city, on which nothing is added.
 */
const isBanksAmount = (
  { amount, due }: Pick<Charge, 'amount' | 'due'>,
  paid: Cents,
  parts?: PaidParts,
): parts is PaidParts =>
  due !== null && parts !== undefined && parts.original === amount && totalOfParts(parts) === paid

/** What a charge keeps of the payment that has paid it. */
type Receipt = Pick<ReceivedPix, 'endToEndId' | 'amount' | 'receivedAt' | 'parts'>

const paidBy = (
  charge: Pick<Charge, 'amount' | 'due'>,
  receipt: Receipt,
  { delay_s, booked }: Terms,
) => ({
  status: 'COMPLETED' as const,
  paymentStatus: 'PAID' as const,
  endToEndId: receipt.endToEndId,
  paymentDate: receipt.receivedAt,
  releaseAt: new Date(receipt.receivedAt.getTime() + delay_s * 1000),
  booked,
  noticeAt: null,
  due: charge.due && { ...charge.due, paid: paidOn(charge, charge.due.terms, receipt) },
})

/** What was asked of the payer: what the bank says, if it explains all of the money, or ours. */
function paidOn(
  charge: Pick<Charge, 'amount' | 'due'>,
  terms: DueTerms,
  { receivedAt, amount, parts }: Receipt,
): DueAmount {
  const on = localDateOf(receivedAt)
  return isBanksAmount(charge, amount, parts)
    ? { on, ...parts, total: amount }
    : amountOn(charge.amount, terms, on)
}

/**
 * Pays a charge with money that did not match it, because the merchant says so. It may have
 * expired. If the money is less than the amount, the charge has a shortfall. The event is dated
 * now, because it must not be older than those of the expiry and of the payment.
 */
export function settle(charge: Charge, money: Receipt, terms: Terms): Change {
  requireSettleable(charge)
  const paid = { ...charge, ...paidBy(charge, money, terms) }
  const shortfall = toCents(Math.max(0, askedOf(paid) - money.amount))
  const settled = { ...paid, shortfall }
  return { charge: settled, event: 'charge.paid', at: terms.now }
}

/** Whether a merchant may settle a charge: it is unpaid, and paying it starts no subscription. */
export const isSettleable = (charge: Charge): boolean =>
  (charge.status === 'OPEN' || charge.status === 'EXPIRED') && !isSubscriptionLink(charge)

/**
 * Whether a payment that names no charge is what this one asks for, in its time: it would pay it if
 * it named it.
 */
export const isExact = (charge: Charge, pix: ReceivedPix): boolean =>
  isSettleable(charge) && pix.receivedAt >= charge.createdAt && unmatched(charge, pix) === null

function requireSettleable(charge: Charge): void {
  if (isSettleable(charge)) return
  throw problem(
    'charge_not_settleable',
    isSubscriptionLink(charge)
      ? 'chargeId: the charge is a link to a subscription, which only its payer can start. Name another charge, or leave chargeId out to keep the money.'
      : `chargeId: the charge is ${charge.status}, and only one that is OPEN or EXPIRED can be settled. Name another charge, or leave chargeId out to keep the money.`,
  )
}

/** The charge that a payment of a static code creates. It is paid when it is created. */
export function saleOf(code: StaticCode, pix: ReceivedPix, terms: Terms): Match {
  if (pix.amount !== code.amount) return { kind: 'unmatched', reason: 'WRONG_AMOUNT' }
  const charge = newCharge({
    companyId: code.companyId,
    id: newId(),
    kind: 'STATIC',
    amount: code.amount,
    devMode: code.devMode,
    externalId: code.externalId,
    brCode: code.brCode,
    staticCodeId: code.id,
    createdAt: pix.receivedAt,
    expiresAt: new Date(pix.receivedAt.getTime() + PIX_LIFETIME_S * 1000),
    ...paidBy({ amount: code.amount, due: null }, pix, terms),
  })
  return { kind: 'paid', charge, event: 'charge.paid', at: pix.receivedAt }
}

/** Releases the money: after the company's delay it can be withdrawn. */
export function release(charge: Charge, now: Date): Change {
  assert(isReleasable(charge, now), 'only a paid charge is released, and not before its time')
  return { charge: { ...charge, paymentStatus: 'RECEIVED' }, event: 'charge.received', at: now }
}

export const isReleasable = (charge: Charge, now: Date): boolean =>
  charge.paymentStatus === 'PAID' && charge.releaseAt! <= now

export function cancel(charge: Charge, now: Date): Change | 'already-canceled' {
  const { status } = asOf(charge, now)
  if (status === 'CANCELED') return 'already-canceled'
  if (status !== 'OPEN') throw notPayable(status)
  const canceled: Charge = { ...charge, status: 'CANCELED', noticeAt: null }
  return { charge: canceled, event: 'charge.canceled', at: now }
}

export function expire(charge: Charge, now: Date): Change {
  assert(isDue(charge, now), 'only a due charge expires')
  return { charge: { ...asOf(charge, now), noticeAt: null }, event: 'charge.expired', at: now }
}

/** Ends a charge of an agreement after every attempt to collect it has failed. */
export function fail(charge: Charge, now: Date): Change {
  assert(charge.kind === 'RECURRING' && charge.status === 'OPEN', 'only a collection can fail')
  const failed = { ...charge, status: 'EXPIRED', paymentStatus: 'EXPIRED' } as const
  return { charge: failed, event: 'charge.expired', at: now }
}

/** Whether a simulated payment has anything to do. Throws if the charge cannot be paid. */
export function simulation(charge: Charge, now: Date): 'pay' | 'already-paid' {
  if (!charge.devMode) throw problem('charge_not_dev_mode')
  const { status } = asOf(charge, now)
  if (status === 'COMPLETED') return 'already-paid'
  if (status !== 'OPEN') throw notPayable(status)
  return 'pay'
}

export const notPayable = (status: ChargeStatus) =>
  problem('charge_not_payable', `The charge is ${status} and can no longer change.`)

/**
 * Price times quantity. It is a bigint, because if the link has a total of its own, this product
 * may exceed the limit of a charge and the safe integers.
 */
export const itemTotal = ({ quantity, product }: Item): bigint =>
  BigInt(quantity) * BigInt(product.price)

/** The total of a link: the one that was sent, otherwise the sum of the items. */
export function totalOf(total: number | undefined, items: Item[]): Cents {
  if (total !== undefined) return toCents(total)
  if (items.length === 0) throw invalid('total: send it, or items to calculate it from')
  const sum = items.reduce((all, item) => all + itemTotal(item), 0n)
  if (sum < MIN_CHARGE || sum > MAX_AMOUNT) {
    throw invalid(
      `items: their total must be from ${MIN_CHARGE} to ${MAX_AMOUNT} cents, it is ${sum}`,
    )
  }
  return toCents(Number(sum))
}
