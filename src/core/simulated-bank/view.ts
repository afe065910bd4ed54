import Type from 'typebox'
import { ISPB } from '../../provider/simulator/scheme.ts'
import { Amount, ShortText, TaxId, Timestamp } from '../fields.ts'

const BankPayer = Type.Object(
  { name: Type.Optional(ShortText), taxId: Type.Optional(TaxId) },
  { description: 'Who pays, as the payer’s bank names them to the receiver’s' },
)

/** A Pix to the key of a company. */
export const KeyPayment = Type.Object({
  amount: Amount(1, 'Cents'),
  payer: Type.Optional(BankPayer),
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
  payer: Type.Optional(BankPayer),
})

export const BankReceipt = Type.Object({
  endToEndId: Type.String(),
  amount: Type.Integer({ description: 'Cents' }),
  paidAt: Timestamp,
  receiver: Type.Object({ name: Type.String(), city: Type.String() }),
  chargeId: Type.Optional(Type.String()),
  correlationID: Type.Optional(Type.String()),
})

export const BankDecision = Type.Object({
  emv: Type.String({ minLength: 1, maxLength: 512, description: 'The code of a subscription' }),
  decision: Type.Enum(['approve', 'reject', 'cancel'], { description: 'What the payer decides' }),
  funds: Type.Optional(
    Type.Boolean({
      description:
        'With approve: whether the payer’s account can pay. Approve again to change it; at first it can.',
    }),
  ),
})

export const BankAuthorization = Type.Object({
  recurrenceId: Type.String(),
  externalRecurrenceId: Type.String({ description: 'The scheme’s id of the agreement' }),
  recurrenceAuthStatus: Type.String(),
  decidedAt: Timestamp,
  receiver: Type.Object({ name: Type.String(), city: Type.String() }),
  amount: Type.Integer({ description: 'Cents, of each charge' }),
  frequency: Type.String(),
})
