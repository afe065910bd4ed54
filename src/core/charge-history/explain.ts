import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { lastDayInTime, lastDayToPay } from '../../pix/due-amount.ts'
import { formatDay, formatMoment, localDateOf } from '../../pix/local-time.ts'
import { type Billing, debitDay } from '../billings/rules.ts'
import { amountAt, type Charge, receivedOf } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import type { Dispute } from '../disputes/rules.ts'
import { greetedName } from '../letters/layout.ts'
import { isUndecided, type Payment, undecidedOf } from '../payments/rules.ts'
import type { Refund } from '../refunds/rules.ts'
import { EXPLAIN, type ExplainTexts } from './explain-texts.ts'

/** What a payer is told of a charge. */
export type Explained = {
  company: Pick<Company, 'name'>
  /** As it is at `now`. */
  charge: Charge
  /** Payments that named the charge and did not match it, or have settled it; the oldest first. */
  unmatched: Payment[]
  /** What goes back of the charge and of those payments, the oldest first. */
  refunds: Refund[]
  disputes: Dispute[]
  /** How the payer's bank collects it. Null: it does not. */
  collection: Pick<Billing, 'dueOn' | 'nextAt'> | null
  /** The charge that its payer got in its place when it had expired, and the page of that. */
  renewed: { status: Charge['status']; link: string } | null
  /** The page of the charge: to pay it, or with its receipt. Null: it has none. */
  link: string | null
  now: Date
}

/**
 * What happened to a charge and what its payer should do, in plain words to copy. It names what the
 * payer's bank asks for, and no id of ours. It is pure.
 */
