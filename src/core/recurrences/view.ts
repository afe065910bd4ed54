import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import { type Addressing, checkoutUrl } from '../charges/addresses.ts'
import type { Charge, PaymentStatus } from '../charges/rules.ts'
import { CHARGE_STATUSES, asOf as chargeAsOf, PAYMENT_STATUSES } from '../charges/rules.ts'
import { SplitField, SplitView, showTerms } from '../charges/split-view.ts'
import type { ChargeView } from '../charges/view.ts'
import type { Company } from '../companies/rules.ts'
import { showCompanyInCharge } from '../companies/view.ts'
import { openPerson } from '../customers/sealing.ts'
import { PayerBody, showCustomerInCharge } from '../customers/view.ts'
import { orNull, Timestamp } from '../fields.ts'
import { FREQUENCIES } from '../products/rules.ts'
import { asOf, type Recurrence } from './rules.ts'

const Id = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })

export const NewRecurrence = Type.Object({
  productId: Id('A product of type RECURRING'),
  customerId: Id('The customer who pays'),
  split: SplitField,
})

export const NewTemplate = Type.Object({
  productId: Id('A product of type RECURRING'),
  customerId: Type.Optional(Id('Only this customer can subscribe; without it anybody can')),
  split: SplitField,
})

export const TemplateView = Type.Object({ id: Type.String(), productId: Type.String() })

