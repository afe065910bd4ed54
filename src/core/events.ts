import { booleans, bytes, texts, timestamps, uuids } from '../db/arrays.ts'
import type { Tx } from '../db/database.ts'
import { newId, toPublic, type Uuid } from '../lib/ids.ts'
import { causeOf } from '../lib/tracing.ts'
import type { Source } from '../provider/port.ts'
import { TASK } from './tasks.ts'

/** Every event a webhook can subscribe to, with the name it has in a payload. */
export const EVENTS = {
  'charge.pending': 'Charge.Pending',
  'charge.processing': 'Charge.Processing',
  'charge.paid': 'Charge.Paid',
  'charge.received': 'Charge.Received',
  'charge.expired': 'Charge.Expired',
  'charge.canceled': 'Charge.Canceled',
  'charge.refunded': 'Charge.Refunded',
  'charge.due': 'Charge.Due',
  'charge.overdue': 'Charge.Overdue',
  'charge.reminder': 'Charge.Reminder',
  'payment.unmatched': 'Payment.Unmatched',
  'payment.returned': 'Payment.Returned',
  'subscription.authorized': 'Subscription.Authorized',
  'subscription.rejected': 'Subscription.Rejected',
  'subscription.canceled': 'Subscription.Canceled',
  'subscription.charge.paid': 'Subscription.Charge.Paid',
  'subscription.charge.failed': 'Subscription.Charge.Failed',
  'dispute.opened': 'Dispute.Opened',
  'dispute.deadline': 'Dispute.Deadline',
  'dispute.accepted': 'Dispute.Accepted',
  'dispute.won': 'Dispute.Won',
  'dispute.lost': 'Dispute.Lost',
  'dispute.canceled': 'Dispute.Canceled',
  'withdrawal.completed': 'Withdrawal.Completed',
  'withdrawal.failed': 'Withdrawal.Failed',
} as const

export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]

/** Written when a company tries out a webhook, and sent to that one alone: nobody subscribes. */
export const TEST_EVENT = 'webhook.test'
export type AnyEventType = EventType | typeof TEST_EVENT
export const ANY_EVENT_TYPES: AnyEventType[] = [...EVENT_TYPES, TEST_EVENT]

export type Event = {
  companyId: Uuid
  id: Uuid
  type: AnyEventType
  payload: string
  /** Whether it comes of a dev-mode charge. In a sandbox all is play money, whatever this says. */
  devMode: boolean
  createdAt: Date
  /** The trace of the request that has caused it, which its deliveries continue. */
  trace: Buffer | null
}

/** What an event is about: money, a trial of a live company, or the play money of a sandbox. */
export const EVENT_MODES = ['sandbox', 'dev', 'live'] as const
export type EventMode = (typeof EVENT_MODES)[number]

/** Who writes events of no charge writes of no trial either. */
const MONEY = { devMode: false }

type ChargeMoment = {
  companyId: Uuid
  id: Uuid
  amount: number
  paymentStatus: string
  devMode: boolean
  endToEndId?: string | null
}

/** The events that the published interface names. Their bodies stay as they are. */
const PUBLISHED = [
  'charge.pending',
  'charge.processing',
  'charge.paid',
  'charge.received',
  'charge.expired',
] as const
export type PublishedType = (typeof PUBLISHED)[number]

export const isPublished = (type: AnyEventType): type is PublishedType =>
  (PUBLISHED as readonly AnyEventType[]).includes(type)

const subjectOf = ({ id, amount }: ChargeMoment, status: string) => ({
  id: toPublic('charge', id),
  status,
  total: amount,
})

/** The body is fixed here, once: every retry to every receiver sends these bytes. */
export function chargeEvent(type: PublishedType, charge: ChargeMoment, at: Date): Event {
  const { companyId, id, amount, paymentStatus, devMode } = charge
  // Nothing in it needs escaping: ids, states and cents are ours.
  const subject = `{"id":"${toPublic('charge', id)}","status":"${paymentStatus}","total":${amount}}`
  const payload = `{"event":"${EVENTS[type]}","charge":${subject}}`
  const trace = causeOf(companyId, charge.endToEndId)
  return { companyId, id: newId(), type, payload, devMode, createdAt: at, trace }
}

