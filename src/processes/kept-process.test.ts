import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLog } from '../lib/log.ts'
import { keepProcess, watchAnswers } from './kept-process.ts'
import { CAN_SHARE_PORT } from './listener.ts'
import type { StartOrder } from './messages.ts'

test('a machine that sleeps for long has missed one answer, not many', async (t) => {
  let [asked, silent] = [0, 0]
  const ask = () => {
    asked += 1
  }
  const onSilence = () => {
    silent += 1
  }
  const watch = watchAnswers(ask, onSilence, 10)
  t.after(watch.end)
  // While it sleeps nothing of this process runs, as here.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(asked <= 1, `it was asked ${asked} times`)
  assert.equal(silent, 0)
})

test('who answers the last question is not silent', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let silent = 0
  const watch = watchAnswers(
    () => {},
    () => {
      silent += 1
    },
  )
  t.mock.timers.tick(60_000)
  watch.answered()
  t.mock.timers.tick(60_000)
  assert.equal(silent, 0)
  t.mock.timers.tick(10_000)
  assert.equal(silent, 1)
  t.mock.timers.tick(600_000)
  assert.equal(silent, 1, 'it is said once')
})

/** A process that listens, and hands over its socket, or waits with that for SIGHUP. */
const CHILD = `import net from 'node:net'
const [port, isLate] = process.argv.slice(2)
const server = net.createServer((socket) => socket.end())
const address = { port: Number(port), host: '127.0.0.1', reusePort: true }
const give = () => process.send({ listener: true }, server._handle)
process.on('SIGHUP', give)
process.on('message', (message, handle) => {
  if (message.start) server.listen(handle ?? address, () => process.send({ isServing: true }))
  else if (message.handOver) isLate ? process.send({ calls: [] }) : give()
  else if (message.stop) process.exit(0)
})`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** A process with a socket of its own, on a port where nobody else listens. */
async function keepListening(t: TestContext, ...how: 'late'[]) {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-kept-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [exec, port] = [join(folder, 'child.mjs'), await freePort()]
  writeFileSync(exec, CHILD)
  cluster.setupPrimary({ exec, args: [String(port), ...how] })
  const order = { kind: 'api', name: 'api 1' } as StartOrder
  const asked = Promise.withResolvers<void>()
  const onStart = () => ({ receive: () => asked.resolve(), end() {} })
  const kept = keepProcess({ order, log: createLog('silent'), onStart })
  await kept.started
  async function isOpen(): Promise<boolean> {
    const socket = connect({ port, host: '127.0.0.1' })
    const opened = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return opened
  }
  return { kept, order, isOpen, asked: asked.promise }
}

const onLinux = { skip: !CAN_SHARE_PORT }

test('a socket that comes too late to be handed over is closed', onLinux, async (t) => {
  const { kept, order, isOpen, asked } = await keepListening(t, 'late')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const replaced = kept.replace(order, 10_000)
  await asked
  t.mock.timers.tick(5_000)
  process.kill(kept.pid()!, 'SIGHUP')
  await replaced
  t.mock.timers.reset()
  assert.ok(await isOpen())
  await kept.stop(10_000)
  assert.equal(await isOpen(), false, 'nobody has the socket any more')
})

test(
  'the socket for a process that cannot be made is closed, and handed over again',
  onLinux,
  async (t) => {
    const { kept, order, isOpen } = await keepListening(t)
    const { fork } = cluster
    cluster.fork = () => {
      throw Object.assign(new Error('no memory'), { code: 'ENOMEM' })
    }
    await assert.rejects(kept.replace(order, 10_000), /ENOMEM/)
    cluster.fork = fork
    await kept.replace(order, 10_000)
    assert.ok(await isOpen())
    await kept.stop(10_000)
    assert.equal(await isOpen(), false, 'nobody has the socket any more')
  },
)

test('a socket that is handed over while the server is stopped is closed', onLinux, async (t) => {
  const { kept, order, isOpen } = await keepListening(t)
  const replaced = assert.rejects(kept.replace(order, 10_000), /is stopped/)
  await Promise.all([kept.stop(10_000), replaced])
  assert.equal(await isOpen(), false, 'nobody has the socket any more')
})
