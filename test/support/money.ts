import { isBusinessDay } from '../../src/pix/business-days.ts'

/**
 * The plainest account of what money does, written a second time and without a look at the product.
 * Every act changes the model and gives the HTTP status that the product must answer with.
 */
export type Accounts = Record<
  'bank' | 'available' | 'pending' | 'held' | 'unmatched' | 'disputed',
  number
>
export type Account = keyof Accounts

export type Charge = {
  id: string
  brCode: string
  amount: number
  /** Its due date, if it has one. */
  dueOn: string | null
  /** Whether recipients have parts of it: see `SPLIT`. */
  isSplit: boolean
  /** What was asked of who paid it. */
  asked: number
  devMode: boolean
  /** Whether it came of a code for the counter. */
  isSale: boolean
  status: 'OPEN' | 'COMPLETED' | 'EXPIRED' | 'CANCELED'
  paymentStatus: 'PROCESSING' | 'PAID' | 'RECEIVED' | 'EXPIRED' | 'REFUNDED'
  expiresAt: number
  paidAt: number
  /** What went back or is on its way there. */
  refunded: number
  /** What did not come of its amount, though it counts as paid. */
  shortfall: number
  /** Whether its end was written and told. */
  isExpiryTold: boolean
  /** Whether something was in pending when all of it had gone back. */
  hadRest?: boolean
}

/** What a payment pays, be it a charge or a code for the counter. */
export type Code = { brCode: string; amount: number }

export type Payment = {
  endToEndId: string
  /** Null: it was sent to the key. */
  code: Code | null
  amount: number
  status: 'MATCHED' | 'UNMATCHED' | 'ACCEPTED' | 'REFUNDING' | 'REFUNDED'
  receivedAt: number
  /** The charge that it has paid by itself. */
  paid: Charge | null
  /** The charge that it was taken for by hand, and how much of it that took. */
  settled: { charge: Charge; amount: number } | null
  /** Whether the rule took it for that charge, so that it never waited. */
  isByRule: boolean
}

/** Money that a bank is ordered to move. */
type Order = { amount: number; dueAt: number; tellings: number }

export type Refund = Order & {
  charge: Charge | null
  payment: Payment | null
  source: 'available' | 'pending' | 'unmatched'
  status: 'PROCESSING' | 'COMPLETED' | 'FAILED'
  /** Where the money is after its end. */
  endedIn: Account | null
}

/** A claim of the payer of a charge. */
export type Dispute = {
  id: string
  charge: Charge
  amount: number
  held: number
  status: 'OPEN' | 'DEFENDED' | 'ACCEPTED' | 'WON' | 'LOST' | 'CANCELED'
  isDefended: boolean
  /** Until when the bank takes a defense. */
  deadline: number
  /** What took its money last. */
  refund: Refund | null
  /** What the bank has decided; null while it has not. */
  decision: 'won' | 'lost' | 'canceled' | null
}

export type Withdrawal = Order & {
  id: string
  /** The recipient that is paid, by its number. */
  recipient: number | null
  status: 'PENDING_OTP' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'EXPIRED' | 'CANCELED'
  expiresAt: number
  tries: number
  sends: number
  endedAt: number
}

export type Model = {
  now: number
  /** Whether exact payments to the key settle charges by themselves. */
  settlesExact: boolean
  accounts: Accounts
  charges: Charge[]
  codes: Code[]
  payments: Payment[]
  refunds: Refund[]
  withdrawals: Withdrawal[]
  /** The newest last. */
  disputes: Dispute[]
}

export const SECOND = 1000
const DAY = 86_400 * SECOND
const OPENING = 100_000
const RELEASED_IN = 60 * SECOND
const [REFUSED, UNANSWERED] = [66_666, 55_555]

export function newModel(now: number): Model {
  const owed = { available: OPENING, pending: 0, held: 0, unmatched: 0, disputed: 0 }
  const records = { charges: [], codes: [], payments: [], refunds: [], withdrawals: [] }
  const accounts = { bank: -OPENING, ...owed }
  return { now, settlesExact: false, accounts, ...records, disputes: [] }
}

export function move({ accounts }: Model, from: Account, to: Account, amount: number): void {
  accounts[from] -= amount
  accounts[to] += amount
}

export function advance(model: Model, seconds: number): void {
  model.now += seconds * SECOND
  for (const charge of model.charges) {
    if (charge.status !== 'OPEN' || charge.expiresAt > model.now) continue
    charge.status = 'EXPIRED'
    charge.paymentStatus = 'EXPIRED'
  }
}

