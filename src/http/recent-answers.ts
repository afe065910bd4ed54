import { listEntries } from '../core/activity/store.ts'
import { findStaticCodes } from '../core/charges/static-store.ts'
import { showStaticCode } from '../core/charges/view.ts'
import * as deliveries from '../core/deliveries/log-store.ts'
import { readDeliveryId, showDelivery } from '../core/deliveries/view.ts'
import { listNewest } from '../core/feed/browse-store.ts'
import { showEvent } from '../core/feed/view.ts'
import type { FullApp } from '../core/full-app.ts'
import type { Actor } from '../core/operate.ts'
import { PAYMENT_STATES } from '../core/payments/rules.ts'
import { listOfPayments } from '../core/refunds/store.ts'
import { showRefund } from '../core/refunds/view.ts'
import { fromPublic } from '../lib/ids.ts'
import { Problem } from '../lib/problems.ts'
import { localDateOf } from '../pix/local-time.ts'
import { makeCall } from './call.ts'
import type { Route } from './route.ts'

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

/**
 * @param values the payment statuses that another version spells otherwise
 */
export function createReader(
  app: FullApp,
  { company, author, scopes }: Actor,
  routes: readonly Route[],
  values: string[],
): Reader {
  const read: Reader['read'] = async (operationId, { params = {}, query = {} } = {}) => {
    const route = routes.find((one) => one.operationId === operationId)!
    const asked = { route, path: route.path, params, company, author, scopes: new Set(scopes) }
    const call = makeCall(app, asked, { query, body: undefined, sent: undefined }, null)
    try {
      return (await route.handle(call)).data
    } catch (error) {
      // It was deleted meanwhile.
      if (error instanceof Problem && error.status === 404) return null
      throw error
    }
  }
  const first: Reader['first'] = async (operationId, asked = {}) => {
    const list = await read(operationId, { ...asked, query: { ...asked.query, limit: 1 } })
    return list?.[0] ?? null
  }
  return {
    app,
    companyId: company.id,
    read,
    first,
    async last(operationId) {
      const filter = { author: null, action: operationId, from: null, before: null }
      const [entry] = await listEntries(app.db, company.id, filter, 1)
      return entry?.record ? { id: entry.record.id, details: entry.details } : null
    },
    async charge() {
      for (const paymentStatus of values) {
        const found = await first('listCharges', { query: { paymentStatus, include: 'qr' } })
        if (found) return found
      }
      return first('listCharges', { query: { include: 'qr' } })
    },
  }
}

type Find = (reader: Reader, operationId: string) => Promise<Shown>

/** The record that the operation changed last, as the reading operation shows it. */
const changed =
  (reading: string, show: (record: Shown) => Shown = (record) => record): Find =>
  async ({ read, last }, operationId) => {
    const done = await last(operationId)
    const record = done && (await read(reading, { params: { id: done.id } }))
    return record && show(record)
  }

/** A list with its newest record. */
const listed: Find = async ({ first }, operationId) => {
  const record = await first(operationId)
  return record && [record]
}

/** A record that has its id from the list of such records. */
const newest =
  (list: string): Find =>
  async ({ read, first }, operationId) => {
    const record = await first(list)
    return record && read(operationId, { params: { id: record.id } })
  }

const itself: Find = ({ read }, operationId) => read(operationId)

const deleted: Find = async ({ last }, operationId) => {
  const done = await last(operationId)
  return done && { id: done.id }
}

const refunded: Find = async ({ first, last }) => {
  const done = await last('refundCharge')
  return done && first('listRefunds', { params: { chargeId: done.id } })
}

/** So many of the newest webhooks are asked for a delivery. */
const WEBHOOKS = 5

const delivered: Find = async ({ read, first }) => {
  const webhooks = await read('listWebhooks', { query: { limit: WEBHOOKS } })
  for (const { id } of webhooks) {
    const delivery = await first('listDeliveries', { params: { id } })
    if (delivery) return delivery
  }
  return null
}

const unmatched: Find = async ({ first }) => {
  for (const status of PAYMENT_STATES.filter((one) => one !== 'MATCHED')) {
    const payment = await first('listUnmatchedPayments', { query: { status } })
    if (payment) return payment
  }
  return null
}

/** The refund of the payment that the operation returned last. */
const returned: Find = async ({ app, companyId, last }, operationId) => {
  const done = await last(operationId)
  const { simulator, bacen } = app.providers
  for (const { source } of done ? [simulator, bacen] : []) {
    const [refund] = await listOfPayments(app.db, companyId, source, [done!.id])
    if (refund) return showRefund(refund)
  }
  return null
}

const asList =
  (find: Find): Find =>
  async (reader, operationId) => {
    const record = await find(reader, operationId)
    return record && [record]
  }

