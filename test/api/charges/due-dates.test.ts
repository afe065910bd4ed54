import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { noticeCharges } from '../../../src/core/reminders/commands.ts'
import { atHour } from '../../../src/pix/local-time.ts'
import { noticeDueDates } from '../../../src/worker/due.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { CLOCK, startPlaying } from '../../support/clocks.ts'

const api = await startApi()
const { app } = api
startPlaying(api)

// The clock of the tests is on Thursday, 20 August 2026. A Friday:
const DUE = '2026-08-28'
const TERMS = {
  dueDate: DUE,
  fine: { type: 'PERCENT', value: 200 },
  interest: { type: 'PERCENT_PER_MONTH', value: 100 },
  discounts: [{ type: 'PERCENT', value: 500, until: '2026-08-24' }],
}
const create = (client: Client, more: object = {}) =>
  client.post('/charge/pix', {
    amount: 100_000,
    customer: payer(),
    devMode: true,
    ...TERMS,
    ...more,
  })
const faultsOf = ({ body }: Reply) =>
  body.errors.map(({ description }: { description: string }) => description)
const audit = async (client: Client) => {
  const { faults } = await auditCompany(app, client.company.id, { whole: true })
  assert.deepEqual(faults, [])
}
const moveTo = async (client: Client, day: string) => {
  const reply = await client.post(CLOCK, { now: atHour(day, 12).toISOString() })
  assert.equal(reply.status, 200, reply.text)
}
const typesOf = async (client: Client) => {
  const { body } = await client.get('/event?limit=100')
  return body.data.map(({ type }: { type: string }) => type)
}
const entriesOf = async (client: Client) => {
  const { body } = await client.get('/account-balance/statement')
  return body.data
    .filter(({ type }: { type: string }) => type !== 'OPENING')
    .map(({ type, amount }: { type: string; amount: number }) => `${type} ${amount}`)
    .toReversed()
}

/** The day of the payment, what is added and taken off, and the entries. */
const DAYS: [string, object, string[]][] = [
  ['2026-08-24', { fine: 0, interest: 0, discount: 5000, total: 95_000 }, ['CHARGE_PAID 95000']],
  ['2026-08-25', { fine: 0, interest: 0, discount: 0, total: 100_000 }, ['CHARGE_PAID 100000']],
  // A Sunday: nobody is late on a day without banks.
  ['2026-08-30', { fine: 0, interest: 0, discount: 0, total: 100_000 }, ['CHARGE_PAID 100000']],
  [
    '2026-09-02',
    { fine: 2000, interest: 167, discount: 0, total: 102_167 },
    ['CHARGE_PAID 100000', 'FINE_PAID 2000', 'INTEREST_PAID 167'],
  ],
]

for (const [day, parts, entries] of DAYS) {
  test(`paid on ${day}, a charge costs what its terms say, and the books have it`, async () => {
    const client = await api.client()
    const { body: made } = await create(client)
    const { id } = made.data
    const before = await client.get(`/charge/${id}/amount?on=${day}`)
    assert.deepEqual(before.body.data, { on: day, original: 100_000, rebate: 0, ...parts })
    await moveTo(client, day)
    const shown = await client.get(`/charge/${id}`)
    assert.deepEqual(shown.body.data.due.amount, before.body.data)
    const paid = await client.post(`/charge/${id}/simulate-payment`)
    assert.equal(paid.body.data.status, 'COMPLETED', paid.text)
    const after = await client.get(`/charge/${id}`)
    assert.deepEqual(after.body.data.due.amount, before.body.data, 'it stays what was paid')
    assert.deepEqual(await entriesOf(client), entries)
    const { total } = before.body.data
    assert.equal((await client.get('/account-balance')).body.data.pending, total)
    await audit(client)
    const refund = await client.post(`/refund/${id}`)
    assert.deepEqual([refund.status, refund.body.data.value], [201, total], refund.text)
    await audit(client)
  })
}

test('another amount than that of its day pays no charge', async () => {
  const client = await api.client()
  const { body: made } = await create(client, { devMode: false })
  await moveTo(client, '2026-09-02')
  const order = { brCode: made.data.brCode, amount: 100_000 }
  assert.equal((await client.post('/bank/pix', order)).status, 201)
  const { body } = await client.get('/payment/unmatched')
  assert.deepEqual([body.data[0].reason, body.data[0].amount], ['WRONG_AMOUNT', 100_000])
  const id = body.data[0].endToEndId
  const settled = await client.post(`/payment/unmatched/${id}/accept`, { chargeId: made.data.id })
  assert.equal(settled.body.data.settled.shortfall, 2167, settled.text)
  assert.deepEqual((await entriesOf(client)).slice(1), ['CHARGE_PAID 100000'])
  await audit(client)
})

