import { parseArgs } from 'node:util'
import { COMPANIES, type Done, OPERATIONS, type Operation } from './operations.ts'
import { measureUndisturbed } from './processor.ts'
import { median, progress } from './setup.ts'
import { checkOut, ROOT, startVersion, type Used, type Version } from './version.ts'

/** A round of one version: what was done, and what it has used for that. */
type Round = Done & Used
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
  [--rounds 7] [--seconds 1]`

/**
 * The working tree against a commit: both are started by their own \`npm start\` with their own
 * defaults, and measured alternately in one run.
 */
export async function run(): Promise<void> {
  const options = { rounds: { type: 'string' }, seconds: { type: 'string' } } as const
  const args = process.argv.slice(3)
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [commit, ...named] = positionals
  const unknown = named.find((name) => !OPERATIONS[name])
  if (!commit || unknown) {
    console.error(USAGE)
    process.exit(2)
  }
  const names = named.length > 0 ? named : Object.keys(OPERATIONS)
  const size = { rounds: Number(values.rounds ?? 7), seconds: Number(values.seconds ?? 1) }
  const root = await checkOut(commit)
  const theirs = await startVersion(commit, root, COMPANIES)
  const ours = await startVersion('the working tree', ROOT, COMPANIES)
  console.log(`The working tree and ${commit}, ${size.rounds} rounds of ${size.seconds} s each.`)
  for (const name of names) {
    const pairs = await measureOperation(name, { ours, theirs }, size)
    print(name, pairs, BARS[commit.slice(0, 7)]?.[name] ?? {})
  }
  await Promise.all([ours.stop(), theirs.stop()])
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
    })
    const rates = `${Math.round(pair.ours.perSecond)} ÷ ${Math.round(pair.theirs.perSecond)} /s`
    progress(`${name}: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}, ${rates}`)
    if (round > 0) pairs.push(pair)
  }
  return pairs
}

async function measureRound(
  { beforeRound, act }: Operation,
  version: Version,
  seconds: number,
): Promise<Round> {
  await beforeRound?.(version)
  const before = await version.used()
  const done = await act(version, seconds)
  const after = await version.used()
  const used = { ...after }
  for (const key of Object.keys(used) as (keyof Used)[]) used[key] -= before[key]
  return { ...done, ...used }
}

const sum = (rounds: Round[], key: keyof Round): number =>
  rounds.reduce((all, round) => all + round[key], 0)

const each = (rounds: Round[], ...keys: (keyof Round)[]): number =>
  keys.reduce((all, key) => all + sum(rounds, key), 0) / sum(rounds, 'count')

function print(name: string, pairs: Pair[], bar: Bar): void {
  const [ours, theirs] = [pairs.map(({ ours }) => ours), pairs.map(({ theirs }) => theirs)]
  const line = (label: string, own: number, other: number, ratio: number, judged = '') => {
    const figure = (value: number) => value.toFixed(value < 10 ? 2 : 0).padStart(10)
    console.log(
      `  ${label.padEnd(26)}${figure(own)}${figure(other)}${ratio.toFixed(2).padStart(10)}  ${judged}`,
    )
  }
  const cost = (label: string, ...keys: (keyof Round)[]) => {
    const [own, other] = [each(ours, ...keys), each(theirs, ...keys)]
    const isAll = keys.length > 1 && bar.cpu !== undefined
    line(
      label,
      own,
      other,
      own / other,
      isAll ? judge(own / other <= bar.cpu!, `≤ ${bar.cpu}`) : '',
    )
  }
  const head = ['ours', 'theirs', 'ratio'].map((cell) => cell.padStart(10)).join('')
  console.log(`\n${name}: ${OPERATIONS[name]!.label}\n  ${''.padEnd(26)}${head}`)
  const rates = [ours, theirs].map((side) => median(side.map(({ perSecond }) => perSecond)))
  const ratio = median(pairs.map((pair) => pair.ours.perSecond / pair.theirs.perSecond))
  const judged = bar.rate === undefined ? '' : judge(ratio >= bar.rate, `≥ ${bar.rate}`)
  line('per second', rates[0]!, rates[1]!, ratio, judged)
  cost('µs of processor', 'node_us', 'postgres_us')
  cost('  in Node', 'node_us')
  cost('  in PostgreSQL', 'postgres_us')
  cost('bytes of WAL', 'wal')
  cost('statements', 'statements')
  cost('rows', 'rows')
  const failed = [sum(ours, 'failed'), sum(theirs, 'failed')]
  if (failed[0]! + failed[1]! > 0) {
    console.log(`  FAILED REQUESTS: ${failed[0]} of ours, ${failed[1]} of theirs. Do not use this.`)
  }
}

const judge = (isReached: boolean, bar: string): string =>
  `bar ${bar}: ${isReached ? 'reached' : 'MISSED'}`
