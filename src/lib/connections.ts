import type { LookupFunction, Socket } from 'node:net'
import { buildConnector, Client } from 'undici'
import { assert } from './assert.ts'
import { refusal } from './lookup.ts'

/**
 * Connections to servers that are not ours. Each carries one exchange at a time, so that one which
 * must be broken off takes nothing else with it.
 */
export type Connections = {
  /** One that has been used before, if there is one. It connects with its first request. */
  take(origin: string): Client
  /** Takes one back whose last answer has been read to its end. */
  keep(origin: string, client: Client): void
  drop(origin: string, client: Client): void
  /** Waits for those in use. */
  close(): Promise<void>
}

export type ConnectionOptions = {
  lookup: LookupFunction
  connect_ms: number
  idle_ms: number
  mostHead: number
}

/** Node gives up an address after a quarter of a second, in which another continent is not met. */
const ADDRESS_MS = 2_000
/** All bytes of an answer: head and body, and what a parser swallows without a word. */
const MOST_RECEIVED = 128 * 1024

export function createConnections(options: ConnectionOptions): Connections {
  const { idle_ms } = options
  const connect = connectorOf(options)
  const all = new Set<Client>()
  const idle = new Map<string, Client[]>()
  let isClosed = false

  function open(origin: string): Client {
    const client = new Client(origin, {
      connect,
      keepAliveTimeout: idle_ms,
      keepAliveMaxTimeout: idle_ms,
      maxHeaderSize: options.mostHead,
      // The whole exchange has a deadline, which a silent socket cannot outlast.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    all.add(client)
    // In use, it connects again or its exchange fails; idle, nobody would notice it any more.
    client.on('disconnect', () => {
      if (idle.get(origin)?.includes(client)) drop(origin, client)
    })
    return client
  }

  function drop(origin: string, client: Client): void {
    all.delete(client)
    const rest = idle.get(origin)?.filter((other) => other !== client) ?? []
    if (rest.length > 0) idle.set(origin, rest)
    else idle.delete(origin)
    client.destroy()
  }

  return {
    take(origin) {
      assert(!isClosed, 'nothing is sent once the connections are closed')
      // The one that was used last: those that are too many fall silent and are closed.
      return idle.get(origin)?.pop() ?? open(origin)
    },
    keep(origin, client) {
      const clients = idle.get(origin)
      if (clients) clients.push(client)
      else idle.set(origin, [client])
    },
    drop,
    async close() {
      isClosed = true
      await Promise.all([...all].map((client) => client.close()))
    },
  }
}

function connectorOf({ lookup, connect_ms }: ConnectionOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup,
    timeout: connect_ms,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS,
    rejectUnauthorized: true,
    allowH2: false,
  })
  return (target, callback) => {
    connect(target, (...result) => {
      callback(...result)
      if (result[1]) limitReading(result[1])
    })
  }
}

/** Bounds an answer in bytes, those too that never become a part of its body. */
function limitReading(socket: Socket): void {
  let written = 0
  let before = 0
  let received = 0
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) {
      // The next request has been written, and its answer begins.
      written = socket.bytesWritten
      before = received
    }
    received = socket.bytesRead
    if (received - before > MOST_RECEIVED) socket.destroy(refusal('answer too long'))
  })
}
