import { type Html, html } from './html.ts'
import { type IconName, icon } from './layout.ts'

export type Entry = {
  href: string
  label: string
  /** A shorter one, for the bar of a phone. */
  short?: string
  icon: IconName
  /** Whether the page belongs to it. */
  isHere: boolean
  /** How many things wait there, as it is written. */
  waiting?: string | null
}

export type Group = { title: string | null; entries: Entry[] }

export type MenuTexts = {
  menu: string
  /** The button of the bar that opens what is not on it. */
  more: string
  /** What the numbers count, for screen readers. */
  waiting: string
}

const badge = (count: string | null | undefined, { waiting }: MenuTexts): Html | false =>
  !!count && html`<span class="badge">${count}<span class="hide"> ${waiting}</span></span>`

const here = html` aria-current="page"`

const entryOf = (texts: MenuTexts, entry: Entry): Html =>
  html`<a href="${entry.href}"${entry.isHere && here}>${icon(entry.icon)}<span>${entry.label}</span>${badge(entry.waiting, texts)}</a>`

const groupsOf = (texts: MenuTexts, groups: Group[]): Html[] =>
  groups
    .filter(({ entries }) => entries.length > 0)
    .map(
      ({ title, entries }) =>
        html`${title !== null && html`<p>${title}</p>`}${entries.map((entry) => entryOf(texts, entry))}`,
    )

/** The menu beside the content of a wide window. */
export const sideMenu = (texts: MenuTexts, groups: Group[]): Html =>
  html`<nav class="menu" aria-label="${texts.menu}">${groupsOf(texts, groups)}</nav>`

/**
 * The bar at the bottom of a narrow window: a few entries, and a button that opens the others. It
 * works without scripts.
 */
export function bottomBar(texts: MenuTexts, groups: Group[], first: Entry[]): Html {
  const others = groups.map(({ title, entries }) => ({
    title,
    entries: entries.filter((entry) => !first.includes(entry)),
  }))
  const hidden = others.flatMap(({ entries }) => entries)
  const item = (entry: Entry) =>
    html`<a href="${entry.href}"${entry.isHere && here}>${icon(entry.icon)}<span>${entry.short ?? entry.label}</span>${badge(entry.waiting, texts)}</a>`
  const isHere = hidden.some((entry) => entry.isHere) && 'here'
  const more = html`<details class="popup"><summary class="${isHere}">${icon('menu')}<span>${texts.more}</span>${badge(sumOf(hidden), texts)}</summary><div class="sheet">${groupsOf(texts, others)}</div></details>`
  return html`<nav class="bottom-bar" id="menu" aria-label="${texts.menu}">${first.map(item)}${hidden.length > 0 && more}</nav>`
}

/** What waits in several sections. A number with a plus stays one. */
function sumOf(entries: Entry[]): string | null {
  const counts = entries.flatMap(({ waiting }) => (waiting ? [waiting] : []))
  if (counts.length === 0) return null
  const sum = counts.reduce((all, count) => all + Number.parseInt(count, 10), 0)
  return counts.some((count) => count.endsWith('+')) ? `${sum}+` : String(sum)
}
