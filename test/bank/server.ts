import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Trust } from './certificates.ts'
import type { Style } from './style.ts'

/** A connection that was opened, with the requests that it brought. */
export type Connected = {
  protocol: 'http/1.1' | 'h2'
  tls: string | null
  /** Whether a TLS session was resumed, which costs far less than a new one. */
  isResumed: boolean
}

export type BankServer = {
  url: string
  connections: Connected[]
  /** Closes all connections, as a bank does that is restarted. */
  closeConnections(): void
  /** Closes all connections, and the next ones before they can be used. */
  refuseConnections(times: number): void
  close(): Promise<void>
}

/** Longer than clients keep an idle connection. */
const IDLE_ms = 75_000

/** OpenSSL does not speak TLS 1.1 with its usual ones. */
export const OLD_CIPHERS = 'DEFAULT@SECLEVEL=0'

type Serve = (request: IncomingMessage, reply: ServerResponse) => Promise<void>

/** Mutual TLS, with HTTP/2 if the bank's style has it. */
export async function openServer(trusted: Trust, style: () => Style, serve: Serve) {
  const sockets = new Set<TLSSocket>()
  const connections: Connected[] = []
  const server = createSecureServer({
    key: trusted.server.key,
    cert: trusted.server.certificate,
    ca: trusted.ca,
    requestCert: true,
    allowHTTP1: true,
    ALPNCallback: ({ protocols }) =>
      style().http2 && protocols.includes('h2') ? 'h2' : 'http/1.1',
    ...(style().tls === null ? {} : { maxVersion: style().tls!, minVersion: 'TLSv1.1' }),
    ...(style().tls === 'TLSv1.1' ? { ciphers: OLD_CIPHERS } : {}),
  })
  Object.assign(server, { keepAliveTimeout: IDLE_ms })
  server.on('request', (request, reply) => {
    // The requests of both protocols have the same form as far as the bank uses it.
    void serve(request as unknown as IncomingMessage, reply as unknown as ServerResponse)
  })
  server.on('secureConnection', (socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
    const protocol = socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1'
    connections.push({ protocol, tls: socket.getProtocol(), isResumed: socket.isSessionReused() })
  })
  let refusals = 0
  server.on('connection', (socket) => {
    if (refusals === 0) return
    refusals -= 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const closeConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  const bankServer: BankServer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    closeConnections,
    refuseConnections(times) {
      refusals = times
      closeConnections()
    },
    async close() {
      closeConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return bankServer
}
