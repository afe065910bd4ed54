import { type Client, payer, type TestApi } from '../support/api.ts'
import { lastCode } from '../support/mail.ts'
import { makeCharge, makePaid, makeUnmatched } from '../support/payments.ts'
import { makeRecipient, makeSettled } from '../support/splits.ts'
import { makeCustomer, makeRecurring, RECURRENCES } from '../support/subscriptions.ts'
import { PATH, start } from '../support/withdrawals.ts'
import { companyBodies } from './company-bodies.ts'
import { linkBodies } from './link-bodies.ts'
import { sandboxBodies } from './sandbox-bodies.ts'
import {
  AMOUNT,
  ANY_AMOUNT,
  COMMENT,
  DAY,
  DESCRIPTION,
  EMAIL,
  EVENTS,
  EXTERNAL_ID,
  FREQUENCY,
  LIFETIME,
  MOMENT,
  NAME,
  NO_BOOLEAN,
  NO_NUMBER,
  NO_OBJECT,
  NO_TEXT,
  notNull,
  OTP,
  optional,
  PHONE,
  POSTAL_CODE,
  PRICE,
  STATUS,
  TAX_ID,
  TEXT,
  TOO_LONG,
  URL,
} from './wrong-values.ts'

/**
 * For each route that takes a body: a good one, which fields it must have, and for every field the
 * values that the contract does not allow. By hand, so that a loosened schema is noticed.
 */
export type BodyCase = {
  operationId: string
  method: 'POST' | 'PUT'
  /** Fields that hold others: a wrong one hides what is wrong inside it. */
  parents: Record<string, true>
  required: string[]
  wrong: Record<string, unknown[]>
  /** For a company that has nothing else to do. */
  prepare(client: Client, api: TestApi): Promise<{ path: string; good: Record<string, unknown> }>
}

const ADDRESS = {
  postalCode: optional(POSTAL_CODE),
  address: TEXT,
  district: TEXT,
  number: TEXT,
  line1: TEXT,
}
const PERSON = { name: NAME, taxId: TAX_ID, email: EMAIL, phone: PHONE, ...ADDRESS }
const PAYER = { ...PERSON, email: optional(EMAIL), phone: optional(PHONE) }
const CUSTOMER = Object.fromEntries(
  Object.entries(PAYER).map(([name, values]) => [`customer.${name}`, values]),
)
const FULL = {
  ...payer(),
  postalCode: '01310100',
  address: 'Av. Paulista',
  district: 'Bela Vista',
  number: '1578',
  line1: 'cj. 3',
}

const RATE_VALUE = ANY_AMOUNT
const RATE_TYPE = STATUS
const COUNTED = optional(STATUS)
/** The fields of a due date. A body has either discounts or discountPerDay. */
const DUE: Record<string, unknown[]> = {
  dueDate: optional(DAY),
  daysAfterDue: [...NO_NUMBER, -1, 366, 1.5],
  fine: NO_OBJECT,
  'fine.type': RATE_TYPE,
  'fine.value': RATE_VALUE,
  interest: NO_OBJECT,
  'interest.type': RATE_TYPE,
  'interest.value': RATE_VALUE,
  'interest.days': COUNTED,
  rebate: NO_OBJECT,
  'rebate.type': RATE_TYPE,
  'rebate.value': RATE_VALUE,
}
const NO_LIST = ['text', 5, null, {}]
const DISCOUNTS: Record<string, unknown[]> = {
  discounts: [...NO_LIST, []],
  'discounts[0]': NO_OBJECT,
  'discounts[0].type': RATE_TYPE,
  'discounts[0].value': RATE_VALUE,
  'discounts[0].until': DAY,
}
const PER_DAY: Record<string, unknown[]> = {
  discountPerDay: NO_OBJECT,
  'discountPerDay.type': RATE_TYPE,
  'discountPerDay.value': RATE_VALUE,
  'discountPerDay.days': COUNTED,
}
const { dueDate: _day, ...COMMON_TERMS } = DUE
const { 'discounts[0].until': _until, ...PLAN_DISCOUNTS } = DISCOUNTS
/** The terms that all charges of a plan have. */
const PLAN_TERMS: Record<string, unknown[]> = {
  ...COMMON_TERMS,
  ...PLAN_DISCOUNTS,
  'discounts[0].daysBeforeDue': [...NO_NUMBER, -1, 366, 1.5],
}
const untried = (fields: Record<string, unknown[]>) =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, []]))
const DUE_PARENTS = { dueDate: true, fine: true, interest: true, rebate: true } as const
const GOOD_DUE = {
  dueDate: '2030-01-31',
  daysAfterDue: 5,
  fine: { type: 'FIXED', value: 10 },
  interest: { type: 'PERCENT_PER_DAY', value: 10, days: 'BUSINESS' },
  rebate: { type: 'PERCENT', value: 100 },
}

