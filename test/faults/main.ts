import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { temporaryFolder } from '../support/process.ts'
import { readLastRelease, unpack } from '../support/releases.ts'
import { type Bundle, buildBundle } from './bundle.ts'
import { isClean } from './check.ts'
import { type Load, type Outcome, type Plan, run } from './driver.ts'
import { FAULTS, type Fault, whyNot } from './faults.ts'
import { FIGURES_FILE, figuresOf, readFigures } from './figures.ts'
import { OPERATIONS } from './journal.ts'
import { findShortest, tell, tryWith } from './shortest.ts'
import { lateOf, missingOf, type Row, tableOf } from './table.ts'

/**
 * `npm run test:faults -- --kills 100 --minutes 20 --only server,network --seed 7`
 *
 * Puts in one kind of fault after the other, each under a load of its own, and prints what they
 * have come to. `--kills` says how often servers and workers are killed; the others come as much
 * less often as they do by default, and `--load` how many requests are answered between two. The
 * load on killed servers goes on until so many operations are `--acknowledged`, and that on killed
 * workers until so many `--events` have arrived. No fault is begun after its share of `--minutes`.
 * If one fails, shorter histories are tried for `--shorten` seconds.
 */
const KILLS = 1_000
/** What the load comes to at least, with so many kills. */
const [ACKNOWLEDGED, EVENTS] = [200_000, 100_000]
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: String(KILLS) },
    minutes: { type: 'string' },
    load: { type: 'string' },
    acknowledged: { type: 'string' },
    events: { type: 'string' },
    only: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    shorten: { type: 'string', default: '600' },
  },
})

/** Tests that have a load and a check of their own: what they try cannot be told by these. */
const OTHERS: { name: string; title: string; file: string; environment: Environment }[] = [
  other('failover', 'loss of the primary, and promotion', 'failover.long', { FAILOVERS: '50' }),
  other('promotion', 'feed, deliveries, clocks and leases across promotions', 'promotion.long'),
  other('standby', 'a standby that does not confirm', 'standby.long'),
  other('unconfirmed', 'the same with several servers', 'unconfirmed.long'),
  other('restart', 'processes replaced one after the other', 'restart.long', { RESTARTS: '20' }),
  other('bank', 'a bank that fails', 'bank', { BANK_OPERATIONS: '5000' }),
  other('client', 'a network that fails before the service', 'client', { CREATIONS: '1000' }),
  other('billing', 'kill -9 of a worker over subscriptions', 'billing-kill', {
    KILLS: '20',
    SUBSCRIPTIONS: '1000',
  }),
  other('live', 'kill -9 at each step of a charge at a bank', 'live-charge-kill'),
  other('approval', 'kill -9 at each step of an approval', 'approval-kill.long'),
]

type Environment = Record<string, string>

function other(name: string, title: string, test = name, environment: Environment = {}) {
  return { name, title, file: `test/faults/${test}.test.ts`, environment }
}

const names = [...FAULTS, ...OTHERS].map(({ name }) => name)
const only = values.only?.split(',') ?? names
const [kills, minutes, seed] = [values.kills, values.minutes ?? '0', values.seed].map(Number)
if (only.some((name) => !names.includes(name)) || !(kills! > 0 && minutes! >= 0 && seed! >= 0)) {
  console.error(`--only takes names among ${names.join()}; --kills, --minutes and --seed numbers`)
  process.exit(2)
}

const least = {
  acknowledged: Number(values.acknowledged ?? Math.round((ACKNOWLEDGED * kills!) / KILLS)),
  events: Number(values.events ?? Math.round((EVENTS * kills!) / KILLS)),
}
/** By the name of the fault. */
const LEAST: Record<string, Load> = {
  server: { ...least, events: 0 },
  worker: { ...least, acknowledged: 0 },
}

const timesOf = ({ times }: Fault): number => Math.max(1, Math.round((times * kills!) / KILLS))

const upTo = (end: number): number[] => Array.from({ length: end }, (_, number) => number)

type Programs = { root: string | null; bundle: Bundle | undefined }

function planOf(fault: Fault, { root, bundle }: Programs, most_s: number | undefined): Plan {
  const { servers, workers, needs, without } = fault
  return {
    seed: seed!,
    strokes: upTo(timesOf(fault)).map((number) => ({ fault, number })),
    answers: values.load === undefined ? null : Number(values.load),
    companies: 24,
    sellers: upTo(12),
    treasurers: upTo(6),
    operations: OPERATIONS.filter((one) => !without.includes(one)),
    servers,
    workers,
    // Then both versions are started from sources.
    ...(needs.includes('release') ? { root: root! } : { bundle }),
    most_s,
    least: LEAST[fault.name],
  }
}

