import { type ScaleLinear, scaleLinear } from 'd3-scale'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { type Html, html } from '../html.ts'
import { type Column, table } from './parts.ts'

/** One bar of a chart. Values are not below zero. */
export type Bar = {
  /** Written below the bar, where there is room. */
  label: string
  /** What the bar is about, beside its value and in the table. */
  name: string
  value: number
  /** The same of the period before, if there is such a part in it. */
  before?: number
  /** What else is said of the bar. */
  note?: string
}

export type Chart = {
  /** Tells charts of one page apart. */
  id: string
  /** What the chart shows, for who does not see it. */
  title: string
  bars: Bar[]
  /** The names of both series. The second one is drawn more quietly. */
  series: { value: string; before?: string }
  /** What a bar is of, above the names in the table. */
  heading: string
  /** How a value is written beside the scale, in few characters. */
  brief(value: number): string
  /** How a value is written anywhere else. */
  write(value: number): string
  /** Whether the page shows the figures in a table of its own. */
  hasTable?: boolean
}

const HEIGHT = 200
/** The highest line leaves room for its number. */
const TOP = 12
/** Above bars that are cut there is room for two rows of values. */
const TOP_OVER_CUT = 40
const BOTTOM = HEIGHT - 2
const LINES = 4
/** Labels below the bars. More would overlap in a wide window, and on a phone. */
const MAX_LABELS = 12
const MAX_LABELS_ON_PHONE = 5

/** Of so many of the values one is not rare, and decides how high the scale is. */
const RARE = 0.9
/** A rare value is cut if it is so many times as high as the others. */
const TOO_HIGH = 3
/** Of fewer values none is rare. */
const FEW = 10

/**
 * The highest value of the scale. A few values that are far above all others would make those flat:
 * then the scale ends above the others, and the few are cut.
 */
export function scaleEnd(values: number[]): number {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b)
  const most = sorted.at(-1) ?? 1
  if (sorted.length < FEW) return most
  const usual = sorted[Math.floor(RARE * (sorted.length - 1))]!
  return most > usual * TOO_HIGH ? usual * 1.2 : most
}

/**
 * Bars, each before those of the period before, with a scale and the figures as a table. Without a
 * script: the bars are choices of one name, so that a keyboard reaches the chart with one stop and
 * goes on with its arrows, and a finger chooses by touch. The chosen bar shows its values.
 */
export function barChart(chart: Chart, language: Language): Html {
  const { title, bars, series, brief } = chart
  const values = bars.flatMap(({ value, before }) => [value, before ?? 0])
  const end = scaleEnd(values)
  const isCut = values.some((value) => value > end)
  const top = isCut ? TOP_OVER_CUT : TOP
  const y = scaleLinear([0, end], [BOTTOM, top]).nice(LINES).clamp(true)
  const rows = rowsOf(bars, y)
  const texts = CHART[language]
  const key = (kind: string, text: string) =>
    html`<li><span class="key ${kind}"></span>${text}</li>`
  return html`<div class="chart"><ul class="chart-keys">${key('now', series.value)}${series.before && key('before', series.before)}${isCut && html`<li class="soft">${texts.cut}</li>`}</ul>
<div class="plot">${scaleOf(y, brief)}<div class="points" role="radiogroup" aria-label="${title}">${bars.map((bar, i) => point(chart, bar, i, y, rows[i]!))}</div></div></div>
${chart.hasTable !== false && html`<details><summary>${texts.asTable}</summary>${tableOf(chart)}</details>`}`
}

/** Reais without their sign, and without cents if there are none. */
export const briefReais = (cents: number): string =>
  formatReais(Math.round(cents)).replace(/^R\$ |,00$/g, '')

type Scale = ScaleLinear<number, number>

const pixels = (length: number): number => Math.round(length * 10) / 10
const isOver = (y: Scale, value: number): boolean => value > y.domain()[1]!

/** The lines behind the bars, and their numbers. */
function scaleOf(y: Scale, brief: Chart['brief']): Html {
  const ticks = y.ticks(LINES).map((tick) => ({ at: pixels(y(tick)), text: brief(tick) }))
  const lines = ticks.map(({ at }) => html`<line x1="0" x2="100%" y1="${at}" y2="${at}"/>`)
  const numbers = ticks.map(
    ({ at, text }) => html`<text x="100%" y="${at + 4}" text-anchor="end">${text}</text>`,
  )
  return html`<svg class="scale" height="${HEIGHT}" width="52" aria-hidden="true">${numbers}</svg><svg class="grid" height="${HEIGHT}" aria-hidden="true">${lines}</svg>`
}

