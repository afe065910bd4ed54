import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { payer } from '../support/api.ts'
import { hostedVintemIn, vintemIn } from '../support/cli.ts'
import { longTest } from '../support/long.ts'
import { readSandbox, spawnServer, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'
import { openStream, SECRET_KEY, type Several, send, startSeveral } from './several.ts'
import { startSteadyLoad } from './steady-load.ts'

const DATA_DIR = join(temporaryFolder(), 'data')
const server: Several = await startSeveral({ DATA_DIR })
const { apiKey } = readSandbox(DATA_DIR)
const NAMES = ['api 1', 'api 2', 'worker']

const call = (method: string, path: string, json?: unknown) =>
  send(server.url, apiKey, [method, path], json)

const presentPids = () => NAMES.map((name) => server.pidOf(name))
const timesStarted = (name: string) =>
  server.lines().filter(({ started }) => started === name).length
const untilSaid = (text: string) =>
  until(text, () => server.lines().some(({ msg }) => msg?.includes(text)))

/** A connection that is kept open, as a proxy keeps some. */
async function openConnection(): Promise<Socket> {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1' })
  await once(socket, 'connect')
  return socket
}

/** Asks over such a connection. True: this was its last answer. */
async function ask(socket: Socket): Promise<boolean> {
  assert.ok(!socket.destroyed, 'it is open until its last answer')
  socket.write('GET /health HTTP/1.1\r\nHost: vintem\r\n\r\n')
  const closed = once(socket, 'close').then(() => assert.fail('it is closed without an answer'))
  const [chunk] = (await Promise.race([once(socket, 'data'), closed])) as [Buffer]
  closed.catch(() => {})
  const answer = chunk.toString('latin1')
  assert.match(answer, /^HTTP\/1.1 200/)
  return /^connection: close/im.test(answer)
}

/** How many connections may wait at each socket of the server. Empty if nobody can tell. */
function backlogs(): string[] {
  const filter = `sport = :${new URL(server.url).port}`
  const { stdout } = spawnSync('ss', ['-Hltn', filter], { encoding: 'utf8' })
  const lines = (stdout ?? '').split('\n').filter(Boolean)
  return lines.map((line) => line.split(/\s+/)[2]!)
}

test('a restart under load refuses no request, resets no connection and replaces every process', async () => {
  const before = presentPids()
  const backlogsBefore = backlogs()
  const idle = new Set(await Promise.all(Array.from({ length: 16 }, openConnection)))
  for (const socket of idle) assert.equal(await ask(socket), false)
  const charge = await call('POST', '/charge/pix', { amount: 1000, customer: payer() })
  const page = `${server.url}${new URL(charge.body.data.url).pathname}/events`
  const streams = await Promise.all(Array.from({ length: 4 }, () => openStream(page)))
  const polls = Array.from({ length: 4 }, () => call('GET', '/event?type=charge.expired&wait=30'))
  const load = startSteadyLoad(server.url, apiKey)
  await until('the load is there', () => load.answered() > 30)
  server.child.kill('SIGHUP')
  // A connection that nobody uses is not closed, but answered when it is used, and then closed.
  await until('some had their last answer', async () => {
    for (const socket of idle) if (await ask(socket)) idle.delete(socket)
    return idle.size < 16
  })
  for (const socket of idle) socket.destroy()
  for (const poll of await Promise.all(polls)) assert.equal(poll.status, 200)
  for (const stream of streams) await stream.ended
  await untilSaid('all processes are replaced')
  await load.end()
  assert.deepEqual(load.failed, [])
  assert.deepEqual(backlogs(), backlogsBefore, 'as many connections may wait as before')
  for (const name of NAMES) assert.equal(timesStarted(name), 2)
  const after = presentPids()
  assert.deepEqual(
    after.filter((pid) => before.includes(pid)),
    [],
  )
  assert.equal(server.child.exitCode, null)
})

/** The processes that a process has started and that have not ended. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

test('if a new process is killed before it serves, all go on, and the command says why', async () => {
  const before = presentPids()
  const others = new Set(childrenOf(server.child.pid!))
  const load = startSteadyLoad(server.url, apiKey)
  const vintem = vintemIn(temporaryFolder())
  const restarting = vintem(['restart'], { DATA_DIR, SECRET_KEY })
  // The first one prepares the restart, and the second one is to serve.
  const begun = new Set<number>()
  const victim = await until('another process begins', () => {
    for (const pid of childrenOf(server.child.pid!)) if (!others.has(pid)) begun.add(pid)
    return [...begun][1] ?? null
  })
  process.kill(victim, 'SIGKILL')
  const { code, stderr } = await restarting
  assert.equal(code, 1)
  assert.match(stderr, /The process api 1 ended before it served/)
  await load.end()
  assert.deepEqual(load.failed, [])
  assert.deepEqual(presentPids(), before)
})

test('a configuration that cannot be used replaces nothing, and the log says why', async () => {
  const before = presentPids()
  const folder = readlinkSync(`/proc/${server.child.pid}/cwd`)
  const faults = () => server.lines().flatMap(({ fault }) => fault ?? [])
  const cases: [string, RegExp][] = [
    ['COMPANY_REQUESTS=none', /COMPANY_REQUESTS must be a whole number/],
    ['OPERATOR_PORT=19999', /^OPERATOR_PORT or OPERATOR_HOST has changed\. Stop the server/],
    // The first process sends metrics, and keeps its collector.
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9',
      /^A variable of OpenTelemetry \(OTEL_…\) has changed\./,
    ],
  ]
  for (const [line, expected] of cases) {
    const count = faults().length
    writeFileSync(join(folder, '.env'), `${line}\n`)
    server.child.kill('SIGHUP')
    // The test before may have its own line written only now.
    await until('it is refused', () =>
      faults()
        .slice(count)
        .some((fault) => expected.test(fault)),
    )
  }
  assert.deepEqual(presentPids(), before)
})

longTest('a restart asked for while the server starts is done as soon as it has', async () => {
  const own = { DATA_DIR: temporaryFolder(), SECRET_KEY, PROCESSES: '2' }
  const { child } = await spawnServer(own)
  child.stdout!.resume()
  await until('it can be found', () => existsSync(join(own.DATA_DIR, 'server.json')))
  child.kill('SIGHUP')
  const { number, fault } = await until('all are replaced', () => {
    const { restart } = JSON.parse(readFileSync(join(own.DATA_DIR, 'server.json'), 'utf8'))
    return restart?.isOver ? restart : null
  })
  assert.deepEqual([number, fault], [1, null])
})

longTest('the command does not wait for ever for a server that begins no restart', async () => {
  const dataDir = temporaryFolder()
  const deaf = spawn(
    process.execPath,
    [
      '-e',
      'process.on("SIGHUP", () => console.log("asked"));setInterval(() => {}, 1000);console.log("ready")',
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  try {
    await once(deaf.stdout, 'data')
    const running = { pid: deaf.pid, url: 'http://127.0.0.1:9', processes: 2 }
    writeFileSync(join(dataDir, 'server.json'), JSON.stringify(running))
    const vintem = hostedVintemIn(temporaryFolder())
    const { code, stderr } = await vintem(['restart'], { DATA_DIR: dataDir, SECRET_KEY })
    assert.equal(code, 1)
    assert.match(stderr, /^The server has not begun to replace its processes/)
  } finally {
    deaf.kill('SIGKILL')
  }
})

test('one process is not replaced, and the command says what to do instead', async () => {
  const vintem = hostedVintemIn(temporaryFolder())
  const DATABASE_URL = 'postgres://127.0.0.1:9/none'
  const { code, stderr } = await vintem(['restart'], { DATABASE_URL, SECRET_KEY })
  assert.equal(code, 1)
  assert.match(stderr, /PROCESSES=1, and one process cannot be replaced without a gap/)
  const nobody = await vintem(['restart'], { DATA_DIR: temporaryFolder() })
  assert.match(nobody.stderr, /^No server runs on this machine with DATA_DIR/)
})
