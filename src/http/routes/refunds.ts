import Type from 'typebox'
import { findCharge } from '../../core/charges/commands.ts'
import { LONG_PAGE, LONG_PAGE_SIZE } from '../../core/fields.ts'
import { refundCharge } from '../../core/refunds/commands.ts'
import { listOfCharge } from '../../core/refunds/store.ts'
import { NewRefund, RefundView, showRefund } from '../../core/refunds/view.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { route } from '../route.ts'
import { asList, refunded } from '../samples.ts'
import { chargeIdOf } from './charges.ts'

const create = route({
  method: 'POST',
  path: '/refund/{chargeId}',
  operationId: 'refundCharge',
  client: ['refunds', 'create'],
  changes: { record: 'charge', pt: 'Cobrança devolvida', en: 'Charge refunded' },
  sample: refunded,
  tag: 'Refunds',
  summary: 'Return the money of a paid charge, whole or in part',
  description:
    'The money is held at once and returned through the bank; charge.refunded is sent when that is done. Possible for 90 days, up to what was paid.',
  scope: 'payments:write',
  unknownFields: 'refused',
  body: NewRefund,
  example: { value: 500, comment: 'One item was out of stock' },
  data: RefundView,
  status: 201,
  message: 'Refund started.',
  problems: [
    'charge_not_found',
    'refund_not_possible',
    'insufficient_balance',
    'provider_unavailable',
  ],
  async handle(call) {
    const { app, company, body } = call
    const id = chargeIdOf(call)
    return call.commit(async (tx) => ({
      data: showRefund(await refundCharge(tx, app, company, id, body)),
    }))
  },
})

const list = route({
  method: 'GET',
  path: '/refund/charge/{chargeId}',
  operationId: 'listRefunds',
  client: ['refunds', 'list'],
  sample: asList(refunded),
  tag: 'Refunds',
  summary: 'List the refunds of a charge, newest first',
  scope: 'payments:read',
  query: Type.Object(LONG_PAGE),
  data: Type.Array(RefundView),
  status: 200,
  message: 'Refunds listed.',
  problems: ['charge_not_found'],
  async handle(call) {
    const { app, company } = call
    const { id } = await findCharge(app, company.id, chargeIdOf(call))
    return readPage(
      page(call, 'rfnd', LONG_PAGE_SIZE),
      (part) => listOfCharge(app.db, company.id, id, part),
      showRefund,
    )
  },
})

export const refundRoutes = [create, list]
