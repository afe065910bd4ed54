import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { maskBankTaxId } from '../../pix/masks.ts'
import { UNMATCHED_REASONS } from '../charges/rules.ts'
import { PAGE, Timestamp } from '../fields.ts'
import { PAYMENT_STATES, type Payment } from './rules.ts'
import { openPayer } from './sealing.ts'

const UNMATCHED_STATES = PAYMENT_STATES.filter((status) => status !== 'MATCHED')

export const UnmatchedQuery = Type.Object({
  ...PAGE,
  status: Type.Optional(
    Type.Enum(UNMATCHED_STATES, {
      description: 'By default those that still wait for a decision: UNMATCHED',
    }),
  ),
})

export const UnmatchedPayment = Type.Object({
  id: Type.String({ description: 'The place in this list, as `after` takes it' }),
  endToEndId: Type.String({ description: 'The scheme’s id of the payment' }),
  amount: Type.Integer({ description: 'Cents' }),
  returned: Type.Optional(
    Type.Integer({ description: 'Cents that the bank has returned before you decided' }),
  ),
  status: Type.Enum(UNMATCHED_STATES),
  reason: Type.Enum([...UNMATCHED_REASONS], { description: 'Why it pays no charge' }),
  chargeId: Type.Optional(Type.String({ description: 'The charge that it names' })),
  receivedAt: Timestamp,
  payer: Type.Optional(
    Type.Object(
      {
        name: Type.Optional(Type.String()),
        taxId: Type.Optional(Type.String({ description: 'Masked' })),
      },
      { description: 'Who has sent it, if the bank says so' },
    ),
  ),
})

export function showUnmatched(vault: Vault, payment: Payment): Static<typeof UnmatchedPayment> {
  const { id, endToEndId, amount, status, reason, chargeId, receivedAt } = payment
  return {
    id,
    endToEndId,
    amount,
    ...(payment.returned > 0 ? { returned: payment.returned } : {}),
    receivedAt: receivedAt.toISOString(),
    status: status as (typeof UNMATCHED_STATES)[number],
    reason: reason!,
    ...(chargeId === null ? {} : { chargeId: toPublic('charge', chargeId) }),
    ...(payment.payer === null ? {} : { payer: showPayer(vault, payment, payment.payer) }),
  }
}

function showPayer(vault: Vault, payment: Payment, sealed: Buffer) {
  const { name, taxId } = openPayer(vault, payment, sealed)
  return { ...(name ? { name } : {}), ...(taxId ? { taxId: maskBankTaxId(taxId) } : {}) }
}
