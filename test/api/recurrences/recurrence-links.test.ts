import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkoutUrl } from '../../../src/core/charges/addresses.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { advance, startPlaying } from '../../support/clocks.ts'
import { makeCharge } from '../../support/payments.ts'
import { decode } from '../../support/qr.ts'
import {
  decide,
  makeCustomer,
  makeRecurring,
  makeSubscription,
  makeTemplate,
  RECURRENCES,
  readSubscription,
  subscribe,
} from '../../support/subscriptions.ts'
import { stored } from '../storage.ts'

const api = await startApi()
startPlaying(api)
const DAY_S = 24 * 3600

const ANA = payer({ name: 'Ana Souza', taxId: '11144477735', email: 'ana@example.com' })
const errorOf = ({ status, body }: Reply) => [status, body.errors[0]?.code]

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

/** Subscribes through a link and gives what the payer is shown. */
async function started(url: string, json?: unknown): Promise<Any> {
  const reply = await subscribe(api, url, json)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}

const listed = async (client: Client): Promise<Any[]> =>
  (await client.get(RECURRENCES)).body.data.filter((one: Any) => !one.isRecurringTemplate)

const charged = async (client: Client, id: string): Promise<Any> => {
  const { status, body, text } = await client.get(`/charge/${id}`)
  assert.equal(status, 200, text)
  return body.data
}

async function makeLink(client: Client, fields: Record<string, unknown> = {}, quantity = 1) {
  const items = [{ productId: await makeRecurring(client), quantity }]
  const link = { customer: payer(), items, ...fields }
  const { status, body, text } = await client.post('/charge/payment-link', link)
  assert.equal(status, 201, text)
  return body.data
}

test('each payer who goes through a template gets an agreement of their own', async () => {
  const client = await api.client()
  const { url } = await makeTemplate(client)
  const [maria, ana] = [
    await started(url, { customer: payer() }),
    await started(url, { customer: ANA }),
  ]
  assert.deepEqual(maria, {
    id: maria.id,
    emv: maria.emv,
    qrCode: maria.qrCode,
    recurrenceAuthStatus: 'CREATED',
    value: '1990',
    frequency: 'MONTHLY',
    expiresAt: '2026-09-19T15:00:00.000Z',
  })
  assert.equal(await decode(maria.qrCode), maria.emv)
  assert.notEqual(maria.emv, ana.emv)
  const shown = await listed(client)
  assert.deepEqual(
    shown.map(({ id, customerName, emv }) => [id, customerName, emv]),
    [
      [ana.id, 'Ana Souza', ana.emv],
      [maria.id, 'Maria da Silva', maria.emv],
    ],
  )
  const customers = (await client.get('/client')).body.data.map(({ id }: Any) => id)
  assert.deepEqual(shown.map(({ customerId }) => customerId).sort(), customers.sort())
  await decide(api, ana.emv, 'approve')
  assert.equal((await readSubscription(client, ana.id)).recurrenceAuthStatus, 'APPROVED')
  assert.equal((await readSubscription(client, maria.id)).recurrenceAuthStatus, 'CREATED')
})

test('a payer who comes again gets the agreement they have begun, as long as it is undecided', async () => {
  const client = await api.client()
  const { url } = await makeTemplate(client)
  const come = () => started(url, { customer: payer() })
  const first = await come()
  const again = await started(url, { customer: payer({ name: 'M. Silva', email: undefined }) })
  assert.deepEqual(again, first)
  await decide(api, first.emv, 'reject')
  const second = await come()
  assert.notEqual(second.id, first.id)
  await decide(api, second.emv, 'approve')
  const third = await come()
  assert.equal(third.recurrenceAuthStatus, 'CREATED', 'nobody learns here who has subscribed')
  await advance(client, 30 * DAY_S)
  const fourth = await come()
  assert.equal(new Set([first, second, third, fourth].map(({ id }) => id)).size, 4)
  assert.equal((await client.get('/client')).body.data.length, 1, 'one payer, one customer')
})

test('a payer who comes ten times at once has one agreement', async () => {
  const client = await api.client()
  const { url } = await makeTemplate(client)
  const link = await makeLink(client)
  for (const where of [url, link.url]) {
    const all = Array.from({ length: 10 }, () => started(where, { customer: payer() }))
    const ids = new Set((await Promise.all(all)).map(({ id }) => id))
    assert.equal(ids.size, 1)
  }
  assert.equal((await listed(client)).length, 2)
  assert.equal((await client.get('/client')).body.data.length, 1)
})

