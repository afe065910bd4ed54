import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, packPair } from '../../../src/lib/ids.ts'
import { dynamicCode, parse, staticCode } from '../../../src/pix/brcode.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { expireDueCharges } from '../../../src/worker/due.ts'
import { type Client, eventsOf, type Reply, startApi } from '../../support/api.ts'
import {
  balancesOf,
  type Code,
  makeCharge,
  makeCode,
  movementsOf,
  order,
  pay,
  stateOf,
  transfersOf,
} from '../../support/payments.ts'
import { stopTime } from '../../support/stopped-time.ts'
import { stored } from '../storage.ts'

const api = await startApi()

const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]
const line = ({ body }: Reply): string => body.errors[0].description
const OPENING = { available: 100_000, pending: 0, held: 0, unmatched: 0 }
const E2E = (suffix: string) => `E${'9'.repeat(8)}202608201500${suffix.padStart(11, '0')}`

/** Everything that the product and the bank have written; a repeated callback changes neither. */
async function everything() {
  const { bank_callbacks, ...tables } = await stored(api)
  const bank = await api.rows('select * from simulated_transfers order by account_id, at')
  return { tables, bank }
}

const paymentsOf = ({ company }: Client) =>
  api.rows(
    `select end_to_end_id, amount, status, reason, booked from payments where company_id = $1
     order by id`,
    [company.id],
  )

const unmatchedOf = async (client: Client) => (await client.get('/payment/unmatched')).body.data

test('a dynamic code is paid: the charge, the books, the event and the bank say the same', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 1990)
  api.clock.advance(30)
  const reply = await order(api, { brCode: ` ${brCode}\n` })
  const { endToEndId } = reply.body.data
  const [amount, paidAt] = [1990, api.clock.now().toISOString()]
  assert.match(endToEndId, /^E99999999\d{12}[0-9A-Za-z]{11}$/)
  assert.deepEqual(reply.body, {
    status: 201,
    message: 'Payment sent.',
    errors: [],
    data: {
      endToEndId,
      amount,
      paidAt,
      chargeId: id,
      receiver: { name: 'Padaria São João', city: 'Sao Paulo' },
    },
  })
  const shown = (await client.get(`/charge/${id}`)).body.data
  assert.deepEqual(
    [shown.status, shown.paymentStatus, shown.paymentDate, shown.endToEndId],
    ['COMPLETED', 'PAID', paidAt, endToEndId],
  )
  assert.deepEqual((await eventsOf(api, client.company.id)).at(-1), {
    type: 'charge.paid',
    payload: { event: 'Charge.Paid', charge: { id, status: 'PAID', total: 1990 } },
  })
  assert.deepEqual(await paymentsOf(client), [
    { end_to_end_id: endToEndId, amount, status: 'MATCHED', reason: null, booked: true },
  ])
  assert.deepEqual(await movementsOf(api, client), [
    ['CHARGE_PAID', endToEndId, 'bank>pending', 1990],
  ])
  assert.deepEqual(await balancesOf(api, client), { ...OPENING, pending: 1990 })
  assert.deepEqual(await transfersOf(api, client), [['received', endToEndId, 1990]])
  assert.deepEqual(await unmatchedOf(client), [])
  const open = await api.rows('select 1 from bank_callbacks where processed_at is null')
  assert.deepEqual(open, [], 'the callback was stored, confirmed and processed')
})

test('a static code paid three times is three completed charges, each with all its events', async () => {
  const client = await api.client()
  const code = await makeCode(client, 250)
  const ids: string[] = []
  for (let round = 0; round < 3; round++) {
    const { body } = await order(api, { brCode: code.brCode })
    assert.deepEqual([body.data.correlationID, body.data.chargeId], [code.id, undefined])
    ids.push(body.data.endToEndId)
    api.clock.advance(1)
  }
  const charges = (await client.get('/charge')).body.data
  assert.deepEqual(
    charges.map((charge: Reply['body']) => [charge.status, charge.total, charge.endToEndId]),
    ids.toReversed().map((endToEndId) => ['COMPLETED', 250, endToEndId]),
  )
  const events = await eventsOf(api, client.company.id)
  for (const { id } of charges) {
    const own = events.filter(({ payload }) => payload.charge.id === id)
    assert.deepEqual(
      own.map(({ type, payload }) => [type, payload.charge.status, payload.charge.total]),
      [
        ['charge.pending', 'PENDING', 250],
        ['charge.processing', 'PROCESSING', 250],
        ['charge.paid', 'PAID', 250],
      ],
    )
  }
  assert.equal(events.length, 9)
  assert.deepEqual(
    await movementsOf(api, client),
    ids.map((id) => ['CHARGE_PAID', id, 'bank>pending', 250]),
  )
  assert.equal((await balancesOf(api, client)).pending, 750)
})

