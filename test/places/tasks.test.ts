import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTables } from '../../src/core/company-tables/tables.ts'
import type { FullApp } from '../../src/core/full-app.ts'
import { moveCompany, type Step } from '../../src/core/moves/move.ts'
import { watchMoves } from '../../src/core/places/directory.ts'
import { appsOf, type Places } from '../../src/core/places/front.ts'
import { newId } from '../../src/lib/ids.ts'
import { beginOf } from '../../src/serving.ts'
import { advanceTestClocks } from '../../src/worker/clocks.ts'
import { type Begin, startWorker } from '../../src/worker/worker.ts'
import { on } from '../citus/cluster.ts'
import { startApi } from '../support/api.ts'
import { makeDueWork, workOnce } from '../support/due-work.ts'
import { variants } from '../support/long.ts'
import { ON_PLAIN } from '../support/on-plain.ts'
import { until } from '../support/until.ts'
import { register } from '../support/webhooks.ts'
import { killMoverAt } from './killed-mover.ts'

const api = await startApi({}, { places: 2 })
const apps = appsOf(api.app) as FullApp[]
const LONG_AGO = '2020-01-01T00:00:00Z'

/** Runs all tasks of a place once, and returns the errors that they have met. */
async function errorsOf(app: FullApp): Promise<unknown[]> {
  const errors: unknown[] = []
  const error = (fields: { error?: string }) => {
    if (fields.error) errors.push(fields)
  }
  const log = { ...app.log, error: error as FullApp['log']['error'] }
  await workOnce({ ...app, log }, beginOf(api.app))
  return errors
}

/** Work that only stays behind if something was interrupted. */
async function interrupt(companyId: string, webhookId: string): Promise<void> {
  await api.rows(
    `insert into charge_intents (company_id, id, created_at, expires_at, leased_until,
       next_attempt_at) values ($1, $2, $3, $3, $3, $3)`,
    [companyId, newId(), LONG_AGO],
  )
  await api.rows(
    `update webhooks set previous_secret_sealed = secret_sealed, previous_secret_until = $3
     where company_id = $1 and id = $2`,
    [companyId, webhookId, LONG_AGO],
  )
}

/** Makes all that is due some day due now, wherever rows of the company are. */
async function makeAllDue(companyId: string): Promise<void> {
  for (const url of api.places) {
    await on(url, async (client) => {
      await client.query(`set vintem.mover = 'on'`)
      for (const { name, company } of await readTables(client)) {
        const { rows } = await client.query<{ column: string }>(
          `select attname as column from pg_attribute where attrelid = $1::regclass
           and attname in ('next_attempt_at', 'next_at')`,
          [name],
        )
        for (const { column } of rows) {
          await client.query(
            `update ${name} set ${column} = $2 where ${company} = $1 and ${column} is not null`,
            [companyId, LONG_AGO],
          )
        }
      }
    })
  }
}

const steps: Step[] = ['left', 'copied']

for (const step of variants(steps)) {
  test(`tasks of both places work when a move was killed at "${step}"`, async () => {
    const { client } = await makeDueWork(api)
    const { id } = client.company
    const webhook = await register(client, 'http://127.0.0.1:9/', ['charge.expired'])
    await interrupt(id, webhook.id)
    await killMoverAt(api, id, step)
    await makeAllDue(id)
    const neighbour = await api.client()
    const other = await register(neighbour, 'http://127.0.0.1:9/', ['charge.expired'])
    await interrupt(neighbour.company.id, other.id)
    const errors = await Promise.all(apps.map(errorsOf))
    assert.deepEqual(errors.flat(), [])
    const left = await api.rows('select 1 from charge_intents where company_id = $1', [
      neighbour.company.id,
    ])
    assert.equal(left.length, 0, 'the work of another company is done')
  })
}

