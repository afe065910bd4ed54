import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { createCompany } from '../../src/core/companies/commands.ts'
import type { Uuid } from '../../src/lib/ids.ts'
import { LATEST } from '../../src/versions/history.ts'
import { processDueCallbacks } from '../../src/worker/due.ts'
import { startWorkerProcess, type WorkerProcess } from '../deliveries/process.ts'
import { beginScene, openApp } from '../deliveries/scene.ts'
import { manualClock } from '../support/api.ts'
import { cloneDatabase } from '../support/database.ts'
import { isLong } from '../support/long.ts'
import { insertSubscribers } from '../support/subscribers.ts'
import { until } from '../support/until.ts'
import { createRandom } from './random.ts'

beginScene()

/**
 * A few kills with every test run; `KILLS=20 SUBSCRIPTIONS=5000 node test/run.ts FILE` for what is
 * promised.
 */
const {
  SEED = '1',
  KILLS = isLong ? '2' : '1',
  SUBSCRIPTIONS = isLong ? '200' : '30',
} = process.env
const [kills, total] = [Number(KILLS), Number(SUBSCRIPTIONS)]
const { below } = createRandom(Number(SEED))
const VALUE = 1990
/** Each of the two companies has half of the subscriptions, and lives so many cycles. */
const CYCLES = { played: 2, resting: 1 }
const CHARGES = (total / 2) * (CYCLES.played + CYCLES.resting)
/** At most: where in its work the worker is struck is left to chance. */
const STRIKE_MS = 15

const databaseUrl = await cloneDatabase()
const app = openApp(databaseUrl)
const rows = <R extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
  app.db.query<R>({ text, values })

/** A Monday in a time that both companies live in: all is due there when a worker comes. */
const START = new Date('2060-03-01T12:00:00-03:00')
const aheadOf = (moment: Date) => moment.getTime() - Date.now()

/** A company with half of the subscriptions, and a clock that is on its way or goes by. */
async function makeCompany(target: Date | null): Promise<Uuid> {
  return app.db.transaction(async (tx) => {
    const { id } = await createCompany(
      tx,
      {
        name: 'Padaria São João',
        taxId: '11222333000181',
        email: 'dona@example.com',
        mode: 'sandbox',
        apiVersion: LATEST.name,
        releaseDelay_s: 0,
      },
      START,
    )
    const crowd = { companyId: id, count: total / 2, value: VALUE, frequency: 'MONTHLY' } as const
    await insertSubscribers(tx, app.vault, crowd, START)
    await tx.query({
      text: 'insert into test_clocks (company_id, ahead_ms, target) values ($1, $2, $3)',
      values: [id, aheadOf(START), target],
    })
    return id
  })
}

/** Its time is played by the worker from one moment to the next, over two cycles. */
const played = await makeCompany(new Date('2060-04-06T00:00:00-03:00'))
/** Its time only goes by, and is moved from here: the worker finds its work like everybody's. */
const resting = await makeCompany(null)

const workers: WorkerProcess[] = []
let killed = 0
const startNext = async () => {
  workers.push(await startWorkerProcess(databaseUrl))
}

/** Steps that are behind: a charge generated, sent to the bank, paid. */
async function progress(): Promise<number> {
  const [row] = await rows<{ steps: number }>(
    `select coalesce(sum(1 + ordered::int + (status = 'PAID')::int), 0)::int as steps from billings`,
  )
  return row!.steps
}

/** Strikes after about as many steps each time. The next one is at work by then, beside it. */
async function killAgainAndAgain(): Promise<void> {
  const between = (3 * CHARGES) / (kills + 1)
  for (let n = 0; n < kills; n++) {
    const victim = workers.at(-1)!
    const next = startNext()
    const least = between * n + below(between)
    await until(`enough for kill ${n + 1}`, async () => (await progress()) >= least || null)
    await pause(below(STRIKE_MS))
    await victim.end('SIGKILL')
    killed += 1
    await next
  }
}

/** Where the resting company's time is moved to, and what all of its charges come to there. */
const MOMENTS: [moment: string, state: string, again_s: number][] = [
  ['2060-03-01T12:00:00-03:00', 'SCHEDULED', 61],
  ['2060-03-04T12:05:00-03:00', 'PAID', 3601],
]

