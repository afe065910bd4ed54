import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Code } from '../../packages/shop/src/charge.ts'
import { build } from '../../scripts/vendure/build.ts'
import { until } from '../support/until.ts'
import { ShopProgram, type Site } from './shop.ts'

const ADMIN = { username: 'admin', password: 'correct horse battery' }

/** What the shop's own guide says. With `PULL` it has the scheduler that runs tasks. */
const SERVER = `const vendure = require('@vendure/core')
const { VintemPlugin } = require('vendure-plugin-vintem')

const { DATABASE_URL, PORT, PULL, ADMIN, ...env } = process.env
const pix = VintemPlugin.init({
  url: env.VINTEM_URL,
  key: env.VINTEM_KEY,
  webhookSecret: env.VINTEM_WEBHOOK_SECRET,
})

const cash = new vendure.PaymentMethodHandler({
  code: 'cash',
  description: [{ languageCode: 'en', value: 'Cash' }],
  args: {},
  createPayment: (ctx, order) => ({ amount: order.totalWithTax, state: 'Settled' }),
  settlePayment: () => ({ success: true }),
})

vendure.bootstrap({
  apiOptions: {
    hostname: '127.0.0.1',
    port: Number(PORT),
    adminApiPath: 'admin-api',
    shopApiPath: 'shop-api',
  },
  authOptions: {
    tokenMethod: ['bearer'],
    superadminCredentials: { identifier: 'admin', password: ADMIN },
  },
  dbConnectionOptions: { type: 'postgres', url: DATABASE_URL, synchronize: true, logging: false },
  logger: new vendure.DefaultLogger({ level: vendure.LogLevel.Info, timestamp: false }),
  paymentOptions: { paymentMethodHandlers: [cash] },
  schedulerOptions: { runTasksInWorkerOnly: false },
  plugins: PULL ? [pix, vendure.DefaultSchedulerPlugin.init({})] : [pix],
})
`

/** That the types written by hand say what the sources say. */
const PUBLISHED = `import type { VintemPlugin as Published } from '../index.d.ts'
import type { VintemPlugin } from './plugin.ts'

type Options<T extends { init(options: never): unknown }> = Parameters<T['init']>[0]
export const there = (options: Options<typeof Published>): Options<typeof VintemPlugin> => options
export const back = (options: Options<typeof VintemPlugin>): Options<typeof Published> => options
`

const TEXT = (name: string) => [{ languageCode: 'en', name, slug: name, description: '' }]
const ORDER = `id code state active totalWithTax
  payments { id transactionId amount state errorMessage metadata refunds { id total state transactionId } }`
const PUBLIC = 'id code state active totalWithTax payments { id amount state metadata }'
const FAILED = '... on ErrorResult { errorCode message }'

// biome-ignore lint/suspicious/noExplicitAny: what a query answers
type Answer = any

export type Payment = {
  id: string
  transactionId: string
  amount: number
  state: string
  errorMessage: string | null
  metadata: { public: Code }
  refunds: { id: string; total: number; state: string; transactionId: string }[]
}

export type Order = {
  id: string
  code: string
  state: string
  active: boolean
  totalWithTax: number
  payments: Payment[]
}

/** Who buys, with an own session. */
export type Buyer = { token: string; currency: string; order: Pick<Order, 'id' | 'code'> }

/** A Vendure of npm with the package. */
export class Shop extends ShopProgram {
  #token = ''
  #variant = ''
  #buyers = 0

  constructor(site: Site) {
    const own = { VENDURE_DISABLE_TELEMETRY: 'true', ADMIN: ADMIN.password }
    super('vendure-plugin-vintem', { ...site, environment: { ...own, ...site.environment } })
  }

  async install(): Promise<void> {
    await this.installPackage(build)
    writeFileSync(join(this.folder, 'server.cjs'), SERVER)
  }

  /** With the sample of the README, and what is published. */
  override checkTypes(): Promise<void> {
    return super.checkTypes((project) => {
      const [, sample] = /```ts\n(.*?)```/s.exec(readFileSync(join(project, 'README.md'), 'utf8'))!
      writeFileSync(join(project, 'src/sample.ts'), sample!)
      writeFileSync(join(project, 'src/published.ts'), PUBLISHED)
    })
  }

  /** Unless it pulls, it hears of payments by webhooks alone. */
  start({ pulls = false } = {}): Promise<void> {
    return this.startProgram(['server.cjs'], pulls ? { PULL: '1' } : {})
  }

