import type { Language } from '../../lib/language.ts'
import { type Html, html, type Shown } from '../html.ts'

/** Which way is good news. Of money that is taken out neither is. */
export type Wish = 'more' | 'less' | 'none'

/** More than so many times as much is not written as an exact share. */
const MOST_PERCENT = 999

/**
 * How a value differs from the one before, as ▲ or ▼ and per cent. The arrow is drawn, because not
 * every font has it. Nothing without a value before.
 */
export function changeOf(
  value: number,
  before: number,
  language: Language,
  wish: Wish = 'more',
): Html | null {
  if (before <= 0) return null
  const texts = COMPARISON[language]
  const percent = Math.round(((value - before) / before) * 100)
  if (percent === 0) return html`<span class="change">${texts.same}</span>`
  const isUp = percent > 0
  const isGood = wish !== 'none' && isUp === (wish === 'more')
  const kind = wish === 'none' ? '' : isGood ? 'up' : 'down'
  const share = Math.abs(percent) > MOST_PERCENT ? `> ${MOST_PERCENT}%` : `${Math.abs(percent)}%`
  return html`<span class="change ${kind}"><svg class="arrow" viewBox="0 0 10 10" aria-hidden="true"><path d="${isUp ? 'M5 1l5 8H0z' : 'M5 9L0 1h10z'}"/></svg><span class="hide">${isUp ? texts.more : texts.less}</span> ${share}</span>`
}

type Compared = {
  title: string
  value: Shown
  change?: Html | null
  /** What it is compared with, or what it means. */
  note?: Shown
  kind?: string
}

/** A figure with its change, and below what it is compared with. */
export const figure = ({ title, value, change, note, kind }: Compared): Html =>
  html`<div class="figure ${kind}"><h3>${title}</h3><p class="value"><strong>${value}</strong> ${change}</p>${note && html`<p class="soft small">${note}</p>`}</div>`

/** A share in tenths of a percent, rounded down, so that 1000 are all. */
export const tenthsOf = (part: number, whole: number): number => Math.floor((part * 1000) / whole)

/** Tenths of a percent as people in Brazil write them, such as 66,7%. */
export const writeTenths = (tenths: number): string => `${String(tenths / 10).replace('.', ',')}%`

export const percentOf = (part: number, whole: number): string => writeTenths(tenthsOf(part, whole))

const COMPARISON = {
  pt: { same: '= igual', more: 'Aumento de', less: 'Queda de' },
  en: { same: '= same', more: 'Up by', less: 'Down by' },
} as const
