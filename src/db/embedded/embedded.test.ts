import assert from 'node:assert/strict'
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { longTest } from '../../../test/support/long.ts'
import { chooseAccount, copyWithinReach } from './binaries.ts'
import { attachEmbedded, DataDirectoryInUse, startEmbedded } from './embedded.ts'

const settings = { fsync: 'off', shared_buffers: '16MB' }
const isRoot = process.getuid?.() === 0
const childScript = fileURLToPath(
  new URL('../../../test/support/embedded-child.ts', import.meta.url),
)

// A cluster made once and copied, because initdb takes as long as all the rest of a test.
const template = mkdtempSync(join(tmpdir(), 'vintem-embedded-'))
before(async () => (await startEmbedded({ dataDir: template, settings })).stop())
after(() => rmSync(template, { recursive: true }))

/** A data directory that ends with its test, and everything that was started in it too. */
function stage(t: TestContext, { empty = false } = {}) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'vintem-embedded-')))
  const dataDir = join(home, '.data')
  if (!empty) cpSync(template, dataDir, { recursive: true })
  const endings: (() => unknown)[] = []
  t.after(async () => {
    for (const end of endings.toReversed()) await end()
    const survivor = postmasterOf(dataDir)
    rmSync(home, { recursive: true })
    assert.equal(survivor, undefined, 'PostgreSQL is still running')
  })
  return {
    home,
    dataDir,
    start: async (options: Partial<Parameters<typeof startEmbedded>[0]> = {}) => {
      const database = await startEmbedded({ dataDir, settings, ...options })
      endings.push(database.stop)
      return database
    },
    attach: async () => {
      const database = await attachEmbedded({ dataDir })
      endings.push(database.stop)
      return database
    },
    spawn: async (options: SpawnOptions = {}) => {
      const child = spawn(process.execPath, [childScript, dataDir], {
        stdio: ['pipe', 'pipe', 'inherit'],
        ...options,
      })
      endings.push(() => end(child))
      return { child, ...(await firstLine(child)) }
    },
  }
}

async function firstLine(child: ChildProcess) {
  const [line] = await once(createInterface(child.stdout!), 'line')
  return JSON.parse(line) as { url: string; refused?: string; message?: string }
}

async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

function recordedPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
}