type Own = {
  companyId: Uuid
  externalId: string | null
  devMode: boolean
  endToEndId?: string | null
}

/**
 * An event that the published interface does not name. All of them have the externalId of the
 * charge that they are about. It comes last, because an index finds the first id of a charge.
 */
function ownEvent(
  type: Exclude<AnyEventType, PublishedType>,
  { companyId, externalId, devMode, endToEndId }: Own,
  subjects: object,
  at: Date,
): Event {
  const event = type === TEST_EVENT ? 'Webhook.Test' : EVENTS[type]
  const payload = JSON.stringify({ event, ...subjects, externalId })
  const trace = causeOf(companyId, endToEndId)
  return { companyId, id: newId(), type, payload, devMode, createdAt: at, trace }
}

type OwnChargeMoment = ChargeMoment & { externalId: string | null }

export const canceledEvent = (charge: OwnChargeMoment, at: Date): Event =>
  ownEvent('charge.canceled', charge, { charge: subjectOf(charge, 'CANCELED') }, at)

/** Money of a charge that was returned. `refundable` is what can still go back after it. */
export function refundedEvent(
  charge: OwnChargeMoment,
  refund: { id: Uuid; amount: number },
  refundable: number,
  at: Date,
): Event {
  const subjects = {
    charge: subjectOf(charge, charge.paymentStatus),
    refund: { id: toPublic('rfnd', refund.id), value: refund.amount },
    refundable,
  }
  return ownEvent('charge.refunded', charge, subjects, at)
}

export type NoticeType = 'charge.due' | 'charge.overdue'

/** `amount` is what is to be paid today, and how it comes about. */
export const noticeEvent = (
  type: NoticeType,
  charge: OwnChargeMoment & { due: { terms: { dueDate: string } } | null },
  amount: object,
  at: Date,
): Event => {
  const { dueDate } = charge.due!.terms
  const subjects = { charge: subjectOf(charge, charge.paymentStatus), due: { dueDate, amount } }
  return ownEvent(type, charge, subjects, at)
}

/** What a reminder is about, and whether the payer gets a mail. No attempt: all have failed. */
type ReminderMoment = (
  | { occasion: 'DUE_DATE'; day: number }
  | { occasion: 'COLLECTION_FAILED'; attempt: number | null; nextTry: string | null }
) & { mailed: boolean; unmailed?: string }

/** `amount` is what is to be paid today, of a charge with a due date. */
export function reminderEvent(
  charge: OwnChargeMoment & { due: { terms: { dueDate: string } } | null } & {
    recurrenceId: Uuid | null
  },
  reminder: ReminderMoment,
  amount: object | null,
  at: Date,
): Event {
  const { due, recurrenceId, paymentStatus } = charge
  const subjects = {
    ...(recurrenceId === null ? {} : { subscription: { id: toPublic('rec', recurrenceId) } }),
    charge: subjectOf(charge, paymentStatus),
    ...(due ? { due: { dueDate: due.terms.dueDate, amount } } : {}),
    reminder,
  }
  return ownEvent('charge.reminder', charge, subjects, at)
}

/** Why a subscription was canceled, where neither the payer nor the merchant did it. */
export const CANCEL_REASONS = ['UNKNOWN_TO_BANK'] as const
export type CancelReason = (typeof CANCEL_REASONS)[number]

type SubscriptionMoment = {
  companyId: Uuid
  id: Uuid
  authStatus: string
  value: number
  reason?: CancelReason
}

export type SubscriptionType =
  | 'subscription.authorized'
  | 'subscription.rejected'
  | 'subscription.canceled'

/** `externalId` is that of the payment link that the payer came through. */
export function subscriptionEvent(
  type: SubscriptionType,
  moment: SubscriptionMoment,
  externalId: string | null,
  at: Date,
): Event {
  const { companyId, id, authStatus: status, value, reason } = moment
  const subscription = { id: toPublic('rec', id), status, value, ...(reason ? { reason } : {}) }
  return ownEvent(type, { companyId, externalId, ...MONEY }, { subscription }, at)
}

export type CollectionType = 'subscription.charge.paid' | 'subscription.charge.failed'

