import { ANY_CHARGE, search as searchCharges } from '../core/charges/search-store.ts'
import { listStaticCodes } from '../core/charges/static-store.ts'
import { readClock, type ShownClock } from '../core/clocks/commands.ts'
import type { Company } from '../core/companies/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import { asOf } from '../core/recurrences/rules.ts'
import { list as listRecurrences } from '../core/recurrences/store.ts'
import { latestOfPayers, type Transfer } from '../core/simulated-bank/records.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import { type Cents, formatReais } from '../lib/money.ts'
import { formatMoment } from '../pix/local-time.ts'
import { BANK, type BankTexts } from './bank-texts.ts'
import { codeAddress, type Entry, faultLine, languageField } from './bank-view.ts'
import { type Html, html } from './html.ts'
import { icon } from './layout.ts'

const MAX_CODES = 12
const MAX_TRANSFERS = 20

/** A code that can be paid or agreed to, and how it is described in the list. */
type OpenCode = { id: Uuid; code: string; amount: Cents; name: string | null; note: string }

/** The open codes of the local sandbox company, and the payments that were made. */
type Lists = { open: OpenCode[]; history: Transfer[]; clock: ShownClock }

export async function readLists(
  app: FullApp,
  company: Company,
  language: Language,
): Promise<Lists> {
  const clock = await readClock(app.db, app, company)
  const texts = BANK[language].open
  const found = await Promise.all([
    openCharges(app, company, clock.now, texts),
    openAgreements(app, company, clock.now, texts),
    staticCodes(app, company, texts),
  ])
  const open = found.flat().sort((a, b) => (a.id < b.id ? 1 : -1))
  const history = await latestOfPayers(app.db, company.id, MAX_TRANSFERS)
  return { open: open.slice(0, MAX_CODES), history, clock }
}

async function openCharges(
  { db }: FullApp,
  { id: companyId }: Company,
  now: Date,
  { until }: BankTexts['open'],
): Promise<OpenCode[]> {
  const filter = { ...ANY_CHARGE, status: 'OPEN' as const }
  const page = { limit: MAX_CODES, after: null }
  const charges = await searchCharges(db, companyId, filter, page, now)
  return charges.flatMap(({ id, brCode: code, amount, payer, expiresAt }) => {
    const note = until(formatMoment(expiresAt))
    return code === null ? [] : [{ id, code, amount, name: payer?.name ?? null, note }]
  })
}

async function openAgreements(
  { db }: FullApp,
  { id: companyId }: Company,
  now: Date,
  { monthly: note }: BankTexts['open'],
): Promise<OpenCode[]> {
  const recurrences = await listRecurrences(db, companyId, { limit: MAX_CODES, after: null })
  return recurrences.flatMap((recurrence) => {
    const { id, brCode: code, value: amount, productName: name } = recurrence
    const isOpen = asOf(recurrence, now).status === 'OPEN'
    return code !== null && isOpen ? [{ id, code, amount, name, note }] : []
  })
}

async function staticCodes(
  { db }: FullApp,
  { id: companyId }: Company,
  { fixed: note }: BankTexts['open'],
): Promise<OpenCode[]> {
  const codes = await listStaticCodes(db, companyId, MAX_CODES)
  return codes.map(({ id, brCode: code, amount }) => ({ id, code, amount, name: null, note }))
}

export const listCards = (lists: Lists, entry: Entry, language: Language): Html =>
  html`${openCard(lists, language)}${clockCard(lists, entry, language)}${historyCard(lists, language)}`

function openCard({ open }: Lists, language: Language): Html {
  const texts = BANK[language].open
  return html`<section class="card" aria-labelledby="open">
<h2 id="open">${texts.title}</h2>
${
  open.length === 0
    ? html`<p class="soft">${texts.none}</p>`
    : html`<ul class="rows">${open.map(
        ({ code, amount, name, note }) =>
          html`<li><a class="row" href="${codeAddress(code, language)}"><span><strong>${formatReais(amount)}</strong><span class="soft small">${name !== null && `${name} · `}${note}</span></span>${icon('next')}</a></li>`,
      )}</ul>`
}
</section>`
}

function clockCard({ clock }: Lists, entry: Entry, language: Language): Html {
  const texts = BANK[language].clock
  const { now, target } = clock
  return html`<section class="card" aria-labelledby="clock">
<h2 id="clock">${texts.title}</h2>
<p class="now">${icon('clock')} <time datetime="${now.toISOString()}">${formatMoment(now)}</time></p>
${target && html`<p class="waiting" role="status">${texts.advancing(formatMoment(target))}</p>`}
${faultLine('clock', entry)}
<form class="steps-of-time" action="/bank/clock" method="post">
${languageField(language)}
<input type="hidden" name="code" value="${entry.code}">
${(['hour', 'day', 'week', 'month'] as const).map(
  (step) =>
    html`<button class="button quiet slim" name="by" value="${step}">${texts[step]}</button>`,
)}
</form>
<p class="hint">${texts.text}</p>
</section>`
}

function historyCard({ history }: Lists, language: Language): Html {
  const texts = BANK[language].history
  return html`<section class="card" aria-labelledby="history">
<h2 id="history">${texts.title}</h2>
${
  history.length === 0
    ? html`<p class="soft">${texts.none}</p>`
    : html`<ul class="rows">${history.map(({ direction, amount, at, endToEndId }) => {
        const isBack = direction === 'returned'
        return html`<li class="row${isBack && ' back'}">${icon(isBack ? 'back' : 'check')}<span><strong>${isBack ? texts.back : texts.sent}</strong><span class="soft small">${formatMoment(at)}</span><code class="soft">${endToEndId}</code></span><strong class="sum">${isBack ? '+' : '−'} ${formatReais(amount)}</strong></li>`
      })}</ul>`
}
</section>`
}
