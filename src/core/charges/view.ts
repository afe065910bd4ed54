import Type, { type Static } from 'typebox'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { createMemo } from '../../lib/memo.ts'
import type { Cents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import { MAX_AMOUNT, MIN_CHARGE } from '../../pix/amounts.ts'
import { amountOn, INTEREST_TYPES, lastDayToPay } from '../../pix/due-amount.ts'
import { type LocalDate, localDateOf } from '../../pix/local-time.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import type { Company } from '../companies/rules.ts'
import { CompanyInCharge, showCompanyInCharge } from '../companies/view.ts'
import { openPerson, type SealedPerson } from '../customers/sealing.ts'
import { CustomerInCharge, PayerBody, showCustomerInCharge } from '../customers/view.ts'
import { Amount, Day, ExternalId, HttpUrl, orNull, Timestamp } from '../fields.ts'
import { FREQUENCIES } from '../products/rules.ts'
import { ProductView } from '../products/view.ts'
import { type Addressing, checkoutUrl, elementUrl } from './addresses.ts'
import {
  asOf,
  CHARGE_STATUSES,
  type Charge,
  type Due,
  type Item,
  isSubscriptionLink,
  itemTotal,
  LINK_LIFETIME_S,
  type Link,
  MAX_LIFETIME_S,
  PAYMENT_STATUSES,
  PIX_LIFETIME_S,
  type PlanPart,
} from './rules.ts'
import { openShipping, STATES } from './shipping.ts'
import { SplitField, SplitView, showSplit } from './split-view.ts'

/** One item of a link and its total, which may be more than a charge may be. */
type Line = { name: string; quantity: number; total: bigint }

/** The items, and what is added to their sum or, if below zero, taken off. */
type Breakdown = { lines: Line[]; difference: bigint }

/** Lines and difference add up to the amount. Without items there is no difference. */
export function breakDown(amount: Cents, items: Item[]): Breakdown {
  const lines = items.map((item) => ({
    name: item.product.name,
    quantity: item.quantity,
    total: itemTotal(item),
  }))
  const difference = lines.length > 0 ? BigInt(amount) - sumOf(lines) : 0n
  return { lines, difference }
}

export const sumOf = (lines: Line[]): bigint => lines.reduce((sum, { total }) => sum + total, 0n)

const DIFFERS: Record<Language, (total: Cents, sum: bigint) => string> = {
  en: (total, sum) =>
    `total: ${total} cents are not the sum of the items, which is ${sum} cents. The payer is asked for the total.`,
  pt: (total, sum) =>
    `total: ${total} centavos diferem da soma dos itens, que vale ${sum} centavos. O pagador paga o total.`,
}

/** What is allowed in a link, but probably a mistake. */
function linkWarnings(
  { amount, link }: Pick<Charge, 'amount' | 'link'>,
  language: Language,
): string[] {
  const { lines, difference } = breakDown(amount, link?.items ?? [])
  return difference === 0n ? [] : [DIFFERS[language](amount, sumOf(lines))]
}

const Lifetime = (fallback: number) =>
  Type.Integer({
    minimum: 1,
    maximum: MAX_LIFETIME_S,
    default: fallback,
    description: 'Seconds until the charge expires',
  })

/** Base64 needs no escaping, and to search a long image for it would take most of the time. */
export const DataUrl = (description: string) => Type.String({ format: 'unsafe', description })

/** Characters, as the scheme counts them. */
export const describedIn = (maxLength: number) =>
  Type.String({
    maxLength,
    description: 'What the payer reads on the payment page, and in the app of their bank',
  })
const Description = describedIn(140)

export const DevMode = Type.Optional(
  Type.Boolean({ default: false, description: 'For tests: simulate-payment pays it' }),
)

export const DAYS_AFTER_DUE = 30

const FixedOrPercent = Type.Enum(['FIXED', 'PERCENT'], {
  type: 'string',
  description: 'FIXED: cents. PERCENT: hundredths of a percent, 200 is 2,00 %',
})
const RateValue = Type.Integer({ minimum: 1, maximum: MAX_AMOUNT })
export const RATE = { type: FixedOrPercent, value: RateValue }
const CountedDays = Type.Optional(
  Type.Enum(['CALENDAR', 'BUSINESS'], { type: 'string', default: 'CALENDAR' }),
)

/** The terms of a charge with a due date. */
export const DueFields = Type.Object({
  dueDate: Type.Optional(
    Day('The last day on which nothing is added. If it is no business day, it is the next one'),
  ),
  daysAfterDue: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 365,
      default: DAYS_AFTER_DUE,
      description: 'For how many days after dueDate it can be paid',
    }),
  ),
  fine: Type.Optional(Type.Object(RATE, { description: 'Added once, if it is paid late' })),
  interest: Type.Optional(
    Type.Object(
      {
        type: Type.Enum([...INTEREST_TYPES], {
          type: 'string',
          description: 'FIXED_PER_DAY: cents. Others: hundredths of a percent',
        }),
        value: RateValue,
        days: CountedDays,
      },
      { description: 'Added for each day that it is paid late; it is simple interest' },
    ),
  ),
  discounts: Type.Optional(
    Type.Array(Type.Object({ ...RATE, until: Day('Up to and on this day') }), {
      minItems: 1,
      maxItems: 3,
      description: 'The one that ends first, of those that have not ended, is taken off',
    }),
  ),
  discountPerDay: Type.Optional(
    Type.Object(
      { ...RATE, days: CountedDays },
      { description: 'Taken off for each day before dueDate' },
    ),
  ),
  rebate: Type.Optional(
    Type.Object(RATE, { description: 'Taken off, on whatever day it is paid' }),
  ),
})

