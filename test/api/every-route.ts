import { type Client, payer, type Reply, type TestApi } from '../support/api.ts'
import { MONEY_TRIES, prepareMoney, release } from './every-money-route.ts'
import { RECIPIENT_TRIES } from './every-recipient-route.ts'
import { RECURRENCE_TRIES } from './every-recurrence-route.ts'
import { SANDBOX_TRIES } from './every-sandbox-route.ts'
import { prepareWebhooks, WEBHOOK_TRIES } from './every-webhook-route.ts'
import { dataOf, type Made, NO_CHARGE, NO_CUSTOMER, NO_PRODUCT, on, type Try } from './tries.ts'

const idOf = (reply: Reply): string => dataOf(reply).id

const FULL = {
  ...payer(),
  postalCode: '01310100',
  address: 'Av. Paulista',
  district: 'Bela Vista',
  number: '1578',
  line1: 'cj. 3',
}
const PRODUCT = {
  name: 'Assinatura',
  description: 'Pão todo dia',
  price: 1990,
  needShipping: true,
  sku: 'PAO-1',
  imageUrl: 'https://loja.example/pao.png',
  categories: ['Outros', 'UGC'],
  status: 'ACTIVE',
  type: 'RECURRING',
  frequency: 'MONTHLY',
  dayDue: 7,
  dayGenerateCharge: 28,
}
// A link to one recurring product would be a subscription, so the link sells another kind.
const SOLD = { ...PRODUCT, type: 'ONE_TIME', frequency: undefined, name: 'Bolo' }
const SIMPLE_PRODUCT = { name: 'Pão', description: '', price: 0 }
const CHARGE = { amount: 1990, customer: payer() }
const NO_PLAN = 'plan_00000000000000000000000000'
const NO_LINK = 'link_00000000000000000000000000'
const LINK = {
  title: 'Ingresso',
  description: 'Festa junina',
  successUrl: 'https://loja.example/obrigado',
}
const PLAN = {
  total: 10_000,
  count: 3,
  firstDueDate: '2026-08-31',
  fine: { type: 'PERCENT', value: 200 },
  customer: payer(),
  externalId: 'venda 1',
  description: 'Geladeira',
  devMode: true,
}

/** A company of an individual, so that the sales limit is there, with one record of each kind. */
export async function prepare(api: TestApi, apiVersion: string): Promise<[Client, Made]> {
  const client = await api.client(
    {
      taxId: '39053344705',
      staticSalesLimit: 5000,
      pixKey: 'dona@example.com',
      imageUrl: 'https://loja.example/logo.png',
    },
    { apiVersion },
  )
  const make = async (path: string, json: unknown) => idOf(await client.post(path, json))
  const product = await make('/product', PRODUCT)
  const customer = await make('/client', { ...FULL, status: 'ACTIVE' })
  const link = await make('/charge/payment-link', {
    customerId: customer,
    devMode: true,
    externalId: 'order 2',
    needShipping: true,
    successUrl: 'https://loja.example/ok',
    failedUrl: 'https://loja.example/no',
    items: [{ productId: await make('/product', SOLD), quantity: 2 }],
  })
  const [paid, canceled, received] = [
    await make('/charge/pix', { ...CHARGE, devMode: true, externalId: 'order 3' }),
    await make('/charge/pix', { ...CHARGE, devMode: true }),
    await make('/charge/pix', { ...CHARGE, devMode: true }),
  ]
  await client.post(`/charge/${received}/simulate-payment`)
  await release(api, client)
  await client.post(`/charge/${paid}/simulate-payment`)
  await client.post(`/charge/${canceled}/cancel`)
  const open = await make('/charge/pix', CHARGE)
  const made = { open, paid, canceled, received, link, customer, product }
  const money = await prepareMoney(api, client, canceled)
  return [client, { ...made, ...money, ...(await prepareWebhooks(api, client)) }]
}

