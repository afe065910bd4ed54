import { PAYMENT_STATUSES, UNMATCHED_REASONS } from '../../core/charges/rules.ts'
import { headersOf, signerOf } from '../../core/deliveries/signing.ts'
import { deliveryIdOf } from '../../core/deliveries/view.ts'
import { DISPUTE_STATES } from '../../core/disputes/rules.ts'
import * as events from '../../core/events.ts'
import { RecurrenceView } from '../../core/recurrences/view.ts'
import { STATUSES as WITHDRAWAL_STATUSES } from '../../core/withdrawals/rules.ts'
import { toCents } from '../../lib/money.ts'
import { amountOn, type DueTerms } from '../../pix/due-amount.ts'
import { RETURN_REASONS } from '../../provider/port.ts'
import type { Schema } from '../../versions/shapes.ts'
import { refTo } from './components.ts'

const AT = new Date('2026-08-16T12:00:00.000Z')
const MONDAY = '2026-08-17'
const uuid = (last: number) => `0198dc8c-2360-7000-8000-${String(last).padStart(12, '0')}`
const OF = { companyId: uuid(1) }
const EXTERNAL_ID = 'order-1042'
const CHARGE = { ...OF, id: uuid(2), amount: 1990, devMode: false, externalId: EXTERNAL_ID }
const SUBSCRIPTION = { ...OF, id: uuid(3), value: 1990 }
const COLLECTED = { ...CHARGE, externalId: null, recurrenceId: uuid(3) }
const REFUND = { id: uuid(7), amount: 500 }
const WITHDRAWAL = { ...OF, id: uuid(4), value: 5000 }
const DISPUTE = {
  ...OF,
  id: uuid(8),
  amount: 1990,
  reason: 'FRAUD',
  endToEndId: 'E9999999920260816120000000000001',
  chargeId: CHARGE.id,
  deadline: new Date('2026-08-23T12:00:00.000Z'),
  paymentSource: 'bank',
} as const
const WEBHOOK = uuid(5)
const UNMATCHED = {
  ...OF,
  endToEndId: 'E9999999920260816120000000000001',
  amount: 1990,
  reason: 'DUPLICATE',
  chargeId: CHARGE.id,
  source: 'bank' as const,
}

const RETURNED = {
  ...OF,
  endToEndId: UNMATCHED.endToEndId,
  returnId: 'D9999999920260818093000000000001',
  amount: 1990,
  bankReason: 'FRAUD',
  chargeId: CHARGE.id,
  paymentSource: 'bank' as const,
}

type Documented = { type: events.AnyEventType; when: string; body: string }

const charge = (type: events.PublishedType, paymentStatus: string, when: string): Documented => ({
  type,
  when,
  body: events.chargeEvent(type, { ...CHARGE, paymentStatus }, AT).payload,
})
const notice = (type: events.NoticeType, dueDate: string, when: string): Documented => {
  const terms: DueTerms = { dueDate, daysAfterDue: 30, fine: { type: 'PERCENT', value: 200 } }
  const amount = amountOn(toCents(CHARGE.amount), terms, MONDAY)
  const about = { ...CHARGE, paymentStatus: 'PROCESSING', due: { terms } }
  return { type, when, body: events.noticeEvent(type, about, amount, AT).payload }
}
const agreement = (
  type: events.SubscriptionType,
  authStatus: string,
  when: string,
): Documented => ({
  type,
  when,
  body: events.subscriptionEvent(type, { ...SUBSCRIPTION, authStatus }, EXTERNAL_ID, AT).payload,
})
const collection = (
  type: events.CollectionType,
  paymentStatus: string,
  when: string,
): Documented => ({
  type,
  when,
  body: events.collectionEvent(type, { ...COLLECTED, paymentStatus }, AT).payload,
})
const dispute = (
  type: events.DisputeType,
  status: string,
  when: string,
  hoursLeft?: number,
): Documented => ({
  type,
  when,
  body: events.disputeEvent(type, { ...DISPUTE, status }, EXTERNAL_ID, AT, hoursLeft).payload,
})
const withdrawal = (type: events.WithdrawalType, status: string, when: string): Documented => ({
  type,
  when,
  body: events.withdrawalEvent(type, { ...WITHDRAWAL, status }, AT).payload,
})