/** What is to be paid on a day, and how it comes about. */
export const DueAmountView = Type.Object({
  on: Type.String({ format: 'date', description: 'The day in São Paulo' }),
  original: Type.Integer({ description: 'Cents, as all others' }),
  fine: Type.Integer(),
  interest: Type.Integer(),
  discount: Type.Integer(),
  rebate: Type.Integer(),
  total: Type.Integer({ description: 'original + fine + interest − discount − rebate' }),
})

export const DueView = Type.Object(
  {
    ...DueFields.properties,
    lastDay: Type.String({ description: 'The last day on which it can be paid' }),
    amount: DueAmountView,
  },
  {
    description:
      'Of a charge with a due date: its terms, and what is to be paid today, or was paid on its day',
  },
)

const PlanPartView = Type.Object(
  {
    id: Type.String(),
    number: Type.Integer({ description: 'Which of its charges it is, from 1' }),
    count: Type.Integer({ description: 'How many it has' }),
  },
  { description: 'The plan that the charge is of' },
)

export const NewPixCharge = Type.Object({
  amount: Amount(MIN_CHARGE, 'Cents'),
  customer: PayerBody,
  expiresIn: Type.Optional(Lifetime(PIX_LIFETIME_S)),
  ...DueFields.properties,
  split: SplitField,
  externalId: Type.Optional(ExternalId),
  description: Type.Optional(Description),
  devMode: DevMode,
})

export const NewLink = Type.Object({
  total: Type.Optional(Amount(MIN_CHARGE, 'Cents; when omitted it is calculated from items')),
  customerId: Type.Optional(Type.String({ maxLength: 255, description: 'An existing customer' })),
  customer: Type.Optional(PayerBody),
  successUrl: Type.Optional(HttpUrl),
  failedUrl: Type.Optional(HttpUrl),
  needShipping: Type.Optional(Type.Boolean({ default: false })),
  notifyCustomer: Type.Optional(Type.Boolean({ description: 'Send the payer the link by e-mail' })),
  devMode: DevMode,
  externalId: Type.Optional(ExternalId),
  description: Type.Optional(Description),
  expiresIn: Type.Optional(Lifetime(LINK_LIFETIME_S)),
  ...DueFields.properties,
  split: SplitField,
  items: Type.Optional(
    Type.Array(
      Type.Object({
        productId: Type.String({ maxLength: 255 }),
        quantity: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      }),
      { minItems: 1, maxItems: 100 },
    ),
  ),
})

export const Duplication = Type.Object({
  externalId: Type.Optional(ExternalId),
  expiresIn: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIFETIME_S,
      description: 'Seconds until the charge expires; by default as many as the original had',
    }),
  ),
})

