import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { payer } from '../support/api.ts'
import { CLI, vintemIn } from '../support/cli.ts'
import { emptyDatabase } from '../support/database.ts'
import { inherited, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'
import { copySecret, makeAgeKeys } from './keys.ts'

/**
 * A real server under load, whose backups and restores are killed. BACKUP_CHARGES, BACKUP_KILLS and
 * BACKUP_SECONDS make it longer. All figures are printed.
 */
const CHARGES = Number(process.env.BACKUP_CHARGES ?? 100_000)
const KILLS = Number(process.env.BACKUP_KILLS ?? 10)
const SECONDS = Number(process.env.BACKUP_SECONDS ?? 5)
const CLIENTS = 8

const home = temporaryFolder()
const vintem = vintemIn(home)
const keys = await makeAgeKeys(home)
const SECRET_KEY = secretOf('backup faults')
const common = { SECRET_KEY, PUBLIC_URL: 'http://127.0.0.1', DATA_DIR: join(home, 'data') }
const source = { ...common, DATABASE_URL: await emptyDatabase() }
const secretCopy = copySecret(home, SECRET_KEY)
const backingUp = (file: string) => [
  'backup',
  file,
  '--recipient',
  keys.recipient,
  '--secret-copy',
  secretCopy,
]
const restoring = (file: string) => ['restore', file, '--identity', keys.identityFile, '--verify']

const server = await startServer({ ...source, ALLOW: 'http,mail-files' }, ['--role', 'api'])
const made = await vintem(
  'company create --name Loja --tax-id 11222333000181 --email a@example.com --json'.split(' '),
  source,
)
assert.equal(made.code, 0, made.stderr)
const { apiKey: key } = JSON.parse(made.stdout)
await fill()

async function query<R extends pg.QueryResultRow>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<R>(text)).rows
  } finally {
    await client.end()
  }
}

async function create(): Promise<void> {
  const reply = await fetch(`${server.url}/charge/pix`, {
    method: 'POST',
    headers: { 'X-API-KEY': key, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: 1990, customer: payer() }),
  })
  const text = await reply.text()
  assert.equal(reply.status, 201, text)
}

/** One charge as clients make it, and copies of it, so that a backup takes its time. */
async function fill(): Promise<void> {
  await create()
  await query(
    source.DATABASE_URL,
    `with one as (select * from charges limit 1)
     insert into charges select (jsonb_populate_record(one.*::charges,
       jsonb_build_object('id', gen_random_uuid()))).* from one, generate_series(1, ${CHARGES})`,
  )
}

/** Creates charges without pause until it is told to stop; returns how many a second. */
async function load(until: Promise<unknown>): Promise<number> {
  let [count, isOver] = [0, false]
  until.finally(() => {
    isOver = true
  })
  const began_ms = performance.now()
  const work = async () => {
    while (!isOver) {
      await create()
      count += 1
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))
  return (count * 1000) / (performance.now() - began_ms)
}

/** Starts a command, and kills it after a while unless it is done. Returns whether it was done. */
async function killed(args: string[], env: Record<string, string>, after_ms: number) {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: home,
    env: { ...inherited, ...env },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), after_ms)
  const [code] = await ended
  clearTimeout(timer)
  return code === 0
}

test('a backup under load stops no writer, and what it has is one moment', async (t) => {
  await load(pause(2_000))
  const alone = await load(pause(SECONDS * 1000))
  const file = join(home, 'loaded.vintem')
  const began_ms = performance.now()
  const backup = vintem(backingUp(file), source)
  const beside = await load(backup)
  const { code, stdout, stderr } = await backup
  assert.equal(code, 0, stderr)
  t.diagnostic(stdout.split('\n')[0]!)
  t.diagnostic(
    `${alone.toFixed(0)} charges/s alone, ${beside.toFixed(0)} beside a backup of ${((performance.now() - began_ms) / 1000).toFixed(1)} s: ratio ${(beside / alone).toFixed(2)}`,
  )
  const databaseUrl = await emptyDatabase()
  const restored_ms = performance.now()
  const restored = await vintem(restoring(file), { ...common, DATABASE_URL: databaseUrl })
  assert.equal(restored.code, 0, restored.stdout + restored.stderr)
  t.diagnostic(restored.stdout.trim().split('\n').at(-1)!)
  t.diagnostic(`restored in ${((performance.now() - restored_ms) / 1000).toFixed(1)} s`)
  // Every charge has its event, because both were committed at once.
  const [row] = await query<{ charges: string; events: string }>(
    databaseUrl,
    `select (select count(*) from charges) - ${CHARGES} as charges,
       (select count(distinct payload) from events where type = 'charge.pending') as events`,
  )
  assert.equal(row!.charges, row!.events)
  assert.ok(beside > alone * 0.3, 'writers go on')
})

