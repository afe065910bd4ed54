import fastJson from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'
import type { App } from '../core/app.ts'
import { payAtBank } from '../core/payments/bank.ts'
import { BankPayment, BankReceipt } from '../core/payments/view.ts'
import { createBuckets } from '../lib/bucket.ts'
import { problem } from '../lib/problems.ts'
import type { Body } from './body.ts'
import { requireNone, validator } from './violations.ts'

/** Payments per address: the bank takes orders from anybody, but not from a flood. */
const PAYMENTS = { perSecond: 50, burst: 500 }

/**
 * The payer's side of the simulated bank. A payer has no API key. Only codes that this bank has
 * issued can be paid, so nothing of it ever touches real money.
 */
export function registerBank(server: FastifyInstance, app: App): void {
  const check = validator('body', BankPayment)
  const serialize = fastJson(BankReceipt as never) as (data: unknown) => string
  const buckets = app.config.rateLimit && createBuckets(PAYMENTS.perSecond, PAYMENTS.burst)

  server.post('/bank/pix', async (request, reply) => {
    const wait_s = buckets?.take(request.ip, performance.now()) ?? 0
    if (wait_s > 0) {
      throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
    }
    const { value, faults } = (request.body as Body | undefined) ?? { value: {}, faults: [] }
    requireNone([...faults, ...check(value)])
    const receipt = await payAtBank(app, value as Parameters<typeof payAtBank>[1])
    const { version } = request
    const body = version.success(201, 'Payment sent.', serialize, receipt)
    reply.status(201).header('X-Api-Version', version.name)
    return reply.type('application/json; charset=utf-8').send(body)
  })
}
