import assert from 'node:assert/strict'
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, mock, type TestContext, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/lib/log.ts'
import { startGroup } from '../../src/processes/group.ts'
import type { ToParent } from '../../src/processes/messages.ts'
import { temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'

// This process is the parent. Its children do nothing but wake tasks, see the file.
cluster.setupPrimary({ exec: join(import.meta.dirname, 'wakes-process.ts'), silent: true })

const got = { wakes: 0, serving: 0, alive: 0 }
cluster.on('message', (_, message: ToParent) => {
  if ('wakes' in message) got.wakes += 1
  if ('isServing' in message) got.serving += 1
  if ('isAlive' in message) got.alive += 1
})

// The parent asks its children as often as the tests say.
mock.timers.enable({ apis: ['setInterval'] })
const ASK_MS = 10_000

const log = createLog('silent')
const config = readConfig({ DATA_DIR: temporaryFolder(), PROCESSES: '2', SHUTDOWN_SECONDS: '60' })
const group = startGroup({ config, databaseUrl: '', hasWorker: true, log })
after(() => group.stop())
await group.started

/** The process of the tasks, which is made last at first. */
const worker = Object.values(cluster.workers!).at(-1)!
const others = Object.values(cluster.workers!).slice(0, -1) as Worker[]

/** How many messages to a process Node has not written yet. */
function countUnsent(t: TestContext, child: Worker['process']): () => number {
  let unsent = 0
  const send = child.send.bind(child)
  t.mock.method(child, 'send', (message: object, sent: (error: Error | null) => void) => {
    unsent += 1
    return send(message, (error) => {
      unsent -= 1
      sent(error)
    })
  })
  return () => unsent
}

test('wakes for a process that reads nothing are merged', async (t) => {
  const { process: child } = worker
  let output = ''
  child.stdout!.on('data', (chunk) => {
    output += chunk
  })
  const unsent = countUnsent(t, child)
  t.after(() => child.kill('SIGCONT'))
  child.kill('SIGSTOP')
  await until('its channel is full', () => unsent() > 0)
  const before = got.wakes
  await until('others wake it on', () => got.wakes > before + 200)
  assert.equal(unsent(), 1)
  output = ''
  child.kill('SIGCONT')
  await until('all is sent', () => unsent() === 0)
  for (const name of ['api 1', 'api 2']) {
    await until('it is woken', () => output.includes(`woken for task of ${name}`))
  }
})

test('a process that cannot be made again is tried again later', async (t) => {
  const error = t.mock.method(log, 'error', () => {})
  const serving = got.serving
  // More than a new process can be given, so that it cannot be made.
  process.env.TOO_LONG = 'x'.repeat(2 ** 21)
  t.after(() => delete process.env.TOO_LONG)
  others[0]!.process.kill('SIGKILL')
  const isRefused = (call: { arguments: unknown[] }) =>
    (call.arguments[0] as { error?: string }).error === 'E2BIG'
  await until('it is refused twice', () => error.mock.calls.filter(isRefused).length >= 2)
  delete process.env.TOO_LONG
  await until('it serves again', () => got.serving > serving)
})

/** Asks so many times. The others answer each time. */
async function askTimes(times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const before = got.alive
    mock.timers.tick(ASK_MS)
    await until('the others answer', () => got.alive === before + others.length)
  }
}

test('a process that does not answer for a minute is killed, but not while it starts', async (t) => {
  const error = t.mock.method(log, 'error', () => {})
  const texts = () => error.mock.calls.map(({ arguments: [, text] }) => text)
  const forked = once(cluster, 'fork') as Promise<[Worker]>
  t.after(() => worker.process.kill('SIGCONT'))
  worker.process.kill('SIGSTOP')
  await askTimes(6)
  assert.deepEqual(texts(), [])
  await askTimes(1)
  const [next] = await forked
  next.process.kill('SIGSTOP')
  const said = [
    'a process has not answered for a minute and is killed',
    'a process has ended and is started again',
  ]
  assert.deepEqual(texts(), said)
  const serving = got.serving
  await askTimes(20)
  assert.deepEqual(texts(), said)
  next.process.kill('SIGCONT')
  await until('it serves', () => got.serving > serving)
})
