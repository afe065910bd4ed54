import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { takeTurn } from '../lib/turns.ts'
import type { Admit } from './admission.ts'
import type { Body } from './body.ts'
import { addressOf } from './call.ts'
import type { ServerParts } from './server-parts.ts'
import { requireNone } from './violations.ts'

const PATH = '/mcp'

/**
 * Registers the address of agents. It takes the keys of the API, with the same limits. It keeps no
 * sessions and opens no streams: each request is one message, and its answer is JSON.
 */
export function registerAgents(
  server: FastifyInstance,
  { agents }: ServerParts,
  admit: Admit,
): void {
  server.route({
    method: 'POST',
    url: PATH,
    onRequest: [
      async (request, reply) => {
        // A browser sends the site that a script belongs to. Other clients send no Origin.
        const fault = (await agents()).faultOfOrigin(request.headers.origin)
        if (fault !== null) await reply.status(403).send(refusal(fault))
      },
      (request, reply, done) => {
        request.agentCall = { operation: 'mcp', status: null }
        admit(request, reply, null, done)
      },
    ],
    onSend: async (_request, reply) => {
      if (reply.statusCode === 401) reply.header('WWW-Authenticate', 'Bearer')
    },
    handler: (request, reply) => request.slot!.during(() => answer(agents, request, reply)),
  })
  server.route({
    method: ['GET', 'DELETE'],
    url: PATH,
    exposeHeadRoute: false,
    handler: (_request, reply) =>
      reply.status(405).header('Allow', 'POST').send(refusal(NOT_ALLOWED)),
  })
}

/** As the protocol wants it of a server without streams and sessions. */
const NOT_ALLOWED = 'Method not allowed. Send messages by POST.'
const refusal = (message: string) => ({
  jsonrpc: '2.0',
  error: { code: -32000, message },
  id: null,
})

async function answer(
  agents: ServerParts['agents'],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { value, faults } = (request.body as Body | undefined) ?? { value: {}, faults: [] }
  requireNone(faults)
  const session = request.session!
  // The protocol alone takes some milliseconds.
  await takeTurn(session.company.id)
  const author = { ...session.author, address: addressOf(request) }
  const headers = headersOf(request)
  const requestId = request.id
  const sent = await (await agents()).answer({
    requestId,
    session,
    author,
    message: value,
    headers,
  })
  request.agentCall = { operation: sent.operation, status: sent.refusal?.status ?? null }
  request.errorCode = sent.refusal?.code ?? null
  reply.status(sent.status)
  if (sent.body === null) return reply.send()
  return reply.type('application/json; charset=utf-8').send(sent.body)
}

/** What the protocol says in headers. The key is not among them. */
function headersOf({ headers }: FastifyRequest): Record<string, string> {
  const own = Object.entries(headers).filter(
    (header): header is [string, string] =>
      header[0].startsWith('mcp-') && typeof header[1] === 'string',
  )
  return Object.fromEntries(own)
}