/** What a killed worker had taken up is due again when its lease is over, or the bank is asked. */
async function moveResting(): Promise<void> {
  for (const [moment, state, again_s] of MOMENTS) {
    let ahead_ms = aheadOf(new Date(moment))
    let deaths: number | null = null
    await until(`all is done at ${moment}`, async () => {
      if (deaths !== killed) {
        if (deaths !== null) ahead_ms += again_s * 1000
        deaths = killed
        await rows('update test_clocks set ahead_ms = $2 where company_id = $1', [
          resting,
          ahead_ms,
        ])
      }
      const done = await rows('select 1 from billings where company_id = $1 and status = $2', [
        resting,
        state,
      ])
      return done.length === total / 2 || null
    })
  }
}

async function untilPlayed(): Promise<void> {
  await until('the clock has arrived', async () => {
    const moving = await rows('select 1 from test_clocks where target is not null')
    return moving.length === 0 || null
  })
}

/** How many there are of each. */
const EXPECTED = {
  billings: CHARGES,
  cycles: CHARGES,
  charges: CHARGES,
  collections: CHARGES,
  attempts: CHARGES,
  transfers: CHARGES,
  payments: CHARGES,
  matched: CHARGES,
}

const counted = () =>
  rows<typeof EXPECTED>(
    `select (select count(*) from billings where status = 'PAID')::int as billings,
       (select count(distinct (recurrence_id, cycle)) from billings)::int as cycles,
       (select count(*) from charges where payment_status = 'RECEIVED')::int as charges,
       (select count(*) from simulated_collections where status = 'PAID')::int as collections,
       (select sum(jsonb_array_length(attempts)) from simulated_collections)::int as attempts,
       (select count(*) from simulated_transfers)::int as transfers,
       (select count(*) from payments)::int as payments,
       (select count(distinct charge_id) from payments where status = 'MATCHED')::int as matched`,
  )

async function assertOnce(): Promise<void> {
  assert.deepEqual(await counted(), [EXPECTED])
  const events = await rows<{ type: string; count: number }>(
    'select type, count(*)::int as count from events group by type order by type',
  )
  const types = [
    'charge.paid',
    'charge.pending',
    'charge.processing',
    'charge.received',
    'subscription.charge.paid',
  ]
  assert.deepEqual(
    events,
    types.map((type) => ({ type, count: CHARGES })),
  )
  for (const [name, company] of Object.entries({ played, resting })) {
    const { faults, proof, bank } = await auditCompany(app, company, { whole: true })
    assert.deepEqual([faults, bank], [[], 'asked'])
    const paid = (total / 2) * CYCLES[name as keyof typeof CYCLES] * VALUE
    assert.equal(proof.balance.available, 100_000 + paid)
  }
}

test(`a worker that is killed ${kills} times over ${total} subscriptions bills every cycle once`, async (t) => {
  await startNext()
  await Promise.all([killAgainAndAgain(), moveResting(), untilPlayed()])
  await until('all is received', async () => {
    const paid = await rows(`select 1 from charges where payment_status = 'PAID' limit 1`)
    return paid.length === 0 || null
  })
  assert.equal(await workers.at(-1)!.end('SIGTERM'), 0)
  const [{ left }] = (await rows<{ left: number }>(
    'select count(*)::int as left from bank_callbacks where processed_at is null',
  )) as [{ left: number }]
  await assertOnce()
  // Callbacks that killed workers had received change nothing when they are processed late.
  const later = openApp(databaseUrl, manualClock(new Date(Date.now() + 3_600_000).toISOString()))
  await processDueCallbacks.run(later)
  await assertOnce()
  const complaints = workers.flatMap(({ output }) => output().match(/"level":[56]0,.*/g) ?? [])
  // Hours go by here in which a bank whose word got lost is not asked again, and an audit of these
  // hours finds its money missing; the audits above have found all of it.
  assert.deepEqual(
    complaints.filter((line) => !line.includes('books differ')),
    [],
  )
  t.diagnostic(`seed ${SEED}: ${left} callbacks were left by workers that died over them`)
})
