import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { toCents } from '../../../src/lib/money.ts'
import {
  carryOutRefunds,
  expireDueCharges,
  expireDueWithdrawals,
  payOutWithdrawals,
  reconcileDue,
  releaseDueCharges,
} from '../../../src/worker/due.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { advance, after, CLOCK, startPlaying } from '../../support/clocks.ts'
import { lastCode } from '../../support/mail.ts'
import { balancesOf, makeCharge, makePaid, pay, stateOf } from '../../support/payments.ts'
import { confirm, confirmed, rowOf, start } from '../../support/withdrawals.ts'

const api = await startApi()
const { app, clock } = api
startPlaying(api)
const DAY_S = 24 * 3600
const YEAR_S = 365 * DAY_S

const line = ({ body }: Reply): string => body.errors[0].description
const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]

/** What the records of a company say of time, by table. */
const timesOf = (client: Client, table: string, column: string): Promise<Date[]> =>
  api
    .rows<{ at: Date }>(`select ${column} as at from ${table} where company_id = $1 order by 1`, [
      client.company.id,
    ])
    .then((rows) => rows.map(({ at }) => at))

test('a sandbox company lives in real time until it moves its clock', async () => {
  const client = await api.client()
  const still = { target: null, status: 'READY', running: [] }
  const { status, body } = await client.get(CLOCK)
  assert.deepEqual([status, body.data], [200, { now: clock.now().toISOString(), ...still }])
  const moved = await client.post(CLOCK, { advance: DAY_S })
  const now = after(clock.now(), DAY_S)
  assert.deepEqual([moved.status, moved.body.data], [200, { now, ...still }])
  assert.deepEqual((await client.get(CLOCK)).body.data, { now, ...still })
  clock.advance(5)
  assert.equal((await client.get(CLOCK)).body.data.now, after(new Date(now), 5), 'it goes on')
})

test('a clock is moved to a moment as well as by seconds', async () => {
  const client = await api.client()
  const to = after(clock.now(), 90)
  const { body } = await client.post(CLOCK, { now: to.replace('Z', '-00:00') })
  assert.equal(body.data.now, to)
})

test('the next request meets the new time, and what it makes is of that time', async () => {
  const client = await api.client()
  await client.get('/company')
  for (let n = 1; n <= 5; n++) {
    const now = await advance(client, 30 * DAY_S)
    const { body } = await client.post('/charge/pix', { amount: 700, customer: payer() })
    const found = (await client.get(`/charge/${body.data.id}`)).body.data
    assert.equal(found.createdAt, now.toISOString())
    assert.equal(found.expiresAt, after(now, 1800))
  }
  const events = await timesOf(client, 'events', 'created_at')
  assert.deepEqual(events.at(-1), new Date(clock.now().getTime() + 150 * DAY_S * 1000))
})

test('a moved clock moves nobody else, nor the real time', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const before = clock.now()
  const [own, theirs] = [await makeCharge(client, 700), await makeCharge(other, 700)]
  await advance(client, DAY_S)
  assert.deepEqual(await stateOf(client, own.id), ['EXPIRED', 'EXPIRED'])
  assert.deepEqual(await stateOf(other, theirs.id), ['OPEN', 'PROCESSING'])
  assert.deepEqual(clock.now(), before)
  assert.equal((await other.get(CLOCK)).body.data.now, before.toISOString())
  const { body } = await other.post('/client', { ...payer(), status: 'ACTIVE' })
  assert.equal(body.data.createdAt, before.toISOString())
})

test('time goes forward only, at most five years at once, and says which field is wrong', async () => {
  const client = await api.client()
  await advance(client, DAY_S)
  const now = after(clock.now(), DAY_S)
  const wrong: [object, RegExp][] = [
    [{ now }, /^now: must be later than 2026-08-2\dT/],
    [{ now: clock.now().toISOString() }, /^now: must be later/],
    [{ now: after(new Date(now), 5.1 * 366 * DAY_S) }, /^now: must not be more than 5 years/],
    [{ now: after(new Date(now), 60), advance: 60 }, /^now: send it or advance, not both/],
    [{}, /^advance: send it, or/],
    [{ advance: 0 }, /^advance: must be at least 1$/],
    [{ advance: -60 }, /^advance: must be at least 1$/],
    [{ advance: 5 * 366 * DAY_S }, /^advance: must be at most \d+$/],
  ]
  for (const [body, expected] of wrong) {
    const reply = await client.post(CLOCK, body)
    assert.deepEqual(answer(reply), [400, 'invalid_value'], JSON.stringify(body))
    assert.match(line(reply), expected)
  }
  assert.equal((await client.get(CLOCK)).body.data.now, now)
})

