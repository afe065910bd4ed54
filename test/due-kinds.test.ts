import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DUE_BILLINGS } from '../src/core/billings/store.ts'
import { insert as insertIntents, ORPHANS } from '../src/core/charges/intent-store.ts'
import { BANK_GRACE_MS } from '../src/core/charges/rules.ts'
import { EXPIRING, EXPIRING_AT_BANKS, NOTICES, RELEASING } from '../src/core/charges/store.ts'
import { dueOf } from '../src/core/clocks/commands.ts'
import { DEFENSES, NOTICES as DISPUTE_NOTICES } from '../src/core/disputes/store.ts'
import { claimDue, type DueKind, findDue, readOldest, readQueues } from '../src/core/due.ts'
import { DUE_MAILS } from '../src/core/mails/store.ts'
import { DUE_CALLBACKS } from '../src/core/payments/store.ts'
import { RECONCILING } from '../src/core/reconciliation-schedule.ts'
import { GENERATING, UNDECIDED } from '../src/core/recurrences/store.ts'
import { DUE_REFUNDS } from '../src/core/refunds/store.ts'
import { insertChange, RULE_CHANGES } from '../src/core/reminders/store.ts'
import { COLLECTING } from '../src/core/simulated-bank/collections.ts'
import { failureAction, WARN_AFTER_MS } from '../src/core/webhooks/rules.ts'
import { FAILING } from '../src/core/webhooks/store.ts'
import { DUE_PAYOUTS, EXPIRING as EXPIRING_CODES } from '../src/core/withdrawals/store.ts'
import { newId } from '../src/lib/ids.ts'
import { DUE_TASKS } from '../src/worker/due.ts'
import { TASKS } from '../src/worker/worker.ts'
import { type Client, startApi } from './support/api.ts'
import { openBanked } from './support/bank.ts'
import { approvedSubscription } from './support/billing.ts'
import { openDispute } from './support/disputes.ts'
import { makeCharge, makePaid } from './support/payments.ts'
import { dueNow } from './support/requests.ts'
import { makeSubscription } from './support/subscriptions.ts'
import { makeReceiver, register } from './support/webhooks.ts'
import { confirmed, start } from './support/withdrawals.ts'

const api = await startApi()
const { app, clock, rows } = api
const HALF_HOUR_S = 1800

/** Every kind by the name that operators see, except deliveries, which are not claimed by rows. */
const KINDS = {
  'expire charges': EXPIRING,
  'receive charges': RELEASING,
  'due dates': NOTICES,
  'follow reminder rules': RULE_CHANGES,
  'settle callbacks': DUE_CALLBACKS,
  reconcile: RECONCILING,
  'remove orphans': ORPHANS,
  'carry out refunds': DUE_REFUNDS,
  'send defenses': DEFENSES,
  'deadlines of disputes': DISPUTE_NOTICES,
  'expire withdrawals': EXPIRING_CODES,
  'pay out withdrawals': DUE_PAYOUTS,
  'follow agreements': UNDECIDED,
  'generate charges': GENERATING,
  'bill charges': DUE_BILLINGS,
  'collect at the simulated bank': COLLECTING,
  'watch webhooks': FAILING,
  'send mail': DUE_MAILS,
} satisfies Record<string, DueKind>

const AT_BANKS = 'expire charges at banks'
const REAL_TIME = ['reconcile', 'remove orphans', 'send mail', 'settle callbacks']

type Work = { client: Client; other: Client }
const companyOf = ({ company = 'company_id' }: DueKind) => `d.${company}`

