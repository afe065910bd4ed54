import Type, { type Static } from 'typebox'
import { browse } from '../../core/deliveries/log-store.ts'
import type { Delivery } from '../../core/deliveries/rules.ts'
import { DeliveryView, deliveryIdOf, Replay, Replayed } from '../../core/deliveries/view.ts'
import { WebhookView } from '../../core/webhooks/view.ts'
import { isUuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import {
  type Caller,
  count,
  Id,
  momentsOf,
  onceOf,
  PERIOD,
  pick,
  type Tool,
  tool,
  writing,
} from '../tool.ts'

type Webhook = Static<typeof WebhookView>

const HEALTH = ['id', 'name', 'url', 'status', 'events'] as const
const TROUBLE = ['deactivated', 'failingSince', 'pausedUntil'] as const
/** How many deliveries of each kind are shown. */
const DELIVERIES_SHOWN = 10

const LateDelivery = Type.Object({
  ...pick(DeliveryView.properties, ['id', 'webhookId', 'status', 'createdAt']),
  event: Type.String(),
  attempts: Type.Integer(),
  nextAttemptAt: DeliveryView.properties.nextAttemptAt,
  lastAttempt: Type.Optional(
    Type.Object({
      at: Type.String(),
      status: Type.Optional(Type.Integer({ description: 'The status that the receiver answered' })),
      error: Type.Optional(Type.String()),
      response: Type.String({ description: 'Written by the receiver' }),
    }),
  ),
})

const WebhookId = Id('The id of the webhook, as webhook_health shows it')

/** How a webhook is, in a sentence of ours. */
function explain({ status, deactivated, failingSince, pausedUntil }: Webhook): string {
  if (deactivated === 'GONE')
    return 'Inactive: it answered 410, so we stopped. Make it ACTIVE once it works.'
  if (deactivated === 'FAILING')
    return 'Inactive: it failed for five days. Make it ACTIVE once it works.'
  if (status === 'INACTIVE') return 'Inactive: it gets nothing until somebody makes it ACTIVE.'
  if (pausedUntil) return `Failing since ${failingSince}. It is tried again at ${pausedUntil}.`
  if (failingSince) return `Failing since ${failingSince}. Deliveries are tried again.`
  return 'Working.'
}

function showLate(delivery: Delivery): Static<typeof LateDelivery> {
  const { webhookId, type: event, status, attempts, createdAt, nextAttemptAt } = delivery
  const last = attempts.at(-1)
  return {
    id: deliveryIdOf(delivery),
    webhookId,
    event,
    status,
    createdAt: createdAt.toISOString(),
    attempts: attempts.length,
    ...(nextAttemptAt ? { nextAttemptAt: nextAttemptAt.toISOString() } : {}),
    ...(last
      ? {
          lastAttempt: {
            at: last.at,
            ...(last.status === null ? {} : { status: last.status }),
            ...(last.error === null ? {} : { error: last.error }),
            response: last.response,
          },
        }
      : {}),
  }
}

const ALWAYS = { firstId: null, beforeId: null, from: null, to: null }

async function lateOf({ app, company }: Caller, webhookId: string | null) {
  const read = async (status: 'FAILED' | 'PENDING') => {
    const filter = { status, webhookId, limit: DELIVERIES_SHOWN, after: null, type: null }
    const { deliveries } = await browse(app.db, company.id, { ...filter, period: ALWAYS })
    return deliveries
  }
  const [failed, pending] = await Promise.all([read('FAILED'), read('PENDING')])
  return [...failed, ...pending].map(showLate)
}

const healthTool = tool({
  name: 'webhook_health',
  title: 'Check webhooks',
  description:
    'How each webhook is, and the latest deliveries that failed or wait for their next try, with what the receiver answered. replay_webhook sends them again.',
  scope: 'webhooks:read',
  input: Type.Object({ id: Type.Optional(WebhookId) }),
  output: Type.Object({
    webhooks: Type.Array(
      Type.Object({
        ...pick(WebhookView.properties, [...HEALTH, ...TROUBLE]),
        explanation: Type.String(),
      }),
    ),
    lateDeliveries: Type.Array(LateDelivery, { description: 'At most 10 of each status' }),
  }),
  async run(caller, { id }) {
    if (id !== undefined && !isUuid(id)) throw problem('webhook_not_found')
    const webhooks =
      id === undefined
        ? (await caller.operate<Webhook[]>('listWebhooks')).data
        : [(await caller.operate<Webhook>('getWebhook', { params: { id } })).data]
    const late = await lateOf(caller, id ?? null)
    const isTroubled = ({ status, failingSince }: Webhook) => status !== 'ACTIVE' || failingSince
    const troubled = webhooks.filter(isTroubled).length
    return {
      text: `${count(webhooks.length, 'webhook')}, ${troubled} of them not working.`,
      data: {
        webhooks: webhooks.map((webhook) => ({
          ...pick(webhook, [...HEALTH, ...TROUBLE]),
          explanation: explain(webhook),
        })),
        lateDeliveries: late,
      },
    }
  },
})

const replayTool = tool({
  name: 'replay_webhook',
  title: 'Send deliveries again',
  description:
    'Sends deliveries of a webhook again, by default those that did not arrive. Receivers get the same webhook-id as before.',
  scope: 'webhooks:write',
  input: writing({ id: WebhookId, ...PERIOD, status: Replay.properties.status }),
  output: Replayed,
  async run({ operate }, { id, from, to, ...args }) {
    const asked = { params: { id }, ...onceOf({ ...args, ...momentsOf({ from, to }) }) }
    const { data } = await operate<Static<typeof Replayed>>('replayDeliveries', asked)
    return { text: `Deliveries that are due again: ${data.replayed}.`, data }
  },
})

export const webhookTools: Tool[] = [healthTool, replayTool]