type Case = { reason: string; amount?: number; prepare(client: Client): Promise<Code> }

const asked = (client: Client) => makeCharge(client, 1990, { expiresIn: 60 })

/** Money that arrives and pays no charge. */
const CASES: Record<string, Case> = {
  'after the deadline': {
    reason: 'LATE',
    async prepare(client) {
      const charge = await asked(client)
      api.clock.advance(60.001)
      return charge
    },
  },
  'after the worker has written the expiry': {
    reason: 'LATE',
    async prepare(client) {
      const charge = await asked(client)
      api.clock.advance(61)
      await expireDueCharges.run(api.app)
      return charge
    },
  },
  'after a cancel': {
    reason: 'CANCELED',
    async prepare(client) {
      const charge = await asked(client)
      await client.post(`/charge/${charge.id}/cancel`)
      return charge
    },
  },
  'a second time': {
    reason: 'DUPLICATE',
    async prepare(client) {
      const charge = await asked(client)
      await pay(api, charge.brCode)
      return charge
    },
  },
  'after a simulated payment': {
    reason: 'DUPLICATE',
    async prepare(client) {
      const charge = await makeCharge(client, 1990, { devMode: true })
      await client.post(`/charge/${charge.id}/simulate-payment`)
      return charge
    },
  },
  'a cent short': { reason: 'WRONG_AMOUNT', amount: 1989, prepare: asked },
  'a cent over': { reason: 'WRONG_AMOUNT', amount: 1991, prepare: asked },
  'with the most there is': { reason: 'WRONG_AMOUNT', amount: 999_999_999_999, prepare: asked },
}

for (const [name, { reason, amount = 1990, prepare }] of Object.entries(CASES)) {
  test(`money that comes ${name} is kept as unmatched and leaves its charge alone`, async () => {
    const client = await api.client()
    const { id, brCode } = await prepare(client)
    const before = await client.get(`/charge/${id}`)
    const [events, movements] = [
      await eventsOf(api, client.company.id),
      await movementsOf(api, client),
    ]
    const endToEndId = await pay(api, brCode, { amount })
    assert.equal((await client.get(`/charge/${id}`)).text, before.text)
    const added = (await eventsOf(api, client.company.id)).slice(events.length)
    const payment = { endToEndId, amount, reason, chargeId: id }
    assert.deepEqual(added, [
      {
        type: 'payment.unmatched',
        payload: { event: 'Payment.Unmatched', payment, externalId: null },
      },
    ])
    const posted = (await movementsOf(api, client)).slice(movements.length)
    assert.deepEqual(posted, [['PAYMENT_UNMATCHED', endToEndId, 'bank>unmatched', amount]])
    assert.equal((await balancesOf(api, client)).unmatched, amount)
    assert.deepEqual((await paymentsOf(client)).at(-1), {
      end_to_end_id: endToEndId,
      amount,
      status: 'UNMATCHED',
      reason,
      booked: true,
    })
    const [listed, ...others] = await unmatchedOf(client)
    assert.deepEqual(listed, {
      id: listed.id,
      endToEndId,
      amount,
      status: 'UNMATCHED',
      reason,
      chargeId: id,
      receivedAt: api.clock.now().toISOString(),
    })
    assert.deepEqual(others, [])
  })
}

test('another amount for a static code is unmatched and makes no charge', async () => {
  const client = await api.client()
  const { brCode } = await makeCode(client, 250)
  const endToEndId = await pay(api, brCode, { amount: 251 })
  const [listed] = await unmatchedOf(client)
  assert.deepEqual(listed, {
    id: listed.id,
    endToEndId,
    amount: 251,
    status: 'UNMATCHED',
    reason: 'WRONG_AMOUNT',
    receivedAt: api.clock.now().toISOString(),
  })
  assert.deepEqual((await client.get('/charge')).body.data, [])
  assert.deepEqual(await balancesOf(api, client), { ...OPENING, unmatched: 251 })
})

