import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { openLink } from '../core/charges/checkout.ts'
import { findPurchase } from '../core/charges/receipt.ts'
import { type Charge, isSubscriptionLink, itemTotal } from '../core/charges/rules.ts'
import type { Language } from '../core/companies/rules.ts'
import { openPerson } from '../core/customers/sealing.ts'
import { sendSimulated, settleSimulated } from '../core/payments/commands.ts'
import { formatMoment } from '../lib/local-time.ts'
import { formatReais } from '../lib/money.ts'
import { problem } from '../lib/problems.ts'
import { maskTaxId, punctuateTaxId } from '../pix/tax-id.ts'
import { CHECKOUT } from './checkout-texts.ts'
import { isFinal, lookUp, type Owner, type State, stateOf } from './found.ts'
import { type Html, html } from './html.ts'
import { icon, inLanguage, languageOf, type Page, sendPage } from './layout.ts'
import type { Form, Site } from './pages.ts'
import { codePanel, type Fact, facts, result, testNotice, webAddress } from './parts.ts'
import { previewOf } from './preview.ts'
import { PREVIEW } from './preview-texts.ts'
import { receipt, receiptTitle } from './receipt.ts'
import { hasFaults, readShipping, type ShippingGiven, shippingForm } from './shipping-form.ts'
import { actOnSubscription, showSubscription } from './subscription.ts'

/** The page of a charge: everything its payer needs, whatever has become of it. */
export type ChargePage = Owner & {
  charge: Charge
  language: Language
  /** What a paid charge was for. */
  purchase?: string[]
}

type Named = { Params: { token: string } }

/** Without scripts a page that waits looks again so often: time enough to select the code. */
export const REFRESH_S = 20

export function registerCheckout(scope: FastifyInstance, site: Site): void {
  scope.get<Named>('/pay/:token', async (request, reply) => {
    const found = await lookUp(site.app, request.params.token)
    const language = languageOf(request)
    if ('charge' in found && !isSubscriptionLink(found.charge)) {
      const purchase = found.charge.paymentDate ? await findPurchase(site.app, found.charge) : []
      return sendPage(request, reply, site.assets, chargePage({ ...found, language, purchase }))
    }
    return showSubscription(site, request, reply, { ...found, language })
  })
  scope.post<Named>('/pay/:token', async (request, reply) => {
    const found = await lookUp(site.app, request.params.token)
    const form = (request.body ?? {}) as Form
    const language = languageOf(request)
    if ('charge' in found && !isSubscriptionLink(found.charge)) {
      return goOn(site, request, reply, { ...found, language }, form)
    }
    return actOnSubscription(site, request, reply, { ...found, language }, form)
  })
  scope.post<Named>('/pay/:token/simulate', async (request, reply) => {
    const found = await lookUp(site.app, request.params.token)
    if (!('charge' in found)) throw problem('charge_not_found')
    const { app, company, charge, token } = found
    const pix = await sendSimulated(app, company, charge)
    await app.db.transaction((tx) => settleSimulated(tx, app, company, charge.id, pix))
    return reply.redirect(inLanguage(`/pay/${token}`, languageOf(request)), 303)
  })
}

/** A payer goes on from a link to its code, once where things are sent is known. */
async function goOn(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  page: ChargePage,
  form: Form,
): Promise<FastifyReply> {
  const { app, company, charge, token, language } = page
  if (stateOf(page) === 'form') {
    const given = charge.link!.needShipping ? readShipping(form) : null
    if (given && hasFaults(given)) {
      const refused = { ...chargePage(page, given), status: 422 }
      return sendPage(request, reply, site.assets, refused)
    }
    await openLink(app, company, charge, given?.shipping ?? null)
  }
  return reply.redirect(inLanguage(`/pay/${token}`, language), 303)
}

export function chargePage(page: ChargePage, given: ShippingGiven | null = null): Page {
  const { charge, company, language, token } = page
  const state = stateOf(page)
  const waits = state === 'open' || state === 'collecting'
  return {
    title: charge.paymentDate
      ? receiptTitle(page)
      : CHECKOUT[language].title(formatReais(charge.amount)),
    ...{ language, brand: company, kind: 'pay' },
    scripts: ['checkout.js', 'receipt.js', ...(state === 'form' ? ['form.js'] : [])],
    styles: ['receipt.css'],
    refresh_s: waits ? REFRESH_S : null,
    data: { state, ...(isFinal(state) ? {} : { live: `/pay/${token}` }) },
    preview: previewOf(page, PREVIEW[language].charge(state, company.name), charge),
    body: SHOWN[state]?.(page, given) ?? null,
  }
}