test('no clock leads more than a hundred years ahead', async () => {
  const client = await api.client()
  for (let n = 0; n < 20; n++) await advance(client, 5 * YEAR_S)
  const reply = await client.post(CLOCK, { advance: YEAR_S })
  assert.deepEqual(answer(reply), [400, 'invalid_value'])
  assert.match(line(reply), /^advance: .*100 years/)
})

test('a live company has no clock to move', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  for (const reply of [await live.get(CLOCK), await live.post(CLOCK, { advance: 60 })]) {
    assert.deepEqual(answer(reply), [404, 'clock_not_found'])
  }
  assert.deepEqual(await timesOf(live, 'test_clocks', 'target'), [])
})

test('a retry with the same key moves the clock once and has the same answer', async () => {
  const client = await api.client()
  // Something falls due on the way, so that the answer comes after it was committed.
  await makeCharge(client, 700, { expiresIn: 30 })
  const keyed = { headers: { 'Idempotency-Key': 'k' } }
  const first = await client.post(CLOCK, { advance: 60 }, keyed)
  assert.equal(first.body.data.status, 'READY')
  assert.equal(first.headers.get('idempotent-replayed'), null)
  const again = await client.post(CLOCK, { advance: 60 }, keyed)
  assert.deepEqual([again.status, again.text], [first.status, first.text])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal((await client.get(CLOCK)).body.data.now, after(clock.now(), 60))
})

test('kept answers stay for a day of real time, however far the clock is moved', async () => {
  const client = await api.client()
  await advance(client, DAY_S)
  const keyed = { headers: { 'Idempotency-Key': 'k' } }
  const charge = { amount: 700, customer: payer() }
  const first = await client.post('/charge/pix', charge, keyed)
  await advance(client, 10 * DAY_S)
  const again = await client.post('/charge/pix', charge, keyed)
  assert.deepEqual([again.text, again.status], [first.text, 201])
  assert.deepEqual(await timesOf(client, 'idempotency_keys', 'created_at'), [clock.now()])
})

test('what becomes due by itself after a move is done by the company’s time', async () => {
  const client = await api.client()
  await advance(client, YEAR_S)
  const open = await makeCharge(client, 700, { expiresIn: 30 })
  const paid = await makePaid(api, client, 1990)
  const id = await start(client, 5000)
  const sweep = async () => {
    await expireDueCharges.run(app)
    await releaseDueCharges.run(app)
    await expireDueWithdrawals.run(app)
  }
  await sweep()
  assert.deepEqual(await stateOf(client, paid.id), ['COMPLETED', 'PAID'])
  clock.advance(30)
  const expiredAt = after(clock.now(), YEAR_S)
  await sweep()
  clock.advance(30)
  await sweep()
  clock.advance(540)
  await sweep()
  assert.deepEqual(await stateOf(client, open.id), ['EXPIRED', 'EXPIRED'])
  assert.deepEqual(await stateOf(client, paid.id), ['COMPLETED', 'RECEIVED'])
  assert.equal((await rowOf(api, id)).status, 'EXPIRED')
  const events = await api.rows<{ type: string; created_at: Date }>(
    `select type, created_at from events where company_id = $1
       and type in ('charge.expired', 'charge.received') order by id`,
    [client.company.id],
  )
  assert.deepEqual(
    events.map(({ type, created_at }) => [type, created_at.toISOString()]),
    [
      ['charge.expired', expiredAt],
      ['charge.received', after(new Date(expiredAt), 30)],
    ],
  )
})

