import type { FastifyReply } from 'fastify'
import { checkoutUrl, pageToken } from '../../core/charges/addresses.ts'
import { findCharge } from '../../core/charges/commands.ts'
import {
  type CounterTotal,
  isCounterSale,
  lastSales,
  readSale,
  type Shift,
  sellAtCounter,
  today,
  totalsOf,
} from '../../core/charges/counter.ts'
import { asOf, type Charge, receivedOf } from '../../core/charges/rules.ts'
import { isPlayable } from '../../core/payments/rules.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { oneLine } from '../../lib/one-line.ts'
import { problem } from '../../lib/problems.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import { field } from '../forms.ts'
import { stateOf as pageStateOf } from '../found.ts'
import { type Html, html } from '../html.ts'
import { type IconName, icon, sendPage } from '../layout.ts'
import { bankPath } from '../parts.ts'
import type { Form } from '../site.ts'
import { stateOf } from './charges.ts'
import { commitOnce } from './commit-once.ts'
import { keepShift, readShift } from './cookie.ts'
import { COUNTER } from './counter-texts.ts'
import { backLink, type FormFault, tryForm } from './form-parts.ts'
import { NEW } from './new-texts.ts'
import { card, doneNotice, heading, moment, money } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const STYLES = ['counter.css']
/** Without scripts the screen of a sale asks so often whether it is paid. */
const REFRESH_S = 5

const show = (visit: Visit): Promise<FastifyReply> => sendForm(visit, {}, null)

async function sell(visit: Visit): Promise<FastifyReply> {
  const { app, company, person, form } = visit
  const { fault, done } = await tryForm(() => {
    const description = oneLine(form.description ?? '') || null
    const sale = readSale(person.id, readReais(form.amount ?? ''), description)
    return sellAtCounter(app, company, sale, (insert) =>
      commitOnce(visit, { amount: sale.amount, description }, async (tx) => {
        const id = toPublic('charge', (await insert(tx)).id)
        const details = { amount: sale.amount }
        await visit.record(tx, 'charge.sell-at-counter', { type: 'charge', id }, details)
        return id
      }),
    )
  })
  return fault ? sendForm(visit, form, fault) : visit.redirect(`/counter/${done}`)
}

async function sendForm(visit: Visit, typed: Form, fault: FormFault | null): Promise<FastifyReply> {
  const { language, url } = visit
  const texts = COUNTER[language]
  const form = visit.formOf(
    url('/counter'),
    html`${amountField(visit, typed, fault)}${keypad(visit)}${descriptionField(visit, typed, fault)}<button class="button">${icon('qr')}<span>${texts.sell}</span></button>`,
    { kind: 'card-form counter-form', isChecked: true },
  )
  return visit.send({
    title: texts.title,
    here: 'new',
    styles: STYLES,
    scripts: ['form.js', 'counter.js'],
    ...(fault ? { status: fault.problem.status } : {}),
    body: html`${backLink(visit, '/new', NEW[language].title)}${heading(texts.title)}${doneNotice(visit, texts.done)}
<div class="columns">${card(null, html`${fault?.notice(language)}${form}`)}${await shiftCard(visit)}</div>`,
  })
}

function amountField({ language }: Visit, typed: Form, fault: FormFault | null): Html {
  const texts = COUNTER[language]
  const isWrong = fault?.isWrong('amount') ?? false
  const amount = {
    name: 'amount',
    label: texts.amount,
    value: typed.amount ?? '',
    fault: isWrong ? texts.amountWrong : null,
    wrong: texts.amountWrong,
    check: 'amount' as const,
    min: 1,
    inputmode: 'decimal' as const,
    maxlength: 20,
    autocomplete: 'off',
  }
  return html`<div class="counter-typed">${field(amount, isWrong)}</div>`
}

/** Closed unless something was typed there, so that the button is on the first screen. */
function descriptionField({ language }: Visit, typed: Form, fault: FormFault | null): Html {
  const texts = COUNTER[language]
  const isWrong = fault?.isWrong('description') ?? false
  const description = {
    name: 'description',
    label: texts.description,
    value: typed.description ?? '',
    fault: isWrong ? texts.descriptionWrong : null,
    wrong: texts.descriptionWrong,
    maxlength: 140,
    optional: texts.optional,
  }
  return html`<details class="more-fields"${typed.description && html` open`}><summary>${texts.describe}</summary>${field(description, isWrong)}</details>`
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '00', '0']