/** Two companies with work of every kind and of deliveries, whose moment is in half an hour. */
async function makeWork(): Promise<Work> {
  const [client, other] = [await api.client(), await api.client()]
  const { id: companyId } = client.company
  await makeReceiver(client, ['charge.paid'])
  await client.post(`/refund/${(await makePaid(api, client, 700)).id}`)
  await makePaid(api, client, 1990)
  for (const isDefended of [true, false]) {
    const { id } = await openDispute(client, (await makePaid(api, client, 1990)).endToEndId)
    if (isDefended) await client.post(`/dispute/${id}/defense`, { text: 'Entregue.' })
  }
  await makeCharge(client, 600)
  await makeCharge(client, 600, { dueDate: '2026-09-01' })
  await insertChange(app.db, companyId, clock.now())
  await confirmed(api, client, 5000)
  await start(other, 700)
  await approvedSubscription(api, client)
  for (const { run, name } of DUE_TASKS) if (name === 'generate charges') await run(app)
  await approvedSubscription(api, client)
  await makeSubscription(client)
  const now = clock.now()
  const [agreement] = await rows<{ id: string }>(
    'select id from simulated_agreements where account_id = $1 limit 1',
    [companyId],
  )
  await rows(
    `insert into simulated_collections
       (account_id, id, agreement_id, amount, due_on, status, attempts, next_at)
     values ($1, $2, $3, 700, $4::date, 'SCHEDULED', '[]', $4)`,
    [companyId, newId(), agreement!.id, now],
  )
  const intent = { companyId, id: newId(), createdAt: now, expiresAt: now, hasDueDate: false }
  await insertIntents(app.db, [{ ...intent, guard: null, leasedUntil: now }])
  await rows('update bank_callbacks set processed_at = null')
  const failing = await register(client, 'http://127.0.0.1:9/', ['charge.expired'])
  await rows(`update webhooks set failing_since = $2, failed_at = $3, failures = 9 where id = $1`, [
    failing.id,
    now,
    new Date(now.getTime() + HALF_HOUR_S * 1000),
  ])
  const moment_ms = now.getTime() + HALF_HOUR_S * 1000
  for (const [name, kind] of Object.entries<DueKind>(KINDS)) {
    const due_ms = kind === FAILING ? moment_ms - WARN_AFTER_MS : moment_ms
    const moved = await rows(
      `update ${kind.table} d set ${kind.dueAt} = $1
       where ${companyOf(kind)} in ($2, $3) and ${kind.where} returning 1`,
      [new Date(due_ms), companyId, other.company.id],
    )
    assert.ok(moved.length > 0, `there is work of ${name}`)
  }
  await rows('update deliveries set next_attempt_at = $1', [new Date(moment_ms)])
  return { client, other }
}

/** The number of rows that workers would take, which stay as they are. */
async function taken(kind: DueKind, only: string | null = null): Promise<number> {
  if (only !== null && kind.isRealTime) return 0
  const undo = new Error('undo')
  let count = 0
  const request = dueNow(app, 100, only)
  await app.db
    .transaction(async (tx) => {
      const { due } = await findDue(tx, kind, request)
      const found = [...due.values()].reduce((sum, { ids }) => sum + ids.length, 0)
      const claims = 'lease' in kind || kind.set || kind === DUE_BILLINGS || kind === RECONCILING
      count = claims ? (await claimDue(tx, kind, request, '1')).length : found
      assert.equal(count, found, kind.name)
      throw undo
    })
    .catch((error) => assert.equal(error, undo))
  return count
}

/** What everybody who can be asked says is due now: they must agree for every kind. */
async function whatIsDue(
  { client, other }: Work,
  since_ms: number | null = null,
): Promise<string[]> {
  const now = clock.now()
  const queues = new Map((await readQueues(app.db, app.due, now)).map((one) => [one.name, one]))
  const oldest = new Map((await readOldest(app.db, app.due, now)).map((one) => [one.name, one]))
  const due: string[] = []
  for (const [name, kind] of Object.entries<DueKind>(KINDS)) {
    const count = await taken(kind)
    assert.equal(queues.get(name)!.due, count, `${name} is counted as it is done`)
    for (const { since } of [queues.get(name)!, oldest.get(name)!]) {
      assert.equal(since !== null && since <= now, count > 0, `${name} is due since then`)
      if (since && since_ms !== null) assert.equal(since.getTime(), since_ms, name)
    }
    if (count > 0) due.push(name)
  }
  await compareClocks([client, other])
  const { since } = oldest.get('deliver webhooks')!
  if (since) due.push('deliver webhooks')
  return due.sort()
}

/** A test clock stops where the worker that moves it finds something to do. */
async function compareClocks(clients: Client[]): Promise<void> {
  for (const { company } of clients) {
    const [row] = await rows<{ ahead_ms: string }>(
      'select ahead_ms from test_clocks where company_id = $1',
      [company.id],
    )
    if (!row) continue
    const now = new Date(clock.now().getTime() + Number(row.ahead_ms))
    const stops = (await dueOf(app, company.id, now)).filter(({ at }) => at <= now)
    const names = stops.map(({ task }) => task.source.name)
    const found: string[] = []
    for (const [name, kind] of Object.entries<DueKind>(KINDS)) {
      if ((await taken(kind, company.id)) > 0) found.push(name)
    }
    const expected = names.filter((name) => name !== 'deliver webhooks')
    assert.deepEqual(expected.toSorted(), found.toSorted())
  }
}