/** What a kind of fault has come to; and if it has failed, its shortest history is printed. */
async function rowOf(fault: Fault, plan: Plan): Promise<Row> {
  const { title } = fault
  const kept: { outcome: Outcome | null } = { outcome: null }
  const attempt = tryWith(async (shorter) => {
    const outcome = await run(shorter)
    kept.outcome ??= outcome
    return outcome
  })
  const failure = await attempt(plan)
  const { outcome } = kept
  if (failure) {
    console.log(`\n${title}: ${tell({ ...failure, tries: 0, failed: 0 })}\n`)
    const shortest = await findShortest(failure, attempt, Number(values.shorten))
    console.log(`${tell(shortest)}\n`)
    const figures = outcome ? figuresOf(outcome) : {}
    return { title, outcome, figures, verdict: 'FAILS' }
  }
  const verdict = verdictOf(fault, outcome!)
  return { title, outcome, figures: figuresOf(outcome!), verdict }
}

function verdictOf(fault: Fault, outcome: Outcome): string {
  const late = lateOf(fault, outcome)
  if (late) return `FAILS: ${late}`
  const missing = missingOf(outcome)
  if (missing.length === 0) return 'holds'
  // Whoever gives a time takes what fits into it.
  return `${minutes === 0 ? 'FAILS' : 'holds'}: ${missing.join(', ')}`
}

function rowOfOther({ title, file, environment }: (typeof OTHERS)[number]): Row {
  const row = (verdict: string, figures = {}): Row => ({ title, outcome: null, figures, verdict })
  if (!existsSync(file)) return row('not tried: no test')
  const written = join(temporaryFolder(), 'figures')
  const own = { SEED: String(seed), TEST_TIMEOUT_MS: '7200000', [FIGURES_FILE]: written }
  const { status, stdout } = spawnSync(process.execPath, ['test/run.ts', '--long', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT,
    env: { ...process.env, ...environment, ...own },
  })
  const skipped = whySkipped(stdout)
  if (skipped) return row(`not tried: ${skipped}`)
  const times = Number(Object.values(environment)[0] ?? 0)
  const figures = { ...(times > 0 && { times }), ...readFigures(written) }
  if (status === 0) return row(`holds (${file})`, figures)
  console.error(stdout)
  return row('FAILS', figures)
}

const MAX_OUTPUT = 256 * 1024 * 1024

/** The reason that the first of its tests gives, if none has passed or failed. */
function whySkipped(output: string): string | null {
  if (!/^ℹ pass 0$/m.test(output) || !/^ℹ fail 0$/m.test(output)) return null
  return /^﹣ .*# (.*)$/m.exec(output)?.[1] ?? null
}

/** How long all faults would take, as often as by default, on this machine as it was now. */
function wholeRun_s(rows: [Fault, Row][]): number {
  const each = rows.map(([{ times }, { outcome }]) =>
    outcome && outcome.begun > 0 ? (outcome.seconds * times) / outcome.begun : 0,
  )
  return each.reduce((sum, one) => sum + one, 0)
}

async function main(): Promise<boolean> {
  console.log(`Seed ${seed}; ${kills} kills of each kind, the other faults as often in proportion.`)
  const asked = FAULTS.filter(({ name }) => only.includes(name))
  const needsRelease = asked.some(({ needs }) => needs.includes('release'))
  const root = needsRelease ? await unpack(readLastRelease().commit) : null
  const bundle = asked.length > 0 ? await buildBundle(temporaryFolder()) : undefined
  const most_s = minutes === 0 ? undefined : (minutes! * 60) / Math.max(asked.length, 1)
  const rows: [Fault, Row][] = []
  for (const fault of asked) {
    const reason = whyNot(fault, root)
    const { title } = fault
    const row = reason
      ? { title, outcome: null, figures: {}, verdict: `not tried: ${reason}` }
      : await rowOf(fault, planOf(fault, { root, bundle }, most_s))
    rows.push([fault, row])
    console.error(`${tableOf([row]).split('\n').at(-1)}  ${row.outcome?.seconds.toFixed(0) ?? 0} s`)
  }
  const others = OTHERS.filter(({ name }) => only.includes(name)).map(rowOfOther)
  console.log(`\n${tableOf([...rows.map(([, row]) => row), ...others])}`)
  const hours = (wholeRun_s(rows) / 3600).toFixed(1)
  console.log(`\nAs often as by default, the faults above take about ${hours} hours here.`)
  const isGood = ({ verdict, outcome }: Row) =>
    !verdict.startsWith('FAILS') && (!outcome || isClean(outcome.findings))
  return [...rows.map(([, row]) => row), ...others].every(isGood)
}

// Whoever stops it leaves no server and no file system behind.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
process.exit((await main()) ? 0 : 1)
