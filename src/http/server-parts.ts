import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FullApp } from '../core/full-app.ts'
import type { KeyRing } from './auth.ts'
import type { DatabaseWatch } from './unresponsive-database.ts'

/** What the server is built with. */
export type ServerParts = {
  app: FullApp
  keys: KeyRing
  /** What keeps the server from doing its work, and what it does not do, in sentences. */
  isReady(): Promise<{ faults: string[]; warnings: string[] }>
  state: { closing: boolean }
  database: DatabaseWatch
  /** What people see, who come with a browser and without a key. */
  pages: {
    register(server: FastifyInstance): void
    missing(request: FastifyRequest, reply: FastifyReply): void
  }
}
