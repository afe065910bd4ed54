import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import { RETURN_REASONS } from '../../provider/port.ts'
import { Timestamp, Value } from '../fields.ts'
import type { Refund } from './rules.ts'
import { REFUND_STATES } from './rules.ts'

const Comment = Type.Optional(
  Type.String({ maxLength: 140, description: 'What the payer reads in the app of their bank' }),
)

export const NewRefund = Type.Object({
  value: Type.Optional(Value('Cents; when omitted all that has not gone back yet is refunded')),
  comment: Comment,
})

export const NewPaymentRefund = Type.Object({ comment: Comment })

/** What the simulated bank returns by itself. */
export const NewBankReturn = Type.Object({
  value: Type.Optional(Value('Cents; when omitted all that is left of the payment')),
  reason: Type.Optional(
    Type.Enum([...RETURN_REASONS], { description: 'Why the bank returns it; FRAUD when omitted' }),
  ),
})

export const RefundView = Type.Object({
  id: Type.String(),
  status: Type.Enum([...REFUND_STATES]),
  value: Type.Integer({ description: 'Cents' }),
  chargeId: Type.Optional(Type.String()),
  endToEndId: Type.String({ description: 'The scheme’s id of the payment that goes back' }),
  returnId: Type.Optional(Type.String({ description: 'The scheme’s id of the return' })),
  comment: Type.Optional(Type.String()),
  bankReason: Type.Optional(
    Type.Enum([...RETURN_REASONS], {
      description: 'Why the bank returned the money by itself; left out in a refund of yours',
    }),
  ),
  failureReason: Type.Optional(Type.String()),
  createdAt: Timestamp,
  finishedAt: Type.Optional(Timestamp),
})

export function showRefund(refund: Refund): Static<typeof RefundView> {
  const { id, status, amount, chargeId, endToEndId, returnId, comment, failure } = refund
  return {
    id: toPublic('rfnd', id),
    status,
    value: amount,
    endToEndId,
    ...(chargeId === null ? {} : { chargeId: toPublic('charge', chargeId) }),
    ...(returnId === null ? {} : { returnId }),
    ...(comment === null ? {} : { comment }),
    ...(refund.bankReason === null ? {} : { bankReason: refund.bankReason }),
    ...(failure === null ? {} : { failureReason: failure }),
    createdAt: refund.createdAt.toISOString(),
    ...(refund.finishedAt === null ? {} : { finishedAt: refund.finishedAt.toISOString() }),
  }
}
