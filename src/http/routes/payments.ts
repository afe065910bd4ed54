import Type from 'typebox'
import { isSettleable } from '../../core/charges/rules.ts'
import { acceptPayment, keepPayer, settleCharge } from '../../core/payments/commands.ts'
import { findSuggestions } from '../../core/payments/likely-charge.ts'
import { type Payment, undecidedOf } from '../../core/payments/rules.ts'
import { findUnmatched, listUnmatched } from '../../core/payments/store.ts'
import {
  Acceptance,
  MAX_SUGGESTIONS,
  SuggestionView,
  showSuggestion,
  showUnmatched,
  UnmatchedPayment,
  UnmatchedQuery,
} from '../../core/payments/view.ts'
import { refundPayment } from '../../core/refunds/commands.ts'
import { NewPaymentRefund, RefundView, showRefund } from '../../core/refunds/view.ts'
import type { Tx } from '../../db/database.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { route } from '../route.ts'
import { accepted, asList, returned, suggested, unmatched } from '../samples.ts'

/** The scheme's id of a payment, if it has the form of one. */
export function endToEndIdOf(
  { params }: { params: Record<string, string> },
  noPayment = () => problem('payment_not_found'),
): string {
  const id = params.endToEndId ?? ''
  if (!/^[A-Za-z0-9]{1,64}$/.test(id)) throw noPayment()
  return id
}

const list = route({
  method: 'GET',
  path: '/payment/unmatched',
  operationId: 'listUnmatchedPayments',
  client: ['payments', 'listUnmatched'],
  sample: asList(unmatched),
  tag: 'Payments',
  summary: 'List money that arrived late, twice, in another amount or for no charge',
  scope: 'payments:read',
  query: UnmatchedQuery,
  data: Type.Array(UnmatchedPayment),
  status: 200,
  message: 'Unmatched payments listed.',
  problems: [],
  async handle(call) {
    const { app, company, query } = call
    const { status = 'UNMATCHED' } = query
    return readPage(
      page(call, null),
      (part) => listUnmatched(app.db, company.id, { ...part, status }),
      (payment) => showUnmatched(app.vault, payment),
    )
  },
})

const suggest = route({
  method: 'GET',
  path: '/payment/unmatched/{endToEndId}/suggestions',
  operationId: 'suggestCharges',
  client: ['payments', 'suggestions'],
  sample: suggested,
  tag: 'Payments',
  summary: 'Suggest charges that an unmatched payment may be for',
  description:
    'Up to three charges that can be settled with it, the best first, each with its reason in words. Settle one by `accept` with its `chargeId`. Empty if none is likely, or if the payment waits for no decision.',
  scope: 'payments:read',
  data: Type.Array(SuggestionView),
  status: 200,
  message: 'Charges suggested.',
  problems: ['payment_not_found'],
  async handle(call) {
    const { app, company, language } = call
    const [payment] = await findUnmatched(app.db, company.id, [endToEndIdOf(call)])
    if (!payment) throw problem('payment_not_found')
    if (payment.status !== 'UNMATCHED' || payment.settled) return { data: [] }
    const where = { db: app.db, vault: app.vault, company, now: app.clock.now() }
    const found = await findSuggestions(where, payment)
    const settleable = found.filter(({ charge }) => isSettleable(charge))
    const data = settleable.slice(0, MAX_SUGGESTIONS)
    return { data: data.map((suggestion) => showSuggestion(suggestion, language)) }
  },
})

const accept = route({
  method: 'POST',
  path: '/payment/unmatched/{endToEndId}/accept',
  operationId: 'acceptPayment',
  client: ['payments', 'accept'],
  changes: {
    record: 'payment',
    pt: 'Pix sem cobrança mantido',
    en: 'Unmatched payment accepted',
  },
  sample: accepted,
  tag: 'Payments',
  summary: 'Keep an unmatched payment, or settle a charge with it',
  description:
    'Without `chargeId` the money becomes available, and its charge stays as it is. With `chargeId` that charge becomes COMPLETED and PAID, as if the payment had matched it, also if it has expired. Money beyond its total is kept or goes back, as `difference` says; if the payment is less than the total, `settled.shortfall` says by how much. A payment settles one charge. If it is accepted already, the answer is the same.',
  scope: 'payments:write',
  unknownFields: 'refused',
  body: Acceptance,
  example: { chargeId: 'charge_01k3e8r8v0e0080000000000c1', difference: 'keep' },
  data: UnmatchedPayment,
  status: 200,
  message: 'Payment accepted.',
  problems: [
    'payment_not_found',
    'charge_not_found',
    'payment_not_unmatched',
    'charge_not_settleable',
    'charge_in_collection',
    'payment_of_other_source',
    'refund_not_possible',
    'provider_unavailable',
  ],
  handle(call) {
    const { app, company, body } = call
    const id = endToEndIdOf(call)
    const { chargeId, difference } = body
    if (chargeId === undefined && difference !== undefined) {
      throw invalid('difference: only with chargeId; without it the whole payment is kept')
    }
    const keep = async (tx: Tx) => {
      const kept = await acceptPayment(tx, company.id, id, app.clock.now())
      if (kept.changed) await keepPayer(tx, app, company, kept.payment)
      return kept
    }
    const show = (payment: Payment) => showUnmatched(app.vault, payment)
    return call.commit(async (tx) => {
      const settled =
        chargeId === undefined
          ? null
          : await settleCharge(tx, app, company, id, chargeIdOf(chargeId))
      if (!settled || difference !== 'refund') {
        const kept = await keep(tx)
        return { data: show(kept.payment), changed: kept.changed || settled?.changed === true }
      }
      const { payment, changed } = settled
      if (hasNothingToReturn(payment)) return { data: show(payment), changed }
      await refundPayment(tx, app, company, id, {})
      return { data: show({ ...payment, status: 'REFUNDING' }) }
    })
  },
})

function chargeIdOf(id: string): Uuid {
  const found = fromPublic('charge', id)
  if (!found) throw problem('charge_not_found')
  return found
}

/** Whether nothing is left of a payment, or what was left goes back already. */
const hasNothingToReturn = (payment: Payment): boolean =>
  undecidedOf(payment) === 0 || payment.status === 'REFUNDING' || payment.status === 'REFUNDED'

const refund = route({
  method: 'POST',
  path: '/payment/unmatched/{endToEndId}/refund',
  operationId: 'refundPayment',
  client: ['payments', 'refund'],
  changes: {
    record: 'payment',
    pt: 'Pix sem cobrança devolvido',
    en: 'Unmatched payment refunded',
  },
  sample: returned,
  tag: 'Payments',
  summary: 'Return an unmatched payment to its payer',
  scope: 'payments:write',
  unknownFields: 'refused',
  body: NewPaymentRefund,
  example: { comment: 'Paid twice' },
  data: RefundView,
  status: 201,
  message: 'Refund started.',
  problems: [
    'payment_not_found',
    'payment_not_unmatched',
    'refund_not_possible',
    'provider_unavailable',
  ],
  async handle(call) {
    const { app, company, body } = call
    const id = endToEndIdOf(call)
    return call.commit(async (tx) => ({
      data: showRefund(await refundPayment(tx, app, company, id, body)),
    }))
  },
})

export const paymentRoutes = [list, suggest, accept, refund]
