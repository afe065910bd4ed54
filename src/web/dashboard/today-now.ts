import type { Static } from 'typebox'
import { WARN_DAYS } from '../../core/banks/certificates.ts'
import type { ChargeView } from '../../core/charges/view.ts'
import { readToday } from '../../core/totals/commands.ts'
import type { Received } from '../../core/totals/store.ts'
import { findWaiting, MAX_COUNTED } from '../../core/totals/waiting-store.ts'
import type { Balance } from '../../ledger/books.ts'
import { ACCOUNTS } from '../../ledger/recipes.ts'
import { formatReais } from '../../lib/money.ts'
import { formatDay, formatMoment, localDateOf, weekdayOf } from '../../pix/local-time.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { moment, money, notice, table } from './parts.ts'
import { chargePill } from './states.ts'
import { TODAY } from './today-texts.ts'
import type { Visit } from './visit.ts'

const DAY_MS = 24 * 3_600_000
const NEWEST = 8
/** Charges of subscriptions that failed before are not shown any more. */
const FAILED_DAYS = 30

export type Charge = Static<typeof ChargeView>
export type Newest = { charges: Charge[]; hasMore: boolean }

/** What changes from one moment to the next. */
export type Now = {
  figures: Html
  decisions: Html
  newest: Html
  charges: Newest
}

export async function readNow(visit: Visit): Promise<Now> {
  const { app, company, can } = visit
  const [received, balance, decisions, charges] = await Promise.all([
    readToday(app, company),
    can('balance:read') ? visit.operate<Balance>('getBalance') : null,
    readDecisions(visit),
    readNewest(visit),
  ])
  return {
    figures: showFigures(visit, received, balance?.data ?? null),
    decisions: showDecisions(visit, decisions),
    newest: showNewest(visit, charges.charges),
    charges,
  }
}

async function readNewest(visit: Visit): Promise<Newest> {
  const query = { limit: String(NEWEST) }
  const { data, next } = await visit.operate<Charge[]>('listCharges', { query })
  return { charges: data, hasMore: next !== null }
}

/** A part that the script replaces when it has changed. */
const part = (id: string, content: Shown, kind = 'part'): Html =>
  html`<div id="${id}" class="${kind}" data-part>${content}</div>`

function showFigures(
  { app, language }: Visit,
  { today, lastWeek }: { today: Received; lastWeek: Received },
  balance: Balance | null,
): Html {
  const texts = TODAY[language]
  const now = app.clock.now()
  const time = formatMoment(now).split(' ')[1]!
  const before = html`${texts.lastWeek(weekdayOf(localDateOf(now)), time)}: ${money(lastWeek.sum)}`
  const balanceOf = (account: keyof Balance) =>
    html`<div class="figure"><h3>${texts[account]}</h3><strong>${money(balance![account])}</strong><p class="soft small">${texts.hints[account]}</p></div>`
  return part(
    'figures',
    html`<section class="card figure"><h2>${texts.receivedToday}</h2><strong class="big">${money(today.sum)}</strong><p class="soft small">${texts.payments(today.count)}<br>${before}</p></section>
${
  balance &&
  html`<section class="card"><h2>${texts.balances}</h2><div class="figures">${ACCOUNTS.map(balanceOf)}</div></section>`
}`,
    balance ? 'part money-now' : 'part',
  )
}

type Decision = { text: string; path: string }

/** What waits for somebody, each with the page where it is decided. */
async function readDecisions(visit: Visit): Promise<Decision[]> {
  const { app, company, can, language } = visit
  const texts = TODAY[language].decisions
  const now = app.clock.now()
  const [waiting, withdrawal] = await Promise.all([
    findWaiting(app.db, company.id, new Date(now.getTime() - FAILED_DAYS * DAY_MS)),
    can('balance:read') && readWithdrawal(visit),
  ])
  const { certificateEndsAt: endsAt } = waiting
  const isEnding = endsAt !== null && endsAt.getTime() - now.getTime() < WARN_DAYS * DAY_MS
  const of = (count: number, text: (count: string) => string, path: string): Decision[] =>
    count === 0 ? [] : [{ text: text(written(count)), path }]
  return [
    ...of(waiting.unmatched, texts.unmatched, '/unmatched'),
    ...(withdrawal ? [{ text: texts.withdrawal('1'), path: '/balance' }] : []),
    ...of(waiting.collections, texts.collections, '/subscriptions'),
    ...(can('webhooks:read') ? of(waiting.webhooks, texts.webhooks, '/developers') : []),
    ...(isEnding && can('company:read')
      ? [{ text: texts.certificate(formatDay(localDateOf(endsAt))), path: '/settings' }]
      : []),
  ]
}

const written = (count: number): string => (count < MAX_COUNTED ? String(count) : `${MAX_COUNTED}+`)

/** Whether a withdrawal waits for somebody. There is at most one, and it is the newest. */
async function readWithdrawal(visit: Visit): Promise<boolean> {
  const { data } = await visit.operate<{ status: string }[]>('listWithdrawals', {
    query: { limit: '1' },
  })
  return data[0]?.status.startsWith('PENDING') ?? false
}

function showDecisions({ language, url }: Visit, decisions: Decision[]): Html {
  const texts = TODAY[language]
  const row = ({ text, path }: Decision) =>
    html`<li><a class="row" href="${url(path)}"><span>${text}</span>${icon('next')}</a></li>`
  const content =
    decisions.length === 0
      ? notice(texts.noDecision)
      : html`<section class="card attention"><h2>${texts.decisionsTitle}</h2><ul class="rows">${decisions.map(row)}</ul></section>`
  return part('decisions', content)
}

function showNewest({ language, url }: Visit, charges: Charge[]): Html {
  const texts = TODAY[language]
  const { columns } = texts
  const nameOf = ({ customer, correlationID }: Charge) =>
    customer?.name ?? (correlationID ? texts.staticSale : texts.nobody)
  if (charges.length === 0) return part('newest', null)
  const shown = table(
    texts.newestCaption,
    [
      {
        title: columns.payer,
        kind: 'main',
        of: (charge) => html`<a href="${url(`/charges/${charge.id}`)}">${nameOf(charge)}</a>`,
      },
      { title: columns.state, of: (charge) => chargePill(charge, language) },
      { title: columns.at, of: ({ createdAt }) => moment(createdAt) },
      { title: columns.amount, kind: 'number', of: ({ total }) => formatReais(total) },
    ],
    charges,
  )
  return part(
    'newest',
    html`<section class="card">
<div class="heading"><h2>${texts.newest}</h2><div class="actions"><noscript><a class="button quiet slim" href="${url('')}">${texts.refresh}</a></noscript><a class="button quiet slim" href="${url('/charges')}">${texts.allCharges}</a></div></div>
${shown}</section>`,
  )
}