/** Who gets which part. A part is an amount, or a percentage. */
const SPLIT: Record<string, unknown[]> = {
  split: [...NO_LIST, []],
  'split[0]': NO_OBJECT,
  'split[0].recipientId': TEXT,
  'split[0].amount': ANY_AMOUNT,
  'split[0].percent': [],
}
const SPLIT_PARENTS = { split: true, 'split[0]': true, 'split[0].amount': true } as const
const goodSplit = async (client: Client) => [
  { recipientId: await makeRecipient(client), amount: 5 },
]

const URLS = { successUrl: optional(URL), failedUrl: optional(URL) }

const charges: BodyCase[] = [
  {
    operationId: 'createPixCharge',
    method: 'POST',
    parents: {
      ...SPLIT_PARENTS,
      customer: true,
      ...DUE_PARENTS,
      discounts: true,
      'discounts[0]': true,
      discountPerDay: true,
    },
    required: ['amount', 'customer', 'customer.name', 'customer.taxId', 'fine.type', 'fine.value'],
    wrong: {
      amount: AMOUNT,
      customer: NO_OBJECT,
      ...CUSTOMER,
      expiresIn: LIFETIME,
      ...DUE,
      ...DISCOUNTS,
      ...untried(PER_DAY),
      ...SPLIT,
      externalId: optional(EXTERNAL_ID),
      description: optional(DESCRIPTION),
      devMode: NO_BOOLEAN,
    },
    prepare: async (client) => ({
      path: '/charge/pix',
      good: {
        amount: 1990,
        customer: FULL,
        ...GOOD_DUE,
        discounts: [{ type: 'FIXED', value: 5, until: '2030-01-30' }],
        split: await goodSplit(client),
        externalId: 'order 1',
        description: 'Pão, 2 unidades',
        devMode: true,
      },
    }),
  },
  {
    // Each of its charges is tried in test/api/charges/batches.test.ts.
    operationId: 'createChargeBatch',
    method: 'POST',
    parents: {},
    required: ['charges'],
    wrong: { charges: [...NO_LIST, []] },
    prepare: async () => ({
      path: '/charge/batch',
      good: { charges: [{ amount: 1990, customer: FULL }] },
    }),
  },
  {
    operationId: 'createPlan',
    method: 'POST',
    parents: {
      customer: true,
      fine: true,
      interest: true,
      rebate: true,
      amounts: true,
      discounts: true,
      'discounts[0]': true,
      discountPerDay: true,
      count: true,
      firstDueDate: true,
      dueDates: true,
    },
    required: ['total', 'customer', 'customer.name', 'customer.taxId', 'fine.type', 'fine.value'],
    wrong: {
      total: [...AMOUNT, 999],
      customer: NO_OBJECT,
      ...CUSTOMER,
      count: [...NO_NUMBER, 1, 61, 2.5],
      amounts: [...NO_LIST, [], [500]],
      // Beside firstDueDate they are wrong in themselves.
      dueDates: [...NO_LIST, [], ['2030-01-31']],
      firstDueDate: DAY,
      ...PLAN_TERMS,
      ...untried(PER_DAY),
      externalId: optional(EXTERNAL_ID),
      description: optional([...NO_TEXT, 'a'.repeat(131), TOO_LONG]),
      devMode: NO_BOOLEAN,
      notifyCustomer: NO_BOOLEAN,
    },
    prepare: async () => ({
      path: '/charge/plan',
      good: {
        total: 5000,
        count: 2,
        amounts: [3000, 2000],
        firstDueDate: '2030-01-31',
        customer: FULL,
        daysAfterDue: 5,
        fine: { type: 'FIXED', value: 10 },
        interest: { type: 'PERCENT_PER_DAY', value: 10, days: 'BUSINESS' },
        discounts: [{ type: 'FIXED', value: 5, daysBeforeDue: 3 }],
        rebate: { type: 'PERCENT', value: 100 },
        externalId: 'order 3',
        description: 'Geladeira',
        devMode: true,
        notifyCustomer: false,
      },
    }),
  },
  {
    operationId: 'createStaticCode',
    method: 'POST',
    parents: {},
    required: ['amount'],
    wrong: { amount: ANY_AMOUNT, externalId: optional(EXTERNAL_ID), devMode: NO_BOOLEAN },
    prepare: async () => ({
      path: '/charge/pix/static',
      good: { amount: 1, externalId: 'balcão', devMode: true },
    }),
  },
  {
    operationId: 'createPaymentLink',
    method: 'POST',
    parents: {
      ...SPLIT_PARENTS,
      customer: true,
      customerId: true,
      items: true,
      'items[0]': true,
      ...DUE_PARENTS,
      discounts: true,
      discountPerDay: true,
    },
    required: ['customer.name', 'customer.taxId', 'items[0].productId', 'items[0].quantity'],
    wrong: {
      total: AMOUNT,
      customer: NO_OBJECT,
      ...CUSTOMER,
      ...URLS,
      // Beside a customer every customerId is wrong; these are wrong in themselves.
      customerId: [5, true, {}, TOO_LONG],
      needShipping: NO_BOOLEAN,
      notifyCustomer: NO_BOOLEAN,
      devMode: NO_BOOLEAN,
      externalId: optional(EXTERNAL_ID),
      description: optional(DESCRIPTION),
      expiresIn: LIFETIME,
      ...DUE,
      ...PER_DAY,
      ...untried(DISCOUNTS),
      ...SPLIT,
      items: NO_LIST,
      'items[0]': NO_OBJECT,
      'items[0].productId': [...NO_TEXT],
      'items[0].quantity': [...NO_NUMBER, 0, -1, 1.5],
    },
    async prepare(client) {
      const product = { name: 'Pão', description: 'Francês', price: 1000 }
      const { body } = await client.post('/product', product)
      const items = [{ productId: body.data.id, quantity: 2 }]
      const urls = { successUrl: 'https://loja.example/ok', failedUrl: 'http://loja.example/?no' }
      const flags = { needShipping: true, notifyCustomer: false, devMode: true }
      const discountPerDay = { type: 'PERCENT', value: 1, days: 'BUSINESS' }
      const split = await goodSplit(client)
      const due = { ...GOOD_DUE, discountPerDay, dueDate: '2026-09-30', split }
      const rest = { externalId: 'order 2', description: 'Pão, 2 unidades', ...due }
      const good = { total: 1990, customer: FULL, ...urls, ...flags, ...rest, items }
      return { path: '/charge/payment-link', good }
    },
  },
  {
    operationId: 'duplicateCharge',
    method: 'POST',
    parents: {},
    required: [],
    wrong: { externalId: optional(EXTERNAL_ID), expiresIn: LIFETIME },
    async prepare(client) {
      const { body } = await client.post('/charge/pix', { amount: 500, customer: payer() })
      return {
        path: `/charge/duplicate/${body.data.id}`,
        good: { externalId: 'again', expiresIn: 60 },
      }
    },
  },
]

