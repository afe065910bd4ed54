import Type, { type Static } from 'typebox'
import type { Part } from '../../ledger/recipients.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { Amount } from '../fields.ts'
import { amountAt, type Charge, type Split } from './rules.ts'
import { MAX_RECIPIENTS, partsNow, partsOf, WHOLE } from './split.ts'

/** Who gets which part of a charge. */
export const SplitField = Type.Optional(
  Type.Array(
    Type.Object({
      recipientId: Type.String({ maxLength: 255 }),
      amount: Type.Optional(Amount(1, 'Cents; or percent')),
      percent: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: WHOLE,
          description: 'Hundredths of a percent, 1000 is 10,00 %; or amount',
        }),
      ),
    }),
    {
      minItems: 1,
      maxItems: MAX_RECIPIENTS,
      description:
        'Recipients who get a part of what is paid. The rest, and every cent of rounding, is yours',
    },
  ),
)

export const SplitView = Type.Array(
  Type.Object({
    recipientId: Type.String(),
    amount: Type.Optional(Type.Integer({ description: 'Cents, as it was asked for' })),
    percent: Type.Optional(Type.Integer({ description: 'Hundredths of a percent' })),
    value: Type.Integer({
      description: 'Cents: the part of what is asked, or of what was paid and is not returned',
    }),
  }),
)

/** The terms of a split, and what each has of what is asked, or of what is left of a payment. */
const showParts = (split: Split, parts: Part[]): Static<typeof SplitView> =>
  split.map(({ recipientId, ...term }, i) => ({
    recipientId: toPublic('rcpt', recipientId),
    ...term,
    value: parts[i]!.amount,
  }))

export const showSplit = (charge: Charge & { split: Split }, now: Date): Static<typeof SplitView> =>
  showParts(charge.split, partsNow(charge, amountAt(charge, now)))

/** The split of charges of a value that are still to be made. */
export const showTerms = (split: Split, value: Cents): Static<typeof SplitView> =>
  showParts(split, partsOf(split, value, value))
