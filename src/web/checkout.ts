import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { debitDay } from '../core/billings/rules.ts'
import { pageToken, planUrl } from '../core/charges/addresses.ts'
import { noteOpening, openLink } from '../core/charges/checkout.ts'
import { findRenewal, renewCharge } from '../core/charges/renewals.ts'
import { amountAt, type Charge, type Due, isSubscriptionLink } from '../core/charges/rules.ts'
import { showAmount } from '../core/charges/view.ts'
import { openPerson } from '../core/customers/sealing.ts'
import { find as findLink } from '../core/links/store.ts'
import { linkUrl } from '../core/links/view.ts'
import { paySimulated } from '../core/payments/commands.ts'
import { matchBeforeReplacement } from '../core/payments/paid-charges.ts'
import { isPlayable } from '../core/payments/rules.ts'
import { findPurchase } from '../core/receipts/lines.ts'
import { formatReais } from '../lib/money.ts'
import { problem } from '../lib/problems.ts'
import { lastDayInTime, lastDayToPay } from '../pix/due-amount.ts'
import { addDays, formatDay, formatMoment, localDateOf } from '../pix/local-time.ts'
import { maskTaxId, receiverTaxId } from '../pix/tax-id.ts'
import { CHECKOUT } from './checkout-texts.ts'
import type { ChargePage } from './found.ts'
import {
  asksToPay,
  findCollection,
  isFinal,
  lookUp,
  type Owner,
  type State,
  stateOf,
} from './found.ts'
import { type Html, html } from './html.ts'
import { inLanguage, type PageLanguage, pageLanguageOf } from './language.ts'
import { icon, type Page, sendPage } from './layout.ts'
import {
  bankPath,
  codePanel,
  contactOf,
  descriptionFact,
  dueFact,
  dueFacts,
  type Fact,
  facts,
  party,
  purchaseFacts,
  type Result,
  result,
  testNotice,
  webAddress,
} from './parts.ts'
import { isPayer } from './payers.ts'
import { planFact } from './plan.ts'
import { previewOf } from './preview.ts'
import { PREVIEW } from './preview-texts.ts'
import { receipt, receiptTitle } from './receipt.ts'
import { hasFaults, readShipping, type ShippingGiven, shippingForm } from './shipping-form.ts'
import type { Form, Site } from './site.ts'
import { actOnSubscription, showSubscription } from './subscription.ts'
import { lateText } from './subscription-parts.ts'
import { SUBSCRIPTION } from './subscription-texts.ts'

type Named = { Params: { token: string } }

/** Without scripts a page that waits reloads so often. It leaves time to select the code. */
const REFRESH_S = 20
/** If less time is left, the deadline is marked as urgent. `web/checkout.js` has the same value. */
const SOON_S = 120

export function registerCheckout(scope: FastifyInstance, site: Site): void {
  scope.get<Named>('/pay/:token', async (request, reply) => {
    const found = await lookUp(site.app, request.params.token)
    const pageLanguage = pageLanguageOf(request, found.company.language)
    if (stateOf(found) === 'unavailable') {
      return sendPage(request, reply, site.assets, unavailablePage({ ...found, ...pageLanguage }))
    }
    if ('charge' in found && !isSubscriptionLink(found.charge)) {
      const { app, charge } = found
      const byPayer = isPayer(site, request)
      if (byPayer) await noteOpening(app, charge)
      const { leadsTo, ...rest } = await findRest(found)
      if (leadsTo) {
        const token = pageToken(app.vault, leadsTo)
        return reply.redirect(inLanguage(`/pay/${token}`, pageLanguage.chosen), 302)
      }
      const collection = await findCollection(found.app, charge)
      const purchase = charge.paymentDate ? await findPurchase(found.app, charge) : []
      const shown = { ...found, ...pageLanguage, collection, purchase, ...rest, isPayer: byPayer }
      return sendPage(request, reply, site.assets, chargePage(shown))
    }
    return showSubscription(site, request, reply, { ...found, ...pageLanguage })
  })
  scope.post<Named>('/pay/:token', async (request, reply) => {
    const found = await lookUp(site.app, request.params.token)
    const form = (request.body ?? {}) as Form
    const pageLanguage = pageLanguageOf(request, found.company.language)
    if ('charge' in found && !isSubscriptionLink(found.charge)) {
      return continueFromLink(
        site,
        request,
        reply,
        { ...found, ...pageLanguage, collection: null },
        form,
      )
    }
    return actOnSubscription(site, request, reply, { ...found, ...pageLanguage }, form)
  })
  scope.post<Named>('/pay/:token/renew', async (request, reply) => {
    const found = await lookUp(site.app, request.params.token)
    if (!('charge' in found)) throw problem('charge_not_found')
    const { app, company, charge } = found
    const { chosen } = pageLanguageOf(request, company.language)
    if (stateOf(found) !== 'expired') {
      return reply.redirect(inLanguage(`/pay/${found.token}`, chosen), 303)
    }
    const newest = await renewCharge(app, company, charge, (one) =>
      matchBeforeReplacement(app, company, one),
    )
    return reply.redirect(inLanguage(`/pay/${pageToken(app.vault, newest)}`, chosen), 303)
  })
  scope.post<Named>('/pay/:token/simulate', async (request, reply) => {
    const found = await lookUp(site.app, request.params.token)
    if (!('charge' in found)) throw problem('charge_not_found')
    const { app, company, charge, token } = found
    if (!isPlayable(app.config, company)) throw problem('charge_not_found')
    await paySimulated(app, company, charge)
    const { chosen } = pageLanguageOf(request, company.language)
    return reply.redirect(inLanguage(`/pay/${token}`, chosen), 303)
  })
}