test('a test clock that is moving when its company leaves ends in the old place', async () => {
  const client = await api.client()
  const { id } = client.company
  const target = new Date(api.clock.now().getTime() + 3_600_000)
  await api.rows('insert into test_clocks (company_id, ahead_ms, target) values ($1, 0, $2)', [
    id,
    target,
  ])
  const refused = Promise.withResolvers<void>()
  const log = { ...apps[1]!.log, error: () => refused.resolve() }
  const advancing: Promise<void>[] = []
  const onStep = async (step: Step) => {
    if (step !== 'arrived') return
    advancing.push(advanceTestClocks({ ...apps[1]!, log }))
    await refused.promise
  }
  const places = { urls: api.places, from: 2, to: 1 }
  // By then it looks rarely, and not in the moment in which the company has lost its clock alone.
  await moveCompany({ companyId: id, ...places, workers_ms: 0, grace_ms: 600, onStep })
  assert.equal(advancing.length, 1)
  await advancing[0]
  await advanceTestClocks(apps[0]!)
  const [clock] = await apps[0]!.db.query<{ target: Date | null }>({
    text: 'select target from test_clocks where company_id = $1',
    values: [id],
  })
  assert.equal(clock!.target, null, 'it has arrived in the new place')
})

/** The warnings of a worker of the first place, which runs one task. */
function startWatched(places: Places, run: () => void) {
  const warned: (() => void)[] = []
  const log = { ...apps[0]!.log, warn: () => warned.shift()?.() }
  const task = { name: 'any', every_ms: 1_000, run: async () => run() }
  const begin: Begin = (app, signal) => watchMoves(app, places, signal)
  const worker = startWorker({ ...apps[0]!, log: log as FullApp['log'] }, [task], undefined, begin)
  const nextWarning = () => new Promise<void>((resolve) => warned.push(resolve))
  return { worker, nextWarning }
}

test('no task begins before it is known which companies are being moved', ON_PLAIN, async () => {
  const renamed = (from: string, to: string) =>
    on(api.places[0]!, (client) => client.query(`alter table ${from} rename to ${to}`))
  const begun = Promise.withResolvers<void>()
  let isReadable = false
  const seen: boolean[] = []
  await renamed('company_moves', 'unreadable_moves')
  const { worker, nextWarning } = startWatched(api.app.places, () => {
    seen.push(isReadable)
    begun.resolve()
  })
  try {
    await nextWarning()
    await nextWarning()
  } finally {
    isReadable = true
    await renamed('unreadable_moves', 'company_moves')
  }
  await begun.promise
  await worker.stop()
  assert.deepEqual(seen, [true])
})

test('a place that does not say whether a company has left delays no other move', async () => {
  const [ready, arriving] = [newId(), newId()]
  const add = (id: string, state: string) =>
    apps[0]!.db.query({
      text: 'insert into company_moves (company_id, state, other_place) values ($1, $2, 2)',
      values: [id, state],
    })
  await add(ready, 'ready')
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()]
  const find = () => {
    asked.resolve()
    return answer.promise
  }
  const { worker } = startWatched({ ...api.app.places, find }, () => {})
  try {
    await asked.promise
    await add(arriving, 'arriving')
    await until('the other move', () => apps[0]!.setbacks.moving().includes(arriving), 20)
  } finally {
    answer.resolve(null)
    await worker.stop()
    await apps[0]!.db.query({
      text: 'delete from company_moves where company_id = any ($1::uuid[])',
      values: [[ready, arriving]],
    })
    apps[0]!.setbacks.leaveAlone([])
  }
})

test('where a company was is not remembered if it may have moved while that was asked', async () => {
  const { places } = api.app
  const begin = {
    text: `insert into company_moves (company_id, state, other_place) values ($1, 'arriving', 1)`,
  }
  for (const isAnnounced of [false, true]) {
    const { id } = (await api.client()).company
    places.forget(id)
    const found = places.find(id)
    if (isAnnounced) places.forget(id)
    assert.equal(await found, apps[1])
    await apps[1]!.db.query({ ...begin, values: [id] })
    if (isAnnounced) await assert.rejects(async () => places.find(id), /changing its place/)
    else assert.equal(await places.find(id), apps[1], 'it is remembered otherwise')
  }
})
