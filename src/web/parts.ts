import type { Charge } from '../core/charges/rules.ts'
import { breakDown, showAmount } from '../core/charges/view.ts'
import type { Company } from '../core/companies/rules.ts'
import type { Language } from '../lib/language.ts'
import { formatReais } from '../lib/money.ts'
import { formatDay, type LocalDate, localDateOf } from '../pix/local-time.ts'
import { punctuatePhone } from '../pix/masks.ts'
import { qrDataUrl } from '../pix/qr.ts'
import { CHECKOUT } from './checkout-texts.ts'
import type { Collection } from './found.ts'
import { type Html, html, type Shown } from './html.ts'
import { type IconName, icon } from './layout.ts'

export type Fact = [name: string, value: Shown, kind?: string]

export const facts = (given: (Fact | null | false)[]): Html =>
  html`<dl class="facts">${given.map(
    (fact) => fact && html`<div class="${fact[2]}"><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>`,
  )}</dl>`

export type PanelTexts = {
  title: string
  alt: string
  stepsTitle: string
  steps: string[]
  waiting: string
  refresh: string
}

/**
 * A code to pay or to agree with: a button that copies it, its image, and the text. A phone cannot
 * scan its own screen, so there the button comes first and the image is hidden until it is opened.
 */
export function codePanel(brCode: string, language: Language, words: PanelTexts): Html {
  const texts = CHECKOUT[language]
  return html`<section class="card beside code-panel" aria-labelledby="code-title">
<h2 id="code-title">${words.title}</h2>
<button type="button" class="button js" data-copy="code" data-done="${texts.copied}">${icon('copy')}<span>${texts.copy}</span></button><p class="hide" role="status"></p>
<p class="waiting js" role="status">${words.waiting}</p>
<noscript><p><a class="button quiet" href="">${words.refresh}</a></p></noscript>
<details class="qr-box"><summary class="button quiet">${icon('qr')}<span class="to-show">${texts.showQr}</span><span class="to-hide">${texts.hideQr}</span></summary>
<p class="qr"><img src="${qrDataUrl(brCode)}" alt="${words.alt}" width="256" height="256"></p></details>
<div class="field"><label for="code">${texts.code}</label>
<textarea id="code" class="code" readonly rows="4" spellcheck="false" translate="no">${brCode}</textarea></div>
<h3>${words.stepsTitle}</h3>
<ol class="steps">${words.steps.map((step) => html`<li><span>${step}</span></li>`)}</ol>
</section>`
}

/** The merchant's description of the charge. */
export const descriptionFact = (
  { description }: Pick<Charge, 'description'>,
  language: Language,
): Fact | false => description !== null && [CHECKOUT[language].description, description]

/** The items and what else makes up the total. Empty if the charge has no items. */
export function purchaseFacts(
  { amount, link }: Pick<Charge, 'amount' | 'link'>,
  language: Language,
): Fact[] {
  const texts = CHECKOUT[language]
  const { lines, difference } = breakDown(amount, link?.items ?? [])
  if (lines.length === 0) return []
  const items = lines.map(
    ({ name, quantity, total }): Fact => [
      texts.quantity(quantity, name),
      formatReais(total),
      'item',
    ],
  )
  if (difference < 0n) items.push([texts.discount, `− ${formatReais(-difference)}`, 'change'])
  if (difference > 0n) items.push([texts.addition, formatReais(difference), 'change'])
  return [...items, [texts.total, formatReais(amount), 'sum']]
}

const dayFact = (day: LocalDate): Html => html`<time datetime="${day}">${formatDay(day)}</time>`

/** Until when a charge is paid in time, and how the amount of its day comes about. */
export function dueFacts(charge: Charge, now: Date, language: Language): Fact[] {
  const { due } = charge
  if (due === null) return []
  const texts = CHECKOUT[language]
  const { original, total, ...parts } = showAmount(charge, localDateOf(now))
  const added = (['fine', 'interest', 'discount', 'rebate'] as const)
    .filter((part) => parts[part] > 0)
    .map((part): Fact => {
      const isOff = part === 'discount' || part === 'rebate'
      const value = formatReais(parts[part])
      return [texts.due.parts[part], isOff ? `− ${value}` : value, 'change']
    })
  const sum: Fact[] =
    added.length > 0
      ? [
          [texts.due.original, formatReais(original), 'item'],
          ...added,
          [texts.total, formatReais(total), 'sum'],
        ]
      : []
  return [[texts.dueOn, dayFact(due.terms.dueDate)], ...sum]
}