test('the same payment again answers the same, and nothing is doubled', async () => {
  const client = await api.client()
  const codes = [await makeCharge(client, 1990), await makeCode(client, 250)]
  for (const [i, { brCode }] of codes.entries()) {
    const endToEndId = E2E(`same${i}`)
    const first = await order(api, { brCode, endToEndId })
    assert.deepEqual([first.status, first.body.data.endToEndId], [201, endToEndId])
    const before = await everything()
    api.clock.advance(3600)
    const again = await Promise.all(
      Array.from({ length: 5 }, () => order(api, { brCode, endToEndId })),
    )
    for (const reply of again) assert.deepEqual([reply.status, reply.text], [201, first.text])
    assert.deepEqual(await everything(), before)
  }
})

test('a known endToEndId with another amount or code is refused', async () => {
  const client = await api.client()
  const [one, other] = [await makeCharge(client, 1990), await makeCharge(client, 1990)]
  const endToEndId = await pay(api, one.brCode)
  const before = await everything()
  for (const fields of [{ brCode: one.brCode, amount: 1989 }, { brCode: other.brCode }]) {
    const reply = await order(api, { ...fields, endToEndId })
    assert.deepEqual(answer(reply), [422, 'idempotency_key_reused'])
    assert.match(line(reply), /^endToEndId: /)
  }
  assert.deepEqual(await everything(), before)
  const stranger = await makeCharge(await api.client(), 1990)
  assert.equal(await pay(api, stranger.brCode, { endToEndId }), endToEndId, 'accounts are apart')
})

test('payments of one charge at once: one pays it, the others are unmatched, none is lost', async () => {
  const client = await api.client()
  const { id, brCode } = await makeCharge(client, 1000)
  await Promise.all(Array.from({ length: 20 }, () => pay(api, brCode)))
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  assert.deepEqual(await balancesOf(api, client), { ...OPENING, pending: 1000, unmatched: 19_000 })
  const rows = await paymentsOf(client)
  assert.deepEqual(rows.map(({ reason }) => reason).filter(Boolean), Array(19).fill('DUPLICATE'))
  assert.equal((await eventsOf(api, client.company.id)).length, 22)
})

/** Sends orders that are all refused alike, and of which nothing may be left. */
async function refusedEverywhere(orders: unknown[], expected: [number, string], start: RegExp) {
  const before = { ...(await everything()), ...(await stored(api)) }
  for (const json of orders) {
    const reply = await order(api, json)
    assert.deepEqual(answer(reply), expected, JSON.stringify(json))
    assert.match(line(reply), start, JSON.stringify(json))
    assert.equal(reply.body.data, null)
  }
  assert.deepEqual({ ...(await everything()), ...(await stored(api)) }, before)
}

test('what is no Pix code is refused, and nothing is stored', async () => {
  const { brCode } = await makeCharge(await api.client(), 1990)
  const wrongCheck = brCode.slice(0, -4) + (brCode.endsWith('0000') ? '0001' : '0000')
  const codes = [
    '',
    ' ',
    'x',
    brCode.slice(0, -1),
    `${brCode}0`,
    brCode.slice(4),
    wrongCheck,
    brCode.toLowerCase(),
    brCode.repeat(4),
    5,
    null,
    true,
    [brCode],
    { brCode },
  ]
  const orders = codes.map((code) => ({ brCode: code }))
  await refusedEverywhere(orders, [400, 'invalid_value'], /^brCode: /)
  await refusedEverywhere([{}], [400, 'invalid_value'], /^brCode: is required/)
  await refusedEverywhere([null, 'text', 7, [brCode]], [400, 'invalid_value'], /^body: /)
})

