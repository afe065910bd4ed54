import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCompanyClock } from '../../src/core/companies/clock.ts'
import type { Company } from '../../src/core/companies/rules.ts'
import { findCompany } from '../../src/core/companies/store.ts'
import { type Period, readConversion, readFigures } from '../../src/core/figures/figures.ts'
import { daysTogether, lastDays, sameTimeLastWeek } from '../../src/core/figures/rules.ts'
import { matchPayments } from '../../src/core/payments/match.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { chargeTxid } from '../../src/provider/txid.ts'
import { type Client, startApi } from '../support/api.ts'
import { advance, played } from '../support/clocks.ts'
import { isLong } from '../support/long.ts'
import { type Code, makeCharge, makeCode, makeUnmatched, pay } from '../support/payments.ts'

const api = await startApi()
const HOUR_S = 3600
const DAYS = 90

/** A sequence that looks random and is the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Charge = { kind: string; dev_mode: boolean; created_at: Date; payment_date: Date | null }
type Posting = { kind: string; debit: string; amount: number; created_at: Date }

const dayOf = (at: Date) => at.toLocaleDateString('sv', { timeZone: 'America/Sao_Paulo' })
const minuteOf = (at: Date) => at.toLocaleTimeString('sv', { timeZone: 'America/Sao_Paulo' })
const DAY_MS = 24 * HOUR_S * 1000
const daysAgo = (at: Date, days: number) => new Date(at.getTime() - days * DAY_MS)

/** The figures, counted from all postings and charges without any index or table of sums. */
async function recount({ id, mode }: Company, now: Date) {
  const of = 'where company_id = $1'
  const postings = await api.rows<Posting>(`select * from postings ${of} order by entry`, [id])
  const charges = await api.rows<Charge>(`select * from charges ${of}`, [id])
  const receipts = postings.filter(({ kind, debit }) => debit === 'bank' && kind !== 'OPENING')
  const figures = (some: Posting[]) => ({
    count: some.length,
    sum: some.reduce((all, { amount }) => all + amount, 0),
  })
  const on = (day: string) => receipts.filter((one) => dayOf(one.created_at) === day)
  const days = Array.from({ length: DAYS }, (_, i) => dayOf(daysAgo(now, DAYS - 1 - i)))
  const before = on(dayOf(daysAgo(now, 7))).filter(({ created_at }) => created_at < daysAgo(now, 7))
  assert.ok(before.every(({ created_at }) => minuteOf(created_at) <= minuteOf(now)))
  const first = days.at(-30)!
  const made = charges.filter(
    ({ kind, dev_mode, created_at }) =>
      kind !== 'STATIC' && (!dev_mode || mode === 'sandbox') && dayOf(created_at) >= first,
  )
  return {
    today: figures(on(dayOf(now))),
    lastWeek: figures(before),
    days: days.map((day) => ({ day, ...figures(on(day)) })),
    conversion: { made: made.length, paid: made.filter((row) => row.payment_date).length },
  }
}

async function readAll(client: Client) {
  const company = (await findCompany(api.app.db, client.company.id))!
  const app = withCompanyClock(api.app, company)
  const now = app.clock.now()
  const received = async (periods: Period[]) =>
    (await readFigures(app, company, periods)).map((figures) => figures.received)
  const [today, lastWeek] = await received([daysTogether(1, now), sameTimeLastWeek(now)])
  const days = lastDays(DAYS, now)
  const sums = await received(days)
  const found = {
    today: today!,
    lastWeek: lastWeek!,
    days: days.map(({ day }, i) => ({ day, ...sums[i]! })),
    conversion: await readConversion(app, company, daysTogether(30, now)),
  }
  assert.deepEqual(found, await recount(company, now))
  return found
}

/** A payment that the bank names only now, and that was received before. */
async function payLate({ company }: Client, { id }: Code, amount: number, receivedAt: Date) {
  const now = api.clock.now()
  const txid = chargeTxid(fromPublic('charge', id)!)
  const pix = { endToEndId: `E99999999late${id.slice(-16)}`, txid, amount: toCents(amount) }
  await api.app.db.transaction((tx) =>
    matchPayments(tx, api.app, company, [{ ...pix, receivedAt }], { source: 'simulated', now }),
  )
}

