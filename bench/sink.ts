import { createServer } from 'node:http'

/** A receiver that only takes what it is sent, in a process of its own. */
const server = createServer((request, response) => {
  request.on('data', () => {})
  request.on('end', () => response.writeHead(200, { 'content-length': '0' }).end())
})
server.keepAliveTimeout = 60_000
server.listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