type Rest = Pick<ChargePage, 'again' | 'isChecking'> & {
  /** The charge in place of this one, whose page is shown instead. */
  leadsTo?: Charge
}

/** How the payer of a charge goes on that is not simply paid here: by another, or not at all. */
async function findRest(found: Owner & { charge: Charge }): Promise<Rest> {
  const { app, company, charge } = found
  if (!asksToPay(stateOf(found))) return {}
  const { current, hasMoney, canRenew } = await findRenewal(app, company, charge)
  const isOf = current.status === 'OPEN' || current.status === 'COMPLETED'
  if (current.id !== charge.id && isOf) return { leadsTo: current }
  if (hasMoney) return { isChecking: true }
  if (charge.status === 'OPEN') return {}
  if (charge.linkId === null) return { again: canRenew ? 'here' : null }
  const link = await findLink(app.db, company.id, charge.linkId)
  return { again: link && { path: new URL(linkUrl(app, link)).pathname } }
}

/** The page of a company that is suspended. It goes on by itself when the company is resumed. */
function unavailablePage({ company, language, token }: Owner & PageLanguage): Page {
  const texts = CHECKOUT[language].unavailable
  return {
    title: texts.title,
    language,
    brand: company,
    kind: 'pay',
    scripts: ['checkout.js'],
    refresh_s: REFRESH_S,
    data: { state: 'unavailable', live: `/pay/${token}` },
    body: result(
      { kind: 'calm', icon: 'clock', ...texts, more: contactOf(company, language) ?? html`` },
      language,
    ),
  }
}

/** Opens the code of a link. If something is to be sent, the address must be known first. */
async function continueFromLink(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  page: ChargePage,
  form: Form,
): Promise<FastifyReply> {
  const { app, company, charge, token, chosen } = page
  if (stateOf(page) === 'form') {
    const given = charge.link!.needShipping ? readShipping(form) : null
    if (given && hasFaults(given)) {
      const refused = { ...chargePage(page, given), status: 422 }
      return sendPage(request, reply, site.assets, refused)
    }
    const { brCode } = await openLink(app, company, charge, given?.shipping ?? null)
    if (form.bank && isPlayable(app.config, company)) {
      return reply.redirect(inLanguage(bankPath(brCode), chosen), 303)
    }
  }
  return reply.redirect(inLanguage(`/pay/${token}`, chosen), 303)
}

export function chargePage(page: ChargePage, given: ShippingGiven | null = null): Page {
  const { charge, company, language, token } = page
  const state = page.isChecking ? 'checking' : stateOf(page)
  const waits = state === 'open' || state === 'collecting' || state === 'checking'
  return {
    title: charge.paymentDate
      ? receiptTitle(page)
      : CHECKOUT[language].title(formatReais(amountAt(charge, page.app.clock.now()))),
    language,
    brand: company,
    kind: 'pay',
    scripts: ['checkout.js', 'receipt.js', ...(state === 'form' ? ['form.js'] : [])],
    styles: ['receipt.css'],
    refresh_s: waits ? REFRESH_S : null,
    data: { state, ...(isFinal(state) ? {} : { live: `/pay/${token}` }) },
    preview: previewOf(page, PREVIEW[language].charge(state, company.name), charge),
    body: BODIES[state]?.(page, given) ?? null,
  }
}