function postmasterOf(dataDir: string): number | undefined {
  if (!existsSync(join(dataDir, 'postgres', 'postmaster.pid'))) return undefined
  return isAlive(recordedPid(dataDir)) ? recordedPid(dataDir) : undefined
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function query(url: string, sql: string) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const remember = (url: string) => query(url, 'CREATE TABLE kept AS SELECT 42 AS answer')
const recall = async (url: string) => (await query(url, 'SELECT answer FROM kept'))[0].answer

/** Neither other users of the machine nor other machines can read it. */
async function isOpenToItsOwnerOnly(dataDir: string, url: string): Promise<void> {
  assert.deepEqual(readdirSync(dataDir), ['postgres', 'postgres.log', 'postgres.password'])
  const mode = (name: string) => statSync(join(dataDir, name)).mode & 0o777
  assert.deepEqual([mode('.'), mode('postgres'), mode('postgres.password')], [0o700, 0o700, 0o600])
  const [listens] = await query(url, 'SHOW listen_addresses')
  assert.equal(listens.listen_addresses, '127.0.0.1')
  const stranger = new URL(url)
  stranger.password = 'guess'
  await assert.rejects(query(stranger.href, 'SELECT 1'), { code: '28P01' })
}

describe('the embedded database', () => {
  test('is created by the first start, open to its owner only, and keeps its data', async (t) => {
    const { home, dataDir, start } = stage(t, { empty: true })
    chmodSync(home, 0o700)
    const first = await start()
    assert.equal(first.owned, true)
    await isOpenToItsOwnerOnly(dataDir, first.url)
    // Nobody else can enter the directory, and PostgreSQL does not run as root.
    if (isRoot) assert.notEqual(statSync(join(dataDir, 'postgres')).uid, 0)
    await remember(first.url)
    await first.stop()
    await first.stop()
    assert.equal(postmasterOf(dataDir), undefined)
    assert.equal(await recall((await start()).url), 42)
  })

  test('runs with durable settings unless configured otherwise', async (t) => {
    const database = await stage(t).start({ settings: { work_mem: '5MB' } })
    const rows = await query(
      database.url,
      `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit',
        'full_page_writes', 'TimeZone', 'work_mem') ORDER BY name`,
    )
    assert.deepEqual(
      rows.map(({ name, setting }) => `${name}=${setting}`),
      ['TimeZone=UTC', 'fsync=on', 'full_page_writes=on', 'synchronous_commit=on', 'work_mem=5120'],
    )
  })

  longTest('treats Portuguese letters as letters', async (t) => {
    const { url } = await stage(t).start()
    const [row] = await query(url, `SELECT lower('AÇÃO'), 'Ação' ILIKE 'aÇÃO' AS same`)
    assert.deepEqual(row, { lower: 'ação', same: true })
  })
})

// These mostly wait, so they wait together.
describe('one owner at a time', { concurrency: true }, () => {
  test('a second start names the directory, the process and the way out', async (t) => {
    const { dataDir, start } = stage(t)
    await start()
    await assert.rejects(startEmbedded({ dataDir, settings }), (fault: Error) => {
      assert.ok(fault instanceof DataDirectoryInUse)
      for (const hint of [dataDir, `process ${process.pid}`, `${recordedPid(dataDir)}`, 'DATA_DIR'])
        assert.match(fault.message, new RegExp(hint))
      return true
    })
  })

  longTest('of two first starts at once, one wins and the other is refused', async (t) => {
    const { dataDir, spawn } = stage(t, { empty: true })
    const answers = await Promise.all([spawn(), spawn()])
    const refusals = answers.filter(({ refused }) => refused)
    assert.deepEqual(
      refusals.map(({ refused }) => refused),
      ['DataDirectoryInUse'],
    )
    const winner = answers.find(({ url }) => url)
    assert.deepEqual(await query(winner!.url, 'SELECT 1 AS one'), [{ one: 1 }])
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.startsWith('initdb')),
      [],
    )
  })

  test('a command joins the running database and leaves it running', async (t) => {
    const { start, attach } = stage(t)
    const server = await start()
    const command = await attach()
    assert.deepEqual([command.owned, command.url], [false, server.url])
    await command.stop()
    assert.deepEqual(await query(server.url, 'SELECT 1 AS one'), [{ one: 1 }])
  })

  longTest('a command alone starts the database, and stops it at its end', async (t) => {
    const { dataDir, attach } = stage(t)
    const command = await attach()
    assert.equal(command.owned, true)
    await remember(command.url)
    await command.stop()
    assert.equal(postmasterOf(dataDir), undefined)
  })

  longTest('a command that owns the database waits for one that joined it', async (t) => {
    const { attach } = stage(t)
    const [owner, other] = [await attach(), await attach()]
    const stopping = owner.stop()
    assert.deepEqual(await query(other.url, 'SELECT pg_sleep(0.1), 1 AS one'), [
      { pg_sleep: '', one: 1 },
    ])
    await other.stop()
    await stopping
  })

  longTest('commands side by side all reach a database, whoever of them owns it', async (t) => {
    const { attach, dataDir } = stage(t)
    const commands = Array.from({ length: 6 }, async () => {
      const command = await attach()
      const rows = await query(command.url, 'SELECT 1 AS one')
      await command.stop()
      return rows[0].one
    })
    assert.deepEqual(await Promise.all(commands), [1, 1, 1, 1, 1, 1])
    assert.equal(postmasterOf(dataDir), undefined)
  })

  longTest('a server that starts while a command ends takes over from it', async (t) => {
    const { attach, start } = stage(t)
    const command = await attach()
    const server = start()
    await command.stop()
    assert.equal((await server).owned, true)
  })
})

describe('what survives', () => {
  test('kill -9 of the owner: the next start finds what was committed', async (t) => {
    const { dataDir, spawn, start } = stage(t)
    const { child, url } = await spawn()
    const leftover = recordedPid(dataDir)
    await remember(url)
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.ok(isAlive(leftover), 'PostgreSQL has outlived its owner')
    const next = await start()
    assert.equal(await recall(next.url), 42)
    assert.notEqual(recordedPid(dataDir), leftover, 'the leftover is gone')
  })

  test('kill -9 of the postmaster: it is back on the same address, and still owned', async (t) => {
    const { dataDir, start, attach } = stage(t)
    const { promise: restarted, resolve } = Promise.withResolvers<string>()
    const { url } = await start({ onRestart: resolve })
    await remember(url)
    process.kill(recordedPid(dataDir), 'SIGKILL')
    assert.match(await restarted, /SIGKILL.*started again/)
    assert.equal(await recall(url), 42)
    assert.equal((await attach()).owned, false)
  })

  longTest('a crash inside PostgreSQL: the owner takes its lock again', async (t) => {
    const { start, attach } = stage(t)
    const { url } = await start()
    const held = `SELECT FROM pg_locks WHERE locktype = 'advisory'`
    const [before] = await query(
      url,
      `SELECT pg_backend_pid() AS pid, pid AS holder FROM pg_locks
                                       WHERE locktype = 'advisory'`,
    )
    process.kill(before.holder, 'SIGKILL')
    await untilOne(url, `${held} AND pid <> ${before.holder}`)
    assert.equal((await attach()).owned, false)
  })

  longTest('Ctrl-C in a terminal: the owner can still finish its requests', async (t) => {
    const { dataDir, spawn } = stage(t)
    const { child } = await spawn({ detached: true })
    process.kill(-child.pid!, 'SIGINT')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    assert.equal(postmasterOf(dataDir), undefined)
  })

  longTest('a postmaster.pid whose number is in use by another process', async (t) => {
    const { dataDir, spawn: spawnOwner, start } = stage(t)
    const { child, url } = await spawnOwner()
    await remember(url)
    child.kill('SIGKILL')
    process.kill(recordedPid(dataDir), 'SIGKILL')
    await once(child, 'exit')

    const { uid, gid } = statSync(join(dataDir, 'postgres'))
    const bystander = spawn('sleep', ['60'], isRoot ? { uid, gid } : {})
    t.after(() => bystander.kill())
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^\d+/, `${bystander.pid}`))
    assert.equal(await recall((await start()).url), 42)
    assert.equal(bystander.signalCode, null)
  })
})

