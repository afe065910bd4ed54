import { type Findings, isClean } from './check.ts'
import type { Outcome, Plan } from './driver.ts'
import { OPERATIONS, type Step } from './journal.ts'

/** A run that has failed: by what it has found, or because it could not go on. */
export type Failure = { plan: Plan; findings: Findings; steps: Step[] }

export type Shortest = Failure & {
  /** How often a shorter one was run, and how many of these have failed too. */
  tries: number
  failed: number
}

/** Runs a plan. Returns null if it found nothing. */
export type Try = (plan: Plan) => Promise<Failure | null>

/** Makes of a way to run plans one that tells whether they fail. */
export const tryWith =
  (run: (plan: Plan) => Promise<Outcome>): Try =>
  async (plan) => {
    try {
      const { findings, journal, begun } = await run(plan)
      if (isClean(findings)) return null
      // What was not put in has no part in it.
      const strokes = plan.strokes.slice(0, begun)
      return { plan: { ...plan, strokes }, findings, steps: journal.steps }
    } catch (error) {
      const { message, cause } = error as Error
      const why = cause instanceof Error ? `${message}: ${cause.message}` : message
      const findings = { lost: [], doubled: [], leaked: [], wrong: [why] }
      return { plan, findings, steps: [] }
    }
  }

/**
 * Leaves out one part after the other, and keeps what still fails without it, until nothing can be
 * left out or the time is over. Where in the work a fault strikes is left to chance, so a run that
 * does not fail proves nothing: what is found is short, and perhaps not the shortest.
 */
export async function findShortest(
  first: Failure,
  attempt: Try,
  most_s: number,
): Promise<Shortest> {
  const latest_ms = performance.now() + most_s * 1000
  const found: Shortest = { ...first, tries: 0, failed: 0 }
  for (let isShorter = true; isShorter; ) {
    isShorter = false
    for (const plan of shorterOf(found)) {
      if (performance.now() > latest_ms) return found
      found.tries += 1
      const failure = await attempt(plan)
      if (failure === null) continue
      Object.assign(found, failure, { failed: found.failed + 1 })
      isShorter = true
      break
    }
  }
  return found
}

/** Plans with less, those with the least first. */
function shorterOf({ plan, findings, steps }: Failure): Plan[] {
  const { strokes, sellers, treasurers, operations } = plan
  const near = nearOf(findings, steps)
  const guess = strokes.filter((_, i) => near.strokes.has(i))
  const clients = {
    sellers: sellers.filter((n) => near.clients.has(`seller ${n}`)),
    treasurers: treasurers.filter((n) => near.clients.has(`treasurer ${n}`)),
  }
  const isKnown = clients.sellers.length + clients.treasurers.length > 0
  const plans: Plan[] = [
    ...(isKnown ? [{ ...plan, ...clients, strokes: guess }] : []),
    { ...plan, strokes: guess },
    ...halves(strokes).map((some) => ({ ...plan, strokes: some })),
    ...(isKnown ? [{ ...plan, ...clients }] : []),
    ...halves(sellers).map((some) => ({ ...plan, sellers: some })),
    { ...plan, treasurers: [] },
    ...halves(treasurers).map((some) => ({ ...plan, treasurers: some })),
    { ...plan, operations: [] },
    ...OPERATIONS.filter((one) => operations.includes(one)).map((left) => ({
      ...plan,
      operations: operations.filter((one) => one !== left),
    })),
  ]
  return plans.filter((one) => sizeOf(one) < sizeOf(plan) && isPossible(one))
}

const sizeOf = ({ strokes, sellers, treasurers, operations }: Plan): number =>
  strokes.length + sellers.length + treasurers.length + operations.length

const isPossible = ({ strokes, sellers, treasurers }: Plan): boolean =>
  strokes.length > 0 && sellers.length + treasurers.length > 0

const halves = <T>(all: T[]): T[][] => {
  if (all.length < 2) return []
  const middle = all.length >> 1
  return [all.slice(0, middle), all.slice(middle)]
}

/** The steps that have made what is lost or doubled: who has begun them, and before which fault. */
function stepsOf(findings: Findings, steps: Step[]): Step[] {
  const texts = Object.values(findings).flat()
  return steps.filter(({ id }) => id.length > 3 && texts.some((text) => text.includes(id)))
}

function nearOf(findings: Findings, steps: Step[]) {
  const near = stepsOf(findings, steps)
  const earliest = Math.min(...near.map(({ faults }) => faults))
  const those = near.filter(({ faults }) => faults === earliest)
  return {
    /** What was begun before the fault may have been under way when it came. */
    strokes: new Set([earliest - 1, earliest]),
    clients: new Set(those.map(({ client }) => client)),
  }
}

const MAX_LINES = 40

/** Tells a history so that somebody can read it, and how it is run again. */
export function tell({ plan, findings, steps, tries, failed }: Shortest): string {
  const { seed, strokes, sellers, treasurers, operations } = plan
  const near = stepsOf(findings, steps)
  const isNear = (step: Step) =>
    near.some((one) => one.client === step.client && one.operation === step.operation)
  const told: string[] = []
  let begun = 0
  for (const step of steps.filter(isNear)) {
    for (; begun < step.faults; begun += 1) told.push(`  ${strokes[begun]!.fault.title}`)
    told.push(`  ${step.client}, operation ${step.operation}: ${step.path} → ${step.id}`)
  }
  for (; begun < strokes.length; begun += 1) told.push(`  ${strokes[begun]!.fault.title}`)
  return [
    `Seed ${seed}. The shortest history that was found (${tries} shorter ones tried, ${failed} failed):`,
    `  faults ${numbersOf(strokes.map(({ fault, number }) => `${fault.name} ${number}`))};` +
      ` sellers ${numbersOf(sellers)}; treasurers ${numbersOf(treasurers)};` +
      ` operations: sales ${operations.join(' ')}`,
    ...told.slice(0, MAX_LINES),
    ...(told.length > MAX_LINES ? [`  and ${told.length - MAX_LINES} more`] : []),
    ...Object.entries(findings).flatMap(([name, lines]) =>
      lines.slice(0, MAX_LINES).map((one: string) => `  ${name}: ${one.slice(-1_000)}`),
    ),
  ].join('\n')
}

const MAX_NAMES = 20

function numbersOf(all: (string | number)[]): string {
  if (all.length === 0) return 'none'
  const more = all.length > MAX_NAMES ? [`and ${all.length - MAX_NAMES} more`] : []
  return [...all.slice(0, MAX_NAMES), ...more].join(', ')
}