/** What is added to every charge with a due date, or taken off it. */
export const DUE_TERMS = { fine: 300, interestPerDay: 7, discountBefore: 200, daysAfterDue: 20 }

const dayOf = (at: number) => new Date(at - 3 * 3600 * SECOND).toISOString().slice(0, 10)
const daysLater = (day: string, days: number) => dayOf(Date.parse(day) + days * DAY + DAY / 2)
const working = (day: string): string => (isBusinessDay(day) ? day : working(daysLater(day, 1)))

/** So many days from now. */
export const dueDay = (model: Model, days: number): string => dayOf(model.now + days * DAY)

/** The moment after the last day on which a charge can be paid. */
export const endOfDue = (dueOn: string): number => {
  const last = working(daysLater(working(dueOn), DUE_TERMS.daysAfterDue))
  return Date.parse(`${daysLater(last, 1)}T03:00:00Z`)
}

/** What is asked of who pays at a moment. */
export function askedAt({ amount, dueOn }: Charge, at: number): number {
  if (dueOn === null) return amount
  const [day, last] = [dayOf(at), working(dueOn)]
  if (day < dueOn) return amount - DUE_TERMS.discountBefore
  if (day < working(daysLater(last, 1))) return amount
  const late = (Date.parse(day) - Date.parse(last)) / DAY
  return amount + DUE_TERMS.fine + late * DUE_TERMS.interestPerDay
}

type NewCharge = Pick<Charge, 'id' | 'brCode' | 'amount' | 'devMode'> & { isSplit?: boolean }

export function addCharge(
  model: Model,
  fields: NewCharge,
  until: { lifetime_s: number } | { dueOn: string },
): void {
  const dueOn = 'dueOn' in until ? until.dueOn : null
  const lifetime = 'lifetime_s' in until ? until.lifetime_s * SECOND : 0
  model.charges.push({
    isSplit: false,
    ...fields,
    dueOn,
    asked: fields.amount,
    isSale: false,
    status: 'OPEN',
    paymentStatus: 'PROCESSING',
    paidAt: 0,
    refunded: 0,
    shortfall: 0,
    isExpiryTold: false,
    expiresAt: dueOn ? endOfDue(dueOn) : model.now + lifetime,
  })
}

export function cancelCharge(charge: Charge): 200 | 409 {
  if (charge.status === 'OPEN') charge.status = 'CANCELED'
  return charge.status === 'CANCELED' ? 200 : 409
}

/** Money arrives for a charge, and pays it or waits for a decision. */
export function pay(model: Model, charge: Charge, amount: number, endToEndId: string): void {
  // At the moment of its deadline it counts as expired, and money is still in time.
  const isInTime =
    charge.status === 'OPEN' || (charge.status === 'EXPIRED' && model.now <= charge.expiresAt)
  const asked = askedAt(charge, model.now)
  const matched = isInTime && amount === asked
  arrive(model, { endToEndId, code: charge, amount }, matched)
  if (!matched) return
  model.payments.at(-1)!.paid = charge
  charge.status = 'COMPLETED'
  charge.paymentStatus = 'PAID'
  charge.paidAt = model.now
  charge.asked = asked
}

/** Money arrives for a code of the counter: a charge of its own, which begins paid. */
export function sell(
  model: Model,
  code: Code,
  amount: number,
  { id, endToEndId }: { id: string; endToEndId: string },
): void {
  const matched = amount === code.amount
  arrive(model, { endToEndId, code, amount }, matched)
  if (!matched) return
  model.charges.push({
    id,
    brCode: code.brCode,
    amount,
    dueOn: null,
    isSplit: false,
    asked: amount,
    devMode: false,
    isSale: true,
    refunded: 0,
    shortfall: 0,
    isExpiryTold: false,
    status: 'COMPLETED',
    paymentStatus: 'PAID',
    paidAt: model.now,
    expiresAt: 0,
  })
  model.payments.at(-1)!.paid = model.charges.at(-1)!
}

/**
 * Money arrives that names nothing. By the rule it settles the only charge of its payer that could
 * be paid with it now. All charges have one payer. Says whether it did.
 */
export function payKey(
  model: Model,
  amount: number,
  isOfPayer: boolean,
  endToEndId: string,
): boolean {
  arrive(model, { endToEndId, code: null, amount }, false)
  const fitting = model.charges.filter(
    (charge) =>
      (charge.status === 'OPEN' || charge.status === 'EXPIRED') &&
      model.now <= charge.expiresAt &&
      askedAt(charge, model.now) === amount,
  )
  if (!model.settlesExact || !isOfPayer || fitting.length !== 1) return false
  const payment = model.payments.at(-1)!
  payment.isByRule = true
  take(model, payment, fitting[0]!, amount)
  return true
}