export function explain(given: Explained, language: Language): string {
  const texts = EXPLAIN[language]
  const parts = [
    opening(given, texts),
    stateText(given, texts),
    ...given.unmatched.map((payment) => paymentText(given, payment, texts)),
    ...refundTexts(given, (refund) => refund.chargeId !== null, texts),
    ...given.disputes.map(({ status, amount, openedAt }) =>
      texts.disputes[status](formatReais(amount), formatDay(localDateOf(openedAt))),
    ),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

const lines = (...all: (string | null | false)[]): string =>
  all.filter((line) => typeof line === 'string' && line !== '').join('\n')

/** Sentences of one paragraph. */
const sentences = (...all: (string | null | false)[]): string =>
  all.filter((one) => typeof one === 'string' && one !== '').join(' ')

function opening({ charge, company }: Explained, texts: ExplainTexts): string {
  const { payer, amount, description, kind } = charge
  const about = kind === 'STATIC' ? texts.sale : texts.about
  const hello = texts.hello(payer && greetedName(payer.name))
  const first = `${hello} ${about(formatReais(amount), company.name)}`
  return lines(first, description !== null && texts.for(description))
}

/** Money that named the charge and that nobody has decided about. */
const isChecking = ({ unmatched }: Explained): boolean => unmatched.some(isUndecided)

function stateText(given: Explained, texts: ExplainTexts): string {
  const { charge } = given
  const { status, kind } = charge
  if (status === 'COMPLETED') return paidText(given, texts)
  if (status === 'CANCELED') return texts.canceled
  if (kind === 'RECURRING') return debitText(given, texts)
  if (status === 'OPEN') return openText(given, texts)
  const end = charge.due
    ? formatDay(lastDayToPay(charge.due.terms))
    : formatMoment(charge.expiresAt)
  return sentences(texts.expired(end), againText(given, texts))
}

/** How an expired charge is paid after all. Nobody whose money is here is asked to pay again. */
function againText({ renewed, unmatched }: Explained, texts: ExplainTexts): string | false {
  if (renewed?.status === 'COMPLETED') return texts.renewed.COMPLETED(renewed.link)
  if (unmatched.some(({ status }) => status !== 'REFUNDED')) return false
  return renewed?.status === 'OPEN' ? texts.renewed.OPEN(renewed.link) : texts.askAgain
}

/** Whoever has paid something already is not asked to pay before that is decided. */
function openText(given: Explained, texts: ExplainTexts): string {
  const { charge, link, now } = given
  const { due, expiresAt } = charge
  const isKept = given.unmatched.some(({ status }) => status === 'ACCEPTED')
  if (isChecking(given) || isKept) return texts.open.checking
  if (due === null) return lines(texts.open.until(formatMoment(expiresAt)), link)
  const day = lastDayInTime(due.terms)
  const until = formatDay(lastDayToPay(due.terms))
  const isLate = day < localDateOf(now)
  const said = isLate
    ? texts.open.overdue(formatDay(day), formatReais(amountAt(charge, now)), until)
    : texts.open.due(formatDay(day), until)
  return lines(said, link)
}

function debitText({ charge, collection, now }: Explained, { debit }: ExplainTexts): string {
  if (charge.status === 'EXPIRED') return debit.failed
  const day = collection && debitDay(collection, localDateOf(now))
  const due = formatDay(collection?.dueOn ?? localDateOf(charge.expiresAt))
  if (!collection || day === null) return debit.waiting(due)
  return day === collection.dueOn ? debit.planned(due) : debit.retry(due, formatDay(day))
}

function paidText(given: Explained, texts: ExplainTexts): string {
  const { charge, link } = given
  const { kind, shortfall, paymentDate, paymentStatus, endToEndId } = charge
  const [amount, at] = [formatReais(receivedOf(charge)), formatMoment(paymentDate!)]
  const settling = settlingOf(given)
  const isLate = settling?.reason === 'LATE'
  return lines(
    sentences(
      kind === 'RECURRING' ? texts.debit.made(amount, at) : texts.paid(amount, at),
      settling !== undefined && (isLate ? texts.settled.LATE : texts.settled.other),
      shortfall > 0 && texts.short(formatReais(shortfall)),
      // Of what went back more is said below.
      paymentStatus !== 'REFUNDED' && texts.done,
    ),
    endToEndId !== null && texts.endToEnd(endToEndId),
    link !== null && texts.receipt(link),
  )
}

const settlingOf = ({ charge, unmatched }: Explained): Payment | undefined =>
  unmatched.find(({ settled }) => settled?.chargeId === charge.id)

/** A payment that has not paid the charge, and what becomes of it. */
function paymentText(given: Explained, payment: Payment, texts: ExplainTexts): string {
  const { charge } = given
  const { amount, receivedAt, reason, endToEndId } = payment
  const rest = undecidedOf(payment)
  const isSettling = settlingOf(given) === payment
  // It has paid the charge, and that was said.
  if (isSettling && rest === 0) return ''
  const arrived = isSettling
    ? texts.rest(formatReais(rest))
    : texts.arrived[reason ?? 'UNKNOWN']({
        amount: formatReais(amount),
        at: formatMoment(receivedAt),
        asked: formatReais(amountAt(charge, receivedAt)),
      })
  const ofPayment = (refund: Refund) => refund.chargeId === null && refund.endToEndId === endToEndId
  const returned = refundTexts(given, ofPayment, texts)
  return lines(
    sentences(arrived, decisionText(given, payment, returned.length > 0, texts)),
    !isSettling && texts.endToEnd(endToEndId),
    ...returned,
  )
}

function decisionText(
  { charge, company }: Explained,
  { status }: Payment,
  isTold: boolean,
  texts: ExplainTexts,
): string | false {
  if (status === 'UNMATCHED') return texts.waiting
  if (status === 'DISPUTED') return texts.disputed
  if (status === 'ACCEPTED') {
    return sentences(texts.kept(company.name), charge.status === 'OPEN' && texts.keptOpen)
  }
  return !isTold && texts.returning
}

/** What goes back. A refund that has failed is not told of if it was ordered again. */
function refundTexts(
  { refunds }: Explained,
  isWanted: (refund: Refund) => boolean,
  texts: ExplainTexts,
): string[] {
  const wanted = refunds.filter(isWanted)
  const isRepeated = (refund: Refund) =>
    wanted.some((one) => one !== refund && one.createdAt > refund.createdAt)
  return wanted
    .filter((refund) => refund.status !== 'FAILED' || !isRepeated(refund))
    .map((refund) => refundText(refund, texts))
}

function refundText(
  { status, amount, bankReason, finishedAt, returnId }: Refund,
  { refund: words, returnId: idText }: ExplainTexts,
): string {
  const value = formatReais(amount)
  if (status !== 'COMPLETED') return words[status](value)
  const made = bankReason === null ? words.COMPLETED : words.byBank
  return lines(made(value, formatMoment(finishedAt!)), returnId !== null && idText(returnId))
}
