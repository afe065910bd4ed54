import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { readPageToken } from '../core/charges/addresses.ts'
import type { FullFront } from '../core/full-app.ts'
import { placeOf } from '../core/places/front.ts'
import { subscribeThrough } from '../core/recurrences/commands.ts'
import { NewSubscription, SubscriptionView } from '../core/recurrences/view.ts'
import { decideAgreement } from '../core/simulated-bank/agreements.ts'
import { readAgreementLocation, readChargeLocation } from '../core/simulated-bank/locations.ts'
import { payCode } from '../core/simulated-bank/payments.ts'
import {
  BankAuthorization,
  BankDecision,
  BankPayment,
  BankReceipt,
} from '../core/simulated-bank/view.ts'
import { clientName } from '../lib/client-name.ts'
import { type FairQueue, inSlot } from '../lib/fair-queue.ts'
import { unpackPair } from '../lib/ids.ts'
import type { RateLimit } from '../lib/limits.ts'
import { problem } from '../lib/problems.ts'
import { IGNORED_FIELDS, inputReader } from './input.ts'
import { serializerOf } from './serializer.ts'

/** How many orders run at the same time, and how long an order waits. */
const ORDERS_AT_ONCE = 2
const ORDER_WAIT_MS = 10_000

/** Orders per address. They need no key. */
const ORDERS = { perSecond: 50, burst: 500 }

/** What a payer can order: a payment or a decision at their bank, or a subscription by a link. */
type Order = {
  path: string
  body: TSchema
  data: TSchema
  status: number
  message: string
  act(app: FullFront, order: never, params: never): Promise<unknown>
}

export const TAKEN: Order[] = [
  {
    path: '/bank/pix',
    body: BankPayment,
    data: BankReceipt,
    status: 201,
    message: 'Payment sent.',
    act: payCode,
  },
  {
    path: '/bank/authorizations',
    body: BankDecision,
    data: BankAuthorization,
    status: 200,
    message: 'Decision taken.',
    act: decideAgreement,
  },
  {
    path: '/pay/:token/subscription',
    body: NewSubscription,
    data: SubscriptionView,
    status: 201,
    message: 'Subscription started.',
    act: subscribe,
  },
]

/**
 * Registers what payers post without an API key: orders to the simulated bank, and subscriptions.
 * The simulated bank accepts only its own codes, so no real money is moved.
 */
export function registerPayers(server: FastifyInstance, app: FullFront): void {
  const { rate, queue } = app.limits
  const limit = app.config.rateLimit && rate('payers', ORDERS.perSecond, ORDERS.burst)
  const slots = queue('orders', { size: ORDERS_AT_ONCE, perOwner: 1 })
  for (const order of TAKEN) register(server, app, order, limit, slots)
  for (const [path, read] of LOCATIONS) {
    server.get(path, async (request, reply) => {
      await requireRoom(limit, clientName(request.ip))
      const { token } = request.params as { token: string }
      const payload = await read(await placeOf(app, unpackPair(token)?.companyId), token)
      return reply.header('Cache-Control', 'no-store').send(payload)
    })
  }
}

async function subscribe(
  app: FullFront,
  wanted: Static<typeof NewSubscription>,
  { token }: { token: string },
): Promise<Static<typeof SubscriptionView>> {
  const named = readPageToken(app.vault, token)
  return subscribeThrough(await placeOf(app, named?.companyId), wanted, { token })
}

/** The locations in the codes of the simulated bank, which banks of payers read. */
const LOCATIONS = [
  ['/cob/:token', readChargeLocation],
  ['/cobv/:token', readChargeLocation],
  ['/rec/:token', readAgreementLocation],
] as const

async function requireRoom(limit: RateLimit | null, address: string): Promise<void> {
  const wait_s = (await limit?.take(address)) ?? 0
  if (wait_s === 0) return
  throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
}

const tooMany = () =>
  problem('service_unavailable', 'The simulated bank has too many orders. Try again in a moment.', {
    'Retry-After': '1',
  })

function register(
  server: FastifyInstance,
  app: FullFront,
  order: Order,
  limit: RateLimit | null,
  slots: FairQueue,
): void {
  const { status, message } = order
  // An order to a real bank takes no slot, because it may take long, and others must not wait.
  const isSimulated = order.path.startsWith('/bank/')
  const read = inputReader({ body: order.body })
  const serialize = serializerOf(order.data)

  const onRequest = ({ ip }: FastifyRequest) => requireRoom(limit, clientName(ip))
  server.post(order.path, { onRequest }, async (request, reply) => {
    const address = clientName(request.ip)
    const { body: given } = read(request, (fields) => reply.header(IGNORED_FIELDS, fields))
    const act = () => order.act(app, given as never, request.params as never)
    const wait = { most_ms: ORDER_WAIT_MS, late: tooMany }
    const data = await (isSimulated ? inSlot(slots, address, wait, act) : act())
    const { version } = request
    const body = version.success(status, message, serialize, data)
    reply.status(status).header('X-Api-Version', version.name)
    return reply.type('application/json; charset=utf-8').send(body)
  })
}
