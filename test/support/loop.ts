import assert from 'node:assert/strict'

/** How long one piece of work may keep the event loop, by what the project promises. */
export const MAX_BLOCK_MS = 50
/** The least of several tries counts: compiling and collecting garbage fall into some of them. */
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

/** Runs something and returns the longest time that the event loop was blocked meanwhile. */
export async function longestBlock_ms(run: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = cpu_ms()
  let isOver = false
  const look = () => {
    const now = cpu_ms()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await run()
  isOver = true
  return longest
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