/** The event of a charge of a subscription. */
export function collectionEvent(
  type: CollectionType,
  charge: OwnChargeMoment & { recurrenceId: Uuid | null },
  at: Date,
): Event {
  const subscription = { id: toPublic('rec', charge.recurrenceId!) }
  const subjects = { subscription, charge: subjectOf(charge, charge.paymentStatus) }
  return ownEvent(type, charge, subjects, at)
}

type PaymentMoment = {
  companyId: Uuid
  endToEndId: string
  amount: number
  reason: string | null
  chargeId: Uuid | null
  source: Source
}

/** `externalId` is that of the charge that the payment names. */
export function unmatchedEvent(payment: PaymentMoment, externalId: string | null, at: Date): Event {
  const { companyId, endToEndId, amount, reason, chargeId, source } = payment
  const charge = chargeId === null ? {} : { chargeId: toPublic('charge', chargeId) }
  const subjects = { payment: { endToEndId, amount, reason, ...charge } }
  const devMode = source === 'simulated'
  const own = { companyId, externalId, devMode, endToEndId }
  return ownEvent('payment.unmatched', own, subjects, at)
}

type ReturnMoment = {
  companyId: Uuid
  endToEndId: string
  returnId: string | null
  amount: number
  bankReason: string | null
  chargeId: Uuid | null
  paymentSource: Source
}

/** The bank has returned money of a payment by itself. */
export function returnEvent(refund: ReturnMoment, externalId: string | null, at: Date): Event {
  const { companyId, endToEndId, returnId, amount, bankReason: reason, chargeId } = refund
  const charge = chargeId === null ? {} : { chargeId: toPublic('charge', chargeId) }
  const subjects = { payment: { endToEndId, returnId, amount, reason, ...charge } }
  const devMode = refund.paymentSource === 'simulated'
  return ownEvent('payment.returned', { companyId, externalId, devMode }, subjects, at)
}

type DisputeMoment = {
  companyId: Uuid
  id: Uuid
  status: string
  amount: number
  reason: string
  endToEndId: string
  chargeId: Uuid | null
  deadline: Date | null
  paymentSource: Source
}

export type DisputeType =
  | 'dispute.opened'
  | 'dispute.deadline'
  | 'dispute.accepted'
  | 'dispute.won'
  | 'dispute.lost'
  | 'dispute.canceled'

/** `hoursLeft` says of which deadline notice it is. */
export function disputeEvent(
  type: DisputeType,
  moment: DisputeMoment,
  externalId: string | null,
  at: Date,
  hoursLeft?: number,
): Event {
  const { companyId, id, status, amount, reason, endToEndId, chargeId, deadline } = moment
  const dispute = {
    id: toPublic('dispute', id),
    status,
    amount,
    reason,
    endToEndId,
    ...(chargeId === null ? {} : { chargeId: toPublic('charge', chargeId) }),
    ...(deadline === null ? {} : { deadline: deadline.toISOString() }),
    ...(hoursLeft === undefined ? {} : { hoursLeft }),
  }
  const devMode = moment.paymentSource === 'simulated'
  return ownEvent(type, { companyId, externalId, devMode }, { dispute }, at)
}

type WithdrawalMoment = {
  companyId: Uuid
  id: Uuid
  status: string
  value: number
  recipientId?: Uuid | null
}

export type WithdrawalType = 'withdrawal.completed' | 'withdrawal.failed'

export function withdrawalEvent(
  type: WithdrawalType,
  { companyId, id, status, value, recipientId = null }: WithdrawalMoment,
  at: Date,
): Event {
  const recipient = recipientId && { recipientId: toPublic('rcpt', recipientId) }
  const subjects = { withdrawal: { id: toPublic('wd', id), status, value, ...recipient } }
  return ownEvent(type, { companyId, externalId: null, ...MONEY }, subjects, at)
}

export function testEvent(companyId: Uuid, webhookId: Uuid, at: Date): Event {
  const subjects = { webhook: { id: webhookId } }
  return ownEvent(TEST_EVENT, { companyId, externalId: null, ...MONEY }, subjects, at)
}

/**
 * The mode of an event of a table that is called so. Events from before it was written with them
 * have that of their company.
 */
export const modeOf = (event: string): string =>
  `coalesce(${event}.mode, (select mode from companies where id = ${event}.company_id))`