describe('whoever starts it', () => {
  const needsRoot = !isRoot && 'only root can become somebody else'

  test('root, with binaries that nobody else can reach', { skip: needsRoot }, (t) => {
    const { home } = stage(t, { empty: true })
    const native = join(home, 'native')
    mkdirSync(join(native, 'bin'), { recursive: true })
    writeFileSync(join(native, 'bin', 'postgres'), '#!/bin/sh\n', { mode: 0o700 })
    writeFileSync(join(native, 'needed-later'), '')
    writeFileSync(join(home, 'package.json'), '{ "version": "18" }')
    const shelf = mkdtempSync(join(tmpdir(), 'vintem-shelf-'))
    t.after(() => rmSync(shelf, { recursive: true }))
    chmodSync(shelf, 0o755)
    const account = chooseAccount(undefined)!
    const copy = () => copyWithinReach(native, account, [shelf])

    const first = copy()
    assert.equal(first, join(shelf, 'postgres-18'))
    assert.equal(copy(), first, 'the copy is used again')
    rmSync(join(first, 'needed-later'))
    assert.deepEqual([copy(), readdirSync(first)], [first, ['bin', 'needed-later']], 'and replaced')
    chownSync(first, account.uid, account.gid)
    assert.notEqual(copy(), first, 'and not trusted once others could have changed it')
  })

  longTest('an ordinary user, in a directory of its own', async (t) => {
    const { uid, gid } = outsider(t)
    if (!uid) return
    const { home, dataDir, spawn } = stage(t, { empty: true })
    chownSync(home, uid, gid)
    await remember((await spawn({ uid, gid, cwd: '/' })).url)
    assert.equal(statSync(join(dataDir, 'postgres')).uid, uid)
  })

  longTest(
    'a user without a name, as in many containers',
    async (t) => {
      const uid = 12_345
      const { home, dataDir, spawn } = stage(t, { empty: true })
      const named = ['--user', '--map-user=65534', '--map-group=65534', 'true']
      const { status } = spawnSync('unshare', named, { uid, gid: uid, cwd: '/' })
      if (status !== 0) return t.skip('this system gives users no namespaces of their own')
      outsider(t)
      chownSync(home, uid, uid)
      await remember((await spawn({ uid, gid: uid, cwd: '/' })).url)
      assert.equal(statSync(join(dataDir, 'postgres')).uid, uid)
    },
    { skip: needsRoot },
  )

  test("an ordinary user, in root's directory: the fault says whose it is", async (t) => {
    const { uid, gid } = outsider(t)
    if (!uid) return
    const { dataDir, spawn } = stage(t)
    const { message } = await spawn({ uid, gid, cwd: '/' })
    assert.match(
      message ?? '',
      new RegExp(`${dataDir} cannot be used .* the user that it belongs to`),
    )
  })
})

/** Somebody who is not root, or a reason to skip the test. */
function outsider(t: TestContext): { uid: number; gid: number } {
  const account = isRoot ? chooseAccount(undefined)! : { name: 'nobody', uid: 0, gid: 0 }
  const { uid, gid } = account
  if (!isRoot) t.skip('every other test of this run is about an ordinary user')
  else if (spawnSync(process.execPath, ['--check', childScript], { uid, gid }).status !== 0) {
    t.skip(`the user ${account.name} cannot enter this clone`)
    return { uid: 0, gid: 0 }
  }
  return { uid, gid }
}

/** Waits until PostgreSQL, which may be restarting meanwhile, has an answer of one row. */
async function untilOne(url: string, sql: string): Promise<void> {
  for (;;) {
    const rows = await query(url, sql).catch(() => [])
    if (rows.length === 1) return
    await delay(10)
  }
}
