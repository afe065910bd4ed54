import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startServer, temporaryFolder } from './support/process.ts'

/** Of one core, in process and database together. */
const MAX_PERCENT = 1
const WINDOW_MS = 10_000
/** Machines with much to do count more than was used: the best of several windows counts. */
const MAX_WINDOWS = 12
const TICK_MS = 10

type Usage = { parent: number; cpu_ms: number }

/** What a process and those of its children that have ended have used of the processor. */
function usageOf(pid: string): Usage | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { parent: Number(fields[1]), cpu_ms: ticks * TICK_MS }
  } catch {
    return null
  }
}

/** What a process and all below it have used. */
function cpuBelow_ms(root: number): number {
  const all = new Map<number, Usage>()
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const usage = usageOf(name)
    if (usage) all.set(Number(name), usage)
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (all.has(pid) && all.get(pid)!.parent !== pid && isBelow(all.get(pid)!.parent))
  return [...all].reduce((sum, [pid, { cpu_ms }]) => (isBelow(pid) ? sum + cpu_ms : sum), 0)
}

test('an idle service uses less than 1 % of a core, its database included', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const server = await startServer({ DATA_DIR: temporaryFolder() })
  const windows: number[] = []
  while (windows.length < MAX_WINDOWS) {
    const [before_ms, began_ms] = [cpuBelow_ms(server.child.pid!), performance.now()]
    await pause(WINDOW_MS)
    const used_ms = cpuBelow_ms(server.child.pid!) - before_ms
    windows.push((used_ms / (performance.now() - began_ms)) * 100)
    if (windows.at(-1)! < MAX_PERCENT) break
  }
  t.diagnostic(`${windows.map((percent) => percent.toFixed(2)).join(', ')} % of a core`)
  assert.ok(Math.min(...windows) < MAX_PERCENT)
})
