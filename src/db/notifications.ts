import type pg from 'pg'
import { createClient } from './servers.ts'

const RECONNECT_MS = 500
const CONNECT_MS = 30_000

/** A connection that receives what transactions notify. It is opened again whenever it is lost. */
export type Notifications = {
  /** Calls `receive` for each notification, and with null when some may have been missed. */
  on(channel: string, receive: (payload: string | null) => void): void
  /** Notifies others by the same connection, after what was asked before. */
  notify(channel: string, payload: string): void
  /** Whether every notification of now is received. */
  alive(): boolean
  close(): Promise<void>
}

/** The connection has this name at the server, by which others count who receives. */
export function openNotifications(
  url: string,
  name: string,
  channels: string[],
  onLost: (error: Error) => void,
): Notifications {
  const receivers = new Map<string, ((payload: string | null) => void)[]>()
  let client: pg.Client | null = null
  let alive = false
  let closed = false
  /** One after the other: a connection does one thing at a time. */
  let notifying = Promise.resolve()

  function mayHaveMissed(): void {
    for (const receive of [...receivers.values()].flat()) receive(null)
  }

  function lost(error?: Error): void {
    if (error && !closed) onLost(error)
    alive = false
    client = null
    mayHaveMissed()
    if (!closed) setTimeout(connect, RECONNECT_MS).unref()
  }

  async function connect(): Promise<void> {
    if (closed || client) return
    const own = createClient(url, { application_name: name, connectionTimeoutMillis: CONNECT_MS })
    client = own
    own.on('notification', ({ channel, payload = '' }) => {
      for (const receive of receivers.get(channel) ?? []) receive(payload)
    })
    own.on('end', () => {
      if (client === own) lost()
    })
    try {
      await own.connect()
      for (const channel of channels) await own.query(`listen ${channel}`)
      alive = true
      mayHaveMissed()
    } catch (error) {
      own.end().catch(() => {})
      if (client === own) lost(error as Error)
    }
  }

  connect()
  return {
    on(channel, receive) {
      receivers.set(channel, [...(receivers.get(channel) ?? []), receive])
    },
    notify(channel, payload) {
      const own = client
      const send = () => own?.query('select pg_notify($1, $2)', [channel, payload])
      notifying = notifying.then(send).then(
        () => {},
        () => {},
      )
    },
    alive: () => alive,
    async close() {
      closed = true
      await client?.end().catch(() => {})
    },
  }
}
