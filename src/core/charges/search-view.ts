import Type, { type Static } from 'typebox'
import { Amount, DayOrTime, Email, ExternalId, PAGE, TaxId, Timestamp } from '../fields.ts'
import { CHARGE_KINDS, CHARGE_STATUSES, PAYMENT_STATUSES } from './rules.ts'

const FROM = 'at or after this moment, or on or after this day in São Paulo'
const TO = 'before this moment, or up to the end of this day in São Paulo'
const AnyText = (description: string) => Type.String({ maxLength: 255, description })

const FILTERS = {
  status: Type.Optional(Type.Enum(CHARGE_STATUSES)),
  paymentStatus: Type.Optional(Type.Enum(PAYMENT_STATUSES)),
  kind: Type.Optional(
    Type.Enum(CHARGE_KINDS, {
      description: 'PIX, LINK, STATIC (a sale of a static code) or RECURRING (of a subscription)',
    }),
  ),
  externalId: Type.Optional(ExternalId),
  customerId: Type.Optional(AnyText('The customer that the payer was found as')),
  taxId: Type.Optional(TaxId),
  email: Type.Optional({ ...Email, description: 'The payer’s address, in upper or lower case' }),
  endToEndId: Type.Optional(AnyText('The scheme’s id of the payment')),
  txid: Type.Optional(
    AnyText('The id in the code: of one charge, or of a static code and all its sales'),
  ),
  amount: Type.Optional(Amount(1, 'Cents, exactly')),
  devMode: Type.Optional(Type.Boolean()),
  createdFrom: Type.Optional(DayOrTime(`Created ${FROM}`)),
  createdTo: Type.Optional(DayOrTime(`Created ${TO}`)),
  paidFrom: Type.Optional(DayOrTime(`Paid ${FROM}`)),
  paidTo: Type.Optional(DayOrTime(`Paid ${TO}`)),
}

export const ChargeQuery = Type.Object({
  ...PAGE,
  ...FILTERS,
  include: Type.Optional(
    Type.Enum(['qr'], { description: 'Show the QR image of each charge, brCodeBase64' }),
  ),
})
export const SummaryQuery = Type.Object(FILTERS)

const FIGURES = {
  count: Type.Integer({ description: 'How many charges' }),
  sum: Type.Integer({ description: 'Their amounts together, in cents' }),
}
const Status = Type.Enum(CHARGE_STATUSES)

export const SummaryView = Type.Object({
  date: Type.Enum(['created', 'paid'], {
    description: 'Which day of a charge counts: paid when paidFrom or paidTo is sent',
  }),
  from: Timestamp,
  to: Timestamp,
  ...FIGURES,
  statuses: Type.Array(Type.Object({ status: Status, ...FIGURES })),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: 'YYYY-MM-DD in São Paulo, oldest first' }),
      status: Status,
      ...FIGURES,
    }),
  ),
})

export type Summary = Static<typeof SummaryView>
