import { execFile } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { COMPANIES, type Done, OPERATIONS, type Operation } from './operations.ts'
import { measureUndisturbed } from './processor.ts'
import { MAX_TRIES, median, progress, verdictOf } from './setup.ts'
import { checkOut, ROOT, startVersion, type Used, type Version } from './version.ts'

/** A round of one version: what was done, and what it has used for that. */
type Round = Done & Used & { beside_us: number }
type Pair = { ours: Round; theirs: Round }

type Bar = { rate?: number; cpu?: number }

/** What is to be reached against a commit. */
const BARS: Record<string, Record<string, Bar>> = {
  '78041a9': {
    create: { rate: 1.15, cpu: 0.9 },
    read: { rate: 1.15, cpu: 0.9 },
    list: { rate: 3 },
    settle: { rate: 5 },
    deliver: { rate: 0.9 },
  },
  '498ea9c': { settle: { rate: 1 }, deliver: { rate: 1 } },
}

const USAGE = `Usage: npm run bench compare <commit> [${Object.keys(OPERATIONS).join(' ')}]
  [-- --rounds 7 --seconds 1 --write]`

/**
 * The working tree against a commit: both are started by their own \`npm start\` with their own
 * defaults, and measured alternately in one run.
 */
export async function run(): Promise<void> {
  const options = {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    write: { type: 'boolean' },
  } as const
  const args = process.argv.slice(3)
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [commit, ...named] = positionals
  const unknown = named.find((name) => !OPERATIONS[name])
  // npm keeps options to itself unless they come after a --.
  const isKept = Object.keys(options).some((name) => process.env[`npm_config_${name}`])
  if (!commit || unknown || isKept) {
    console.error(USAGE)
    process.exit(2)
  }
  const names = named.length > 0 ? named : Object.keys(OPERATIONS)
  const size = { rounds: Number(values.rounds ?? 7), seconds: Number(values.seconds ?? 1) }
  const root = await checkOut(commit)
  const theirs = await startVersion(commit, root, COMPANIES)
  const ours = await startVersion('the working tree', ROOT, COMPANIES)
  console.log(`The working tree and ${commit}, ${size.rounds} rounds of ${size.seconds} s each.`)
  const measured: Record<string, Pair[]> = {}
  for (const name of names) {
    const pairs = await measureOperation(name, { ours, theirs }, size)
    measured[name] = pairs
    print(name, pairs, BARS[commit.slice(0, 7)]?.[name] ?? {})
  }
  await Promise.all([ours.stop(), theirs.stop()])
  if (values.write) await write(commit, measured)
}

async function measureOperation(
  name: string,
  versions: { ours: Version; theirs: Version },
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Pair[]> {
  const operation = OPERATIONS[name]!
  progress(`${name}: preparing`)
  for (const version of Object.values(versions)) await operation.prepare?.(version)
  const pairs: Pair[] = []
  for (let round = 0; round <= rounds; round++) {
    const pair = await measureUndisturbed(async () => {
      // Whoever is second has what the first one has left in the machine's caches.
      const theirsFirst =
        round % 2 === 0 && (await measureRound(operation, versions.theirs, seconds))
      const ours = await measureRound(operation, versions.ours, seconds)
      const theirs = theirsFirst || (await measureRound(operation, versions.theirs, seconds))
      return { ours, theirs }
    }, MAX_TRIES)
    const rates = `${Math.round(pair.ours.perSecond)} ÷ ${Math.round(pair.theirs.perSecond)} /s`
    progress(`${name}: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}, ${rates}`)
    if (round > 0) pairs.push(pair)
  }
  return pairs
}

async function measureRound(
  { beforeRound, act, beside_us = () => 0 }: Operation,
  version: Version,
  seconds: number,
): Promise<Round> {
  await beforeRound?.(version)
  const read = async () => ({ ...(await version.used()), beside_us: beside_us() })
  const before = await read()
  const done = await act(version, seconds)
  const used = await read()
  for (const key of Object.keys(used) as (keyof typeof used)[]) used[key] -= before[key]
  return { ...done, ...used }
}

const sum = (rounds: Round[], key: keyof Round): number =>
  rounds.reduce((all, round) => all + round[key], 0)

const each = (rounds: Round[], ...keys: (keyof Round)[]): number =>
  keys.reduce((all, key) => all + sum(rounds, key), 0) / sum(rounds, 'count')

const ratioOf = (pairs: Pair[]): number =>
  median(pairs.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond))

