import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { maskBankTaxId } from '../../pix/masks.ts'
import { ISPB } from '../../provider/simulator/scheme.ts'
import { UNMATCHED_REASONS } from '../charges/rules.ts'
import { Amount, PAGE, ShortText, TaxId, Timestamp } from '../fields.ts'
import type { Payment } from './rules.ts'
import { PAYMENT_STATES } from './rules.ts'
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
      { description: 'Who has sent it, where the bank tells' },
    ),
  ),
})

export const BankPayment = Type.Object({
  brCode: Type.String({ minLength: 1, maxLength: 512, description: 'A code to copy and paste' }),
  amount: Type.Optional(Amount(1, 'Cents; what the code asks for when omitted')),
  endToEndId: Type.Optional(
    Type.String({
      pattern: `^E${ISPB}[0-9]{12}[A-Za-z0-9]{11}$`,
      description:
        'The scheme’s id, with the number of the simulated bank. The same id again is the same payment, never a second one.',
      'x-rule': `must be E, ${ISPB} (the simulated bank), 12 digits and 11 letters or digits, 32 characters in all`,
    }),
  ),
  payer: Type.Optional(
    Type.Object(
      { name: Type.Optional(ShortText), taxId: Type.Optional(TaxId) },
      { description: 'Who pays, as the payer’s bank names them to the receiver’s' },
    ),
  ),
})

export const BankReceipt = Type.Object({
  endToEndId: Type.String(),
  amount: Type.Integer({ description: 'Cents' }),
  paidAt: Timestamp,
  receiver: Type.Object({ name: Type.String(), city: Type.String() }),
  chargeId: Type.Optional(Type.String()),
  correlationID: Type.Optional(Type.String()),
})

export function showUnmatched(vault: Vault, payment: Payment): Static<typeof UnmatchedPayment> {
  const { id, endToEndId, amount, status, reason, chargeId, receivedAt } = payment
  return {
    ...{ id, endToEndId, amount, receivedAt: receivedAt.toISOString() },
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
