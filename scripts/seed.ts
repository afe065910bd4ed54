import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Fills a sandbox with the life of a small shop, by the API alone:
 * `node_modules/.bin/node scripts/seed.ts <address> <data folder> [days]`. The clock of the sandbox
 * moves forward by these days. The same days have the same sales each time.
 */

// biome-ignore lint/suspicious/noExplicitAny: an answer is read for one field or two
type Any = any
type Method = 'GET' | 'POST'

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S
/** Days of a week on which a shop sells more or less than on others, from Sunday on. */
const WEEK = [0.5, 0.9, 1, 1, 1.2, 1.6, 1.4]

const PRODUCTS = [
  { name: 'Café especial 250 g', price: 3490 },
  { name: 'Café especial 1 kg', price: 11_900 },
  { name: 'Moedor manual', price: 18_900 },
  { name: 'Prensa francesa', price: 14_990 },
  { name: 'Caneca esmaltada', price: 4590 },
]
const PLANS = [
  { name: 'Clube do café', price: 5990, frequency: 'MONTHLY' },
  { name: 'Café da semana', price: 2490, frequency: 'WEEKLY' },
]
const FIRST = 'Ana Bruno Carla Diego Elisa Fábio Gabriela Heitor Íris João Larissa Marcos'.split(
  ' ',
)
const LAST = 'Souza|Lima|Dias|Pereira|da Silva|Almeida|dos Santos|Rocha|Teixeira|Nogueira'.split(
  '|',
)

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A CPF with its check digits, made of a number. */
function taxIdOf(number: number): string {
  const digits = String(100_000_000 + number * 7919).slice(0, 9)
  const check = (text: string) => {
    const sum = [...text].reduce((all, digit, i) => all + Number(digit) * (text.length + 1 - i), 0)
    return String(((sum * 10) % 11) % 10)
  }
  const first = digits + check(digits)
  return first + check(first)
}

const PAYERS = FIRST.flatMap((first, i) =>
  LAST.map((last, k) => ({
    name: `${first} ${last}`,
    taxId: taxIdOf(i * LAST.length + k),
    email: `${first}.${last.split(' ').at(-1)}@example.com`
      .normalize('NFD')
      .replace(/[^\w.@]/g, '')
      .toLowerCase(),
    phone: `119${String(80_000_000 + (i * LAST.length + k) * 31_337)}`,
  })),
)

export async function seed(address: string, apiKey: string, days: number): Promise<void> {
  const random = numbers(days)
  const below = (count: number) => Math.floor(random() * count)
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)]!
  const isLucky = (share: number) => random() < share

  async function call(method: Method, path: string, json?: unknown): Promise<Any> {
    const reply = await fetch(address + path, {
      method,
      headers: { 'Content-Type': 'application/json', 'X-API-KEY': apiKey },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
    const { data, message } = (await reply.json()) as { data: Any; message: string }
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${message}`)
    return data
  }
  const post = (path: string, json: unknown) => call('POST', path, json)
  let newestPayment = ''
  const pay = async (brCode: string) => {
    newestPayment = (await post('/bank/pix', { brCode })).endToEndId
  }

  /** Moves the clock. What falls due until then is done. */
  async function pass(seconds: number): Promise<void> {
    await post('/sandbox/clock', { advance: seconds })
    while ((await call('GET', '/sandbox/clock')).status === 'ADVANCING') {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  const products: { id: string; price: number }[] = []
  for (const product of PRODUCTS) {
    products.push(await post('/product', { ...product, description: product.name }))
  }
  const plans: { id: string }[] = []
  for (const plan of PLANS) {
    const recurring = { ...plan, description: plan.name, type: 'RECURRING', dayDue: 1 }
    plans.push(await post('/product', recurring))
  }
  const counters: { brCode: string }[] = []
  for (const amount of [900, 1450, 2200]) {
    counters.push(await post('/charge/pix/static', { amount, correlationID: `balcao-${amount}` }))
  }
  const events = ['charge.paid', 'charge.refunded']
  await post('/webhook', { name: 'Loja virtual', url: 'http://127.0.0.1:9/', events })

  async function sell(): Promise<void> {
    const customer = oneOf(PAYERS)
    const kind = random()
    if (kind < 0.2) return pay(oneOf(counters).brCode)
    const items = [{ productId: oneOf(products).id, quantity: 1 + below(2) }]
    const charge =
      kind < 0.5
        ? await post('/charge/payment-link', { items, customer, expiresIn: 3 * DAY_S })
        : await post('/charge/pix', {
            amount: 1990 + below(300) * 90,
            customer,
            expiresIn: DAY_S,
            description: `Pedido ${1000 + below(9000)}`,
          })
    if (isLucky(0.24)) return
    // The code of a link is made when its payer asks for it.
    if (charge.brCode === undefined) await fetch(charge.url, { method: 'POST' })
    await pay((await call('GET', `/charge/${charge.id}`)).brCode)
    if (isLucky(0.05)) await post(`/refund/${charge.id}`, { value: 500 })
  }

  async function subscribe(): Promise<void> {
    const productId = oneOf(plans).id
    const { id: customerId } = await post('/client', { ...oneOf(PAYERS), status: 'ACTIVE' })
    const { emv } = await post('/pix-automatic/recurrences', { productId, customerId })
    await post('/bank/authorizations', { emv, decision: 'approve', funds: !isLucky(0.1) })
  }

  async function withdraw(): Promise<void> {
    const { available } = await call('GET', '/account-balance')
    const value = Math.floor(available * 0.8)
    if (value < 10_000) return
    const { withdrawId } = await post('/account-balance/withdraw', { value })
    const { code } = await post(`/sandbox/withdraw/${withdrawId}/code`, undefined)
    await post(`/account-balance/withdraw/${withdrawId}/confirm`, { otp: code })
  }

  for (let day = 0; day < days; day += 1) {
    const growth = 0.7 + (0.6 * day) / days
    const sales = Math.round((2 + below(5)) * WEEK[day % 7]! * growth)
    await pass(10 * HOUR_S)
    for (let i = 0; i < sales; i += 1) await sell()
    if (day % 6 === 1) await subscribe()
    if (day % 11 === 5) await post('/sandbox/payment', { amount: 500 + below(90) * 100 })
    if (day % 7 === 4) await withdraw()
    if (day === days - 2) {
      await post(`/sandbox/payment/${newestPayment}/dispute`, { reason: 'FRAUD', hours: 168 })
    }
    await pass(DAY_S - 10 * HOUR_S)
  }
  for (const amount of [2500, 14_000]) {
    await post('/sandbox/payment', { amount, payer: oneOf(PAYERS) })
  }
  for (let i = 0; i < 4; i += 1) await sell()
}

const [, script, address, folder, days = '90'] = process.argv
if (script === import.meta.filename) {
  if (!address || !folder) throw new Error('node scripts/seed.ts <address> <data folder> [days]')
  const { apiKey } = JSON.parse(readFileSync(join(folder, 'sandbox.json'), 'utf8'))
  await seed(address, apiKey, Number(days))
}