const customers: BodyCase[] = [
  {
    operationId: 'createCustomer',
    method: 'POST',
    parents: {},
    required: ['name', 'status', 'taxId', 'email', 'phone'],
    wrong: { ...PERSON, status: STATUS },
    prepare: async () => ({ path: '/client', good: { ...FULL, status: 'ACTIVE' } }),
  },
  {
    operationId: 'changeCustomer',
    method: 'PUT',
    parents: {},
    required: ['id'],
    wrong: {
      ...PERSON,
      ...Object.fromEntries(
        ['name', 'taxId', 'email', 'phone'].map((name) => [name, optional(PERSON[name as 'name'])]),
      ),
      ...Object.fromEntries(
        Object.entries(ADDRESS).map(([name, values]) => [name, notNull(values)]),
      ),
      status: optional(STATUS),
      id: NO_TEXT,
    },
    async prepare(client) {
      const { body } = await client.post('/client', { ...FULL, status: 'ACTIVE' })
      return { path: '/client', good: { id: body.data.id, ...FULL, status: 'INACTIVE' } }
    },
  },
]

const PRODUCT = {
  name: NAME,
  description: [...NO_TEXT, 'x'.repeat(4097)],
  price: PRICE,
  needShipping: NO_BOOLEAN,
  sku: notNull(TEXT),
  imageUrl: notNull(optional(URL)),
  categories: ['Jogos', 5, {}, ['Nope'], ['jogos'], [5]],
  status: optional(STATUS),
  type: [...NO_TEXT, 'ONCE'],
  frequency: optional(FREQUENCY),
  dayDue: ['1', true, {}, 0, 8, 1.5],
  dayGenerateCharge: ['1', true, {}, 0, 29, 1.5],
}
const GOOD_PRODUCT = {
  name: 'Assinatura',
  description: 'Pão todo dia',
  price: 0,
  needShipping: true,
  sku: 'PAO-1',
  imageUrl: 'https://loja.example/pao.png',
  categories: ['Outros'],
  status: 'ACTIVE',
  type: 'RECURRING',
  frequency: 'MONTHLY',
  dayDue: 7,
  dayGenerateCharge: 28,
}

