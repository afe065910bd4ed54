import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { type Config, readConfig } from '../src/config.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { describeStartFault } from '../src/start-faults.ts'
import { cloneDatabase } from './support/database.ts'
import { isLong, longTest } from './support/long.ts'
import { freePort, secretOf, startServer, temporaryFolder } from './support/process.ts'

const SECRET_KEY = secretOf('start faults')

/** Starts a server that cannot start, and expects sentences instead of a stack. */
async function refusal(
  environment: Record<string, string>,
  expected: RegExp,
  options: string[] = [],
): Promise<void> {
  const server = await startServer({ SECRET_KEY, ...environment }, options)
  assert.equal(await server.ended, 1, server.output())
  assert.match(server.output(), expected)
  assert.ok(!/^\s+at /m.test(server.output()), `no stack trace: ${server.output()}`)
  assert.equal(server.output().trim().split('\n').length, 1, server.output())
}

longTest(
  'a database that refuses, is unknown, keeps us out or is missing is reported in a sentence',
  async () => {
    const url = new URL(await cloneDatabase())
    const changed = (change: (url: URL) => void) => {
      const copy = new URL(url)
      change(copy)
      return { DATABASE_URL: copy.href }
    }
    const port = String(await freePort())
    await refusal(
      changed((copy) => Object.assign(copy, { port })),
      new RegExp(`at 127.0.0.1:${port} refuses connections. Start PostgreSQL`),
    )
    await refusal(
      changed((copy) => Object.assign(copy, { hostname: 'database.invalid' })),
      /host database.invalid of DATABASE_URL is not known/,
    )
    await refusal(
      changed((copy) => Object.assign(copy, { password: 'not-this-one' })),
      /does not let the user vintem in \(.*\). Correct user and password/,
    )
    await refusal(
      changed((copy) => Object.assign(copy, { pathname: '/nowhere' })),
      /has no database named nowhere. Create it/,
    )
  },
)

longTest('an address that cannot be listened on is reported in a sentence', async () => {
  const DATABASE_URL = await cloneDatabase()
  // A documentation address, which no machine has.
  const PUBLIC_URL = 'https://pix.example.com'
  const hosts = [
    ['192.0.2.1', /HOST 192.0.2.1 is not an address of this/],
    ['host.invalid', /HOST host.invalid is neither an address/],
  ] as const
  for (const [HOST, expected] of hosts) await refusal({ DATABASE_URL, PUBLIC_URL, HOST }, expected)
})

longTest('a real installation does not start with an address of this machine alone', async () => {
  const DATABASE_URL = 'postgres://127.0.0.1:1/x'
  const expected = /PUBLIC_URL http:\/\/localhost is the payer’s own machine.*ALLOW=http/
  const ALLOW = 'mail-files'
  const PUBLIC_URL = 'http://localhost'
  const server = await startServer({ SECRET_KEY, DATABASE_URL, PUBLIC_URL, ALLOW })
  assert.equal(await server.ended, 2)
  assert.match(server.output(), expected)
})

test('a real installation does not start without PUBLIC_URL, and misspelt settings are named', async () => {
  const DATABASE_URL = 'postgres://127.0.0.1:1/x'
  const server = await startServer({ SECRET_KEY, DATABASE_URL, ALLOW: '', SMPT_URL: 'smtp://x' })
  assert.equal(await server.ended, 2)
  for (const sentence of [
    /- SMTP_URL is missing/,
    /- PUBLIC_URL is missing: .*https address/,
    /- SMPT_URL is not a setting; did you mean SMTP_URL\?/,
  ]) {
    assert.match(server.output(), sentence)
  }
})

test('a start names misspelt settings in its log, and PLACES if a database of it is wrong', async () => {
  const PLACES = 'postgres://127.0.0.1:1/x postgres://127.0.0.1:1/y'
  const server = await startServer({ SECRET_KEY, PLACES, PROCESES: '4' })
  assert.equal(await server.ended, 1)
  assert.match(server.output(), /"msg":"PROCESES is not a setting; did you mean PROCESSES\?"/)
  assert.match(server.output(), /127\.0\.0\.1:1 refuses connections\. .*or correct PLACES\./)
})