test('the merchant is told on the due day and when it is over, once each', async () => {
  const client = await api.client()
  await create(client)
  await moveTo(client, '2026-08-27')
  assert.ok(!(await typesOf(client)).includes('charge.due'))
  await moveTo(client, DUE)
  await moveTo(client, '2026-08-30')
  assert.ok(!(await typesOf(client)).includes('charge.overdue'), 'not on the weekend')
  await moveTo(client, '2026-09-02')
  await noticeDueDates.run(app)
  const types = (await typesOf(client)).filter((type: string) => /due$/.test(type))
  assert.deepEqual(types, ['charge.due', 'charge.overdue'])
})

test('two workers that find the same charge say once that it is due', async () => {
  const client = await api.client()
  const { body } = await create(client)
  await api.rows(`update charges set notice_at = $2 where company_id = $1`, [
    client.company.id,
    app.clock.now(),
  ])
  const [id] = (
    await api.rows<{ id: string }>('select id from charges where company_id = $1', [
      client.company.id,
    ])
  ).map((row) => row.id)
  const later = atHour('2026-08-31', 12)
  const then = { ...app, clock: { now: () => later } }
  const say = () => app.db.transaction((tx) => noticeCharges(tx, then, client.company.id, [id!]))
  assert.deepEqual((await Promise.all([say(), say(), say()])).sort(), [0, 0, 1])
  const types = (await typesOf(client)).filter((type: string) => /due$/.test(type))
  assert.deepEqual(types, ['charge.due', 'charge.overdue'])
  assert.equal((await client.get(`/charge/${body.data.id}`)).body.data.status, 'OPEN')
})

test('whoever pays in time is not called late', async () => {
  const client = await api.client()
  const { body } = await create(client)
  await client.post(`/charge/${body.data.id}/simulate-payment`)
  await moveTo(client, '2026-09-02')
  assert.ok(!(await typesOf(client)).some((type: string) => /due$/.test(type)))
})

test('it can be paid until the end of its last day, and expires then', async () => {
  const client = await api.client()
  const { body } = await create(client, { daysAfterDue: 1 })
  // The last day is a Saturday, so it is the Monday after it.
  assert.equal(body.data.expiresAt, atHour('2026-09-01', 0).toISOString())
  await moveTo(client, '2026-08-31')
  assert.equal((await client.get(`/charge/${body.data.id}`)).body.data.status, 'OPEN')
  await moveTo(client, '2026-09-01')
  const { data } = (await client.get(`/charge/${body.data.id}`)).body
  assert.deepEqual([data.status, data.due.lastDay], ['EXPIRED', '2026-08-31'])
})

test('a payment link takes a due date too', async () => {
  const client = await api.client()
  const link = { total: 100_000, customer: payer(), devMode: true, ...TERMS }
  const { body } = await client.post('/charge/payment-link', link)
  await moveTo(client, '2026-09-02')
  const paid = await client.post(`/charge/${body.data.id}/simulate-payment`)
  assert.equal(paid.body.data.status, 'COMPLETED', paid.text)
  const { data } = (await client.get(`/charge/${body.data.id}`)).body
  assert.equal(data.due.amount.total, 102_167)
})

test('a duplicate is due as many days after it was made', async () => {
  const client = await api.client()
  const { body } = await create(client)
  await moveTo(client, '2026-09-02')
  const again = await client.post(`/charge/duplicate/${body.data.id}`)
  const { due } = again.body.data
  assert.deepEqual([due.dueDate, due.discounts[0].until], ['2026-09-10', '2026-09-06'])
})

test('a day on which a charge did not exist yet, or no longer, has an amount too', async () => {
  const client = await api.client()
  const more = {
    discounts: undefined,
    discountPerDay: { type: 'PERCENT', value: 1000 },
    interest: { type: 'FIXED_PER_DAY', value: 999_999_999_999, days: 'BUSINESS' },
    daysAfterDue: 0,
  }
  const { body } = await create(client, more)
  for (const on of ['2000-01-01', '2999-12-31']) {
    const reply = await client.get(`/charge/${body.data.id}/amount?on=${on}`)
    assert.equal(reply.status, 200, reply.text)
  }
})