test('a template for one customer is theirs, whoever else is named, and needs no body', async () => {
  const client = await api.client()
  const customerId = await makeCustomer(client)
  const { url, id } = await makeTemplate(client, { customerId })
  assert.equal((await charged(client, id)).recurrenceChargeId, undefined)
  const mine = await started(url)
  for (const json of [{}, { customer: ANA }]) assert.deepEqual(await started(url, json), mine)
  const [only, ...others] = await listed(client)
  assert.deepEqual([only.id, only.customerId, others], [mine.id, customerId, []])
  const { recurrenceChargeId, pixAutomaticEmv, pixAutomaticQrCode } = await charged(client, id)
  assert.deepEqual([recurrenceChargeId, pixAutomaticEmv], [mine.id, mine.emv])
  assert.equal(pixAutomaticQrCode, mine.qrCode)
})

test('a template sells what it was made for, whatever becomes of its product', async () => {
  const client = await api.client()
  const productId = await makeRecurring(client, { dayDue: 2 })
  const { url } = await makeTemplate(client, { productId })
  const before = await started(url, { customer: payer() })
  await client.put(`/product/${productId}`, { price: 9990, frequency: 'WEEKLY', dayDue: 7 })
  await client.delete(`/product/${productId}`)
  const { value, frequency, id } = await started(url, { customer: ANA })
  assert.deepEqual([value, frequency], [before.value, before.frequency])
  assert.equal((await readSubscription(client, id)).dayDue, 2)
})

test('nobody subscribes through a canceled template; who has subscribed keeps it', async () => {
  const client = await api.client()
  const { url, id } = await makeTemplate(client)
  const begun = await started(url, { customer: payer() })
  await client.post(`${RECURRENCES}/${id}/cancel`)
  for (const customer of [ANA, payer()]) {
    const reply = await subscribe(api, url, { customer })
    assert.deepEqual(errorOf(reply), [409, 'recurrence_not_decidable'])
    assert.match(reply.body.errors[0].description, /CANCELED/)
  }
  await decide(api, begun.emv, 'approve')
  assert.equal((await readSubscription(client, begun.id)).status, 'OPEN')
})

const CUSTOMERS: [unknown, RegExp][] = [
  [{}, /^customer: /],
  [undefined, /^customer: /],
  [{ customer: null }, /^customer: /],
  [{ customer: 'Maria' }, /^customer: /],
  [{ customer: { name: 'Maria' } }, /^customer\.taxId: /],
  [{ customer: payer({ name: '' }) }, /^customer\.name: /],
  [{ customer: payer({ taxId: '529_982_247_25' }) }, /^customer\.taxId: /],
  [{ customer: payer({ email: 'maria' }) }, /^customer\.email: /],
  [{ customer: payer({ phone: '1' }) }, /^customer\.phone: /],
]

test('a payer who does not say rightly who they are is refused with the reason, and nothing is stored', async () => {
  const client = await api.client()
  const { url } = await makeTemplate(client)
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const theirs = await makeTemplate(live)
  const before = await stored(api)
  for (const [json, line] of CUSTOMERS) {
    const reply = await subscribe(api, url, json)
    assert.deepEqual(errorOf(reply), [400, 'invalid_value'], reply.text)
    assert.match(reply.body.errors[0].description, line)
  }
  const wrong = await subscribe(api, theirs.url, { customer: payer({ taxId: '12345678901' }) })
  assert.match(wrong.body.errors[0].description, /^customer\.taxId: /)
  const noBank = await subscribe(api, theirs.url, { customer: payer() })
  assert.deepEqual(errorOf(noBank), [503, 'provider_unavailable'])
  const path = `${new URL(url).pathname}/subscription`
  assert.deepEqual(errorOf(await api.call('POST', path, { raw: '{' })), [400, 'invalid_json'])
  assert.deepEqual(await stored(api), before)
})

