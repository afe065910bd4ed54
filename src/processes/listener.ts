import type { SendHandle } from 'node:child_process'
import type { Server } from 'node:net'

/**
 * The socket on which a process listens. Connections that nobody has accepted yet belong to it, so
 * they are lost when the last process that has it closes it, and not before.
 */
export type Listener = SendHandle & { close(): void; listen(backlog: number): number }

/**
 * Linux divides connections among processes that listen on the same port. Elsewhere the parent
 * accepts them all, and a connection on its way to a process that is killed is never answered.
 */
export const CAN_SHARE_PORT = process.platform === 'linux'

/**
 * The socket of a server, for the process that takes its place. Null where the parent accepts, and
 * for "localhost", which may be two addresses. A server that were sent itself would also be opened
 * by the parent, which would accept connections and answer none.
 */
export function listenerOf(server: Server, host: string): Listener | null {
  if (!CAN_SHARE_PORT || host === 'localhost' || !server.listening) return null
  return (server as unknown as { _handle: Listener | null })._handle
}
