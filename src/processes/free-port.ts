import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Throws if nobody could listen there. Processes that share a port do not notice when another
 * server has it, but a socket that does not share it does.
 */
export async function requireFreePort(place: { host: string; port: number }): Promise<void> {
  const server = createServer().listen(place)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
