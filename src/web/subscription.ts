import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Billing, debitDay } from '../core/billings/rules.ts'
import { listOfRecurrence, listOpen } from '../core/billings/store.ts'
import { pageToken } from '../core/charges/addresses.ts'
import { keepShipping } from '../core/charges/checkout.ts'
import type { Charge, Payer } from '../core/charges/rules.ts'
import { openPerson } from '../core/customers/sealing.ts'
import { placeOf } from '../core/places/front.ts'
import { subscribeThrough, termsOfLink } from '../core/recurrences/commands.ts'
import { asOf, type Recurrence, type Terms, upcomingDebits } from '../core/recurrences/rules.ts'
import { findStarted } from '../core/recurrences/store.ts'
import { fromPublic } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import { formatReais } from '../lib/money.ts'
import { formatDay, formatMoment, type LocalDate, localDateOf } from '../pix/local-time.ts'
import { maskTaxId, receiverTaxId } from '../pix/tax-id.ts'
import { CHECKOUT } from './checkout-texts.ts'
import { type Found, isFinal, type Owner, type State, stateOf } from './found.ts'
import { type Html, html } from './html.ts'
import { inLanguage, type PageLanguage } from './language.ts'
import { icon, type Page, sendPage } from './layout.ts'
import { codePanel, facts, party, type Result, result, testNotice, webAddress } from './parts.ts'
import { type PayerGiven, payerForm, readPayer } from './payer-form.ts'
import { type Preview, previewOf } from './preview.ts'
import { PREVIEW } from './preview-texts.ts'
import { hasFaults, readShipping, type ShippingGiven, shippingForm } from './shipping-form.ts'
import type { Form, Site } from './site.ts'
import {
  about,
  datesCard,
  findDescription,
  lateText,
  purchaseOf,
  termsCard,
} from './subscription-parts.ts'
import { SUBSCRIPTION } from './subscription-texts.ts'

type PageRequest = Found & PageLanguage

/** Without scripts the page of an agreement reloads so often. */
const REFRESH_S = 20
/** How many of the next debits a page shows. */
const MAX_DEBITS = 3
/** How many of the latest charges a page looks at to find the last one that has ended. */
const LATEST = 5

/** A template, or a link whose only product is a subscription. */
type Offer = Owner & {
  language: Language
  chosen: Language | null
  state: State
  terms: Terms
  description: string
  payer: Payer | null
  /** The link; null if it is a template. */
  charge: Charge | null
  /** The agreement that the known payer of the offer has started. */
  started: Recurrence | null
}

type Given = { payer: PayerGiven | null; shipping: ShippingGiven | null }

export async function showSubscription(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: PageRequest,
): Promise<FastifyReply> {
  if ('recurrence' in asked && !asked.recurrence.isTemplate) {
    return sendPage(request, reply, site.assets, await agreementPage(asked, asked.recurrence))
  }
  const offer = await offerOf(asked)
  // If the payer has started a subscription that is still open, show that one.
  if (offer.started?.status === 'OPEN') return reply.redirect(pageOf(offer.started, asked), 303)
  return sendPage(request, reply, site.assets, offerPage(offer, null))
}

const pageOf = (named: Pick<Recurrence, 'companyId' | 'id'>, { app, chosen }: PageRequest) =>
  inLanguage(`/pay/${pageToken(app.vault, named)}`, chosen)

async function offerOf(asked: PageRequest): Promise<Offer> {
  const { app, company, token, language, chosen } = asked
  const charge = 'charge' in asked ? asked.charge : null
  const source = 'charge' in asked ? asked.charge : asked.recurrence
  const terms = 'charge' in asked ? termsOfLink(asked.charge) : asked.recurrence
  const begun = source.payer && (await findStarted(app.db, company.id, source.id))
  return {
    app,
    company,
    token,
    language,
    chosen,
    terms,
    charge,
    payer: source.payer,
    state: stateOf(asked),
    description: await findDescription(app, company.id, terms, charge),
    started: begun && asOf(begun, app.clock.now()),
  }
}

