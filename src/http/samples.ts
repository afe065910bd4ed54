import { findStaticCodes } from '../core/charges/static.ts'
import { showStaticCode } from '../core/charges/static-view.ts'
import * as deliveries from '../core/deliveries/log-store.ts'
import { readDeliveryId, showDelivery } from '../core/deliveries/view.ts'
import { listNewest } from '../core/feed/store.ts'
import { showEvent } from '../core/feed/view.ts'
import type { FullApp } from '../core/full-app.ts'
import { PAYMENT_STATES } from '../core/payments/rules.ts'
import { listOfPayments } from '../core/refunds/store.ts'
import { showRefund } from '../core/refunds/view.ts'
import { find as findSandbox } from '../core/sandboxes/store.ts'
import { fromPublic, isUuid } from '../lib/ids.ts'
import { localDateOf } from '../pix/local-time.ts'

// biome-ignore lint/suspicious/noExplicitAny: the serializer of the operation knows the fields
type Shown = any

type Asked = { params?: Record<string, string>; query?: Record<string, unknown> }

/** What recent answers are made from. */
export type Reader = {
  app: FullApp
  companyId: string
  /** What a reading operation answers; null if there is no such record. */
  read(operationId: string, asked?: Asked): Promise<Shown>
  /** The first entry of a list. */
  first(operationId: string, asked?: Asked): Promise<Shown>
  /** The record that a writing operation changed last, and figures of its answer. */
  last(operationId: string): Promise<{ id: string; details: Shown } | null>
  /** A record whose answer shows what changes, otherwise the newest. */
  charge(): Promise<Shown>
}

/** Finds a recent answer of an operation; null if the company has no record for it. */
export type Find = (reader: Reader, operationId: string) => Promise<Shown>

/** The record that the operation changed last, as the reading operation shows it. */
export const changed =
  (reading: string, show: (record: Shown) => Shown = (record) => record): Find =>
  async ({ read, last }, operationId) => {
    const done = await last(operationId)
    const record = done && (await read(reading, { params: { id: done.id } }))
    return record && show(record)
  }

/** A list with its newest record. */
export const listed: Find = async ({ first }, operationId) => {
  const record = await first(operationId)
  return record && [record]
}

/** A record that has its id from the list of such records. */
export const newest =
  (list: string): Find =>
  async ({ read, first }, operationId) => {
    const record = await first(list)
    return record && read(operationId, { params: { id: record.id } })
  }

export const itself: Find = ({ read }, operationId) => read(operationId)

export const deleted: Find = async ({ last }, operationId) => {
  const done = await last(operationId)
  return done && { id: done.id }
}

/** A sandbox that the company has made. Its key was shown once. */
export const madeSandbox: Find = async ({ app, last }, operationId) => {
  const done = await last(operationId)
  const sandbox = done && isUuid(done.id) && (await findSandbox(app.db, done.id))
  if (!sandbox) return null
  const { companyId: id, expiresAt } = sandbox
  return { id, apiKey: 'vk_sandbox_…', expiresAt: expiresAt.toISOString() }
}

/** A dispute that the company has. */
export const disputed: Find = ({ first }) => first('listDisputes')

export const refunded: Find = async ({ first, last }) => {
  const done = await last('refundCharge')
  return done && first('listRefunds', { params: { chargeId: done.id } })
}

/** So many of the newest records are asked for what belongs to them. */
const NEWEST = 5

export const delivered: Find = async ({ read, first }) => {
  const webhooks = await read('listWebhooks', { query: { limit: NEWEST } })
  for (const { id } of webhooks) {
    const delivery = await first('listDeliveries', { params: { id } })
    if (delivery) return delivery
  }
  return null
}

export const unmatched: Find = async ({ first }) => {
  for (const status of PAYMENT_STATES.filter((one) => one !== 'MATCHED')) {
    const payment = await first('listUnmatchedPayments', { query: { status } })
    if (payment) return payment
  }
  return null
}

/** What is suggested for the newest payments that wait for a decision. */
export const suggested: Find = async ({ read }, operationId) => {
  for (const { endToEndId } of await read('listUnmatchedPayments', { query: { limit: NEWEST } })) {
    const found = await read(operationId, { params: { endToEndId } })
    if (found?.length > 0) return found
  }
  return null
}

/** The refund of the payment that the operation returned last. */
export const returned: Find = async ({ app, companyId, last }, operationId) => {
  const done = await last(operationId)
  const { simulator, bacen } = app.providers
  for (const { source } of done ? [simulator, bacen] : []) {
    const [refund] = await listOfPayments(app.db, companyId, source, [done!.id])
    if (refund) return showRefund(refund)
  }
  return null
}

export const asList =
  (find: Find): Find =>
  async (reader, operationId) => {
    const record = await find(reader, operationId)
    return record && [record]
  }

export const newestEvent: Find = async ({ app, companyId }) => {
  const period = { from: null, to: null, firstId: null, beforeId: null }
  const filter = { limit: 1, after: null, type: null, period }
  const [event] = (await listNewest(app.db, companyId, filter)).events
  return event ? showEvent(event) : null
}

/** What another operation reads. */
export const read =
  (operationId: string): Find =>
  (reader) =>
    reader.read(operationId)

export const anyCharge: Find = ({ charge }) => charge()

export const createdPix = changed('getCharge', (charge) => ({
  ...charge,
  status: charge.paymentStatus,
  amount: charge.total,
  externalId: charge.externalId ?? null,
}))

export const batched: Find = async (reader) => {
  const charge = await createdPix(reader, 'createPixCharge')
  return charge && { accepted: 1, refused: 0, items: [{ index: 0, charge }] }
}

export const createdLink = changed('getCharge', (charge) => ({
  ...charge,
  externalId: charge.externalId ?? null,
}))

export const createdStatic: Find = async ({ app, companyId, last }) => {
  const id = fromPublic('qrs', (await last('createStaticCode'))?.id ?? '')
  const [code] = id === null ? [] : await findStaticCodes(app.db, companyId, [id])
  return code ? showStaticCode(code) : null
}

/** A summary of many days costs more. */
export const today: Find = ({ app, read }) =>
  read('summarizeCharges', { query: { createdFrom: localDateOf(app.clock.now()) } })

/** Of today alone. */
export const figuresOfToday: Find = ({ app, read }, operationId) =>
  read(operationId, { query: { from: localDateOf(app.clock.now()) } })

export const accepted: Find = ({ first }) =>
  first('listUnmatchedPayments', { query: { status: 'ACCEPTED' } })

/** Only a new webhook shows a secret. */
export const withSecret = changed('getWebhook', (webhook) => ({ ...webhook, secret: '' }))

export const redelivered: Find = async ({ app, companyId, last }) => {
  const id = readDeliveryId((await last('redeliver'))?.id ?? '')
  const delivery = id && (await deliveries.find(app.db, { companyId, ...id }))
  return delivery && showDelivery(delivery)
}

export const replayed: Find = async ({ last }) => (await last('replayDeliveries'))?.details ?? null

export const tested: Find = async ({ first, last }) => {
  const done = await last('testWebhook')
  return done && first('listDeliveries', { params: { id: done.id } })
}

/** A code is not stored. */
export const newCode = changed('getWithdrawal', ({ createdAt, expiresAt = createdAt }) => ({
  code: '',
  expiresAt,
}))