type Showing = (page: ChargePage, given: ShippingGiven | null) => Html

const SHOWN: Partial<Record<State, Showing>> = {
  form: (page, given) => html`${notice(page)}${summary(page)}${form(page, given)}${details(page)}`,
  open: (page) => html`${notice(page)}${summary(page)}${codeOf(page)}${details(page)}`,
  collecting: (page) => html`${ending(page, 'collecting')}`,
  paid: (page) => receipt(page, 'paid'),
  refunded: (page) => receipt(page, 'refundedAll'),
  expired: (page) => ending(page, 'expired'),
  canceled: (page) => ending(page, 'canceled'),
}

const notice = ({ charge, company, language, token }: ChargePage) =>
  testNotice(
    charge,
    company,
    language,
    charge.devMode && charge.brCode ? inLanguage(`/pay/${token}/simulate`, language) : null,
  )

/** How much, and until when. A script counts down; the moment itself stands there without one. */
function summary({ charge, app, language }: ChargePage): Html {
  const texts = CHECKOUT[language]
  const left_s = Math.max(
    0,
    Math.ceil((charge.expiresAt.getTime() - app.clock.now().getTime()) / 1000),
  )
  return html`<section class="card" aria-labelledby="amount">
<h1 id="amount"><span class="soft small">${texts.toPay}</span><span class="amount">${formatReais(charge.amount)}</span></h1>
<p class="pill">${icon('clock')}<span><span class="js" data-left="${left_s}" hidden>${texts.timeLeft} <span class="timer" role="timer"></span></span><time datetime="${charge.expiresAt.toISOString()}">${texts.dueAt(formatMoment(charge.expiresAt))}</time></span></p>
</section>`
}

function codeOf({ charge, language }: ChargePage): Html {
  const texts = CHECKOUT[language]
  const { qrTitle: title, qrAlt: alt, steps, waiting, refresh } = texts
  return codePanel(charge.brCode!, language, { title, alt, steps, waiting, refresh })
}

function form({ charge, token, language }: ChargePage, given: ShippingGiven | null): Html {
  const texts = CHECKOUT[language]
  return html`<section class="card beside"><form class="card-form" method="post" action="${inLanguage(`/pay/${token}`, language)}" data-form>
${charge.link!.needShipping && shippingForm(given, language)}
<button class="button">${texts.goOn}</button>
<p class="hint">${texts.goOnHint}</p>
</form></section>`
}

/** What is bought, by whom, and who sells it. */
function details(page: ChargePage): Html {
  const { charge, language } = page
  const texts = CHECKOUT[language]
  const items = charge.link?.items ?? []
  const lines = items.map(
    (item): Fact => [
      texts.quantity(item.quantity, item.product.name),
      formatReais(itemTotal(item)),
      'item',
    ],
  )
  return html`<section class="card" aria-labelledby="details"><h2 id="details">${texts.details}</h2>
${facts([
  ...lines,
  items.length > 0 && [texts.total, formatReais(charge.amount), 'sum'],
  [texts.due, formatMoment(charge.expiresAt)],
  ...parties(page),
])}</section>`
}

/** Both sides of the payment, the payer as masked as in every view of a charge. */
function parties({ charge, company, app, language }: ChargePage): (Fact | false)[] {
  const texts = CHECKOUT[language]
  const { payer } = charge
  const taxId = payer && maskTaxId(openPerson(app.vault, company.id, payer).taxId)
  return [
    [
      texts.receiver,
      html`${company.name}<br><span class="soft small">${punctuateTaxId(company.taxId)}</span>`,
    ],
    payer !== null && [
      texts.payer,
      html`${payer.name}<br><span class="soft small">${taxId}</span>`,
    ],
  ]
}

/** It came to no payment, or to none that the payer has to make. */
function ending(page: ChargePage, state: 'expired' | 'canceled' | 'collecting'): Html {
  const { charge, language } = page
  const texts = CHECKOUT[language]
  const failedUrl = state === 'collecting' ? null : webAddress(charge.link?.failedUrl)
  return result(
    {
      ...(state === 'collecting'
        ? { kind: 'calm', icon: 'repeat' }
        : { kind: 'bad', icon: state === 'expired' ? 'clock' : 'cross' }),
      ...texts[state],
      facts: [[texts.amount, formatReais(charge.amount), 'sum'], ...parties(page)],
      link: failedUrl ? { url: failedUrl, label: texts.failed } : null,
    },
    language,
  )
}
