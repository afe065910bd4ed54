import { BODY_LIMIT_BYTES } from '../../src/http/body.ts'
import { type FullStore, LARGE_PAYER, LARGE_PRODUCT, largeLink } from './full-store.ts'

/** A request: a path, and a body if it has one. */
export type Ask = { path: string; json?: unknown; form?: string; until?: 'headers' }

const at = (path: string, json?: unknown): Ask => (json === undefined ? { path } : { path, json })
const LONG = '😀'.repeat(140)

const DEAR_CHARGE = { amount: 1990, customer: { name: LONG, taxId: '52998224725' } }

/** The list as long as it may be asked for, and once more with what can be added to it. */
const list = (path: string, ...more: string[]): Ask[] =>
  ['', ...more].map((query) => at(`${path}?limit=1000${query && `&${query}`}`))

/** The dearest requests to an operation, by its name, if the example of the docs is not dear. */
export const ASKS: Record<string, (store: FullStore) => Ask[]> = {
  createPixCharge: () => [
    at('/charge/pix', { amount: 1990, customer: LARGE_PAYER, externalId: LONG, devMode: true }),
  ],
  createChargeBatch: () => [at('/charge/batch', { charges: Array(1000).fill(DEAR_CHARGE) })],
  createPlan: () => [
    at('/charge/plan', {
      total: 100_000,
      count: 60,
      firstDueDate: '2030-01-31',
      customer: LARGE_PAYER,
      description: LONG.slice(0, 130),
    }),
  ],
  createReusableLink: () => [
    at('/link', { title: 'a'.repeat(120), description: 'a'.repeat(2000), amount: 1000 }),
  ],
  listReusableLinks: () => list('/link'),
  getReusableLink: () => [at('/link/link_00000000000000000000000000')],
  changeReusableLink: () => [at('/link/link_00000000000000000000000000', { enabled: false })],
  listPlans: () => list('/charge/plan'),
  getPlan: () => [at('/charge/plan/plan_00000000000000000000000000')],
  cancelPlan: () => [at('/charge/plan/plan_00000000000000000000000000/cancel', {})],
  createPaymentLink: ({ product }) => [at('/charge/payment-link', largeLink(product))],
  getCharge: ({ link, paid }) => [at(`/charge/${link.id}`), at(`/charge/${paid.id}`)],
  getChargeStatus: ({ link }) => [at(`/charge/${link.id}/status`)],
  getChargeAmount: ({ link }) => [at(`/charge/${link.id}/amount`)],
  getChargeElement: ({ paid }) => [at(`/charge/${paid.id}/element`)],
  listCharges: () => list('/charge', 'include=qr', 'taxId=52998224725'),
  summarizeCharges: () => [at('/charge/summary?createdFrom=2026-01-01&createdTo=2026-12-31')],
  simulatePayment: ({ paid }) => [at(`/charge/${paid.id}/simulate-payment`)],
  cancelCharge: ({ canceled }) => [at(`/charge/${canceled}/cancel`)],
  duplicateCharge: ({ link }) => [at(`/charge/duplicate/${link.id}`, { externalId: LONG })],
  createRecurrence: ({ recurring, customer }) => [
    at('/pix-automatic/recurrences', { productId: recurring, customerId: customer }),
  ],
  createRecurrenceTemplate: ({ recurring }) => [
    at('/pix-automatic/recurrences/template', { productId: recurring }),
  ],
  listRecurrences: () => list('/pix-automatic/recurrences'),
  getRecurrence: ({ approved }) => [at(`/pix-automatic/recurrences/${approved.id}`)],
  cancelRecurrence: ({ subscription }) => [
    at(`/pix-automatic/recurrences/${subscription.id}/cancel`),
  ],
  refundCharge: ({ paid }) => [at(`/refund/${paid.id}`, { value: 1, comment: LONG })],
  listRefunds: ({ refunded }) => list(`/refund/charge/${refunded}`),
  listUnmatchedPayments: () => list('/payment/unmatched'),
  acceptPayment: ({ unmatched }) => [at(`/payment/unmatched/${unmatched}/accept`)],
  refundPayment: ({ returnable }) => [
    at(`/payment/unmatched/${returnable}/refund`, { comment: LONG }),
  ],
  createCustomer: () => [at('/client', { ...LARGE_PAYER, status: 'ACTIVE' })],
  listCustomers: () => list('/client', 'taxId=52998224725'),
  getCustomer: ({ customer }) => [at(`/client/id/${customer}`)],
  changeCustomer: ({ customer }) => [at('/client', { id: customer, ...LARGE_PAYER })],
  deleteCustomer: () => [at('/client/clnt_00000000000000000000000000')],
  createProduct: () => [at('/product', LARGE_PRODUCT)],
  listProducts: () => list('/product'),
  getProduct: ({ product }) => [at(`/product/${product}`)],
  changeProduct: ({ product }) => [at(`/product/${product}`, LARGE_PRODUCT)],
  deleteProduct: () => [at('/product/prod_00000000000000000000000000')],
  createWebhook: () => [
    at('/webhook', { url: 'https://loja.example/hook', name: LONG, events: ['charge.paid'] }),
  ],
  listWebhooks: () => list('/webhook'),
  getWebhook: ({ webhook }) => [at(`/webhook/${webhook}`)],
  changeWebhook: ({ webhook }) => [at(`/webhook/${webhook}`, { name: LONG })],
  deleteWebhook: () => [at('/webhook/00000000-0000-7000-8000-000000000000')],
  rotateWebhookSecret: ({ webhook }) => [at(`/webhook/${webhook}/rotate-secret`)],
  listDeliveries: ({ listening }) => list(`/webhook/${listening}/deliveries`, 'status=FAILED'),
  redeliver: ({ delivered }) => [at(`/webhook/delivery/${delivered}/redeliver`)],
  replayDeliveries: ({ listening }) => [at(`/webhook/${listening}/replay`, { status: 'ALL' })],
  testWebhook: ({ listening }) => [at(`/webhook/${listening}/test`)],
  listEvents: () => list('/event', 'type=charge.paid', 'order=newest&type=charge.paid'),
  getEvent: () => [at('/event/evt_00000000000000000000000000')],
  listEventDeliveries: () => [at('/event/evt_00000000000000000000000000/deliveries')],
  listRequests: () => list('/request-log', 'status=REFUSED', 'operation=listCharges'),
  getStatement: () =>
    list('/account-balance/statement', 'format=csv', 'format=csv&dialect=br', 'account=available'),
  listFigures: () => [at('/account-balance/figures?from=2026-01-01&to=2026-12-31')],
  listWithdrawals: () => list('/account-balance/withdraw', 'status=COMPLETED'),
  getWithdrawal: ({ completed }) => [at(`/account-balance/withdraw/${completed}`)],
  confirmWithdrawal: ({ completed }) => [
    at(`/account-balance/withdraw/${completed}/confirm`, { otp: '123456' }),
  ],
  cancelWithdrawal: ({ completed }) => [at(`/account-balance/withdraw/${completed}/cancel`)],
  resendWithdrawalCode: ({ completed }) => [at(`/account-balance/withdraw/${completed}/resend`)],
  compareVersions: () => [at('/company/version-changes?from=2025-01-01&to=2026-08-16')],
  changeCompany: () => [at('/company', { name: LONG.slice(0, 100) })],
  changeReminders: () => [at('/reminder', MANY_REMINDERS)],
  receivePayment: () => [at('/sandbox/payment', { amount: 500, payer: { name: LONG } })],
  returnPayment: () => [at('/sandbox/payment/E1/return', { reason: 'FRAUD' })],
  makeWithdrawalCode: ({ completed }) => [at(`/sandbox/withdraw/${completed}/code`)],
}