const AUTH_STATUSES = ['CREATED', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELED'] as const

const FIELDS = {
  id: Type.String(),
  status: Type.Enum(['OPEN', 'COMPLETED', 'CANCELED', 'EXPIRED']),
  productId: Type.String(),
  customerId: orNull(Type.String({ description: 'Null in a template for anybody' })),
  value: Type.String({
    description: 'Cents of each charge, as text; a later price leaves it alone',
  }),
  createdAt: Timestamp,
  productName: Type.String(),
  customerName: orNull(Type.String()),
  frequency: Type.Enum([...FREQUENCIES]),
  dayDue: Type.Integer({ description: 'Days to pay after generation' }),
  dayGenerateCharge: orNull(Type.Integer({ description: 'Null: the day of the approval' })),
  externalRecurrenceId: orNull(Type.String({ description: 'The scheme’s id of the agreement' })),
  paymentLinkUrl: Type.String({ description: 'The page on which the payer subscribes' }),
  emv: orNull(Type.String({ description: 'Copy-and-paste code by which the payer agrees' })),
  qrCode: orNull(Type.String({ description: 'QR image of it as PNG data URL' })),
  recurrenceAuthStatus: Type.Enum([...AUTH_STATUSES]),
  isRecurringTemplate: Type.Boolean(),
  split: Type.Optional(SplitView),
}

export const RecurrenceView = Type.Object(FIELDS)

const RecurrenceCharge = Type.Object({
  id: Type.String(),
  status: Type.Enum(CHARGE_STATUSES),
  paymentStatus: Type.Enum(PAYMENT_STATUSES),
  total: Type.String({ description: 'Cents, as text' }),
  expiresAt: Timestamp,
  paymentDate: Type.Optional(Timestamp),
  endToEndId: Type.Optional(Type.String()),
})

export const RecurrenceDetail = Type.Object({
  ...FIELDS,
  charges: Type.Array(RecurrenceCharge, { description: 'Newest first, at most 1,000' }),
})

type Showing = Addressing & { now: Date }

export function showRecurrence(
  recurrence: Recurrence,
  { now, ...app }: Showing,
): Static<typeof RecurrenceView> {
  const { status, authStatus } = asOf(recurrence, now)
  const { brCode, customerId } = recurrence
  return {
    id: toPublic('rec', recurrence.id),
    status,
    productId: toPublic('prod', recurrence.productId),
    customerId: customerId && toPublic('clnt', customerId),
    value: String(recurrence.value),
    createdAt: recurrence.createdAt.toISOString(),
    productName: recurrence.productName,
    customerName: recurrence.payer?.name ?? null,
    frequency: recurrence.frequency,
    dayDue: recurrence.dayDue,
    dayGenerateCharge: recurrence.dayGenerateCharge,
    externalRecurrenceId: recurrence.externalId,
    paymentLinkUrl: checkoutUrl(app, recurrence),
    emv: brCode,
    qrCode: brCode && qrDataUrl(brCode),
    recurrenceAuthStatus: authStatus,
    isRecurringTemplate: recurrence.isTemplate,
    ...(recurrence.split && { split: showTerms(recurrence.split, recurrence.value) }),
  }
}

export const showDetail = (
  recurrence: Recurrence,
  charges: Charge[],
  showing: Showing,
): Static<typeof RecurrenceDetail> => ({
  ...showRecurrence(recurrence, showing),
  charges: charges.map((charge) => showChargeOf(charge, showing.now)),
})

function showChargeOf(charge: Charge, now: Date): Static<typeof RecurrenceCharge> {
  const { status, paymentStatus } = chargeAsOf(charge, now)
  return {
    id: toPublic('charge', charge.id),
    status,
    paymentStatus,
    total: String(charge.amount),
    expiresAt: charge.expiresAt.toISOString(),
    ...(charge.paymentDate ? { paymentDate: charge.paymentDate.toISOString() } : {}),
    ...(charge.endToEndId ? { endToEndId: charge.endToEndId } : {}),
  }
}

export const showTemplate = ({ id, productId }: Recurrence): Static<typeof TemplateView> => ({
  id: toPublic('rec', id),
  productId: toPublic('prod', productId),
})

/** The payment status that an agreement shows as a charge. Its payments are of its charges. */
function paymentStatusOf({ status, authStatus }: Recurrence): PaymentStatus {
  if (status === 'EXPIRED') return 'EXPIRED'
  return authStatus === 'APPROVED' ? 'PROCESSING' : 'PENDING'
}

/** The end of what has no end: a template, and an approved agreement. */
const NEVER = new Date('9999-12-31T23:59:59.999Z')

const endOf = ({ authStatus, expiresAt }: Recurrence): Date =>
  authStatus === 'APPROVED' ? NEVER : (expiresAt ?? NEVER)

/** Shows an agreement or a template as a charge, because clients can ask for it as one. */
export function showAsCharge(
  recurrence: Recurrence,
  started: Recurrence | null,
  { company, now, ...app }: Showing & { company: Company },
): Static<typeof ChargeView> {
  const current = asOf(recurrence, now)
  const { companyId, payer } = recurrence
  return {
    id: toPublic('rec', recurrence.id),
    status: current.status,
    paymentStatus: paymentStatusOf(current),
    total: recurrence.value,
    url: checkoutUrl(app, recurrence),
    devMode: false,
    needShipping: false,
    createdAt: recurrence.createdAt.toISOString(),
    expiresAt: endOf(current).toISOString(),
    ...(payer && {
      customer: showCustomerInCharge({
        ...openPerson(app.vault, companyId, payer),
        name: payer.name,
      }),
    }),
    company: showCompanyInCharge(company),
    ...showSubscription(recurrence.isTemplate ? started : recurrence, { ...app, now }),
    isRecurring: true,
    ...(recurrence.split && { split: showTerms(recurrence.split, recurrence.value) }),
    frequency: recurrence.frequency,
    recurrenceAuthStatus: asOf(started ?? recurrence, now).authStatus,
  }
}

/** What a link, a template or a charge shows of its agreement. */
export function showSubscription(agreement: Recurrence | null, { now, ...app }: Showing) {
  if (!agreement) return {}
  return {
    pixAutomaticEmv: agreement.brCode!,
    pixAutomaticQrCode: qrDataUrl(agreement.brCode!),
    pixAutomaticPaymentLinkUrl: checkoutUrl(app, agreement),
    recurrenceAuthStatus: asOf(agreement, now).authStatus,
    recurrenceChargeId: toPublic('rec', agreement.id),
  }
}

/** The payer who subscribes. A link for one customer needs none. */
export const NewSubscription = Type.Object({ customer: Type.Optional(PayerBody) })

/** What a payer sees who subscribes. */
export const SubscriptionView = Type.Object({
  id: Type.String(),
  emv: Type.String(),
  qrCode: Type.String(),
  recurrenceAuthStatus: Type.Enum([...AUTH_STATUSES]),
  value: Type.String(),
  frequency: Type.Enum([...FREQUENCIES]),
  expiresAt: Timestamp,
})

export const showToPayer = (agreement: Recurrence, now: Date): Static<typeof SubscriptionView> => ({
  id: toPublic('rec', agreement.id),
  emv: agreement.brCode!,
  qrCode: qrDataUrl(agreement.brCode!),
  recurrenceAuthStatus: asOf(agreement, now).authStatus,
  value: String(agreement.value),
  frequency: agreement.frequency,
  expiresAt: agreement.expiresAt!.toISOString(),
})
