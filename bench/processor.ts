import { readdirSync, readFileSync } from 'node:fs'

/** The unit in which the system counts the time of the processor. */
const TICK_MS = 10

type Usage = { parent: number; cpu_ms: number; ofEnded_ms: number }

/** What a process and those of its children that have ended have used of the processor. */
function usageOf(pid: string): Usage | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [user, system, ofUser, ofSystem] = fields.slice(11, 15).map(Number) as [
      number,
      number,
      number,
      number,
    ]
    const ofEnded_ms = (ofUser + ofSystem) * TICK_MS
    return { parent: Number(fields[1]), cpu_ms: (user + system) * TICK_MS + ofEnded_ms, ofEnded_ms }
  } catch {
    return null
  }
}

/** A process and all below it, without those below `except`. */
function usagesBelow(root: number, except?: number): [pid: number, Usage][] {
  const all = new Map<number, Usage>()
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const usage = usageOf(name)
    if (usage) all.set(Number(name), usage)
  }
  const isBelow = (pid: number): boolean =>
    pid === root ||
    (pid !== except &&
      all.has(pid) &&
      all.get(pid)!.parent !== pid &&
      isBelow(all.get(pid)!.parent))
  return [...all].filter(([pid]) => isBelow(pid))
}

/** What a process and all below it have used, in milliseconds of one core. */
export const cpuBelow_ms = (root: number): number =>
  usagesBelow(root).reduce((sum, [, { cpu_ms }]) => sum + cpu_ms, 0)

/** The same in microseconds, and exact but for processes that have ended. */
export const cpuBelow_us = (root: number, except?: number): number =>
  usagesBelow(root, except).reduce(
    (sum, [pid, { ofEnded_ms }]) => sum + cpuOfThreads_us(pid) + ofEnded_ms * 1000,
    0,
  )

function cpuOfThreads_us(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const used_ns = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    )
    return used_ns.reduce((sum, one) => sum + one, 0) / 1000
  } catch {
    return 0
  }
}

/** The process that has started this one. */
export const parentOf = (pid: number): number => usageOf(String(pid))!.parent

/** A round counts if other machines of the same computer took no larger share of all cores. */
const MAX_STOLEN = 0.05
const MAX_TRIES = 5

/** The time of all cores, and what of it other machines of the same computer have taken. */
function readStolen(): { all: number; stolen: number } {
  try {
    const [first] = readFileSync('/proc/stat', 'utf8').split('\n')
    const ticks = first!.trim().split(/\s+/).slice(1, 9).map(Number)
    return { all: ticks.reduce((sum, count) => sum + count, 0), stolen: ticks[7]! }
  } catch {
    return { all: 0, stolen: 0 }
  }
}

/**
 * Runs a round of a measurement, and again if others took too much of the computer meanwhile. Gives
 * the result of the round of which they took least.
 */
export async function measureUndisturbed<T>(
  round: () => Promise<T>,
  maxTries = MAX_TRIES,
): Promise<T> {
  let best: { stolen: number; result: T } | null = null
  for (let tries = 0; tries < maxTries; tries++) {
    const before = readStolen()
    const result = await round()
    const after = readStolen()
    const stolen = (after.stolen - before.stolen) / (after.all - before.all || 1)
    if (best === null || stolen < best.stolen) best = { stolen, result }
    if (stolen <= MAX_STOLEN) break
  }
  return best!.result
}
