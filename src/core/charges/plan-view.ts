import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { lastDayToPay } from '../../pix/due-amount.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { ERASED } from '../customers/rules.ts'
import { CustomerInCharge, PayerBody } from '../customers/view.ts'
import { Amount, Day, ExternalId, PAGE, Timestamp } from '../fields.ts'
import { checkoutUrl, planUrl } from './addresses.ts'
import { MAX_CHARGES, MIN_CHARGES, moneyOf, type Plan, statusOf } from './plan-rules.ts'
import { asOf, CHARGE_STATUSES, type Charge } from './rules.ts'
import {
  DevMode,
  DueAmountView,
  DueFields,
  describedIn,
  PaymentState,
  RATE,
  showAmount,
  showPayer,
} from './view.ts'

const { daysAfterDue, fine, interest, discountPerDay, rebate } = DueFields.properties

const LENGTHS = { minItems: MIN_CHARGES, maxItems: MAX_CHARGES }

export const NewPlan = Type.Object({
  total: Amount(MIN_CHARGES * MIN_CHARGE, 'Cents; the charges add up to it'),
  count: Type.Optional(
    Type.Integer({
      minimum: MIN_CHARGES,
      maximum: MAX_CHARGES,
      description: 'How many charges; it may be left out with amounts or dueDates',
    }),
  ),
  amounts: Type.Optional(
    Type.Array(Amount(MIN_CHARGE, 'Cents'), {
      ...LENGTHS,
      description: 'By default all are equal, with the rest in the first',
    }),
  ),
  firstDueDate: Type.Optional(
    Day('The others are on the same day of the next months, or on the last day of a shorter one'),
  ),
  dueDates: Type.Optional(
    Type.Array(Day('A day'), { ...LENGTHS, description: 'Instead of firstDueDate, in order' }),
  ),
  daysAfterDue,
  fine,
  interest,
  discounts: Type.Optional(
    Type.Array(
      Type.Object({
        ...RATE,
        daysBeforeDue: Type.Integer({
          minimum: 0,
          maximum: 365,
          description: 'Up to and on the day that is so many days before each due date',
        }),
      }),
      { minItems: 1, maxItems: 3, description: 'As in `POST /charge/pix`, for each charge' },
    ),
  ),
  discountPerDay,
  rebate,
  customer: PayerBody,
  externalId: Type.Optional(ExternalId),
  /** The bank shows it with the number of the charge. */
  description: Type.Optional(describedIn(130)),
  devMode: DevMode,
  notifyCustomer: Type.Optional(
    Type.Boolean({ description: 'Send the payer the page with all charges by e-mail' }),
  ),
})

const PlannedCharge = Type.Object({
  number: Type.Integer({ description: 'From 1' }),
  ...PaymentState.properties,
  total: Type.Integer({ description: 'Cents, before anything is added or taken off' }),
  dueDate: Type.String({ format: 'date' }),
  lastDay: Type.String({ description: 'The last day on which it can be paid' }),
  amount: DueAmountView,
  url: Type.String({ description: 'Payment page for the payer' }),
  brCode: Type.Optional(Type.String({ description: 'Copy-and-paste code' })),
  paymentDate: Type.Optional(Timestamp),
})

export const PlanView = Type.Object({
  id: Type.String(),
  status: Type.Enum(CHARGE_STATUSES, {
    type: 'string',
    description:
      'OPEN while something can be paid. Then COMPLETED if all is paid, CANCELED if something was canceled, otherwise EXPIRED',
  }),
  total: Type.Integer({ description: 'Cents' }),
  count: Type.Integer({ description: 'How many charges' }),
  received: Type.Integer({ description: 'Cents that have arrived' }),
  toPay: Type.Integer({
    description: 'Cents that settle today all that is open, with what is added or taken off',
  }),
  url: Type.String({ description: 'Page for the payer, with all charges' }),
  externalId: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  devMode: Type.Boolean(),
  createdAt: Timestamp,
  customer: CustomerInCharge,
  charges: Type.Optional(
    Type.Array(PlannedCharge, { description: 'In the order of their due dates; not in lists' }),
  ),
})

export const PlanQuery = Type.Object(PAGE)

type Showing = { vault: Vault; publicUrl: string; now: Date }

/** A plan without its charges, as lists show it. */
export function showPlan(
  plan: Plan,
  charges: Charge[],
  { vault, publicUrl, now }: Showing,
): Static<typeof PlanView> {
  const { payer } = charges[0]!
  return {
    id: toPublic('plan', plan.id),
    status: statusOf(charges.map((charge) => asOf(charge, now))),
    total: plan.total,
    count: plan.chargeIds.length,
    ...moneyOf(charges, now),
    url: planUrl({ vault, publicUrl }, plan),
    ...(plan.externalId === null ? {} : { externalId: plan.externalId }),
    ...(plan.description === null ? {} : { description: plan.description }),
    devMode: plan.devMode,
    createdAt: plan.createdAt.toISOString(),
    customer: payer ? showPayer(vault, plan.companyId, payer) : { name: ERASED },
  }
}

export const showWholePlan = (
  plan: Plan,
  charges: Charge[],
  showing: Showing,
): Static<typeof PlanView> => ({
  ...showPlan(plan, charges, showing),
  charges: charges.map((charge) => showPlanned(charge, showing)),
})

function showPlanned(
  charge: Charge,
  { vault, publicUrl, now }: Showing,
): Static<typeof PlannedCharge> {
  const { status, paymentStatus } = asOf(charge, now)
  const { terms, plan } = charge.due!
  return {
    number: plan!.number,
    id: toPublic('charge', charge.id),
    status,
    paymentStatus,
    total: charge.amount,
    dueDate: terms.dueDate,
    lastDay: lastDayToPay(terms),
    amount: showAmount(charge, localDateOf(now)),
    url: checkoutUrl({ vault, publicUrl }, charge),
    ...(charge.brCode === null ? {} : { brCode: charge.brCode }),
    ...(charge.paymentDate === null ? {} : { paymentDate: charge.paymentDate.toISOString() }),
  }
}