test('the simulated bank lives in the time of its account, and its books agree with ours', async () => {
  const client = await api.client()
  const now = await advance(client, YEAR_S)
  const { id, brCode, endToEndId } = await makePaid(api, client, 1990)
  assert.match(endToEndId, /^E99999999202708\d\d/, 'the scheme’s id says when')
  await pay(api, brCode)
  assert.equal((await client.post(`/refund/${id}`, { value: 500 })).status, 201)
  await carryOutRefunds.run(app)
  await confirmed(api, client, 5000)
  await payOutWithdrawals.run(app)
  const transfers = await api.rows<{ direction: string; at: Date }>(
    'select direction, at from simulated_transfers where account_id = $1 order by direction',
    [client.company.id],
  )
  assert.deepEqual(
    transfers,
    ['received', 'received', 'returned', 'sent'].map((direction) => ({ direction, at: now })),
  )
  const [charge] = await api.rows<{ payment_date: Date; settles_at: Date }>(
    'select payment_date, settles_at from charges where company_id = $1',
    [client.company.id],
  )
  assert.deepEqual(charge, { payment_date: now, settles_at: new Date(now.getTime() + 60_000) })
  const booked = await timesOf(client, 'postings', 'created_at')
  assert.deepEqual(booked.at(-1), now)
  await advance(client, DAY_S)
  assert.deepEqual((await auditCompany(app, client.company.id, { whole: true })).faults, [])
  assert.equal((await balancesOf(api, client)).available, 100_000 - 5000 + 1990 - 500)
})

test('a payment without a callback is found in the company’s time', async () => {
  const client = await api.client()
  const company = client.company.id
  await advance(client, YEAR_S)
  const { brCode, id } = await makeCharge(client, 1990)
  // The bank has the money of a charge of dev mode; here its callback gets lost.
  const txid = id.slice('charge_'.length)
  const clockAhead_ms = YEAR_S * 1000
  const amount = toCents(1990)
  await app.providers.simulator.pay({ id: company, clockAhead_ms }, { txid, amount })
  assert.ok(brCode)
  clock.advance(600)
  await reconcileDue.run(app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  const [row] = await api.rows<{ asked_until: Date; next_attempt_at: Date }>(
    'select asked_until, next_attempt_at from reconciliations where company_id = $1',
    [company],
  )
  assert.equal(row!.asked_until.toISOString(), after(clock.now(), YEAR_S))
  assert.equal(row!.next_attempt_at.toISOString(), after(clock.now(), 60), 'asked in real time')
})

test('a payment goes back for ninety days of the company’s time', async () => {
  const client = await api.client()
  const { id } = await makePaid(api, client, 1990)
  await advance(client, 90 * DAY_S)
  assert.equal((await client.post(`/refund/${id}`, { value: 500 })).status, 201)
  await advance(client, 1)
  const late = await client.post(`/refund/${id}`, { value: 500 })
  assert.deepEqual(answer(late), [409, 'refund_not_possible'])
})

test('mails go out in real time and say what holds in the company’s', async () => {
  const client = await api.client()
  const now = await advance(client, YEAR_S)
  const id = await start(client, 5000)
  const [mail] = await api.rows<Record<string, Date>>(
    'select created_at, next_attempt_at, expires_at from mails where company_id = $1',
    [client.company.id],
  )
  const real = clock.now()
  assert.deepEqual(mail, {
    created_at: real,
    next_attempt_at: real,
    expires_at: new Date(real.getTime() + 600_000),
  })
  const code = await lastCode(api, client.company.id)
  await sendDueMails(app)
  const sent = await api.rows('select outcome from mails where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(sent, [{ outcome: 'SENT' }])
  assert.equal((await confirm(client, id, code)).status, 200)
  assert.deepEqual((await rowOf(api, id)).confirmed_at, now)
})

test('a link’s mail goes out in real time too, and is of use as long as the link', async () => {
  const client = await api.client()
  await advance(client, YEAR_S)
  const link = { total: 700, customer: payer(), notifyCustomer: true, expiresIn: 3600 }
  assert.equal((await client.post('/charge/payment-link', link)).status, 201)
  assert.deepEqual(await timesOf(client, 'mails', 'next_attempt_at'), [clock.now()])
  assert.deepEqual(await timesOf(client, 'mails', 'expires_at'), [
    new Date(clock.now().getTime() + 3_600_000),
  ])
})
