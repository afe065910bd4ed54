import assert from 'node:assert/strict'
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long one piece of work may keep the event loop, by what the project promises. */
export const MAX_BLOCK_MS = 50
/** The least of several tries counts: compiling falls into some of them. */
const TRIES = 4

/**
 * The time of the processor that this thread has had, in milliseconds. Unlike the time of day it
 * does not pass while other processes run.
 */
export function cpu_ms(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Requires that a piece of work that cannot be interrupted is short. */
export function assertShort(name: string, work: () => void): void {
  const tries: number[] = []
  for (let i = 0; i < TRIES; i++) {
    const start = cpu_ms()
    work()
    tries.push(cpu_ms() - start)
    if (tries.at(-1)! < MAX_BLOCK_MS) return
  }
  assert.fail(`${name} keeps the event loop for ${Math.min(...tries)} ms`)
}

/** Most turns of the loop are shorter. They are not kept. */
const SHORT_MS = 1

type Turn = { start: number; end: number; cpu_ms: number }

/**
 * Runs something and returns the longest time that the event loop was blocked meanwhile. Collecting
 * garbage is not counted: how long that takes depends on all that the process holds, and a process
 * has the tests of many files.
 */
export async function longestBlock_ms(run: () => Promise<unknown>): Promise<number> {
  const collections: PerformanceEntry[] = []
  const observer = new PerformanceObserver((seen) => {
    collections.push(...seen.getEntries())
  })
  observer.observe({ entryTypes: ['gc'] })
  const turns: Turn[] = []
  let [start, before_ms] = [performance.now(), cpu_ms()]
  let isOver = false
  const look = () => {
    const [end, now_ms] = [performance.now(), cpu_ms()]
    const turn = { start, end, cpu_ms: now_ms - before_ms }
    if (turn.cpu_ms > SHORT_MS) turns.push(turn)
    ;[start, before_ms] = [end, now_ms]
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await run()
  isOver = true
  // Collections are reported in a later turn.
  await nextTurn()
  collections.push(...observer.takeRecords())
  observer.disconnect()
  const collecting_ms = ({ start, end }: Turn) =>
    collections
      .filter((one) => one.startTime >= start && one.startTime < end)
      .reduce((sum, { duration }) => sum + duration, 0)
  return Math.max(0, ...turns.map((turn) => turn.cpu_ms - collecting_ms(turn)))
}

/** Requires that the event loop is never kept for long while something runs. */
export async function assertYields(name: string, run: () => Promise<unknown>): Promise<void> {
  const tries: number[] = []
  for (let i = 0; i < TRIES; i++) {
    tries.push(await longestBlock_ms(run))
    if (tries.at(-1)! < MAX_BLOCK_MS) return
  }
  assert.fail(`${name} keeps the event loop for ${Math.min(...tries)} ms`)
}