/** The tasks that are woken because work of theirs is due. */
async function woken(): Promise<string[]> {
  const names: string[] = []
  const alarm = { ...app.alarm, wake: (name: string) => void names.push(name) }
  const look = TASKS.find(({ name }) => name === 'look for due work')!
  if ('run' in look) await look.run({ ...app, alarm }, new AbortController().signal)
  return names.sort()
}

const ALL = [...Object.keys(KINDS), 'deliver webhooks'].sort()
const without = (...names: string[]) => ALL.filter((name) => !names.includes(name))
const IN_COMPANY_TIME = without(...REAL_TIME, 'deliver webhooks')

const setClocks = async ({ client, other }: Work, ahead_s: number, target: Date | null = null) => {
  await rows('delete from test_clocks')
  await rows(
    `insert into test_clocks (company_id, ahead_ms, target)
     select id, $2, $3 from unnest($1::uuid[]) id`,
    [[client.company.id, other.company.id], ahead_s * 1000, target],
  )
}

test('workers, operators, metrics and test clocks agree on what is due of every kind', async () => {
  const names = new Set(app.due.map(({ source }) => source.name))
  assert.deepEqual([...names].sort(), ALL, 'a new kind of due work is compared here')
  const work = await makeWork()
  const { id } = work.client.company
  assert.deepEqual(await whatIsDue(work), [])
  await setClocks(work, HALF_HOUR_S - 1)
  assert.deepEqual(await whatIsDue(work), [], 'the clock is a second before')
  await setClocks(work, HALF_HOUR_S)
  assert.deepEqual(await whatIsDue(work), IN_COMPANY_TIME)
  await setClocks(work, HALF_HOUR_S, new Date('2030-01-01T00:00:00Z'))
  assert.deepEqual(await whatIsDue(work), [], 'left to whoever moves the clock')
  await rows('delete from test_clocks')
  assert.deepEqual(await woken(), [])
  clock.advance(HALF_HOUR_S)
  assert.deepEqual(await whatIsDue(work, clock.now().getTime()), ALL)
  const others = app.due.map(({ name }) => name).filter((name) => name !== 'deliver webhooks')
  assert.deepEqual(await woken(), others.filter((name) => name !== AT_BANKS).sort())
  await rows('update companies set suspended_at = $2 where id = $1', [id, clock.now()])
  const waits = ['bill charges', 'generate charges', 'pay out withdrawals']
  assert.deepEqual(await whatIsDue(work), without(...waits))
  await setClocks(work, 0)
  assert.deepEqual(await whatIsDue(work), without(...waits), 'the same in its own time')
  await rows('update withdrawals set ordered_at = created_at where company_id = $1', [id])
  assert.deepEqual(
    await whatIsDue(work),
    without('bill charges', 'generate charges'),
    'what the bank may have been ordered to send is asked about',
  )
  await rows('update companies set suspended_at = null where id = $1', [id])
  await rows(`insert into audits values ($1, 0, null, 'R$ 1 is missing', now())`, [id])
  assert.deepEqual(await whatIsDue(work), without('carry out refunds', 'pay out withdrawals'))
  await rows('delete from test_clocks')
  await rows('delete from audits')
  assert.deepEqual(await whatIsDue(work), ALL)
})

test('a charge at a real bank is due after the grace of the bank, for everybody', async () => {
  await rows('update charges set expires_at = $1 where status = $2', ['2100-01-01', 'OPEN'])
  const shop = await openBanked(api)
  const { id } = await makeCharge(shop, 700, { expiresIn: 60 })
  const expiring = async () => {
    const [queue] = (await readQueues(app.db, app.due, clock.now())).filter(
      ({ name }) => name === 'expire charges',
    )
    const found = [await taken(EXPIRING), await taken(EXPIRING_AT_BANKS)]
    return [queue!.due, queue!.since?.toISOString() ?? null, ...found]
  }
  clock.advance(60 + BANK_GRACE_MS / 1000 - 1)
  assert.deepEqual(await expiring(), [0, null, 0, 0])
  clock.advance(1)
  assert.deepEqual(await expiring(), [1, clock.now().toISOString(), 0, 1])
  await rows('update charges set dev_mode = true where company_id = $1', [shop.company.id])
  const atDeadline = new Date(clock.now().getTime() - BANK_GRACE_MS).toISOString()
  assert.deepEqual(await expiring(), [1, atDeadline, 0, 1], `${id} is unknown to the bank`)
})

