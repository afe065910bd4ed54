import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prove } from '../../src/ledger/audit.ts'
import { type Client, startApi } from '../support/api.ts'
import {
  approvedSubscription,
  at,
  chargesOf,
  type Day,
  daysAfter,
  feedOf,
  moveTo,
} from '../support/billing.ts'
import { startPlaying } from '../support/clocks.ts'
import { variants } from '../support/long.ts'

const api = await startApi()
startPlaying(api)

/** The day on which a charge is generated, and the day on which it is collected. */
type Cycle = [generated: Day, due: Day]

/** Written by hand from a printed calendar, and not by the code under test. */
type Plan = {
  product: { frequency: string; price: number; dayDue?: number; dayGenerateCharge?: number }
  approvedAt: string
  /** When the clock stops again, with the last charge paid. */
  until: string
  cycles: Cycle[]
}

const OPENING = 100_000
const YEAR: Record<'monthly' | 'weekly' | 'semiannual' | 'annual', Plan> = {
  // From a 31st: clipped to the end of shorter months, and back on the 31st after them.
  monthly: {
    product: { frequency: 'MONTHLY', price: 4990 },
    approvedAt: at('2026-08-31', '12:00:00'),
    until: at('2027-08-30', '12:00:00'),
    cycles: [
      ['2026-08-31', '2026-09-03'],
      // 3 October is a Saturday.
      ['2026-09-30', '2026-10-05'],
      ['2026-10-31', '2026-11-03'],
      ['2026-11-30', '2026-12-03'],
      // 3 January is a Sunday.
      ['2026-12-31', '2027-01-04'],
      ['2027-01-31', '2027-02-03'],
      ['2027-02-28', '2027-03-03'],
      // 3 April is a Saturday.
      ['2027-03-31', '2027-04-05'],
      ['2027-04-30', '2027-05-03'],
      ['2027-05-31', '2027-06-03'],
      // 3 July is a Saturday.
      ['2027-06-30', '2027-07-05'],
      ['2027-07-31', '2027-08-03'],
    ],
  },
  // Approved on a Monday, first charged on the product's day, a Wednesday, and on every one after
  // it; due on Fridays, for a day to pay is too short for the scheme.
  weekly: {
    product: { frequency: 'WEEKLY', price: 1290, dayDue: 1, dayGenerateCharge: 28 },
    approvedAt: at('2026-10-26', '23:59:59'),
    until: at('2027-10-31'),
    cycles: [
      ['2026-10-28', '2026-10-30'],
      ['2026-11-04', '2026-11-06'],
      ['2026-11-11', '2026-11-13'],
      // Friday the 20th is Consciência Negra.
      ['2026-11-18', '2026-11-23'],
      ['2026-11-25', '2026-11-27'],
      ['2026-12-02', '2026-12-04'],
      ['2026-12-09', '2026-12-11'],
      ['2026-12-16', '2026-12-18'],
      // Christmas and New Year are Fridays.
      ['2026-12-23', '2026-12-28'],
      ['2026-12-30', '2027-01-04'],
      ['2027-01-06', '2027-01-08'],
      ['2027-01-13', '2027-01-15'],
      ['2027-01-20', '2027-01-22'],
      ['2027-01-27', '2027-01-29'],
      ['2027-02-03', '2027-02-05'],
      ['2027-02-10', '2027-02-12'],
      ['2027-02-17', '2027-02-19'],
      ['2027-02-24', '2027-02-26'],
      ['2027-03-03', '2027-03-05'],
      ['2027-03-10', '2027-03-12'],
      ['2027-03-17', '2027-03-19'],
      // Good Friday.
      ['2027-03-24', '2027-03-29'],
      ['2027-03-31', '2027-04-02'],
      ['2027-04-07', '2027-04-09'],
      ['2027-04-14', '2027-04-16'],
      // Generated on Tiradentes: only the due day has to be one on which banks work.
      ['2027-04-21', '2027-04-23'],
      ['2027-04-28', '2027-04-30'],
      ['2027-05-05', '2027-05-07'],
      ['2027-05-12', '2027-05-14'],
      ['2027-05-19', '2027-05-21'],
      ['2027-05-26', '2027-05-28'],
      ['2027-06-02', '2027-06-04'],
      ['2027-06-09', '2027-06-11'],
      ['2027-06-16', '2027-06-18'],
      ['2027-06-23', '2027-06-25'],
      ['2027-06-30', '2027-07-02'],
      ['2027-07-07', '2027-07-09'],
      ['2027-07-14', '2027-07-16'],
      ['2027-07-21', '2027-07-23'],
      ['2027-07-28', '2027-07-30'],
      ['2027-08-04', '2027-08-06'],
      ['2027-08-11', '2027-08-13'],
      ['2027-08-18', '2027-08-20'],
      ['2027-08-25', '2027-08-27'],
      ['2027-09-01', '2027-09-03'],
      ['2027-09-08', '2027-09-10'],
      ['2027-09-15', '2027-09-17'],
      ['2027-09-22', '2027-09-24'],
      ['2027-09-29', '2027-10-01'],
      ['2027-10-06', '2027-10-08'],
      ['2027-10-13', '2027-10-15'],
      ['2027-10-20', '2027-10-22'],
      ['2027-10-27', '2027-10-29'],
    ],
  },
  // The 31st of August is half a year from the last of February, a leap day in 2028.
  semiannual: {
    product: { frequency: 'SEMIANNUAL', price: 29_900, dayDue: 7 },
    approvedAt: at('2026-08-31'),
    until: at('2028-03-31'),
    cycles: [
      // 7 September is Independence Day.
      ['2026-08-31', '2026-09-08'],
      // 7 March is a Sunday.
      ['2027-02-28', '2027-03-08'],
      ['2027-08-31', '2027-09-08'],
      // Generated on Carnival Tuesday.
      ['2028-02-29', '2028-03-07'],
    ],
  },
  // From a leap day to the next one.
  annual: {
    product: { frequency: 'ANNUAL', price: 99_999, dayDue: 3 },
    approvedAt: at('2028-02-29', '20:30:00'),
    until: at('2032-12-31'),
    cycles: [
      ['2028-02-29', '2028-03-03'],
      // 3 March is a Saturday.
      ['2029-02-28', '2029-03-05'],
      // A Sunday, and then Carnival.
      ['2030-02-28', '2030-03-06'],
      ['2031-02-28', '2031-03-03'],
      ['2032-02-29', '2032-03-03'],
    ],
  },
}

