import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, medianRatio } from '../../bench/setup.ts'
import { type Tally, triesIn } from './flood.ts'
import type { Measured } from './neighbour.ts'

/** What one attack has come to. */
export type Result = {
  title: string
  tally: Tally
  /** One of each a round, which are compared with each other. */
  without: Measured[]
  with: Measured[]
  /** The longest of all rounds. */
  block_ms: { without: number; with: number }
  waiting: { what: string; most_s: number; without_s: number[]; with_s: number[] } | null
}

/** A neighbour's p99 under an attack is at most so many times what it is without, or so long. */
export const MAX_RATIO = 3
export const MAX_P99_MS = 50

export const ratioOf = (result: Result): number =>
  medianRatio(
    result.with.map(({ p99_ms }) => p99_ms),
    result.without.map(({ p99_ms }) => p99_ms),
  )

/** Why an attack has hurt a neighbour; empty if it has not. */
export function faultsOf(result: Result): string[] {
  const { waiting } = result
  const failed = result.with.reduce((sum, round) => sum + round.failed, 0)
  const longest = Math.max(0, ...(waiting?.with_s ?? []))
  const isSlow = median(result.with.map(({ p99_ms }) => p99_ms)) > MAX_P99_MS
  return [
    ...(isSlow && ratioOf(result) > MAX_RATIO
      ? [`p99 more than ${MAX_RATIO} × and ${MAX_P99_MS} ms`]
      : []),
    ...(failed > 0 ? [`${failed} sales failed`] : []),
    ...(waiting && longest > waiting.most_s ? [`waited more than ${waiting.most_s} s`] : []),
  ]
}

const HEAD = [
  'attack',
  'tries',
  'refused',
  'p50 without / with',
  'p99 without / with',
  'p99 ratio',
  'longest block without / with',
  'the neighbour waits for',
  'verdict',
]

function rowOf(result: Result): string[] {
  const { title, tally, waiting, block_ms } = result
  const of = (side: Measured[], name: 'p50_ms' | 'p99_ms') =>
    median(side.map((round) => round[name])).toFixed(1)
  const both = (name: 'p50_ms' | 'p99_ms') =>
    `${of(result.without, name)} / ${of(result.with, name)} ms`
  const refused = (tally[429] ?? 0) + (tally[503] ?? 0) + (tally[401] ?? 0) + (tally[404] ?? 0)
  const faults = faultsOf(result)
  return [
    title,
    triesIn(tally).toLocaleString('en'),
    refused.toLocaleString('en'),
    both('p50_ms'),
    both('p99_ms'),
    ratioOf(result).toFixed(2),
    `${Math.round(block_ms.without)} / ${Math.round(block_ms.with)} ms`,
    waiting
      ? `${waiting.what}: ${median(waiting.without_s).toFixed(1)} / ${median(waiting.with_s).toFixed(1)} s`
      : '',
    faults.length === 0 ? 'holds' : `FAILS: ${faults.join(', ')}`,
  ]
}

/** The table in Markdown, which is also readable in a terminal. */
export function tableOf(results: Result[]): string {
  const rows = [HEAD, ...results.map(rowOf)]
  const widths = HEAD.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [line(rows[0]!), rule, ...rows.slice(1).map(line)].join('\n')
}

const PAGE = join(import.meta.dirname, '..', '..', 'SECURITY.md')
const [BEGIN, END] = ['<!-- test:attack -->', '<!-- /test:attack -->']

/** Puts a table between the two marks of SECURITY.md, and how it was measured. */
export function writeTable(table: string, how: string): void {
  const page = readFileSync(PAGE, 'utf8')
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`SECURITY.md has lost ${BEGIN} or ${END}`)
  writeFileSync(
    PAGE,
    `${page.slice(0, from + BEGIN.length)}\n${how}\n\n${table}\n${page.slice(to)}`,
  )
}