/** The columns whose tips and labels are at the sides, so that they do not stick out. */
const sideOf = (i: number, count: number): string =>
  i < count / 3 ? 'start' : i >= (count * 2) / 3 ? 'end' : 'middle'

type Row = 'high' | 'low' | null

/** Where the value of each cut bar is written: in two rows if they are close to each other. */
function rowsOf(bars: Bar[], y: Scale): Row[] {
  const near = Math.ceil(bars.length / 6)
  let last: { at: number; row: Row } = { at: Number.NEGATIVE_INFINITY, row: null }
  return bars.map(({ value }, at) => {
    if (!isOver(y, value)) return null
    last = { at, row: at - last.at <= near && last.row === 'low' ? 'high' : 'low' }
    return last.row
  })
}

function point(chart: Chart, bar: Bar, i: number, y: Scale, row: Row): Html {
  const { id, bars, series, write, brief } = chart
  const { name, value, before, note } = bar
  const side = sideOf(i, bars.length)
  const told = [
    `${series.value}: ${write(value)}`,
    before !== undefined && series.before && `${series.before}: ${write(before)}`,
    note,
  ].filter((text) => !!text) as string[]
  const cut = row && html`<span class="cut ${side} ${row}">${brief(value)}</span>`
  return html`<label class="point"><input type="radio" name="${id}" autocomplete="off" aria-label="${name}. ${told.join('. ')}"><span class="column" aria-hidden="true">${columnOf(bar, y)}${cut}${labelOf(bars, i)}<span class="tip ${side}"><strong>${name}</strong>${told.map((text) => html`<span>${text}</span>`)}</span></span></label>`
}

function columnOf({ value, before }: Bar, y: Scale): Html {
  const bar = (kind: string, x: number, height: number) => {
    const top = pixels(y(height))
    return html`<rect class="${kind}" x="${x}%" y="${top}" width="${100 - 2 * x}%" height="${pixels(BOTTOM - top)}"/>`
  }
  const gap = (at: number) =>
    html`<rect class="gap" x="0" width="100%" y="${pixels(y.range()[1]!) + at}" height="3"/>`
  return html`<svg height="${HEIGHT}">${before !== undefined && bar('before', 0, before)}${bar('bar', 18, value)}${
    before !== undefined &&
    before > 0 &&
    html`<line class="edge" x1="0" x2="100%" y1="${pixels(y(before))}" y2="${pixels(y(before))}"/>`
  }${(isOver(y, value) || isOver(y, before ?? 0)) && html`${gap(12)}${gap(18)}`}</svg>`
}

/** The label below a bar, if it is one of those for which there is room. */
function labelOf(bars: Bar[], i: number): Html | false {
  const every = Math.ceil(bars.length / MAX_LABELS)
  const shown = Math.ceil(bars.length / every)
  const everyOnPhone = every * Math.ceil(shown / MAX_LABELS_ON_PHONE)
  // Counted from the newest, which always has its label.
  const place = bars.length - 1 - i
  if (place % every !== 0) return false
  const kind = place % everyOnPhone === 0 ? '' : 'if-wide'
  const end = place === 0 && bars.length > MAX_LABELS_ON_PHONE ? 'end' : 'middle'
  return html`<span class="tick ${end} ${kind}">${bars[i]!.label}</span>`
}

function tableOf({ title, heading, bars, series, write }: Chart): Html {
  const columns: (Column<Bar> | false | undefined)[] = [
    { title: heading, kind: 'main', of: ({ name }) => name },
    bars.some(({ note }) => note) && { title: '', of: ({ note }) => note },
    { title: series.value, kind: 'number', of: ({ value }) => write(value) },
    series.before !== undefined && {
      title: series.before,
      kind: 'number',
      of: ({ before }) => (before === undefined ? '–' : write(before)),
    },
  ]
  return table(
    title,
    columns.filter((column) => !!column),
    bars.toReversed(),
  )
}

const CHART = {
  pt: {
    asTable: 'Ver os números em tabela',
    cut: 'Barra cortada: o valor passa da escala e está escrito nela.',
  },
  en: {
    asTable: 'Show the figures as a table',
    cut: 'Cut bar: its value is above the scale and written on it.',
  },
} as const
