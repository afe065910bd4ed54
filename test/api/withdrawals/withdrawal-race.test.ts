import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPublic } from '../../../src/lib/ids.ts'
import { payOutWithdrawals } from '../../../src/worker/due.ts'
import { type Client, type Reply, startApi, type TestApi } from '../../support/api.ts'
import { isLong } from '../../support/long.ts'
import { lastCode } from '../../support/mail.ts'
import {
  answer,
  balanceOf,
  cancel,
  confirm,
  OPENING,
  PATH,
  postingsOf,
  resend,
  sentOf,
  wrong,
} from '../../support/withdrawals.ts'

const api = await startApi()
const CLIENTS = 64
const ROUNDS = isLong ? 8 : 4
/** Small and large, more than there is, and one that the simulated bank refuses. */
const VALUES = [1, 700, 2500, 66_666, 9000, 100_001]

/** Every answer that a race may end in; anything else is a fault. */
const EXPECTED = new Set([
  '201',
  '200',
  '400 otp_invalid',
  '409 withdrawal_pending',
  '409 withdrawal_not_confirmable',
  '410 otp_expired',
  '422 insufficient_balance',
  '429 rate_limited',
])

type Racer = { client: Client; number: number; seen: Map<string, number> }

/** Notes an answer and gives it back. */
function note({ seen }: Racer, reply: Reply): Reply {
  const name = answer(reply).join(' ').trim()
  assert.ok(EXPECTED.has(name), reply.text)
  seen.set(name, (seen.get(name) ?? 0) + 1)
  return reply
}

/**
 * One racer in one round: starts a withdrawal or meets the pending one, does its part with it, and
 * starts another.
 */
async function race(racer: Racer, round: number): Promise<void> {
  const { client, number } = racer
  const value = VALUES[(number + round) % VALUES.length]
  const { body } = note(racer, await client.post(PATH, { value }))
  const id = body.data?.withdrawId ?? body.errors[0].withdrawId
  const part = id && partOf((number + 7 * round) % CLIENTS, round)
  if (part) note(racer, await part(client, id, await lastCode(api, client.company.id)))
  // Codes run out and leases end under everybody's hands.
  if (number === 0 && round % 4 === 3) api.clock.advance(600)
  note(racer, await client.post(PATH, { value }))
}

type Part = (client: Client, id: string, code: string) => Promise<Reply>

const guess: Part = (client, id, code) => confirm(client, id, wrong(code))

/** A few confirm, while others cancel, guess or ask for a new code, and most only start. */
function partOf(place: number, round: number): Part | undefined {
  const spoiling = [cancel, resend, guess, undefined][round % 4]
  return [confirm, confirm, spoiling, confirm, spoiling][place]
}

/** Looks on while the race runs: one pending at most, nothing below zero, nothing made or lost. */
async function watch({ company }: Client, running: () => boolean): Promise<number> {
  let looks = 0
  for (; running(); looks += 1) {
    const [now] = await api.rows<Record<string, number>>(
      `select b.available, b.held,
         (select count(*) from withdrawals w where w.company_id = b.company_id
           and status in ('PENDING_OTP', 'PROCESSING')) as pending,
         (select coalesce(sum(value), 0)::bigint from withdrawals w
           where w.company_id = b.company_id
             and status in ('PENDING_OTP', 'PROCESSING')) as open,
         (select coalesce(sum(value), 0)::bigint from withdrawals w
           where w.company_id = b.company_id and status = 'COMPLETED') as paid
       from balances b where b.company_id = $1`,
      [company.id],
    )
    const { available, held, pending, open, paid } = now!
    assert.ok(pending! <= 1 && available! >= 0)
    assert.deepEqual([held, available], [open, OPENING.available - open! - paid!])
  }
  return looks
}

async function payOutWhile(running: () => boolean): Promise<void> {
  while (running()) await payOutWithdrawals.run(api.app)
}

/** The books against the withdrawals, against themselves, and against the bank’s own. */
async function requireExact(client: Client): Promise<void> {
  const { company } = client
  const rows = await api.rows<{ id: string; status: string; value: number }>(
    'select id, status, value from withdrawals where company_id = $1 order by id',
    [company.id],
  )
  const postings = Map.groupBy(await postingsOf(api, client), ([, ref]) => String(ref))
  assert.equal(postings.size, rows.length)
  for (const { id, status, value } of rows) {
    const ref = toPublic('wd', id)
    const ends: Record<string, string> = { PENDING_OTP: '', COMPLETED: 'WITHDRAWAL_PAID' }
    const end = ends[status] ?? 'WITHDRAWAL_RELEASED'
    assert.deepEqual(postings.get(ref), [
      ['WITHDRAWAL_HELD', ref, value],
      ...(end === '' ? [] : [[end, ref, value]]),
    ])
  }
  const completed = rows.filter(({ status }) => status === 'COMPLETED')
  assert.ok(completed.length > 0, 'some got through')
  const sent = (await sentOf(api, client)).map(({ order_id, amount }) => [order_id, amount])
  assert.deepEqual(
    sent,
    completed.map(({ id, value }) => [toPublic('wd', id), value]),
  )
  const paid = completed.reduce((sum, { value }) => sum + value, 0)
  const held = rows.find(({ status }) => status === 'PENDING_OTP')?.value ?? 0
  const balance = await balanceOf(api, client)
  assert.deepEqual(balance, { available: OPENING.available - paid - held, held })
  assert.deepEqual(await summed(api, client), balance)
}

/** The balances as the postings add up to them. */
async function summed({ rows }: TestApi, { company }: Client): Promise<unknown> {
  const sum = (account: string) =>
    `coalesce(sum(case when credit = '${account}' then amount when debit = '${account}'
       then -amount end), 0)::bigint as ${account}`
  const text = `select ${sum('available')}, ${sum('held')} from postings where company_id = $1`
  return (await rows(text, [company.id]))[0]
}

async function rounds(client: Client, seen: Map<string, number>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const racers = Array.from({ length: CLIENTS }, (_, number) => ({ client, number, seen }))
    await Promise.all(racers.map((racer) => race(racer, round)))
    // From time to time wrong codes are forgotten, so that nobody is stopped for guessing.
    api.clock.advance(round % 4 === 3 ? 3600 : 60)
  }
}

test('64 clients race to start, confirm and cancel for one company: exact to the cent', async () => {
  const client = await api.client()
  const seen = new Map<string, number>()
  let racing = true
  const running = () => racing
  const race = rounds(client, seen).finally(() => {
    racing = false
  })
  const [looks] = await Promise.all([
    watch(client, running),
    payOutWhile(running),
    payOutWhile(running),
    race,
  ])
  await payOutWithdrawals.run(api.app)
  assert.ok(looks > 10, 'somebody was looking on')
  for (const name of ['201', '200', '409 withdrawal_pending', '409 withdrawal_not_confirmable']) {
    assert.ok((seen.get(name) ?? 0) > 0, `${name}: ${JSON.stringify([...seen])}`)
  }
  await requireExact(client)
})
