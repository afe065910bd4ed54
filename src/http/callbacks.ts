import { BlockList, isIPv6 } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { createCallbackFinder } from '../core/banks/commands.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { receiveCallback } from '../core/payments/callbacks.ts'
import { appsOf } from '../core/places/front.ts'
import { clientName } from '../lib/client-name.ts'
import { type Uuid, unpackPair } from '../lib/ids.ts'
import { type Limits, limitFailures } from '../lib/limits.ts'
import { problem } from '../lib/problems.ts'
import { BODY_LIMIT_BYTES, type Body, readBody } from './body.ts'
import { createRequestSlots, divideLimits, type RequestSlot } from './request-slots.ts'

/** Limits of callbacks. Banks send one for each payment, and send it again if it is refused. */
const AT_ONCE = { running: 256, waiting: 0, inAll: 1024 }

/** Wrong tokens per address. */
const FAILED_TOKENS = { perSecond: 20, burst: 200 }

/** Some banks put a slash at the end. */
const PATHS = ['/:token', '/:token/:kind'].flatMap((path) => [
  `/bank/callbacks${path}`,
  `/bank/callbacks${path}/`,
])

declare module 'fastify' {
  interface FastifyRequest {
    callback: { app: FullApp; companyId: Uuid; slot: RequestSlot } | null
  }
}

/**
 * Receives the callbacks of companies' banks. The URL names the company and cannot be guessed. Some
 * banks add `/pix`, `/rec` or `/cobr` to it. A callback is stored and answered at once. Only what
 * the bank confirms counts, so that nobody can change anything by knowing the URL.
 */
export function registerCallbacks(server: FastifyInstance, app: FullFront): void {
  const callerOf = finder(app)
  const enter = createRequestSlots(divideLimits(AT_ONCE, app.config.processes))
  const admit = (companyId: Uuid, reply: FastifyReply) =>
    new Promise<RequestSlot>((resolve) => enter(companyId, reply.raw, resolve))
  server.decorateRequest('callback', null)
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // Some banks send JSON with another content type, or with none.
    const options = { parseAs: 'buffer' as const, bodyLimit: BODY_LIMIT_BYTES }
    scope.addContentTypeParser<Buffer>('*', options, async (_request: unknown, raw: Buffer) =>
      readBody(plainBody(raw)),
    )
    for (const url of PATHS) {
      scope.route({
        method: ['GET', 'POST'],
        url,
        onRequest: async (request, reply) => {
          const caller = await callerOf(request)
          request.callback = { ...caller, slot: await admit(caller.companyId, reply) }
        },
        handler: async (request, reply) => {
          await take(request)
          return reply.status(200).send({ status: 'ok' })
        },
      })
    }
  })
}

/** Finds the company of a callback before the body is read. Many wrong tokens are refused. */
function finder(app: FullFront): (request: FastifyRequest) => Promise<Caller> {
  const { rateLimit } = app.config
  const isVerified = verifier(app.config)
  const findCaller = callerFinder(app)
  const { rate } = app.limits
  const attempt =
    rateLimit && limitFailures(rate('failed tokens', FAILED_TOKENS.perSecond, FAILED_TOKENS.burst))
  const byCompany = rateLimit && limitCalls(app.limits, rateLimit)
  return async (request) => {
    const { token } = request.params as { token: string }
    const find = () => findCaller(token)
    const caller = attempt
      ? await attempt(clientName(request.ip), requireNoWait, find)
      : await find()
    if (!caller) throw problem('route_not_found', 'No bank calls back here.')
    if (!isVerified(request)) {
      throw problem('client_certificate_required', 'The bank’s client certificate is missing.')
    }
    requireNoWait(await byCompany?.take(caller.companyId))
    return caller
  }
}

/** The company of a callback, and the app of its place. */
type Caller = { app: FullApp; companyId: Uuid }

function callerFinder(app: FullFront): (token: string) => Promise<Caller | null> {
  const finders = new Map(appsOf(app).map((one) => [one, createCallbackFinder(one.db.of(''))]))
  return async (token) => {
    const [only] = finders.size === 1 ? [app] : []
    const named = unpackPair(token)
    const placed = only ?? (named && (await app.places.find(named.companyId)))
    const find = only ? [...finders.values()][0] : placed && finders.get(placed)
    const companyId = find && (await find(token))
    return placed && companyId ? { app: { ...placed, db: placed.db.of('') }, companyId } : null
  }
}

/** A charge causes more callbacks than requests, and a bank repeats callbacks. */
const CALLBACKS_PER_REQUEST = 5

const limitCalls = ({ rate }: Limits, { perSecond, burst }: { perSecond: number; burst: number }) =>
  rate('callbacks', CALLBACKS_PER_REQUEST * perSecond, CALLBACKS_PER_REQUEST * burst)

const GZIP = Buffer.from([0x1f, 0x8b])
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const beginsWith = (raw: Buffer, start: Buffer) => raw.subarray(0, start.length).equals(start)

/** Removes compression and byte order mark. No JSON begins with the bytes of either. */
function plainBody(raw: Buffer): Buffer {
  const text = beginsWith(raw, GZIP) ? unpacked(raw) : raw
  return beginsWith(text, BYTE_ORDER_MARK) ? text.subarray(BYTE_ORDER_MARK.length) : text
}

function unpacked(raw: Buffer): Buffer {
  try {
    return gunzipSync(raw, { maxOutputLength: BODY_LIMIT_BYTES })
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw isTooLarge
      ? problem('payload_too_large')
      : problem('invalid_json', 'The body cannot be unpacked.')
  }
}

function requireNoWait(wait_s = 0): void {
  if (wait_s === 0) return
  throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
}

async function take(request: FastifyRequest): Promise<void> {
  const { app, companyId, slot } = request.callback!
  // Before a bank registers a URL, it may call it without a callback to see whether it answers.
  const report = (request.body as Body | undefined)?.value
  if (request.method !== 'POST' || !report) return
  await slot.during(() => receive(app, companyId, report))
}

async function receive(app: FullApp, companyId: Uuid, report: unknown): Promise<void> {
  const { processed } = await receiveCallback(app, companyId, app.providers.bacen.name, report)
  processed.catch(() => {})
}

/** Checks that a trusted proxy has verified the bank's certificate, if that is configured. */
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
