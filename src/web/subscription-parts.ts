import { type Billing, debitDay } from '../core/billings/rules.ts'
import type { Charge } from '../core/charges/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import { find as findProduct } from '../core/products/store.ts'
import type { Terms, UpcomingDebit } from '../core/recurrences/rules.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import { formatReais } from '../lib/money.ts'
import { formatDay, type LocalDate } from '../pix/local-time.ts'
import { type Html, html } from './html.ts'
import { icon } from './layout.ts'
import { type Fact, purchaseFacts } from './parts.ts'
import { SUBSCRIPTION } from './subscription-texts.ts'

/** A longer description is hidden until it is opened. */
const MAX_SHOWN = 280

/** The description of the link, else that of the product as sold, else that of the product now. */
export async function findDescription(
  { db }: FullApp,
  companyId: Uuid,
  { productId }: Terms,
  link: Charge | null,
): Promise<string> {
  if (link?.description) return link.description
  const sold = link?.link?.items[0]?.product
  const product = sold ?? (await findProduct(db, companyId, productId))
  return product?.description.trim() ?? ''
}

export function about(description: string, language: Language): Html | null {
  if (description === '') return null
  const text = html`<p class="about">${description}</p>`
  if (description.length <= MAX_SHOWN) return text
  return html`<details><summary>${SUBSCRIPTION[language].description}</summary>${text}</details>`
}

export function termsCard(terms: Terms, language: Language, more: Html | null = null): Html {
  const texts = SUBSCRIPTION[language]
  return html`<section class="card" aria-labelledby="terms">
<h1 id="terms"><span class="soft small">${texts.subscribe}</span>${terms.productName}</h1>
<p><span class="amount">${formatReais(terms.value)}</span> <span class="soft">${texts.each[terms.frequency]}</span></p>
<p class="pill">${icon('repeat')}<span>${texts.automatic}</span></p>
${more}
</section>`
}

/** What the payer's bank does about a debit that was due and was not made. */
export function lateText(
  billing: Pick<Billing, 'dueOn' | 'nextAt'>,
  today: LocalDate,
  language: Language,
): string {
  const { late } = SUBSCRIPTION[language]
  const day = debitDay(billing, today)
  const due = formatDay(billing.dueOn)
  return day ? late.retry(due, formatDay(day)) : late.waiting(due)
}

export function datesCard(
  language: Language,
  { value }: Terms,
  dates: UpcomingDebit[],
  hint: string,
): Html {
  const texts = SUBSCRIPTION[language]
  return html`<section class="card" aria-labelledby="dates"><h2 id="dates">${texts.when}</h2>
<ul class="dates">${dates.map(
    ({ number, on }) =>
      html`<li><span>${texts.charge(number)}<br><time class="soft small" datetime="${on}">${formatDay(on)}</time></span><span>${formatReais(value)}</span></li>`,
  )}</ul>
<p class="hint">${hint} ${texts.cancelAnytime}</p></section>`
}

/** The items of a link, if its total is not the price of one piece. */
export function purchaseOf(link: Charge | null, language: Language): Fact[] {
  const item = link?.link?.items[0]
  if (!link || !item || link.amount === item.product.price) return []
  return purchaseFacts(link, language)
}