function arrive(
  model: Model,
  payment: Pick<Payment, 'endToEndId' | 'code' | 'amount'>,
  matched: boolean,
): void {
  const status = matched ? 'MATCHED' : 'UNMATCHED'
  const fields = { paid: null, settled: null, isByRule: false }
  model.payments.push({ ...payment, status, receivedAt: model.now, ...fields })
  move(model, 'bank', matched ? 'pending' : 'unmatched', payment.amount)
}

export function simulation({ devMode, status }: Charge): 200 | 400 | 409 {
  if (!devMode) return 400
  return status === 'OPEN' || status === 'COMPLETED' ? 200 : 409
}

export function releaseCharges(model: Model): void {
  for (const charge of model.charges) {
    if (charge.paymentStatus !== 'PAID' || charge.paidAt + RELEASED_IN > model.now) continue
    charge.paymentStatus = 'RECEIVED'
    move(model, 'pending', 'available', unreleased(model, charge))
  }
}

/** What came of a paid charge. */
export const cameOf = ({ asked, shortfall }: Charge): number => asked - shortfall

/** What of a paid charge is in the pending account. */
export function unreleased(model: Model, charge: Charge): number {
  const leaving = model.refunds.filter(
    (refund) =>
      refund.charge === charge && refund.source === 'pending' && refund.status !== 'FAILED',
  )
  const undisputed = cameOf(charge) - heldOf(model, charge)
  return leaving.reduce((left, { amount }) => left - amount, undisputed)
}

/** What the recipients of a split charge get: 33,33 % and 4,00. */
export const SPLIT = [{ percent: 3333 }, { amount: 400 }] as const

/** What a recipient has got of a charge: its share of what is left, in whole cents. */
function partOf(model: Model, charge: Charge, recipient: number): number {
  if (!charge.isSplit || charge.status !== 'COMPLETED' || charge.paymentStatus === 'PAID') return 0
  const came = cameOf(charge)
  const shares = [Math.floor((came * 3333) / 10_000), 400]
  const [all, own] = [total(shares), shares[recipient]!]
  const share = all > came ? Math.floor((came * own) / all) : own
  const left = Math.max(0, came - charge.refunded - heldOf(model, charge))
  return Math.floor((left * share) / came)
}

const total = (numbers: number[]): number => numbers.reduce((sum, one) => sum + one, 0)

export const isOpen = ({ status }: { status: string }) =>
  status === 'PENDING_OTP' || status === 'PROCESSING'

/** What a recipient has. Below zero it owes the company what was paid to it and went back. */
export const netOf = (model: Model, recipient: number): number =>
  total(model.charges.map((charge) => partOf(model, charge, recipient))) -
  total(
    model.withdrawals
      .filter((one) => one.recipient === recipient && (isOpen(one) || one.status === 'COMPLETED'))
      .map(({ amount }) => amount),
  )

/** The accounts as they are shown: `model.accounts` has the recipients' money in `available`. */
export function shownAccounts(model: Model): Accounts & { recipients: number } {
  const recipients = total(SPLIT.map((_, i) => Math.max(0, netOf(model, i))))
  const available = model.accounts.available - recipients
  return { ...model.accounts, available, recipients }
}

/** What there is for a refund, with what its recipients would pay of it. */
function spendableFor(
  model: Model,
  charge: Charge,
  source: 'pending' | 'available',
  amount: number,
): number {
  if (source === 'pending') return model.accounts.pending
  const after = { ...charge, refunded: charge.refunded + amount }
  const charges = model.charges.map((one) => (one === charge ? after : one))
  const disputes = model.disputes.map((one) =>
    one.charge === charge ? { ...one, charge: after } : one,
  )
  return shownAccounts({ ...model, charges, disputes }).available
}

/** What payers dispute of a charge. */
const heldOf = ({ disputes }: Model, charge: Charge): number =>
  disputes.reduce((sum, one) => sum + (one.charge === charge ? one.held : 0), 0)

export const tooOld = (model: Model, since: number) => model.now - since > 90 * DAY

export const isRefundable = (charge: Charge): boolean =>
  charge.status === 'COMPLETED' && charge.refunded < cameOf(charge)

