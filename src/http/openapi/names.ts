import { FiguresView } from '../../core/balance/figures.ts'
import { BalanceView, EntryView, StatementQuery } from '../../core/balance/view.ts'
import { BatchView, NewBatch } from '../../core/charges/batch-view.ts'
import { NewPlan, PlanView } from '../../core/charges/plan-view.ts'
import { SummaryView } from '../../core/charges/search.ts'
import { NewStaticCode, StaticCodeView } from '../../core/charges/static-view.ts'
import * as charges from '../../core/charges/view.ts'
import { ClockMove, ClockView } from '../../core/clocks/view.ts'
import { CompanyChange, CompanyInCharge, CompanyView } from '../../core/companies/view.ts'
import * as customers from '../../core/customers/view.ts'
import { DeliveryView, Replay, Replayed } from '../../core/deliveries/view.ts'
import * as disputes from '../../core/disputes/view.ts'
import { EventView } from '../../core/feed/view.ts'
import { NewReusableLink, ReusableLinkChange, ReusableLinkView } from '../../core/links/view.ts'
import { Acceptance, SuggestionView, UnmatchedPayment } from '../../core/payments/view.ts'
import { NewProduct, ProductChange, ProductView } from '../../core/products/view.ts'
import * as recipients from '../../core/recipients/view.ts'
import * as recurrences from '../../core/recurrences/view.ts'
import { NewBankReturn, NewPaymentRefund, NewRefund, RefundView } from '../../core/refunds/view.ts'
import { RemindersChange, RemindersView } from '../../core/reminders/view.ts'
import { RequestView } from '../../core/request-log/view.ts'
import { NewSandbox, SandboxView } from '../../core/sandboxes/view.ts'
import { KeyPayment } from '../../core/simulated-bank/view.ts'
import * as versions from '../../core/version-changes/view.ts'
import * as webhooks from '../../core/webhooks/view.ts'
import * as withdrawals from '../../core/withdrawals/view.ts'
import { asSent } from '../normalize.ts'
import { Deleted } from '../route.ts'
import type { Schema } from '../schema.ts'

const { ChargeView, NewLink } = charges
const { RecurrenceView, RecurrenceDetail } = recurrences

const BODIES = {
  CompanyChange,
  RemindersChange,
  NewPixCharge: charges.NewPixCharge,
  NewChargeBatch: NewBatch,
  NewPlan,
  PlanDiscount: NewPlan.properties.discounts.items,
  NewReusableLink,
  ReusableLinkChange,
  NewStaticCode,
  NewPaymentLink: NewLink,
  NewItem: NewLink.properties.items.items,
  ChargeDuplication: charges.Duplication,
  Payer: customers.PayerBody,
  NewCustomer: customers.NewCustomer,
  CustomerChange: customers.CustomerChange,
  NewProduct,
  ProductChange,
  NewRecurrence: recurrences.NewRecurrence,
  NewRecurrenceTemplate: recurrences.NewTemplate,
  NewRecipient: recipients.NewRecipient,
  RecipientChange: recipients.RecipientChange,
  NewPayout: recipients.NewPayout,
  ChargePart: NewLink.properties.split.items,
  NewRefund,
  NewPaymentRefund,
  Acceptance,
  NewWebhook: webhooks.NewWebhook,
  WebhookChange: webhooks.WebhookChange,
  Replay,
  NewWithdrawal: withdrawals.NewWithdrawal,
  WithdrawalConfirmation: withdrawals.Confirmation,
  ClockMove,
  NewSandbox,
  KeyPayment,
  NewBankReturn,
  NewDefense: disputes.NewDefense,
  NewDispute: disputes.NewDispute,
  DisputeDecision: disputes.DisputeDecision,
}