type Body = (page: ChargePage, given: ShippingGiven | null) => Html

const BODIES: Partial<Record<State, Body>> = {
  form: (page, given) => html`${notice(page)}${summary(page)}${form(page, given)}${details(page)}`,
  open: (page) => html`${notice(page)}${summary(page)}${codeOf(page)}${details(page)}`,
  collecting: (page) => ending(page, 'collecting'),
  checking: (page) => ending(page, 'checking'),
  paid: (page) => receipt(page, 'paid'),
  refunded: (page) => receipt(page, 'refundedAll'),
  expired: (page) => ending(page, page.charge.kind === 'RECURRING' ? 'uncollected' : 'expired'),
  canceled: (page) => ending(page, 'canceled'),
}

function notice({ app, charge, company, language, chosen, token }: ChargePage) {
  const { devMode } = charge
  const brCode = isPlayable(app.config, company) ? charge.brCode : null
  const simulate = devMode && brCode ? inLanguage(`/pay/${token}/simulate`, chosen) : null
  return testNotice({ devMode, brCode }, company, language, simulate)
}

/** The amount of today, the due date, and in words what was added or taken off. */
function dueSummary({ charge, app, language }: ChargePage, { terms }: Due): Html {
  const texts = CHECKOUT[language].due
  const today = localDateOf(app.clock.now())
  const { fine, interest, discount, total } = showAmount(charge, today)
  const tomorrow = showAmount(charge, addDays(today, 1))
  const [day, isLate] = [formatDay(terms.dueDate), today > lastDayInTime(terms)]
  const isDay = today >= terms.dueDate
  const last = lastDayToPay(terms)
  const words = [
    discount > 0 && texts.discount(formatReais(discount)),
    fine + interest > 0 && texts.added(formatReais(fine + interest)),
    tomorrow.total !== total && today < last && texts.sameDay,
    texts.untilLast(formatDay(last)),
  ].filter((text) => text !== false)
  return html`<section class="card" aria-labelledby="amount">
<h1 id="amount"><span class="soft small">${CHECKOUT[language].toPay}</span><span class="amount">${formatReais(total)}</span></h1>
<p class="pill deadline${isLate && ' soon'}"><span class="early">${icon('clock')}</span><span class="late">${icon('alert')}</span><span>${isLate ? texts.late(day) : isDay ? texts.today : texts.before(day)}</span></p>
<p class="soft small">${words.join(' ')}</p>
</section>`
}

/** The amount and the deadline. A script counts down. Without scripts the time is shown. */
function summary(page: ChargePage): Html {
  const { charge, app, language } = page
  if (charge.due) return dueSummary(page, charge.due)
  const texts = CHECKOUT[language]
  const left_s = Math.max(
    0,
    Math.ceil((charge.expiresAt.getTime() - app.clock.now().getTime()) / 1000),
  )
  return html`<section class="card" aria-labelledby="amount">
<h1 id="amount"><span class="soft small">${texts.toPay}</span><span class="amount">${formatReais(charge.amount)}</span></h1>
<p class="pill deadline${left_s < SOON_S && ' soon'}" data-left="${left_s}"><span class="early">${icon('clock')}</span><span class="late">${icon('alert')}</span><span><span class="countdown js" hidden>${texts.timeLeft} <span class="timer" role="timer"></span></span><time datetime="${charge.expiresAt.toISOString()}">${texts.validUntil} ${texts.moment(formatMoment(charge.expiresAt))}</time></span></p>
<p class="hide" role="status" data-soon="${texts.lastMinutes}"></p>
</section>`
}

function codeOf({ charge, language }: ChargePage): Html {
  const texts = CHECKOUT[language]
  const { qrTitle: title, qrAlt: alt, stepsTitle, steps, waiting, refresh } = texts
  return codePanel(charge.brCode!, language, { title, alt, stepsTitle, steps, waiting, refresh })
}

/**
 * The form that gives a link its code. A payer with nothing to fill in does not have to press its
 * button: a script does it once. It is no part of reading the page, because messengers and scanners
 * read it too, and a bank gets an order for each code.
 */
