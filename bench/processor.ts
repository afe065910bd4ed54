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