/** One thing that happens to a company. */
async function act(client: Client, open: Code[], random: (below: number) => number) {
  const amount = 500 + random(10_000)
  const what = random(10)
  if (what < 4) open.push(await makeCharge(client, amount, { expiresIn: 86_400 * 20 }))
  else if (what < 7 && open.length > 0)
    await pay(api, open.splice(random(open.length), 1)[0]!.brCode)
  else if (what === 7) await pay(api, (await makeCode(client, amount)).brCode)
  else if (what === 8) await makeUnmatched(api, client, amount)
  else if (what === 9) {
    const late = await makeCharge(client, amount, { expiresIn: 86_400 * 20 })
    const createdAt = api.clock.now()
    api.clock.advance(random(9 * 24) * HOUR_S)
    await payLate(client, late, amount, new Date(createdAt.getTime() + random(3600) * 1000))
  }
}

test('the figures are those of a plain recount, whatever happens and whenever one looks', async () => {
  const random = createRandom(17)
  const clients = [await api.client(), await api.client()]
  const open: Code[][] = [[], []]
  let received = 0
  for (let step = 0; step < (isLong ? 150 : 30); step++) {
    const which = random(2)
    await act(clients[which]!, open[which]!, random)
    api.clock.advance(random(4) === 0 ? random(30) * HOUR_S : random(HOUR_S))
    if (random(4) === 0) received += (await readAll(clients[which]!)).today.count
  }
  for (const client of clients) await readAll(client)
  assert.ok(received > 0, 'something was received on the days that were looked at')
})

test('a Pix that pays no charge counts with all that came, once, also if a charge is settled with it', async () => {
  for (const [asked, sent] of [
    [1500, 1400],
    [1500, 1700],
  ]) {
    const client = await api.client()
    await readAll(client)
    const { id, brCode } = await makeCharge(client, asked!)
    const endToEndId = await pay(api, brCode, { amount: sent! })
    api.clock.advance(2 * HOUR_S)
    assert.deepEqual((await readAll(client)).conversion, { made: 1, paid: 0 })
    const path = `/payment/unmatched/${endToEndId}/accept`
    assert.equal((await client.post(path, { chargeId: id })).status, 200)
    const { days, conversion } = await readAll(client)
    const sum = days.reduce((all, day) => all + day.sum, 0)
    assert.deepEqual([sum, conversion], [sent, { made: 1, paid: 1 }])
  }
})

test('payments and looks at the same moment are all counted once', async () => {
  const client = await api.client()
  const charges = await Promise.all(Array.from({ length: 12 }, () => makeCharge(client, 1000)))
  const { app } = api
  const period = daysTogether(30, app.clock.now())
  const looks = Array.from({ length: 8 }, () => readFigures(app, client.company, [period]))
  const rates = Array.from({ length: 8 }, () => readConversion(app, client.company, period))
  await Promise.all([...charges.map(({ brCode }) => pay(api, brCode)), ...looks, ...rates])
  const { today, conversion } = await readAll(client)
  assert.deepEqual(today, { count: 12, sum: 12_000 })
  assert.deepEqual(conversion, { made: 12, paid: 12 })
  api.clock.advance(3 * HOUR_S)
  await readAll(client)
})

test('a company that has moved its clock has figures of its own time', async () => {
  const client = await api.client()
  await pay(api, (await makeCharge(client, 1000)).brCode)
  await readAll(client)
  await played(api, () => advance(client, 8 * 24 * HOUR_S))
  await pay(api, (await makeCharge(client, 2500)).brCode)
  const { today, days } = await readAll(client)
  assert.deepEqual(today, { count: 1, sum: 2500 })
  assert.deepEqual(days.at(-9), { day: dayOf(api.clock.now()), count: 1, sum: 1000 })
})

test('a charge that is written up to an hour after its moment is counted', async () => {
  const client = await api.client()
  const now_s = api.clock.now().getTime() / 1000
  // To the next full hour, and an hour more, so that something is complete.
  api.clock.advance(2 * HOUR_S - (now_s % HOUR_S) + 1)
  await readAll(client)
  for (const late_s of [10, HOUR_S - 10]) {
    api.clock.advance(-late_s)
    await makeCharge(client, 1000)
    api.clock.advance(late_s)
    await readAll(client)
  }
  api.clock.advance(HOUR_S - 2)
  await readAll(client)
  api.clock.advance(-(HOUR_S - 1))
  await makeCharge(client, 1000)
  api.clock.advance(3 * HOUR_S)
  const { conversion } = await readAll(client)
  assert.equal(conversion.made, 3)
})
