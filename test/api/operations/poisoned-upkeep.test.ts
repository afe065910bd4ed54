import assert from 'node:assert/strict'
import { test } from 'node:test'
import { purge } from '../../../src/core/deliveries/store.ts'
import { claimCallbacks } from '../../../src/core/payments/store.ts'
import { countSetbacks, listSetbacks, pauseAfter_ms } from '../../../src/core/setbacks.ts'
import { newId } from '../../../src/lib/ids.ts'
import { MAX_IN_ACCOUNT } from '../../../src/provider/simulator/records.ts'
import { collectDue, processDueCallbacks, watchWebhooks } from '../../../src/worker/due.ts'
import { guarded, workOff } from '../../../src/worker/loop.ts'
import { removeOld } from '../../../src/worker/retention.ts'
import { clearQueue } from '../../../src/worker/webhooks.ts'
import { type Client, startApi } from '../../support/api.ts'
import { approvedSubscription } from '../../support/billing.ts'
import { makePaid } from '../../support/payments.ts'
import { cure, poisonRows } from '../../support/poison.ts'
import { dueNow } from '../../support/requests.ts'
import { register } from '../../support/webhooks.ts'

const api = await startApi()
const { app, clock } = api

const count = async (text: string, { company }: Client): Promise<number> =>
  (await api.rows<{ n: number }>(`select count(*)::int as n from ${text}`, [company.id]))[0]!.n

/** A collection that the simulated bank is to try now, or in so many seconds. */
async function scheduleCollection({ company }: Client, amount: number, in_s = 0): Promise<void> {
  const at = new Date(clock.now().getTime() + in_s * 1000)
  await api.rows(
    `insert into simulated_collections
       (account_id, id, agreement_id, amount, due_on, status, attempts, next_at)
     select account_id, $2, id, $3, $6::date, 'SCHEDULED', $5, $4
     from simulated_agreements where account_id = $1`,
    [company.id, newId(), amount, at, '[{"on":"2026-08-20","status":"SCHEDULED"}]', at],
  )
}

/** Work for every task of upkeep. */
async function makeDue(client: Client): Promise<void> {
  const { company } = client
  const url = 'http://127.0.0.1:9/'
  const inactive = await register(client, url, ['charge.paid'])
  const failing = await register(client, url, ['charge.expired'])
  await makePaid(api, client, 700)
  await api.rows(`update webhooks set status = 'INACTIVE' where id = $1`, [inactive.id])
  await api.rows(
    `insert into delivery_log (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
     select $1, $2, gen_random_uuid(), 'FAILED', '[]', at, at
     from (select $3::timestamptz - interval '1 year' as at) old`,
    [company.id, failing.id, clock.now()],
  )
  await api.rows(
    `update webhooks set failing_since = $2::timestamptz - interval '5 days', failed_at = $2,
       failures = 9 where id = $1`,
    [failing.id, clock.now()],
  )
  await approvedSubscription(api, client)
  await scheduleCollection(client, 700)
}

const isDone = async (client: Client) => ({
  cleared: (await count('deliveries where company_id = $1', client)) === 0,
  purged: (await count(`delivery_log where company_id = $1 and attempts = '[]'`, client)) === 0,
  warned: (await count('webhooks where company_id = $1 and warned_at is not null', client)) === 1,
  collected:
    (await count(`simulated_collections where account_id = $1 and status = 'PAID'`, client)) === 1,
})

const all = (state: boolean) => ({
  cleared: state,
  purged: state,
  warned: state,
  collected: state,
})

test('a company whose records cannot be changed keeps nobody else waiting in tasks of upkeep', async () => {
  const [sick, well] = [await api.client(), await api.client()]
  await makeDue(sick)
  await makeDue(well)
  const tables = ['delivery_log', 'webhooks', 'simulated_collections']
  await poisonRows(api, sick.company.id, tables)
  const tasks = [clearQueue, removeOld, watchWebhooks.run, collectDue.run]
  for (const task of tasks) await task(app)
  assert.deepEqual(await isDone(well), all(true))
  assert.deepEqual(await isDone(sick), all(false))
  const aside = await listSetbacks(app.db, clock.now())
  assert.ok(aside.every(({ companyId }) => companyId === sick.company.id))
  assert.deepEqual(aside.map(({ task }) => task).sort(), [
    'clear the queue',
    'collect at the simulated bank',
    'remove old data',
    'watch webhooks',
  ])
  await cure(api)
  for (const task of tasks) await task(app)
  assert.deepEqual(await isDone(sick), all(false), 'it is left alone')
  clock.advance(5)
  for (const task of tasks) await task(app)
  assert.deepEqual(await isDone(sick), all(true))
  assert.deepEqual(await listSetbacks(app.db, new Date(0)), [])
})

