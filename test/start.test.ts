import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { Agent, request } from 'undici'
import { requireSameSecret } from '../src/core/installation.ts'
import { payer, startApi } from './support/api.ts'
import { cloneDatabase, emptyDatabase } from './support/database.ts'
import { longTest } from './support/long.ts'
import {
  freePort,
  type Running,
  readSandbox,
  secretOf,
  spawnServer,
  startServer,
  temporaryFolder,
} from './support/process.ts'
import { serve } from './support/servers.ts'
import { until } from './support/until.ts'

const api = await startApi()
const SECRET_KEY = secretOf('start')

async function createCharge(url: string, apiKey: string, fields: object = {}) {
  const reply = await fetch(`${url}/charge/pix`, {
    method: 'POST',
    headers: { 'X-API-KEY': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount: 1000, customer: payer(), ...fields }),
  })
  const { data } = (await reply.json()) as { data: { id: string } }
  return { status: reply.status, id: data?.id }
}

const getCharge = (url: string, apiKey: string, id: string) =>
  fetch(`${url}/charge/${id}`, { headers: { 'X-API-KEY': apiKey } })

/** Made by the first test. One after the other starts in it, since making it takes longest. */
const DATA_DIR = join(temporaryFolder(), 'data')

test('local mode brings its database, and after kill -9 the next start finds all that was acknowledged', async (t) => {
  const first = await startServer({ DATA_DIR })
  const { apiKey, companyId, url } = readSandbox(DATA_DIR)
  await t.test('it prints where it is, and names each request in its log', async () => {
    assert.equal(url, first.url)
    for (const text of [first.url, `${first.url}/docs`, apiKey]) {
      assert.ok(first.output().includes(text), `${text} is printed`)
    }
    assert.match(companyId, /^[0-9a-f-]{36}$/)
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const ids = { 'X-Request-Id': 'order"42', traceparent: traceparent }
    const named = await fetch(`${first.url}/company`, { headers: { 'X-API-KEY': apiKey, ...ids } })
    const reqId = named.headers.get('x-request-id')!
    assert.equal((await fetch(`${first.url}/docs`)).status, 200)
    const link = /http\S+\/sign-in\/link\/[\w-]{43}$/m.exec(first.output())![0]
    const signIn = () => fetch(link, { method: 'POST', redirect: 'manual' })
    assert.match((await signIn()).headers.get('set-cookie')!, /^vintem=[\w-]{43};/)
    assert.equal((await signIn()).status, 410, 'the link works once')
    const lineOf = () =>
      first
        .output()
        .split('\n')
        .slice(0, -1)
        .find((text) => text.includes(`"reqId":"${reqId}"`)) ?? null
    const line = JSON.parse(await until('the request is in the log', lineOf))
    assert.deepEqual([line.callerId, line.traceparent], ['order"42', traceparent])
    assert.match(first.output(), /"msg":"creating the tables"/)
  })
  await t.test('a data directory has one server', async () => {
    const refused = await startServer({ DATA_DIR })
    assert.equal(await refused.ended, 1)
    assert.ok(refused.output().includes(DATA_DIR), refused.output())
    assert.ok(!refused.output().includes('    at '), 'no stack trace')
  })
  const made = await Promise.all(Array.from({ length: 50 }, () => createCharge(first.url, apiKey)))
  first.child.kill('SIGKILL')
  await first.ended
  const second = await startServer({ DATA_DIR })
  assert.equal(readSandbox(DATA_DIR).apiKey, apiKey, 'the sandbox is the same')
  for (const { status, id } of made) {
    assert.equal(status, 201, 'the first goes on beside the refused one')
    assert.equal((await getCharge(second.url, apiKey, id)).status, 200)
  }
  await t.test('SIGTERM under load drops no request that has reached the server', () =>
    endUnderLoad(second),
  )
  assert.ok(!existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid')), 'PostgreSQL has stopped')
})

longTest('Ctrl-C ends a server as SIGTERM does', async () => {
  const server = await startServer({ DATA_DIR })
  server.child.kill('SIGINT')
  assert.equal(await server.ended, 0)
  assert.ok(!existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid')), 'PostgreSQL has stopped')
})

longTest('a taken port is reported in a sentence, and the database is stopped again', async () => {
  const { port } = await serve(() => {})
  const server = await startServer({ DATA_DIR, PORT: String(port) })
  assert.equal(await server.ended, 2)
  assert.match(server.output(), /port is taken/)
  assert.ok(!existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid')))
})

longTest('every fault of the configuration is listed at once, and nothing is started', async () => {
  const DATA_DIR = join(temporaryFolder(), 'data')
  const server = await startServer({
    DATA_DIR,
    PORT: 'abc',
    LOG_LEVEL: 'loud',
    RATE_LIMIT: '0',
    PUBLIC_URL: 'ftp://x',
  })
  assert.equal(await server.ended, 2)
  for (const name of ['PORT', 'LOG_LEVEL', 'RATE_LIMIT', 'PUBLIC_URL']) {
    assert.match(server.output(), new RegExp(`- ${name} must`))
  }
  assert.ok(!existsSync(join(DATA_DIR, 'postgres')))
})

longTest('with DATABASE_URL nothing embedded starts, and roles divide the work', async () => {
  const DATABASE_URL = await cloneDatabase()
  const DATA_DIR = join(temporaryFolder(), 'data')
  const environment = { DATABASE_URL, SECRET_KEY, DATA_DIR }
  const api = await startServer(environment, ['--role', 'api'])
  assert.equal((await fetch(`${api.url}/ready`)).status, 200)
  assert.ok(!existsSync(DATA_DIR))
  const port = await freePort()
  const worker = await startServer({ ...environment, PORT: String(port) }, ['--role', 'worker'])
  await assert.rejects(fetch(`http://127.0.0.1:${port}/health`), 'a worker does not listen')
  assert.equal(worker.child.exitCode, null)
  const wrong = await startServer(environment, ['--role', 'both-of-them'])
  assert.equal(await wrong.ended, 1)
})

longTest(
  'a server with another secret than the database was set up with refuses to start',
  async () => {
    await requireSameSecret(api.app.db, api.app.vault)
    const server = await startServer({ ...api.databases, SECRET_KEY })
    assert.equal(await server.ended, 2)
    assert.match(server.output(), /SECRET_KEY is not the one/)
  },
)

longTest('a database that has lost what the code uses is refused', async () => {
  const DATABASE_URL = await cloneDatabase()
  const client = new pg.Client({ connectionString: DATABASE_URL })
  await client.connect()
  await client.query(
    `insert into schema_migrations (version, name, checksum, needs)
     values (9999, '9999_later.sql', 'x', 9999)`,
  )
  await client.end()
  const server = await startServer({ DATABASE_URL, SECRET_KEY })
  assert.equal(await server.ended, 1)
  assert.match(server.output(), /newer than this version/)
})

/** So long a server that ends goes on answering; who is held up longer finds it closed. */
const LINGER_MS = 1_000

async function endUnderLoad(server: Running): Promise<void> {
  const { apiKey } = readSandbox(DATA_DIR)
  const agent = new Agent({ connections: 16, pipelining: 1 })
  const answers: number[] = []
  const faults: string[] = []
  const warm = Promise.withResolvers<void>()
  let signalled_ms = Number.POSITIVE_INFINITY

  async function load(): Promise<void> {
    for (;;) {
      try {
        const reply = await request(`${server.url}/charge/pix`, {
          dispatcher: agent,
          method: 'POST',
          headers: { 'X-API-KEY': apiKey, 'Content-Type': 'application/json' },
          body: JSON.stringify({ amount: 1000, customer: payer() }),
        })
        await reply.body.dump()
        if (answers.push(reply.statusCode) === 200) warm.resolve()
      } catch (error) {
        const code = (error as { code?: string }).code ?? String(error)
        const isLate = performance.now() - signalled_ms > LINGER_MS
        if (code !== 'ECONNREFUSED' && !isLate) faults.push(code)
        return
      }
    }
  }
  const clients = Array.from({ length: 16 }, load)
  await warm.promise
  signalled_ms = performance.now()
  server.child.kill('SIGTERM')
  await Promise.all(clients)
  assert.equal(await server.ended, 0)
  assert.deepEqual(faults, [])
  assert.deepEqual([...new Set(answers)], [201])
  await agent.close()
}

test('a broken line of HTTP and headers without end get an answer of our kind', async () => {
  for (const [sent, status] of [
    ['GARBAGE\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.write(sent)
    await once(socket, 'close')
    assert.ok(text.startsWith(`HTTP/1.1 ${status}`), text.slice(0, 80))
    assert.equal(JSON.parse(text.slice(text.indexOf('{'))).status, status)
  }
})

longTest('Ctrl-C in the middle of the start leaves no PostgreSQL behind', async () => {
  const pidFile = join(DATA_DIR, 'postgres', 'postmaster.pid')
  const starting = startServer({ DATA_DIR }, [], (child) => {
    const watch = setInterval(() => {
      if (!existsSync(pidFile)) return
      clearInterval(watch)
      child.kill('SIGINT')
    }, 5)
  })
  const server = await starting
  assert.equal(await server.ended, 0)
  assert.ok(!existsSync(pidFile), 'PostgreSQL has stopped')
})

longTest('SIGTERM while another machine migrates ends the start', async () => {
  const DATABASE_URL = await emptyDatabase()
  const holder = new pg.Client({ connectionString: DATABASE_URL })
  await holder.connect()
  await holder.query('select pg_advisory_lock($1)', [0x76696e74])
  const { child, ended } = await spawnServer({ DATABASE_URL, SECRET_KEY })
  let output = ''
  child.stdout!.on('data', (text) => {
    output += text
  })
  await until('it waits for the other', async () => {
    const { rowCount } = await holder.query(
      `select from pg_stat_activity where datname = current_database()
         and application_name = 'vintem migrate' and query like '%pg_try_advisory_lock%'`,
    )
    return rowCount === 1
  })
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
  assert.match(output, /waiting for another process that migrates the database/)
  await holder.end()
})

longTest('SIGTERM to npm start ends the server, and npm after it', async () => {
  const { npm_execpath: script, HOME = '/' } = process.env
  const command = script?.endsWith('.js') ? [process.execPath, script] : ['npm']
  const spawning = { command: [...command, 'start'] }
  const server = await startServer({ DATA_DIR, HOME }, [], () => {}, spawning)
  assert.equal((await fetch(`${server.url}/health`)).status, 200, server.output())
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  await assert.rejects(fetch(`${server.url}/health`), 'the server has ended')
  assert.ok(!existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid')), 'PostgreSQL has stopped')
})

longTest('a client that never finishes its request does not hold up the end', async () => {
  const server = await startServer({ DATA_DIR, SHUTDOWN_SECONDS: '1' })
  const { apiKey } = readSandbox(DATA_DIR)
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `POST /charge/pix HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${apiKey}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  )
  await fetch(`${server.url}/health`)
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  assert.ok(!existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid')), 'PostgreSQL has stopped')
  socket.destroy()
})