/** Every event, when it happens, and a body as it is sent. */
const EVENTS: Documented[] = [
  charge('charge.pending', 'PENDING', 'A charge or a payment link was created.'),
  charge('charge.processing', 'PROCESSING', 'A charge got its Pix code.'),
  charge('charge.paid', 'PAID', 'The payment of a charge is confirmed.'),
  charge('charge.received', 'RECEIVED', 'The money of a charge can be withdrawn.'),
  charge('charge.expired', 'EXPIRED', 'A charge was not paid by its deadline.'),
  {
    type: 'charge.canceled',
    when: 'A charge was canceled before it was paid.',
    body: events.canceledEvent({ ...CHARGE, paymentStatus: 'PROCESSING' }, AT).payload,
  },
  {
    type: 'charge.refunded',
    when: 'Money of a charge was returned to its payer, all of it or a part.',
    body: events.refundedEvent(
      { ...CHARGE, paymentStatus: 'RECEIVED' },
      REFUND,
      CHARGE.amount - REFUND.amount,
      AT,
    ).payload,
  },
  notice('charge.due', MONDAY, 'The due date of an open charge has come.'),
  notice('charge.overdue', '2026-08-14', 'A charge was not paid by its due date.'),
  {
    type: 'payment.unmatched',
    when: 'Money arrived late, twice, in another amount or for no charge.',
    body: events.unmatchedEvent(UNMATCHED, EXTERNAL_ID, AT).payload,
  },
  {
    type: 'payment.returned',
    when: 'The bank returned money to its payer without an order of yours, such as after a claim of fraud.',
    body: events.returnEvent(RETURNED, EXTERNAL_ID, AT).payload,
  },
  agreement('subscription.authorized', 'APPROVED', 'A payer agreed to a subscription.'),
  agreement('subscription.rejected', 'REJECTED', 'A payer refused a subscription.'),
  agreement('subscription.canceled', 'CANCELED', 'A subscription ended.'),
  collection('subscription.charge.paid', 'PAID', 'A charge of a subscription was paid.'),
  collection(
    'subscription.charge.failed',
    'EXPIRED',
    'A charge of a subscription could not be collected.',
  ),
  dispute('dispute.opened', 'OPEN', 'A payer disputes a payment (MED); its money is held.'),
  dispute(
    'dispute.deadline',
    'OPEN',
    'A dispute is not answered 48, 24 or 6 hours before its deadline.',
    48,
  ),
  dispute('dispute.accepted', 'ACCEPTED', 'The disputed money goes back by a refund.'),
  dispute('dispute.won', 'WON', 'The bank has rejected the claim; the money is yours again.'),
  dispute('dispute.lost', 'LOST', 'The bank has accepted the claim, or has returned the money.'),
  dispute('dispute.canceled', 'CANCELED', 'The claim was withdrawn; the money is yours again.'),
  withdrawal('withdrawal.completed', 'COMPLETED', 'A withdrawal was sent.'),
  withdrawal('withdrawal.failed', 'FAILED', 'A withdrawal failed; its money is available again.'),
  {
    type: events.TEST_EVENT,
    when: 'Somebody called `POST /webhook/{id}/test`. Sent to that webhook alone.',
    body: events.testEvent(OF.companyId, WEBHOOK, AT).payload,
  },
]

const object = (properties: Record<string, Schema>, ...optional: string[]): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})
const text = (description: string): Schema => ({ type: 'string', description })
const cents = { type: 'integer', description: 'Cents' }
const oneOf = (values: readonly unknown[], description: string): Schema => ({
  type: 'string',
  enum: values,
  description,
})
const AUTH_STATUSES = RecurrenceView.properties.recurrenceAuthStatus.enum

/**
 * The fields of a body beside the name of its event. A body is written once, when the event
 * happens, so it is the same in all versions, and its statuses are never misspelled.
 */
