import type { StatementEntry } from '../../ledger/columns.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Author } from '../activity/rules.ts'
import type { ChargeMail, UnsentMail } from '../charges/mails.ts'
import type { Dispute } from '../disputes/rules.ts'
import type { AnyEventType } from '../events.ts'
import type { WrittenEvent } from '../feed/store.ts'
import type { Payment } from '../payments/rules.ts'
import type { Refund } from '../refunds/rules.ts'
import type { History } from './history.ts'

/** Something that happened to a charge, with the entries and events that it made. */
export type Moment = {
  at: Date
  entries: StatementEntry[]
  events: WrittenEvent[]
} & (
  | { kind: 'made' | 'canceled'; by: Author | null }
  | { kind: 'paid'; by: Author | null; settled: boolean }
  | { kind: 'code' | 'mailed' | 'opened' | 'released' | 'expired' }
  | { kind: 'mail'; mail: Pick<ChargeMail, 'outcome' | 'reason'> }
  | { kind: 'unsent'; mail: UnsentMail }
  | { kind: 'refund'; refund: Refund; by: Author | null }
  | { kind: 'dispute'; dispute: Dispute }
  | { kind: 'unmatched'; payment: Payment }
  | { kind: 'other' }
)

type Bare<M = Moment> = M extends Moment ? Omit<M, 'entries' | 'events'> : never

/** Everything that happened to a charge in its order. It is pure. */
export function momentsOf(history: History): Moment[] {
  const bare = [
    ...ownMoments(history),
    ...refundMoments(history),
    ...disputeMoments(history),
    ...paymentMoments(history),
  ]
  const moments = bare.map((moment): Moment => ({ ...moment, entries: [], events: [] }))
  const other = (at: Date): Moment => {
    const moment: Moment = { kind: 'other', at, entries: [], events: [] }
    moments.push(moment)
    return moment
  }
  for (const entry of history.entries) {
    const found = moments.find((moment) => hasMade(moment, entry))
    const moment = found ?? other(entry.createdAt)
    moment.entries.push(entry)
  }
  for (const event of history.events) {
    const found = moments.filter((moment) => hasEmitted(moment, event))
    const moment = found.find(({ events }) => events.length === 0) ?? found[0]
    const chosen = moment ?? other(event.createdAt)
    chosen.events.push(event)
  }
  // The sort is stable, so moments of the same time stay in the order of a charge's life.
  return moments.sort((a, b) => a.at.getTime() - b.at.getTime())
}

function ownMoments(history: History): Bare[] {
  const { charge, opening, mails, unsent } = history
  const isLinkSent = history.isMailed && unsent.every(({ kind }) => kind !== 'payment-link')
  const { createdAt, paymentDate, status } = charge
  const codeAt = charge.kind === 'PIX' ? createdAt : opening?.codeAt
  const releasedAt = releaseOf(history)
  const moments: (Bare | null | undefined | false)[] = [
    { kind: 'made', at: createdAt, by: authorOf(history, /^create/) },
    isLinkSent && { kind: 'mailed', at: createdAt },
    ...mails.map((mail) => ({ kind: 'mail', at: mail.createdAt, mail }) as const),
    ...unsent.map((mail) => ({ kind: 'unsent', at: mail.at, mail }) as const),
    opening?.openedAt && { kind: 'opened', at: opening.openedAt },
    codeAt && charge.brCode !== null && { kind: 'code', at: codeAt },
    paymentDate && paidMoment(history, paymentDate),
    releasedAt && { kind: 'released', at: releasedAt },
    status === 'CANCELED' && {
      kind: 'canceled',
      at: timeOf(history, 'charge.canceled') ?? createdAt,
      by: authorOf(history, /^cancelCharge$/),
    },
    status === 'EXPIRED' && {
      kind: 'expired',
      at: timeOf(history, 'charge.expired') ?? charge.expiresAt,
    },
  ]
  return moments.filter((moment) => moment !== null && moment !== undefined && moment !== false)
}

/** A charge that the merchant has settled is paid from then on, later than its payment arrived. */
function paidMoment(history: History, paymentDate: Date): Bare {
  const { charge, unmatched, entries } = history
  const settled = unmatched.some((payment) => payment.settled?.chargeId === charge.id)
  const entry = entries.find(
    ({ kind, chargeId }) => kind === 'CHARGE_PAID' && chargeId === charge.id,
  )
  const settledAt = entry?.createdAt ?? timeOf(history, 'charge.paid')
  const at = (settled && settledAt) || paymentDate
  return { kind: 'paid', at, by: authorOf(history, /^simulatePayment$/), settled }
}

