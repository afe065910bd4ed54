import Type from 'typebox'
import { acceptPayment } from '../../core/payments/commands.ts'
import { listUnmatched } from '../../core/payments/store.ts'
import { showUnmatched, UnmatchedPayment, UnmatchedQuery } from '../../core/payments/view.ts'
import { refundPayment } from '../../core/refunds/commands.ts'
import { NewPaymentRefund, RefundView, showRefund } from '../../core/refunds/view.ts'
import { problem } from '../../lib/problems.ts'
import { page } from '../page.ts'
import { route } from '../route.ts'
import { readPage } from '../slices.ts'

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

const accept = route({
  method: 'POST',
  path: '/payment/unmatched/{endToEndId}/accept',
  operationId: 'acceptPayment',
  tag: 'Payments',
  summary: 'Keep an unmatched payment: it becomes available',
  description:
    'If the payment is accepted already, the answer is the same. Its charge stays as it is.',
  scope: 'payments:write',
  unknownFields: 'refused',
  data: UnmatchedPayment,
  status: 200,
  message: 'Payment accepted.',
  problems: ['payment_not_found', 'payment_not_unmatched'],
  handle(call) {
    const { app, company } = call
    const id = endToEndIdOf(call)
    return call.commit(async (tx) =>
      showUnmatched(app.vault, await acceptPayment(tx, company.id, id, app.clock.now())),
    )
  },
})

const refund = route({
  method: 'POST',
  path: '/payment/unmatched/{endToEndId}/refund',
  operationId: 'refundPayment',
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
    return call.commit(async (tx) => showRefund(await refundPayment(tx, app, company, id, body)))
  },
})

export const paymentRoutes = [list, accept, refund]
