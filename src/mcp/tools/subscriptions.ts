import Type, { type Static } from 'typebox'
import { listOfRecurrence, listOpen } from '../../core/billings/store.ts'
import { checkoutUrl } from '../../core/charges/addresses.ts'
import { CHARGE_STATUSES, asOf as chargeAsOf } from '../../core/charges/rules.ts'
import { findMany } from '../../core/charges/store.ts'
import { findRecurrence } from '../../core/recurrences/commands.ts'
import { asOf, type Recurrence, upcomingDebits } from '../../core/recurrences/rules.ts'
import { search } from '../../core/recurrences/store.ts'
import { AGREEMENT } from '../../core/recurrences/texts.ts'
import { RecurrenceView } from '../../core/recurrences/view.ts'
import { subscriptionWord, whatHappened } from '../../core/recurrences/words.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import { localDateOf } from '../../pix/local-time.ts'
import {
  type Caller,
  count,
  Id,
  ISO,
  Next,
  omit,
  PAGE,
  PAGE_SIZE,
  pick,
  type Tool,
  tool,
  WITH_CODES,
  writing,
} from '../tool.ts'

const CHARGES_SHOWN = 20
const NEXT_SHOWN = 3

/** What a list shows only if it is asked for. */
const CODES = ['paymentLinkUrl', 'emv'] as const

const ListedSubscription = Type.Object({
  ...pick(RecurrenceView.properties, ['id', 'status', 'recurrenceAuthStatus', 'productName']),
  customerName: RecurrenceView.properties.customerName,
  value: Type.Integer({ description: 'Cents of each charge' }),
  ...pick(RecurrenceView.properties, ['frequency', 'createdAt']),
  isTemplate: Type.Boolean({ description: 'A link through which payers subscribe by themselves' }),
  paymentLinkUrl: Type.Optional(RecurrenceView.properties.paymentLinkUrl),
  emv: Type.Optional(RecurrenceView.properties.emv),
})
const AgentSubscription = Type.Object({
  ...ListedSubscription.properties,
  ...pick(RecurrenceView.properties, CODES),
})

function showToAgent({ app }: Caller, recurrence: Recurrence): Static<typeof AgentSubscription> {
  const { payer, productName, value, frequency, brCode, isTemplate } = recurrence
  return {
    id: toPublic('rec', recurrence.id),
    status: recurrence.status,
    recurrenceAuthStatus: recurrence.authStatus,
    productName,
    customerName: payer?.name ?? null,
    value,
    frequency,
    createdAt: recurrence.createdAt.toISOString(),
    paymentLinkUrl: checkoutUrl(app, recurrence),
    emv: brCode,
    isTemplate,
  }
}

export const SubscriptionId = Id('The id of the subscription, rec_…')

const listTool = tool({
  name: 'list_subscriptions',
  title: 'List subscriptions',
  description: 'Subscriptions by Pix Automático and the links to them, newest first.',
  scope: 'payments:read',
  input: Type.Object({
    status: Type.Optional({
      ...RecurrenceView.properties.recurrenceAuthStatus,
      description: 'The `recurrenceAuthStatus` of an answer: what became of the agreement',
    }),
    isTemplate: Type.Optional(
      Type.Boolean({ description: 'Only links through which payers subscribe, or none of them' }),
    ),
    ...WITH_CODES,
    ...PAGE,
  }),
  output: Type.Object({ subscriptions: Type.Array(ListedSubscription), next: Next }),
  async run(caller, { withCodes, limit = PAGE_SIZE, after, ...filters }) {
    const { status: authStatus = null, isTemplate = null } = filters
    const { app, company } = caller
    const from = after === undefined ? null : fromPublic('rec', after)
    if (after !== undefined && from === null) throw invalid('after: must be the `next` of a page')
    const now = app.clock.now()
    const filter = { authStatus, isTemplate, customerId: null }
    const part = { limit: limit + 1, after: from }
    const found = await search(app.db, company.id, filter, part, now)
    const show = (one: Recurrence) => showToAgent(caller, asOf(one, now))
    const full = found.slice(0, limit).map(show)
    const shown = withCodes ? full : full.map((one) => omit(one, CODES))
    const next = found.length > limit ? shown.at(-1)!.id : null
    return { text: `${count(shown.length, 'subscription')}.`, data: { subscriptions: shown, next } }
  },
})