/** As on a card terminal: digits come in from the right. Without scripts there is the field. */
function keypad({ language }: Visit): Html {
  const texts = COUNTER[language]
  return html`<div class="keypad js" role="group" aria-label="${texts.keypad}">${KEYS.map(
    (key) => html`<button type="button" class="button quiet" data-key="${key}">${key}</button>`,
  )}<button type="button" class="button quiet" data-key="back" aria-label="${texts.erase}">${icon('erase')}</button></div>`
}

/** One that nobody has ended is over after a day, so that its sums stay cheap. */
const MAX_SHIFT_S = 86_400

/** Reads a shift that began, and perhaps ended, at moments of the company's clock. */
function shiftOf(now: Date, from: string | null, to: string | null): Shift | null {
  const [start, end] = [from, to ?? String(now.getTime())].map((at) =>
    at !== null && /^\d{1,15}$/.test(at) ? Number(at) : Number.NaN,
  ) as [number, number]
  const isShift = start <= end && end <= now.getTime() && end - start < MAX_SHIFT_S * 1000
  return isShift ? { from: new Date(start), to: to === null ? null : new Date(end) } : null
}

const ownShift = ({ app, request }: Visit): Shift | null =>
  shiftOf(app.clock.now(), readShift(request), null)

/** Begins a shift on this phone, or ends it and shows what was sold in it. */
function changeShift(visit: Visit): FastifyReply {
  const { app, form, reply, url } = visit
  const now = app.clock.now().getTime()
  const shift = ownShift(visit)
  const keep = (value: string, age_s: number) =>
    keepShift(reply, app.publicUrl, { value, path: url('/counter'), age_s })
  if (form.shift === 'begin' && !shift) keep(String(now), MAX_SHIFT_S)
  if (form.shift !== 'end' || !shift) return visit.redirect('/counter')
  keep('', 0)
  return visit.redirect(`/counter?from=${shift.from.getTime()}&to=${now}`)
}

/** What was sold at the counter in a shift or today, and the last sales of this person in it. */
async function shiftCard(visit: Visit): Promise<Html> {
  const { app, company, person, language, url, query } = visit
  const texts = COUNTER[language]
  const now = app.clock.now()
  const own = ownShift(visit)
  const ended = shiftOf(now, query.from ?? null, query.to ?? '')
  const shown = ended ?? own ?? today(now)
  const [totals, last] = await Promise.all([
    totalsOf(app.db, company.id, person.id, shown),
    lastSales(app.db, company.id, person.id, shown),
  ])
  const found = await Promise.all(last.map(({ id }) => findCharge(app, company.id, id)))
  const charges = found.map((charge) => asOf(charge, now))
  const row = (charge: Charge) =>
    html`<li><a class="row" href="${url(pathOf(charge))}"><span>${money(charge.amount)}<span class="soft small">${charge.description}</span></span>${stateOf(visit, charge)}</a></li>`
  // Whoever has left the screen of an open sale goes on there.
  const pathOf = ({ id, status }: Charge) =>
    `/${status === 'OPEN' ? 'counter' : 'charges'}/${toPublic('charge', id)}`
  const title = ended ? texts.shiftEnded : own ? texts.shift : texts.today
  return card(
    title,
    html`${(ended ?? own) && shiftTimes(visit, shown)}${figuresOf(visit, totals)}<p class="hint">${texts.shiftHint}</p>${charges.length > 0 && html`<ul class="rows">${charges.map(row)}</ul>`}${shiftForm(visit, own)}`,
  )
}

const shiftTimes = ({ language }: Visit, { from, to }: Shift): Html =>
  html`<p class="soft">${COUNTER[language].since} ${moment(from)}${to && html` ${COUNTER[language].until} ${moment(to)}`}</p>`

function figuresOf({ language }: Visit, { own, all }: Record<'own' | 'all', CounterTotal>): Html {
  const texts = COUNTER[language]
  const figure = (label: string, { count, received, refunded }: CounterTotal) =>
    html`<div class="figure"><span class="soft">${label}</span><strong>${money(received)}</strong><span class="soft small">${texts.count(count)}${refunded > 0 && ` · ${texts.refunded(formatReais(refunded))}`}</span></div>`
  return html`${figure(texts.own, own)}${all.count > own.count && figure(texts.all, all)}`
}

function shiftForm(visit: Visit, own: Shift | null): Html {
  const texts = COUNTER[visit.language]
  return visit.formOf(
    visit.url('/counter/shift'),
    own
      ? html`<input type="hidden" name="shift" value="end"><button class="button quiet slim">${texts.endShift}</button>`
      : html`<input type="hidden" name="shift" value="begin"><button class="button quiet slim">${texts.beginShift}</button><p class="hint">${texts.beginHint}</p>`,
    { kind: 'shift-form' },
  )
}