/** When the money was released. Without a look at the ledger it is known from what was planned. */
function releaseOf({ charge, entries, events }: History): Date | null {
  const entry = entries.find(({ kind }) => kind === 'CHARGE_SETTLED' || kind === 'SPLIT_SETTLED')
  const event = events.find(({ type }) => type === 'charge.received')
  if (entry || event) return (entry ?? event)!.createdAt
  return charge.paymentStatus === 'RECEIVED' ? charge.releaseAt : null
}

const timeOf = ({ events }: History, wanted: AnyEventType): Date | null =>
  events.find(({ type }) => type === wanted)?.createdAt ?? null

const authorOf = ({ activity }: History, action: RegExp): Author | null =>
  activity.find((entry) => action.test(entry.action))?.author ?? null

/** Refunds in their order. Who ordered each is known if the log has as many as there are. */
function refundMoments({ refunds, activity }: History): Bare[] {
  const orders = activity.filter(({ action }) => action === 'refundCharge')
  const ordered = refunds.filter(({ bankReason }) => bankReason === null)
  const isKnown = orders.length === ordered.length
  return refunds.map((refund) => {
    const by = isKnown ? (orders[ordered.indexOf(refund)]?.author ?? null) : null
    return { kind: 'refund', at: refund.createdAt, refund, by }
  })
}

const disputeMoments = ({ disputes }: History): Bare[] =>
  disputes.map((dispute) => ({ kind: 'dispute', at: dispute.openedAt, dispute }))

const paymentMoments = ({ unmatched }: History): Bare[] =>
  unmatched.map((payment) => ({ kind: 'unmatched', at: payment.receivedAt, payment }))

/** Whether a moment has made an entry of the ledger. */
function hasMade(moment: Moment, { kind, ref }: StatementEntry): boolean {
  if (moment.kind === 'refund') return ref === toPublic('rfnd', moment.refund.id)
  if (moment.kind === 'dispute') return ref === toPublic('dispute', moment.dispute.id)
  if (moment.kind === 'unmatched') {
    return ref === moment.payment.endToEndId && kind.startsWith('PAYMENT_')
  }
  if (moment.kind === 'paid') return /^(CHARGE|FINE|INTEREST)_PAID$/.test(kind)
  return moment.kind === 'released' && /^(CHARGE|SPLIT)_SETTLED$/.test(kind)
}

const EMITTED: Partial<Record<AnyEventType, Moment['kind']>> = {
  'charge.pending': 'made',
  'charge.processing': 'code',
  'charge.paid': 'paid',
  'subscription.charge.paid': 'paid',
  'charge.received': 'released',
  'charge.canceled': 'canceled',
  'charge.expired': 'expired',
  'subscription.charge.failed': 'expired',
}

/** Whether a moment has made an event. Those of refunds come when the money is back. */
function hasEmitted(moment: Moment, { type, payload, createdAt }: WrittenEvent): boolean {
  if (moment.kind === 'unmatched') {
    return type === 'payment.unmatched' && payload.includes(`"${moment.payment.endToEndId}"`)
  }
  if (moment.kind === 'dispute') {
    return payload.includes(`"${toPublic('dispute', moment.dispute.id)}"`)
  }
  if (moment.kind !== 'refund') return EMITTED[type] === moment.kind
  const { finishedAt, returnId } = moment.refund
  if (type === 'payment.returned') return returnId !== null && payload.includes(`"${returnId}"`)
  return type === 'charge.refunded' && finishedAt?.getTime() === createdAt.getTime()
}

/** Why a charge was not paid. Null if it was, or may still be. */
export function whyUnpaid({ charge, opening }: Pick<History, 'charge' | 'opening'>) {
  if (charge.status === 'CANCELED') return 'canceled'
  if (charge.status !== 'EXPIRED') return null
  if (charge.kind === 'RECURRING') return 'uncollected'
  if (charge.kind === 'LINK' && charge.brCode === null) return 'unused'
  return opening?.openedAt ? 'opened' : 'expired'
}
