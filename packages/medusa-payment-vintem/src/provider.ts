import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  BigNumberInput,
  CancelPaymentInput,
  CancelPaymentOutput,
  CapturePaymentInput,
  CapturePaymentOutput,
  DeletePaymentInput,
  DeletePaymentOutput,
  GetPaymentStatusInput,
  GetPaymentStatusOutput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  Logger,
  PaymentSessionDTO,
  ProviderWebhookPayload,
  RefundPaymentInput,
  RefundPaymentOutput,
  RetrievePaymentInput,
  RetrievePaymentOutput,
  UpdatePaymentInput,
  UpdatePaymentOutput,
  WebhookActionResult,
} from '@medusajs/framework/types'
import {
  AbstractPaymentProvider,
  MathBN,
  MedusaError,
  PaymentActions,
  PaymentSessionStatus,
} from '@medusajs/framework/utils'
import { isWebhookSecret, unwrapWebhook, Vintem, WebhookVerificationError } from '@vintem/client'
import {
  clientOf,
  codeOf,
  leftOf,
  newCharge,
  type Options,
  type State,
  stateOf,
} from '../../shop/src/charge.ts'
import { isRefusal } from '../../shop/src/errors.ts'
import { payerOfSession, type SessionData } from './charge.ts'

/** What of the payment module is used here. */
type Container = {
  logger: Logger
  paymentSessionService: {
    list(filters: object, config: object): Promise<PaymentSessionDTO[]>
  }
}

const STATUS: Record<State, PaymentSessionStatus> = {
  open: PaymentSessionStatus.PENDING,
  paid: PaymentSessionStatus.CAPTURED,
  closed: PaymentSessionStatus.CANCELED,
}

const NOT_SUPPORTED: WebhookActionResult = { action: PaymentActions.NOT_SUPPORTED }

/** Pix through Vintém. Whether something is paid is always asked there. */
export class VintemPaymentProvider extends AbstractPaymentProvider<Options> {
  static override identifier = 'vintem'
  readonly #container: Container
  readonly #options: Options
  readonly #vintem: Vintem

  constructor(container: Container, options: Options) {
    super(container, options)
    this.#container = container
    this.#options = options
    this.#vintem = new Vintem(clientOf(options))
  }

  static override validateOptions({ url, key, webhookSecret }: Partial<Options>): void {
    if (!url || !key) throw invalid('medusa-payment-vintem: the options url and key are needed')
    if (![webhookSecret ?? ''].flat().every(isWebhookSecret)) {
      throw invalid('medusa-payment-vintem: webhookSecret must be that of a webhook, whsec_…')
    }
  }

  /** Makes the charge. The same session never has two of them. */
  override async initiatePayment(input: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const data = await this.#charge(input, String(input.data?.session_id))
    return { id: data.chargeId, status: PaymentSessionStatus.PENDING, data }
  }

  /** A charge cannot change, so that of another amount takes its place. */
  override async updatePayment(input: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const old = dataOf(input)
    const amount = centsOf(input.amount, input.currency_code)
    if (amount === old.amount) return { data: old }
    await this.#cancel(old)
    const data = await this.#charge(input, `${old.session_id}-${old.chargeId}-${amount}`)
    return { status: PaymentSessionStatus.PENDING, data: { ...old, ...data } }
  }

  override async authorizePayment(input: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const data = dataOf(input)
    const session = await this.#sessionOf(data.session_id)
    const state = session ? await this.#receive(session) : 'closed'
    return { status: STATUS[state], data }
  }

