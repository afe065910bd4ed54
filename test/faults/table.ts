import type { Outcome } from './driver.ts'
import type { Fault } from './faults.ts'
import type { Figures } from './figures.ts'

/** A row of the table. */
export type Row = {
  title: string
  /** Null: it was not tried, for the reason in the verdict, or it has a load of its own. */
  outcome: Outcome | null
  figures: Figures
  verdict: string
}

const HEAD = [
  'fault',
  'times',
  'acknowledged',
  'events',
  'lost',
  'doubled',
  'leaked',
  'other differences',
  'recovery: half / 99 % / slowest',
  'slowest request',
  'verdict',
]

export const partOf = (values: number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(Math.ceil(values.length * part) - 1, 0)] ?? 0

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
const count = (number: number): string => number.toLocaleString('en')

/** Why a recovery took longer than was promised; null if it did not. */
export function lateOf({ limit }: Fault, { recoveries_ms }: Outcome): string | null {
  if (!limit) return null
  const took_ms = partOf(recoveries_ms, limit.part)
  return took_ms <= limit.ms ? null : `recovery ${seconds(took_ms)}, not ${seconds(limit.ms)}`
}

/** What there was less of than asked for. */
export function missingOf({ plan, begun, tally, arrived }: Outcome): string[] {
  const { acknowledged = 0, events = 0 } = plan.least ?? {}
  const all = [
    ['faults', begun, plan.strokes.length],
    ['acknowledged', tally.acknowledged, acknowledged],
    ['events', arrived, events],
  ] as const
  return all.flatMap(([name, is, least]) =>
    is < least ? [`${count(is)} of ${count(least)} ${name}`] : [],
  )
}

/** With their number, if not every fault had something to recover. */
function recoveriesOf({ recoveries_ms, times }: Figures): string {
  if (!recoveries_ms) return ''
  const parts = [0.5, 0.99, 1].map((part) => seconds(partOf(recoveries_ms, part)))
  const some = recoveries_ms.length < (times ?? 0) ? ` (of ${count(recoveries_ms.length)})` : ''
  return parts.join(' / ') + some
}

function cellsOf({ title, figures, verdict }: Row): string[] {
  const { times, acknowledged, events, lost, doubled, leaked, wrong, slowest_ms, more } = figures
  const counts = [times, acknowledged, events, lost, doubled, leaked, wrong]
  return [
    title,
    ...counts.map((one) => (one === undefined ? '' : count(one))),
    recoveriesOf(figures),
    slowest_ms === undefined ? '' : seconds(slowest_ms),
    more ? `${verdict}: ${more}` : verdict,
  ]
}

/** The table in Markdown, which is also readable in a terminal. */
export function tableOf(rows: Row[]): string {
  const all = [HEAD, ...rows.map(cellsOf)]
  const widths = HEAD.map((_, i) => Math.max(...all.map((row) => row[i]!.length)))
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [line(all[0]!), rule, ...all.slice(1).map(line)].join('\n')
}
