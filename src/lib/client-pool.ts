import type { LookupFunction, Socket } from 'node:net'
import { buildConnector, Client } from 'undici'
import { assert } from './assert.ts'
import { refusal } from './lookup.ts'

/**
 * HTTP clients by origin. Each is one connection and has one request at a time, so that ending a
 * request early ends no other. undici's own pool would connect again after each aborted request.
 */
export type ClientPool = {
  /** An idle client if there is one. A new one connects with its first request. */
  take(origin: string): Client
  /** Takes back a client whose last response was read to its end. */
  release(origin: string, client: Client): void
  /** Closes a client and whatever it is doing. */
  discard(origin: string, client: Client): void
  /** Waits for the requests in progress. */
  close(): Promise<void>
}

type ClientOptions = {
  lookup: LookupFunction
  connect_ms: number
  idle_ms: number
  maxHead: number
  /** All bytes of a response, also those that the parser skips. */
  maxReceived: number
}

/** The default of Node, 250 ms, is too short to connect to another continent. */
const ADDRESS_MS = 2_000
/** If a server says when it closes an idle connection, do not use it in its last second. */
const IDLE_MARGIN_MS = 1_000

export function createClientPool(options: ClientOptions): ClientPool {
  const connect = connectorOf(options)
  const all = new Set<Client>()
  const idle = new Map<string, Client[]>()
  let isClosed = false

  function open(origin: string): Client {
    const client = new Client(origin, {
      connect,
      keepAliveTimeout: options.idle_ms,
      keepAliveMaxTimeout: options.idle_ms,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
      maxHeaderSize: options.maxHead,
      // The sender has one deadline for the whole exchange instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    all.add(client)
    // If a client in use disconnects, its request fails and discards it.
    client.on('disconnect', () => {
      if (idle.get(origin)?.includes(client)) discard(origin, client)
    })
    return client
  }

  function discard(origin: string, client: Client): void {
    all.delete(client)
    const others = idle.get(origin)?.filter((other) => other !== client) ?? []
    if (others.length > 0) idle.set(origin, others)
    else idle.delete(origin)
    client.destroy()
  }

  return {
    take(origin) {
      assert(!isClosed, 'nothing is sent once the sender is closed')
      // The one that was used last, so that the others stay idle until they are closed.
      return idle.get(origin)?.pop() ?? open(origin)
    },
    release(origin, client) {
      const clients = idle.get(origin)
      if (clients) clients.push(client)
      else idle.set(origin, [client])
    },
    discard,
    async close() {
      isClosed = true
      await Promise.all([...all].map((client) => client.close()))
    },
  }
}

/** Connects to the addresses that `lookup` gives, without a proxy, and verifies certificates. */
function connectorOf(options: ClientOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: options.lookup,
    timeout: options.connect_ms,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS,
    rejectUnauthorized: true,
    allowH2: false,
  })
  return (target, callback) => {
    connect(target, (...result) => {
      callback(...result)
      if (result[1]) limitReceived(result[1], options.maxReceived)
    })
  }
}

/** Destroys a socket if a response has too many bytes, also if they are no part of its body. */
function limitReceived(socket: Socket, max: number): void {
  let written = 0
  let before = 0
  let received = 0
  socket.on('readable', () => {
    // If something was written since the last read, this is the next response.
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten
      before = received
    }
    received = socket.bytesRead
    if (received - before > max) socket.destroy(refusal('answer too long'))
  })
}
