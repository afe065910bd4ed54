import { type Figures, type Period, readFigures } from '../../core/figures/figures.ts'
import {
  type Days,
  daysBefore,
  type Part,
  partsOf,
  periodBefore,
  periodOf,
  type Step,
  untilToday,
} from './periods.ts'
import type { Visit } from './visit.ts'

/** A part of a period, and the same part of the period before, if that is so long. */
export type PartFigures = { part: Part; figures: Figures; before: Figures | null }

/** What the ledger says of a period, of its parts, and of what it is compared with. */
export type PeriodFigures = {
  days: Days
  /** What the whole is compared with. */
  compared: Period
  all: Figures
  before: Figures
  parts: PartFigures[]
  /** The last parts of the period before, if it is longer: October has a day more than November. */
  longerBefore: { part: Part; before: Figures }[]
}

/** All figures are read at once, so that the parts add up to the whole. */
export async function readPeriod(
  { app, company }: Pick<Visit, 'app' | 'company'>,
  days: Days,
  step: Step,
): Promise<PeriodFigures> {
  const now = app.clock.now()
  const compared = periodBefore(days, now)
  const parts = partsOf(untilToday(days, now), step).filter(({ from }) => from <= now)
  const earlier = partsOf(daysBefore(days), step)
    .filter(({ from }) => from < compared.to)
    .map((part) => ({ ...part, to: part.to < compared.to ? part.to : compared.to }))
  const periods = [periodOf(days), compared, ...parts, ...earlier]
  const [all, before, ...rest] = await readFigures(app, company, periods)
  const [own, former] = [rest.slice(0, parts.length), rest.slice(parts.length)]
  return {
    days,
    compared,
    all: all!,
    before: before!,
    parts: parts.map((part, i) => ({ part, figures: own[i]!, before: former[i] ?? null })),
    longerBefore: earlier.map((part, i) => ({ part, before: former[i]! })).slice(parts.length),
  }
}
