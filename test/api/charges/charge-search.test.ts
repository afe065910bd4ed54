import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fromPublic } from '../../../src/lib/ids.ts'
import { localDateOf } from '../../../src/pix/local-time.ts'
import { chargeTxid, staticTxid } from '../../../src/provider/txid.ts'
import {
  carryOutRefunds,
  expireDueCharges,
  followDue,
  generateDue,
  releaseDueCharges,
} from '../../../src/worker/due.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { approvedSubscription } from '../../support/billing.ts'
import { isLong } from '../../support/long.ts'
import { makeCode, pay } from '../../support/payments.ts'

const api = await startApi()
const HOUR_S = 3600

/** What a test knows of a charge beyond what the list shows. */
type Known = { taxId?: string; email?: string; kind: string; txid: string }
type Listed = Record<string, string | number | boolean | undefined> & { id: string }

const PAYERS = [
  payer({ taxId: '52998224725', email: 'Maria@Example.com' }),
  payer({ taxId: '39053344705', email: 'maria@example.com' }),
  payer({ taxId: '11222333000181', email: undefined }),
]
const AMOUNTS = [500, 1990, 250_000]

const listed = async (client: Client, query = ''): Promise<Listed[]> => {
  const reply: Reply = await client.get(`/charge?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
const idsOf = (charges: Listed[]) => charges.map(({ id }) => id)

/** Charges of every kind and state, made over some days. */
async function makeShop(): Promise<{ client: Client; known: Map<string, Known> }> {
  const client = await api.client()
  const known = new Map<string, Known>()
  const learn = (id: string, fields: Omit<Known, 'txid'>, txid?: string) =>
    known.set(id, { ...fields, txid: txid ?? chargeTxid(fromPublic('charge', id)!) })
  const code = await makeCode(client, 700)
  const codeTxid = staticTxid(fromPublic('qrs', code.id)!)
  for (let i = 0; i < 24; i++) {
    const customer = PAYERS[i % 3]!
    const amount = AMOUNTS[i % AMOUNTS.length]!
    const fields = { customer, devMode: i % 4 === 0, ...(i % 5 ? {} : { externalId: `o-${i}` }) }
    const isLink = i % 6 === 5
    const { body } = isLink
      ? await client.post('/charge/payment-link', { total: amount, ...fields })
      : await client.post('/charge/pix', { amount, ...fields, expiresIn: HOUR_S * (1 + (i % 30)) })
    const { id, brCode } = body.data
    const { taxId, email } = customer as { taxId: string; email?: string }
    learn(id, { taxId, ...(email ? { email } : {}), kind: isLink ? 'LINK' : 'PIX' })
    if (i % 7 === 1) await client.post(`/charge/${id}/cancel`)
    else if (brCode && i % 3 !== 2) await pay(api, brCode)
    if (i % 9 === 3) await client.post(`/refund/${id}`)
    if (i % 8 === 2) await pay(api, code.brCode)
    api.clock.advance(5 * HOUR_S)
    await carryOutRefunds.run(api.app)
    await releaseDueCharges.run(api.app)
    if (i === 15) await expireDueCharges.run(api.app)
  }
  await approvedSubscription(api, client)
  await followDue.run(api.app)
  await generateDue.run(api.app)
  for (const { id, ...rest } of await listed(client)) {
    if (known.has(id)) continue
    if (rest.correlationID) learn(id, { kind: 'STATIC' }, codeTxid)
    else learn(id, { kind: 'RECURRING', taxId: '52998224725', email: 'maria@example.com' })
  }
  return { client, known }
}

const { client, known } = await makeShop()
const everything = await listed(client)

test('the shop of this test has charges of every kind and of most states', () => {
  const kinds = new Set([...known.values()].map(({ kind }) => kind))
  assert.deepEqual([...kinds].sort(), ['LINK', 'PIX', 'RECURRING', 'STATIC'])
  const states = new Set(
    everything.map(({ status, paymentStatus }) => `${status} ${paymentStatus}`),
  )
  assert.ok(states.size >= 6, [...states].join())
})

const plain = (name: string) => (charge: Listed, value: unknown) => charge[name] === value
const at = (charge: Listed, name: string) => Date.parse(String(charge[name]))
const dayOf = (charge: Listed, name: string) => localDateOf(new Date(at(charge, name)))
const isDay = (value: string) => value.length === 10
const from = (name: string) => (charge: Listed, value: string) =>
  charge[name] !== undefined &&
  (isDay(value) ? dayOf(charge, name) >= value : at(charge, name) >= Date.parse(value))
const to = (name: string) => (charge: Listed, value: string) =>
  charge[name] !== undefined &&
  (isDay(value) ? dayOf(charge, name) <= value : at(charge, name) < Date.parse(value))

/** What each filter means, said by looking at one charge. */
const MEANING: Record<string, (charge: Listed, value: never) => boolean> = {
  status: plain('status'),
  paymentStatus: plain('paymentStatus'),
  devMode: plain('devMode'),
  externalId: plain('externalId'),
  endToEndId: plain('endToEndId'),
  amount: plain('total') as never,
  kind: ({ id }, value: string) => known.get(id)!.kind === value,
  taxId: ({ id }, value: string) => known.get(id)!.taxId === value,
  txid: ({ id }, value: string) => known.get(id)!.txid === value,
  email: ({ id }, value: string) => known.get(id)!.email?.toLowerCase() === value.toLowerCase(),
  createdFrom: from('createdAt') as never,
  createdTo: to('createdAt') as never,
  paidFrom: from('paymentDate') as never,
  paidTo: to('paymentDate') as never,
}

const some = <T>(...values: T[]) => fc.constantFrom(...values)
const shown = (name: string) =>
  some(...new Set(everything.map((charge) => charge[name]).filter((value) => value !== undefined)))
const moments = (name: string) =>
  shown(name).chain((moment) => some(String(moment), localDateOf(new Date(String(moment)))))

const FILTERS: Record<string, fc.Arbitrary<unknown>> = {
  status: some('OPEN', 'COMPLETED', 'EXPIRED', 'CANCELED'),
  paymentStatus: some('PENDING', 'PROCESSING', 'PAID', 'RECEIVED', 'EXPIRED', 'REFUNDED'),
  devMode: fc.boolean(),
  externalId: fc.oneof(shown('externalId'), some('nobody')),
  endToEndId: fc.oneof(shown('endToEndId'), some('E0', 'not an id')),
  amount: fc.oneof(shown('total'), some(501)),
  kind: some('PIX', 'LINK', 'STATIC', 'RECURRING'),
  taxId: some('52998224725', '39053344705', '11222333000181', '12345678909'),
  txid: some(...[...known.values()].map(({ txid }) => txid), 'none', 'x'.repeat(26)),
  email: some('MARIA@example.com', 'maria@example.com', 'nobody@example.com'),
  createdFrom: moments('createdAt'),
  createdTo: moments('createdAt'),
  paidFrom: moments('paymentDate'),
  paidTo: moments('paymentDate'),
}

const queries = fc
  .uniqueArray(some(...Object.keys(FILTERS)), { minLength: 1, maxLength: 4 })
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, FILTERS[name]!]))))

/** The whole list, filtered here, in the order that is documented. */
function expected(query: Record<string, unknown>): Listed[] {
  const isWanted = (charge: Listed) =>
    Object.entries(query).every(([name, value]) => MEANING[name]!(charge, value as never))
  const key = 'paidFrom' in query || 'paidTo' in query ? 'paymentDate' : 'createdAt'
  const byKey = (a: Listed, b: Listed) => at(b, key) - at(a, key) || (a.id < b.id ? 1 : -1)
  const isDated = ['createdFrom', 'createdTo', 'paidFrom', 'paidTo'].some((name) => name in query)
  const wanted = everything.filter(isWanted)
  return isDated ? wanted.sort(byKey) : wanted
}

const search = (query: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )

test('a filtered list is the whole list, filtered, page by page too', async () => {
  await fc.assert(
    fc.asyncProperty(queries, fc.integer({ min: 1, max: 7 }), async (query, limit) => {
      const wanted = idsOf(expected(query))
      assert.deepEqual(idsOf(await listed(client, `${search(query)}`)), wanted)
      const pages: string[] = []
      for (let path: string | undefined = `/charge?${search({ ...query, limit })}`; path; ) {
        const reply: Reply = await client.get(path)
        pages.push(...idsOf(reply.body.data))
        path = /<http:\/\/vintem\.test(.+)>/.exec(reply.headers.get('link') ?? '')?.[1]
      }
      assert.deepEqual(pages, wanted, 'pages')
    }),
    { numRuns: isLong ? 150 : 50 },
  )
})

test('each filter alone is the whole list, filtered', async () => {
  for (const [name, values] of Object.entries(FILTERS)) {
    const run = async (value: unknown) => {
      const query = { [name]: value }
      assert.deepEqual(idsOf(await listed(client, `${search(query)}`)), idsOf(expected(query)))
    }
    await fc.assert(fc.asyncProperty(values, run), { numRuns: isLong ? 12 : 5 })
  }
})

test('a summary counts what the list shows, by day and status', async () => {
  const bounded = fc.record({
    query: queries,
    start: moments('createdAt'),
  })
  await fc.assert(
    fc.asyncProperty(bounded, async ({ query, start }) => {
      const isPaid = 'paidFrom' in query || 'paidTo' in query
      const asked = isPaid ? query : { ...query, createdFrom: start }
      const { status, body, text } = await client.get(`/charge/summary?${search(asked)}`)
      assert.equal(status, 200, text)
      const rows = new Map<string, { count: number; sum: number }>()
      const wanted = expected(asked)
      for (const charge of wanted) {
        const key = `${dayOf(charge, isPaid ? 'paymentDate' : 'createdAt')} ${charge.status}`
        const row = rows.get(key) ?? { count: 0, sum: 0 }
        rows.set(key, { count: row.count + 1, sum: row.sum + Number(charge.total) })
      }
      const found = body.data.days.map(({ day, status, count, sum }: Reply['body']) => [
        `${day} ${status}`,
        { count, sum },
      ])
      assert.deepEqual(
        found,
        [...rows].sort(([a], [b]) => (a < b ? -1 : 1)),
      )
      assert.deepEqual(
        [body.data.date, body.data.count, body.data.sum],
        [
          isPaid ? 'paid' : 'created',
          wanted.length,
          wanted.reduce((sum, { total }) => sum + Number(total), 0),
        ],
      )
    }),
    { numRuns: isLong ? 60 : 20 },
  )
})

test('a summary covers 31 days unless asked otherwise, and at most 366', async () => {
  const today = localDateOf(api.clock.now())
  const { data } = (await client.get('/charge/summary')).body
  assert.equal(Date.parse(data.to) - Date.parse(data.from), 31 * 24 * HOUR_S * 1000)
  assert.equal(localDateOf(new Date(Date.parse(data.to) - 1)), today, 'up to the end of today')
  assert.deepEqual(
    data.statuses.map(({ status }: Reply['body']) => status),
    ['OPEN', 'COMPLETED', 'EXPIRED', 'CANCELED'],
  )
  const year = await client.get('/charge/summary?paidFrom=2024-01-01&paidTo=2024-12-31')
  assert.equal(year.status, 200, 'a leap year')
  for (const date of ['created', 'paid']) {
    const query = `${date}From=2024-01-01&${date}To=2025-01-01`
    const reply = await client.get(`/charge/summary?${query}`)
    assert.equal(reply.status, 400)
    assert.equal(
      reply.body.errors[0].description,
      `${date}From: a summary covers at most 366 days; send a later ${date}From or an earlier ${date}To`,
    )
  }
  const before = await client.get('/charge/summary?createdTo=2024-03-31')
  assert.equal(before.body.data.from, '2024-03-01T03:00:00.000Z')
  assert.deepEqual(before.body.data.days, [])
})

test('a day alone is that day in São Paulo, and what is no day or moment is refused', async () => {
  const own = await api.client()
  const { id } = (await own.post('/charge/pix', { amount: 500, customer: payer() })).body.data
  await api.rows(
    `update charges set created_at = '2027-03-11T02:59:59.999Z', expires_at = '2099-01-01'
     where company_id = $1`,
    [own.company.id],
  )
  for (const [query, count] of Object.entries({
    'createdFrom=2027-03-10&createdTo=2027-03-10': 1,
    'createdFrom=2027-03-11': 0,
    'createdTo=2027-03-09': 0,
    'createdTo=2027-03-11T02:59:59.999Z': 0,
    'createdFrom=2027-03-11T02:59:59.999Z&createdTo=2999-12-31': 1,
  })) {
    assert.deepEqual(idsOf(await listed(own, query)), count ? [id] : [], query)
  }
  for (const query of [
    'createdFrom=2027-02-30',
    'paidTo=10/03/2027',
    'paidFrom=2027-03-10T10:00',
  ]) {
    const { status, body } = await own.get(`/charge?${query}`)
    assert.equal(status, 400)
    assert.equal(
      body.errors[0].description,
      `${query.split('=')[0]}: must be a day such as 2026-08-16, or a date and time such as 2026-08-16T12:00:00Z`,
    )
  }
})

test('ill-formed values are refused by the rule, unknown ids find nothing', async () => {
  for (const query of ['kind=BOLETO', 'amount=10.5', 'amount=0', 'taxId=123', 'email=maria']) {
    assert.equal((await client.get(`/charge?${query}`)).status, 400, query)
    assert.equal((await client.get(`/charge/summary?${query}`)).status, 400, query)
  }
  for (const query of ['customerId=clnt_x', 'txid=x', 'endToEndId=x', 'externalId=%25']) {
    assert.deepEqual(await listed(client, query), [], query)
    assert.equal((await client.get(`/charge/summary?${query}`)).body.data.count, 0)
  }
})

test('a tax id finds its charges after its customer was changed or deleted', async () => {
  const own = await api.client()
  const make = async (taxId: string) =>
    (await own.post('/charge/pix', { amount: 500, customer: payer({ taxId }) })).body.data.id
  const idOf = async (taxId: string) => (await own.get(`/client?taxId=${taxId}`)).body.data[0].id
  const changed = await make('52998224725')
  await own.put('/client', { id: await idOf('52998224725'), taxId: '39053344705' })
  const again = await make('52998224725')
  const deleted = await make('11144477735')
  await own.delete(`/client/${await idOf('11144477735')}`)
  assert.deepEqual(idsOf(await listed(own, 'taxId=52998224725')), [again, changed])
  assert.deepEqual(idsOf(await listed(own, 'taxId=11144477735')), [deleted])
  assert.deepEqual(await listed(own, 'taxId=39053344705'), [], 'it never paid under that one')
})

test('a duplicate is found by the address of its original, another company’s is not', async () => {
  const own = await api.client()
  const { id } = (await own.post('/charge/pix', { amount: 500, customer: payer() })).body.data
  const copy = (await own.post(`/charge/duplicate/${id}`, {})).body.data.id
  assert.deepEqual(idsOf(await listed(own, 'email=MARIA@EXAMPLE.COM')), [copy, id])
  assert.deepEqual(await listed(await api.client(), 'email=maria@example.com'), [])
})