const explainTool = tool({
  name: 'explain_subscription',
  title: 'Explain a subscription',
  description:
    'Says in words how a subscription is, what became of its latest charges, and when the bank debits next.',
  scope: 'payments:read',
  input: Type.Object({ id: SubscriptionId }),
  output: Type.Object({
    explanation: Type.String(),
    subscription: AgentSubscription,
    upcoming: Type.Array(Type.Object({ number: Type.Integer(), day: Type.String() }), {
      description: 'The next debits, on days in São Paulo',
    }),
    charges: Type.Array(
      Type.Object({
        id: Type.String(),
        number: Type.Integer(),
        dueOn: Type.String(),
        status: Type.Enum(CHARGE_STATUSES),
        total: Type.Integer({ description: 'Cents' }),
        what: Type.String({ description: 'What has become of it, in our words' }),
      }),
      { description: 'Newest first, at most 20' },
    ),
  }),
  async run(caller, { id }) {
    const { app, company } = caller
    const found = await findRecurrence(app, company.id, fromPublic('rec', id))
    const recurrence = asOf(found, app.clock.now())
    const charges = await chargesOf(caller, recurrence)
    const upcoming = await upcomingOf(caller, recurrence)
    const explanation = explain(recurrence, charges, upcoming)
    const subscription = showToAgent(caller, recurrence)
    return { text: explanation, data: { explanation, subscription, upcoming, charges } }
  },
})

function explain(
  recurrence: Recurrence,
  [latest]: Awaited<ReturnType<typeof chargesOf>>,
  [next]: Awaited<ReturnType<typeof upcomingOf>>,
): string {
  const { explained, reasons } = AGREEMENT.en
  const { endReason, decidedAt, authStatus } = recurrence
  const each = `${formatReais(recurrence.value)}, ${recurrence.frequency}.`
  return [
    explained[subscriptionWord(recurrence)],
    each,
    decidedAt !== null && `${authStatus} at ${decidedAt.toISOString()}.`,
    endReason !== null && `${reasons[endReason]}.`,
    latest && `Latest charge, number ${latest.number}: ${latest.what}`,
    next && `The next debit is on ${next.day}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

async function chargesOf({ app, company }: Caller, { id }: Recurrence) {
  const now = app.clock.now()
  const page = { limit: CHARGES_SHOWN, before: null }
  const billings = await listOfRecurrence(app.db, company.id, id, page)
  const ids = billings.map(({ chargeId }) => ({ companyId: company.id, id: chargeId }))
  const read = await findMany(app.db, ids)
  return billings.map((billing, i) => {
    const charge = chargeAsOf(read[i]!, now)
    return {
      id: toPublic('charge', charge.id),
      number: billing.cycle + 1,
      dueOn: billing.dueOn,
      status: charge.status,
      total: charge.amount,
      what: whatHappened(billing, charge, localDateOf(now), AGREEMENT.en, ISO),
    }
  })
}

async function upcomingOf({ app, company }: Caller, recurrence: Recurrence) {
  if (recurrence.isTemplate || recurrence.authStatus !== 'APPROVED') return []
  const open = await listOpen(app.db, company.id, recurrence.id)
  const today = localDateOf(app.clock.now())
  const debits = upcomingDebits(recurrence, { agreement: recurrence, open }, today, NEXT_SHOWN)
  return debits.map(({ number, on }) => ({ number, day: on }))
}

const cancelTool = tool({
  name: 'cancel_subscription',
  title: 'End a subscription',
  description:
    'Nothing more is charged, and what the bank has not collected yet is canceled. It cannot be undone: ask the person first.',
  scope: 'payments:write',
  isDestructive: true,
  input: writing({ id: SubscriptionId }),
  output: Type.Object(pick(RecurrenceView.properties, ['id', 'status', 'recurrenceAuthStatus'])),
  async run({ operate }, { id, idempotencyKey: once }) {
    const asked = { params: { id }, once }
    const { data } = await operate<Static<typeof RecurrenceView>>('cancelRecurrence', asked)
    const shown = pick(data, ['id', 'status', 'recurrenceAuthStatus'])
    return { text: `Subscription ${data.id} is ${data.status}.`, data: shown }
  },
})

export const subscriptionTools: Tool[] = [listTool, explainTool, cancelTool]
