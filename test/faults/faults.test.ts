import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Findings, findDifferences, isClean } from './check.ts'
import { type Aftermath, type Plan, run, type Stroke } from './driver.ts'
import { FAULTS, type Fault, whyNot } from './faults.ts'
import { OPERATIONS } from './journal.ts'
import { findShortest, tell, tryWith } from './shortest.ts'

/**
 * Every fault once with every test run; `npm run test:faults` puts them in thousands of times. That
 * two versions work on one database is tried by test/releases.test.ts.
 */
const SEED = Number(process.env.SEED ?? 1)
const fault = (name: string): Fault => FAULTS.find((one) => one.name === name)!

const plan: Plan = {
  seed: SEED,
  strokes: [],
  answers: 25,
  companies: 8,
  sellers: [0, 1, 2, 3, 4, 5],
  treasurers: [0, 1],
  operations: [...OPERATIONS],
  servers: 1,
  workers: 1,
}

const strokesOf = (faults: Fault[]): Stroke[] =>
  faults.map((one, number) => ({ fault: one, number }))

/** Makes one difference of each kind. */
async function tamper({ app, scene }: Aftermath): Promise<void> {
  const { charges, staticCodes } = scene.journal
  const { company } = charges[0]!
  // Of what clients were told, one is not there, and one that is there nobody was told of.
  charges.push({ company, id: 'charge_never', amount: 1 })
  staticCodes.pop()
  const [name] = scene.arrivals.byEvent.keys()
  scene.arrivals.byEvent.set(`/99 ${name!.split(' ')[1]}`, [])
  await app.db.query({
    text: `delete from mails where (company_id, id) in
             (select company_id, id from mails order by id limit 1)`,
  })
}

test('every fault under one load: nothing is lost, doubled or leaked, and the audit is clean', async (t) => {
  const missing = FAULTS.flatMap((one) => {
    const reason = one.needs.includes('release') ? 'it is tried elsewhere' : whyNot(one, null)
    return reason ? [`${one.name} is left out: ${reason}`] : []
  })
  const faults = FAULTS.filter((one) => !missing.some((text) => text.startsWith(`${one.name} `)))
  let tampered: Findings | undefined
  const outcome = await run({ ...plan, strokes: strokesOf(faults) }, async (aftermath) => {
    const findings = await findDifferences(aftermath)
    await tamper(aftermath)
    tampered = await findDifferences(aftermath)
    return findings
  })
  const { findings, tally, begun, recoveries_ms, arrived } = outcome
  t.diagnostic(JSON.stringify({ ...tally, arrived, recoveries_ms, missing }))
  assert.deepEqual(findings, { lost: [], doubled: [], leaked: [], wrong: [] })
  assert.equal(begun, faults.length)
  assert.ok(tally.acknowledged > 0 && arrived > 0)
  for (const [name, found] of Object.entries(tampered!)) {
    assert.notEqual(found.length, 0, `what is ${name} is found`)
  }
})

test('commits that do not wait for the disk are found lost, with a seed and a short history', async (t) => {
  const crashing: Plan = {
    ...plan,
    strokes: strokesOf([fault('postgres')]),
    sellers: [0, 1, 2, 3],
    treasurers: [],
    operations: ['counter'],
    // What is acknowledged is written by nobody for ten seconds.
    settings: { synchronous_commit: 'off', wal_writer_delay: '10s' },
  }
  const attempt = tryWith((shorter) => run(shorter))
  const failure = await attempt(crashing)
  assert.ok(failure && failure.findings.lost.length > 0, 'an acknowledged record is missing')
  const shortest = await findShortest(failure, attempt, 1)
  assert.ok(!isClean(shortest.findings))
  assert.ok(shortest.tries > 0)
  const told = tell(shortest)
  t.diagnostic(told)
  assert.match(told, new RegExp(`^Seed ${SEED}\\.`))
  assert.match(told, /crash of PostgreSQL/)
})