test('callbacks of companies alternate: a backlog of one company is taken a part at a time', async () => {
  const [large, small] = [await api.client(), await api.client()]
  const store = (client: Client, n: number) =>
    api.rows(
      `insert into bank_callbacks (company_id, id, provider, sealed, received_at, next_attempt_at)
       select $1, gen_random_uuid(), 'simulator', '', $2, $2 from generate_series(1, $3)`,
      [client.company.id, clock.now(), n],
    )
  await store(large, 900)
  clock.advance(1)
  await store(small, 1)
  const of = (client: Client, claimed: { companyId: string }[]) =>
    claimed.filter(({ companyId }) => companyId === client.company.id).length
  const claimed = await claimCallbacks(app.db, { ...dueNow(app, 512), each: 64 })
  assert.deepEqual([of(large, claimed), of(small, claimed)], [64, 1])
  await processDueCallbacks.run(app)
  assert.equal(
    await count('bank_callbacks where company_id = $1 and attempts = 0', large),
    900 - 2 * 64,
    'what cannot be opened sets its company aside',
  )
  assert.deepEqual(
    (await listSetbacks(app.db, clock.now())).map(({ task }) => task),
    ['settle callbacks'],
  )
  await api.rows('update bank_callbacks set attempts = 50, next_attempt_at = $1', [clock.now()])
  clock.advance(5)
  await processDueCallbacks.run(app)
  const given = await count(
    'bank_callbacks where company_id = $1 and processed_at is not null',
    large,
  )
  assert.equal(given, 0, 'what fails here is never given up')
  await api.rows('delete from bank_callbacks')
})

test('what an account at the simulated bank has no room for is not collected', async () => {
  const client = await api.client()
  await approvedSubscription(api, client)
  await api.rows(
    `insert into simulated_transfers (account_id, end_to_end_id, direction, amount, at)
     values ($1, $2, 'received', $3, $4)`,
    [client.company.id, `E99999999${'0'.repeat(23)}`, MAX_IN_ACCOUNT - 1000, clock.now()],
  )
  for (const amount of [600, 500, 400]) await scheduleCollection(client, amount)
  clock.advance(1)
  await collectDue.run(app)
  const rows = await api.rows<{ amount: number; status: string }>(
    'select amount, status from simulated_collections where account_id = $1 order by amount',
    [client.company.id],
  )
  const paid = rows.filter(({ status }) => status === 'PAID').map(({ amount }) => amount)
  assert.ok(paid.reduce((sum, amount) => sum + amount, 0) <= 1000, `${paid}`)
  assert.ok(paid.length > 0)
  assert.deepEqual([...new Set(rows.map(({ status }) => status))].sort(), ['FAILED', 'PAID'])
  const [account] = await api.rows<{ balance: number; sum: number }>(
    `select balance, (select sum(case direction when 'received' then amount else -amount end)::int8
       from simulated_transfers t where t.account_id = a.account_id) as sum
     from simulated_accounts a where account_id = $1`,
    [client.company.id],
  )
  assert.equal(account!.balance, account!.sum)
})

test('repeated failures have the time of the first, and those in progress together count once', async () => {
  const { company } = await api.client()
  const began = clock.now()
  const fail = () => app.setbacks.failed('audit', company.id, new Error('x'))
  const reported = async () => {
    const all = await listSetbacks(app.db, clock.now())
    const own = all.filter(({ companyId }) => companyId === company.id)
    return own.map(({ failures, since }) => [failures, since])
  }
  await Promise.all([fail(), fail(), fail()])
  assert.deepEqual(await reported(), [[1, began]])
  clock.advance(5)
  assert.deepEqual(app.setbacks.companiesOf('audit'), [])
  assert.deepEqual(await reported(), [[1, began]], 'until it is tried again')
  await fail()
  assert.deepEqual(await reported(), [[2, began]])
  clock.advance(9)
  assert.deepEqual(app.setbacks.companiesOf('audit'), [company.id])
  await app.setbacks.worked('audit', company.id)
  assert.deepEqual([app.setbacks.companiesOf('audit'), await reported()], [[], []])
})

