import type { FastifyReply, FastifyRequest } from 'fastify'
import { keepShipping } from '../core/charges/checkout.ts'
import type { Charge, Link, Payer } from '../core/charges/rules.ts'
import type { Language } from '../core/companies/rules.ts'
import { openPerson } from '../core/customers/sealing.ts'
import { subscribeThrough, termsOfLink } from '../core/recurrences/offers.ts'
import { asOf, type Recurrence, type Terms } from '../core/recurrences/rules.ts'
import { findStarted } from '../core/recurrences/store.ts'
import { fromPublic, packPair } from '../lib/ids.ts'
import { formatMoment, localDateOf } from '../lib/local-time.ts'
import { formatReais } from '../lib/money.ts'
import { dueDay, firstGeneration, generationDay, type LocalDate } from '../pix/calendar.ts'
import { maskTaxId } from '../pix/tax-id.ts'
import { CHECKOUT } from './checkout-texts.ts'
import { type Found, isFinal, type Owner, type State, stateOf } from './found.ts'
import { type Html, html } from './html.ts'
import { icon, inLanguage, type Page, sendPage } from './layout.ts'
import type { Form, Site } from './pages.ts'
import { codePanel, facts, type Result, result, testNotice, webAddress } from './parts.ts'
import { type PayerGiven, payerForm, readPayer } from './payer-form.ts'
import { type Preview, previewOf } from './preview.ts'
import { PREVIEW } from './preview-texts.ts'
import { hasFaults, readShipping, type ShippingGiven, shippingForm } from './shipping-form.ts'
import { SUBSCRIPTION } from './subscription-texts.ts'

type Asked = Found & { language: Language }

/** Without scripts the page of an agreement looks again so often. */
const REFRESH_S = 20
/** As many charges are announced with their days. */
const ANNOUNCED = 3

/** What somebody can subscribe to: a template, or a link whose one product is a subscription. */
type Offer = Owner & {
  language: Language
  state: State
  terms: Terms
  payer: Payer | null
  link: Link | null
  /** The agreement that the one payer of the offer has begun. */
  started: Recurrence | null
}

type Given = { payer: PayerGiven | null; shipping: ShippingGiven | null }

export async function showSubscription(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
): Promise<FastifyReply> {
  if ('recurrence' in asked && !asked.recurrence.isTemplate) {
    return sendPage(request, reply, site.assets, await agreementPage(asked, asked.recurrence))
  }
  const offer = await offerOf(asked)
  // Whoever has begun sees how that stands, until it has come to nothing.
  if (offer.started?.status === 'OPEN') return reply.redirect(pageOf(offer.started, asked), 303)
  return sendPage(request, reply, site.assets, offerPage(offer, null))
}

const pageOf = ({ companyId, id }: Pick<Recurrence, 'companyId' | 'id'>, { language }: Asked) =>
  inLanguage(`/pay/${packPair(companyId, id)}`, language)

async function offerOf(asked: Asked): Promise<Offer> {
  const { app, company, token, language } = asked
  const source = 'charge' in asked ? asked.charge : asked.recurrence
  const terms = 'charge' in asked ? termsOfLink(asked.charge) : asked.recurrence
  const begun = source.payer && (await findStarted(app.db, company.id, source.id))
  return {
    ...{ app, company, token, language, terms, state: stateOf(asked), payer: source.payer },
    link: 'charge' in asked ? asked.charge.link : null,
    started: begun && asOf(begun, app.clock.now()),
  }
}

/** A payer goes on to the agreement, once they and where things are sent are known. */
export async function actOnSubscription(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
  form: Form,
): Promise<FastifyReply> {
  const { token, language, company, app } = asked
  const here = inLanguage(`/pay/${token}`, language)
  if ('recurrence' in asked && !asked.recurrence.isTemplate) return reply.redirect(here, 303)
  const offer = await offerOf(asked)
  if (offer.state !== 'offer') return reply.redirect(here, 303)
  const payer = offer.payer ? null : readPayer(form, company.mode)
  const shipping = offer.link?.needShipping ? readShipping(form) : null
  if ((payer?.faults.length ?? 0) > 0 || (shipping && hasFaults(shipping))) {
    const page = { ...offerPage(offer, { payer, shipping }), status: 422 }
    return sendPage(request, reply, site.assets, page)
  }
  if ('charge' in asked && shipping) await keepShipping(app, asked.charge, shipping.shipping)
  const customer = payer?.person
  const begun = await subscribeThrough(site.app, customer ? { customer } : {}, { token })
  const id = fromPublic('rec', begun.id)!
  return reply.redirect(pageOf({ companyId: company.id, id }, asked), 303)
}

