import type { FastifyReply, FastifyRequest } from 'fastify'
import { spending } from './loop-shares.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/**
 * Holds the slot of a request until its work ends, even if the client closes the connection. The
 * time before the first wait, which includes validation, counts for the company, and slices too.
 */
export function holdSlot(handle: Handler): Handler {
  return async (request, reply) => {
    const { spender, begin, end } = request.ticket!
    begin()
    try {
      const start_ms = performance.now()
      const handling = spending.run(spender, handle, request, reply)
      spender.spend(performance.now() - start_ms)
      return await handling
    } finally {
      end()
    }
  }
}