const charges: Try[] = [
  ...on('createPixCharge', {
    created: (client) => client.post('/charge/pix', CHARGE),
    'created with a reference in dev mode': (client) =>
      client.post('/charge/pix', { ...CHARGE, customer: FULL, externalId: 'o 1', devMode: true }),
    invalid_value: (client) => client.post('/charge/pix', { amount: 499, customer: { name: 7 } }),
    invalid_json: (client) => client.call('POST', '/charge/pix', { raw: '{' }),
  }),
  ...on('createChargeBatch', {
    'one accepted and one refused': (client) =>
      client.post('/charge/batch', {
        charges: [
          { ...CHARGE, externalId: 'o 2', dueDate: '2026-08-31' },
          { amount: 499, customer: { name: 'Maria', taxId: '1' } },
        ],
      }),
    invalid_value: (client) => client.post('/charge/batch', { charges: [] }),
    invalid_json: (client) => client.call('POST', '/charge/batch', { raw: '{' }),
  }),
  ...on('createPlan', {
    created: (client) => client.post('/charge/plan', PLAN),
    invalid_value: (client) => client.post('/charge/plan', { ...PLAN, dueDates: ['2026-09-01'] }),
  }),
  ...on('listPlans', {
    listed: async (client) => {
      await client.post('/charge/plan', PLAN)
      return client.get('/charge/plan?limit=1')
    },
    invalid_value: (client) => client.get('/charge/plan?after=x'),
  }),
  ...on('getPlan', {
    found: async (client) => {
      const { id } = dataOf(await client.post('/charge/plan', PLAN))
      return client.get(`/charge/plan/${id}`)
    },
    plan_not_found: (client) => client.get(`/charge/plan/${NO_PLAN}`),
  }),
  ...on('cancelPlan', {
    canceled: async (client) => {
      const { id } = dataOf(await client.post('/charge/plan', PLAN))
      return client.post(`/charge/plan/${id}/cancel`)
    },
    plan_not_found: (client) => client.post(`/charge/plan/${NO_PLAN}/cancel`),
  }),
  ...on('createReusableLink', {
    created: async (client) => {
      const productId = dataOf(await client.post('/product', SOLD)).id
      return client.post('/link', {
        ...LINK,
        items: [{ productId, quantity: 2 }],
        minQuantity: 1,
        maxQuantity: 3,
        stock: 20,
        endsAt: '2026-12-24T15:00:00.000Z',
      })
    },
    'an amount': (client) => client.post('/link', { title: 'Rifa', amount: 1000 }),
    invalid_value: (client) => client.post('/link', { ...LINK, amount: 499 }),
    product_not_found: (client) =>
      client.post('/link', { ...LINK, items: [{ productId: NO_PRODUCT, quantity: 1 }] }),
  }),
  ...on('listReusableLinks', {
    listed: async (client) => {
      await client.post('/link', { ...LINK, openAmount: { min: 500, max: 10_000 } })
      return client.get('/link?limit=1')
    },
    invalid_value: (client) => client.get('/link?after=x'),
  }),
  ...on('getReusableLink', {
    found: async (client) => {
      const { id } = dataOf(await client.post('/link', { ...LINK, amount: 4500 }))
      return client.get(`/link/${id}`)
    },
    link_not_found: (client) => client.get(`/link/${NO_LINK}`),
  }),
  ...on('changeReusableLink', {
    'switched off': async (client) => {
      const { id } = dataOf(await client.post('/link', { ...LINK, amount: 4500 }))
      return client.put(`/link/${id}`, { enabled: false })
    },
    invalid_value: async (client) => {
      const { id } = dataOf(await client.post('/link', { ...LINK, amount: 4500 }))
      return client.put(`/link/${id}`, { amount: 1 })
    },
    link_not_found: (client) => client.put(`/link/${NO_LINK}`, { enabled: false }),
  }),
  ...on('createStaticCode', {
    created: (client) => client.post('/charge/pix/static', { amount: 1 }),
    sales_limit_exceeded: (client) => client.post('/charge/pix/static', { amount: 5001 }),
  }),
  ...on('createPaymentLink', {
    created: (client) => client.post('/charge/payment-link', { total: 700, customer: payer() }),
    customer_not_found: (client) =>
      client.post('/charge/payment-link', { total: 700, customerId: NO_CUSTOMER }),
    product_not_found: (client) =>
      client.post('/charge/payment-link', {
        customer: payer(),
        items: [{ productId: NO_PRODUCT, quantity: 1 }],
      }),
  }),
  ...on('getCharge', {
    'an open charge': (client, { open }) => client.get(`/charge/${open}`),
    'a paid charge': (client, { paid }) => client.get(`/charge/${paid}`),
    'a received charge': (client, { received }) => client.get(`/charge/${received}`),
    'a link with items': (client, { link }) => client.get(`/charge/${link}`),
    'a refunded charge': (client, { refunded }) => client.get(`/charge/${refunded}`),
    charge_not_found: (client) => client.get(`/charge/${NO_CHARGE}`),
  }),
  ...on('getChargeStatus', {
    'an open charge': (client, { open }) => client.get(`/charge/${open}/status`),
    'a received charge': (client, { received }) => client.get(`/charge/${received}/status`),
    charge_not_found: (client) => client.get(`/charge/${NO_CHARGE}/status`),
  }),
  ...on('getChargeAmount', {
    'of a charge without a due date': (client, { open }) => client.get(`/charge/${open}/amount`),
    'of a late day': async (client) => {
      const late = { dueDate: '2026-08-21', fine: { type: 'PERCENT', value: 200 } }
      const { id } = dataOf(await client.post('/charge/pix', { ...CHARGE, ...late }))
      return client.get(`/charge/${id}/amount?on=2026-08-24`)
    },
    charge_not_found: (client) => client.get(`/charge/${NO_CHARGE}/amount`),
    invalid_value: (client, { open }) => client.get(`/charge/${open}/amount?on=tomorrow`),
  }),
  ...on('getChargeElement', {
    'of an open charge': (client, { open }) => client.get(`/charge/${open}/element`),
    charge_not_found: (client) => client.get(`/charge/${NO_CHARGE}/element`),
    charge_without_code: (client, { link }) => client.get(`/charge/${link}/element`),
  }),
  ...on('listCharges', {
    'by reference': (client) => client.get('/charge?externalId=order%202'),
    received: (client) => client.get('/charge?paymentStatus=RECEIVED'),
    nothing: (client) => client.get('/charge?status=EXPIRED'),
    invalid_value: (client) => client.get('/charge?limit=0&status=NOPE'),
  }),
  ...on('summarizeCharges', {
    'of received charges': (client) => client.get('/charge/summary?paymentStatus=RECEIVED'),
    'of payments': (client) => client.get('/charge/summary?paidFrom=2026-08-01&kind=PIX'),
    invalid_value: (client) => client.get('/charge/summary?createdFrom=2020-01-01'),
  }),
  ...on('simulatePayment', {
    'paid already': (client, { paid }) => client.post(`/charge/${paid}/simulate-payment`),
    charge_not_dev_mode: (client, { open }) => client.post(`/charge/${open}/simulate-payment`),
    charge_not_payable: (client, { canceled }) =>
      client.post(`/charge/${canceled}/simulate-payment`),
  }),
  ...on('cancelCharge', {
    'canceled already': (client, { canceled }) => client.post(`/charge/${canceled}/cancel`),
    charge_not_payable: (client, { paid }) => client.post(`/charge/${paid}/cancel`),
  }),
  ...on('duplicateCharge', {
    created: (client, { link }) => client.post(`/charge/duplicate/${link}`, { expiresIn: 60 }),
    charge_not_found: (client) => client.post(`/charge/duplicate/${NO_CHARGE}`),
  }),
  ...on('getSalesLimits', {
    limited: (client) => client.get('/charge/sales-limits'),
    invalid_api_version: (client) =>
      client.get('/charge/sales-limits', { headers: { 'X-Api-Version': 'x' } }),
  }),
]

