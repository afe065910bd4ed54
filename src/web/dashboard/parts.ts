import type { Needs } from '../../core/people/rules.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskEmail, maskPhone, punctuatePhone } from '../../pix/masks.ts'
import { maskTaxId, punctuateTaxId } from '../../pix/tax-id.ts'
import { copyButton } from '../developer.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { TEXTS } from '../texts.ts'
import { DASHBOARD } from './texts.ts'
import type { SignedIn, Visit } from './visit.ts'

/** A column of a table: its title, and what it shows of a record. */
export type Column<T> = {
  title: Shown
  of(record: T): Shown
  /**
   * `number` is aligned to the right, `main` names the record and stays on top on a phone. With a
   * `state` or a `moment`, each record is one line, and two on a phone: name and number, then state
   * and moment. `pick` is a box before them.
   */
  kind?: 'number' | 'main' | 'state' | 'moment' | 'pick'
  /** Left out of the two lines of a phone, whatever its kind. */
  isWide?: true
  /** What it shows in the last line, if the table has one for all records together. */
  total?: Shown
}

/**
 * A table. On a phone each record is a block, with the titles beside the values, or two lines
 * without what has no place in them. `empty` is shown instead if there are no records.
 */
export function table<T>(
  caption: string,
  columns: Column<T>[],
  records: T[],
  empty: Html | null = null,
): Html {
  if (empty && records.length === 0) return empty
  const head = columns.map(({ title, kind }) => html`<th scope="col" class="${kind}">${title}</th>`)
  const isInLines = columns.some(({ kind }) => kind === 'state' || kind === 'moment')
  const row = (record: T) =>
    html`<tr>${columns.map(({ title, kind, isWide, of }) => html`<td class="${kind}${isWide && ' wide'}" data-title="${typeof title === 'string' && title}">${of(record)}</td>`)}</tr>`
  const total = ({ title, kind, total }: Column<T>) =>
    kind === 'main'
      ? html`<th scope="row" class="main">${total}</th>`
      : html`<td class="${kind}" data-title="${typeof title === 'string' && title}">${total}</td>`
  const foot =
    columns.some((column) => column.total !== undefined) &&
    html`<tfoot><tr>${columns.map(total)}</tr></tfoot>`
  return html`<div class="table${isInLines && ' lines'}"><table><caption class="hide">${caption}</caption><thead><tr>${head}</tr></thead><tbody>${records.map(row)}</tbody>${foot}</table></div>`
}

/**
 * The name of a record and the link to it, which the whole row is. What else can be pressed in the
 * row stays above it. `more` stands behind the name as far as there is room.
 */
export const rowLink = (href: string, name: Html | string, more: string | null = null): Html =>
  html`<span class="name-line"><a class="whole" href="${href}"${typeof name === 'string' && html` title="${name}"`}>${name}</a>${more && html`<span class="more soft small" title="${more}">${more}</span>`}</span>`

/** Shown instead of a table without records. */
export const nothing = (language: Language, text: Shown = null): Html =>
  html`<div class="nothing"><p><strong>${DASHBOARD[language].nothing}</strong></p>${text && html`<p class="soft">${text}</p>`}</div>`

/** In place of a list in which a search or a filter has found nothing. */
export const notFound = (text: string, hint: Shown = null): Html =>
  html`<div class="nothing"><p><strong>${text}</strong></p>${hint && html`<p class="soft">${hint}</p>`}</div>`

/** Links to the newest and to the next older page of a list. */
export function pager(
  { language, query, request }: Pick<SignedIn, 'language' | 'query' | 'request'>,
  next: string | null,
): Html | null {
  const texts = DASHBOARD[language]
  const path = request.url.split('?')[0]!
  const to = (after: string | null) => {
    const { after: _here, done: _done, ...filters } = query
    const search = new URLSearchParams(filters as Record<string, string>)
    if (after !== null) search.set('after', after)
    return search.size > 0 ? `${path}?${search}` : path
  }
  if (next === null && query.after === undefined) return null
  return html`<nav class="pager" aria-label="${texts.older}">
${query.after !== undefined && html`<a class="button quiet slim" href="${to(null)}">${texts.newest}</a>`}
${next !== null && html`<a class="button quiet slim" rel="next" href="${to(next)}">${texts.older}</a>`}</nav>`
}

