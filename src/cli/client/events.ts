import type { AnyEventType, Delivery, Event } from '../../../packages/client/src/index.ts'
import { ANY_EVENT_TYPES } from '../../core/events.ts'
import { ClientFault, type Command } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import { deliveryTable } from './deliveries.ts'
import { given, limitOption, pageOf, readLimit, take } from './input.ts'
import { cell, factsOf, localTime, plainLines, tableOf } from './output.ts'

const EVENT = 'evt_01k4d5cjd4fv8sgzq9bqyr0vzj'
const WEBHOOK = '019a8c5e-2f62-7a40-9f3e-7c1d5e2b8a91'

const list: Command = {
  name: 'events list',
  summary: 'List events, newest first.',
  example: 'vintem events list --type charge.paid',
  operands: [],
  options: {
    ...connectionOptions,
    type: {
      value: 'TYPE',
      choices: ANY_EVENT_TYPES,
      help: 'only of this type, such as charge.paid',
    },
    ...limitOption('events'),
  },
  async run(args) {
    const limit = readLimit(args)
    const type = args.options.type as AnyEventType | undefined
    const query = given({ type, order: 'newest' as const, limit: pageOf(limit) })
    const events = await take(connect(args).events.list(query), limit)
    const rows = events.map((event) => [
      event.id,
      event.type,
      localTime(event.createdAt),
      subjectOf(event),
    ])
    return {
      json: events,
      text: tableOf(['EVENT ID', 'TYPE', 'CREATED', 'ABOUT'], rows, 'No events.'),
    }
  },
}

/** The id of what an event is about. Its body has one object beside its name. */
export function subjectOf({ data }: Pick<Event, 'data'>): string {
  const [about] = Object.values(data).filter((value) => typeof value === 'object')
  const { id, endToEndId } = (about ?? {}) as { id?: unknown; endToEndId?: unknown }
  return cell(String(id ?? endToEndId ?? ''))
}

const show: Command = {
  name: 'events show',
  summary: 'Show an event, the body that receivers get, and its deliveries.',
  example: `vintem events show ${EVENT}`,
  operands: ['event-id'],
  options: connectionOptions,
  async run(args) {
    const vintem = connect(args)
    const id = args.operands[0]!
    const [event, deliveries] = await Promise.all([
      vintem.events.get(id),
      vintem.events.deliveries(id),
    ])
    const facts = factsOf([
      ['Event', event.id],
      ['Type', event.type],
      ['Created', localTime(event.createdAt)],
      ['Play money', event.devMode ? 'yes' : 'no'],
    ])
    const body = plainLines(JSON.stringify(event.data, null, 2))
    const sent = deliveryTable(deliveries, 'No webhook was to get it.')
    return { json: { ...event, deliveries }, text: `${facts}\n${body}\n\n${sent}` }
  },
}

const resend: Command = {
  name: 'events resend',
  summary: 'Send an event again to the webhooks that were to get it, now.',
  example: `vintem events resend ${EVENT} --webhook ${WEBHOOK}`,
  operands: ['event-id'],
  options: {
    ...connectionOptions,
    webhook: { value: 'WEBHOOK_ID', help: 'only to this webhook (default to all)' },
  },
  async run(args) {
    const vintem = connect(args)
    const { webhook } = args.options
    const found = await vintem.events.deliveries(args.operands[0]!)
    const wanted = found.filter(({ webhookId }) => webhook === undefined || webhookId === webhook)
    if (wanted.length === 0)
      throw new ClientFault('No webhook was to get this event, or its deliveries are not kept.')
    const sent: Delivery[] = []
    for (const { id } of wanted) sent.push(await vintem.deliveries.redeliver(id))
    return { json: sent, text: deliveryTable(sent, '') }
  },
}

export const eventCommands = [list, show, resend]
