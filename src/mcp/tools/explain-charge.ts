import Type, { type Static } from 'typebox'
import type { Author } from '../../core/activity/rules.ts'
import { find as findBilling } from '../../core/billings/store.ts'
import { disputedOf, type History, historyOf } from '../../core/charge-history/history.ts'
import { type Moment, momentsOf, whyUnpaid } from '../../core/charge-history/moments.ts'
import { HISTORY } from '../../core/charge-history/texts.ts'
import { arrivedText, mailText, payerBankOf, titleOf } from '../../core/charge-history/words.ts'
import { findCharge } from '../../core/charges/commands.ts'
import {
  amountAt,
  asOf,
  isSettleable,
  isSubscriptionLink,
  receivedOf,
  refundableOf,
} from '../../core/charges/rules.ts'
import { AGREEMENT } from '../../core/recurrences/texts.ts'
import { whatHappened } from '../../core/recurrences/words.ts'
import { fromPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { type Caller, ISO, type Tool, tool } from '../tool.ts'
import { AgentCharge, ChargeId, showToAgent } from './charges.ts'

const words = HISTORY.en

const Text = (description: string) => Type.Optional(Type.String({ description }))

const MomentView = Type.Object({
  at: Type.String(),
  what: Type.String({ description: 'What happened, in our words' }),
  by: Text('Who did it, if that is known'),
  bank: Text('The bank of the payer'),
  endToEndId: Text('The scheme’s id of the payment'),
  status: Text('Of a refund, a payment or a mail'),
  reason: Text('Why, in our words'),
  comment: Text('Written by a person'),
  failure: Text('Written by a bank'),
  ledger: Type.Optional(
    Type.Array(Type.String(), { description: 'Entries of the ledger; needs balance:read' }),
  ),
  events: Type.Optional(
    Type.Array(
      Type.Object({
        type: Type.String(),
        deliveries: Type.Array(Type.Object({ webhookId: Type.String(), status: Type.String() })),
      }),
      { description: 'Events that it made, and their deliveries; needs webhooks:read' },
    ),
  ),
})

type MomentShown = Static<typeof MomentView>

/** A person's name is not shown, because agents work for others too. */
const AUTHORS: Record<Author['kind'], string> = {
  person: 'a person, in the dashboard',
  key: 'a program, with an API key',
  'command-line': 'the operator',
  service: 'the service',
}

function detailsOf({ company }: Caller, { charge }: History, moment: Moment): Partial<MomentShown> {
  const by = 'by' in moment && moment.by ? { by: AUTHORS[moment.by.kind] } : {}
  switch (moment.kind) {
    case 'paid': {
      const bank = payerBankOf(charge, company, words)
      return {
        ...by,
        endToEndId: charge.endToEndId!,
        ...(bank ? { bank } : {}),
        ...(moment.settled === 'by rule' ? { reason: words.byRule } : {}),
      }
    }
    case 'mail':
    case 'unsent':
      return { status: mailText(moment.mail, words) }
    case 'dispute':
      return { status: moment.dispute.status, endToEndId: moment.dispute.endToEndId }
    case 'refund': {
      const { status, bankReason, comment, failure } = moment.refund
      return {
        ...by,
        status: words.refundStates[status],
        ...(bankReason ? { reason: words.bankReasons[bankReason] } : {}),
        ...(comment ? { comment } : {}),
        ...(failure ? { failure } : {}),
      }
    }
    case 'unmatched': {
      const { endToEndId, reason, status } = moment.payment
      return { endToEndId, reason: words.reasons[reason!], status: words.paymentStates[status] }
    }
    default:
      return by
  }
}

function showMoment(caller: Caller, history: History, moment: Moment): MomentShown {
  const entries = moment.entries.map(
    ({ entry, kind, amount, debit, credit }) =>
      `${entry}: ${kind} ${formatReais(amount)}, from ${debit} to ${credit}`,
  )
  const events = moment.events.map(({ id, type }) => ({
    type,
    deliveries: history.deliveries
      .filter(({ eventId }) => eventId === id)
      .map(({ webhookId, status }) => ({ webhookId, status })),
  }))
  return {
    at: moment.at.toISOString(),
    what: titleOf(history.charge, moment, words, (type) => type),
    ...detailsOf(caller, history, moment),
    ...(entries.length > 0 ? { ledger: entries } : {}),
    ...(events.length > 0 ? { events } : {}),
  }
}

/** What an open charge waits for. */
function openWords({ charge, opening, mails, unsent }: History, now: Date): string[] {
  const opened = opening?.openedAt
  return [
    `Not paid yet. It can be paid until ${charge.expiresAt.toISOString()}.`,
    charge.due !== null &&
      `It is due on ${charge.due.terms.dueDate}. Today ${formatReais(amountAt(charge, now))} are to be paid.`,
    isSubscriptionLink(charge) && 'It is a link to a subscription: the payer starts one from it.',
    charge.kind === 'LINK' && charge.brCode === null && 'The payer has not asked for a Pix code.',
    charge.kind !== 'RECURRING' &&
      (opened
        ? `Its payment page was opened at ${opened.toISOString()}.`
        : 'Nobody has opened its payment page.'),
    [...mails, ...unsent].some(({ outcome }) => outcome === 'FAILED') &&
      'A mail to the payer could not be sent.',
  ].filter((sentence) => sentence !== false)
}

function paidWords(history: History): string[] {
  const { charge } = history
  const disputed = disputedOf(history)
  const { refunded, shortfall, paymentDate, paymentStatus, releaseAt } = charge
  return [
    `Paid: ${formatReais(receivedOf(charge))} arrived at ${paymentDate!.toISOString()}.`,
    shortfall > 0 && words.shortBy(formatReais(shortfall)),
    refunded > 0 && `${formatReais(refunded)} went back to the payer, or is on its way.`,
    disputed > 0 && `${formatReais(disputed)} are held, because the payer disputes the payment.`,
    paymentStatus === 'PAID' &&
      releaseAt !== null &&
      disputed < refundableOf(charge) &&
      words.releaseAt(releaseAt.toISOString()),
    paymentStatus === 'RECEIVED' && `${words.released}.`,
  ].filter((sentence) => sentence !== false)
}

/** Why a charge is paid or not, in sentences. */
async function explain({ app, company }: Caller, history: History): Promise<string[]> {
  const { charge, unmatched } = history
  const unpaid = whyUnpaid(history)
  const billing =
    charge.kind === 'RECURRING' ? await findBilling(app.db, company.id, charge.id) : null
  const today = localDateOf(app.clock.now())
  const state =
    charge.status === 'COMPLETED'
      ? paidWords(history)
      : unpaid
        ? [words.unpaid[unpaid]]
        : openWords(history, app.clock.now())
  const arrived = unmatched.map(
    (payment) =>
      `${arrivedText(charge, payment, words)}: ${words.reasons[payment.reason!]} ${words.paymentStates[payment.status]}.`,
  )
  const collected = billing ? [whatHappened(billing, charge, today, AGREEMENT.en, ISO)] : []
  const isTest = charge.devMode && company.mode === 'live'
  const test = isTest ? ['It is a test charge: no real money can pay it.'] : []
  return [...state, ...collected, ...arrived, ...test, ...undelivered(history)]
}

/** Another system may think that a paid charge is not paid, because it was not informed. */
function undelivered({ deliveries }: History): string[] {
  const late = deliveries.filter(({ status }) => status !== 'DELIVERED').length
  if (late === 0) return []
  return [`Deliveries of its events that have not arrived at a webhook: ${late}.`]
}

/** What can be done about it with the tools that this key has. */
function nextSteps({ can, company }: Caller, { charge, unmatched, deliveries }: History): string[] {
  const isOpen = charge.status === 'OPEN'
  const isUnpaid = isOpen || charge.status !== 'COMPLETED'
  const writes = can('payments:write')
  const waits = unmatched.some(({ status }) => status === 'UNMATCHED')
  const isLate = deliveries.some(({ status }) => status !== 'DELIVERED')
  return [
    isOpen && charge.kind !== 'RECURRING' && 'Send the payer the address in `url`.',
    isOpen && writes && company.mode === 'sandbox' && 'sandbox_pay pays it at the simulated bank.',
    !isOpen && isUnpaid && writes && 'It can no longer be paid: create_charge makes a new one.',
    waits && writes && 'accept_unmatched_payment keeps the money that waits for a decision.',
    waits &&
      writes &&
      isSettleable(charge) &&
      'accept_unmatched_payment with chargeId settles the charge with it.',
    waits && writes && 'refund_unmatched_payment returns it to the payer.',
    isLate && 'webhook_health says why a webhook has not taken its events.',
  ].filter((step) => step !== false)
}

const explainTool = tool({
  name: 'explain_charge',
  title: 'Explain a charge',
  description:
    'Says in words why a charge is paid or not, what can be done about it, and everything that happened to it in order: pages opened, codes, mails, payments that did not match, refunds, ledger entries, events and their deliveries.',
  scope: 'payments:read',
  input: Type.Object({ id: ChargeId }),
  output: Type.Object({
    isPaid: Type.Boolean(),
    explanation: Type.String(),
    nextSteps: Type.Array(Type.String()),
    charge: AgentCharge,
    timeline: Type.Array(MomentView, { description: 'The oldest first' }),
  }),
  async run(caller, { id }) {
    const { app, company, can } = caller
    const found = await findCharge(app, company.id, fromPublic('charge', id))
    const charge = asOf(found, app.clock.now())
    const history = await historyOf(app, charge, can)
    const explanation = (await explain(caller, history)).join(' ')
    return {
      text: explanation,
      data: {
        isPaid: charge.status === 'COMPLETED',
        explanation,
        nextSteps: nextSteps(caller, history),
        charge: showToAgent(caller, charge),
        timeline: momentsOf(history).map((moment) => showMoment(caller, history, moment)),
      },
    }
  },
})

export const explainTools: Tool[] = [explainTool]