/** Starts the agreement. The payer, and the address if something is sent, must be known first. */
export async function actOnSubscription(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: PageRequest,
  form: Form,
): Promise<FastifyReply> {
  const { token, chosen, company, app } = asked
  const here = inLanguage(`/pay/${token}`, chosen)
  if ('recurrence' in asked && !asked.recurrence.isTemplate) return reply.redirect(here, 303)
  const offer = await offerOf(asked)
  if (offer.state !== 'offer') return reply.redirect(here, 303)
  const payer = offer.payer ? null : readPayer(form, company)
  const shipping = offer.charge?.link?.needShipping ? readShipping(form) : null
  if ((payer?.faults.length ?? 0) > 0 || (shipping && hasFaults(shipping))) {
    const page = { ...offerPage(offer, { payer, shipping }), status: 422 }
    return sendPage(request, reply, site.assets, page)
  }
  if ('charge' in asked && shipping) await keepShipping(app, asked.charge, shipping.shipping)
  const customer = payer?.person
  const placed = await placeOf(site.app, company.id)
  const begun = await subscribeThrough(placed, customer ? { customer } : {}, { token })
  const id = fromPublic('rec', begun.id)!
  return reply.redirect(pageOf({ companyId: company.id, id }, asked), 303)
}

export function offerPage(offer: Offer, given: Given | null): Page {
  const { language, terms, company, state, token } = offer
  return {
    title: SUBSCRIPTION[language].title(terms.productName),
    language,
    brand: company,
    kind: 'pay',
    scripts: ['checkout.js', 'form.js'],
    data: { state, ...(isFinal(state) ? {} : { live: `/pay/${token}` }) },
    preview: previewOfTerms(offer, terms),
    body: state === 'offer' ? offerBody(offer, given) : closedBody(offer),
  }
}

function offerBody(offer: Offer, given: Given | null): Html {
  const { language, terms, description, app, company, started, charge } = offer
  const texts = SUBSCRIPTION[language]
  const dates = upcomingDebits(terms, null, localDateOf(app.clock.now()), MAX_DEBITS)
  const noCode = { devMode: false, brCode: null }
  return html`${testNotice(noCode, company, language, null)}${started && html`<p class="notice all">${icon('alert')}<span>${texts.again}</span></p>`}
${termsCard(terms, language, about(description, language))}
${offerForm(offer, given)}
${datesCard(language, terms, dates, texts.whenHint)}
<section class="card" aria-labelledby="details"><h2 id="details">${CHECKOUT[language].details}</h2>
${facts([
  ...purchaseOf(charge, language),
  [texts.receiver, party(company.name, receiverTaxId(company.taxId))],
])}</section>`
}

function previewOfTerms(owner: Owner & PageLanguage, terms: Terms): Preview {
  const { company, language } = owner
  const price = `${formatReais(terms.value)} ${SUBSCRIPTION[language].each[terms.frequency]}`
  return previewOf(owner, PREVIEW[language].subscription(price, company.name))
}

function offerForm(offer: Offer, given: Given | null): Html {
  const { language, chosen, token, company, payer, charge } = offer
  const texts = SUBSCRIPTION[language]
  return html`<section class="card beside"><form class="card-form" method="post" action="${inLanguage(`/pay/${token}`, chosen)}" data-form>
${payer ? knownPayer(offer, payer) : payerForm(given?.payer ?? null, company, language)}
${charge?.link?.needShipping && shippingForm(given?.shipping ?? null, language)}
<button class="button">${texts.goOn}</button>
<p class="hint">${texts.goOnHint}</p>
</form></section>`
}

/** The payer, masked as in every view of a charge. */
function knownPayer(
  { app, company, language }: Owner & { language: Language },
  payer: Payer,
): Html {
  const texts = SUBSCRIPTION[language]
  const { taxId } = openPerson(app.vault, company.id, payer)
  return html`<h2>${texts.knownTitle}</h2><p class="hint">${texts.knownHint(company.name)}</p>
${facts([
  [texts.fields.name, payer.name],
  [texts.fields.taxId, maskTaxId(taxId)],
])}`
}

function closedBody({ language, terms, company, charge, state }: Offer): Html {
  const texts = SUBSCRIPTION[language]
  const failedUrl = webAddress(charge?.link?.failedUrl)
  return result(
    {
      kind: 'bad',
      icon: state === 'expired' ? 'clock' : 'cross',
      ...texts.closed,
      facts: [
        [texts.product, terms.productName],
        [texts.receiver, party(company.name, receiverTaxId(company.taxId))],
      ],
      link: failedUrl ? { url: failedUrl, label: CHECKOUT[language].failed } : null,
    },
    language,
  )
}

/** What the page of an agreement needs beside the agreement itself. */
type AgreementDetails = { agreement: Recurrence; origin: Charge | null; description: string }

async function detailsOf(
  { app, company }: PageRequest,
  agreement: Recurrence,
): Promise<AgreementDetails> {
  const { companyId, originId } = agreement
  const origin = originId ? await app.charges.find({ companyId, id: originId }) : null
  const description = await findDescription(app, company.id, agreement, origin)
  return { agreement, origin, description }
}

