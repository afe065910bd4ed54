import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { closeMonth, prepareFigures, readMonth } from '../../src/core/closings/commands.ts'
import { withCompanyClock } from '../../src/core/companies/clock.ts'
import { findCompany } from '../../src/core/companies/store.ts'
import { readConversion } from '../../src/core/figures/figures.ts'
import { matchPayments } from '../../src/core/payments/match.ts'
import { TASK } from '../../src/core/tasks.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { formatReais, toCents } from '../../src/lib/money.ts'
import { chargeTxid } from '../../src/provider/txid.ts'
import { carryOutRefunds } from '../../src/worker/due.ts'
import { TASKS } from '../../src/worker/worker.ts'
import { type Client, startApi, type TestApi } from '../support/api.ts'
import { advance, played } from '../support/clocks.ts'
import { signIn } from '../support/dashboard.ts'
import { decide, openDispute } from '../support/disputes.ts'
import { requireFigures } from '../support/figures.ts'
import { makeCharge, makeCode, makePaid, makeUnmatched, pay } from '../support/payments.ts'

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/** A clock of its own for each test, on 20 August at noon in São Paulo. */
async function opened(): Promise<{ api: TestApi; client: Client }> {
  const api = await startApi()
  return { api, client: await api.client() }
}

/** Sets the clock to a moment. */
const at = (api: TestApi, moment: string): void =>
  api.clock.advance((Date.parse(moment) - api.clock.now().getTime()) / 1000)

/** A payment that the bank names only now, and that it has received before. */
async function payLate(api: TestApi, { company }: Client, id: string, receivedAt: Date) {
  const now = api.clock.now()
  const txid = chargeTxid(fromPublic('charge', id)!)
  const pix = { endToEndId: `E99999999late${id.slice(-16)}`, txid, amount: toCents(4321) }
  await api.app.db.transaction((tx) =>
    matchPayments(tx, api.app, company, [{ ...pix, receivedAt }], { source: 'simulated', now }),
  )
  return pix.endToEndId
}

/** August with something of everything. */
async function august(api: TestApi, client: Client) {
  const { id } = await makePaid(api, client, 1990)
  await pay(api, (await makeCode(client, 250)).brCode)
  const unmatched = await makeUnmatched(api, client, 700)
  const { endToEndId } = await makePaid(api, client, 3300)
  const dispute = await openDispute(client, endToEndId)
  const open = await makeCharge(client, 4321, { expiresIn: 30 * DAY_S })
  return { paid: id, unmatched, dispute: dispute.id, open: open.id }
}

/** What changes afterwards: a refund, decisions about money and a dispute, a late payment. */
async function correct(api: TestApi, client: Client, made: Awaited<ReturnType<typeof august>>) {
  assert.equal((await client.post(`/refund/${made.paid}`, {})).status, 201)
  await carryOutRefunds.run(api.app)
  const path = `/payment/unmatched/${made.unmatched}/accept`
  assert.equal((await client.post(path)).status, 200)
  await decide(client, made.dispute, 'lost')
  return payLate(api, client, made.open, new Date('2026-09-01T02:59:58Z'))
}

/** What a page says, without what is of the session, or a file. Sessions do not last as long. */
async function look(api: TestApi, client: Client, path: string): Promise<string> {
  const member = await signIn(api, client.company, { role: 'finance' })
  const { status, text } = await member.get(path)
  assert.equal(status, 200, text)
  return path.endsWith('.csv') ? text : /<h1>.*<\/main>/s.exec(text)![0]
}

const lateCard = /<section class="card" id="late">.*?<\/section>/s
const linesOf = (text: string) => text.split('\r\n')