const SUBJECTS: Record<string, Schema> = {
  EventCharge: object({
    id: text('charge_…'),
    status: oneOf(PAYMENT_STATUSES, 'The payment status of that moment, in any API version'),
    total: cents,
  }),
  EventCanceledCharge: object({
    id: text('charge_…'),
    status: { type: 'string', const: 'CANCELED', description: 'The status of the charge' },
    total: cents,
  }),
  EventDue: object({
    dueDate: text('YYYY-MM-DD'),
    amount: refTo('ChargeAmount'),
  }),
  EventRefund: object({
    id: text('rfnd_…'),
    value: { type: 'integer', description: 'Cents that were returned now' },
  }),
  EventPayment: object(
    {
      endToEndId: text('The scheme’s id of the payment'),
      amount: cents,
      reason: oneOf(UNMATCHED_REASONS, 'Why it pays no charge'),
      chargeId: text('The charge that it names, if one is known'),
    },
    'chargeId',
  ),
  EventReturn: object(
    {
      endToEndId: text('The scheme’s id of the payment'),
      returnId: text('The scheme’s id of the return'),
      amount: cents,
      reason: oneOf(RETURN_REASONS, 'Why the bank has returned it'),
      chargeId: text('The charge that it had paid, if there is one'),
    },
    'chargeId',
  ),
  EventSubscription: object(
    {
      id: text('rec_…'),
      status: oneOf(AUTH_STATUSES, 'The recurrenceAuthStatus of that moment'),
      value: { type: 'integer', description: 'Cents of each charge' },
      reason: oneOf(
        events.CANCEL_REASONS,
        'Why it was canceled, if neither the payer nor you did it: the company’s bank knows no such agreement',
      ),
    },
    'reason',
  ),
  EventSubscriptionId: object({ id: text('rec_…') }),
  EventDispute: object(
    {
      id: text('dispute_…'),
      status: oneOf(DISPUTE_STATES, 'The status of that moment'),
      amount: cents,
      reason: oneOf(RETURN_REASONS, 'What the payer claims'),
      endToEndId: text('The scheme’s id of the disputed payment'),
      chargeId: text('The charge that it has paid, if there is one'),
      deadline: { type: 'string', format: 'date-time', description: 'Until when you can answer' },
      hoursLeft: { type: 'integer', description: 'Of dispute.deadline: how many hours are left' },
    },
    'chargeId',
    'deadline',
    'hoursLeft',
  ),
  EventWithdrawal: object({
    id: text('wd_…'),
    status: oneOf(WITHDRAWAL_STATUSES, 'The status of that moment'),
    value: cents,
  }),
  EventWebhook: object({ id: { type: 'string', format: 'uuid' } }),
}

/** The events that the published interface names have nothing beside their charge. */
const EXTERNAL = {
  externalId: {
    type: ['string', 'null'],
    description:
      'Yours, of the charge that it is about; of a subscription, that of the payment link that the payer came through; null if there is none',
  },
}

const fieldsOf = (type: events.AnyEventType): Record<string, Schema> =>
  events.isPublished(type) ? subjectsOf(type) : { ...subjectsOf(type), ...EXTERNAL }

function subjectsOf(type: string): Record<string, Schema> {
  if (type === 'charge.canceled') return { charge: refTo('EventCanceledCharge') }
  if (type === 'charge.refunded') {
    return {
      charge: refTo('EventCharge'),
      refund: refTo('EventRefund'),
      refundable: { type: 'integer', description: 'Cents that can still go back' },
    }
  }
  if (type === 'charge.due' || type === 'charge.overdue') {
    return { charge: refTo('EventCharge'), due: refTo('EventDue') }
  }
  if (type.startsWith('subscription.charge.')) {
    return { subscription: refTo('EventSubscriptionId'), charge: refTo('EventCharge') }
  }
  if (type === 'payment.returned') return { payment: refTo('EventReturn') }
  const noun = type.slice(0, type.indexOf('.'))
  return { [noun]: refTo(`Event${noun[0]!.toUpperCase()}${noun.slice(1)}`) }
}

const nameIn = (body: string): string => JSON.parse(body).event
const componentOf = ({ body }: Documented) => `${nameIn(body).replaceAll('.', '')}Event`