const products: BodyCase[] = [
  {
    operationId: 'createProduct',
    method: 'POST',
    parents: {},
    required: ['name', 'description', 'price', 'frequency'],
    wrong: PRODUCT,
    prepare: async () => ({ path: '/product', good: GOOD_PRODUCT }),
  },
  {
    operationId: 'changeProduct',
    method: 'PUT',
    parents: {},
    required: [],
    wrong: { ...PRODUCT, name: optional(NAME), description: notNull(PRODUCT.description) },
    async prepare(client) {
      const { body } = await client.post('/product', GOOD_PRODUCT)
      return { path: `/product/${body.data.id}`, good: { ...GOOD_PRODUCT, name: 'Outra' } }
    },
  },
]

const WEBHOOK = {
  url: URL,
  name: NAME,
  events: EVENTS,
}
const GOOD_WEBHOOK = { url: 'https://loja.example/hook', name: 'Loja', events: ['charge.paid'] }

const webhooks: BodyCase[] = [
  {
    operationId: 'createWebhook',
    method: 'POST',
    parents: {},
    required: ['url', 'name', 'events'],
    wrong: WEBHOOK,
    prepare: async () => ({ path: '/webhook', good: GOOD_WEBHOOK }),
  },
  {
    operationId: 'changeWebhook',
    method: 'PUT',
    parents: {},
    required: [],
    wrong: {
      url: optional(URL),
      name: optional(NAME),
      events: EVENTS,
      status: optional(STATUS),
    },
    async prepare(client) {
      const { body } = await client.post('/webhook', GOOD_WEBHOOK)
      return { path: `/webhook/${body.data.id}`, good: { ...GOOD_WEBHOOK, status: 'INACTIVE' } }
    },
  },
  {
    operationId: 'replayDeliveries',
    method: 'POST',
    parents: {},
    required: [],
    wrong: {
      from: optional(MOMENT),
      to: optional(MOMENT),
      status: [...NO_TEXT, 'failed', 'PENDING'],
    },
    async prepare(client) {
      const { body } = await client.post('/webhook', GOOD_WEBHOOK)
      const [from, to] = ['2026-08-16T00:00:00Z', '2026-08-17T00:00:00.5-03:00']
      return { path: `/webhook/${body.data.id}/replay`, good: { from, to, status: 'ALL' } }
    },
  },
]