const newestEvent: Find = async ({ app, companyId }) => {
  const period = { from: null, to: null, firstId: null, beforeId: null }
  const filter = { limit: 1, after: null, type: null, period }
  const [event] = (await listNewest(app.db, companyId, filter)).events
  return event ? showEvent(event) : null
}

/** Where the recent answer of each operation comes from. Only a new webhook shows a secret. */
const FINDS: Record<string, Find> = {
  createPixCharge: changed('getCharge', (charge) => ({
    ...charge,
    status: charge.paymentStatus,
    amount: charge.total,
    externalId: charge.externalId ?? null,
  })),
  createPaymentLink: changed('getCharge', (charge) => ({
    ...charge,
    externalId: charge.externalId ?? null,
  })),
  async createStaticCode({ app, companyId, last }) {
    const id = fromPublic('qrs', (await last('createStaticCode'))?.id ?? '')
    const [code] = id === null ? [] : await findStaticCodes(app.db, companyId, [id])
    return code ? showStaticCode(code) : null
  },
  getCharge: ({ charge }) => charge(),
  getChargeStatus: ({ charge }) => charge(),
  listCharges: asList(({ charge }) => charge()),
  // A summary of many days costs more.
  summarizeCharges: ({ app, read }) =>
    read('summarizeCharges', { query: { createdFrom: localDateOf(app.clock.now()) } }),
  getSalesLimits: itself,
  simulatePayment: changed('getCharge'),
  cancelCharge: changed('getCharge'),
  duplicateCharge: changed('getCharge'),
  createRecurrence: changed('getRecurrence'),
  createRecurrenceTemplate: changed('getRecurrence'),
  listRecurrences: listed,
  getRecurrence: newest('listRecurrences'),
  cancelRecurrence: changed('getRecurrence'),
  refundCharge: refunded,
  listRefunds: asList(refunded),
  listUnmatchedPayments: asList(unmatched),
  acceptPayment: ({ first }) => first('listUnmatchedPayments', { query: { status: 'ACCEPTED' } }),
  refundPayment: returned,
  createCustomer: changed('getCustomer'),
  listCustomers: listed,
  getCustomer: newest('listCustomers'),
  changeCustomer: changed('getCustomer'),
  deleteCustomer: deleted,
  createProduct: changed('getProduct'),
  listProducts: listed,
  getProduct: newest('listProducts'),
  changeProduct: changed('getProduct'),
  deleteProduct: deleted,
  createWebhook: changed('getWebhook', (webhook) => ({ ...webhook, secret: '' })),
  listWebhooks: listed,
  getWebhook: newest('listWebhooks'),
  changeWebhook: changed('getWebhook'),
  deleteWebhook: deleted,
  rotateWebhookSecret: changed('getWebhook', (webhook) => ({ ...webhook, secret: '' })),
  listDeliveries: asList(delivered),
  async redeliver({ app, companyId, last }) {
    const id = readDeliveryId((await last('redeliver'))?.id ?? '')
    const delivery = id && (await deliveries.find(app.db, { companyId, ...id }))
    return delivery && showDelivery(delivery)
  },
  replayDeliveries: async ({ last }) => (await last('replayDeliveries'))?.details ?? null,
  async testWebhook({ first, last }) {
    const done = await last('testWebhook')
    return done && first('listDeliveries', { params: { id: done.id } })
  },
  listEvents: asList(newestEvent),
  getEvent: newestEvent,
  listEventDeliveries: asList(delivered),
  listRequests: listed,
  getBalance: itself,
  getStatement: listed,
  startWithdrawal: changed('getWithdrawal', ({ id }) => ({ withdrawId: id })),
  listWithdrawals: listed,
  getWithdrawal: newest('listWithdrawals'),
  confirmWithdrawal: changed('getWithdrawal'),
  cancelWithdrawal: changed('getWithdrawal'),
  resendWithdrawalCode: changed('getWithdrawal'),
  getCompany: itself,
  changeCompany: ({ read }) => read('getCompany'),
  getClock: itself,
  moveClock: ({ read }) => read('getClock'),
  receivePayment: unmatched,
  returnPayment: returned,
  // A code is not stored.
  makeWithdrawalCode: changed('getWithdrawal', ({ createdAt, expiresAt = createdAt }) => ({
    code: '',
    expiresAt,
  })),
}

/** A recent answer of the operation; null if the company has no record for it. */
export const recentAnswer = async (reader: Reader, operationId: string): Promise<unknown> =>
  (await FINDS[operationId]?.(reader, operationId)) ?? null

/** The operations whose recent answers can be found. */
export const FOUND_OPERATIONS: ReadonlySet<string> = new Set(Object.keys(FINDS))