const customers: Try[] = [
  ...on('createCustomer', {
    created: (client) => client.post('/client', { ...FULL, status: 'INACTIVE' }),
    'created without an address': (client) =>
      client.post('/client', { ...payer({ taxId: '12ABC34501DE35' }), status: 'ACTIVE' }),
    invalid_value: (client) => client.post('/client', { email: 'x' }),
  }),
  ...on('listCustomers', {
    listed: (client) => client.get('/client?limit=1'),
    nothing: (client) => client.get('/client?taxId=11222333000181'),
    invalid_value: (client) => client.get('/client?after=x'),
  }),
  ...on('getCustomer', {
    found: (client, { customer }) => client.get(`/client/id/${customer}`),
    customer_not_found: (client) => client.get(`/client/id/${NO_CUSTOMER}`),
  }),
  ...on('changeCustomer', {
    changed: (client, { customer }) =>
      client.put('/client', { id: customer, name: 'Maria Souza', line1: null }),
    customer_not_found: (client) => client.put('/client', { id: NO_CUSTOMER, name: 'x' }),
  }),
  ...on('deleteCustomer', {
    deleted: (client, { customer }) => client.delete(`/client/${customer}`),
    customer_not_found: (client) => client.delete(`/client/${NO_CUSTOMER}`),
  }),
]