const LONG_RULE = {
  enabled: true,
  channel: 'EMAIL',
  texts: { pt: { subject: '{'.repeat(150), text: '{nome'.repeat(400) } },
}
const MANY_REMINDERS = {
  rules: Array.from({ length: 10 }, (_, day) => ({ day, ...LONG_RULE })),
}

const pathOf = ({ url }: { url: string }) => new URL(url).pathname
const pix = Array.from({ length: 380 }, (_, n) => ({
  endToEndId: `E${`${n}`.padStart(31, '0')}`,
  txid: `${n}`.padStart(26, 'a'),
  valor: '10.00',
  horario: '2026-08-20T15:00:00Z',
}))
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
const LARGE_FORM = form({ name: LONG, taxId: '1'.repeat(BODY_LIMIT_BYTES / 2) })

/** A tool that an agent calls. */
const call = (name: string, args: object): Ask =>
  at('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })

/** As many fields as fit into a body. */
const LONG_META = Object.fromEntries(Array.from({ length: 4500 }, (_, n) => [`key-${n}`, 1]))

const AGENT_ASKS = ({ link, paid, refunded, approved, product }: FullStore): Ask[] => [
  at('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  at('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: LONG_META } }),
  call('find_charges', { limit: 50 }),
  call('find_charges', { text: 'Maria', limit: 50 }),
  ...[link.id, paid.id, refunded].map((id) => call('explain_charge', { id })),
  call('list_statement', { limit: 50 }),
  call('list_unmatched_payments', { limit: 50 }),
  call('list_withdrawals', { limit: 50 }),
  call('list_subscriptions', { limit: 50 }),
  call('explain_subscription', { id: approved.id }),
  call('webhook_health', {}),
  call('create_payment_link', { ...largeLink(product), idempotencyKey: 'large' }),
]

