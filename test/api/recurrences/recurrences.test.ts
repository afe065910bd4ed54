import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPublic, newId, toPublic } from '../../../src/lib/ids.ts'
import { parse } from '../../../src/pix/brcode.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { given } from '../../support/agreements.ts'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { decode } from '../../support/qr.ts'
import {
  decide,
  makeCustomer,
  makeRecurring,
  makeSubscription,
  makeTemplate,
  RECURRENCES,
  readSubscription,
} from '../../support/subscriptions.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const { simulator } = api.app.providers

/** Exactly what is published, in its order. */
const FIELDS = [
  'id',
  'status',
  'productId',
  'customerId',
  'value',
  'createdAt',
  'productName',
  'customerName',
  'frequency',
  'dayDue',
  'dayGenerateCharge',
  'externalRecurrenceId',
  'paymentLinkUrl',
  'emv',
  'qrCode',
  'recurrenceAuthStatus',
  'isRecurringTemplate',
]

const dataOf = ({ body }: Reply, version: string) => (version === '2025-01-01' ? body : body.data)
const errorOf = ({ status, body }: Reply) => [status, body.errors[0]?.code]

/** The agreements that the simulated bank has for a company. */
const agreementsOf = ({ company }: Client) =>
  api.rows<{ id: string; br_code: string; external_id: string }>(
    'select id, br_code, external_id from simulated_agreements where account_id = $1',
    [company.id],
  )

for (const version of VERSION_NAMES) {
  test(`${version}: a subscription has exactly the published fields, created, listed and read`, async () => {
    const client = await api.client({}, { apiVersion: version })
    const productId = await makeRecurring(client, { dayDue: 5, dayGenerateCharge: 10 })
    const customerId = await makeCustomer(client)
    const made = await client.post(RECURRENCES, { productId, customerId })
    assert.equal(made.status, 201, made.text)
    const shown = dataOf(made, version)
    assert.deepEqual(Object.keys(shown), FIELDS)
    const { id, externalRecurrenceId, paymentLinkUrl, emv, qrCode } = shown
    assert.deepEqual(shown, {
      id,
      productId,
      customerId,
      externalRecurrenceId,
      paymentLinkUrl,
      emv,
      qrCode,
      status: 'OPEN',
      recurrenceAuthStatus: 'CREATED',
      isRecurringTemplate: false,
      value: '1990',
      createdAt: '2026-08-20T15:00:00.000Z',
      productName: 'Pão todo dia',
      customerName: 'Maria da Silva',
      frequency: 'MONTHLY',
      dayDue: 5,
      dayGenerateCharge: 10,
    })
    assert.match(id, /^rec_[0-9a-hjkmnp-tv-z]{26}$/)
    assert.match(externalRecurrenceId, /^RR9999999920260820[0-9A-Za-z]{11}$/)
    assert.match(paymentLinkUrl, /^http:\/\/vintem\.test\/pay\/[\w-]{63}$/)
    assert.deepEqual(dataOf(await client.get(RECURRENCES), version), [shown])
    const detail = dataOf(await client.get(`${RECURRENCES}/${id}`), version)
    assert.deepEqual(detail, { ...shown, charges: [] })
    assert.deepEqual(Object.keys(detail), [...FIELDS, 'charges'])
    const canceled = await client.post(`${RECURRENCES}/${id}/cancel`)
    const ended = { status: 'CANCELED', recurrenceAuthStatus: 'CANCELED' }
    assert.deepEqual([canceled.status, dataOf(canceled, version)], [200, { ...shown, ...ended }])
  })

  test(`${version}: a template is answered with its id and product; what only agreements have is null`, async () => {
    const client = await api.client({}, { apiVersion: version })
    const productId = await makeRecurring(client)
    const customerId = await makeCustomer(client)
    for (const owner of [{}, { customerId }]) {
      const made = await client.post(`${RECURRENCES}/template`, { productId, ...owner })
      assert.equal(made.status, 201, made.text)
      const { id } = dataOf(made, version)
      assert.deepEqual(dataOf(made, version), { id, productId })
      const shown = dataOf(await client.get(`${RECURRENCES}/${id}`), version)
      assert.deepEqual(Object.keys(shown), [...FIELDS, 'charges'])
      const { paymentLinkUrl, createdAt } = shown
      assert.deepEqual(shown, {
        id,
        productId,
        paymentLinkUrl,
        createdAt,
        value: '1990',
        charges: [],
        customerId: 'customerId' in owner ? customerId : null,
        customerName: 'customerId' in owner ? 'Maria da Silva' : null,
        productName: 'Pão todo dia',
        frequency: 'MONTHLY',
        dayDue: 3,
        dayGenerateCharge: null,
        externalRecurrenceId: null,
        emv: null,
        qrCode: null,
        status: 'OPEN',
        recurrenceAuthStatus: 'CREATED',
        isRecurringTemplate: true,
      })
    }
    assert.deepEqual(await agreementsOf(client), [], 'a bank gets agreements only')
  })
}

