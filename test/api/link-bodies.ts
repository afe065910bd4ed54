import type { Client } from '../support/api.ts'
import { makeRecipient } from '../support/splits.ts'
import type { BodyCase } from './bodies.ts'
import {
  ANY_AMOUNT,
  LIFETIME,
  MOMENT,
  NAME,
  NO_BOOLEAN,
  NO_NUMBER,
  NO_OBJECT,
  NO_TEXT,
  notNull,
  optional,
  TEXT,
  URL,
} from './wrong-values.ts'

const NO_LIST = ['text', 5, null, {}]
const QUANTITY = [...NO_NUMBER, 0, -1, 1.5]

/** A link has an amount, items or bounds. Beside items the others are wrong in themselves. */
const WRONG: Record<string, unknown[]> = {
  title: NAME,
  description: [...NO_TEXT, 'x'.repeat(2001)],
  amount: [],
  items: [...NO_LIST, []],
  'items[0]': NO_OBJECT,
  'items[0].productId': NO_TEXT,
  'items[0].quantity': QUANTITY,
  openAmount: [],
  'openAmount.min': [],
  'openAmount.max': [],
  minQuantity: QUANTITY,
  maxQuantity: QUANTITY,
  slug: [...NO_TEXT, 'Festa', 'festa junina', 'são-joão', '-a', 'a-', 'a--b', 'x'.repeat(300)],
  enabled: NO_BOOLEAN,
  needShipping: NO_BOOLEAN,
  expiresIn: LIFETIME,
  endsAt: optional(MOMENT),
  stock: QUANTITY,
  successUrl: optional(URL),
  split: [...NO_LIST, []],
  'split[0]': NO_OBJECT,
  'split[0].recipientId': TEXT,
  'split[0].amount': ANY_AMOUNT,
  'split[0].percent': [],
}

const PARENTS = {
  items: true,
  'items[0]': true,
  openAmount: true,
  split: true,
  'split[0]': true,
  'split[0].amount': true,
} as const

async function goodLink(client: Client): Promise<Record<string, unknown>> {
  const product = { name: 'Pão', description: 'Francês', price: 1000 }
  const { body } = await client.post('/product', product)
  return {
    title: 'Cesta de pães',
    description: 'Para o café da manhã',
    items: [{ productId: body.data.id, quantity: 2 }],
    minQuantity: 1,
    maxQuantity: 3,
    enabled: true,
    needShipping: true,
    expiresIn: 3600,
    endsAt: '2030-12-24T15:00:00.000Z',
    stock: 10,
    successUrl: 'https://loja.example/ok',
    split: [{ recipientId: await makeRecipient(client), amount: 5 }],
  }
}

/** With an amount, what is wrong of items and bounds is not tried. */
const PRICED = { items: [], 'items[0]': [], 'items[0].productId': [], 'items[0].quantity': [] }

/** What null removes is not wrong in a change, and an empty text is as if it were not sent. */
const REMOVED = ['description', 'endsAt', 'stock', 'successUrl', 'split']
const CHANGED = Object.fromEntries(
  Object.entries(WRONG).map(([name, values]) => [
    name,
    REMOVED.includes(name) ? notNull(values) : values,
  ]),
)

export const linkBodies: BodyCase[] = [
  {
    operationId: 'createReusableLink',
    method: 'POST',
    parents: PARENTS,
    required: ['title', 'items[0].productId', 'items[0].quantity', 'split[0].recipientId'],
    wrong: WRONG,
    prepare: async (client) => ({ path: '/link', good: await goodLink(client) }),
  },
  {
    operationId: 'changeReusableLink',
    method: 'PUT',
    parents: PARENTS,
    required: ['split[0].recipientId'],
    wrong: { ...CHANGED, ...PRICED, amount: ANY_AMOUNT, title: optional(NAME) },
    async prepare(client) {
      const { body } = await client.post('/link', { title: 'Cesta', amount: 1000 })
      const { items: _, ...good } = await goodLink(client)
      return { path: `/link/${body.data.id}`, good: { ...good, amount: 4500 } }
    },
  },
]