/** Without a value all that is left goes back. */
export function refundCharge(
  model: Model,
  charge: Charge,
  value: number | undefined,
): 201 | 409 | 422 {
  const left = cameOf(charge) - charge.refunded
  const amount = value ?? left
  if (charge.status !== 'COMPLETED' || tooOld(model, charge.paidAt)) return 409
  if (left === 0 || amount > left) return 409
  const source = placeOf(charge)
  const dispute = activeOf(model, charge, null)
  const held = dispute?.held ?? 0
  // What is disputed goes back whole, or as little of it as possible.
  const disputed = amount >= held ? held : Math.max(0, amount - (left - held))
  const rest = amount - disputed
  if (rest > 0 && rest > spendableFor(model, charge, source, rest)) return 422
  charge.refunded += amount
  move(model, 'disputed', source, disputed)
  holdRefund(model, { charge, payment: null, amount, source })
  if (disputed > 0) {
    dispute!.held -= disputed
    dispute!.refund = model.refunds.at(-1)!
    if (isOpenDispute(dispute!) && dispute!.held === 0) dispute!.status = 'ACCEPTED'
  }
  return 201
}

export const placeOf = ({ paymentStatus }: Charge) =>
  paymentStatus === 'PAID' ? 'pending' : 'available'

export const isOpenDispute = ({ status }: { status: string }): boolean =>
  status === 'OPEN' || status === 'DEFENDED'

/** The dispute of a charge that has its money, or would have it. */
export function activeOf(model: Model, charge: Charge, refund: Refund | null): Dispute | undefined {
  const own = model.disputes.filter((one) => one.charge === charge).toReversed()
  const isUnderWay = (one: Dispute) =>
    one.refund === null || one.refund === refund || (!refund && one.refund.status === 'PROCESSING')
  return (
    own.find(isOpenDispute) ??
    own.find(({ status, held, refund }) => status === 'LOST' && (held > 0 || !refund)) ??
    own.find((one) => one.status === 'ACCEPTED' && isUnderWay(one))
  )
}

/** What the bank still has of the payment of a charge. It may have done more than it said. */
export function bankLeft(
  { refunds }: Model,
  charge: Charge,
  besides: Refund | null = null,
): number {
  const isGone = ({ amount, status, tellings }: Refund) =>
    status === 'COMPLETED' || (status === 'PROCESSING' && amount === UNANSWERED && tellings > 0)
  const gone = refunds.filter((one) => one.charge === charge && one !== besides && isGone(one))
  return gone.reduce((left, { amount }) => left - amount, cameOf(charge))
}

export const sumOf = (list: { amount: number }[]): number =>
  list.reduce((sum, { amount }) => sum + amount, 0)

/** What no charge has taken of a payment. */
const restOf = ({ amount, settled }: Payment): number => amount - (settled?.amount ?? 0)

export function refundPayment(model: Model, payment: Payment): 201 | 404 | 409 {
  if (payment.status === 'MATCHED') return 404
  if (payment.status !== 'UNMATCHED' || tooOld(model, payment.receivedAt)) return 409
  payment.status = 'REFUNDING'
  holdRefund(model, { charge: null, payment, amount: restOf(payment), source: 'unmatched' })
  return 201
}

type NewRefund = Pick<Refund, 'charge' | 'payment' | 'amount' | 'source'>

function holdRefund(model: Model, refund: NewRefund): void {
  move(model, refund.source, 'held', refund.amount)
  model.refunds.push({
    ...refund,
    status: 'PROCESSING',
    endedIn: null,
    dueAt: model.now,
    tellings: 0,
  })
}

export function acceptPayment(model: Model, payment: Payment): 200 | 404 | 409 {
  if (payment.status === 'MATCHED') return 404
  if (payment.status === 'ACCEPTED') return 200
  if (payment.status !== 'UNMATCHED') return 409
  payment.status = 'ACCEPTED'
  move(model, 'unmatched', 'available', restOf(payment))
  return 200
}

/** A charge is taken as paid by a payment that did not match it; the rest is kept or goes back. */
export function settle(
  model: Model,
  payment: Payment,
  charge: Charge,
  difference: 'keep' | 'refund',
): 200 | 404 | 409 {
  if (payment.status === 'MATCHED') return 404
  const isAgain = payment.settled?.charge === charge
  const isUnpaid = charge.status === 'OPEN' || charge.status === 'EXPIRED'
  if (!isAgain && (payment.settled || payment.status !== 'UNMATCHED' || !isUnpaid)) return 409
  const asked = askedAt(charge, payment.receivedAt)
  const taken = payment.settled?.amount ?? Math.min(asked, payment.amount)
  const isReturned = payment.status === 'REFUNDING' || payment.status === 'REFUNDED'
  if (difference === 'keep' && isReturned) return 409
  const isToReturn = difference === 'refund' && taken < payment.amount && !isReturned
  const mayReturn = payment.status === 'UNMATCHED' && !tooOld(model, payment.receivedAt)
  if (isToReturn && !mayReturn) return 409
  if (!isAgain) take(model, payment, charge, taken)
  if (isToReturn) refundPayment(model, payment)
  else if (difference === 'keep' && taken < payment.amount) acceptPayment(model, payment)
  return 200
}

