import { scaleBand, scaleLinear, scalePoint } from 'd3-scale'
import { curveMonotoneX, line } from 'd3-shape'
import { type Html, html } from '../html.ts'

export type Bar = {
  /** The text below the bar. Not all are shown if there are many. */
  label: string
  value: number
  /** The text that the bar shows under a pointer. */
  hint: string
}

export type Chart = {
  /** What screen readers say instead of the chart. */
  title: string
  bars: Bar[]
  /** A second value for each bar, drawn as a line. */
  line: number[]
  /** How a value is written beside the scale. */
  format(value: number): string
}

const HEIGHT = 220
/** The highest bar leaves room for the number of the highest line. */
const TOP = 12
const BOTTOM = HEIGHT - 24
const LINES = 3
/** Labels below the bars. More would overlap in a narrow window. */
const MAX_LABELS = 4

const percent = (part: number): string => `${Math.round(part * 10_000) / 100}%`
const pixels = (length: number): number => Math.round(length * 10) / 10

/**
 * Bars with a line over them, and their scale beside them. Widths are shares of the window and
 * heights are not, so that texts have their own size in every window.
 */
export function barChart({ title, bars, line: values, format }: Chart): Html {
  const most = Math.max(...bars.map(({ value }) => value), ...values)
  const y = scaleLinear([0, most || 1], [BOTTOM, TOP]).nice(LINES)
  const ticks = y.ticks(LINES)
  const grid = ticks.map(
    (tick) =>
      html`<line class="grid" x1="0" x2="100%" y1="${pixels(y(tick))}" y2="${pixels(y(tick))}"/>`,
  )
  const numbers = ticks.map(
    (tick) =>
      html`<text x="100%" y="${pixels(y(tick)) + 4}" text-anchor="end">${format(tick)}</text>`,
  )
  return html`<div class="chart"><svg class="scale" height="${HEIGHT}" width="64" aria-hidden="true">${numbers}</svg>
<svg class="plot" height="${HEIGHT}" role="img" aria-labelledby="chart-title"><title id="chart-title">${title}</title>${grid}${barsOf(bars, y)}${lineOf(values, y)}</svg></div>`
}

function barsOf(bars: Bar[], y: (value: number) => number): Html[] {
  const x = scaleBand(
    bars.map((_, i) => i),
    [0, 1],
  ).padding(0.2)
  const width = x.bandwidth()
  const every = Math.ceil(bars.length / MAX_LABELS)
  return bars.map(({ label, value, hint }, i) => {
    const top = pixels(y(value))
    const isNamed = (bars.length - 1 - i) % every === 0
    return html`<rect class="bar" x="${percent(x(i)!)}" y="${top}" width="${percent(width)}" height="${pixels(BOTTOM - top)}"><title>${hint}</title></rect>${
      isNamed &&
      html`<text x="${percent(x(i)! + width / 2)}" y="${HEIGHT - 6}" text-anchor="${anchorOf(i, bars.length)}">${label}</text>`
    }`
  })
}

/** The last label ends where the chart ends. */
const anchorOf = (i: number, count: number): string => (i === count - 1 ? 'end' : 'middle')

/** A path has no widths in percent, so it is stretched, and its stroke is not. */
function lineOf(values: number[], y: (value: number) => number): Html {
  const x = scalePoint(
    values.map((_, i) => i),
    [0, 1000],
  ).padding(0.5)
  const path = line<number>((_, i) => x(i)!, y)
    .curve(curveMonotoneX)
    .digits(1)
  return html`<svg width="100%" height="${HEIGHT}" viewBox="0 0 1000 ${HEIGHT}" preserveAspectRatio="none"><path class="trend" d="${path(values)}" vector-effect="non-scaling-stroke"/></svg>`
}
