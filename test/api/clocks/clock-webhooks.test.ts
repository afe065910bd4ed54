import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attempt } from '../../../src/core/deliveries/rules.ts'
import { type Client, startApi } from '../../support/api.ts'
import { advance, after, arrived, CLOCK, startPlaying } from '../../support/clocks.ts'
import { longTest } from '../../support/long.ts'
import { lettersOf } from '../../support/mail.ts'
import { balancesOf, makeCharge, makePaid } from '../../support/payments.ts'
import type { Received } from '../../support/receiver.ts'
import { makeReceiver } from '../../support/webhooks.ts'
import { confirmed, rowOf, start as startWithdrawal } from '../../support/withdrawals.ts'

const api = await startApi({ CLOCK_WAIT_SECONDS: '1' })
const { clock } = api
startPlaying(api)
const [MINUTE_S, HOUR_S, DAY_S] = [60, 3600, 24 * 3600]
/** The bank carries out an order of this amount, but its answer gets lost. */
const UNANSWERED = 55_555

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

const attemptsOf = async ({ company }: Client): Promise<Attempt[][]> => {
  const rows = await api.rows<{ attempts: Attempt[] }>(
    `select attempts from (
       select event_id, attempts from deliveries where company_id = $1
       union all select event_id, attempts from delivery_log where company_id = $1) d
     order by event_id`,
    [company.id],
  )
  return rows.map(({ attempts }) => attempts)
}

const timeOf = ({ headers }: Received) => headers['x-webhook-timestamp'] as string

test('a failing receiver is tried again 1, 5, 15 min, 1 and 6 h after each failure, in one move', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client, ['charge.expired'])
  receiver.answer = (response) => response.writeHead(500).end('sem espaço')
  const begin = clock.now()
  await makeCharge(client, 700, { expiresIn: 100 })
  await advance(client, DAY_S)
  let at_s = 100
  const expected = [0, 1 * MINUTE_S, 5 * MINUTE_S, 15 * MINUTE_S, 1 * HOUR_S, 6 * HOUR_S].map(
    (wait_s) => {
      at_s += wait_s
      return after(begin, at_s)
    },
  )
  assert.deepEqual(receiver.received.map(timeOf), expected)
  const [attempts] = await attemptsOf(client)
  assert.deepEqual(
    attempts!.map(({ at, status }) => [at, status]),
    expected.map((at) => [at, 500]),
  )
  const { body } = await client.get(`/webhook/${webhook.id}/deliveries`)
  assert.deepEqual([body.data[0].status, body.data[0].finishedAt], ['FAILED', expected.at(-1)])
  const shown = (await client.get(`/webhook/${webhook.id}`)).body.data
  assert.equal(shown.failingSince, expected[0])
})

test('all that is due in one move happens at its own moment and in order', async () => {
  const client = await api.client({ releaseDelay_s: 100 })
  const events = ['charge.expired', 'charge.received', 'charge.refunded', 'withdrawal.completed']
  const { receiver } = await makeReceiver(client, events)
  // The second delivery is refused once.
  receiver.answer = (response) =>
    response.writeHead(receiver.received.length === 2 ? 503 : 200).end()
  const begin = clock.now()
  await makeCharge(client, 700, { expiresIn: 2 * MINUTE_S })
  await makeCharge(client, 700, { expiresIn: 30 })
  const { id } = await makePaid(api, client, 60_000)
  assert.equal((await client.post(`/refund/${id}`, { value: UNANSWERED })).status, 201)
  const withdrawal = await startWithdrawal(client, 5000)
  assert.equal((await advance(client, HOUR_S)).toISOString(), after(begin, HOUR_S))

  const sent = receiver.received.map((request) => [
    request.headers['x-webhook-event'],
    timeOf(request),
  ])
  assert.deepEqual(sent, [
    // The bank got the order at once, and was asked five seconds later what became of it.
    ['charge.refunded', after(begin, 5)],
    ['charge.expired', after(begin, 30)],
    // Again, a minute after it was refused.
    ['charge.expired', after(begin, 90)],
    ['charge.received', after(begin, 100)],
    ['charge.expired', after(begin, 120)],
  ])
  const code = await rowOf(api, withdrawal)
  assert.deepEqual([code.status, code.finished_at], ['EXPIRED', new Date(after(begin, 600))])
  const postings = await api.rows<{ kind: string; created_at: Date }>(
    'select kind, created_at from postings where company_id = $1 and entry > 1 order by entry',
    [client.company.id],
  )
  assert.deepEqual(
    postings.map(({ kind, created_at }) => [kind, created_at.toISOString()]),
    [
      ['CHARGE_PAID', after(begin, 0)],
      ['REFUND_HELD', after(begin, 0)],
      ['WITHDRAWAL_HELD', after(begin, 0)],
      ['REFUND_PAID', after(begin, 5)],
      ['CHARGE_SETTLED', after(begin, 100)],
      ['WITHDRAWAL_RELEASED', after(begin, 600)],
    ],
  )
  assert.deepEqual(await balancesOf(api, client), {
    available: 100_000 + 60_000 - UNANSWERED,
    pending: 0,
    held: 0,
    unmatched: 0,
  })
})

