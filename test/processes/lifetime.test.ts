import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { mostConnections } from '../../src/db/connection-counts.ts'
import { payer } from '../support/api.ts'
import { cloneDatabase } from '../support/database.ts'
import { longTest } from '../support/long.ts'
import { freePort, startServer } from '../support/process.ts'
import { serve } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { makeShop, SECRET_KEY, send, startSeveral, untilGone } from './several.ts'

const DATABASE_URL = await cloneDatabase()
const { keys } = await makeShop(DATABASE_URL)
const key = keys[0]!

async function reportFaults(): Promise<void> {
  const { port } = await serve(() => {})
  const nowhere = new URL(DATABASE_URL)
  nowhere.port = String(await freePort())
  const cases: [Record<string, string>, RegExp, code: number][] = [
    [{ DATABASE_URL, PORT: String(port) }, /^The port is taken: something listens on/, 2],
    [{ DATABASE_URL: nowhere.href }, /refuses connections. Start PostgreSQL/, 1],
  ]
  const refused = cases.map(async ([environment, expected, code]) => {
    const server = await startServer({ SECRET_KEY, PROCESSES: '2', ...environment })
    assert.equal(await server.ended, code)
    assert.match(server.output(), expected)
    assert.equal(server.output().trim().split('\n').length, 1, server.output())
  })
  await Promise.all(refused)
}

/** The value of a metric, over all its labels or over those that are named. */
function sumOf(metrics: string, name: string, labels = ''): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith(name) && line.includes(labels))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

async function askAsOperator(): Promise<void> {
  const OPERATOR_PORT = String(await freePort())
  const server = await startSeveral({ DATABASE_URL, OPERATOR_PORT })
  const operator = `http://127.0.0.1:${OPERATOR_PORT}`
  const metrics = async () => (await fetch(`${operator}/metrics`)).text()
  const ready = async () => (await (await fetch(`${operator}/ready`)).json()) as Ready

  const create = () =>
    send(server.url, key, ['POST', '/charge/pix'], { amount: 1000, customer: payer() })
  const list = () => send(server.url, key, ['GET', '/charge'])
  const asked = Array.from({ length: 150 }, (_, n) => (n % 2 === 0 ? create() : list()))
  const [most] = await Promise.all([mostSeen(Promise.all(asked)), ...asked])
  assert.ok(most <= mostConnections(10, 2), `${most} connections`)
  const created = () => metrics().then((text) => sumOf(text, COUNT, 'status="201"'))
  assert.equal(await created(), 75)
  assert.deepEqual(await ready(), { status: 'ready', faults: [], warnings: [] })

  const stopped = server.pidOf('worker')
  process.kill(stopped, 'SIGSTOP')
  const { status, warnings } = await ready()
  assert.deepEqual([status, warnings], ['degraded', ['The process worker does not answer.']])
  process.kill(stopped, 'SIGCONT')
  await until('all answer', async () => (await ready()).status === 'ready')

  process.kill(server.pidOf('api 1'), 'SIGKILL')
  await server.untilStarted('api 1', 2)
  assert.equal(await created(), 75, 'what a process has counted stays')

  // If the first process is killed, none of the others stays behind.
  server.child.kill('SIGKILL')
  await server.ended
  await untilGone(server.pids())
}

type Ready = { status: string; faults: string[]; warnings: string[] }
const COUNT = 'vintem_http_request_seconds_count{method="POST",route="/charge/pix"'

/** The most connections that were there until something has ended. */
async function mostSeen(ended: Promise<unknown>): Promise<number> {
  const client = new pg.Client({ connectionString: DATABASE_URL, application_name: 'test' })
  await client.connect()
  let [most, isOver] = [0, false]
  const over = ended.then(() => {
    isOver = true
  })
  while (!isOver) {
    const { rows } = await client.query(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and application_name <> 'test'`,
    )
    most = Math.max(most, rows[0].count)
  }
  await over
  await client.end()
  return most
}

test(
  'operators get one answer for all processes, and kill -9 of the first leaves nothing',
  askAsOperator,
)

longTest(
  'a port that is taken and a database that refuses are reported in a sentence',
  reportFaults,
)
