import { texts, timestamps, uuids } from '../db/arrays.ts'
import type { Tx } from '../db/database.ts'
import { newId, toPublic, type Uuid } from '../lib/ids.ts'

/** Every event a webhook can subscribe to, with the name it has in a payload. */
export const EVENTS = {
  'charge.pending': 'Charge.Pending',
  'charge.processing': 'Charge.Processing',
  'charge.paid': 'Charge.Paid',
  'charge.received': 'Charge.Received',
  'charge.expired': 'Charge.Expired',
  'charge.canceled': 'Charge.Canceled',
  'charge.refunded': 'Charge.Refunded',
  'payment.unmatched': 'Payment.Unmatched',
  'subscription.authorized': 'Subscription.Authorized',
  'subscription.rejected': 'Subscription.Rejected',
  'subscription.canceled': 'Subscription.Canceled',
  'subscription.charge.paid': 'Subscription.Charge.Paid',
  'subscription.charge.failed': 'Subscription.Charge.Failed',
  'withdrawal.completed': 'Withdrawal.Completed',
  'withdrawal.failed': 'Withdrawal.Failed',
} as const

export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]

export type Event = { companyId: Uuid; id: Uuid; type: EventType; payload: string; createdAt: Date }

type ChargeMoment = { companyId: Uuid; id: Uuid; amount: number; paymentStatus: string }

/** The body is fixed here, once: every retry to every receiver sends these bytes. */
export function chargeEvent(type: EventType, charge: ChargeMoment, at: Date): Event {
  const { companyId, id, amount, paymentStatus } = charge
  // Nothing in it needs escaping: ids, states and cents are ours.
  const subject = `{"id":"${toPublic('charge', id)}","status":"${paymentStatus}","total":${amount}}`
  const payload = `{"event":"${EVENTS[type]}","charge":${subject}}`
  return { companyId, id: newId(), type, payload, createdAt: at }
}

type PaymentMoment = {
  companyId: Uuid
  endToEndId: string
  amount: number
  reason: string | null
  chargeId: Uuid | null
}

export function paymentEvent(type: EventType, payment: PaymentMoment, at: Date): Event {
  const { companyId, endToEndId, amount, reason, chargeId } = payment
  const charge = chargeId === null ? {} : { chargeId: toPublic('charge', chargeId) }
  // A bank's id is not ours, so it is escaped.
  const payload = JSON.stringify({
    event: EVENTS[type],
    payment: { endToEndId, amount, reason, ...charge },
  })
  return { companyId, id: newId(), type, payload, createdAt: at }
}

type WithdrawalMoment = { companyId: Uuid; id: Uuid; status: string; value: number }

export function withdrawalEvent(type: EventType, withdrawal: WithdrawalMoment, at: Date): Event {
  const { companyId, id, status, value } = withdrawal
  const subject = `{"id":"${toPublic('wd', id)}","status":"${status}","value":${value}}`
  const payload = `{"event":"${EVENTS[type]}","withdrawal":${subject}}`
  return { companyId, id: newId(), type, payload, createdAt: at }
}

/** Writes events in the transaction of the change they tell about. */
export async function emit(tx: Tx, events: Event[]): Promise<void> {
  if (events.length === 0) return
  await tx.query({
    name: 'emit',
    text: `insert into events (company_id, id, type, payload, created_at)
           select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])`,
    values: eventColumns(events),
  })
}

export const eventColumns = (events: Event[]): Buffer[] => [
  uuids(events.map((event) => event.companyId)),
  uuids(events.map((event) => event.id)),
  texts(events.map((event) => event.type)),
  texts(events.map((event) => event.payload)),
  timestamps(events.map((event) => event.createdAt)),
]