test('a link that sells no subscription is not found, like one that nobody made', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const [one, two] = [await makeRecurring(client), await makeRecurring(client)]
  const once = await makeRecurring(client, { type: 'ONE_TIME', frequency: undefined })
  const items = (...ids: string[]) => ids.map((productId) => ({ productId, quantity: 1 }))
  const { id, url } = await makeTemplate(client)
  const [, token] = new URL(url).pathname.split('/pay/')
  const paths = [
    (await makeLink(client, { items: items(one, two) })).url,
    (await makeLink(client, { items: items(once) })).url,
    (await makeLink(client, { total: 700, items: undefined })).url,
    (await charged(client, (await makeCharge(client, 700)).id)).url,
    (await makeSubscription(client)).paymentLinkUrl,
    checkoutUrl(api.app, { companyId: other.company.id, id: client.company.id }),
    ...['x', `${token}x`, token!.slice(1), id].map((text) => `http://vintem.test/pay/${text}`),
  ]
  const before = await stored(api)
  for (const path of paths) {
    const reply = await subscribe(api, path, { customer: payer() })
    assert.deepEqual(errorOf(reply), [404, 'recurrence_not_found'], path)
  }
  assert.deepEqual(await stored(api), before)
})

test('what a payer is shown names no person, and has the headers and the shape of every answer', async () => {
  const client = await api.client()
  const customerId = await makeCustomer(client)
  const { url } = await makeTemplate(client, { customerId })
  const { taxId, email, phone } = payer()
  const secrets = [taxId, '529.982.247-25', email, phone, 'Maria', customerId, client.key]
  for (const version of VERSION_NAMES) {
    const path = `${new URL(url).pathname}/subscription`
    const headers = { 'X-Api-Version': version }
    const reply = await api.call('POST', path, { json: { customer: ANA }, headers })
    const shown = version === '2025-01-01' ? reply.body : reply.body.data
    const fields = ['id', 'emv', 'qrCode', 'recurrenceAuthStatus', 'value', 'frequency']
    assert.deepEqual(Object.keys(shown), [...fields, 'expiresAt'])
    for (const secret of secrets) assert.ok(!reply.text.includes(secret), secret)
    assert.equal(reply.headers.get('x-api-version'), version)
    assert.match(reply.headers.get('x-request-id') ?? 'none', /^[0-9a-z]{26}$/)
  }
})

test('a payment link with one recurring item is a subscription link, for its total', async () => {
  const client = await api.client()
  const link = await makeLink(client, {}, 2)
  const before = await charged(client, link.id)
  assert.deepEqual([before.isRecurring, before.frequency, before.total], [true, 'MONTHLY', 3980])
  for (const name of Object.keys(before)) assert.ok(!/^(pixAutomatic|recurrence)/.test(name), name)
  const { id, emv, value } = await started(link.url)
  assert.equal(value, '3980')
  const shown = await charged(client, link.id)
  const { paymentLinkUrl, qrCode, customerId } = await readSubscription(client, id)
  assert.deepEqual(shown, {
    ...before,
    recurrenceChargeId: id,
    recurrenceAuthStatus: 'CREATED',
    pixAutomaticEmv: emv,
    pixAutomaticQrCode: qrCode,
    pixAutomaticPaymentLinkUrl: paymentLinkUrl,
  })
  const [{ id: known }] = (await client.get('/client')).body.data
  assert.equal(customerId, known, 'the payer of the link')
  await decide(api, emv, 'approve')
  assert.equal((await charged(client, link.id)).recurrenceAuthStatus, 'APPROVED')
  const [inList] = (await client.get('/charge')).body.data
  assert.deepEqual([inList.id, inList.isRecurring, inList.frequency], [link.id, true, 'MONTHLY'])
})

test('nobody subscribes through a link that is canceled or past its end', async () => {
  const client = await api.client()
  const [canceled, late] = [await makeLink(client), await makeLink(client, { expiresIn: 60 })]
  await client.post(`/charge/${canceled.id}/cancel`)
  await advance(client, 60)
  for (const [{ url }, status] of [
    [canceled, /CANCELED/],
    [late, /EXPIRED/],
  ] as const) {
    const reply = await subscribe(api, url)
    assert.deepEqual(errorOf(reply), [409, 'recurrence_not_decidable'])
    assert.match(reply.body.errors[0].description, status)
  }
  assert.deepEqual(await listed(client), [])
})