test(`a backup that is killed leaves no file that looks like one, ${KILLS} times`, async (t) => {
  let done = 0
  for (let i = 0; i < KILLS; i++) {
    const file = join(home, `killed-${i}.vintem`)
    const isDone = await killed(backingUp(file), source, 300 + (i * 4_000) / KILLS)
    assert.equal(existsSync(file), isDone)
    done += Number(isDone)
    await create()
  }
  const parts = readdirSync(home).filter((name) => name.endsWith('.part'))
  t.diagnostic(`${KILLS - done} killed, ${parts.length} left a .part, ${done} were done before`)
  for (const part of parts) {
    const env = { ...common, DATABASE_URL: await emptyDatabase() }
    const { code, stdout } = await vintem(restoring(join(home, part)), env)
    assert.equal(code, 1)
    assert.match(stdout, /^Verdict: NO\. /)
  }
})

const OTHERS = `select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`

test(`a restore that is killed leaves nothing that a server starts with, ${KILLS} times`, async (t) => {
  const file = join(home, 'restored.vintem')
  assert.equal((await vintem(backingUp(file), source)).code, 0)
  const states: string[] = []
  for (let i = 0; i < KILLS; i++) {
    const env = { ...common, DATABASE_URL: await emptyDatabase() }
    const isDone = await killed(restoring(file), env, 500 + (i * 8_000) / KILLS)
    // PostgreSQL ends the statement that it has begun, and may commit it.
    await until('nobody else is connected', async () => {
      const others = await query(env.DATABASE_URL, OTHERS)
      return others.length === 0
    })
    const [table] = await query<{ found: boolean }>(
      env.DATABASE_URL,
      `select to_regclass('installation') is not null as found`,
    )
    const [row] = table!.found
      ? await query<{ restoring: boolean }>(
          env.DATABASE_URL,
          'select restoring_since is not null as restoring from installation',
        ).catch(() => [])
      : []
    states.push(isDone ? 'done' : row ? (row.restoring ? 'marked' : 'ready') : 'empty')
    if (!isDone) assert.notEqual(states.at(-1), 'ready')
    const next = await vintem(restoring(file), env)
    if (states.at(-1) === 'empty') assert.equal(next.code, 0, next.stdout)
    else assert.match(next.stdout, /Verdict: NO\. The database is not empty/)
    if (states.at(-1) === 'marked') {
      const started = await startServer({ ...env, ALLOW: 'http,mail-files' })
      assert.notEqual(await started.ended, 0)
      assert.match(started.output(), /is being restored since/)
    }
  }
  t.diagnostic(`a killed restore left: ${states.join(', ')}`)
})

test('the program age opens a backup, and tar lists what is in it', async (t) => {
  const age = process.env.AGE ?? '/usr/bin/age'
  if (!existsSync(age)) return t.skip('age is not installed; name it with AGE')
  const file = join(home, 'for-age.vintem')
  assert.equal((await vintem(backingUp(file), source)).code, 0)
  copyFileSync(file, join(home, 'copy.vintem'))
  const script = `"${age}" --decrypt --identity "${keys.identityFile}" "${file}" | tar --gunzip --list --file -`
  const shell = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(shell, 'close')
  let list = ''
  shell.stdout.on('data', (chunk) => {
    list += chunk
  })
  const [code] = await ended
  assert.equal(code, 0)
  assert.match(list, /^backup\.json\nconfiguration\.env\n/)
  assert.match(list, /\nplaces\/1\/charges\/00001\.copy\n/)
  assert.match(list, /\ncontents\.json\n$/)
})