export const CreatedPixCharge = Type.Object({
  id: Type.String(),
  status: Type.Enum(PAYMENT_STATUSES, {
    type: 'string',
    description: 'The payment status, PROCESSING at creation',
  }),
  amount: Type.Integer(),
  brCode: Type.String({ description: 'Copy-and-paste code' }),
  brCodeBase64: DataUrl('QR image as PNG data URL'),
  url: Type.String({ description: 'Payment page for the payer' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  externalId: orNull(Type.String()),
  description: Type.Optional(Type.String()),
  devMode: Type.Boolean(),
})

export const CreatedLink = Type.Object({
  id: Type.String(),
  url: Type.String({ description: 'The link to share' }),
  devMode: Type.Boolean(),
  total: Type.Integer(),
  externalId: orNull(Type.String()),
  description: Type.Optional(Type.String()),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'What is allowed, but probably a mistake: a total that differs from the sum of the items. In sentences; left out if there is nothing',
    }),
  ),
})

export const SalesLimits = Type.Object({
  limited: Type.Boolean(),
  limit: orNull(Type.Integer()),
  used: orNull(Type.Integer()),
  remaining: orNull(Type.Integer()),
  period: Type.String({ description: 'The month, yyyy-mm, in America/Sao_Paulo' }),
})

export const PaymentState = Type.Object({
  id: Type.String(),
  status: Type.Enum(CHARGE_STATUSES),
  paymentStatus: Type.Enum(PAYMENT_STATUSES),
})

export const ChargeState = Type.Object({
  ...PaymentState.properties,
  paymentDate: Type.Optional(Timestamp),
})

/** What a page of a shop shows `<vintem-pix>` with. */
export const ElementView = Type.Object({
  id: Type.String(),
  src: Type.String({
    description: 'For <vintem-pix src>. Whoever has it can read code and state, and nothing else',
  }),
})

export function showElement(charge: Charge, addressing: Addressing): Static<typeof ElementView> {
  if (charge.brCode === null) throw problem('charge_without_code')
  return { id: toPublic('charge', charge.id), src: elementUrl(addressing, charge) }
}

const ItemView = Type.Object({
  productId: Type.String(),
  companyId: Type.String({ format: 'uuid' }),
  quantity: Type.Integer(),
  product: Type.Optional(ProductView),
})

const ShippingView = Type.Object(
  {
    postalCode: Type.String({ description: 'CEP, 8 digits' }),
    address: Type.String({ description: 'Street name' }),
    number: Type.String({ description: 'Street number' }),
    line1: Type.Optional(Type.String({ description: 'Complement' })),
    district: Type.String({ description: 'Neighborhood' }),
    city: Type.String(),
    state: Type.Enum(STATES, { type: 'string', description: 'Two letters, such as SP' }),
  },
  { description: 'Where the payer of a link with needShipping wants it sent' },
)

