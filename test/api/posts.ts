import { type Client, payer } from '../support/api.ts'

/** Each kind of POST as a request that succeeds, and one that differs from it in its body only. */
export type Post = { path: string; body: Record<string, unknown>; other: Record<string, unknown> }

async function chargeOf(client: Client, fields: Record<string, unknown> = {}): Promise<string> {
  const { body } = await client.post('/charge/pix', { amount: 700, customer: payer(), ...fields })
  return body.data?.id ?? body.id
}

export const POSTS: Record<string, (client: Client) => Promise<Post>> = {
  createPixCharge: async () => ({
    path: '/charge/pix',
    body: { amount: 1990, customer: payer() },
    other: { amount: 1991, customer: payer() },
  }),
  createStaticCode: async () => ({
    path: '/charge/pix/static',
    body: { amount: 1990 },
    other: { amount: 1991 },
  }),
  createPaymentLink: async () => ({
    path: '/charge/payment-link',
    body: { total: 1990, customer: payer() },
    other: { total: 1990, customer: payer({ name: 'Maria' }) },
  }),
  simulatePayment: async (client) => ({
    path: `/charge/${await chargeOf(client, { devMode: true })}/simulate-payment`,
    body: {},
    other: { ignored: true },
  }),
  cancelCharge: async (client) => ({
    path: `/charge/${await chargeOf(client)}/cancel`,
    body: {},
    other: { ignored: true },
  }),
  duplicateCharge: async (client) => ({
    path: `/charge/duplicate/${await chargeOf(client)}`,
    body: {},
    other: { expiresIn: 60 },
  }),
  createCustomer: async () => ({
    path: '/client',
    body: { ...payer(), status: 'ACTIVE' },
    other: { ...payer(), status: 'INACTIVE' },
  }),
  createProduct: async () => ({
    path: '/product',
    body: { name: 'Pão', description: 'Francês', price: 100 },
    other: { name: 'Pão', description: 'Italiano', price: 100 },
  }),
  createWebhook: async () => ({
    path: '/webhook',
    body: { url: 'https://loja.example/', name: 'Loja', events: ['charge.paid'] },
    other: { url: 'https://loja.example/', name: 'Loja', events: ['charge.expired'] },
  }),
}