  /** The money of a Pix is there at once: there is nothing to do but to look. */
  override async capturePayment(input: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const data = dataOf(input)
    const state = stateOf(await this.#vintem.charges.get(data.chargeId), data.amount)
    if (state !== 'paid') throw refused(`The charge ${data.chargeId} is not paid.`)
    return { data }
  }

  /** The refund of the shop is its idempotency key, so that it goes back once. */
  override async refundPayment(input: RefundPaymentInput): Promise<RefundPaymentOutput> {
    const data = dataOf(input)
    const idempotencyKey = input.context?.idempotency_key
    const value = centsOf(input.amount)
    await this.#vintem.refunds.create(data.chargeId, { value }, { idempotencyKey }).catch(rethrow)
    return { data }
  }

  override async cancelPayment(input: CancelPaymentInput): Promise<CancelPaymentOutput> {
    const data = dataOf(input)
    await this.#cancel(data)
    return { data }
  }

  override async deletePayment(input: DeletePaymentInput): Promise<DeletePaymentOutput> {
    return this.cancelPayment(input)
  }

  override async retrievePayment(input: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    return { data: { ...(await this.#vintem.charges.get(dataOf(input).chargeId)) } }
  }

  override async getPaymentStatus(input: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const data = dataOf(input)
    const charge = await this.#vintem.charges.get(data.chargeId)
    return { status: STATUS[stateOf(charge, data.amount)], data }
  }

  /** Says paid only if Vintém says so when it is asked now. */
  override async getWebhookActionAndData({
    rawData,
    headers,
  }: ProviderWebhookPayload['payload']): Promise<WebhookActionResult> {
    try {
      const secret = this.#options.webhookSecret
      const event = await unwrapWebhook(rawData, headers as Record<string, string>, secret)
      if (event.event !== 'Charge.Paid') return NOT_SUPPORTED
      return await this.#actionOf(event.charge.id)
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      this.#container.logger.warn(`Vintém: a webhook was refused: ${error.message}`)
      return NOT_SUPPORTED
    }
  }

  async #actionOf(chargeId: string): Promise<WebhookActionResult> {
    const { externalId } = await this.#vintem.charges.get(chargeId)
    const session = externalId && (await this.#sessionOf(externalId))
    if (!session || session.data?.chargeId !== chargeId) return NOT_SUPPORTED
    if ((await this.#receive(session)) !== 'paid') {
      if (!session.payment) this.#container.logger.warn(`Vintém: ${chargeId} is not paid.`)
      return NOT_SUPPORTED
    }
    const data = { session_id: session.id, amount: session.amount as number }
    return { action: PaymentActions.SUCCESSFUL, data }
  }

  async #charge(
    { amount, currency_code, context, data }: InitiatePaymentInput,
    idempotencyKey: string,
  ): Promise<SessionData> {
    const session_id = String(data?.session_id)
    const body = newCharge(this.#options, {
      amount: centsOf(amount, currency_code),
      customer: payerOfSession(data?.customer, context?.customer),
      externalId: session_id,
    })
    const charge = await this.#vintem.charges.createPix(body, { idempotencyKey }).catch(rethrow)
    return { session_id, ...codeOf(charge) }
  }

  async #cancel({ chargeId }: SessionData): Promise<void> {
    const charge = await this.#vintem.charges.get(chargeId)
    if (charge.status === 'OPEN') await this.#vintem.charges.cancel(chargeId).catch(rethrow)
    if (leftOf(charge) > 0) throw refused(`The charge ${chargeId} is paid. Refund it instead.`)
  }

  async #sessionOf(id: string): Promise<PaymentSessionDTO | undefined> {
    const config = { relations: ['payment'] }
    const [session] = await this.#container.paymentSessionService.list({ id }, config)
    return session
  }

  /** Asks for the charge of a session, which must have brought the session's amount. */
  async #receive(session: PaymentSessionDTO): Promise<State> {
    const charge = await this.#vintem.charges.get(dataOf(session).chargeId)
    return stateOf(charge, centsOf(session.amount, session.currency_code))
  }
}

const dataOf = ({ data }: { data?: Record<string, unknown> }): SessionData => data as SessionData

/** Cents, of exactly the amount. */
function centsOf(amount: BigNumberInput, currency = 'brl'): number {
  if (currency.toLowerCase() !== 'brl') throw invalid(`Pix is paid in BRL, not in ${currency}.`)
  const cents = MathBN.mult(amount, 100)
  if (!cents.isInteger()) throw invalid(`${amount} is no whole number of cents.`)
  return cents.toNumber()
}

const invalid = (message: string) => new MedusaError(MedusaError.Types.INVALID_DATA, message)
const refused = (message: string) => new MedusaError(MedusaError.Types.NOT_ALLOWED, message)

/** What the shop's customer or operator can correct is told to them. */
function rethrow(error: unknown): never {
  if (!isRefusal(error)) throw error
  throw error.status === 400 ? invalid(error.message) : refused(error.message)
}
