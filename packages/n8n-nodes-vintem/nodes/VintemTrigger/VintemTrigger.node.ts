import { randomInt } from 'node:crypto'
import {
  type IExecuteFunctions,
  type IHookFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type ITriggerFunctions,
  type ITriggerResponse,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
  NodeOperationError,
} from 'n8n-workflow'
import { ask, orNull, type VintemEvent, type Webhook } from './api'
import events from './events.json'
import { FeedReader, newestEvent, readFeed } from './feed'
import { addFollower, removeFollower, wakeFollower } from './followers'
import { isGenuine } from './signature'

const MAX_WAIT_S = 30

type Registered = { id: string; secret: string }
/** What is kept between runs: the last event, and the webhooks of the workflow and of its tests. */
type Kept = { cursor?: string; live?: Registered; test?: Registered }

type Place = IHookFunctions | IWebhookFunctions
const keptIn = (place: Place | ITriggerFunctions) => place.getWorkflowStaticData('node') as Kept
/** A test has a webhook of its own, so that it leaves that of the workflow alone. */
const slotOf = (place: Place) => (place.getMode() === 'manual' ? 'test' : 'live')
const hasWebhook = (place: Place | ITriggerFunctions) =>
  place.getNodeParameter('receive') === 'webhook'
const eventsOf = (place: Place | ITriggerFunctions) => place.getNodeParameter('events') as string[]

const isSame = (a: string[], b: string[]) => [...a].sort().join() === [...b].sort().join()

export class VintemTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Vintém Trigger',
    name: 'vintemTrigger',
    icon: { light: 'file:../../icons/vintem.svg', dark: 'file:../../icons/vintem.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: 'Starts a workflow once for each event of Vintém, such as a paid charge',
    defaults: { name: 'Vintém Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'vintemApi', required: true }],
    webhooks: [
      { name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' },
    ],
    properties: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        required: true,
        options: events,
        default: ['charge.paid'],
        description: 'Which events start the workflow',
      },
      {
        displayName: 'Receive By',
        name: 'receive',
        type: 'options',
        options: [
          {
            name: 'Feed Only',
            value: 'feed',
            description: 'If Vintém cannot reach this n8n: it asks and waits for events',
          },
          {
            name: 'Webhook and Feed',
            value: 'webhook',
            description: 'Vintém tells this n8n, which also reads the feed every minute',
          },
        ],
        default: 'webhook',
        description: 'How this n8n learns of events. Either way none is lost while it is down.',
      },
    ],
  }

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const slot = slotOf(this)
        const own = keptIn(this)[slot]
        if (!hasWebhook(this)) return own === undefined && slot === 'live'
        if (own === undefined) return false
        const found = await ask<Webhook>(this, { path: `/webhook/${own.id}` }).catch(orNull(404))
        if (found === null) return false
        const isActive = found.status === 'ACTIVE'
        const isHere = found.url === this.getNodeWebhookUrl('default')
        return isActive && isHere && isSame(found.events, eventsOf(this))
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const slot = slotOf(this)
        await removeWebhook(this)
        if (!hasWebhook(this)) {
          if (slot === 'live') return true
          const message = 'Vintém sends no test events to "Feed Only"'
          const description = 'Activate the workflow, or read events by the Vintém node.'
          throw new NodeOperationError(this.getNode(), message, { description })
        }
        const { id, secret } = await ask<Webhook>(this, {
          method: 'POST',
          path: '/webhook',
          body: {
            name: `n8n: ${this.getWorkflow().name ?? this.getWorkflow().id}`.slice(0, 255),
            url: this.getNodeWebhookUrl('default'),
            events: eventsOf(this),
          },
        })
        keptIn(this)[slot] = { id, secret }
        return true
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        await removeWebhook(this)
        return true
      },
    },
  }

  /** Follows the feed: at the start, each minute, and when the webhook says that there is news. */
  async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
    const kept = keptIn(this)
    // Of another company if the credentials have changed.
    const isKnown =
      kept.cursor !== undefined && (await readFeed(this, kept.cursor, { limit: 1 })) !== null
    if (!isKnown) kept.cursor = await newestEvent(this)
    const types = new Set(eventsOf(this))
    const wait = hasWebhook(this) ? 0 : MAX_WAIT_S
    const reader = new FeedReader(this, kept, types, wait)
    const read = () => void reader.read()
    addFollower(this, read)
    const second = randomInt(MAX_WAIT_S)
    const seconds = wait > 0 ? `${second},${second + MAX_WAIT_S}` : `${second}`
    this.helpers.registerCron({ expression: `${seconds} * * * * *` as never }, read)
    read()
    return {
      closeFunction: async () => {
        removeFollower(this, read)
        reader.stop()
      },
    }
  }

  /** Answers at once. What has happened is asked of the API, in the order of the feed. */
  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const own = keptIn(this)[slotOf(this)]
    const { rawBody } = this.getRequestObject()
    if (own === undefined || !isGenuine(this.getHeaderData(), rawBody, own.secret)) {
      this.getResponseObject().status(401).json({ message: 'The signature does not fit.' })
      return { noWebhookResponse: true }
    }
    if (this.getMode() !== 'manual') {
      wakeFollower(this)
      return { webhookResponse: { message: 'Received' } }
    }
    const id = encodeURIComponent(String(this.getHeaderData()['webhook-id']))
    const event = await ask<VintemEvent>(this, { path: `/event/${id}` })
    return { workflowData: [[{ json: event }]] }
  }

  /** Passes on what a webhook or the feed has brought. */
  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    return [this.getInputData()]
  }
}

async function removeWebhook(place: IHookFunctions): Promise<void> {
  const kept = keptIn(place)
  const own = kept[slotOf(place)]
  if (own === undefined) return
  await ask(place, { method: 'DELETE', path: `/webhook/${own.id}` }).catch(orNull(404))
  delete kept[slotOf(place)]
}