function offerPage(offer: Offer, given: Given | null): Page {
  const { language, terms, company, state, token } = offer
  return {
    title: SUBSCRIPTION[language].title(terms.productName),
    ...{ language, brand: company, kind: 'pay' },
    scripts: ['checkout.js', 'form.js'],
    data: { state, ...(isFinal(state) ? {} : { live: `/pay/${token}` }) },
    preview: previewOfTerms(offer, terms),
    body: state === 'offer' ? offerBody(offer, given) : closedBody(offer),
  }
}

function offerBody(offer: Offer, given: Given | null): Html {
  const { language, terms, app, company, started } = offer
  const texts = SUBSCRIPTION[language]
  const today = localDateOf(app.clock.now())
  const first = firstGeneration(today, terms.dayGenerateCharge)
  const noCode = { devMode: false, brCode: null }
  return html`${testNotice(noCode, company, language, null)}${started && html`<p class="notice all">${icon('alert')}<span>${texts.again}</span></p>`}
${termsCard(terms, language)}
${offerForm(offer, given)}
${datesCard(language, terms, upcoming(terms, first, 0, today), texts.whenHint)}`
}

function previewOfTerms(owner: Owner & { language: Language }, terms: Terms): Preview {
  const { company, language } = owner
  const price = `${formatReais(terms.value)} ${SUBSCRIPTION[language].each[terms.frequency]}`
  return previewOf(owner, PREVIEW[language].subscription(price, company.name))
}

function termsCard(terms: Terms, language: Language): Html {
  const texts = SUBSCRIPTION[language]
  return html`<section class="card" aria-labelledby="terms">
<h1 id="terms"><span class="soft small">${texts.subscribe}</span>${terms.productName}</h1>
<p><span class="amount">${formatReais(terms.value)}</span> <span class="soft">${texts.each[terms.frequency]}</span></p>
<p class="pill">${icon('repeat')}<span>${texts.automatic}</span></p>
</section>`
}

type Announced = { number: number; on: LocalDate }

/** The next charges and the days on which the payer's bank collects them. */
function upcoming(terms: Terms, first: LocalDate, from: number, today: LocalDate): Announced[] {
  return Array.from({ length: ANNOUNCED }, (_, i) => {
    const generated = generationDay(first, terms.frequency, from + i)
    const on = dueDay(generated > today ? generated : today, terms.dayDue)
    return { number: from + i + 1, on }
  })
}

const formatDay = (day: LocalDate): string => day.split('-').toReversed().join('/')

function datesCard(language: Language, { value }: Terms, dates: Announced[], hint: string): Html {
  const texts = SUBSCRIPTION[language]
  return html`<section class="card" aria-labelledby="dates"><h2 id="dates">${texts.when}</h2>
<ul class="dates">${dates.map(
    ({ number, on }) =>
      html`<li><span>${texts.charge(number)}<br><time class="soft small" datetime="${on}">${formatDay(on)}</time></span><span>${formatReais(value)}</span></li>`,
  )}</ul>
<p class="hint">${hint} ${texts.cancelAnytime}</p></section>`
}

function offerForm(offer: Offer, given: Given | null): Html {
  const { language, token, company, payer, link } = offer
  const texts = SUBSCRIPTION[language]
  return html`<section class="card beside"><form class="card-form" method="post" action="${inLanguage(`/pay/${token}`, language)}" data-form>
${payer ? knownPayer(offer, payer) : payerForm(given?.payer ?? null, company, language)}
${link?.needShipping && shippingForm(given?.shipping ?? null, language)}
<button class="button">${texts.goOn}</button>
<p class="hint">${texts.goOnHint}</p>
</form></section>`
}