function form(page: ChargePage, given: ShippingGiven | null): Html {
  const { charge, token, language, chosen } = page
  const texts = CHECKOUT[language]
  const { needShipping } = charge.link!
  const isAuto = !needShipping && page.isPayer === true
  return html`<section class="card beside"><form class="card-form" method="post" action="${inLanguage(`/pay/${token}`, chosen)}" data-form${isAuto && html` data-auto="${texts.making}"`}>
${needShipping && shippingForm(given, language)}
<button class="button">${needShipping ? texts.goOn : texts.make}</button>
<p class="hint">${needShipping ? texts.goOnHint : texts.makeHint}</p>
</form></section>`
}

/** What is bought, and its buyer and seller. */
function details(page: ChargePage): Html {
  const { charge, language } = page
  const texts = CHECKOUT[language]
  return html`<section class="card" aria-labelledby="details"><h2 id="details">${texts.details}</h2>
${facts([
  descriptionFact(charge, language),
  ...purchaseFacts(charge, language),
  ...dueFacts(charge, page.app.clock.now(), language),
  planFactOf(page),
  ...parties(page, texts.receiver, texts.payer),
])}</section>`
}

const planFactOf = ({ app, company, charge, language, chosen }: ChargePage): Fact | false => {
  const plan = charge.due?.plan
  if (!plan) return false
  const { pathname } = new URL(planUrl(app, { companyId: company.id, id: plan.id }))
  return planFact(charge, inLanguage(pathname, chosen), language)
}

/** Receiver and payer of the payment. The payer is masked as in every view of a charge. */
function parties({ charge, company, app }: ChargePage, to: string, by: string): (Fact | false)[] {
  const { payer } = charge
  const taxId = payer ? maskTaxId(openPerson(app.vault, company.id, payer).taxId) : ''
  return [
    [to, party(company.name, receiverTaxId(company.taxId))],
    payer !== null && [by, party(payer.name, taxId)],
  ]
}

type Ended = 'expired' | 'canceled' | 'collecting' | 'checking' | 'uncollected'

const SIGNS = {
  expired: { kind: 'bad', icon: 'clock' },
  canceled: { kind: 'bad', icon: 'cross' },
  collecting: { kind: 'calm', icon: 'repeat' },
  checking: { kind: 'calm', icon: 'clock' },
  uncollected: { kind: 'bad', icon: 'alert' },
} as const satisfies Record<Ended, Pick<Result, 'kind' | 'icon'>>

/** If a debit was due and was not made, the payer must keep money in the account. */
function lateDebit({ app, collection, language }: ChargePage): Partial<Result> | null {
  const today = localDateOf(app.clock.now())
  if (!collection || debitDay(collection, today) === collection.dueOn) return null
  const { title } = SUBSCRIPTION[language].late
  return { kind: 'bad', icon: 'alert', title, text: lateText(collection, today, language) }
}

/** The page of a charge that cannot be paid here. */
function ending(page: ChargePage, state: Ended): Html {
  const { charge, collection, company, language } = page
  const texts = CHECKOUT[language]
  const waits = state === 'collecting' || state === 'checking'
  const failedUrl = waits ? null : webAddress(charge.link?.failedUrl)
  return result(
    {
      ...SIGNS[state],
      ...texts[state],
      ...(state === 'expired' && page.again ? { text: texts.again.text } : {}),
      ...(state === 'collecting' ? lateDebit(page) : null),
      facts: [
        [texts.amount, formatReais(charge.amount), 'sum'],
        charge.due !== null && [texts.dueOn, formatDay(charge.due.terms.dueDate)],
        descriptionFact(charge, language),
        collection !== null && [texts.subscription, collection.productName],
        dueFact(collection, language),
        ...parties(page, texts.receiver, texts.payer),
      ],
      more: html`${state === 'expired' && againOf(page)}${state !== 'collecting' && contactOf(company, language)}`,
      link: failedUrl ? { url: failedUrl, label: texts.failed } : null,
    },
    language,
  )
}

/** How the payer of an expired charge can pay after all. */
function againOf({ again, token, language, chosen }: ChargePage): Html | null {
  const texts = CHECKOUT[language].again
  if (!again) return null
  if (again !== 'here') {
    return html`<p><a class="button" href="${inLanguage(again.path, chosen)}">${texts.buy}</a></p>`
  }
  return html`<form method="post" action="${inLanguage(`/pay/${token}/renew`, chosen)}"><button class="button">${texts.renew}</button></form>`
}