test('an amount that is no amount and an id that is no id are refused, and nothing is stored', async () => {
  const { brCode } = await makeCharge(await api.client(), 1990)
  const amounts = [0, -1, 1990.5, 1e12, 1e300, '1990', true, null, [1990]]
  const wrong = amounts.map((amount) => ({ brCode, amount }))
  await refusedEverywhere(wrong, [400, 'invalid_value'], /^amount: /)
  const ids = [' ', 'E1', E2E('1').toLowerCase(), `${E2E('1')}0`, E2E('é'), `D${E2E('1').slice(1)}`]
  const nameless = [...ids, 5, null].map((endToEndId) => ({ brCode, endToEndId }))
  await refusedEverywhere(nameless, [400, 'invalid_value'], /^endToEndId: /)
})

test('a valid code that the bank has not issued is not found, and nothing is stored', async () => {
  const client = await api.client()
  const [charge, counter] = [await makeCharge(client, 1990), await makeCode(client, 250)]
  const [read, fixed] = [parse(charge.brCode), parse(counter.brCode)]
  assert.ok(read.kind === 'dynamic' && fixed.kind === 'static')
  const payee = { name: 'Padaria Sao Joao', city: 'Sao Paulo' }
  const token = read.location.split('/').at(-1)!
  const { key, amount, txid } = fixed
  const codes = [
    dynamicCode({ ...payee, location: `pix.example.com/cob/${token}` }),
    dynamicCode({
      ...payee,
      location: 'pix.example.com/qr/v2/9d36b84f-c70b-478f-b95c-12729b90ca25',
    }),
    dynamicCode({ ...payee, location: `vintem.test/cob/${packPair(client.company.id, newId())}` }),
    dynamicCode({ ...payee, location: read.location, name: 'Outra Loja' }),
    staticCode({ ...payee, key: 'outra@example.com', amount: amount!, txid: txid! }),
    staticCode({ ...payee, key, amount: amount!, txid: '0'.repeat(25) }),
    staticCode({ ...payee, key, amount: 249, txid: txid! }),
    staticCode({ ...payee, key, amount: amount! }),
  ]
  const orders = codes.map((brCode) => ({ brCode }))
  await refusedEverywhere(orders, [404, 'charge_not_found'], /^brCode: /)
  assert.equal((await order(api, { brCode: counter.brCode })).status, 201, 'its own is still paid')
})

test('the simulated bank pays no code of a live company that is not in dev mode', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'viva@example.com' })
  const codes = [
    await makeCharge(client, 1990, { devMode: true }),
    await makeCode(client, 250, true),
  ]
  // No such code can be made while no bank is connected, so dev mode is taken from two.
  for (const table of ['charges', 'static_codes']) {
    await api.rows(`update ${table} set dev_mode = false where company_id = $1`, [
      client.company.id,
    ])
  }
  const orders = codes.map(({ brCode }) => ({ brCode }))
  await refusedEverywhere(orders, [404, 'charge_not_found'], /^brCode: /)
})

test('an answer of the bank has the headers and the shape of every other', async () => {
  const { brCode } = await makeCharge(await api.client(), 1990)
  for (const version of VERSION_NAMES) {
    const headers = { 'X-Api-Version': version }
    const isOld = version === '2025-01-01'
    for (const [json, field] of [
      [{ brCode }, isOld ? 'endToEndId' : 'data'],
      [{ brCode: 'x' }, isOld ? 'statusCode' : 'errors'],
    ] as const) {
      const reply = await api.call('POST', '/bank/pix', { json, headers })
      assert.match(reply.headers.get('x-request-id') ?? 'none', /^[0-9a-z]{26}$/)
      assert.equal(reply.headers.get('x-api-version'), version)
      assert.match(reply.headers.get('content-type')!, /^application\/json/)
      assert.ok(field in reply.body, reply.text)
    }
  }
})

test('the bank takes orders from anybody, but not a flood of them', async (t) => {
  stopTime(t)
  const limited = await startApi({ RATE_LIMIT: '500' })
  const replies: Reply[] = []
  for (let wave = 0; wave < 26; wave++) {
    const orders = Array.from({ length: 20 }, (_, i) =>
      limited.call('POST', i % 2 ? '/bank/pix' : '/bank/authorizations', { json: {} }),
    )
    replies.push(...(await Promise.all(orders)))
  }
  const refused = replies.filter(({ status }) => status === 429)
  assert.equal(refused.length, 20)
  assert.equal(refused[0]!.body.errors[0].code, 'rate_limited')
  assert.match(refused[0]!.headers.get('retry-after')!, /^[1-9]\d*$/)
})
