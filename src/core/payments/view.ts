import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { maskBankTaxId } from '../../pix/masks.ts'
import { UNMATCHED_REASONS } from '../charges/rules.ts'
import { PAGE, Timestamp } from '../fields.ts'
import { PAYMENT_STATES, type Payment, type Settled } from './rules.ts'
import { openPayer } from './sealing.ts'

const UNMATCHED_STATES = PAYMENT_STATES.filter((status) => status !== 'MATCHED')
/** The answer to any other value lists these, and is frozen. The disputes tell what is DISPUTED. */
const FILTERED_STATES = UNMATCHED_STATES.filter((status) => status !== 'DISPUTED')

export const UnmatchedQuery = Type.Object({
  ...PAGE,
  status: Type.Optional(
    Type.Enum(FILTERED_STATES, {
      description: 'By default those that still wait for a decision: UNMATCHED',
    }),
  ),
})

/** What becomes of money beyond the amount of a charge. */
const DIFFERENCES = ['keep', 'refund'] as const

export const Acceptance = Type.Object({
  chargeId: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'A charge that is OPEN or EXPIRED: the payment settles it, so that it is paid',
    }),
  ),
  difference: Type.Optional(
    Type.Enum([...DIFFERENCES], {
      description:
        'What becomes of money beyond the charge’s total, `keep` when omitted: it becomes available, or goes back to its payer. Only with `chargeId`',
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
  settled: Type.Optional(
    Type.Object(
      {
        chargeId: Type.String(),
        amount: Type.Integer({ description: 'Cents of the payment that the charge got' }),
        shortfall: Type.Optional(
          Type.Integer({ description: 'Cents that the payment was short of the charge’s total' }),
        ),
      },
      {
        description:
          'The charge that you settled with it. `status` says what became of the rest of the payment, if there is any',
      },
    ),
  ),
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
    ...(payment.settled ? { settled: showSettled(payment.settled) } : {}),
    status: status as (typeof UNMATCHED_STATES)[number],
    reason: reason!,
    ...(chargeId === null ? {} : { chargeId: toPublic('charge', chargeId) }),
    ...(payment.payer === null ? {} : { payer: showPayer(vault, payment, payment.payer) }),
  }
}

const showSettled = ({ chargeId, amount, shortfall }: Settled) => ({
  chargeId: toPublic('charge', chargeId),
  amount,
  ...(shortfall > 0 ? { shortfall } : {}),
})

function showPayer(vault: Vault, payment: Payment, sealed: Buffer) {
  const { name, taxId } = openPayer(vault, payment, sealed)
  return { ...(name ? { name } : {}), ...(taxId ? { taxId: maskBankTaxId(taxId) } : {}) }
}