const RESOURCES = {
  Charge: ChargeView,
  ChargeItem: ChargeView.properties.items.items,
  ChargeCustomer: customers.CustomerInCharge,
  ChargeCompany: CompanyInCharge,
  ShippingAddress: ChargeView.properties.shipping,
  ChargeState: charges.ChargeState,
  ChargeAmount: charges.DueAmountView,
  ChargeElement: charges.ElementView,
  ChargeDue: ChargeView.properties.due,
  ShownPart: ChargeView.properties.split.items,
  Recipient: recipients.RecipientView,
  RecipientBalance: recipients.RecipientBalance,
  RecipientEntry: recipients.RecipientEntryView,
  PaymentState: charges.PaymentState,
  CreatedPixCharge: charges.CreatedPixCharge,
  ChargeBatch: BatchView,
  BatchItem: BatchView.properties.items.items,
  Plan: PlanView,
  PlannedCharge: PlanView.properties.charges.items,
  ChargePlan: ChargeView.properties.plan,
  ReusableLink: ReusableLinkView,
  CreatedPaymentLink: charges.CreatedLink,
  StaticCode: StaticCodeView,
  SalesLimits: charges.SalesLimits,
  ChargeSummary: SummaryView,
  Customer: customers.CustomerView,
  Product: ProductView,
  Recurrence: RecurrenceView,
  RecurrenceDetail,
  RecurrenceCharge: RecurrenceDetail.properties.charges.items,
  RecurrenceTemplate: recurrences.TemplateView,
  Refund: RefundView,
  UnmatchedPayment,
  ChargeSuggestion: SuggestionView,
  Dispute: disputes.DisputeView,
  Webhook: webhooks.WebhookView,
  WebhookWithSecret: webhooks.WebhookWithSecret,
  Delivery: DeliveryView,
  DeliveryAttempt: DeliveryView.properties.attempts.items,
  Replayed,
  Event: EventView,
  EventBody: EventView.properties.data,
  LoggedRequest: RequestView,
  Balance: BalanceView,
  StatementEntry: EntryView,
  Figures: FiguresView,
  Withdrawal: withdrawals.WithdrawalView,
  Sandbox: SandboxView,
  StartedWithdrawal: withdrawals.StartedWithdrawal,
  Company: CompanyView,
  Reminders: RemindersView,
  Clock: ClockView,
  WithdrawalCode: withdrawals.WithdrawalCode,
  VersionDiff: versions.VersionDiff,
  Deleted,
}

const ENUMS = {
  ChargeStatus: ChargeView.properties.status,
  PaymentStatus: ChargeView.properties.paymentStatus,
  RecordStatus: ProductView.properties.status,
  ProductType: ProductView.properties.type,
  ProductCategory: ProductView.properties.categories.items,
  MarketplaceStatus: ProductView.properties.marketplaceStatus,
  Frequency: RecurrenceView.properties.frequency,
  RecurrenceAuthStatus: RecurrenceView.properties.recurrenceAuthStatus,
  RefundStatus: RefundView.properties.status,
  DisputeStatus: disputes.DisputeView.properties.status,
  UnmatchedStatus: UnmatchedPayment.properties.status,
  UnmatchedReason: UnmatchedPayment.properties.reason,
  EventType: webhooks.WebhookView.properties.events.items,
  AnyEventType: EventView.properties.type,
  DeliveryStatus: DeliveryView.properties.status,
  EntryType: EntryView.properties.type,
  Account: StatementQuery.properties.account,
  AccountOrBank: EntryView.properties.debit,
  WithdrawalStatus: withdrawals.WithdrawalView.properties.status,
  CompanyMode: CompanyView.properties.mode,
  ApiVersionName: CompanyView.properties.apiVersion,
}

/**
 * The named schemas of the OpenAPI document. A schema is known by its contents: wherever a route
 * uses an equal one, the document refers to the name.
 */
export const NAMES: Record<string, object> = {
  ...Object.fromEntries(
    Object.entries(BODIES).map(([name, body]) => [name, asSent(body as Schema)]),
  ),
  ...RESOURCES,
  ...ENUMS,
}
