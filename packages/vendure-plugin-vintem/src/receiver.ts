import { Inject, Injectable } from '@nestjs/common'
import {
  ChannelService,
  idsAreEqual,
  Logger,
  type Order,
  OrderService,
  Payment,
  type RequestContext,
  RequestContextService,
  SettingsStoreService,
  TransactionalConnection,
} from '@vendure/core'
import { signWebhook, unwrapWebhook, Vintem, type WebhookHeaders } from '@vintem/client'
import { clientOf, type Options } from '../../shop/src/charge.ts'
import { type Progress, pull } from '../../shop/src/pull.ts'
import { CONTEXT, OPTIONS, VintemService } from './service.ts'

export const NAMESPACE = 'vintem'
export const PROGRESS = 'progress'
const KEY = `${NAMESPACE}.${PROGRESS}`

/** Hears of payments, by webhooks and from the feed. */
@Injectable()
export class VintemReceiver {
  readonly #options: Options
  readonly #vintem: Vintem
  readonly #channels: ChannelService
  readonly #connection: TransactionalConnection
  readonly #contexts: RequestContextService
  readonly #orders: OrderService
  readonly #settings: SettingsStoreService
  readonly #service: VintemService

  constructor(
    @Inject(OPTIONS) options: Options,
    @Inject(ChannelService) channels: ChannelService,
    @Inject(TransactionalConnection) connection: TransactionalConnection,
    @Inject(RequestContextService) contexts: RequestContextService,
    @Inject(OrderService) orders: OrderService,
    @Inject(SettingsStoreService) settings: SettingsStoreService,
    @Inject(VintemService) service: VintemService,
  ) {
    this.#options = options
    this.#vintem = new Vintem(clientOf(options))
    this.#channels = channels
    this.#connection = connection
    this.#contexts = contexts
    this.#orders = orders
    this.#settings = settings
    this.#service = service
  }

  /** Takes nothing from a webhook but the id of its charge, about which Vintém is asked. */
  async receive(body: Buffer, headers: WebhookHeaders): Promise<void> {
    const event = await unwrapWebhook(body, headers, this.#options.webhookSecret)
    if (event.event === 'Charge.Paid') await this.#settle(event.charge.id)
  }

  /** Looks for payments of which no webhook told. What is done already is not done again. */
  async pull(ctx: RequestContext): Promise<void> {
    await pull(this.#vintem, {
      progress: await this.#settings.get<Progress>(ctx, KEY),
      save: (progress) => this.#settings.set(ctx, KEY, progress),
      since_ms: () => this.#firstPayment(ctx),
      take: async ({ id, data }) => {
        const { body, headers } = await signWebhook(data, this.#options.webhookSecret, { id })
        await this.receive(Buffer.from(body), headers)
      },
      warn: (message) => Logger.error(message, CONTEXT),
    })
  }

  async #settle(chargeId: string): Promise<void> {
    const payments = this.#connection.rawConnection.getRepository(Payment)
    const where = { transactionId: chargeId, state: 'Pending' as const }
    const found = await payments.findOne({ where, relations: ['order', 'order.channels'] })
    if (!found) return
    const admin = await this.#contextOf(found.order)
    await this.#connection.withTransaction(admin, async (ctx) => {
      await this.#service.lock(ctx, found.order.id)
      const payment = await this.#connection.getEntityOrThrow(ctx, Payment, found.id)
      if (payment.state !== 'Pending') return
      const result = await this.#orders.settlePayment(ctx, payment.id)
      if (!(result instanceof Payment)) Logger.warn(reasonOf(result), CONTEXT)
    })
  }

  /** The default channel has all orders, so that of the seller is the other one. */
  async #contextOf({ channels }: Order): Promise<RequestContext> {
    const all = await this.#channels.getDefaultChannel()
    const own = channels.find(({ id }) => !idsAreEqual(id, all.id)) ?? all
    return this.#contexts.create({ apiType: 'admin', channelOrToken: own })
  }

  async #firstPayment(ctx: RequestContext): Promise<number> {
    const [first] = await this.#connection
      .getRepository(ctx, Payment)
      .find({ order: { createdAt: 'ASC' }, take: 1 })
    return (first?.createdAt ?? new Date()).getTime()
  }
}

type Refused = Exclude<Awaited<ReturnType<OrderService['settlePayment']>>, Payment>

const reasonOf = (refused: Refused): string =>
  'paymentErrorMessage' in refused ? refused.paymentErrorMessage : refused.transitionError