function take(model: Model, payment: Payment, charge: Charge, amount: number): void {
  payment.settled = { charge, amount }
  if (amount === payment.amount) payment.status = 'ACCEPTED'
  charge.status = 'COMPLETED'
  charge.paymentStatus = 'PAID'
  charge.paidAt = payment.receivedAt
  charge.asked = askedAt(charge, payment.receivedAt)
  charge.shortfall = charge.asked - amount
  move(model, 'unmatched', 'pending', amount)
}

export function expireCharges({ charges }: Model): void {
  for (const charge of charges) charge.isExpiryTold ||= charge.status === 'EXPIRED'
}

/** What the simulated bank makes of orders that are due; one of them it answers only when asked. */
export function carryOut<T extends Order & { status: string }>(
  model: Model,
  orders: T[],
  isPossible: (order: T) => boolean = () => true,
): [T, boolean][] {
  const due = orders.filter(({ status, dueAt }) => status === 'PROCESSING' && dueAt <= model.now)
  return due.flatMap((order): [T, boolean][] => {
    order.tellings += 1
    if (order.amount === REFUSED || !isPossible(order)) return [[order, false]]
    if (order.amount !== UNANSWERED || order.tellings > 1) return [[order, true]]
    order.dueAt = model.now + 5 * SECOND
    return []
  })
}

export function carryOutRefunds(model: Model): void {
  const isPossible = (refund: Refund) =>
    !refund.charge || refund.tellings > 1 || bankLeft(model, refund.charge, refund) >= refund.amount
  for (const [refund, done] of carryOut(model, model.refunds, isPossible)) {
    refund.status = done ? 'COMPLETED' : 'FAILED'
    if (refund.payment) refund.payment.status = done ? 'REFUNDED' : 'UNMATCHED'
    if (refund.charge) endChargeRefund(model, refund, refund.charge)
    refund.endedIn = done ? 'bank' : whereTo(refund)
    move(model, 'held', refund.endedIn, refund.amount)
    if (refund.charge) holdAgain(model, refund, refund.charge)
  }
}

/** What a failed refund brings back is disputed as before; what has gone back settles a dispute. */
function holdAgain(model: Model, refund: Refund, charge: Charge): void {
  const dispute = activeOf(model, charge, refund)
  if (!dispute) return
  if (refund.status === 'COMPLETED') {
    const isSettled = isOpenDispute(dispute) && dispute.held === 0
    if (isSettled && charge.paymentStatus === 'REFUNDED') {
      Object.assign(dispute, { status: 'ACCEPTED', refund })
    }
    return
  }
  const needed = Math.min(dispute.amount, cameOf(charge) - charge.refunded)
  const missing = Math.max(0, needed - dispute.held)
  if (missing === 0) return
  move(model, placeOf(charge), 'disputed', missing)
  dispute.held += missing
  if (dispute.status === 'ACCEPTED') dispute.status = dispute.isDefended ? 'DEFENDED' : 'OPEN'
}

function endChargeRefund(model: Model, { status }: Refund, charge: Charge): void {
  const { refunds } = model
  const own = refunds.filter((one) => one.charge === charge && one.status !== 'FAILED')
  if (status === 'FAILED') charge.refunded = Math.min(cameOf(charge), sumOf(own))
  const returned = refunds
    .filter((refund) => refund.charge === charge && refund.status === 'COMPLETED')
    .reduce((sum, refund) => sum + refund.amount, 0)
  if (returned >= cameOf(charge)) endCharge(model, charge)
}

/** All of a charge went back. What it still has in pending is for what went from elsewhere. */
export function endCharge(model: Model, charge: Charge): void {
  if (charge.paymentStatus === 'PAID') {
    const rest = unreleased(model, charge)
    move(model, 'pending', 'available', rest)
    if (rest > 0) charge.hadRest = true
  }
  charge.paymentStatus = 'REFUNDED'
}

/** Money that would have been received meanwhile is available when it comes back. */
const whereTo = ({ source, charge }: Refund): Account =>
  source === 'pending' && charge?.paymentStatus !== 'PAID' ? 'available' : source
