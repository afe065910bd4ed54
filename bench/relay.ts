import { once } from 'node:events'
import Fastify from 'fastify'
import type { Connection } from '../src/provider/bacen/connection.ts'
import { openPuts } from './puts.ts'

/** Fastify and bare undici: orders each charge at the bank and passes its answer on. */
const [connection] = (await once(process, 'message')) as [Connection]
const { put } = await openPuts(connection)
const server = Fastify()
server.post('/charge/pix', async (_request, reply) =>
  reply
    .code(201)
    .type('application/json; charset=utf-8')
    .send(await put()),
)
await server.listen({ host: '127.0.0.1', port: 0 })
process.send!((server.server.address() as { port: number }).port)
process.on('SIGTERM', () => process.exit(0))