/** The named schemas of the bodies of events. */
export const EVENT_COMPONENTS: Record<string, Schema> = {
  ...SUBJECTS,
  ...Object.fromEntries(
    EVENTS.map((event) => {
      const name = { type: 'string', const: nameIn(event.body) }
      return [componentOf(event), object({ event: name, ...fieldsOf(event.type) })]
    }),
  ),
  EventBody: {
    description: 'What receivers get as their body',
    oneOf: EVENTS.map((event) => refTo(componentOf(event))),
    discriminator: {
      propertyName: 'event',
      mapping: Object.fromEntries(
        EVENTS.map((event) => [nameIn(event.body), refTo(componentOf(event)).$ref]),
      ),
    },
  },
}

/** The secret that signs the examples. */
export const SAMPLE_SECRET = `whsec_${Buffer.alloc(32, 'vintem').toString('base64')}`
const SIGNERS = [signerOf(SAMPLE_SECRET)]

const HEADERS: Record<string, string> = {
  'X-Webhook-Event': 'The name you subscribed to',
  'X-Webhook-Mode':
    'Whether it is about real money: `live`; `dev` for a dev-mode charge of a live company; `sandbox` for all events of a sandbox. Not signed',
  'X-Webhook-Delivery': 'The id of the delivery of this event to this webhook, as in the log',
  'X-Webhook-Timestamp': 'The time of this attempt in ISO 8601; not signed',
  'X-Webhook-Signature': `\`sha256=\` and the hexadecimal HMAC-SHA256 of the raw body; the key is the whole secret as text. Examples are signed with \`${SAMPLE_SECRET}\``,
  'webhook-id':
    'The id of the event; the same in every attempt. Store it to handle each event once',
  'webhook-timestamp': 'Seconds since 1970 of this attempt',
  'webhook-signature':
    '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, as Standard Webhooks says; the key is the decoded base64 of the secret. Two, with a space between, for 24 hours after a rotation',
}
const PREVIOUS = {
  name: 'X-Webhook-Signature-Previous',
  in: 'header',
  description:
    'For 24 hours after `rotate-secret`: what X-Webhook-Signature would be with the former secret',
  schema: { type: 'string' },
}

const valuesOf = (name: string, type: string): Schema => {
  if (name === 'X-Webhook-Event') return { const: type }
  return name === 'X-Webhook-Mode' ? { enum: events.EVENT_MODES } : {}
}

function headerParameters({ type, body }: Documented): unknown[] {
  const eventId = uuid(6)
  const deliveryId = deliveryIdOf({ webhookId: WEBHOOK, eventId })
  const signed = { eventId, deliveryId, type, mode: 'live', body, signers: SIGNERS } as const
  const sent = headersOf({ ...signed, now: AT })
  const always = Object.entries(HEADERS).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string', ...valuesOf(name, type) },
    example: sent[name.toLowerCase() as keyof typeof sent],
  }))
  return [...always, PREVIOUS]
}

const RESPONSES = {
  '2XX': { description: 'Delivered. Any 2xx within 30 seconds counts.' },
  '410': { description: 'The webhook is made INACTIVE at once.' },
  default: {
    description: 'Failed. Tried again after 1 min, 5 min, 15 min, 1 h and 6 h, then FAILED.',
  },
}

function webhookOf(event: Documented): unknown {
  const { type, when, body } = event
  const example = JSON.parse(body)
  return {
    post: {
      operationId: `on${nameIn(body).replaceAll('.', '')}`,
      tags: ['Webhooks'],
      summary: type,
      description: when,
      security: [],
      parameters: headerParameters(event),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: refTo(componentOf(event)), example } },
      },
      responses: RESPONSES,
    },
  }
}

/** What is sent to webhooks, by the name that they subscribe to. */
export const describeWebhooks = (): Record<string, unknown> =>
  Object.fromEntries(EVENTS.map((event) => [event.type, webhookOf(event)]))

/** When each event happens, and an example of its body, for the reference page. */
export const EVENT_REFERENCE: readonly Documented[] = EVENTS