test('a subscription takes over how often and when its product is charged', async () => {
  const client = await api.client()
  for (const frequency of ['WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL']) {
    const made = await makeSubscription(client, { frequency, dayDue: 1, dayGenerateCharge: 28 })
    const { dayDue, dayGenerateCharge } = made
    assert.deepEqual([made.frequency, dayDue, dayGenerateCharge], [frequency, 1, 28])
  }
})

test('the code is of journey 2: the GUI alone in template 26, the location in 80; its image says the same', async () => {
  const client = await api.client({ name: 'Pão & Açúcar do Zé', city: 'São Luís' })
  const { emv, qrCode, id } = await makeSubscription(client)
  assert.equal(await decode(qrCode), emv)
  const code = parse(emv)
  const location = code.kind === 'recurrence' ? code.recurrenceLocation : 'none'
  assert.match(location, /^vintem\.test\/rec\/[\w-]{43}$/)
  const gui = '0014br.gov.bcb.pix'
  const expected = [
    '000201',
    `2618${gui}`,
    '52040000',
    '5303986',
    '5802BR',
    '5918Pao & Acucar do Ze',
    '6008Sao Luis',
    '62070503***',
    `80${22 + location.length}${gui}25${location.length}`,
  ].join('')
  assert.equal(emv.slice(0, -8), expected + location)
  const again = await readSubscription(client, id)
  assert.deepEqual([again.emv, again.qrCode], [emv, qrCode])
  assert.notEqual((await makeSubscription(client)).emv, emv)
})

test('both kinds refuse what cannot be subscribed to, by its code, and nothing is stored', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const customerId = await makeCustomer(client)
  const productId = await makeRecurring(client)
  const once = { type: 'ONE_TIME', frequency: undefined }
  const inactive = await makeRecurring(client, { status: 'INACTIVE' })
  const [cheap, free] = [
    await makeRecurring(client, { price: 499 }),
    await makeRecurring(client, { price: 0 }),
  ]
  const unknown = toPublic('prod', newId())
  const cases: [Record<string, unknown>, number, string, RegExp][] = [
    [{ productId: unknown }, 404, 'product_not_found', /^productId: /],
    [{ productId: 'x' }, 404, 'product_not_found', /^productId: /],
    [{ productId: await makeRecurring(other) }, 404, 'product_not_found', /^productId: /],
    [{ productId: await makeRecurring(client, once) }, 422, 'product_not_recurring', /RECURRING/],
    [{ productId: inactive }, 400, 'invalid_value', /^productId: .*not active/],
    [{ productId: cheap }, 400, 'invalid_value', /^productId: .*at least 500 cents, it is 499/],
    [{ productId: free }, 400, 'invalid_value', /^productId: .*at least 500 cents/],
    [{ customerId: toPublic('clnt', newId()) }, 404, 'customer_not_found', /^customerId: /],
    [{ customerId: productId }, 404, 'customer_not_found', /^customerId: /],
    [{ customerId: await makeCustomer(other) }, 404, 'customer_not_found', /^customerId: /],
  ]
  const before = await stored(api)
  for (const path of [RECURRENCES, `${RECURRENCES}/template`]) {
    for (const [fields, status, code, line] of cases) {
      const reply = await client.post(path, { productId, customerId, ...fields })
      assert.deepEqual(errorOf(reply), [status, code], reply.text)
      assert.match(reply.body.errors[0].description, line)
    }
  }
  assert.deepEqual(await stored(api), before)
  assert.deepEqual(await agreementsOf(client), [])
})

test('the smallest price and the largest can be subscribed to', async () => {
  const client = await api.client()
  for (const price of [500, 999_999_999_999]) {
    assert.equal((await makeSubscription(client, { price })).value, String(price))
  }
})

test('a subscription of another company is not found, neither to read nor to cancel', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const { id } = await makeSubscription(other)
  for (const unknown of [id, toPublic('rec', newId()), (await makeTemplate(other)).id]) {
    const read = await client.get(`${RECURRENCES}/${unknown}`)
    const canceled = await client.post(`${RECURRENCES}/${unknown}/cancel`)
    for (const reply of [read, canceled]) {
      assert.deepEqual(errorOf(reply), [404, 'recurrence_not_found'])
    }
    const charge = await client.get(`/charge/${unknown}`)
    assert.deepEqual(errorOf(charge), [404, 'charge_not_found'])
  }
  assert.equal((await readSubscription(other, id)).status, 'OPEN')
})