async function findSale({ app, company, params }: Visit): Promise<Charge> {
  const id = fromPublic('charge', params.id ?? '')
  const isSale = id !== null && (await isCounterSale(app.db, { companyId: company.id, id }))
  if (!isSale) throw problem('route_not_found')
  return asOf(await findCharge(app, company.id, id), app.clock.now())
}

/** The screen that the customer looks at. It has nothing of the dashboard but its buttons. */
async function showSale(visit: Visit): Promise<FastifyReply> {
  const { app, company, request, reply, site, language } = visit
  const charge = await findSale(visit)
  const texts = COUNTER[language]
  const isOpen = charge.status === 'OPEN'
  const state = pageStateOf({ app, company, token: '', charge })
  const live = `/pay/${pageToken(app.vault, charge)}`
  return sendPage(request, reply, site.assets, {
    title: `${formatReais(charge.amount)} · ${texts.states[charge.status].title}`,
    language,
    brand: company,
    kind: `counter-page ${charge.status === 'COMPLETED' ? 'is-paid' : ''}`,
    styles: ['dashboard.css', ...STYLES],
    scripts: ['actions.js', ...(isOpen ? ['counter.js', 'charge.js'] : [])],
    data: isOpen ? { live, state, paid: texts.states.COMPLETED.title } : {},
    body: isOpen ? openSale(visit, charge) : endedSale(visit, charge),
    footer: html``,
    sameSiteReferrer: true,
    refresh_s: isOpen ? REFRESH_S : null,
  })
}

function openSale(visit: Visit, charge: Charge): Html {
  const { app, company, language, url, params } = visit
  const texts = COUNTER[language]
  const { brCode, amount, description } = charge
  const bank = bankPath(brCode)
  return html`<section class="counter-sale" aria-labelledby="counter-amount">
${backLink(visit, '/counter', texts.title)}
<h1 id="counter-amount" class="counter-amount">${formatReais(amount)}</h1>
${description !== null && html`<p class="soft">${description}</p>`}
<p class="qr"><img src="${qrDataUrl(brCode!)}" alt="${texts.qr}" width="256" height="256"></p>
<p class="waiting js" role="status">${texts.waiting}</p>
<noscript><p><a class="button" href="${url(`/counter/${params.id}`)}">${texts.refresh}</a></p></noscript>
<div class="actions"><button type="button" class="button quiet slim" data-sound hidden>${texts.sound}</button>${
    isPlayable(app.config, company) &&
    html`<a class="button quiet slim" href="${bank}" target="_blank" rel="noopener">${texts.payAtBank}</a>`
  }${visit.formOf(
    url(`/counter/${params.id}/cancel`),
    html`<button class="button quiet danger slim">${texts.cancel}</button>`,
  )}</div></section>`
}

const SIGNS: Record<Charge['status'], IconName> = {
  OPEN: 'clock',
  COMPLETED: 'check',
  EXPIRED: 'clock',
  CANCELED: 'cross',
}

function endedSale(visit: Visit, charge: Charge): Html {
  const { app, language, url } = visit
  const texts = COUNTER[language]
  const { status, amount } = charge
  const { title, text } = texts.states[status]
  const isPaid = status === 'COMPLETED'
  const path = isPaid ? checkoutUrl(app, charge) : url(`/charges/${toPublic('charge', charge.id)}`)
  return html`<section class="card result counter-result ${isPaid ? 'good' : 'bad'}">${icon(SIGNS[status])}<h1>${title}</h1>
<p class="counter-amount">${formatReais(isPaid ? receivedOf(charge) : amount)}</p><p>${text}</p>
<div class="actions"><a class="button" href="${url('/counter')}">${texts.next}</a><a class="button quiet" href="${path}">${isPaid ? texts.receipt : texts.charge}</a></div></section>`
}

/** What was paid meanwhile is shown as paid. */
async function cancel(visit: Visit): Promise<FastifyReply> {
  const id = toPublic('charge', (await findSale(visit)).id)
  const { once } = visit.form
  const { fault } = await tryForm(() => visit.operate('cancelCharge', { params: { id }, once }))
  return fault ? visit.redirect(`/counter/${id}`) : visit.redirect('/counter', 'canceled')
}

const WRITES = { needs: 'payments:write' } as const

export const counterRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/counter', ...WRITES, handle: show },
  { method: 'POST', path: '/counter', ...WRITES, handle: sell },
  { method: 'POST', path: '/counter/shift', ...WRITES, handle: changeShift },
  { method: 'GET', path: '/counter/:id', ...WRITES, handle: showSale },
  { method: 'POST', path: '/counter/:id/cancel', ...WRITES, handle: cancel },
]