test('a month that is closed stays as it was to the byte, whatever is corrected later', async () => {
  const { api, client } = await opened()
  const made = await august(api, client)
  at(api, '2026-09-01T05:00:00Z')
  const both = async () => [
    await look(api, client, '/closing/2026-08'),
    await look(api, client, '/closing/2026-08.csv'),
  ]
  const [page, file] = (await both()) as [string, string]
  assert.match(page, /Fechado/)
  assert.match(page, /Nenhum pagamento deste mês foi lançado depois/)
  for (const one of [made.unmatched, made.dispute]) {
    assert.ok(page.includes(one) && file.includes(one), one)
  }
  const late = await correct(api, client, made)
  api.clock.advance(20 * DAY_S)
  const [after, fileAfter] = (await both()) as [string, string]
  assert.equal(after.replace(lateCard, ''), page.replace(lateCard, ''))
  assert.match(lateCard.exec(after)![0], new RegExp(`${late}.*R\\$ 43,21`, 's'))
  assert.ok(fileAfter.startsWith(file), 'the file only goes on')
  const added = linesOf(fileAfter.slice(file.length)).filter((line) => line !== '')
  assert.match(lateCard.exec(after)![0], /1 pagamento, de R\$ 43,21/)
  assert.equal(added.length, 2)
  assert.match(added[1]!, /^Correções posteriores;Total;;;1;43,21$/)
  assert.match(added[0]!, new RegExp(`^Correções posteriores;.*;${late};;43,21$`))
  await requireFigures(api, client)
})

test('a month that nobody has looked at is closed as it was at its end', async () => {
  const [early, none] = [await opened(), await opened()]
  const pages = []
  for (const { api, client } of [early, none]) {
    const made = await august(api, client)
    at(api, '2026-09-01T05:00:00Z')
    if (api === early.api) await look(api, client, '/closing/2026-08')
    await correct(api, client, made)
    at(api, '2026-12-24T12:00:00Z')
    const page = await look(api, client, '/closing/2026-08')
    for (const id of [made.unmatched, made.dispute]) assert.ok(page.includes(id), id)
    pages.push(/<h2>Resumo<\/h2>.*<h2>Pix sem cobrança/s.exec(page)![0])
    await requireFigures(api, client)
  }
  assert.equal(pages[0], pages[1])
})

test('a Pix that waited at the end of a month is listed, also if the bank names its charge later', async () => {
  const { api, client } = await opened()
  const { id } = await makeCharge(client, 700, { expiresIn: 30 * DAY_S })
  const pix = { endToEndId: 'E99999999named', amount: toCents(700), receivedAt: api.clock.now() }
  const match = (txid: string | null) =>
    api.app.db.transaction((tx) =>
      matchPayments(tx, api.app, client.company, [{ ...pix, txid }], {
        source: 'simulated',
        now: api.clock.now(),
      }),
    )
  await match(null)
  at(api, '2026-09-01T03:30:00Z')
  await match(chargeTxid(fromPublic('charge', id)!))
  at(api, '2026-09-01T05:00:00Z')
  const page = await look(api, client, '/closing/2026-08')
  assert.match(page, /E99999999named.*R\$ 7,00/s)
  assert.doesNotMatch(await look(api, client, '/closing/2026-09'), /E99999999named/)
  const member = await signIn(api, client.company)
  const { location } = await member.get('/unmatched/E99999999named')
  assert.equal(location, `${member.home}/charges/${id}`)
  await requireFigures(api, client)
})

test('what waits is listed with its count and sum, without what was decided', async () => {
  const { api, client } = await opened()
  const ids: string[] = []
  for (const amount of [700, 300, 200, 100]) ids.push(await makeUnmatched(api, client, amount))
  for (const [i, verb] of [
    [1, 'accept'],
    [2, 'refund'],
  ] as const) {
    const { status, body } = await client.post(`/payment/unmatched/${ids[i]}/${verb}`, {})
    assert.ok(status < 300, JSON.stringify(body))
  }
  const { closing } = await readMonth(api.app, client.company, '2026-08')
  const { first, ...total } = closing.unmatched
  assert.deepEqual(total, { count: 2, sum: 800 })
  const listed = first.map(({ endToEndId, amount }) => [endToEndId, amount])
  assert.deepEqual(listed, [
    [ids[0], 700],
    [ids[3], 100],
  ])
  assert.equal(closing.closing.unmatched, 800)
})