const AS_CHARGE = [
  'id',
  'status',
  'paymentStatus',
  'total',
  'url',
  'devMode',
  'needShipping',
  'createdAt',
  'expiresAt',
  'customer',
  'company',
  'isRecurring',
  'frequency',
  'recurrenceAuthStatus',
]
const OF_AGREEMENT = [
  'pixAutomaticEmv',
  'pixAutomaticQrCode',
  'pixAutomaticPaymentLinkUrl',
  'recurrenceChargeId',
]

test('a subscription is shown as a charge in each of its states', async () => {
  const client = await api.client()
  const states: [('approve' | 'reject' | 'cancel')[], string[]][] = [
    [[], ['OPEN', 'PENDING', 'CREATED']],
    [['approve'], ['OPEN', 'PROCESSING', 'APPROVED']],
    [['reject'], ['CANCELED', 'PENDING', 'REJECTED']],
    [
      ['approve', 'cancel'],
      ['CANCELED', 'PENDING', 'CANCELED'],
    ],
  ]
  for (const [decisions, state] of states) {
    const made = await makeSubscription(client)
    for (const decision of decisions) await decide(api, made.emv, decision)
    const shown = await charged(client, made.id)
    assert.deepEqual(Object.keys(shown).sort(), [...AS_CHARGE, ...OF_AGREEMENT].sort())
    const { status, paymentStatus, recurrenceAuthStatus } = shown
    assert.deepEqual([status, paymentStatus, recurrenceAuthStatus], state)
    assert.deepEqual(
      [shown.id, shown.total, shown.url, shown.isRecurring, shown.frequency],
      [made.id, 1990, made.paymentLinkUrl, true, 'MONTHLY'],
    )
    assert.deepEqual(
      [shown.pixAutomaticEmv, shown.pixAutomaticQrCode, shown.recurrenceChargeId],
      [made.emv, made.qrCode, made.id],
    )
    assert.equal(shown.customer.taxId, '***.***.247-25')
  }
  const late = await makeSubscription(client)
  await advance(client, 30 * DAY_S)
  const { status, paymentStatus, recurrenceAuthStatus } = await charged(client, late.id)
  assert.deepEqual([status, paymentStatus, recurrenceAuthStatus], Array(3).fill('EXPIRED'))
})

test('a template is shown as a charge, without a payer or a code of its own', async () => {
  const client = await api.client()
  const { id, url } = await makeTemplate(client)
  await started(url, { customer: payer() })
  const shown = await charged(client, id)
  const fields = AS_CHARGE.filter((name) => name !== 'customer')
  assert.deepEqual(Object.keys(shown).sort(), fields.sort())
  assert.deepEqual([shown.id, shown.url, shown.total], [id, url, 1990])
  await client.post(`${RECURRENCES}/${id}/cancel`)
  assert.equal((await charged(client, id)).status, 'CANCELED')
})

test('the charges of a subscription are in its detail, newest first, and are charges like others', async () => {
  const client = await api.client()
  const { id, emv } = await makeSubscription(client)
  await decide(api, emv, 'approve')
  await advance(client, 31 * DAY_S)
  const { charges } = await readSubscription(client, id)
  const [open, paid] = charges
  assert.equal(charges.length, 2)
  const fields = ['id', 'status', 'paymentStatus', 'total', 'expiresAt']
  assert.deepEqual(Object.keys(open), fields)
  assert.deepEqual(Object.keys(paid), [...fields, 'paymentDate', 'endToEndId'])
  assert.deepEqual([open.status, open.paymentStatus, open.total], ['OPEN', 'PROCESSING', '1990'])
  assert.deepEqual([paid.status, paid.paymentStatus], ['COMPLETED', 'RECEIVED'])
  assert.match(paid.endToEndId, /^E99999999\d{12}[0-9A-Za-z]{11}$/)
  for (const one of charges) {
    const shown = await charged(client, one.id)
    assert.deepEqual([shown.isRecurring, shown.recurrenceChargeId], [true, id])
    assert.deepEqual([shown.total, shown.expiresAt], [1990, one.expiresAt])
    assert.deepEqual([shown.paymentDate, shown.endToEndId], [one.paymentDate, one.endToEndId])
    assert.equal(shown.brCode, undefined, 'the bank collects it: there is no code to pay')
  }
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'subscription.charge.paid').length, 1)
  const old = await client.get(`${RECURRENCES}/${id}`, {
    headers: { 'X-Api-Version': '2025-01-01' },
  })
  assert.equal(old.body.charges[1].paymentStatus, 'RECIEVED')
})