test('a company that fails each time is counted all the time, and not for ever', async () => {
  const { company } = await api.client()
  const task = 'only here'
  const counted = async () => {
    const counts = await countSetbacks(app.db, clock.now())
    return counts.find((one) => one.task === task)?.count ?? 0
  }
  for (const failures of [1, 2, 3, 4, 5, 6, 7, 8]) {
    await app.setbacks.failed(task, company.id, new Error('x'))
    assert.equal(await counted(), 1)
    // The bank lets it wait before it fails again, and old data are removed meanwhile.
    clock.advance(pauseAfter_ms(failures) / 1000 + 75)
    await removeOld(app)
    assert.equal(await counted(), 1, `after ${failures}`)
  }
  clock.advance(600)
  assert.equal(await counted(), 0, 'its process may have ended')
})

test('work for one company alone is done though it is set aside, and does not set it aside', async () => {
  const { company } = await api.client()
  const task = 'expire charges'
  await app.setbacks.failed(task, company.id, new Error('x'))
  const asked: string[][] = []
  const work = {
    task,
    signal: undefined,
    atOnce: 1,
    failed: 'failed',
    async find(except: string[]) {
      asked.push(except)
      return { due: new Map([[company.id, null]]), isFull: false }
    },
    act: async () => 1,
  }
  await workOff(app, { ...work, only: company.id })
  await app.setbacks.failed(task, company.id, new Error('x'))
  await workOff(app, { ...work, only: null })
  assert.deepEqual(asked, [[], [company.id]])
  await app.setbacks.worked(task, company.id)
  const act = () => Promise.reject(new Error('x'))
  assert.equal(await guarded(app, { ...work, only: company.id }, company.id, act, 7), 7)
  assert.deepEqual(app.setbacks.companiesOf(task), [])
})

test('rounds end when there is much due and nothing of it can be done', async () => {
  const ids = [newId(), newId()]
  let parts = 0
  await workOff(app, {
    task: 'x',
    only: null,
    signal: undefined,
    atOnce: 1,
    failed: 'failed',
    async find(except: string[]) {
      parts += 1
      assert.ok(parts < 10, 'it goes on and on')
      const companies = ids.filter((id) => !except.includes(id)).slice(0, 1)
      return { due: new Map(companies.map((id) => [id, null])), isFull: true }
    },
    act: async () => 0,
  })
  assert.equal(parts, 3)
})

test('a company in its own time that is set aside is collected for when that is over', async () => {
  const client = await api.client()
  await approvedSubscription(api, client)
  await api.rows('insert into test_clocks (company_id, ahead_ms) values ($1, 60000)', [
    client.company.id,
  ])
  await scheduleCollection(client, 700, 60)
  const collected = () =>
    count(`simulated_collections where account_id = $1 and status = 'PAID'`, client)
  await app.setbacks.failed('collect at the simulated bank', client.company.id, new Error('x'))
  await collectDue.run(app)
  assert.equal(await collected(), 0)
  clock.advance(5)
  await collectDue.run(app)
  assert.equal(await collected(), 1)
})

test('a row of the log that lies where an old one lay is not deleted with it', async () => {
  const client = await api.client()
  await api.rows(
    `insert into delivery_log (company_id, webhook_id, event_id, status, attempts, created_at,
       finished_at) values ($1, $2, $2, 'FAILED', '[]', $3, $3)`,
    [client.company.id, newId(), clock.now()],
  )
  const [row] = await api.rows<{ ctid: string }>(
    'select ctid::text from delivery_log where company_id = $1',
    [client.company.id],
  )
  const before = (s: number) => new Date(clock.now().getTime() + s * 1000)
  const rows = [row!.ctid]
  assert.equal(await purge(app.db, client.company.id, rows, before(-1)), 0)
  assert.equal(await purge(app.db, newId(), rows, before(1)), 0)
  assert.equal(await purge(app.db, client.company.id, rows, before(1)), 1)
})