test('the month that is running is open, and closes an hour after its end', async () => {
  const { api, client } = await opened()
  await makePaid(api, client, 1000)
  const state = async () =>
    /pill tone \w+">([^<]+)/.exec(await look(api, client, '/closing/2026-08'))![1]
  assert.equal(await state(), 'Em aberto')
  at(api, '2026-09-01T03:59:59Z')
  assert.equal(await state(), 'Em aberto')
  at(api, '2026-09-01T04:00:00Z')
  assert.equal(await state(), 'Fechado')
  assert.match(await look(api, client, '/closing/2026-09'), /Em aberto/)
})

test('last month is closed in three clicks from Today, and its total is that of the ledger', async () => {
  const { api, client } = await opened()
  await august(api, client)
  at(api, '2026-09-02T12:00:00Z')
  const [ledger] = await api.rows<{ total: number }>(
    `select available + pending + held + unmatched + disputed + recipients as total
     from balances where company_id = $1`,
    [client.company.id],
  )
  await makePaid(api, client, 99_999)
  const member = await signIn(api, client.company, { role: 'finance' })
  let path = ''
  for (const link of ['/balance', '/closing', '/closing/2026-08']) {
    const { text } = await member.get(path)
    assert.ok(text.includes(`href="${member.home}${link}"`), `${path || '/'} leads to ${link}`)
    path = link
  }
  const { text } = await member.get(path)
  const [, total] = /Saldo final<\/td>.*?R\$ ([\d.,]+)/s.exec(text)!
  assert.equal(`R$ ${total}`, formatReais(ledger!.total))
  assert.match(text, /confere com o livro-razão/)
})