test('a failing webhook is due exactly when there is something to do about it', async () => {
  const client = await api.client()
  const { id } = await register(client, 'http://127.0.0.1:9/', ['charge.expired'])
  const now = clock.now()
  const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000)
  await rows('update webhooks set failing_since = null where id <> $1', [id])
  for (const since of [95, 96, 97, 119, 120, 121, 150]) {
    for (const failed of [0, 23, 24, 25]) {
      for (const warned of [null, 0, 23, 24, 25, 30]) {
        const failing = {
          failingSince: ago(since),
          failedAt: ago(failed),
          warnedAt: warned === null ? null : ago(warned),
        }
        await rows(
          'update webhooks set failing_since = $2, failed_at = $3, warned_at = $4 where id = $1',
          [id, failing.failingSince, failing.failedAt, failing.warnedAt],
        )
        const isDue = failureAction(failing, now) !== 'wait'
        assert.equal((await taken(FAILING)) > 0, isDue, JSON.stringify({ since, failed, warned }))
      }
    }
  }
})

test('a refund that a bank has left without an answer is as late as it is, beside a new one', async () => {
  const client = await api.client()
  for (const amount of [700, 800]) {
    await client.post(`/refund/${(await makePaid(api, client, amount)).id}`)
  }
  const late = new Date(clock.now().getTime() - 6 * 3_600_000)
  await rows('update refunds set next_attempt_at = $1, attempts = 0', [clock.now()])
  await rows(
    `update refunds set next_attempt_at = $2, attempts = 3
     where company_id = $1 and amount = 700`,
    [client.company.id, late],
  )
  const oldest = await readOldest(app.db, app.due, clock.now())
  assert.deepEqual(oldest.find(({ name }) => name === 'carry out refunds')!.since, late)
})

test('a company whose bank fails is not late, and hides nobody who is', async () => {
  await rows(`update charges set expires_at = '2100-01-01' where status = 'OPEN'`)
  await rows(`update reconciliations set next_attempt_at = '2100-01-01'`)
  const [silent, late] = [await openBanked(api), await openBanked(api)]
  for (const client of [silent, late]) await makeCharge(client, 700, { expiresIn: 60 })
  clock.advance(2 * 3600)
  const now = clock.now()
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
  for (const [{ company }, minutes] of [[silent, 60] as const, [late, 7] as const]) {
    const values = [company.id, ago(minutes)]
    await rows('update reconciliations set next_attempt_at = $2 where company_id = $1', values)
    const graced = [company.id, new Date(ago(minutes).getTime() - BANK_GRACE_MS)]
    await rows('update charges set expires_at = $2 where company_id = $1', graced)
  }
  const said = async (kind: DueKind) => {
    const all = await readQueues(app.db, app.due, clock.now())
    const { due, since } = all.find(({ name }) => name === (kind.label ?? kind.name))!
    return [due, since]
  }
  for (const kind of [RECONCILING, EXPIRING_AT_BANKS]) {
    assert.deepEqual(await said(kind), [2, ago(60)], kind.name)
    await app.setbacks.failed(kind.name, silent.company.id, new Error('x'))
    assert.deepEqual(await said(kind), [1, ago(7)], kind.name)
    assert.equal(await taken(kind), 2, 'it is still due')
    await app.setbacks.worked(kind.name, silent.company.id)
    assert.deepEqual(await said(kind), [2, ago(60)], kind.name)
  }
})

test('what cannot be undone waits while the clock of the machine may be wrong', () => {
  const timed = app.due.filter(({ isTimed }) => isTimed).map(({ name }) => name)
  assert.deepEqual(timed.sort(), [
    'bill charges',
    'collect at the simulated bank',
    'deadlines of disputes',
    'due dates',
    'expire charges',
    'expire charges at banks',
    'expire withdrawals',
    'follow agreements',
    'generate charges',
    'receive charges',
  ])
})

test('a company that is set aside is left out of every kind, in real time and in its own', async () => {
  const work = await makeWork()
  const ids = [work.client.company.id, work.other.company.id]
  const withWork = async (kind: DueKind, except: typeof ids) => {
    const { due } = await findDue(app.db, kind, { ...dueNow(app, 1000), except })
    return ids.filter((id) => due.has(id))
  }
  clock.advance(HALF_HOUR_S)
  for (const time of ['real', 'its own']) {
    if (time === 'its own') await setClocks(work, 0)
    for (const [name, kind] of Object.entries<DueKind>(KINDS)) {
      const found = await withWork(kind, [])
      assert.ok(found.length > 0, `there is work of ${name} in ${time} time`)
      assert.deepEqual(await withWork(kind, found), [], `${name} in ${time} time`)
    }
  }
})