/** When the charge of a subscription is due. */
export const dueFact = (collection: Collection | null, language: Language): Fact | false =>
  collection !== null && [CHECKOUT[language].dueOn, dayFact(collection.dueOn)]

/** A name and, below it, the tax id. */
export const party = (name: string, taxId: string): Html =>
  html`${name}<br><span class="soft small">${taxId}</span>`

export type Result = {
  kind: 'good' | 'bad' | 'calm'
  icon: IconName
  title: string
  text: string
  facts?: (Fact | null | false)[]
  /** Buttons and other content below the facts. */
  more?: Html
  /** The link to the merchant's page. */
  link?: { url: string; label: string } | null
  /** Whether the page opens the link by itself after a change to this state. */
  opensLink?: boolean
}

/** The result of a charge or an agreement: an icon, a text, facts and a link. */
export function result(given: Result, language: Language): Html {
  const texts = CHECKOUT[language]
  const { link } = given
  return html`<section class="card result ${given.kind}" aria-labelledby="result-title">
${icon(given.icon)}
<h1 id="result-title" tabindex="-1">${given.title}</h1>
<p>${given.text}</p>
${given.facts && facts(given.facts)}
${given.more}
${link && html`<a class="button" href="${link.url}" rel="noreferrer">${link.label}</a>`}
${
  link &&
  given.opensLink &&
  html`<p class="js small soft" data-leave="10" hidden>${texts.leaving[0]}<span>10</span>${texts.leaving[1]} <button type="button" class="button quiet slim">${texts.stay}</button></p>`
}
</section>`
}

/** Where a code is paid without real money. */
export const bankPath = (brCode: string | null): string =>
  `/bank?${new URLSearchParams({ code: brCode ?? '' })}`

/** Says that no real money is charged, and links to the simulated bank. */
export function testNotice(
  { devMode, brCode }: Pick<Charge, 'devMode' | 'brCode'>,
  company: Company,
  language: Language,
  simulateUrl: string | null,
): Html | null {
  const { dev, sandbox } = CHECKOUT[language]
  if (!devMode && company.mode !== 'sandbox') return null
  const text = devMode ? dev.text : brCode === null ? sandbox.text : sandbox.code
  return html`<aside class="notice warn all" aria-label="${dev.title}">${icon('alert')}<div>
<p>${devMode && html`<strong>${dev.title}.</strong> `}${text}</p>
${
  simulateUrl &&
  html`<form method="post" action="${simulateUrl}"><button class="button quiet slim">${dev.simulate}</button></form>`
}
${brCode !== null && html`<p><a href="${bankPath(brCode)}" target="_blank" rel="noopener">${sandbox.bank}</a></p>`}
</div></aside>`
}

/** How to reach the shop, where something has gone wrong. Null if it has given no contact. */
export function contactOf(
  { contactEmail, contactPhone, contactWhatsapp }: Company,
  language: Language,
): Html | null {
  const texts = CHECKOUT[language].contact
  const links = [
    contactWhatsapp && ['WhatsApp', `https://wa.me/55${contactWhatsapp}`, contactWhatsapp],
    contactPhone && [texts.phone, `tel:+55${contactPhone}`, contactPhone],
    contactEmail && [texts.email, `mailto:${contactEmail}`, contactEmail],
  ].filter((link) => link !== null && link !== '') as [string, string, string][]
  if (links.length === 0) return null
  return html`<div class="contact"><h2>${texts.title}</h2>${facts(
    links.map(([name, url, text]): Fact => {
      const shown = text.includes('@') ? text : punctuatePhone(text)
      return [name, html`<a href="${url}" rel="noopener noreferrer">${shown}</a>`]
    }),
  )}</div>`
}

/** The merchant's URL, if it is http or https. A page links to no other kind. */
export const webAddress = (url: string | null | undefined): string | null =>
  url && /^https?:\/\//i.test(url) ? url : null
