import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong, longTest } from '../support/long.ts'
import { type Findings, findDifferences, isClean } from './check.ts'
import { type Aftermath, type Plan, run, type Stroke } from './driver.ts'
import { FAULTS, type Fault, whyNot } from './faults.ts'
import { OPERATIONS } from './journal.ts'
import { findShortest, type Try, tell, tryWith } from './shortest.ts'

/**
 * Every fault once with every test run; `npm run test:faults` puts them in thousands of times. That
 * two versions work on one database is tried by test/releases.test.ts.
 */
const SEED = Number(process.env.SEED ?? 1)
const fault = (name: string): Fault => FAULTS.find((one) => one.name === name)!

const plan: Plan = {
  seed: SEED,
  strokes: [],
  answers: isLong ? 60 : 12,
  companies: 4,
  sellers: [0, 1, 2, 3],
  treasurers: [0],
  operations: [...OPERATIONS],
  servers: 1,
  workers: 1,
}

const strokesOf = (faults: Fault[]): Stroke[] =>
  faults.map((one, number) => ({ fault: one, number }))

/** Makes a difference of each kind. */
async function tamper({ app, scene }: Aftermath): Promise<void> {
  const { charges, staticCodes } = scene.journal
  const { company } = charges[0]!
  // Of what clients were told, one is not there, and one that is there nobody was told of.
  charges.push({ company, id: 'charge_never', amount: 1 })
  staticCodes.pop()
  const [name] = scene.arrivals.byEvent.keys()
  scene.arrivals.byEvent.set(`/99 ${name!.split(' ')[1]}`, [])
  await app.db.query({ text: 'delete from mails' })
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

/** What is acknowledged is written by nobody for ten seconds. */
const careless: Plan = {
  ...plan,
  strokes: strokesOf([fault('postgres')]),
  companies: 2,
  treasurers: [],
  operations: [],
  workers: 0,
  settings: { synchronous_commit: 'off', wal_writer_delay: '10s' },
}

test('commits that do not wait for the disk are found lost, with the seed and the history', async (t) => {
  const failure = await tryWith((one) => run(one))(careless)
  assert.ok(failure && failure.findings.lost.length > 0, 'an acknowledged record is missing')
  const told = tell({ ...failure, tries: 0, failed: 0 })
  t.diagnostic(told)
  assert.match(told, new RegExp(`^Seed ${SEED}\\.`))
  assert.match(told, /seller \d, operation \d+: \/charge\/pix → charge_\w+\n(?:.*\n)*.* crash of/)
  assert.match(told, / lost: charge missing: /)
})

longTest('a history that fails is shortened by real runs', async (t) => {
  const attempt = tryWith((one) => run(one))
  const long = { ...careless, strokes: strokesOf([fault('server'), fault('postgres')]), workers: 1 }
  const shortest = await findShortest((await attempt(long))!, attempt, 120)
  t.diagnostic(tell(shortest))
  assert.ok(!isClean(shortest.findings))
  assert.deepEqual(
    shortest.plan.strokes.map((one) => one.fault.name),
    ['postgres'],
  )
})

test('what is left of a history is what it fails by, with the numbers that it had', async () => {
  const all = Array.from({ length: 64 }, (_, number) => ({ fault: fault('server'), number }))
  const steps = ['seller 1', 'seller 2'].map((client) => ({
    client,
    operation: 7,
    path: '/charge/pix',
    id: `charge_of_${client}`,
    faults: 42,
  }))
  /** Fails by the 43rd fault, if seller 2 is there to refund. */
  const attempt: Try = async (one) => {
    const { strokes, sellers, operations } = one
    const fails =
      strokes.some(({ number }) => number === 42) &&
      sellers.includes(2) &&
      operations.includes('refund')
    const lost = ['charge missing: charge_of_seller 2']
    return fails ? { plan: one, findings: { ...NOTHING, lost }, steps } : null
  }
  const first = await attempt({ ...plan, strokes: all })
  const { plan: left, tries } = await findShortest(first!, attempt, 60)
  assert.deepEqual(
    left.strokes.map(({ number }) => number),
    [42],
  )
  assert.deepEqual([left.sellers, left.treasurers, left.operations], [[2], [], ['refund']])
  assert.ok(tries < 30, `${tries} tries`)
})

const NOTHING: Findings = { lost: [], doubled: [], leaked: [], wrong: [] }