/** Notifies the servers of companies with new events. */
export const EVENTS_CHANNEL = 'vintem_events'

/**
 * A part of a statement that takes the next position in the feeds of companies, which a parameter
 * lists. Their rows stay locked until the commit, so it comes after all else that may wait for
 * others: after the parts that are named. They are locked in one order, because two transactions
 * would otherwise wait for each other.
 */
export const nextPositionSql = (companies: string, after: string[] = []): string => `feed as (
  insert into feeds (company_id, last)
  select company_id, 1 from (select distinct unnest(${companies}::uuid[]) as company_id) c
  where true ${after.map((part) => `and (select count(*) from ${part}) >= 0`).join(' ')}
  order by company_id
  on conflict (company_id) do update set last = feeds.last + 1
  returning company_id, last
)`

/**
 * Parts of a statement that write events, whose columns are the parameters from `first` on, and a
 * delivery of each to every active webhook that wants it. `skipping` skips an event that exists
 * already with its deliveries, for a statement that is repeated. See above for `after`.
 */
export const eventInsertSql = (
  first: number,
  { after = [], skipping = false }: { after?: string[]; skipping?: boolean } = {},
): string => `
${nextPositionSql(`$${first}`, after)}, written_by as materialized (
  select f.company_id, f.last, c.mode from feed f join companies c on c.id = f.company_id
), event as (
  insert into events (company_id, id, type, payload, created_at, mode, position, trace)
  select e.company_id, e.id, e.type, e.payload, e.created_at,
    case when w.mode = 'sandbox' then 'sandbox' when e.dev_mode then 'dev' else 'live' end, w.last,
    e.trace
  from unnest($${first}::uuid[], $${first + 1}::uuid[], $${first + 2}::text[],
    $${first + 3}::text[], $${first + 4}::timestamptz[], $${first + 5}::bool[],
    $${first + 6}::bytea[])
    e (company_id, id, type, payload, created_at, dev_mode, trace)
  join written_by w on w.company_id = e.company_id
  ${skipping ? 'on conflict (company_id, id) do nothing' : ''}
  returning company_id, id, type, created_at
), delivery as (
  insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
  select e.company_id, w.id, e.id, e.created_at, e.created_at
  from event e join webhooks w on w.company_id = e.company_id
  where w.status = 'ACTIVE' and e.type = any (w.events)
  returning event_id
)`

/**
 * Ends a statement with these parts, whose columns are the parameters from `first` on. Says for whom
 * there is work: `reportEvents` passes it on.
 */
export const eventResultSql = (first: number): string => `
select (select count(*) from delivery) as deliveries,
  array(select f.company_id from followed_feeds f
        where f.company_id = any ($${first}::uuid[]) and f.until > now()) as followed`

export type EventResult = { deliveries: number; followed: Uuid[] }

/** Wakes who delivers, and notifies the servers of companies whose feed somebody follows. */
export function reportEvents(tx: Tx, { deliveries, followed }: EventResult): void {
  if (deliveries > 0) tx.wake(TASK.deliver)
  for (const companyId of followed) tx.notify(EVENTS_CHANNEL, companyId)
}

/**
 * Writes events and their deliveries in the transaction of the change they report: none of them
 * is ever there without the others. It is done just before the commit, because from then on no
 * other transaction can write events of the same companies.
 */
export async function emit(tx: Tx, events: Event[]): Promise<void> {
  if (events.length > 0) await tx.beforeCommit(insertEvents, events)
}

async function insertEvents(tx: Tx, events: Event[]): Promise<void> {
  const [written] = await tx.query<EventResult>({
    name: 'emit',
    text: `with ${eventInsertSql(1)} ${eventResultSql(1)}`,
    values: eventColumns(events),
  })
  reportEvents(tx, written!)
}

export const eventColumns = (events: Event[]): Buffer[] => [
  uuids(events.map((event) => event.companyId)),
  uuids(events.map((event) => event.id)),
  texts(events.map((event) => event.type)),
  texts(events.map((event) => event.payload)),
  timestamps(events.map((event) => event.createdAt)),
  booleans(events.map((event) => event.devMode)),
  bytes(events.map((event) => event.trace)),
]
