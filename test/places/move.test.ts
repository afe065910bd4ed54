import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { CHANGES, LISTENER, QUESTION } from '../../src/core/companies/announce.ts'
import { readTables } from '../../src/core/company-tables/tables.ts'
import { cancelMove, moveCompany, type Step } from '../../src/core/moves/move.ts'
import { locate } from '../../src/core/places/directory.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { noticeCharges } from '../../src/core/reminders/commands.ts'
import { indexStop } from '../../src/core/reminders/stops.ts'
import { insertStop } from '../../src/core/reminders/store.ts'
import { fromPublic, type Uuid } from '../../src/lib/ids.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { isLong } from '../support/long.ts'
import { until } from '../support/until.ts'
import { killMoverAt } from './killed-mover.ts'

const api = await startApi({}, { places: 2 })
const [first, second] = appsOf(api.app) as [typeof api.app, typeof api.app]
const databases = [first.db, second.db]
const QUICK = { workers_ms: 0, grace_ms: 0 }

/** A company with something in most tables. */
async function makeShop(): Promise<Client> {
  const client = await api.client()
  await client.post('/webhook', {
    name: 'shop',
    url: 'http://127.0.0.1:1/nobody',
    events: ['charge.paid', 'charge.pending'],
  })
  await client.post('/product', { name: 'Pão "d\'água", \\ã', description: '{x}', price: 100 })
  for (let n = 0; n < 3; n += 1) {
    const made = await client.post('/charge/pix', {
      amount: 1000 + n,
      customer: payer(),
      devMode: true,
    })
    assert.equal(made.status, 201)
    if (n > 0) continue
    const paid = await client.post(`/charge/${made.body.data.id}/simulate-payment`, {})
    assert.equal(paid.status, 200, paid.text)
  }
  await logged()
  return client
}

/** Gives a company reminders, one that was said, and a payer who wants none. */
async function remind(client: Client): Promise<void> {
  const { id } = client.company
  const rules = [{ day: -3, enabled: true, channel: 'EMAIL' }]
  assert.equal((await client.put('/reminder', { rules })).status, 200)
  const terms = { dueDate: '2026-08-28', customer: payer(), devMode: true }
  const made = await client.post('/charge/pix', { amount: 1000, ...terms })
  const then = { ...second, clock: { now: () => new Date('2026-08-25T15:00:00Z') } }
  const charges = [fromPublic('charge', made.body.data.id)!]
  await second.db.transaction((tx) => noticeCharges(tx, then, id, charges))
  const index = indexStop(second.vault, id, payer().email)
  await insertStop(second.db, id, index, second.systemClock.now())
}

/** Waits for what is written after the answers. */
const logged = () =>
  Promise.all(
    appsOf(api.app).flatMap(({ requestLog, lateActivity }) => [
      requestLog.idle(),
      lateActivity.idle(),
    ]),
  )

