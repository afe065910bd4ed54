import type { UnmatchedReason } from '../../core/charges/rules.ts'
import type { AnyEventType } from '../../core/events.ts'
import { RETURN_REASONS, type ReturnReason } from '../../provider/port.ts'
import * as steps from './trigger-steps.ts'

/** What is done so that an event happens, and what of that the event is about. */
export type Scenario = {
  summary: string
  about: keyof steps.Made
  /** In order. Events that happen for several reasons have steps for each, the usual one first. */
  steps: steps.Step[] | Record<string, steps.Step[]>
}

const { charge, pay } = steps

const product = [steps.product, steps.customer, steps.subscription]

/** In the order in which they are listed. */
const UNMATCHED: Record<UnmatchedReason, steps.Step[]> = {
  DUPLICATE: [charge(), pay(), pay()],
  LATE: [charge({ expiresIn: 1 }), steps.untilExpired, pay()],
  CANCELED: [charge(), steps.cancelCharge, pay()],
  WRONG_AMOUNT: [charge(), pay('another amount')],
  UNKNOWN: [steps.receive],
}

const returned = (reason: ReturnReason) => [charge(), pay(), steps.returnPayment(reason)]

export const SCENARIOS: Record<AnyEventType, Scenario> = {
  'charge.pending': {
    summary: 'a payment link is created',
    about: 'charge',
    steps: [steps.link],
  },
  'charge.processing': {
    summary: 'a charge is created, with its Pix code',
    about: 'charge',
    steps: [charge()],
  },
  'charge.paid': {
    summary: 'a charge is paid at the simulated bank',
    about: 'charge',
    steps: [charge(), pay()],
  },
  'charge.received': {
    summary: 'the money of a paid charge can be withdrawn; moves the clock',
    about: 'charge',
    steps: [charge(), pay(), steps.untilReceived],
  },
  'charge.expired': {
    summary: 'nobody pays a charge of one second; moves the clock',
    about: 'charge',
    steps: [charge({ expiresIn: 1 }), steps.untilExpired],
  },
  'charge.canceled': {
    summary: 'a charge is canceled before it is paid',
    about: 'charge',
    steps: [charge(), steps.cancelCharge],
  },
  'charge.refunded': {
    summary: 'a paid charge is refunded',
    about: 'charge',
    steps: [charge(), pay(), steps.refund],
  },
  'payment.unmatched': {
    summary: 'money arrives that pays no charge; LATE moves the clock',
    about: 'payment',
    steps: UNMATCHED,
  },
  'payment.returned': {
    summary: 'the bank returns a payment by itself',
    about: 'payment',
    steps: Object.fromEntries(RETURN_REASONS.map((reason) => [reason, returned(reason)])),
  },
  'subscription.authorized': {
    summary: 'a payer approves a subscription at the simulated bank',
    about: 'subscription',
    steps: [...product, steps.decide('approve')],
  },
  'subscription.rejected': {
    summary: 'a payer rejects a subscription',
    about: 'subscription',
    steps: [...product, steps.decide('reject')],
  },
  'subscription.canceled': {
    summary: 'a payer approves a subscription and cancels it',
    about: 'subscription',
    steps: [...product, steps.decide('approve'), steps.decide('cancel')],
  },
  'subscription.charge.paid': {
    summary: 'the bank collects the first charge; moves the clock by days',
    about: 'subscription',
    steps: [...product, steps.decide('approve'), steps.untilCharged('COMPLETED')],
  },
  'subscription.charge.failed': {
    summary: 'the payer has no money for any attempt; moves the clock by two weeks or so',
    about: 'subscription',
    steps: [...product, steps.decide('approve', false), steps.untilCharged('EXPIRED')],
  },
  'withdrawal.completed': {
    summary: 'money is withdrawn, with its one-time code',
    about: 'withdrawal',
    steps: [steps.withdraw(), steps.confirm],
  },
  'withdrawal.failed': {
    summary: 'the simulated bank refuses to send exactly R$ 666,66',
    about: 'withdrawal',
    steps: [steps.withdraw('refused'), steps.confirm],
  },
  'webhook.test': {
    summary: 'a webhook gets a test event: the newest, or one for --set url=…',
    about: 'webhook',
    steps: [steps.webhook, steps.testWebhook],
  },
}

/** The reasons of an event, the usual one first. */
export function reasonsOf(type: AnyEventType): string[] {
  const { steps } = SCENARIOS[type]
  return Array.isArray(steps) ? [] : Object.keys(steps)
}