test('a live company without a bank is refused with the reason, and nothing is stored', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const [productId, customerId] = [await makeRecurring(live), await makeCustomer(live)]
  const before = await stored(api)
  const reply = await live.post(RECURRENCES, { productId, customerId })
  assert.deepEqual(errorOf(reply), [503, 'provider_unavailable'])
  assert.deepEqual(await stored(api), before)
})

test('a bank that does not answer is asked: the agreement that it made is the one answered with', async () => {
  const client = await api.client()
  const { id, emv, externalRecurrenceId } = await makeSubscription(client, { price: 55_555 })
  const rows = await agreementsOf(client)
  const known = { id: fromPublic('rec', id)!, br_code: emv, external_id: externalRecurrenceId }
  assert.deepEqual(rows, [known], 'one agreement, and no second')
  await decide(api, emv, 'approve')
  assert.equal((await readSubscription(client, id)).recurrenceAuthStatus, 'APPROVED')
})

test('an agreement that the bank rejects creates no subscription', async () => {
  const client = await api.client()
  const productId = await makeRecurring(client, { price: 66_666 })
  const customerId = await makeCustomer(client)
  const before = await stored(api)
  const reply = await client.post(RECURRENCES, { productId, customerId })
  assert.deepEqual(errorOf(reply), [503, 'provider_unavailable'])
  assert.match(reply.body.errors[0].description, /refuses this amount/)
  assert.deepEqual(await stored(api), before)
  assert.deepEqual((await client.get(RECURRENCES)).body.data, [])
})

test('subscriptions and templates are listed newest first, page by page', async () => {
  const client = await api.client()
  const made = [(await makeSubscription(client)).id, (await makeTemplate(client)).id]
  made.push((await makeSubscription(client)).id)
  const seen: string[] = []
  let path: string | null = `${RECURRENCES}?limit=2`
  for (let pages = 0; path !== null && pages < 3; pages++) {
    const { body, headers } = await client.get(path)
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    path = next ? next.slice(new URL(next).origin.length) : null
  }
  assert.deepEqual([seen, path], [made.toReversed(), null])
})

test('what becomes of the product and the customer leaves what was agreed alone', async () => {
  const client = await api.client()
  const made = await makeSubscription(client, { dayDue: 2 })
  const template = await makeTemplate(client, { productId: made.productId })
  const shown = await readSubscription(client, template.id)
  const changed = { price: 2990, name: 'Bolo', frequency: 'WEEKLY', dayDue: 7, status: 'INACTIVE' }
  await client.put(`/product/${made.productId}`, changed)
  await client.put('/client', { id: made.customerId, name: 'Maria Souza' })
  const expected = { ...made, charges: [] }
  assert.deepEqual(await readSubscription(client, made.id), expected)
  assert.deepEqual(await readSubscription(client, template.id), shown)
  const agreed = given(
    await simulator.decide(client.company.id, fromPublic('rec', made.id)!, ...APPROVED()),
  )
  assert.deepEqual([agreed.value, agreed.frequency], [1990, 'MONTHLY'])
  assert.equal((await client.delete(`/product/${made.productId}`)).status, 200)
  assert.equal((await client.delete(`/client/${made.customerId}`)).status, 200)
  assert.deepEqual(await readSubscription(client, made.id), expected)
  assert.deepEqual(await readSubscription(client, template.id), shown)
})

const APPROVED = () => ['approve', null, api.clock.now()] as const

test('nothing that is answered shows more of the customer than their name', async () => {
  const client = await api.client()
  const { id } = await makeSubscription(client)
  const replies = [
    await client.get(RECURRENCES),
    await client.get(`${RECURRENCES}/${id}`),
    await client.get(`/charge/${id}`),
    await client.post(`${RECURRENCES}/${id}/cancel`),
  ]
  const { taxId, email, phone } = payer()
  for (const { text } of replies) {
    assert.ok(text.includes('Maria da Silva'), text)
    for (const secret of [taxId, '529.982.247-25', email, phone]) assert.ok(!text.includes(secret))
  }
})

test('creating emits no event: the first one of a subscription is the payer’s decision', async () => {
  const client = await api.client()
  await makeSubscription(client)
  const { id } = await makeTemplate(client)
  await client.post(`${RECURRENCES}/${id}/cancel`)
  assert.deepEqual(await eventsOf(api, client.company.id), [])
})