/** When a cycle's charge is generated: as its day begins, the first not before the approval. */
const generatedAt = ({ approvedAt }: Plan, [day]: Cycle) =>
  at(day) > approvedAt ? at(day) : approvedAt
const paidAt = ([, due]: Cycle) => at(due, '08:00:00')
const receivedAt = ([, due]: Cycle) => at(due, '08:01:00')

/** The feed by the plan: moment, type, number of the cycle and the fields of its charge. */
function expectedFeed(plan: Plan): unknown[][] {
  const ofCycles = plan.cycles.flatMap((cycle, n): [string, string, number, string][] => [
    [generatedAt(plan, cycle), 'charge.pending', n, 'PENDING'],
    [generatedAt(plan, cycle), 'charge.processing', n, 'PROCESSING'],
    [paidAt(cycle), 'charge.paid', n, 'PAID'],
    [paidAt(cycle), 'subscription.charge.paid', n, 'PAID'],
    [receivedAt(cycle), 'charge.received', n, 'RECEIVED'],
  ])
  const inOrder = ofCycles.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return [[plan.approvedAt, 'subscription.authorized', null, 'APPROVED'], ...inOrder]
}

/** The statement by the plan: each payment arrives, and is released a minute later. */
function expectedStatement({ product: { price }, cycles }: Plan): unknown[][] {
  return cycles.flatMap((cycle, n) => {
    const before = OPENING + n * price
    return [
      [paidAt(cycle), 'CHARGE_PAID', 'bank>pending', price, n, before, price],
      [receivedAt(cycle), 'CHARGE_SETTLED', 'pending>available', price, n, before + price, 0],
    ]
  })
}