const money: BodyCase[] = [
  {
    operationId: 'refundCharge',
    method: 'POST',
    parents: {},
    required: [],
    wrong: { value: ANY_AMOUNT, comment: COMMENT },
    prepare: async (client, api) => ({
      path: `/refund/${(await makePaid(api, client, 1990)).id}`,
      good: { value: 1, comment: 'é'.repeat(140) },
    }),
  },
  {
    operationId: 'acceptPayment',
    method: 'POST',
    parents: {},
    required: [],
    wrong: { chargeId: TEXT, difference: [...NO_TEXT, 'KEEP', 'burn'] },
    prepare: async (client, api) => ({
      path: `/payment/unmatched/${await makeUnmatched(api, client, 700)}/accept`,
      good: { chargeId: (await makeCharge(client, 700)).id, difference: 'keep' },
    }),
  },
  {
    operationId: 'refundPayment',
    method: 'POST',
    parents: {},
    required: [],
    wrong: { comment: COMMENT },
    prepare: async (client, api) => ({
      path: `/payment/unmatched/${await makeUnmatched(api, client, 700)}/refund`,
      good: { comment: '' },
    }),
  },
  {
    operationId: 'startWithdrawal',
    method: 'POST',
    parents: {},
    required: ['value'],
    wrong: { value: ANY_AMOUNT },
    prepare: async () => ({ path: PATH, good: { value: 1 } }),
  },
  {
    operationId: 'confirmWithdrawal',
    method: 'POST',
    parents: {},
    required: ['otp'],
    wrong: { otp: OTP },
    async prepare(client, api) {
      const path = `${PATH}/${await start(client, 700)}/confirm`
      return { path, good: { otp: await lastCode(api, client.company.id) } }
    },
  },
]

const SUBSCRIBED = { productId: EXTERNAL_ID, customerId: EXTERNAL_ID, ...SPLIT }

const subscribed = async (client: Client) => ({
  productId: await makeRecurring(client),
  customerId: await makeCustomer(client),
  split: await goodSplit(client),
})

const ANA = { name: 'Padaria da Ana', taxId: '529.982.247-25', pixKey: 'ana@example.com' }
const PIX_KEY = [
  ...NO_TEXT,
  '',
  'ana',
  'ana@',
  '+5511',
  '1'.repeat(10),
  `${'a'.repeat(70)}@a.example`,
]

const recipients: BodyCase[] = [
  {
    operationId: 'createRecipient',
    method: 'POST',
    parents: {},
    required: ['name', 'taxId', 'pixKey'],
    wrong: { name: NAME, taxId: TAX_ID, pixKey: PIX_KEY },
    prepare: async () => ({ path: '/recipient', good: ANA }),
  },
  {
    operationId: 'changeRecipient',
    method: 'PUT',
    parents: {},
    required: [],
    wrong: { name: optional(NAME), pixKey: optional(PIX_KEY), status: optional(STATUS) },
    prepare: async (client) => ({
      path: `/recipient/${await makeRecipient(client)}`,
      good: { name: 'Ana', pixKey: '+55 11 98888-7777', status: 'INACTIVE' },
    }),
  },
  {
    operationId: 'startPayout',
    method: 'POST',
    parents: {},
    required: [],
    wrong: { value: ANY_AMOUNT },
    async prepare(client, api) {
      const recipientId = await makeRecipient(client)
      await makeSettled(api, client, 700, [{ recipientId, percent: 5000 }])
      return { path: `/recipient/${recipientId}/payout`, good: { value: 1 } }
    },
  },
]

const recurrences: BodyCase[] = [
  {
    operationId: 'createRecurrence',
    method: 'POST',
    parents: SPLIT_PARENTS,
    required: ['productId', 'customerId'],
    wrong: SUBSCRIBED,
    prepare: async (client) => ({ path: RECURRENCES, good: await subscribed(client) }),
  },
  {
    operationId: 'createRecurrenceTemplate',
    method: 'POST',
    parents: SPLIT_PARENTS,
    required: ['productId'],
    wrong: { ...SUBSCRIBED, customerId: optional(EXTERNAL_ID) },
    prepare: async (client) => ({
      path: `${RECURRENCES}/template`,
      good: await subscribed(client),
    }),
  },
]

export const BODIES: BodyCase[] = [
  ...charges,
  ...customers,
  ...products,
  ...webhooks,
  ...money,
  ...recipients,
  ...recurrences,
  ...linkBodies,
  ...sandboxBodies,
  ...companyBodies({ NAME, EMAIL, URL, PHONE }),
]
