import { type ColumnGroup, tableOf } from '../../db/columns.ts'
import type { Charge, Payer } from './rules.ts'

/** The columns of a payer, who is null or has all of them. */
export const PAYER: ColumnGroup<Payer | null> = {
  columns: [
    ['payer_name', 'text', (payer) => payer?.name ?? null],
    ['payer_index', 'bytea', (payer) => payer?.index ?? null],
    ['payer_sealed', 'bytea', (payer) => payer?.sealed ?? null],
  ],
  read: ({ payer_name: name, payer_index: index, payer_sealed: sealed }) =>
    name === null ? null : ({ name, index, sealed } as Payer),
}

/** The columns of a charge. A new field of `Charge` needs a line here and a migration. */
export const CHARGE = tableOf<Charge>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  kind: ['kind', 'text'],
  amount: ['amount', 'cents'],
  status: ['status', 'text'],
  paymentStatus: ['payment_status', 'text'],
  devMode: ['dev_mode', 'bool'],
  externalId: ['external_id', 'text'],
  description: ['description', 'text'],
  fingerprint: ['fingerprint', 'bytea'],
  customerId: ['customer_id', 'uuid'],
  payer: PAYER,
  link: ['link', 'json'],
  brCode: ['br_code', 'text'],
  endToEndId: ['end_to_end_id', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz'],
  paymentDate: ['payment_date', 'timestamptz'],
  // The moment of release, from which on the money can be withdrawn: what the ledger calls
  // CHARGE_SETTLED and the API RECEIVED, because both are published.
  releaseAt: ['settles_at', 'timestamptz'],
  booked: ['booked', 'bool'],
  refunded: ['refunded', 'cents'],
  shortfall: ['shortfall', 'cents'],
  staticCodeId: ['static_code_id', 'uuid'],
  recurrenceId: ['recurrence_id', 'uuid'],
  shipping: ['shipping_sealed', 'bytea'],
})

/** What can change in a charge. Everything else is fixed when it is created. */
export const CHANGING = CHARGE.only(
  'status',
  'paymentStatus',
  'brCode',
  'endToEndId',
  'expiresAt',
  'paymentDate',
  'releaseAt',
  'booked',
  'refunded',
  'shortfall',
  'shipping',
)

/** What a Pix charge or a link has when it is created. The other columns have their defaults. */
export const CREATED = CHARGE.without(
  'status',
  'endToEndId',
  'paymentDate',
  'releaseAt',
  'booked',
  'refunded',
  'shortfall',
  'staticCodeId',
  'recurrenceId',
  'shipping',
)