type Entry = {
  createdAt: string
  type: string
  debit: string
  credit: string
  amount: number
  chargeId: string
  reference: string
  balance: { available: number; pending: number }
}

async function assertStatement(client: Client, plan: Plan, charges: { id: string }[]) {
  const { body } = await client.get('/account-balance/statement?limit=1000')
  const entries: Entry[] = body.data.toReversed().slice(1)
  const numberOf = new Map(charges.map(({ id }, n) => [id, n]))
  assert.deepEqual(
    entries.map(({ createdAt, type, debit, credit, amount, chargeId, balance }) => [
      createdAt,
      type,
      `${debit}>${credit}`,
      amount,
      numberOf.get(chargeId),
      balance.available,
      balance.pending,
    ]),
    expectedStatement(plan),
  )
  const available = OPENING + plan.cycles.length * plan.product.price
  assert.deepEqual((await client.get('/account-balance')).body.data, {
    available,
    pending: 0,
    held: 0,
    unmatched: 0,
  })
}

async function assertYear(client: Client, id: string, plan: Plan): Promise<void> {
  const charges = await chargesOf(client, id)
  const total = String(plan.product.price)
  assert.deepEqual(
    charges.map(({ id, endToEndId, ...shown }) => shown),
    plan.cycles.map((cycle) => ({
      status: 'COMPLETED',
      paymentStatus: 'RECEIVED',
      total,
      paymentDate: paidAt(cycle),
      expiresAt: at(daysAfter(cycle[1], 8)),
    })),
  )
  assert.equal(new Set(charges.map(({ endToEndId }) => endToEndId)).size, plan.cycles.length)
  const numberOf = new Map(charges.map((charge, n) => [charge.id, n]))
  const feed = await feedOf(client)
  assert.deepEqual(
    feed.map(({ createdAt, type, data }) => [
      createdAt,
      type,
      numberOf.get(data.charge?.id) ?? null,
      (data.charge ?? data.subscription).status,
    ]),
    expectedFeed(plan),
  )
  for (const { type, data } of feed) {
    if (data.charge) assert.equal(data.charge.total, plan.product.price)
    if (type.startsWith('subscription.')) assert.equal(data.subscription.id, id)
  }
  await assertStatement(client, plan, charges)
  const { faults } = await api.app.db.transaction((tx) => prove(tx, client.company.id, 0))
  assert.deepEqual(faults, [])
}

/** Uneven on purpose: some end between two moments of one morning, some weeks further on. */
const STRIDES_S = [1, 3599, 8 * 3600, 11, 86_400 * 3 + 60, 86_400 * 11, 86_400 * 29 + 7777]

async function stepTo(client: Client, from: string, until: string): Promise<void> {
  const most_s = Math.max(...STRIDES_S)
  const whole_s = (Date.parse(until) - Date.parse(from)) / 1000
  // Years are crossed in longer strides, or they would take as many requests as there are weeks.
  const factor = Math.max(1, Math.round(whole_s / most_s / 8))
  for (let [n, gone_s] = [0, 0]; gone_s < whole_s; n += 1) {
    gone_s = Math.min(gone_s + STRIDES_S[n % STRIDES_S.length]! * factor, whole_s)
    await moveTo(client, new Date(Date.parse(from) + gone_s * 1000).toISOString())
  }
}

/** A company whose subscription is approved and played through to the end of the plan. */
async function playYear(plan: Plan, play: (client: Client) => Promise<void>): Promise<void> {
  const client = await api.client()
  await moveTo(client, plan.approvedAt)
  const { id } = await approvedSubscription(api, client, plan.product)
  await play(client)
  await assertYear(client, id, plan)
}

for (const [name, plan] of variants(Object.entries(YEAR))) {
  test(`${name}: in one jump, every charge is made, collected and released at its moment`, () =>
    playYear(plan, (client) => moveTo(client, plan.until)))
}

for (const name of variants(['monthly', 'annual'])) {
  const plan = YEAR[name]
  test(`${name}: in many uneven steps the same comes about, to the second`, () =>
    playYear(plan, (client) => stepTo(client, plan.approvedAt, plan.until)))
}
