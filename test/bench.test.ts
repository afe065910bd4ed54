import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { longTest } from './support/long.ts'
import { inherited, temporaryFolder } from './support/process.ts'

const MAIN = join(import.meta.dirname, '../bench/main.ts')

/** Starts a benchmark with a folder of its own for temporary files, and ends it by a signal. */
async function endBench(name: string, after: string, signal: 'SIGINT' | 'SIGTERM') {
  const folder = temporaryFolder()
  const bench = spawn(process.execPath, [MAIN, name], {
    env: { ...inherited, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exit = once(bench, 'exit')
  let told = ''
  for await (const chunk of bench.stderr) {
    told += chunk
    if (told.includes(after)) break
  }
  assert.ok(told.includes(after), told)
  const during = processesOf(folder)
  bench.kill(signal)
  const [code] = await exit
  return { code, during, after: processesOf(folder), files: readdirSync(folder) }
}

/** Processes that have this folder for temporary files, or work in it as databases do. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
      const isOurs = environment.includes(`TMPDIR=${folder}`)
      return (
        isOurs ||
        environment.some((set) => set.startsWith(`TMPDIR=${folder}/`)) ||
        readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`)
      )
    } catch {
      return false
    }
  })
}

longTest(
  'a benchmark that is ended while it measures leaves no server, database or folder behind',
  async () => {
    const { code, during, after, files } = await endBench('create', 'warm-up', 'SIGTERM')
    // The benchmark itself, two servers, and a postmaster with its processes.
    assert.ok(during.length > 5, String(during))
    assert.deepEqual({ code, after, files }, { code: 143, after: [], files: [] })
  },
)

test('a benchmark that is ended while its database is made leaves nothing behind', async () => {
  const { code, after, files } = await endBench('create', 'starting a database', 'SIGINT')
  assert.deepEqual({ code, after, files }, { code: 130, after: [], files: [] })
})