test('a port that needs more rights is reported in a sentence', () => {
  const config: Config = readConfig({ DATABASE_URL: 'postgres://x/y', SECRET_KEY, PORT: '80' })
  const fault = Object.assign(new Error('listen EACCES'), { code: 'EACCES', syscall: 'listen' })
  assert.match(describeStartFault(fault, config), /may not listen on port 80. Choose a PORT above/)
})

test('an address that this machine does not have is reported in a sentence', () => {
  const config: Config = readConfig({
    DATABASE_URL: 'postgres://x/y',
    SECRET_KEY,
    HOST: '192.0.2.1',
  })
  const fault = Object.assign(new Error('listen'), { code: 'EADDRNOTAVAIL', syscall: 'listen' })
  assert.match(describeStartFault(fault, config), /HOST 192.0.2.1 is not an address of this/)
})

test('a bug shows where it is', () => {
  assert.match(describeStartFault(new TypeError('x is not a function')), /^\s+at /m)
})

longTest('an option that does not exist is reported in a sentence', async () => {
  const DATABASE_URL = 'postgres://127.0.0.1:1/x'
  await refusal({ DATABASE_URL }, /Unknown option '--port'. The only option is --role/, [
    '--port=1',
  ])
  await refusal({ DATABASE_URL }, /Unexpected argument 'api'. The only option is --role/, ['api'])
})

/** A whole data directory, to be copied and damaged. */
const whole = join(temporaryFolder(), 'data')
before(async () => {
  if (!isLong) return
  const settings = { fsync: 'off', shared_buffers: '16MB' }
  const database = await startEmbedded({ dataDir: whole, settings })
  await database.stop()
})

function damaged(damage: (dataDir: string) => void): { DATA_DIR: string } {
  const DATA_DIR = join(temporaryFolder(), 'data')
  cpSync(whole, DATA_DIR, { recursive: true })
  damage(DATA_DIR)
  return { DATA_DIR }
}

longTest(
  'a data directory without its password, its version or its files is reported in a sentence',
  async () => {
    await refusal(
      damaged((dir) => rmSync(join(dir, 'postgres.password'))),
      /postgres.password is missing.*Restore it from a backup/,
    )
    await refusal(
      damaged((dir) => rmSync(join(dir, 'postgres', 'PG_VERSION'))),
      /damaged: it has files, but no PG_VERSION. Restore/,
    )
    await refusal(
      damaged((dir) => writeFileSync(join(dir, 'postgres.password'), 'another')),
      /refuses the connection: password authentication failed/,
    )
  },
)

longTest(
  'a damaged cluster quotes what PostgreSQL says now, not what an older run has said',
  async () => {
    const stale = 'FATAL:  a line of an older run'
    await refusal(
      damaged((dir) => {
        appendFileSync(join(dir, 'postgres.log'), `${stale}\n`)
        truncateSync(join(dir, 'postgres', 'global', 'pg_control'), 100)
      }),
      /PostgreSQL does not start in (?!.*older run).*pg_control.*Restore|restore/,
    )
  },
)

longTest(
  'a place that cannot hold data is reported in a sentence, and is not waited for',
  async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    await refusal({ DATA_DIR: file }, /data directory .* cannot be used .* Choose a folder/)
    if (!existsSync('/proc/self')) return
    await refusal({ DATA_DIR: '/proc/x/y' }, /data directory \/proc\/x\/y cannot be used/)
    // Without a key of its own, the server looks there for the generated one first.
    const server = await startServer({ DATA_DIR: '/proc/x' })
    assert.equal(await server.ended, 2)
    assert.match(server.output(), /DATA_DIR must be a folder that Vintém can write to/)
  },
)

longTest('a data directory that may not be written is reported in a sentence', async () => {
  const { DATA_DIR } = damaged((dir) => chmodSync(dir, 0o555))
  // Root may write anywhere, so it becomes nobody for this.
  const spawning = process.getuid?.() === 0 ? { uid: 65_534 } : {}
  chmodSync(join(DATA_DIR, '..'), 0o755)
  const server = await startServer({ SECRET_KEY, DATA_DIR }, [], () => {}, spawning)
  const code = await server.ended
  chmodSync(DATA_DIR, 0o755)
  assert.equal(code, 1, server.output())
  assert.match(server.output(), /data directory .* cannot be used .*chown -R/)
})
