import { type Client, payer } from '../support/api.ts'

/** Each kind of write as a request that succeeds, and one that differs from it in its body only. */
export type Write = {
  method: 'POST' | 'PUT' | 'DELETE'
  path: string
  body: Record<string, unknown>
  other: Record<string, unknown>
}

const chargeOf = (client: Client, fields: Record<string, unknown> = {}) =>
  idOf(client, '/charge/pix', { amount: 700, customer: payer(), ...fields })

async function idOf(client: Client, path: string, json: unknown): Promise<string> {
  const { body } = await client.post(path, json)
  return body.data?.id ?? body.id
}

const PRODUCT = { name: 'Pão', description: 'Francês', price: 100 }
const WEBHOOK = { url: 'https://loja.example/', name: 'Loja', events: ['charge.paid'] }

const ids = (id: string) => ({ body: { id, name: 'Ana' }, other: { id, name: 'Eva' } })
const renamed = (path: string): Write => ({
  ...{ method: 'PUT', path, body: { name: 'Um' }, other: { name: 'Dois' } },
})
const gone = (path: string): Write => ({
  ...{ method: 'DELETE', path, body: {}, other: { ignored: true } },
})

export const WRITES: Record<string, (client: Client) => Promise<Write>> = {
  createPixCharge: async () => ({
    method: 'POST',
    path: '/charge/pix',
    body: { amount: 1990, customer: payer() },
    other: { amount: 1991, customer: payer() },
  }),
  createStaticCode: async () => ({
    method: 'POST',
    path: '/charge/pix/static',
    body: { amount: 1990 },
    other: { amount: 1991 },
  }),
  createPaymentLink: async () => ({
    method: 'POST',
    path: '/charge/payment-link',
    body: { total: 1990, customer: payer() },
    other: { total: 1990, customer: payer({ name: 'Maria' }) },
  }),
  simulatePayment: async (client) => ({
    method: 'POST',
    path: `/charge/${await chargeOf(client, { devMode: true })}/simulate-payment`,
    body: {},
    other: { ignored: true },
  }),
  cancelCharge: async (client) => ({
    method: 'POST',
    path: `/charge/${await chargeOf(client)}/cancel`,
    body: {},
    other: { ignored: true },
  }),
  duplicateCharge: async (client) => ({
    method: 'POST',
    path: `/charge/duplicate/${await chargeOf(client)}`,
    body: {},
    other: { expiresIn: 60 },
  }),
  createCustomer: async () => ({
    method: 'POST',
    path: '/client',
    body: { ...payer(), status: 'ACTIVE' },
    other: { ...payer(), status: 'INACTIVE' },
  }),
  createProduct: async () => ({
    method: 'POST',
    path: '/product',
    body: PRODUCT,
    other: { ...PRODUCT, description: 'Italiano' },
  }),
  createWebhook: async () => ({
    method: 'POST',
    path: '/webhook',
    body: WEBHOOK,
    other: { ...WEBHOOK, events: ['charge.expired'] },
  }),
  changeCustomer: async (client) => ({
    method: 'PUT',
    path: '/client',
    ...ids(await idOf(client, '/client', { ...payer(), status: 'ACTIVE' })),
  }),
  deleteCustomer: async (client) => ({
    ...gone(`/client/${await idOf(client, '/client', { ...payer(), status: 'ACTIVE' })}`),
  }),
  changeProduct: async (client) => ({
    ...renamed(`/product/${await idOf(client, '/product', PRODUCT)}`),
  }),
  deleteProduct: async (client) => ({
    ...gone(`/product/${await idOf(client, '/product', PRODUCT)}`),
  }),
  changeWebhook: async (client) => ({
    ...renamed(`/webhook/${await idOf(client, '/webhook', WEBHOOK)}`),
  }),
  deleteWebhook: async (client) => ({
    ...gone(`/webhook/${await idOf(client, '/webhook', WEBHOOK)}`),
  }),
}
