import { Inject, Injectable } from '@nestjs/common'
import {
  type CancelPaymentErrorResult,
  type CancelPaymentResult,
  ConfigService,
  type CreatePaymentErrorResult,
  type CreatePaymentResult,
  type CreateRefundResult,
  CurrencyCode,
  type ID,
  Logger,
  Order,
  OrderService,
  Payment,
  type PaymentMetadata,
  PaymentService,
  Refund,
  type RequestContext,
  type SettlePaymentErrorResult,
  type SettlePaymentResult,
  TransactionalConnection,
  totalCoveredByPayments,
  UserInputError,
} from '@vendure/core'
import { Vintem } from '@vintem/client'
import {
  clientOf,
  codeOf,
  leftOf,
  newCharge,
  type Options,
  payerOf,
  stateOf,
} from '../../shop/src/charge.ts'
import { isRefusal } from '../../shop/src/errors.ts'

export const OPTIONS = Symbol('vintem')
export const CONTEXT = 'Vintem'

/** What the payment method does. */
@Injectable()
export class VintemService {
  readonly #options: Options
  readonly #vintem: Vintem
  readonly #connection: TransactionalConnection
  readonly #orders: OrderService
  readonly #payments: PaymentService
  readonly #scale: number

  constructor(
    @Inject(OPTIONS) options: Options,
    @Inject(TransactionalConnection) connection: TransactionalConnection,
    @Inject(OrderService) orders: OrderService,
    @Inject(PaymentService) payments: PaymentService,
    @Inject(ConfigService) { entityOptions }: ConfigService,
  ) {
    this.#options = options
    this.#vintem = new Vintem(clientOf(options))
    this.#connection = connection
    this.#orders = orders
    this.#payments = payments
    this.#scale = 10 ** ((entityOptions.moneyStrategy.precision ?? 2) - 2)
  }

  /** Makes the charge for what is left to pay. The codes that the order had before are canceled. */
  async begin(
    ctx: RequestContext,
    order: Order,
    sent: PaymentMetadata,
  ): Promise<CreatePaymentResult | CreatePaymentErrorResult> {
    await this.lock(ctx, order.id)
    order.payments = await this.#orders.getOrderPayments(ctx, order.id)
    const amount = order.totalWithTax - totalCoveredByPayments(order, ['Authorized', 'Settled'])
    const declined = (errorMessage: string) => ({
      amount,
      state: 'Declined' as const,
      errorMessage,
    })
    if (order.currencyCode !== CurrencyCode.BRL) {
      return declined(`Pix is paid in BRL, not in ${order.currencyCode}.`)
    }
    try {
      const refusal = await this.cancelPending(ctx, order.id)
      if (refusal) return declined(refusal)
      const body = newCharge(this.#options, {
        amount: this.#centsOf(amount),
        customer: payerOf(sent, knownOf(order)),
        externalId: order.code,
      })
      // The same request, sent again, finds the same charge. After another payment it is a new one.
      const idempotencyKey = `${order.code}-${order.payments.length}-${amount}`
      const code = codeOf(await this.#vintem.charges.createPix(body, { idempotencyKey }))
      return { amount, state: 'Pending', transactionId: code.chargeId, metadata: { public: code } }
    } catch (error) {
      return declined(messageOf(error))
    }
  }

  /** Says paid only if Vintém says so when it is asked now. */
  async settle(
    order: Order,
    payment: Payment,
  ): Promise<SettlePaymentResult | SettlePaymentErrorResult> {
    const charge = await this.#vintem.charges.get(payment.transactionId)
    const isPaid =
      charge.externalId === order.code && stateOf(charge, this.#centsOf(payment.amount)) === 'paid'
    if (isPaid) return { success: true }
    const errorMessage = `The charge ${charge.id} is not paid.`
    return { success: false, state: 'Pending', errorMessage }
  }

  /** What is paid is not canceled, but refunded. */
  async cancel(payment: Payment): Promise<CancelPaymentResult | CancelPaymentErrorResult> {
    const { transactionId: id } = payment
    const refused = (errorMessage: string) => {
      const state = payment.state as 'Pending' | 'Settled'
      return { success: false as const, state, errorMessage }
    }
    const charge = await this.#vintem.charges.get(id)
    if (leftOf(charge) > 0) return refused(`The charge ${id} is paid. Refund it instead.`)
    try {
      if (charge.status === 'OPEN') await this.#vintem.charges.cancel(id)
      return { success: true }
    } catch (error) {
      return refused(messageOf(error))
    }
  }

  /** Cancels the codes of an order. The answer is why one cannot be canceled. */
  async cancelPending(ctx: RequestContext, orderId: ID): Promise<string | undefined> {
    const where = { order: { id: orderId }, state: 'Pending' as const }
    for (const { id } of await this.#connection.getRepository(ctx, Payment).find({ where })) {
      const payment = await this.#payments.cancelPayment(ctx, id)
      if (!(payment instanceof Payment)) return payment.transitionError
      if (payment.state !== 'Cancelled') return payment.errorMessage
    }
    return undefined
  }

  /** Cancels the codes of an order that is paid. It stays so, even if one cannot be canceled. */
  async dropPending(ctx: RequestContext, orderId: ID): Promise<void> {
    try {
      const refusal = await this.cancelPending(ctx, orderId)
      if (refusal) Logger.warn(refusal, CONTEXT)
    } catch (error) {
      Logger.error(`A code of the paid order ${orderId} is not canceled: ${error}`, CONTEXT)
    }
  }

  /** The same refund, sent again, goes back once: its key is the number of those before it. */
  async refund(
    ctx: RequestContext,
    amount: number,
    order: Order,
    payment: Payment,
  ): Promise<CreateRefundResult> {
    await this.lock(ctx, order.id)
    const where = { payment: { id: payment.id } }
    const count = await this.#connection.getRepository(ctx, Refund).count({ where })
    const idempotencyKey = `${order.code}-${payment.id}-refund-${count}-${amount}`
    const body = { value: this.#centsOf(amount) }
    try {
      const { transactionId: chargeId } = payment
      const { id } = await this.#vintem.refunds.create(chargeId, body, { idempotencyKey })
      return { state: 'Settled', transactionId: id }
    } catch (error) {
      return { state: 'Failed', metadata: { errorMessage: messageOf(error) } }
    }
  }

  /** Whoever has an order locked is alone with its payments until the transaction ends. */
  async lock(ctx: RequestContext, id: ID): Promise<void> {
    const lock = { mode: 'pessimistic_write' } as const
    try {
      await this.#connection.getRepository(ctx, Order).findOne({ where: { id }, lock })
    } catch (error) {
      // SQLite, where one writes at a time.
      if ((error as Error).name !== 'LockNotSupportedOnGivenDriverError') throw error
    }
  }

  /** Cents, of exactly the amount. */
  #centsOf(amount: number): number {
    const cents = amount / this.#scale
    if (!Number.isInteger(cents)) throw new UserInputError(`${amount} is no whole number of cents.`)
    return cents
  }
}

/** What the shop knows of who pays. */
const knownOf = ({ customer }: Order) => ({
  name: customer && `${customer.firstName} ${customer.lastName}`.trim(),
  taxId: (customer?.customFields as { taxId?: string } | undefined)?.taxId,
  email: customer?.emailAddress,
  phone: customer?.phoneNumber,
})

/** What the shop's customer or operator can correct. All else is thrown, and nothing is stored. */
function messageOf(error: unknown): string {
  if (!isRefusal(error)) throw error
  return error.message
}
