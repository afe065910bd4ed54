import { setTimeout as pause } from 'node:timers/promises'
import type {
  Delivery,
  DeliveryStatus,
  EventType,
  Replay,
  Vintem,
  Webhook,
} from '../../../packages/client/src/index.ts'
import { DELIVERY_STATES } from '../../core/deliveries/rules.ts'
import { EVENT_TYPES } from '../../core/events.ts'
import { type Args, ClientFault, type Command, UsageFault } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import { deliveryTable, outcomeOf } from './deliveries.ts'
import { given, limitOption, pageOf, readLimit, readList, take } from './input.ts'
import { cell, factsOf, localTime, tableOf } from './output.ts'

const WEBHOOK = '019a8c5e-2f62-7a40-9f3e-7c1d5e2b8a91'
const DELIVERY = 'AZqMXi9ieKCfPnwdXiuKkQGajF4vY3ihn0B2TmR0aGc'

const list: Command = {
  name: 'webhooks list',
  summary: 'List webhooks, newest first.',
  example: 'vintem webhooks list',
  operands: [],
  options: { ...connectionOptions, ...limitOption('webhooks') },
  async run(args) {
    const limit = readLimit(args)
    const webhooks = await take(connect(args).webhooks.list({ limit: pageOf(limit) }), limit)
    const rows = webhooks.map((webhook) => [
      webhook.id,
      stateOf(webhook),
      cell(webhook.url),
      cell(webhook.events.join(',')),
      cell(webhook.name),
    ])
    const heading = ['WEBHOOK ID', 'STATUS', 'ENDPOINT', 'EVENTS', 'NAME']
    return { json: webhooks, text: tableOf(heading, rows, 'No webhooks.') }
  },
}

/** Its status, and why it gets nothing if we have stopped or paused it. */
function stateOf({ status, deactivated, pausedUntil, failingSince }: Webhook): string {
  if (deactivated) return `${status} (${deactivated})`
  if (pausedUntil) return `${status} (paused until ${localTime(pausedUntil)})`
  return failingSince ? `${status} (failing)` : status
}

const describe = (webhook: Webhook & { secret?: string }): string =>
  factsOf([
    ['Webhook', webhook.id],
    ['Name', webhook.name],
    ['Endpoint', webhook.url],
    ['Events', webhook.events.join(', ')],
    ['Status', stateOf(webhook)],
    ['Failing since', webhook.failingSince && localTime(webhook.failingSince)],
    ['Created', localTime(webhook.createdAt)],
    ['Secret', webhook.secret],
  ])

const SHOWN_ONCE = '\nThe secret signs the deliveries. It is shown this once.\n'

const show: Command = {
  name: 'webhooks show',
  summary: 'Show a webhook.',
  example: `vintem webhooks show ${WEBHOOK}`,
  operands: ['webhook-id'],
  options: connectionOptions,
  async run(args) {
    const webhook = await connect(args).webhooks.get(args.operands[0]!)
    return { json: webhook, text: describe(webhook) }
  },
}

const ENDPOINT = { value: 'URL', help: 'the address of yours that gets the events' } as const
const NAME = { value: 'NAME', help: 'what it is for (default the host of the endpoint)' } as const
const EVENTS = { value: 'LIST', help: 'comma-separated, or all; see vintem help trigger' } as const

/** The types that were typed. The server would say only which entry of the list is wrong. */
function readEvents(text: string): EventType[] {
  if (text === 'all') return EVENT_TYPES
  const named = readList(text)
  const unknown = named.find((name) => !EVENT_TYPES.includes(name as EventType))
  if (unknown === undefined) return named as EventType[]
  throw new ClientFault(
    `--events: there is no event ${unknown}. There are ${EVENT_TYPES.join(', ')}.`,
  )
}

const create: Command = {
  name: 'webhooks create',
  summary: 'Register a webhook, and show its secret this once.',
  example: 'vintem webhooks create --endpoint https://loja.example/pix --events charge.paid',
  operands: [],
  options: {
    ...connectionOptions,
    endpoint: { ...ENDPOINT, required: true },
    events: { ...EVENTS, required: true },
    name: NAME,
  },
  async run(args) {
    const { endpoint = '', events = '', name } = args.options
    const url = readEndpoint(endpoint)
    const body = { url: endpoint, name: name ?? url.host, events: readEvents(events) }
    const webhook = await connect(args).webhooks.create(body)
    return { json: webhook, text: `${describe(webhook)}${SHOWN_ONCE}` }
  },
}

function readEndpoint(text: string): URL {
  if (URL.canParse(text)) return new URL(text)
  throw new ClientFault('--endpoint: must be an address such as https://loja.example/pix.')
}

const update: Command = {
  name: 'webhooks update',
  summary: 'Change a webhook; what is not named stays.',
  example: `vintem webhooks update ${WEBHOOK} --events charge.paid,charge.refunded --status ACTIVE`,
  operands: ['webhook-id'],
  options: {
    ...connectionOptions,
    endpoint: ENDPOINT,
    events: EVENTS,
    name: NAME,
    status: {
      value: 'STATUS',
      choices: ['ACTIVE', 'INACTIVE'],
      help: 'ACTIVE or INACTIVE, which gets nothing',
    },
  },
  async run(args) {
    const { endpoint, events, name, status } = args.options
    const change = given({
      url: endpoint && readEndpoint(endpoint) && endpoint,
      events: events === undefined ? undefined : readEvents(events),
      name,
      status: status as Webhook['status'] | undefined,
    })
    if (Object.keys(change).length === 0)
      throw new UsageFault('Nothing to change: give --endpoint, --events, --name or --status.')
    const webhook = await connect(args).webhooks.update(args.operands[0]!, change)
    return { json: webhook, text: describe(webhook) }
  },
}