/** A title with buttons and links beside it. */
export const heading = (title: Shown, actions: Shown = null): Html =>
  html`<div class="heading"><h1>${title}</h1>${actions && html`<div class="actions">${actions}</div>`}</div>`

export const card = (title: Shown, content: Shown, kind = ''): Html =>
  html`<section class="card ${kind}">${title && html`<h2>${title}</h2>`}${content}</section>`

export type Tone = 'good' | 'bad' | 'warn' | 'calm'

/** A state in a word. The color only repeats what the word says. */
export const pill = (word: string, tone: Tone): Html =>
  html`<span class="pill tone ${tone}">${word}</span>`

export const notice = (text: Shown, tone: Tone = 'good'): Html =>
  html`<p class="notice ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">${icon(tone === 'good' ? 'check' : 'alert')}<span>${text}</span></p>`

/** The sentence about what a form has just done, if the URL names one. */
export const doneNotice = (
  { query }: Pick<Visit, 'query'>,
  sentences: Record<string, string>,
): Html | false => {
  const sentence = Object.hasOwn(sentences, query.done ?? '') && sentences[query.done!]
  return sentence ? notice(sentence) : false
}

export { punctuatePhone as formatPhone } from '../../pix/masks.ts'

export const money = (cents: number | bigint): Html =>
  html`<span class="money">${formatReais(cents)}</span>`

const NUMBER = new Intl.NumberFormat('pt-BR')

/** A number as Brazil writes it. In both languages, because amounts are written so too. */
export const formatCount = (count: number): string => NUMBER.format(count)

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** A time in the largest unit that divides it, such as 1 minute for 60 seconds. */
export function formatDuration(length_s: number, language: Language): string {
  const [unit_s, unit] = UNITS.find(([unit_s]) => length_s % unit_s === 0)!
  const form = new Intl.NumberFormat(TEXTS[language].tag, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
  })
  return form.format(length_s / unit_s)
}

/** A moment in the time of São Paulo. */
export function moment(at: Date | string): Html {
  const date = new Date(at)
  return html`<time class="nowrap" datetime="${date.toISOString()}">${formatMoment(date)}</time>`
}

export type SectionTab = { path: string; title: string; needs: Needs }

/** Links between the pages of one section. Those that the person may not see are left out. */
export function sectionTabs(visit: Visit, label: string, all: SectionTab[], here: string): Html {
  const current = html` aria-current="page"`
  const link = ({ path, title }: SectionTab) =>
    html`<a href="${visit.url(path)}"${path === here && current}>${title}</a>`
  return html`<nav class="section-tabs" aria-label="${label}">${all.filter(({ needs }) => visit.can(needs)).map(link)}</nav>`
}

/** Ids of the same hour begin alike, so their ends are always seen. */
const END_OF_ID = 6

/** An id in one line, without its middle if it does not fit, and a button that copies it whole. */
export const idText = (id: string, what: string, language: Language): Html =>
  html`<span class="id-text"><code title="${id}"><span>${id.slice(0, -END_OF_ID)}</span>${id.slice(-END_OF_ID)}</code>${copyButton(id, what, language)}</span>`

/** A payer's tax id in a list, where everybody sees it masked. */
export const listedTaxId = maskTaxId

/** A payer's tax id on a page of its own: whole for whoever may act on payments. */
export const wholeTaxId = ({ can }: Pick<Visit, 'can'>, taxId: string): string =>
  can('payments:write') ? punctuateTaxId(taxId) : maskTaxId(taxId)

/** A payer's e-mail address and phone, for the same people. */
export const wholeEmail = ({ can }: Pick<Visit, 'can'>, email: string): string =>
  can('payments:write') ? email : maskEmail(email)

export const wholePhone = ({ can }: Pick<Visit, 'can'>, phone: string): string =>
  can('payments:write') ? punctuatePhone(phone) : maskPhone(phone)