/** The dearest requests to what is no operation, by method and address as the server has them. */
export const OPEN_ASKS: Record<string, (store: FullStore) => Ask[]> = {
  'POST /mcp': AGENT_ASKS,
  'GET /mcp': () => [at('/mcp')],
  'DELETE /mcp': () => [at('/mcp')],
  'GET /health': () => [at('/health')],
  'GET /ready': () => [at('/ready')],
  'GET /openapi.json': () => [at('/openapi.json')],
  'GET /openapi-2025-01-01.json': () => [at('/openapi-2025-01-01.json')],
  'GET /collection.json': () => [at('/collection.json')],
  'GET /docs': () => [at('/docs')],
  'GET /docs/': () => [at('/docs/')],
  'GET /docs/js/scalar.js': () => [at('/docs/js/scalar.js')],
  'GET /guides': () => [
    at('/guides'),
    at('/guides?q=es%20an%20in%20on%20re%20st%20te%20th'),
    at('/guides?q=estorno+boleto+assinatura+saque+repasse+webhook+banco+erro'),
  ],
  'GET /guides.md': () => [at('/guides.md')],
  'GET /llms.txt': () => [at('/llms.txt')],
  'GET /guides*': () => [at('/guides/connect-a-bank'), at('/guides/decisions')],
  'GET /assets/:name': ({ asset }) => [at(asset)],
  'GET /assets/theme/:file': ({ theme }) => [at(theme)],
  'GET /preview/:company/:file': ({ preview }) => [at(preview)],
  'GET /mailbox': () => [at('/mailbox')],
  'GET /mailbox/:id': () => [at('/mailbox/none')],
  'GET /mailbox/:id/content': () => [at('/mailbox/none/content')],
  'GET /sandbox/reset': () => [at('/sandbox/reset')],
  'POST /sandbox/reset': () => [{ path: '/sandbox/reset', form: LARGE_FORM }],
  'GET /cob/:token': ({ location }) => [at(location)],
  'GET /cobv/:token': () => [at('/cobv/none')],
  'GET /rec/:token': () => [at('/rec/none')],
  'GET /': () => [at('/'), at('/?lang=en')],
  'GET /pay/:token': ({ link, paid }) => [at(pathOf(link)), at(pathOf(paid))],
  'POST /pay/:token': ({ link }) => [{ path: pathOf(link), form: LARGE_FORM }],
  'POST /pay/:token/simulate': ({ paid }) => [{ path: `${pathOf(paid)}/simulate`, form: '' }],
  'GET /pay/:token/events': ({ link }) => [{ path: `${pathOf(link)}/events`, until: 'headers' }],
  'GET /pay/:token/status': ({ link }) => [at(`${pathOf(link)}/status`)],
  'POST /pay/:token/subscription': ({ link }) => [
    at(`${pathOf(link)}/subscription`, { customer: LARGE_PAYER }),
  ],
  'POST /bank/pix': ({ code }) => [at('/bank/pix', { brCode: code.brCode, amount: 100 })],
  'POST /bank/authorizations': ({ subscription }) => [
    at('/bank/authorizations', { emv: subscription.emv, decision: 'approve' }),
  ],
  'POST /bank/callbacks/:token': ({ callback }) => [at(callback, { pix })],
  'POST /bank/callbacks/:token/:kind': ({ callback }) => [at(`${callback}/pix`, { pix })],
  'GET /bank/callbacks/:token': ({ callback }) => [at(callback)],
  'GET /bank/callbacks/:token/:kind': ({ callback }) => [at(`${callback}/pix`)],
  'GET /bank/pay': () => [at('/bank/pay')],
  'GET /bank/key': () => [at('/bank/key')],
  'GET /bank/decide': () => [at('/bank/decide')],
  'GET /bank/clock': () => [at('/bank/clock')],
  'POST /bank/pay': ({ code }) => [{ path: '/bank/pay', form: form({ code: code.brCode }) }],
  'POST /bank/key': () => [
    { path: '/bank/key', form: form({ amount: '1,00', taxId: '52998224725' }) },
  ],
  'POST /bank/decide': () => [{ path: '/bank/decide', form: LARGE_FORM }],
  'POST /bank/clock': () => [{ path: '/bank/clock', form: LARGE_FORM }],
  'GET /bank': ({ code }) => [at('/bank'), at(`/bank?code=${encodeURIComponent(code.brCode)}`)],
}