const remove: Command = {
  name: 'webhooks delete',
  summary: 'Delete a webhook and its deliveries.',
  example: `vintem webhooks delete ${WEBHOOK}`,
  operands: ['webhook-id'],
  options: connectionOptions,
  async run(args) {
    const deleted = await connect(args).webhooks.delete(args.operands[0]!)
    return { json: deleted, text: `The webhook ${deleted.id} is deleted.\n` }
  },
}

const rotate: Command = {
  name: 'webhooks rotate',
  summary: 'Give a webhook a new secret; for 24 hours the former one signs too.',
  example: `vintem webhooks rotate ${WEBHOOK}`,
  operands: ['webhook-id'],
  options: connectionOptions,
  async run(args) {
    const webhook = await connect(args).webhooks.rotateSecret(args.operands[0]!)
    return { json: webhook, text: `${describe(webhook)}${SHOWN_ONCE}` }
  },
}

const test: Command = {
  name: 'webhooks test',
  summary: 'Send a test event to a webhook, and show what it answers.',
  example: `vintem webhooks test ${WEBHOOK}`,
  operands: ['webhook-id'],
  options: connectionOptions,
  async run(args) {
    const vintem = connect(args)
    const delivery = await untilTried(vintem, await vintem.webhooks.test(args.operands[0]!))
    const isDelivered = delivery.status === 'DELIVERED'
    const text =
      delivery.attempts.length === 0
        ? 'The test event waits to be sent: vintem webhooks deliveries shows the result.\n'
        : `The test event is ${isDelivered ? 'delivered' : 'not delivered'}: ${outcomeOf(delivery)}.\n`
    return { json: delivery, text, failed: delivery.attempts.length > 0 && !isDelivered }
  },
}

const [ASK_EVERY_MS, MAX_ASKED] = [250, 60]

/** Waits until the receiver was asked once, for as long as a receiver may take. */
async function untilTried(vintem: Vintem, sent: Delivery): Promise<Delivery> {
  for (let asked = 0; asked < MAX_ASKED; asked += 1) {
    const deliveries = await vintem.events.deliveries(sent.eventId)
    const found = deliveries.find(({ id }) => id === sent.id)
    if (found && found.attempts.length > 0) return found
    await pause(ASK_EVERY_MS)
  }
  return sent
}

const deliveries: Command = {
  name: 'webhooks deliveries',
  summary: 'List the deliveries to a webhook, newest event first.',
  example: `vintem webhooks deliveries ${WEBHOOK} --status FAILED`,
  operands: ['webhook-id'],
  options: {
    ...connectionOptions,
    status: { value: 'STATUS', choices: DELIVERY_STATES, help: DELIVERY_STATES.join(', ') },
    ...limitOption('deliveries'),
  },
  async run(args) {
    const limit = readLimit(args)
    const status = args.options.status as DeliveryStatus | undefined
    const query = given({ status, limit: pageOf(limit) })
    const found = await take(connect(args).deliveries.list(args.operands[0]!, query), limit)
    return { json: found, text: deliveryTable(found, 'No deliveries.') }
  },
}

const redeliver: Command = {
  name: 'webhooks redeliver',
  summary: 'Send a delivery again, now.',
  example: `vintem webhooks redeliver ${DELIVERY}`,
  operands: ['delivery-id'],
  options: connectionOptions,
  async run(args) {
    const delivery = await connect(args).deliveries.redeliver(args.operands[0]!)
    return { json: delivery, text: deliveryTable([delivery], '') }
  },
}

const REPLAYED = ['FAILED', 'DELIVERED', 'ALL'] as const

const replay: Command = {
  name: 'webhooks replay',
  summary: 'Send the deliveries of a period again, by default those that did not arrive.',
  example: `vintem webhooks replay ${WEBHOOK} --from 2026-08-16T00:00:00Z --status ALL`,
  operands: ['webhook-id'],
  options: {
    ...connectionOptions,
    from: { value: 'TIME', help: 'of events from this moment on (default all)' },
    to: { value: 'TIME', help: 'of events before this moment' },
    status: { value: 'STATUS', choices: REPLAYED, help: 'FAILED (default), DELIVERED or ALL' },
  },
  async run(args) {
    const body = replayOf(args)
    const { replayed } = await connect(args).deliveries.replay(args.operands[0]!, body)
    return { json: { replayed }, text: `${replayed} deliveries are sent again now.\n` }
  },
}

const replayOf = ({ options: { from, to, status } }: Args): Replay =>
  given({ from, to, status: status as Replay['status'] })

export const webhookCommands = [
  list,
  show,
  create,
  update,
  remove,
  rotate,
  test,
  deliveries,
  redeliver,
  replay,
]
