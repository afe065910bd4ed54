import Type from 'typebox'
import { Timestamp } from '../fields.ts'

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
