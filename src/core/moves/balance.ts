import type { Uuid } from '../../lib/ids.ts'

/** A company, and how much it is for its place. */
export type Weighed = { companyId: Uuid; weight: number }

/** A move from one place to another, both counted from 1 on. */
export type PlannedMove = { companyId: Uuid; from: number; to: number }

/** Places that differ by less than this part of their mean are left as they are. */
const TOLERANCE = 0.1

const sumOf = (companies: Weighed[]): number => companies.reduce((sum, one) => sum + one.weight, 0)

/**
 * The moves that make places about equally full. Each takes from the fullest place, for the
 * emptiest one, the company that makes the two most alike, so few companies are moved. If none
 * would, there is nothing more to do: a single large company fills its place.
 */
export function planMoves(places: Weighed[][]): PlannedMove[] {
  const held = places.map((companies) => [...companies])
  const sums = held.map(sumOf)
  const enough = (sums.reduce((all, sum) => all + sum, 0) / places.length) * TOLERANCE
  const moves: PlannedMove[] = []
  for (;;) {
    const [from, to] = [sums.indexOf(Math.max(...sums)), sums.indexOf(Math.min(...sums))]
    const gap = sums[from]! - sums[to]!
    if (gap <= enough) return moves
    const best = bestOf(held[from]!, gap)
    if (!best) return moves
    held[from] = held[from]!.filter((one) => one !== best)
    held[to]!.push(best)
    sums[from]! -= best.weight
    sums[to]! += best.weight
    moves.push({ companyId: best.companyId, from: from + 1, to: to + 1 })
  }
}

/** The company whose move leaves the smallest gap, if it leaves a smaller one. */
function bestOf(companies: Weighed[], gap: number): Weighed | null {
  const leaves = ({ weight }: Weighed) => Math.abs(gap - 2 * weight)
  const best = companies.reduce<Weighed | null>(
    (found, one) => (found && leaves(found) <= leaves(one) ? found : one),
    null,
  )
  return best && leaves(best) < gap ? best : null
}
