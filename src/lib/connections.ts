import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { assert } from './assert.ts'
import { refusal } from './lookup.ts'
import { createRecent } from './memo.ts'

/** Where connections lead to, as a parsed URL gives it. */
export type Origin = { origin: string; hostname: string; port: number; secure: boolean }

/** A connection to a server that is not ours. */
export type Connection = {
  origin: string
  socket: Socket
  isOpen: boolean
  /** What is to be written once it is open. */
  request: string
  /** Whose exchange it carries; null while it is idle. */
  user: User | null
  idleUntil_ms: number
}

export type User = {
  /** What has come, a character a byte. */
  onText(text: string): void
  /** The connection has ended, by an error or without one. */
  onEnd(error: Error | null): void
}

/**
 * Connections to servers that are not ours. Each carries one exchange at a time, so that one which
 * must be broken off takes nothing else with it.
 */
export type Connections = {
  /** Sends a request over one that has been used before, if there is one. */
  send(to: Origin, request: string, user: User): Connection
  /** Takes one back whose last answer has been read to its end, and that the server keeps open. */
  keep(connection: Connection, lasts_ms: number): void
  drop(connection: Connection): void
  /** Waits for those in use. */
  close(): Promise<void>
}

export type ConnectionOptions = { lookup: LookupFunction; connect_ms: number; idle_ms: number }

/** Node gives up an address after a quarter of a second, in which another continent is not met. */
const ADDRESS_MS = 2_000
/** Most answers are shorter. */
const BUFFER_BYTES = 4096
const SESSIONS = 1024
/** A server that says when it will close is not called in the last second before. */
const MARGIN_MS = 1_000

export function createConnections(options: ConnectionOptions): Connections {
  const { idle_ms } = options
  const connect = connectorOf(options)
  const all = new Set<Connection>()
  const idle = createShelf(idle_ms, drop)
  let onClosed: (() => void) | null = null

  function open(to: Origin, request: string, user: User): Connection {
    const { origin } = to
    const fresh = { origin, socket: null, isOpen: false, request, user, idleUntil_ms: 0 }
    const connection = fresh as unknown as Connection
    all.add(connection)
    connection.socket = connect(to, connection, (error) => {
      if (connection.user) connection.user.onEnd(error)
      // Idle, nobody would notice it any more.
      else drop(connection)
    })
    return connection
  }

  function drop(connection: Connection): void {
    if (!all.delete(connection)) return
    if (!connection.user) idle.remove(connection)
    connection.user = null
    connection.socket.destroy()
    if (all.size === 0) onClosed?.()
  }

  return {
    send(to, request, user) {
      assert(!onClosed, 'nothing is sent once the connections are closed')
      const connection = idle.take(to.origin)
      if (!connection) return open(to, request, user)
      connection.user = user
      connection.socket.write(request)
      return connection
    },
    keep(connection, lasts_ms) {
      const rest_ms = Math.min(idle_ms, lasts_ms - MARGIN_MS)
      if (rest_ms <= 0 || onClosed) return drop(connection)
      connection.user = null
      connection.idleUntil_ms = performance.now() + rest_ms
      idle.put(connection)
    },
    drop,
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>()
      onClosed = resolve
      idle.clear()
      if (all.size > 0) await promise
    },
  }
}

const isOver = ({ idleUntil_ms }: Connection): boolean => idleUntil_ms <= performance.now()

/** Connections between two uses, by where they lead to. Those whose time is over are dropped. */
function createShelf(idle_ms: number, drop: (connection: Connection) => void) {
  const shelf = new Map<string, Connection[]>()
  let sweeping: NodeJS.Timeout | undefined
  const dropWhere = (isToGo: (connection: Connection) => boolean) => {
    for (const connection of [...shelf.values()].flat().filter(isToGo)) drop(connection)
  }
  function sweep(): void {
    sweeping = undefined
    dropWhere(isOver)
    if (shelf.size > 0) sweeping = setTimeout(sweep, idle_ms / 2)
  }
  function remove(connection: Connection): void {
    const { origin } = connection
    const rest = shelf.get(origin)?.filter((other) => other !== connection) ?? []
    if (rest.length > 0) shelf.set(origin, rest)
    else shelf.delete(origin)
  }
  return {
    remove,
    put(connection: Connection): void {
      const others = shelf.get(connection.origin)
      if (others) others.push(connection)
      else shelf.set(connection.origin, [connection])
      sweeping ??= setTimeout(sweep, idle_ms / 2)
    },
    /** The one that was used last: those that are too many fall silent and are closed. */
    take(origin: string): Connection | null {
      const connection = shelf.get(origin)?.pop()
      if (!connection) return null
      if (!isOver(connection)) return connection
      drop(connection)
      return null
    },
    clear(): void {
      clearTimeout(sweeping)
      dropWhere(() => true)
    },
  }
}

type Ended = (error: Error | null) => void

/** Opens sockets that tell their connection what it must know. */
function connectorOf({ lookup, connect_ms }: ConnectionOptions) {
  const sessions = createRecent<Buffer>(SESSIONS)
  const families = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: ADDRESS_MS }

  return (to: Origin, connection: Connection, ended: Ended): Socket => {
    const { origin, port, secure } = to
    const host = to.hostname.replace(/^\[(.*)\]$/, '$1')
    const onread = readerOf(connection, ended)
    const options = { host, port, lookup, noDelay: true, onread, ...families }
    const socket = secure
      ? connectSecure({ ...options, ...trustOf(host, sessions.get(origin)) })
      : connectPlain(options)
    const late = () => socket.destroy(refusal('no connection in time'))
    const timer = setTimeout(late, connect_ms)
    // A certificate is judged before anything is written.
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      opened(connection)
    })
    // A session that is taken up again is not judged again, so it must have been judged before.
    socket.on('session', (session: Buffer) => {
      if (connection.isOpen) sessions.set(origin, session)
    })
    socket.on('error', ended)
    socket.on('end', () => ended(null))
    socket.on('close', () => {
      clearTimeout(timer)
      ended(null)
    })
    return socket
  }
}

const trustOf = (host: string, session: Buffer | undefined) => ({
  rejectUnauthorized: true,
  ALPNProtocols: ['http/1.1'],
  ...(isIP(host) ? {} : { servername: host }),
  ...(session ? { session } : {}),
})

function opened(connection: Connection): void {
  connection.isOpen = true
  connection.socket.write(connection.request)
  connection.request = ''
}

/** Reads into one buffer that stays with the connection: a new one for each read costs more. */
const readerOf = (connection: Connection, ended: Ended) => ({
  buffer: Buffer.allocUnsafe(BUFFER_BYTES),
  callback(size: number, buffer: Uint8Array): boolean {
    // Nobody has asked for anything: whatever this is would be taken for the next answer.
    if (!connection.user) ended(null)
    else connection.user.onText((buffer as Buffer).toString('latin1', 0, size))
    return true
  },
})
