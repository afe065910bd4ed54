import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Code } from '../../packages/shop/src/charge.ts'
import { build } from '../../scripts/medusa/build.ts'
import { until } from '../support/until.ts'
import { ShopProgram, type Site } from './shop.ts'

const run = promisify(execFile)

/** The provider, as the shop calls it. */
export const PROVIDER = 'pp_vintem_pix'
const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' }

/** What the shop's own guide says, for a shop with its database at `DATABASE_URL`. */
const CONFIG = `const { defineConfig } = require('@medusajs/framework/utils')

const { DATABASE_URL, VINTEM_URL, VINTEM_KEY, VINTEM_WEBHOOK_SECRET, PLUGINS } = process.env
const http = { storeCors: '', adminCors: '', authCors: '', jwtSecret: 'jwt', cookieSecret: 'cookie' }
const options = { url: VINTEM_URL, key: VINTEM_KEY, webhookSecret: VINTEM_WEBHOOK_SECRET }

module.exports = defineConfig({
  projectConfig: { databaseUrl: DATABASE_URL, http },
  admin: { disable: true },
  plugins: JSON.parse(PLUGINS),
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      options: {
        webhook_delay: 100,
        providers: [{ resolve: 'medusa-payment-vintem', id: 'pix', options }],
      },
    },
  ],
})
`

const PRODUCT = { status: 'published', options: [{ title: 'Tamanho', values: ['M'] }] }
const VARIANT = {
  title: 'M',
  manage_inventory: false,
  options: { Tamanho: 'M' },
  prices: [
    { currency_code: 'brl', amount: 19.9 },
    { currency_code: 'usd', amount: 4 },
  ],
}

type Json = Record<string, unknown>

export type Cart = { id: string; email: string; paymentCollection: string }

export type Session = {
  id: string
  amount: number
  status: string
  data: Code
}

export type Order = {
  id: string
  email: string
  total: number
  payment_status: string
  summary: { paid_total: number; refunded_total: number; pending_difference: number }
  payment_collections: {
    payments: { id: string; amount: number; captured_at: string | null; refunds: object[] }[]
  }[]
}

/** A Medusa of npm with the package. */
export class Shop extends ShopProgram {
  #token = ''
  #publishableKey = ''
  #region = ''
  #abroad = ''
  #variant = ''
  #heavy = ''
  #carts = 0

  constructor(site: Site) {
    const environment = { MEDUSA_DISABLE_TELEMETRY: 'true', PLUGINS: '[]', ...site.environment }
    super('medusa-payment-vintem', { ...site, environment })
  }

  async install(): Promise<void> {
    await this.installPackage(build)
    const dependencies = { '@medusajs/medusa': '*' }
    writeFileSync(join(this.folder, 'package.json'), JSON.stringify({ name: 'shop', dependencies }))
    writeFileSync(join(this.folder, 'medusa-config.js'), CONFIG)
    await this.#medusa('db:migrate', '--execute-safe-links')
    await this.#medusa('user', '--email', ADMIN.email, '--password', ADMIN.password)
  }

