import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FullFront } from '../core/full-app.ts'
import type { Agents } from './agent-message.ts'
import type { KeyRing } from './auth.ts'

/** The parts that the server is built from. */
export type ServerParts = {
  app: FullFront
  keys: KeyRing
  /** Faults stop all work of a process. Warnings name work that is not done. */
  isReady(): Promise<{ faults: string[]; warnings: string[] }>
  /** Aborts when this process takes no more connections. */
  closing: AbortSignal
  agents: () => Promise<Agents>
  /** The pages for people, which need no key. */
  pages: {
    register(server: FastifyInstance): void
    missing(request: FastifyRequest, reply: FastifyReply): void
    withHeader(page: string): string
  }
}