export const ChargeView = Type.Object({
  ...PaymentState.properties,
  total: Type.Integer({ description: 'Cents' }),
  url: Type.String({ description: 'Payment page for the payer' }),
  paymentDate: Type.Optional(Timestamp),
  successUrl: Type.Optional(Type.String()),
  failedUrl: Type.Optional(Type.String()),
  devMode: Type.Boolean(),
  needShipping: Type.Boolean(),
  brCode: Type.Optional(Type.String({ description: 'Copy-and-paste code' })),
  brCodeBase64: Type.Optional(DataUrl('QR image as PNG data URL; in lists with include=qr')),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  externalId: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  endToEndId: Type.Optional(Type.String({ description: 'The scheme’s id of the payment' })),
  refunded: Type.Optional(
    Type.Integer({ description: 'Cents that went back to the payer, or are on their way' }),
  ),
  shortfall: Type.Optional(
    Type.Integer({
      description: 'Cents of the total that did not arrive: you settled it with less',
    }),
  ),
  correlationID: Type.Optional(Type.String({ description: 'The static code that was paid' })),
  linkId: Type.Optional(Type.String({ description: 'The reusable link that sold it' })),
  items: Type.Optional(Type.Array(ItemView)),
  customer: Type.Optional(CustomerInCharge),
  shipping: Type.Optional(ShippingView),
  due: Type.Optional(DueView),
  plan: Type.Optional(PlanPartView),
  split: Type.Optional(SplitView),
  company: CompanyInCharge,
  isRecurring: Type.Optional(
    Type.Boolean({ description: 'True for a subscription, its links and its charges' }),
  ),
  pixAutomaticEmv: Type.Optional(
    Type.String({ description: 'Copy-and-paste code by which the payer agrees' }),
  ),
  pixAutomaticQrCode: Type.Optional(DataUrl('QR image of it as PNG data URL')),
  pixAutomaticPaymentLinkUrl: Type.Optional(Type.String()),
  recurrenceAuthStatus: Type.Optional(
    Type.Enum(['CREATED', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELED']),
  ),
  recurrenceChargeId: Type.Optional(
    Type.String({ description: 'The subscription of this charge, or started from this link' }),
  ),
  frequency: Type.Optional(Type.Enum([...FREQUENCIES])),
})

type Payer = Static<typeof CustomerInCharge>

/** The shown fields of a charge that never change. */
type Fixed = { id: string; url: string; createdAt: string; expiresAt: string }

/** The image of a charge is mostly read shortly after it was created, by who waits to be paid. */
const images = createMemo<string>(8_192)

const fixedOf = (charge: Charge, app: Addressing): Fixed => ({
  id: toPublic('charge', charge.id),
  url: checkoutUrl(app, charge),
  createdAt: charge.createdAt.toISOString(),
  expiresAt: charge.expiresAt.toISOString(),
})

const imageOf = (id: Uuid, brCode: string): string => images.of(id, () => qrDataUrl(brCode))

export function showCreatedPix(charge: Charge, app: Addressing): Static<typeof CreatedPixCharge> {
  const image = imageOf(charge.id, charge.brCode!)
  return { ...showWithoutImage(charge, app), brCodeBase64: image }
}

/** A created charge in the answer to a batch, which would be several times as long with images. */
export function showWithoutImage(
  charge: Charge,
  app: Addressing,
): Omit<Static<typeof CreatedPixCharge>, 'brCodeBase64'> {
  const { id, url, createdAt, expiresAt } = fixedOf(charge, app)
  return {
    id,
    status: charge.paymentStatus,
    amount: charge.amount,
    brCode: charge.brCode!,
    url,
    createdAt,
    expiresAt,
    externalId: charge.externalId,
    ...describe(charge),
    devMode: charge.devMode,
  }
}

const describe = ({ description }: Charge) => (description === null ? {} : { description })

export function showCreatedLink(
  charge: Charge,
  app: Addressing,
  language: Language,
): Static<typeof CreatedLink> {
  const warnings = linkWarnings(charge, language)
  return {
    id: toPublic('charge', charge.id),
    url: checkoutUrl(app, charge),
    devMode: charge.devMode,
    total: charge.amount,
    externalId: charge.externalId,
    ...describe(charge),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
}

export function showPaymentState(charge: Charge, now: Date): Static<typeof PaymentState> {
  const { status, paymentStatus } = asOf(charge, now)
  return { id: toPublic('charge', charge.id), status, paymentStatus }
}

export function showState(charge: Charge, now: Date): Static<typeof ChargeState> {
  const paymentDate = charge.paymentDate?.toISOString()
  return { ...showPaymentState(charge, now), ...(paymentDate ? { paymentDate } : {}) }
}

type Showing = { company: Company; vault: Vault; publicUrl: string; now: Date }

type Shown = { company: Company; view: Static<typeof ChargeView> }

/** What was shown of a charge, which is the same object until it changes. */
const shownBefore = {
  withImage: new WeakMap<Charge, Shown>(),
  withoutImage: new WeakMap<Charge, Shown>(),
}

/**
 * A charge that is probably shown again before it changes. The view is frozen, so that it is
 * written as JSON once.
 */
export function showAgain(
  charge: Charge,
  showing: Showing,
  { image }: { image: boolean },
): Static<typeof ChargeView> {
  const { company, now } = showing
  const before = image ? shownBefore.withImage : shownBefore.withoutImage
  const last = before.get(charge)
  // What is to be paid depends on the day.
  if (charge.due !== null) return showCharge(charge, showing, { image })
  if (last?.company === company && last.view.status === asOf(charge, now).status) return last.view
  const view = Object.freeze(showCharge(charge, showing, { image }))
  before.set(charge, { company, view })
  return view
}

/** A charge for its company. */
export function showCharge(
  charge: Charge,
  { company, vault, publicUrl, now }: Showing,
  { image }: { image: boolean },
): Static<typeof ChargeView> {
  const { id, url, createdAt, expiresAt } = fixedOf(charge, { vault, publicUrl })
  const { status, paymentStatus } = asOf(charge, now)
  const shown: Static<typeof ChargeView> = {
    id,
    status,
    paymentStatus,
    url,
    createdAt,
    expiresAt,
    total: charge.amount,
    devMode: charge.devMode,
    needShipping: charge.link?.needShipping ?? false,
    company: showCompanyInCharge(company),
  }
  if (charge.paymentDate !== null) shown.paymentDate = charge.paymentDate.toISOString()
  if (charge.brCode !== null) shown.brCode = charge.brCode
  if (charge.brCode !== null && image) shown.brCodeBase64 = imageOf(charge.id, charge.brCode)
  if (charge.externalId !== null) shown.externalId = charge.externalId
  if (charge.description !== null) shown.description = charge.description
  if (charge.due !== null) shown.due = showDue(charge, charge.due, now)
  if (charge.due?.plan) shown.plan = showPlanPart(charge.due.plan)
  const { split } = charge
  if (split !== null) shown.split = showSplit({ ...charge, split }, now)
  if (charge.endToEndId !== null) shown.endToEndId = charge.endToEndId
  if (charge.refunded > 0) shown.refunded = charge.refunded
  if (charge.shortfall > 0) shown.shortfall = charge.shortfall
  if (charge.staticCodeId !== null) shown.correlationID = toPublic('qrs', charge.staticCodeId)
  if (charge.linkId !== null) shown.linkId = toPublic('link', charge.linkId)
  if (charge.link !== null) Object.assign(shown, showLink(charge.companyId, charge.link))
  if (charge.recurrenceId !== null) {
    Object.assign(shown, {
      isRecurring: true,
      recurrenceChargeId: toPublic('rec', charge.recurrenceId),
      // It changes if a collection is rescheduled, so the remembered one is not used.
      expiresAt: charge.expiresAt.toISOString(),
    })
  }
  if (isSubscriptionLink(charge)) {
    Object.assign(shown, { isRecurring: true, frequency: charge.link!.items[0]!.product.frequency })
  }
  if (charge.shipping !== null) shown.shipping = openShipping(vault, charge, charge.shipping)
  if (charge.payer !== null) shown.customer = showPayer(vault, charge.companyId, charge.payer)
  return shown
}

/** What is to be paid on a day, or was paid. */
export const showAmount = ({ amount, due }: Charge, on: LocalDate): Static<typeof DueAmountView> =>
  due
    ? (due.paid ?? amountOn(amount, due.terms, on))
    : { on, original: amount, fine: 0, interest: 0, discount: 0, rebate: 0, total: amount }

const showDue = (charge: Charge, { terms }: Due, now: Date): Static<typeof DueView> => ({
  ...terms,
  lastDay: lastDayToPay(terms),
  amount: showAmount(charge, localDateOf(now)),
})

const showPlanPart = (part: PlanPart): Static<typeof PlanPartView> => ({
  ...part,
  id: toPublic('plan', part.id),
})

function showLink(companyId: Uuid, { items, successUrl, failedUrl }: Link) {
  const shown = items.map(({ quantity, product }) => ({
    productId: product.id,
    companyId,
    quantity,
    product,
  }))
  return {
    ...(successUrl === null ? {} : { successUrl }),
    ...(failedUrl === null ? {} : { failedUrl }),
    ...(shown.length === 0 ? {} : { items: shown }),
  }
}

export const showPayer = (
  vault: Vault,
  companyId: Uuid,
  payer: SealedPerson & { name: string },
): Payer => showCustomerInCharge({ ...openPerson(vault, companyId, payer), name: payer.name })
