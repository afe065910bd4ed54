import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

/** A request as it arrived. */
export type Received = { headers: IncomingHttpHeaders; body: string; at_ms: number }

export type Receiver = {
  url: string
  received: Received[]
  /** How requests are answered from now on; with 200 at first. */
  answer: (response: ServerResponse, request: Received) => void
  close(): Promise<void>
}

/** A real HTTP server on loopback that keeps what it gets. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const got = { headers: request.headers, body, at_ms: performance.now() }
      receiver.received.push(got)
      receiver.answer(response, got)
    })
  })
  server.listen(0, '127.0.0.1')
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
  after(() => receiver.close())
  return receiver
}