const products: Try[] = [
  ...on('createProduct', {
    created: (client) => client.post('/product', PRODUCT),
    'created with what is required': (client) => client.post('/product', SIMPLE_PRODUCT),
    invalid_value: (client) => client.post('/product', { ...SIMPLE_PRODUCT, type: 'RECURRING' }),
  }),
  ...on('listProducts', {
    listed: (client) => client.get('/product?limit=1&type=ONE_TIME'),
    invalid_value: (client) => client.get('/product?status=NOPE'),
  }),
  ...on('getProduct', {
    found: (client, { product }) => client.get(`/product/${product}`),
    product_not_found: (client) => client.get(`/product/${NO_PRODUCT}`),
  }),
  ...on('changeProduct', {
    changed: (client, { product }) =>
      client.put(`/product/${product}`, { price: 2990, sku: null, status: 'INACTIVE' }),
    invalid_value: (client, { product }) => client.put(`/product/${product}`, { price: '2990' }),
  }),
  ...on('deleteProduct', {
    deleted: (client, { product }) => client.delete(`/product/${product}`),
    product_not_found: (client) => client.delete(`/product/${NO_PRODUCT}`),
  }),
]

/** Another company, so that no other answer shows what is changed. */
const another = ({ company: { apiVersion } }: Client, api: TestApi) =>
  api.client({ pixKey: 'outra@example.com', imageUrl: 'https://x.example/1.png' }, { apiVersion })

const REMINDERS = {
  rules: [
    { day: -3, enabled: true, channel: 'EMAIL' },
    {
      day: 1,
      enabled: true,
      channel: 'EMAIL',
      texts: {
        pt: {
          subject: '{empresa}: sua mensalidade venceu em {vencimento}',
          text: 'Olá, {nome}!\nAinda não recebemos {valor}. Pague pelo link: {link}',
        },
      },
    },
  ],
  failedCharges: { enabled: true, channel: 'WEBHOOK' },
}

const company: Try[] = [
  ...on('getCompany', {
    found: (client) => client.get('/company'),
    invalid_api_key: (client) =>
      client.get('/company', {
        headers: { 'X-API-KEY': 'vk_sandbox_x', 'X-Api-Version': client.company.apiVersion },
      }),
  }),
  ...on('changeCompany', {
    changed: async (client, _made, api) =>
      (await another(client, api)).put('/company', {
        name: 'Padaria Nova',
        email: 'nova@example.com',
        color: '#B45309',
        imageUrl: 'https://loja.example/nova.png',
        city: 'Recife',
        language: 'en',
      }),
    'a logo taken away': async (client, _made, api) =>
      (await another(client, api)).put('/company', { imageUrl: null }),
    invalid_value: (client) => client.put('/company', { email: 'dona', language: 'fr' }),
  }),
  ...on('getReminders', {
    found: async (client) => {
      await client.put('/reminder', REMINDERS)
      return client.get('/reminder')
    },
    invalid_api_key: (client) =>
      client.get('/reminder', {
        headers: { 'X-API-KEY': 'vk_sandbox_x', 'X-Api-Version': client.company.apiVersion },
      }),
  }),
  ...on('changeReminders', {
    changed: async (client, _made, api) => (await another(client, api)).put('/reminder', REMINDERS),
    invalid_value: (client) =>
      client.put('/reminder', { rules: [{ day: 31, enabled: true, channel: 'SMS' }] }),
    unknown_placeholder: (client) =>
      client.put('/reminder', {
        failedCharges: {
          enabled: true,
          channel: 'EMAIL',
          texts: { pt: { subject: '{empresa}', text: 'Oi, {nmoe}' } },
        },
      }),
  }),
  ...on('compareVersions', {
    compared: async (client, _made, api) => {
      const other = await another(client, api)
      const id = idOf(await other.post('/charge/pix', { ...CHARGE, devMode: true }))
      await other.get(`/charge/${id}/status`)
      await Promise.all([api.app.lateActivity.idle(), api.app.requestLog.idle()])
      return other.get('/company/version-changes?from=2025-01-01&to=2026-08-16')
    },
    invalid_value: (client) => client.get('/company/version-changes?to=1999-01-01'),
  }),
]

/** Every operation, at least one success and one refusal each; a refusal is named by its code. */
export const TRIES: Try[] = [
  ...charges,
  ...MONEY_TRIES,
  ...customers,
  ...products,
  ...WEBHOOK_TRIES,
  ...company,
  ...RECURRENCE_TRIES,
  ...SANDBOX_TRIES,
  ...RECIPIENT_TRIES,
]

export type Tried = { reply: Reply; operationId: string; name: string }

/** Asks everything in order, in one version. */
export async function tryAll(api: TestApi, apiVersion: string): Promise<Tried[]> {
  const [client, made] = await prepare(api, apiVersion)
  const tried: Tried[] = []
  for (const { operationId, name, ask } of TRIES) {
    tried.push({ operationId, name, reply: await ask(client, made, api) })
  }
  return tried
}
