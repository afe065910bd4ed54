import { createServer } from 'node:http'

/** How many requests have arrived since the last reset, and when the first and the last of them. */
export type Arrived = { count: number; first_ms: number; last_ms: number }

let arrived: Arrived = { count: 0, first_ms: 0, last_ms: 0 }

/** A receiver that only takes and counts what it is sent, in a process of its own. */
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(arrived))
    if (request.url?.endsWith('?reset')) arrived = { count: 0, first_ms: 0, last_ms: 0 }
    return
  }
  arrived.last_ms = performance.now()
  arrived.first_ms ||= arrived.last_ms
  arrived.count += 1
  request.on('data', () => {})
  request.on('end', () => response.writeHead(200, { 'content-length': '0' }).end())
})
server.keepAliveTimeout = 60_000
server.listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
