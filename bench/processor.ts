import { readdirSync, readFileSync } from 'node:fs'

/** The unit in which the system counts the time of the processor. */
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

/** What a process and all below it have used, in milliseconds of one core. */
export function cpuBelow_ms(root: number): number {
  const all = new Map<number, Usage>()
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const usage = usageOf(name)
    if (usage) all.set(Number(name), usage)
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (all.has(pid) && all.get(pid)!.parent !== pid && isBelow(all.get(pid)!.parent))
  return [...all].reduce((sum, [pid, { cpu_ms }]) => (isBelow(pid) ? sum + cpu_ms : sum), 0)
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
export async function measureUndisturbed<T>(round: () => Promise<T>): Promise<T> {
  let best: { stolen: number; result: T } | null = null
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = readStolen()
    const result = await round()
    const after = readStolen()
    const stolen = (after.stolen - before.stolen) / (after.all - before.all || 1)
    if (best === null || stolen < best.stolen) best = { stolen, result }
    if (stolen <= MAX_STOLEN) break
  }
  return best!.result
}
