import type { Sample } from './watch-memory.ts'

/** The first part of the time: code is compiled, and caches and the allocator are filled. */
const WARM_UP = 1 / 2
/** Growth that may be chance: so many MiB, or this part of what a process has. */
const CHANCE_MIB = 24
const CHANCE_PART = 0.1
/** What is shorter tells nothing. */
const LEAST_S = 600

export type Verdict = {
  /** The median after the warm-up, in MiB. */
  level: number
  /** By the straight line that fits best after the warm-up. */
  perHour: number
  /** Null: it was too short to tell. */
  isBounded: boolean | null
}

type Measure = Exclude<keyof Sample, 'at_s'>

/** Whether what a process has of something grows on and on. */
export function judge(samples: Sample[], measure: Measure): Verdict {
  const end_s = samples.at(-1)?.at_s ?? 0
  const begin_s = samples[0]?.at_s ?? 0
  const from_s = begin_s + (end_s - begin_s) * WARM_UP
  const later = samples.filter(({ at_s }) => at_s >= from_s)
  const values = later.map((sample) => sample[measure]).sort((a, b) => a - b)
  const level = values[values.length >> 1] ?? 0
  const slope = slopeOf(later.map((sample) => [sample.at_s, sample[measure]]))
  const grown = slope * (end_s - from_s)
  const isBounded = grown <= Math.max(CHANCE_MIB, CHANCE_PART * level)
  const isLong = end_s - begin_s >= LEAST_S
  return { level, perHour: slope * 3600, isBounded: isLong ? isBounded : null }
}

/** How much the straight line through these points grows in a second. */
function slopeOf(points: [x: number, y: number][]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [x0, y0] = [mean(0), mean(1)]
  const above = points.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0)
  const below = points.reduce((sum, [x]) => sum + (x - x0) ** 2, 0)
  return below === 0 ? 0 : above / below
}