function print(name: string, pairs: Pair[], bar: Bar): void {
  const [ours, theirs] = [pairs.map(({ ours }) => ours), pairs.map(({ theirs }) => theirs)]
  const line = (label: string, own: number, other: number, ratio: number, judged = '') => {
    const figures = [own, other].map((value) => value.toFixed(value < 10 ? 2 : 0))
    const cells = [...figures, Number.isFinite(ratio) ? ratio.toFixed(2) : '–']
    const row = cells.map((cell) => cell.padStart(10)).join('')
    console.log(`  ${label.padEnd(26)}${row}  ${judged}`)
  }
  const cost = (label: string, ...keys: (keyof Round)[]) => {
    const [own, other] = [each(ours, ...keys), each(theirs, ...keys)]
    const isAll = keys.length > 1 && bar.cpu !== undefined
    const judged = isAll ? judge(own / other <= bar.cpu!, `≤ ${bar.cpu}`) : ''
    line(label, own, other, own / other, judged)
  }
  const head = ['ours', 'theirs', 'ratio'].map((cell) => cell.padStart(10)).join('')
  console.log(`\n${name}: ${OPERATIONS[name]!.label}\n  ${''.padEnd(26)}${head}`)
  const rates = [ours, theirs].map((side) => median(side.map(({ perSecond }) => perSecond)))
  const ratio = ratioOf(pairs)
  const judged = bar.rate === undefined ? '' : judge(ratio >= bar.rate, `≥ ${bar.rate}`)
  line('per second', rates[0]!, rates[1]!, ratio, judged)
  cost('µs of processor', 'node_us', 'postgres_us')
  cost('  in Node', 'node_us')
  cost('  in PostgreSQL', 'postgres_us')
  if (OPERATIONS[name]!.beside_us) cost('  (in the bank)', 'beside_us')
  cost('bytes of WAL', 'wal')
  cost('statements', 'statements')
  cost('rows', 'rows')
  const failed = [sum(ours, 'failed'), sum(theirs, 'failed')]
  if (failed[0]! + failed[1]! > 0) {
    console.log(`  FAILED REQUESTS: ${failed[0]} of ours, ${failed[1]} of theirs. Do not use this.`)
  }
}

const judge = (isReached: boolean, bar: string): string => `bar ${bar}: ${verdictOf(isReached)}`

const HISTORY = join(import.meta.dirname, 'history.md')

/** Adds a line to the history: what was compared, and for each operation ratio and processor. */
async function write(commit: string, measured: Record<string, Pair[]>): Promise<void> {
  const failed = Object.values(measured)
    .flat()
    .some(({ ours, theirs }) => ours.failed + theirs.failed > 0)
  if (failed) throw new Error('Requests have failed, so nothing is written to the history.')
  const git = promisify(execFile)
  const { stdout: own } = await git('git', ['-C', ROOT, 'describe', '--always', '--dirty=+'])
  const cells = Object.keys(OPERATIONS).map((name) => {
    const pairs = measured[name]
    if (!pairs) return '–'
    const ours = pairs.map((pair) => pair.ours)
    const [node, postgres] = [each(ours, 'node_us'), each(ours, 'postgres_us')].map(Math.round)
    return `${ratioOf(pairs).toFixed(2)} (${node} + ${postgres} µs)`
  })
  const day = new Date().toISOString().slice(0, 10)
  appendFileSync(HISTORY, `| ${[day, own.trim(), commit, ...cells].join(' | ')} |\n`)
}
