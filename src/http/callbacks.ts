import { BlockList, isIPv6 } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import type { App } from '../core/app.ts'
import { findCalledBack } from '../core/banks/commands.ts'
import { receiveCallback } from '../core/payments/callbacks.ts'
import { problem } from '../lib/problems.ts'
import { type Body, readBody } from './body.ts'

/** A bank may tell of many payments at once. */
const LIMIT_BYTES = 1024 * 1024

/**
 * What companies' banks tell us. The address names the company and cannot be guessed; banks add
 * `/pix`, `/rec` or `/cobr` to it, or do not. What is told is stored and answered at once; only what
 * the bank confirms when asked counts, so that nobody moves anything by knowing the address.
 */
export function registerCallbacks(server: FastifyInstance, app: App): void {
  const isVerified = verifier(app.config)
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // Some banks send JSON under another name, or under none.
    const options = { parseAs: 'buffer' as const, bodyLimit: LIMIT_BYTES }
    scope.addContentTypeParser<Buffer>('*', options, async (_request: unknown, raw: Buffer) =>
      readBody(raw),
    )
    for (const url of ['/bank/callbacks/:token', '/bank/callbacks/:token/:kind']) {
      scope.route({
        method: ['GET', 'POST'],
        url,
        handler: async (request, reply) => {
          await take(app, request, isVerified(request))
          return reply.status(200).send({ status: 'ok' })
        },
      })
    }
  })
}

async function take(app: App, request: FastifyRequest, isVerified: boolean): Promise<void> {
  const { token } = request.params as { token: string }
  const companyId = await findCalledBack(app.db, token)
  if (!companyId) throw problem('route_not_found', 'No bank calls back here.')
  if (!isVerified) {
    throw problem('client_certificate_required', 'The bank’s client certificate is missing.')
  }
  // Whoever only looks whether somebody is here, as banks do before they register an address.
  const told = (request.body as Body | undefined)?.value
  if (request.method === 'POST' && told) await receive(app, companyId, told)
}

async function receive(app: App, companyId: string, told: unknown): Promise<void> {
  const { settled } = await receiveCallback(app, companyId, app.providers.bacen.name, told)
  settled.catch(() => {})
}

/** Whether a request came through a proxy that has seen the bank's certificate, if one is to. */
function verifier({
  callbackClient,
  trustedProxies,
}: Config): (request: FastifyRequest) => boolean {
  if (!callbackClient) return () => true
  const { header, value } = callbackClient
  const proxies = new BlockList()
  for (const proxy of trustedProxies) {
    const [address, bits] = proxy.split('/') as [string, string?]
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits) proxies.addSubnet(address, Number(bits), family)
    else proxies.addAddress(address, family)
  }
  return ({ socket, headers }) => {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')
    const isProxy = proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
    return isProxy && headers[header] === value
  }
}