  #medusa(...args: string[]): Promise<unknown> {
    return run(process.execPath, [this.#program(), ...args], {
      cwd: this.folder,
      env: this.environment,
    })
  }

  #program(): string {
    return join(this.programs, 'node_modules/@medusajs/cli/cli.js')
  }

  /** Without plugins it has the provider, and not the job that pulls. */
  start(plugins: string[] = []): Promise<void> {
    return this.startProgram([this.#program(), 'start'], { PLUGINS: JSON.stringify(plugins) })
  }

  async #send(method: string, path: string, body: Json | undefined, headers: object) {
    const reply = await fetch(`${this.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    return JSON.parse(text)
  }

  /** As the operator of the shop. */
  admin(method: string, path: string, body?: Json) {
    return this.#send(method, `/admin${path}`, body, { authorization: `Bearer ${this.#token}` })
  }

  /** As a page of the shop. */
  store(method: string, path: string, body?: Json) {
    const headers = { 'x-publishable-api-key': this.#publishableKey }
    return this.#send(method, `/store${path}`, body, headers)
  }

  /** A region in which Pix is paid, and a product of 19.90. */
  async furnish(): Promise<void> {
    const { token } = await this.#send('POST', '/auth/user/emailpass', ADMIN, {})
    this.#token = token
    const { stores } = await this.admin('GET', '/stores')
    const supported_currencies = [
      { currency_code: 'brl', is_default: true },
      { currency_code: 'usd' },
    ]
    await this.admin('POST', `/stores/${stores[0].id}`, { supported_currencies })
    const { sales_channels } = await this.admin('GET', '/sales-channels')
    const channel = sales_channels[0].id
    const key = { title: 'pages', type: 'publishable' }
    const { api_key } = await this.admin('POST', '/api-keys', key)
    await this.admin('POST', `/api-keys/${api_key.id}/sales-channels`, { add: [channel] })
    this.#publishableKey = api_key.token
    const region = { name: 'Brasil', currency_code: 'brl', countries: ['br'] }
    const made = await this.admin('POST', '/regions', { ...region, payment_providers: [PROVIDER] })
    this.#region = made.region.id
    const abroad = { name: 'USA', currency_code: 'usd', countries: ['us'] }
    const other = await this.admin('POST', '/regions', { ...abroad, payment_providers: [PROVIDER] })
    this.#abroad = other.region.id
    const { product } = await this.admin('POST', '/products', {
      ...PRODUCT,
      title: 'Camiseta',
      variants: [VARIANT],
      sales_channels: [{ id: channel }],
    })
    this.#variant = product.variants[0].id
    const { shipping_profiles } = await this.admin('GET', '/shipping-profiles')
    const heavy = await this.admin('POST', '/products', {
      ...PRODUCT,
      title: 'Armário',
      variants: [VARIANT],
      sales_channels: [{ id: channel }],
      shipping_profile_id: shipping_profiles[0].id,
    })
    this.#heavy = heavy.product.variants[0].id
  }

  /** A cart with so many of the product. */
  fillCart(quantity = 1): Promise<Cart> {
    return this.#fillCart(this.#region, { variant_id: this.#variant, quantity })
  }

  fillCartAbroad(): Promise<Cart> {
    return this.#fillCart(this.#abroad, { variant_id: this.#variant, quantity: 1 })
  }

  /** A cart that cannot be completed, because nobody has said how its product is sent. */
  fillCartWithoutShipping(): Promise<Cart> {
    return this.#fillCart(this.#region, { variant_id: this.#heavy, quantity: 1 })
  }

  async #fillCart(region_id: string, item: Json): Promise<Cart> {
    this.#carts += 1
    const email = `payer-${this.#carts}@example.com`
    const { cart } = await this.store('POST', '/carts', { region_id, email, items: [item] })
    const made = await this.store('POST', '/payment-collections', { cart_id: cart.id })
    return { id: cart.id, email, paymentCollection: made.payment_collection.id }
  }

  addToCart({ id }: Cart, quantity: number) {
    const item = { variant_id: this.#variant, quantity }
    return this.store('POST', `/carts/${id}/line-items`, item)
  }

  /** Chooses Pix. The answer has the code. */
  async beginPayment({ paymentCollection }: Cart): Promise<Session> {
    const { payment_collection } = await this.store(
      'POST',
      `/payment-collections/${paymentCollection}/payment-sessions`,
      {
        provider_id: PROVIDER,
        data: { customer: { name: 'Maria da Silva', taxId: '12345678909' } },
      },
    )
    return payment_collection.payment_sessions.at(-1)
  }

  /** The sessions that have a code. */
  async sessionsOf({ id }: Cart): Promise<Session[]> {
    const fields = '*payment_collection.payment_sessions'
    const { cart } = await this.store('GET', `/carts/${id}?fields=${fields}`)
    const sessions: Session[] = cart.payment_collection.payment_sessions
    return sessions.filter(({ data }) => data.brCode)
  }

  /** As the page does that waits for the payment. */
  complete({ id }: Cart) {
    return this.store('POST', `/carts/${id}/complete`)
  }

  refund({ payment_collections: [collection] }: Order, amount: number) {
    const [payment] = collection!.payments
    return this.admin('POST', `/payments/${payment!.id}/refund`, { amount })
  }

  /** Where the job has come to. */
  async readProgress(): Promise<{ after?: string; failed: unknown[] } | undefined> {
    const { stores } = await this.admin('GET', '/stores')
    return stores[0].metadata?.[`vintem_${PROVIDER}`]
  }

  async findOrder({ email }: Pick<Cart, 'email'>): Promise<Order | null> {
    const fields = 'email,total,payment_status,summary,*payment_collections.payments.refunds'
    const query = `?limit=100&fields=${encodeURIComponent(fields)}`
    const { orders } = await this.admin('GET', `/orders${query}`)
    return orders.find((order: Order) => order.email === email) ?? null
  }

  /** The order of a cart, as soon as it is there with its payment. */
  orderOf(cart: Cart): Promise<Order> {
    return until('the cart becomes an order', async () => {
      const order = await this.findOrder(cart)
      return order && order.summary.paid_total > 0 && order
    })
  }
}