  async #send(path: string, token: string, query: string, variables: object) {
    const reply = await fetch(`${this.url}/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = (await reply.json()) as Answer
    if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`)
    const answer: Answer = Object.values(data)[0]
    if (answer?.errorCode) throw new Error(`${answer.errorCode}: ${JSON.stringify(answer)}`)
    return { answer, token: reply.headers.get('vendure-auth-token') ?? token }
  }

  /** As the operator of the shop. The answer is that of the only field of the query. */
  async admin(query: string, variables: object = {}): Promise<Answer> {
    const { answer, token } = await this.#send('admin-api', this.#token, query, variables)
    this.#token = token
    return answer
  }

  /** As a page of the shop. */
  async buy(buyer: Buyer, query: string, variables: object = {}): Promise<Answer> {
    const path = `shop-api?currencyCode=${buyer.currency}`
    const { answer, token } = await this.#send(path, buyer.token, query, variables)
    buyer.token = token
    return answer
  }

  #create(type: string, input: object): Promise<{ id: string }> {
    const [, name, list] = /^(\w+?)(List)?$/.exec(type)!
    const given = list ? `[Create${name}Input!]!` : `Create${name}Input!`
    const field = list ? `create${name}s` : `create${name}`
    return this.admin(`mutation ($input: ${given}) { ${field}(input: $input) { id } }`, { input })
  }

  /** A channel in which Pix is paid, and a product of 19.90. */
  async furnish(): Promise<void> {
    await this.admin(
      `mutation ($username: String!, $password: String!) {
        login(username: $username, password: $password) { ... on CurrentUser { id } ${FAILED} }
      }`,
      ADMIN,
    )
    const country = await this.#create('Country', {
      code: 'BR',
      enabled: true,
      translations: [{ languageCode: 'en', name: 'Brasil' }],
    })
    const zone = await this.#create('Zone', { name: 'Brasil', memberIds: [country.id] })
    const category = await this.#create('TaxCategory', { name: 'Geral', isDefault: true })
    await this.#create('TaxRate', {
      name: 'Geral',
      enabled: true,
      value: 0,
      categoryId: category.id,
      zoneId: zone.id,
    })
    const channel = await this.admin('{ activeChannel { id } }')
    await this.admin(
      `mutation ($input: UpdateChannelInput!) {
        updateChannel(input: $input) { ... on Channel { id } ${FAILED} }
      }`,
      {
        input: {
          id: channel.id,
          defaultCurrencyCode: 'BRL',
          availableCurrencyCodes: ['BRL', 'USD'],
          pricesIncludeTax: true,
          defaultTaxZoneId: zone.id,
          defaultShippingZoneId: zone.id,
        },
      },
    )
    await this.#create('ShippingMethod', {
      code: 'correio',
      fulfillmentHandler: 'manual-fulfillment',
      checker: {
        code: 'default-shipping-eligibility-checker',
        arguments: [{ name: 'orderMinimum', value: '0' }],
      },
      calculator: {
        code: 'default-shipping-calculator',
        arguments: [
          { name: 'rate', value: '0' },
          { name: 'includesTax', value: 'auto' },
          { name: 'taxRate', value: '0' },
        ],
      },
      translations: [{ languageCode: 'en', name: 'Correio', description: '' }],
    })
    await this.#create('PaymentMethod', {
      code: 'pix',
      enabled: true,
      handler: { code: 'vintem', arguments: [] },
      translations: [{ languageCode: 'en', name: 'Pix', description: '' }],
    })
    await this.#create('PaymentMethod', {
      code: 'cash',
      enabled: true,
      handler: { code: 'cash', arguments: [] },
      translations: [{ languageCode: 'en', name: 'Cash', description: '' }],
    })
    const product = await this.#create('Product', { enabled: true, translations: TEXT('camiseta') })
    const variants = (await this.#create('ProductVariantList', [
      {
        productId: product.id,
        sku: 'camiseta',
        price: 1990,
        trackInventory: 'FALSE',
        translations: [{ languageCode: 'en', name: 'Camiseta' }],
      },
    ])) as unknown as { id: string }[]
    this.#variant = variants[0]!.id
    await this.admin(
      'mutation ($input: [UpdateProductVariantInput!]!) { updateProductVariants(input: $input) { id } }',
      { input: [{ id: this.#variant, prices: [{ currencyCode: 'USD', price: 4000 }] }] },
    )
  }

  /** An order with so many of the product, for which a payment can be made. */
  async fillCart(quantity = 1, currency = 'BRL'): Promise<Buyer> {
    this.#buyers += 1
    const buyer: Buyer = { token: '', currency, order: { id: '', code: '' } }
    await this.addToCart(buyer, quantity)
    const customer = {
      firstName: 'Maria',
      lastName: 'da Silva',
      emailAddress: `payer-${this.#buyers}@example.com`,
    }
    await this.buy(
      buyer,
      `mutation ($input: CreateCustomerInput!) {
        setCustomerForOrder(input: $input) { ... on Order { id } ${FAILED} }
      }`,
      { input: customer },
    )
    await this.buy(
      buyer,
      `mutation ($input: CreateAddressInput!) {
        setOrderShippingAddress(input: $input) { ... on Order { id } ${FAILED} }
      }`,
      { input: { streetLine1: 'Rua A, 1', countryCode: 'BR' } },
    )
    const [method] = await this.buy(buyer, '{ eligibleShippingMethods { id } }')
    await this.buy(
      buyer,
      `mutation ($id: [ID!]!) {
        setOrderShippingMethod(shippingMethodId: $id) { ... on Order { id } ${FAILED} }
      }`,
      { id: [method.id] },
    )
    await this.moveTo(buyer, 'ArrangingPayment')
    return buyer
  }

  async addToCart(buyer: Buyer, quantity: number): Promise<void> {
    buyer.order = await this.buy(
      buyer,
      `mutation ($id: ID!, $quantity: Int!) {
        addItemToOrder(productVariantId: $id, quantity: $quantity) {
          ... on Order { id code } ${FAILED}
        }
      }`,
      { id: this.#variant, quantity },
    )
  }

  moveTo(buyer: Buyer, state: string): Promise<Answer> {
    return this.buy(
      buyer,
      `mutation ($state: String!) {
        transitionOrderToState(state: $state) {
          ... on Order { id } ... on OrderStateTransitionError { errorCode transitionError }
        }
      }`,
      { state },
    )
  }

  /** Chooses Pix. The answer has the code. */
  async payInCash(buyer: Buyer): Promise<void> {
    await this.buy(
      buyer,
      `mutation ($input: PaymentInput!) {
        addPaymentToOrder(input: $input) { ... on Order { ${PUBLIC} } ${FAILED} }
      }`,
      { input: { method: 'cash', metadata: {} } },
    )
  }

  async beginPayment(buyer: Buyer): Promise<Code> {
    const order: Order = await this.buy(
      buyer,
      `mutation ($input: PaymentInput!) {
        addPaymentToOrder(input: $input) {
          ... on Order { ${PUBLIC} } ${FAILED}
          ... on PaymentDeclinedError { paymentErrorMessage }
        }
      }`,
      { input: { method: 'pix', metadata: { name: 'Maria da Silva', taxId: '12345678909' } } },
    )
    const [payment] = order.payments.filter(({ state }) => state === 'Pending')
    return payment!.metadata.public
  }

  /** As the operator sees it. */
  orderOf({ order }: Buyer): Promise<Order> {
    return this.admin(`query ($id: ID!) { order(id: $id) { ${ORDER} } }`, { id: order.id })
  }

  /** The order of a buyer, as soon as it is paid. */
  paidOrderOf(buyer: Buyer): Promise<Order> {
    return until('the order is paid', async () => {
      const order = await this.orderOf(buyer)
      return order.state === 'PaymentSettled' && order
    })
  }

  settle({ id }: Payment): Promise<Answer> {
    return this.admin(
      `mutation ($id: ID!) {
        settlePayment(id: $id) {
          ... on Payment { id } ${FAILED} ... on SettlePaymentError { paymentErrorMessage }
        }
      }`,
      { id },
    )
  }

  refund({ id: paymentId }: Payment, amount: number): Promise<Payment['refunds'][number]> {
    return this.admin(
      `mutation ($input: RefundOrderInput!) {
        refundOrder(input: $input) { ... on Refund { id total state transactionId } ${FAILED} }
      }`,
      { input: { paymentId, amount, lines: [], shipping: 0, adjustment: 0 } },
    )
  }

  cancel({ id }: Payment): Promise<Answer> {
    return this.admin(
      `mutation ($id: ID!) {
        cancelPayment(id: $id) {
          ... on Payment { id state } ${FAILED} ... on CancelPaymentError { paymentErrorMessage }
        }
      }`,
      { id },
    )
  }

  /** Where the task has come to. */
  readProgress(): Promise<{ after?: string; failed: unknown[] } | null> {
    return this.admin('{ getSettingsStoreValue(key: "vintem.progress") }')
  }
}