/** All rows of a company in a place, as PostgreSQL writes them. */
async function rowsIn(place: number, companyId: string): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: api.places[place - 1]! })
  await client.connect()
  try {
    const found: Record<string, string[]> = {}
    for (const { name, company } of await readTables(client)) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from ${name} t where ${company} = $1 order by 1`,
        [companyId],
      )
      found[name] = rows.map(({ row }) => row)
    }
    const { rows } = await client.query('select 1 from company_moves where company_id = $1', [
      companyId,
    ])
    const triggers = await client.query('select 1 from pg_trigger where tgname like $1', [
      `moving_${companyId.replaceAll('-', '')}%`,
    ])
    found.left = [...rows, ...triggers.rows].map(String)
    return found
  } finally {
    await client.end()
  }
}

const isEmpty = (rows: Record<string, string[]>) =>
  Object.entries(rows).flatMap(([name, own]) => (own.length > 0 ? [name] : []))

/** What is written by the requests of this test itself. */
function withoutLogs({ activity, api_requests, api_keys, ...rest }: Record<string, string[]>) {
  return { ...rest, keys: String(api_keys?.length) }
}

test('a company is moved with every row, and works on with the same key and cursor', async () => {
  const client = await makeShop()
  const { id } = client.company
  await remind(client)
  const { body: feed } = await client.get('/event?limit=2')
  const cursor = feed.data.at(-1).id
  await logged()
  const before = await rowsIn(2, id)
  await moveCompany({ companyId: id, urls: api.places, from: 2, to: 1, ...QUICK })
  const after = await rowsIn(1, id)
  assert.deepEqual(withoutLogs(after), withoutLogs(before))
  const ofReminders = ['reminder_rules', 'reminder_changes', 'reminders', 'reminder_stops']
  assert.deepEqual(
    ofReminders.map((name) => after[name]!.length),
    [1, 1, 1, 1],
  )
  for (const row of before.activity!) assert.ok(after.activity!.includes(row))
  assert.deepEqual(isEmpty(await rowsIn(2, id)), [])
  const made = await client.post('/charge/pix', { amount: 7700, customer: payer() })
  assert.equal(made.status, 201)
  const newest = await until('the event of the new place', async () => {
    const { body } = await client.get(`/event?after=${cursor}&wait=5`)
    const ids = body.data.map(({ data }: { data: { charge: { id: string } } }) => data.charge.id)
    return ids.includes(made.body.data.id) ? ids.at(-1) : null
  })
  assert.equal(newest, made.body.data.id)
  const { faults } = await auditCompany(first, id, { whole: true })
  assert.deepEqual(faults, [])
  const page = await api.call(
    'GET',
    new URL(made.body.data.paymentUrl ?? `${api.url}/docs/`).pathname,
  )
  assert.equal(page.status, 200)
})

test('a move that is killed at any step goes on, and the company answers in between', async () => {
  const client = await makeShop()
  const { id } = client.company
  const all: Step[] = ['prepared', 'copied', 'caught up', 'locked', 'ready', 'left', 'arrived']
  const steps = isLong ? all : all.slice(-3)
  let acknowledged = 0
  const work = async () => {
    const order = { amount: 500, customer: payer(), externalId: `n${acknowledged}` }
    const made = await client.post('/charge/pix', order)
    assert.equal(made.status, 201, made.text)
    acknowledged += 1
  }
  for (const step of steps) {
    await killMoverAt(api, id, step)
    await work()
    const place = await locate(databases, id)
    assert.equal(place, ['left', 'arrived'].includes(step) ? 0 : 1, step)
  }
  await logged()
  const before = await rowsIn(1, id)
  await moveCompany({ companyId: id, urls: api.places, from: 2, to: 1, ...QUICK })
  assert.deepEqual(isEmpty(await rowsIn(2, id)), [])
  const after = await rowsIn(1, id)
  assert.equal(after.charges!.length, 3 + acknowledged)
  assert.deepEqual(after.charges, before.charges)
  assert.deepEqual(after.left, [])
  assert.deepEqual((await auditCompany(first, id, { whole: true })).faults, [])
})

test('a move that is canceled leaves nothing in the other place', async () => {
  const client = await makeShop()
  const { id } = client.company
  await killMoverAt(api, id, 'caught up')
  await cancelMove({ companyId: id, urls: api.places, from: 2, to: 1 })
  assert.deepEqual(isEmpty(await rowsIn(1, id)), [])
  const { left } = await rowsIn(2, id)
  assert.deepEqual(left, [])
  assert.equal((await client.get('/charge')).body.data.length, 3)
})

/** Moves a company, and gives up at a step. */
const stopAt = (companyId: Uuid, last: Step) =>
  assert.rejects(
    moveCompany({
      companyId,
      urls: api.places,
      from: 2,
      to: 1,
      ...QUICK,
      onStep(step) {
        if (step === last) throw new Error('stop')
      },
    }),
    /was interrupted: stop\. The same command goes on\.$/,
  )

test('a move that has left cannot be canceled, and loses nothing', async () => {
  const client = await makeShop()
  const { id: companyId } = client.company
  const move = { companyId, urls: api.places, from: 2, to: 1 }
  for (const step of ['left', 'arrived'] as const) {
    await stopAt(companyId, step)
    const [there, here] = [await rowsIn(1, companyId), await rowsIn(2, companyId)]
    await assert.rejects(cancelMove(move), { message: 'The company has left this place already.' })
    assert.deepEqual(await rowsIn(1, companyId), there)
    assert.deepEqual(await rowsIn(2, companyId), here)
    assert.equal(there.charges!.length, 3)
  }
  await moveCompany({ ...move, ...QUICK })
  assert.deepEqual(isEmpty(await rowsIn(2, companyId)), [])
  assert.equal((await client.get('/charge')).body.data.length, 3)
})

test('the rows in the old place stay while a server does not answer', async (t) => {
  const client = await makeShop()
  const { id: companyId } = client.company
  const move = { companyId, urls: api.places, from: 2, to: 1, ...QUICK }
  const before = await rowsIn(2, companyId)
  const server = new pg.Client({ connectionString: api.places[1]!, application_name: LISTENER })
  await server.connect()
  const { rows } = await server.query('select pg_backend_pid() as pid')
  await server.query(`listen ${CHANGES}`)
  let questions = 0
  server.on('notification', ({ payload }) => {
    if (!payload?.startsWith(QUESTION)) return
    questions += 1
    // It does not answer for as long as it is waited for.
    t.mock.timers.tick(3000)
  })
  const onStep = (step: Step) => {
    if (step === 'left') t.mock.timers.enable({ apis: ['setTimeout'] })
  }
  await assert.rejects(
    moveCompany({ ...move, onStep }),
    /lives in place 1, but a server does not answer.* Its rows in place 2 stay until/,
  )
  t.mock.timers.reset()
  assert.ok(questions > 0)
  const { companies, charges, postings } = await rowsIn(2, companyId)
  assert.deepEqual(
    [companies, charges, postings],
    [before.companies, before.charges, before.postings],
  )
  assert.equal(await locate(databases, companyId), 0)
  await server.end()
  const text = 'select from pg_stat_activity where pid = $1'
  await until('the end of the server', async () => {
    const found = await second.db.query({ text, values: [rows[0].pid] })
    return found.length === 0 ? true : null
  })
  await moveCompany(move)
  assert.deepEqual(isEmpty(await rowsIn(2, companyId)), [])
})