test('a payout without an answer is asked about in the company’s time', async () => {
  const client = await api.client()
  const begin = clock.now()
  const id = await confirmed(api, client, UNANSWERED)
  assert.equal((await advance(client, 60)).toISOString(), after(begin, 60))
  const { status, finished_at } = await rowOf(api, id)
  assert.deepEqual([status, finished_at], ['COMPLETED', new Date(after(begin, 5))])
})

test('a receiver that hangs is named in the answer, and delays no other company', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const { receiver } = await makeReceiver(client, ['charge.expired'])
  const finish = Promise.withResolvers<() => void>()
  receiver.answer = (response) => finish.resolve(() => response.end())
  const begin = clock.now()
  await makeCharge(client, 700, { expiresIn: 30 })
  await makeCharge(client, 700, { expiresIn: 50 })
  await makeCharge(other, 700, { expiresIn: 30 })
  const keyed = { headers: { 'Idempotency-Key': 'k' } }
  const { status, body, text } = await client.post(CLOCK, { advance: 60 }, keyed)
  const waiting = {
    now: after(begin, 30),
    target: after(begin, 60),
    status: 'ADVANCING',
    running: ['deliver webhooks'],
  }
  assert.deepEqual([status, body.data], [200, waiting])
  assert.deepEqual((await client.get(CLOCK)).body.data, waiting)
  const again = await client.post(CLOCK, { advance: 60 })
  assert.deepEqual([again.status, again.body.errors[0].code], [409, 'clock_advancing'])
  assert.equal((await advance(other, 60)).toISOString(), after(begin, 60))
  receiver.answer = (response) => response.end()
  ;(await finish.promise)()
  await arrived(client)
  assert.deepEqual(receiver.received.map(timeOf), [after(begin, 30), after(begin, 50)])
  assert.equal((await client.get(CLOCK)).body.data.now, after(begin, 60))
  assert.equal((await client.post(CLOCK, { advance: 60 }, keyed)).text, text, 'as it was answered')
})

test('a former secret signs for a day of the company’s time', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client, ['charge.expired'])
  assert.equal((await client.post(`/webhook/${webhook.id}/rotate-secret`)).status, 200)
  for (const expiresIn of [DAY_S - 1, DAY_S]) await makeCharge(client, 700, { expiresIn })
  await advance(client, DAY_S)
  const signatures = receiver.received.map(
    ({ headers }) => (headers['webhook-signature'] as string).split(' ').length,
  )
  assert.deepEqual(signatures, [2, 1])
})

test('a receiver that fails again and again is paused by the company’s time', async () => {
  const client = await api.client()
  const { receiver } = await makeReceiver(client, ['charge.expired'])
  receiver.answer = (response) => response.writeHead(500).end()
  const begin = clock.now()
  for (let n = 0; n < 12; n++) await makeCharge(client, 700, { expiresIn: 10 })
  await advance(client, 50)
  const times = receiver.received.map(timeOf)
  assert.deepEqual(times.slice(0, 10), Array(10).fill(after(begin, 10)))
  assert.deepEqual(times.slice(10), [after(begin, 25)], 'the first pause is over after 15 s')
})

longTest(
  'a webhook that fails for five days is deactivated on time, and its company gets a mail',
  async () => {
    const client = await api.client()
    const { receiver, webhook } = await makeReceiver(client, ['charge.expired'])
    receiver.answer = (response) => response.writeHead(500).end()
    const begin = clock.now()
    for (let hours = 1; hours <= 6 * 24; hours += 12) {
      await makeCharge(client, 700, { expiresIn: hours * HOUR_S })
    }
    await advance(client, 7 * DAY_S)
    const shown: Any = (await client.get(`/webhook/${webhook.id}`)).body.data
    const since_s = HOUR_S
    assert.deepEqual(
      [shown.status, shown.deactivated, shown.failingSince, shown.updatedAt],
      ['INACTIVE', 'FAILING', after(begin, since_s), after(begin, since_s + 5 * DAY_S)],
    )
    const [row] = await api.rows<{ warned_at: Date }>(
      'select warned_at from webhooks where company_id = $1',
      [client.company.id],
    )
    assert.equal(row!.warned_at.toISOString(), after(begin, since_s + 4 * DAY_S))
    const last = receiver.received.map(timeOf).sort().at(-1)!
    assert.ok(last <= shown.updatedAt, 'nothing is sent to it after that')
    const letters = await lettersOf(api, client.company.id)
    assert.deepEqual(
      letters.map(({ kind }) => kind),
      ['webhook-failing', 'webhook-deactivated'],
    )
    const mails = await api.rows<{ next_attempt_at: Date }>(
      'select next_attempt_at from mails where company_id = $1',
      [client.company.id],
    )
    assert.deepEqual(
      mails.map(({ next_attempt_at }) => next_attempt_at),
      [clock.now(), clock.now()],
      'they are sent at once',
    )
  },
)