test('money from before a charge was made settles it, also if it has a discount for each day', async () => {
  const client = await api.client()
  const { body: first } = await create(client, { devMode: false })
  await client.post('/bank/pix', { brCode: first.data.brCode, amount: 777 })
  const [{ endToEndId }] = (await client.get('/payment/unmatched')).body.data
  await moveTo(client, '2026-09-20')
  const { body } = await create(client, {
    devMode: false,
    dueDate: '2026-09-30',
    discounts: undefined,
    discountPerDay: { type: 'PERCENT', value: 500 },
  })
  const path = `/payment/unmatched/${endToEndId}/accept`
  const settled = await client.post(path, { chargeId: body.data.id })
  assert.equal(settled.status, 200, settled.text)
  await audit(client)
})

test('who has paid less than a fine added reads nothing of it in the receipt', async () => {
  const client = await api.client()
  const { body: made } = await create(client, { devMode: false })
  await moveTo(client, '2026-09-02')
  await client.post('/bank/pix', { brCode: made.data.brCode, amount: 100_000 })
  const [{ endToEndId }] = (await client.get('/payment/unmatched')).body.data
  await client.post(`/payment/unmatched/${endToEndId}/accept`, { chargeId: made.data.id })
  const page = await api.call('GET', new URL(made.data.url).pathname)
  assert.match(page.text, /1\.000,00/)
  assert.doesNotMatch(page.text, /Multa e juros/)
})

test('nobody is called late for a charge that has expired', async () => {
  const client = await api.client()
  // A Thursday: it expires when the first late day begins.
  await create(client, { dueDate: '2026-08-27', daysAfterDue: 0 })
  await moveTo(client, '2026-09-02')
  const types = (await typesOf(client)).filter((type: string) => /due$|expired$/.test(type))
  assert.deepEqual(types.toSorted(), ['charge.due', 'charge.expired'])
})

test('on the business day that a due date has moved to, the page says that it is due today', async () => {
  const client = await api.client()
  const { body } = await create(client, { dueDate: '2026-08-29' })
  await moveTo(client, '2026-08-31')
  const page = await api.call('GET', new URL(body.data.url).pathname)
  assert.match(page.text, /Vence hoje/)
})

test('the same request finds its open charge after the due date too', async () => {
  const client = await api.client()
  const more = { externalId: 'order-1', customer: payer() }
  const { body } = await create(client, more)
  await moveTo(client, '2026-09-02')
  const again = await create(client, more)
  assert.deepEqual([again.status, again.body.data?.id], [201, body.data.id], again.text)
})

test('a duplicate of a charge with a due date takes no expiresIn, as the charge did not', async () => {
  const client = await api.client()
  const { body } = await create(client)
  const again = await client.post(`/charge/duplicate/${body.data.id}`, { expiresIn: 60 })
  assert.equal(again.status, 400)
  assert.match(faultsOf(again)[0], /^expiresIn: leave it out with dueDate/)
})

test('a link to a subscription has no due date', async () => {
  const client = await api.client()
  const product = {
    name: 'Plano',
    description: '',
    price: 1990,
    type: 'RECURRING',
    frequency: 'MONTHLY',
  }
  const made = await client.post('/product', product)
  const items = [{ productId: made.body.data.id, quantity: 1 }]
  const link = { items, customer: payer(), dueDate: DUE }
  const reply = await client.post('/charge/payment-link', link)
  assert.equal(reply.status, 400, reply.text)
  assert.match(faultsOf(reply)[0], /^dueDate: a link to a subscription has none/)
})

const REFUSED: [string, object][] = [
  [
    'expiresIn: leave it out with dueDate; daysAfterDue says for how long it can be paid',
    { expiresIn: 60 },
  ],
  ['fine: needs a dueDate', { dueDate: undefined, interest: undefined, discounts: undefined }],
  ['dueDate: must be a day of the calendar such as 2026-08-16', { dueDate: '2026-02-30' }],
  [
    'dueDate: must not be before today, 2026-08-20',
    { dueDate: '2026-08-19', discounts: undefined },
  ],
  [
    'fine.value: must be at most 10000, which is 100,00 %',
    { fine: { type: 'PERCENT', value: 10_001 } },
  ],
]

for (const [fault, fields] of REFUSED) {
  test(`a charge is refused, and nothing is written: ${fault}`, async () => {
    const client = await api.client()
    const reply = await create(client, fields)
    assert.deepEqual([reply.status, faultsOf(reply)], [400, [fault]])
    assert.deepEqual((await client.get('/charge')).body.data, [])
  })
}