/** As masked as in every view of a charge. */
function knownPayer(
  { app, company, language }: Owner & { language: Language },
  payer: Payer,
): Html {
  const texts = SUBSCRIPTION[language]
  const { taxId } = openPerson(app.vault, company.id, payer)
  return html`<h2>${texts.knownTitle}</h2><p class="hint">${texts.knownHint}</p>
${facts([
  [texts.fields.name, payer.name],
  [texts.fields.taxId, maskTaxId(taxId)],
])}`
}

function closedBody({ language, terms, link, state }: Offer): Html {
  const texts = SUBSCRIPTION[language]
  const failedUrl = webAddress(link?.failedUrl)
  return result(
    {
      ...{ kind: 'bad', icon: state === 'expired' ? 'clock' : 'cross', ...texts.closed },
      facts: [[texts.product, terms.productName]],
      link: failedUrl ? { url: failedUrl, label: CHECKOUT[language].failed } : null,
    },
    language,
  )
}

/** The page of one payer's agreement: to be decided on, or decided. */
async function agreementPage(asked: Asked, agreement: Recurrence): Promise<Page> {
  const { company, language, token, app } = asked
  const state = stateOf(asked)
  const { companyId, originId } = agreement
  const origin = originId ? await app.charges.find({ companyId, id: originId }) : null
  const body = state === 'agreeing' ? agreeing(asked, agreement) : decided(asked, agreement, origin)
  return {
    title: SUBSCRIPTION[language].title(agreement.productName),
    ...{ language, brand: company, kind: 'pay', scripts: ['checkout.js'], body },
    refresh_s: state === 'agreeing' ? REFRESH_S : null,
    preview: previewOfTerms(asked, agreement),
    data: { state, ...(isFinal(state) ? {} : { live: `/pay/${token}` }) },
  }
}

function agreeing({ app, company, language }: Asked, agreement: Recurrence): Html {
  const texts = SUBSCRIPTION[language]
  const today = localDateOf(app.clock.now())
  const first = firstGeneration(today, agreement.dayGenerateCharge)
  const taxId = maskTaxId(openPerson(app.vault, company.id, agreement.payer!).taxId)
  const notice = { devMode: false, brCode: agreement.brCode }
  return html`${testNotice(notice, company, language, null)}
${termsCard(agreement, language)}
${codePanel(agreement.brCode!, language, texts.panel)}
${datesCard(language, agreement, upcoming(agreement, first, 0, today), texts.whenHint)}
<section class="card">${facts([
    [texts.payer, taxId],
    [texts.validUntil, formatMoment(agreement.expiresAt!)],
  ])}</section>`
}

const SIGNS = {
  approved: { kind: 'good', icon: 'check' },
  rejected: { kind: 'bad', icon: 'cross' },
  expired: { kind: 'bad', icon: 'clock' },
  canceled: { kind: 'bad', icon: 'cross' },
} as const

type Decided = keyof typeof SIGNS

function decided(asked: Asked, agreement: Recurrence, origin: Charge | null): Html {
  const { language, app } = asked
  const texts = SUBSCRIPTION[language]
  const state = stateOf(asked) as Decided
  const isGood = state === 'approved'
  const url = webAddress(isGood ? origin?.link?.successUrl : origin?.link?.failedUrl)
  const labels = CHECKOUT[language]
  const shown: Result = {
    ...{ ...SIGNS[state], ...texts[state], leads: isGood },
    facts: [
      [texts.product, agreement.productName],
      [texts.value, `${formatReais(agreement.value)} ${texts.each[agreement.frequency]}`, 'sum'],
      isGood && [texts.since, formatMoment(agreement.decidedAt!)],
    ],
    link: url ? { url, label: isGood ? labels.success : labels.failed } : null,
  }
  if (!isGood) return result(shown, language)
  const today = localDateOf(app.clock.now())
  const dates = upcoming(agreement, agreement.firstOn!, agreement.cycles, today)
  return html`${result(shown, language)}<div class="after">${datesCard(language, agreement, dates, texts.whenKnown)}</div>`
}
