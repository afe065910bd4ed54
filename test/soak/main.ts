import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort, START_OPTIONS } from '../../bench/setup.ts'
import { createCompany, createKey } from '../../src/core/companies/commands.ts'
import { openDatabase } from '../../src/db/database.ts'
import { createVault } from '../../src/lib/vault.ts'
import { LATEST } from '../../src/versions/history.ts'
import { databaseOf } from '../support/releases.ts'
import { judge } from './judge.ts'
import { startLoad, startSink } from './load.ts'
import type { Sample } from './watch-memory.ts'

/**
 * Runs a service for long, with several processes, under everything that clients, payers and
 * strangers send, and says whether its memory grows: `npm run test:soak -- --minutes 30`.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '60' },
    processes: { type: 'string', default: '2' },
  },
})
const [minutes, rate] = [Number(values.minutes), Number(values.rate)]
if (!(minutes > 0) || !(rate > 0)) throw new Error('--minutes and --rate must be numbers above 0')

const ROOT = join(import.meta.dirname, '..', '..')
const COMPANIES = 16
const folder = mkdtempSync(join(tmpdir(), 'vintem-soak-'))
const DATA_DIR = join(folder, 'data')
const LOG = join(folder, 'log')

/** The service in local mode, which delivers webhooks to this machine too. */
async function startService() {
  const PORT = String(await freePort())
  const url = `http://127.0.0.1:${PORT}`
  const watch = join(import.meta.dirname, 'watch-memory.ts')
  const env = {
    PATH: process.env.PATH,
    DATA_DIR,
    PORT,
    PROCESSES: values.processes,
    RATE_LIMIT: '1000000',
    NODE_OPTIONS: `--import=${watch}`,
    SOAK_FOLDER: folder,
  }
  const out = openSync(LOG, 'a')
  const args = [...START_OPTIONS, join(ROOT, 'src/main.ts')]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', out, out], cwd: folder })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  while (!/Vintém is running/.test(readLog())) {
    if (child.exitCode !== null) throw new Error(readLog())
    await pause(100)
  }
  return { url, child, ended }
}

const readLog = (): string => (existsSync(LOG) ? readFileSync(LOG, 'utf8') : '')

async function makeKeys(): Promise<string[]> {
  const { DATABASE_URL, SECRET_KEY } = databaseOf(DATA_DIR)
  const db = openDatabase(DATABASE_URL, 1)
  const vault = createVault(Buffer.from(SECRET_KEY, 'base64'))
  const keys: string[] = []
  for (let i = 0; i < COMPANIES; i++) {
    const fields = { name: `Loja ${i}`, taxId: '11222333000181', email: 'dona@example.com' }
    const given = { ...fields, mode: 'sandbox', apiVersion: LATEST.name } as const
    const now = new Date()
    const { text } = await db.transaction(async (tx) => {
      return createKey(tx, vault, await createCompany(tx, given, now), { name: 'soak' }, now)
    })
    keys.push(text)
  }
  await db.end()
  return keys
}

async function addWebhook(url: string, key: string, to: string): Promise<void> {
  const body = { url: to, name: 'Loja', events: ['charge.pending', 'charge.paid'] }
  const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' }
  const asked = { method: 'POST', headers, body: JSON.stringify(body) }
  const reply = await fetch(`${url}/webhook`, asked)
  if (!reply.ok) throw new Error(await reply.text())
}

/** The processes by their names, as the log tells. */
function findProcesses(parent: number): Map<string, number> {
  const found = new Map([['parent', parent]])
  for (const line of readLog().split('\n')) {
    if (!line.includes('"started":')) continue
    const { started, pid } = JSON.parse(line)
    found.set(started, pid)
  }
  return found
}

function samplesOf(pid: number): Sample[] {
  const file = join(folder, `${pid}.jsonl`)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const service = await startService()
const keys = await makeKeys()
const sink = await startSink()
for (const key of keys) await addWebhook(service.url, key, sink.url)
const processes = findProcesses(service.child.pid!)
console.log(`${minutes} minutes, ${rate} requests a second, ${[...processes.keys()].join(', ')}`)
const load = startLoad(service.url, keys, rate)
for (let minute = 1; minute <= minutes; minute++) {
  await pause(60_000)
  const parts = [...processes].map(([name, pid]) => {
    const { rss = 0, heap = 0 } = samplesOf(pid).at(-1) ?? {}
    return `${name} ${rss.toFixed(0)}/${heap.toFixed(0)}`
  })
  const sent = Object.values(load.tally).reduce((sum, count) => sum + count, 0)
  console.log(`${String(minute).padStart(4)} min  RSS/heap MiB: ${parts.join('  ')}  ${sent} sent`)
}
await load.end()

let isRight = true
console.log('\nprocess      measure      MiB    MiB an hour  verdict')
for (const [name, pid] of processes) {
  for (const measure of ['rss', 'heap', 'external'] as const) {
    const { level, perHour, isBounded } = judge(samplesOf(pid), measure)
    const verdict = isBounded === null ? 'too short to tell' : isBounded ? 'bounded' : 'GROWS'
    if (isBounded === false) isRight = false
    const columns = [level.toFixed(1).padStart(7), perHour.toFixed(1).padStart(12)]
    console.log(`${name.padEnd(12)} ${measure.padEnd(9)} ${columns.join(' ')}     ${verdict}`)
  }
}
console.log(`\n${sink.received()} deliveries of webhooks; requests by outcome:`)
for (const [label, count] of Object.entries(load.tally).sort()) console.log(`  ${label}: ${count}`)
/** Who sends too much may see the connection closed before the answer. */
const mayBreak = (label: string) => /^too large/.test(label)
const broken = Object.keys(load.tally).filter(
  (label) => !mayBreak(label) && / (5\d\d|[A-Z_]{4,}|broken)$/.test(label),
)
const died = readLog().includes('has ended and is started again')
if (broken.length > 0 || died) isRight = false
service.child.kill('SIGTERM')
const code = await service.ended
rmSync(folder, { recursive: true, force: true })
const verdict =
  minutes < 10 ? 'Nothing broke. This was too short to tell more.' : 'Memory is bounded.'
console.log(`\n${isRight && code === 0 ? verdict : 'FAILED'}${died ? ' A process died.' : ''}`)
process.exit(isRight && code === 0 ? 0 : 1)