test('in January the list has last month too, and a year when one is chosen', async () => {
  const { api, client } = await opened()
  at(api, '2027-01-02T12:00:00Z')
  const member = await signIn(api, client.company, { role: 'finance' })
  const monthsIn = (text: string) =>
    [...text.matchAll(/closing\/(\d{4}-\d\d)"/g)].map(([, one]) => one)
  const { text } = await member.get('/closing')
  assert.deepEqual(monthsIn(text).slice(0, 2), ['2027-01', '2026-12'])
  assert.deepEqual(monthsIn((await member.get('/closing?year=2027')).text), ['2027-01'])
})

test('a month before the company, in the future, or that is none does not exist', async () => {
  const { api, client } = await opened()
  const member = await signIn(api, client.company)
  for (const month of ['2026-07', '2026-09', '2026-13', '2026-8', 'x', '2026-08-01']) {
    assert.equal((await member.get(`/closing/${month}`)).status, 404, month)
    assert.equal((await member.get(`/closing/${month}.csv`)).status, 404, month)
  }
})

test('the worker closes months and counts, so that nobody has to look first', async () => {
  const { api, client } = await opened()
  await august(api, client)
  at(api, '2026-10-01T12:00:00Z')
  const task = TASKS.find(({ name }) => name === TASK.audit)!
  assert.ok('run' in task)
  await task.run(api.app, new AbortController().signal)
  const closed = await api.rows<{ month: string; last_entry: number }>(
    'select month::text, last_entry from closings where company_id = $1 order by month',
    [client.company.id],
  )
  assert.deepEqual(
    closed.map(({ month }) => month),
    ['2026-08-01', '2026-09-01'],
  )
  const [{ entries }] = (await api.rows<{ entries: number }>(
    'select entries from balances where company_id = $1',
    [client.company.id],
  )) as [{ entries: number }]
  assert.equal(closed[0]!.last_entry, entries)
})

test('of a clock that was moved by years the worker closes some months at a time, in their order', async () => {
  const { api, client } = await opened()
  await makePaid(api, client, 1000)
  at(api, '2029-08-20T15:00:00Z')
  const company = (await findCompany(api.app.db, client.company.id))!
  const closed = async () => {
    await prepareFigures(withCompanyClock(api.app, company), company)
    const rows = await api.rows<{ month: string }>(
      'select month::text from closings where company_id = $1 order by month',
      [company.id],
    )
    return [rows.length, rows.at(-1)!.month]
  }
  assert.deepEqual(await closed(), [24, '2028-07-01'])
  assert.deepEqual(await closed(), [36, '2029-07-01'])
  assert.deepEqual(await closed(), [36, '2029-07-01'])
})

test('no month is closed early by a machine whose clock is ahead of the database’s', async () => {
  const real = new Date('2026-08-20T15:00:00Z')
  const api = await startApi({}, { databaseTime: async () => real })
  const client = await api.client()
  await makePaid(api, client, 1990)
  const company = (await findCompany(api.app.db, client.company.id))!
  at(api, '2026-11-24T12:00:00Z')
  await prepareFigures(withCompanyClock(api.app, company), company)
  assert.match(await look(api, client, '/closing/2026-08'), /Em aberto/)
  assert.match(await look(api, client, '/closing'), /Em aberto/)
  await readConversion(api.app, company, { from: real, to: new Date('2026-08-21T03:00:00Z') })
  assert.deepEqual(await api.rows('select month from closings'), [])
  at(api, '2026-08-20T15:30:00Z')
  await makePaid(api, client, 123_400)
  assert.match(await look(api, client, '/closing/2026-08'), /1\.253,90/)
  await requireFigures(api, client)
})

test('a month that is closed stays closed while clocks differ', async () => {
  const apart = { ms: 0 }
  const databaseTime = async () => new Date(api.clock.now().getTime() - apart.ms)
  const api = await startApi({}, { databaseTime })
  const client = await api.client()
  await makePaid(api, client, 1990)
  at(api, '2026-09-01T05:00:00Z')
  const page = await look(api, client, '/closing/2026-08')
  apart.ms = -40 * DAY_S * 1000
  at(api, '2026-08-20T15:00:00Z')
  assert.equal(await look(api, client, '/closing/2026-08'), page)
  assert.match(await look(api, client, '/closing'), /Fechado/)
})

test('a sandbox closes its months by its own clock', async () => {
  const { api, client } = await opened()
  await august(api, client)
  await played(api, () => advance(client, 20 * DAY_S))
  assert.match(await look(api, client, '/closing/2026-08'), /Fechado/)
  await requireFigures(api, client)
})

test('many who look at once close a month once, and payments do not wait for them', async () => {
  const { api, client } = await opened()
  await august(api, client)
  at(api, '2026-09-01T05:00:00Z')
  const charges = await Promise.all(Array.from({ length: 6 }, () => makeCharge(client, 1000)))
  const looks = Array.from({ length: 6 }, () => look(api, client, '/closing/2026-08'))
  const [pages] = await Promise.all([
    Promise.all(looks),
    ...charges.map(({ brCode }) => pay(api, brCode)),
  ])
  assert.equal(new Set(pages).size, 1)
  await requireFigures(api, client)
})

test('an entry that a slow clock dates in a closed month belongs to the next one', async () => {
  const { api, client } = await opened()
  const { open } = await august(api, client)
  at(api, '2026-09-01T04:00:00Z')
  const before = await look(api, client, '/closing/2026-08')
  at(api, '2026-09-01T02:59:00Z')
  const late = await payLate(api, client, open, api.clock.now())
  at(api, '2026-09-01T04:00:00Z')
  const after = await look(api, client, '/closing/2026-08')
  assert.equal(after.replace(lateCard, ''), before.replace(lateCard, ''))
  assert.ok(lateCard.exec(after)![0].includes(late))
  assert.match(await look(api, client, '/closing/2026-09'), /R\$ 43,21/)
})

test('a closing cannot be changed, and a whole audit finds one that differs', async () => {
  const { api, client } = await opened()
  await makePaid(api, client, 1000)
  const { id } = client.company
  at(api, '2026-09-02T12:00:00Z')
  const company = (await findCompany(api.app.db, id))!
  await closeMonth(withCompanyClock(api.app, company), company, '2026-08')
  const faultsOf = async () => (await auditCompany(api.app, id, { whole: true })).faults
  assert.deepEqual(await faultsOf(), [])
  for (const change of ['update closings set last_entry = 1', 'delete from closings']) {
    await assert.rejects(api.rows(`${change} where company_id = $1`, [id]), /never changed/)
  }
  await api.rows(
    `insert into closings select company_id, '2026-07-01', last_entry,
       jsonb_set(record, '{closing,available}', '1'), closed_at from closings
     where company_id = $1`,
    [id],
  )
  assert.deepEqual(await faultsOf(), ['the closing of 2026-07 differs from its postings'])
})
