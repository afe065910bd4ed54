import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  closeSync,
  createReadStream,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { createLogOutput } from './log-output.ts'

const folder = mkdtempSync(join(tmpdir(), 'vintem-log-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const LONG_MS = 60_000

test('lines reach the file whole and in their order', async () => {
  const path = join(folder, 'log')
  const fd = openSync(path, 'w')
  const output = createLogOutput(fd)
  const lines = Array.from({ length: 5_000 }, (_, i) => `{"line":${i},"text":"ação"}\n`)
  for (const line of lines) output.write(line)
  assert.equal(await output.flush(LONG_MS), true)
  output.write('one more\n')
  assert.equal(await output.flush(LONG_MS), true)
  assert.equal(readFileSync(path, 'utf8'), `${lines.join('')}one more\n`)
  closeSync(fd)
})

test('a flush with nothing to write ends at once', async () => {
  assert.equal(await createLogOutput(1).flush(LONG_MS), true)
})

test('lines that could not be written are lost, counted, and reported once writing works again', async () => {
  const path = join(folder, 'again')
  const fd = openSync(path, 'w')
  closeSync(fd)
  const output = createLogOutput(fd)
  output.write('a\nb\n')
  assert.equal(await output.flush(LONG_MS), true)
  // The next file to be opened gets the number of the one that was closed.
  assert.equal(openSync(path, 'w'), fd)
  output.write('c\n')
  await output.flush(LONG_MS)
  output.write('d\n')
  await output.flush(LONG_MS)
  const [notice, ...rest] = readFileSync(path, 'utf8').split('\n')
  assert.equal(JSON.parse(notice!).lost, 2)
  assert.deepEqual(rest, ['c', 'd', ''])
  closeSync(fd)
})

test('what waits for a slow reader is bounded', async () => {
  const path = join(folder, 'bounded')
  const fd = openSync(path, 'w')
  const output = createLogOutput(fd)
  const line = `${'x'.repeat(999)}\n`
  // All in one go, so that nothing can be written meanwhile.
  for (let i = 0; i < 3_000; i += 1) output.write(line)
  await output.flush(LONG_MS)
  output.write('after\n')
  await output.flush(LONG_MS)
  const text = readFileSync(path, 'utf8')
  assert.ok(text.length < 1_100_000, `${text.length} characters`)
  const lost = Number(/"lost":(\d+)/.exec(text)?.[1])
  assert.equal(lost + text.split('\n').filter((kept) => kept.startsWith('x')).length, 3_000)
  closeSync(fd)
})

test('lines of outputs that share a pipe do not mix, even if its reader is slow', {
  skip: process.platform !== 'linux',
}, async () => {
  const { path, close } = await openPipe()
  const fds = [openSync(path, 'r+'), openSync(path, 'r+')]
  const lineOf = (name: number, i: number) => `{"output":${name},"line":${i},"text":"ação"}`
  const COUNT = 3_000
  const long = `{"text":"${'x'.repeat(3_000)}"}`
  const written = fds.map((fd, name) => {
    const output = createLogOutput(fd, true)
    for (let i = 0; i < COUNT; i += 1) output.write(`${lineOf(name, i)}\n`)
    output.write(`${long}\n`)
    return output.flush(LONG_MS)
  })
  // Both wait for the pipe, which takes 64 KiB, before anything is read.
  const reader = createReadStream(path, { encoding: 'utf8' })
  let text = ''
  for await (const chunk of reader) {
    text += chunk
    if (text.split('\n').length > 2 * (COUNT + 1)) break
  }
  assert.deepEqual(await Promise.all(written), [true, true])
  const lines = text.split('\n').slice(0, -1)
  for (const name of [0, 1]) {
    const own = lines.filter((line) => line.startsWith(`{"output":${name},`))
    assert.deepEqual(
      own,
      Array.from({ length: COUNT }, (_, i) => lineOf(name, i)),
    )
  }
  assert.equal(lines.filter((line) => line === long).length, 2)
  for (const fd of fds) closeSync(fd)
  close()
})

/** A pipe that a shell has made, for which no other program is needed. Nobody reads it. */
async function openPipe(): Promise<{ path: string; close(): void }> {
  const wait = `'console.error(process.pid); setInterval(() => {}, 1e9)'`
  const shell = spawn('sh', ['-c', `"$0" -e ${wait} | "$0" -e ${wait}`, process.execPath], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const pids: number[] = []
  for await (const line of createInterface({ input: shell.stderr })) {
    if (pids.push(Number(line)) === 2) break
  }
  const isPiped = (pid: number, fd: number) =>
    readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('pipe:')
  const first = pids.find((pid) => isPiped(pid, 1))
  return {
    path: `/proc/${first}/fd/1`,
    close: () => {
      for (const pid of pids) process.kill(pid, 'SIGKILL')
    },
  }
}
