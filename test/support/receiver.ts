import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

/** A request as it arrived. */
export type Received = { path: string; headers: IncomingHttpHeaders; body: string; at_ms: number }

export type Answer = (response: ServerResponse, request: Received) => void

export type Receiver = {
  url: string
  received: Received[]
  /** How requests are answered from now on; with 200 at first. */
  answer: Answer
  close(): Promise<void>
}

/** A real HTTP server on loopback that keeps what it gets. */
export async function openReceiver(ownPort = 0): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const { url: path = '', headers } = request
      const got = { path, headers, body, at_ms: performance.now() }
      receiver.received.push(got)
      receiver.answer(response, got)
    })
  })
  server.listen(ownPort, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received: [],
    answer: (response) => response.writeHead(200).end(),
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return receiver
}

/** A receiver for as long as the tests of a file take. */
export async function startReceiver(): Promise<Receiver> {
  const receiver = await openReceiver()
  after(() => receiver.close())
  return receiver
}

const FLOOD = 10 * 1024 * 1024

/** Ways in which receivers misbehave. */
export const HOSTILE = {
  hang: () => {},
  drip(response) {
    response.writeHead(200)
    dripOn(response, () => response.write('.'))
  },
  /** Its head never ends. */
  dripHead({ socket }) {
    socket!.write('HTTP/1.1 200 OK\r\nx-drip: ')
    dripOn(socket!, () => socket!.write('.'))
  },
  reset: ({ socket }) => socket!.resetAndDestroy(),
  redirect: (response, { path }) => response.writeHead(307, { location: path }).end(),
  flood(response) {
    response.writeHead(200)
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let sent = 0
    const pour = () => {
      while (sent < FLOOD && !response.destroyed) {
        sent += chunk.length
        if (!response.write(chunk)) return response.once('drain', pour)
      }
      return response.end()
    }
    pour()
  },
  error: (response) => response.writeHead(500).end('out of order'),
} satisfies Record<string, Answer>

export type Hostility = keyof typeof HOSTILE

const DRIP_MS = 100

/** A byte now and then, for as long as the other side listens. */
function dripOn(stream: NodeJS.EventEmitter, drip: () => unknown): void {
  const dripping = setInterval(drip, DRIP_MS)
  stream.once('close', () => clearInterval(dripping))
}
