import { connect as openSocket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '../../../packages/client/src/index.ts'
import { headersOf, signerOf } from '../../core/deliveries/signing.ts'
import { createSender, type PostResult } from '../../lib/http-sender.ts'
import { fromPublic, newId, packPair } from '../../lib/ids.ts'
import { ClientFault } from '../command.ts'

/** A request that was forwarded, and how it was answered. */
export type Forwarded = Omit<PostResult, 'body'> & {
  url: string
  headers: Record<string, string>
  /** The beginning of the body of the answer. */
  response: string
}

export type Forwarder = {
  /** The address for events of this type. Null if they are only shown. */
  urlOf(type: string): string | null
  /** Sends an event as a webhook gets it. */
  send(event: Event, url: string, signal: AbortSignal): Promise<Forwarded>
  close(): Promise<void>
}

type ForwarderOptions = {
  forwardTo: string | null
  /** Addresses of their own for types. */
  routes: Map<string, string>
  secret: string
  /** Whether all money of the company is play money. */
  isSandbox: boolean
}

/** Sends what receivers of webhooks get: the same body, headers and signatures. */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { forwardTo, routes, secret, isSandbox } = options
  const sender = createSender({ guarded: false })
  const signers = [signerOf(secret)]
  /** In place of the id of a webhook. */
  const listenerId = newId()
  return {
    urlOf: (type) => routes.get(type) ?? forwardTo,
    async send(event, url, signal) {
      const eventId = fromPublic('evt', event.id)
      if (eventId === null) throw new ClientFault(`The server sent an event without an id.`)
      const body = JSON.stringify(event.data)
      const now = new Date()
      const headers = headersOf({
        eventId,
        deliveryId: packPair(listenerId, eventId),
        type: event.type,
        mode: isSandbox ? 'sandbox' : event.devMode ? 'dev' : 'live',
        body,
        signers,
        now,
        // A company whose clock is ahead writes events of the future.
        ownNow: new Date(Math.max(now.getTime(), Date.parse(event.createdAt))),
      })
      const { body: response, ...posted } = await sender.post(url, headers, body, signal)
      return { ...posted, url, headers, response }
    },
    close: sender.close,
  }
}

/** Nobody listens at the address. */
const AWAY = new Set([
  'connection refused',
  'connection failed',
  'host not reachable',
  'no connection in time',
])
/** Somebody took the request, and ended it without an answer. */
const CLOSED = new Set(['connection closed', 'connection reset'])
/** So often an event is sent to somebody who does that. */
const MAX_CLOSED = 3

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2_000

/** The last answer, and how often the event was sent to somebody who listened. */
type Sent = { forwarded: Forwarded; attempt: number }

/**
 * Sends an event until there is somebody who answers, because an application that ends and is
 * started again must miss none. Any answer is good enough, and so is none within the time limit:
 * what failed can be sent again. If the connection is closed without an answer, the application may
 * have ended, or this event makes it fail; so it gets the event again, and then the next one.
 */
export async function sendUntilAnswered(
  { send }: Forwarder,
  event: Event,
  url: string,
  signal: AbortSignal,
  onAway: (error: string) => void,
): Promise<Sent> {
  let attempt = 0
  for (let wait_ms = FIRST_PAUSE_MS; ; wait_ms = Math.min(2 * wait_ms, LONGEST_PAUSE_MS)) {
    const forwarded = await send(event, url, signal)
    const fault = forwarded.status === null ? (forwarded.error ?? '') : ''
    const isAway = AWAY.has(fault)
    if (!isAway) attempt += 1
    if (!isAway && (!CLOSED.has(fault) || attempt >= MAX_CLOSED)) return { forwarded, attempt }
    if (wait_ms === FIRST_PAUSE_MS) onAway(fault)
    await pause(wait_ms, undefined, { signal })
  }
}

const CONNECT_MS = 5_000

/** Throws if nobody listens at an address: it is probably mistyped. */
export async function requireListening(address: string): Promise<void> {
  const { hostname, port, protocol, origin } = new URL(address)
  const socket = openSocket({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  socket.setTimeout(CONNECT_MS, () => resolve(false))
  const isListening = await promise
  socket.destroy()
  if (isListening) return
  throw new ClientFault(
    `Nobody listens at ${origin}: start your application first, or check --forward-to.`,
  )
}
