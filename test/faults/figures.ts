import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { Outcome } from './driver.ts'

/** What a test with a load of its own has come to, for the one table. */
export type Figures = {
  times?: number
  acknowledged?: number
  events?: number
  lost?: number
  doubled?: number
  leaked?: number
  wrong?: number
  /** How long each was without service. */
  recoveries_ms?: number[]
  slowest_ms?: number
  /** What there is no column for. */
  more?: string
}

/** Where a test writes its figures, if `npm run test:faults` has started it. */
export const FIGURES_FILE = 'FIGURES_FILE'

export function report(figures: Figures): void {
  const file = process.env[FIGURES_FILE]
  if (file) appendFileSync(file, `${JSON.stringify(figures)}\n`)
}

/** Those of a test that uses the driver. */
export const figuresOf = ({
  begun,
  tally,
  arrived,
  findings,
  recoveries_ms,
}: Outcome): Figures => ({
  times: begun,
  acknowledged: tally.acknowledged,
  events: arrived,
  lost: findings.lost.length,
  doubled: findings.doubled.length,
  leaked: findings.leaked.length,
  wrong: findings.wrong.length,
  recoveries_ms,
  slowest_ms: tally.slowest_ms,
})

/** All that was written to a file, the last word on each. */
export function readFigures(file: string): Figures {
  if (!existsSync(file)) return {}
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return Object.assign({}, ...lines.map((line) => JSON.parse(line)))
}