/** The page of a payer's agreement, before or after the decision. */
async function agreementPage(asked: PageRequest, agreement: Recurrence): Promise<Page> {
  const { company, language, token } = asked
  const state = stateOf(asked)
  const known = await detailsOf(asked, agreement)
  const body = state === 'agreeing' ? agreeing(asked, known) : await decided(asked, known)
  return {
    title: SUBSCRIPTION[language].title(agreement.productName),
    language,
    brand: company,
    kind: 'pay',
    scripts: ['checkout.js'],
    body,
    refresh_s: state === 'agreeing' ? REFRESH_S : null,
    preview: previewOfTerms(asked, agreement),
    data: { state, ...(isFinal(state) ? {} : { live: `/pay/${token}` }) },
  }
}

function agreeing({ app, company, language }: PageRequest, known: AgreementDetails): Html {
  const { agreement, origin, description } = known
  const texts = SUBSCRIPTION[language]
  const dates = upcomingDebits(agreement, null, localDateOf(app.clock.now()), MAX_DEBITS)
  const payer = agreement.payer!
  const taxId = maskTaxId(openPerson(app.vault, company.id, payer).taxId)
  const notice = { devMode: false, brCode: agreement.brCode }
  return html`${testNotice(notice, company, language, null)}
${termsCard(agreement, language)}
${codePanel(agreement.brCode!, language, texts.panel)}
${datesCard(language, agreement, dates, texts.whenHint)}
<section class="card" aria-labelledby="details"><h2 id="details">${CHECKOUT[language].details}</h2>
${about(description, language)}
${facts([
  ...purchaseOf(origin, language),
  [texts.receiver, party(company.name, receiverTaxId(company.taxId))],
  [texts.payer, party(payer.name, taxId)],
  [texts.validUntil, CHECKOUT[language].moment(formatMoment(agreement.expiresAt!))],
])}</section>`
}

const SIGNS = {
  approved: { kind: 'good', icon: 'check' },
  rejected: { kind: 'bad', icon: 'cross' },
  expired: { kind: 'bad', icon: 'clock' },
  canceled: { kind: 'bad', icon: 'cross' },
} as const

type Decided = keyof typeof SIGNS

const LATE = { kind: 'bad', icon: 'alert' } as const

/** A debit that was not made: one that is tried again, else the latest if it has failed. */
async function lateDebit(
  { app, company, language }: PageRequest,
  agreement: Recurrence,
  open: Billing[],
  today: LocalDate,
): Promise<Pick<Result, 'kind' | 'icon' | 'title' | 'text'> | null> {
  const { late } = SUBSCRIPTION[language]
  const unpaid = open.find((billing) => debitDay(billing, today) !== billing.dueOn)
  if (unpaid) {
    return { ...LATE, title: late.title, text: lateText(unpaid, today, language) }
  }
  const page = { limit: LATEST, before: null }
  const latest = await listOfRecurrence(app.db, company.id, agreement.id, page)
  const ended = latest.find(({ status }) => status === 'PAID' || status === 'FAILED')
  if (ended?.status !== 'FAILED') return null
  return { ...LATE, title: late.title, text: late.failed(formatDay(ended.dueOn)) }
}

async function decided(
  asked: PageRequest,
  { agreement, origin, description }: AgreementDetails,
): Promise<Html> {
  const { language, app, company } = asked
  const texts = SUBSCRIPTION[language]
  const state = stateOf(asked) as Decided
  const isGood = state === 'approved'
  const today = localDateOf(app.clock.now())
  const open = isGood ? await listOpen(app.db, company.id, agreement.id) : []
  const late = isGood ? await lateDebit(asked, agreement, open, today) : null
  const url = webAddress(isGood ? origin?.link?.successUrl : origin?.link?.failedUrl)
  const labels = CHECKOUT[language]
  const shown: Result = {
    ...SIGNS[state],
    ...texts[state],
    ...late,
    opensLink: isGood && late === null,
    facts: [
      [texts.product, agreement.productName],
      [texts.value, `${formatReais(agreement.value)} ${texts.each[agreement.frequency]}`, 'sum'],
      isGood && [texts.since, labels.moment(formatMoment(agreement.decidedAt!))],
      [texts.receiver, party(company.name, receiverTaxId(company.taxId))],
    ],
    link: url ? { url, label: isGood ? labels.success : labels.failed } : null,
  }
  if (!isGood) return result(shown, language)
  const dates = upcomingDebits(agreement, { agreement, open }, today, MAX_DEBITS)
  const more = about(description, language)
  return html`${result(shown, language)}<div class="after">${datesCard(language, agreement, dates, texts.whenKnown)}${more && html`<section class="card">${more}</section>`}</div>`
}
