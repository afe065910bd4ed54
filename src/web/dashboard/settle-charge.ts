import type { FastifyReply } from 'fastify'
import { amountAt, asOf, type Charge, isSettleable } from '../../core/charges/rules.ts'
import { findCharges } from '../../core/charges/search.ts'
import { type Payment, payableBy, undecidedOf } from '../../core/payments/rules.ts'
import { findUnmatched } from '../../core/payments/store.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { field } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { facts } from '../parts.ts'
import { searching } from './charge-filters.ts'
import { stateOf as stateOfCharge } from './charges.ts'
import { backLink, type FormFault, formButtons, tryForm } from './form-parts.ts'
import { heading, moment, money, notice } from './parts.ts'
import { UNMATCHED } from './unmatched-texts.ts'
import type { Visit } from './visit.ts'

/** What the scheme's id of a payment looks like. */
export const ID_FORM = /^[A-Za-z0-9]{1,64}$/
/** So many charges are offered to choose from. */
const MAX_FOUND = 20

/** The payment that the page is about. */
export async function paymentOf({ app, company, params }: Visit): Promise<Payment> {
  const id = params.id ?? ''
  const [payment] = ID_FORM.test(id) ? await findUnmatched(app.db, company.id, [id]) : []
  if (!payment) throw problem('payment_not_found')
  return payment
}

/** Where the list goes on after a decision. */
export const here = ({ query }: Visit): string =>
  query.after ? `?${new URLSearchParams({ after: query.after })}` : ''

/** Charges that the payment can settle, by what somebody has typed. */
async function findSettleable(visit: Visit, payment: Payment, text: string): Promise<Charge[]> {
  const { company } = visit
  const where = searching(visit)
  const { charges } = await findCharges(where, { text }, {}, { limit: MAX_FOUND, after: null })
  return charges
    .map((charge) => asOf(charge, where.now))
    .filter((one) => isSettleable(one) && payableBy(company, one.devMode) === payment.source)
}

/** Finds the charge, shows what would happen, and asks once more. */
export async function askToSettle(
  visit: Visit,
  fault: FormFault | null = null,
  text = visit.query.q ?? '',
): Promise<FastifyReply> {
  const texts = UNMATCHED[visit.language]
  const payment = await paymentOf(visit)
  const path = `/unmatched/${payment.endToEndId}`
  if (payment.status !== 'UNMATCHED' || payment.settled) return visit.redirect(path)
  const amount = formatReais(undecidedOf(payment))
  const found = text.trim() ? await findSettleable(visit, payment, text) : null
  const [charge] = found?.length === 1 ? found : []
  const back = charge
    ? backLink(visit, `${path}/settle${here(visit)}`, texts.settleAnother)
    : backLink(visit, path, texts.paymentOf(amount))
  const body = html`${back}${heading(texts.settleTitle)}
${fault?.notice(visit.language)}${charge ? question(visit, payment, charge) : search(visit, payment, text, found)}`
  const status = fault ? { status: fault.problem.status } : {}
  return visit.send({ title: texts.settleTitle, here: 'unmatched', body, ...status })
}

/** The page itself takes what is typed. Where the list goes on is kept. */
function search(visit: Visit, payment: Payment, text: string, found: Charge[] | null): Html {
  const { language, query, url } = visit
  const texts = UNMATCHED[language]
  const sought = {
    name: 'q',
    label: texts.settleSearch,
    value: text,
    fault: null,
    wrong: '',
    hint: texts.settleSearchHint,
    type: 'search' as const,
  }
  const kept = query.after && html`<input type="hidden" name="after" value="${query.after}">`
  return html`<section class="card narrow-card"><p>${texts.settleIntro(formatReais(undecidedOf(payment)))}</p>
<form class="card-form" method="get" action="${url(`/unmatched/${payment.endToEndId}/settle`)}">${kept}${field(sought, false)}
<div class="actions form-buttons"><button class="button quiet">${icon('search')}<span>${texts.settleSearchButton}</span></button></div></form>
${found?.length === 0 && notice(texts.settleNone, 'warn')}</section>${found && found.length > 1 && choices(visit, payment, found)}`
}

function choices(visit: Visit, { endToEndId }: Payment, found: Charge[]): Html {
  const texts = UNMATCHED[visit.language]
  const linkTo = (charge: Charge) => {
    const query = new URLSearchParams(here(visit))
    query.set('q', toPublic('charge', charge.id))
    return visit.url(`/unmatched/${endToEndId}/settle?${query}`)
  }
  const row = (charge: Charge) =>
    html`<li><a class="row" href="${linkTo(charge)}"><span><strong>${texts.chargeOf(formatReais(charge.amount))}</strong><span class="soft small">${aboutOf(visit, charge)}</span></span>${stateOfCharge(visit, charge)}</a></li>`
  return html`<section class="card narrow-card"><p>${texts.settleChoose}</p><ul class="rows">${found.map(row)}</ul></section>`
}

/** Who should pay it, what for, and since when. */
function aboutOf({ language }: Visit, charge: Charge): Shown {
  const { payer, externalId, description, createdAt } = charge
  return [
    [payer?.name, externalId, description].map((text) => text && html`<bdi>${text}</bdi> · `),
    html`${UNMATCHED[language].madeAt} ${moment(createdAt)}`,
  ]
}

/** What would happen to the charge and to the difference, with the form that does it. */
function question(visit: Visit, payment: Payment, charge: Charge): Html {
  const { language } = visit
  const texts = UNMATCHED[language]
  const path = `/unmatched/${payment.endToEndId}`
  const id = toPublic('charge', charge.id)
  const fields = html`<input type="hidden" name="chargeId" value="${id}">${difference(visit, payment, charge)}${formButtons(texts.settle)}`
  const shown = facts([
    [
      texts.settleSearch,
      html`${stateOfCharge(visit, charge)} <a href="${visit.url(`/charges/${id}`)}"><strong>${money(charge.amount)}</strong></a><br>${aboutOf(visit, charge)}`,
    ],
    [
      texts.payment,
      html`<strong>${money(payment.amount)}</strong><br>${moment(payment.receivedAt)}`,
    ],
  ])
  return html`<section class="card narrow-card">${shown}<p>${texts.settleText}</p>
${visit.formOf(visit.url(`${path}/settle${here(visit)}`), fields, { kind: 'card-form' })}</section>`
}

function difference({ language }: Visit, payment: Payment, charge: Charge): Html {
  const texts = UNMATCHED[language]
  const came = undecidedOf(payment)
  const over = came - amountAt(charge, payment.receivedAt)
  if (over === 0) return html`<p>${texts.settleExact}</p>`
  if (over < 0) {
    return notice(texts.settleShort(formatReais(-over), formatReais(came)), 'warn')
  }
  const option = (value: 'keep' | 'refund') =>
    html`<li class="check"><input type="radio" name="difference" id="difference-${value}" value="${value}"${value === 'keep' && html` checked`}><label for="difference-${value}">${texts.difference[value](formatReais(over))}</label></li>`
  return html`<fieldset><legend>${texts.settleOver(formatReais(over))}</legend><ul class="rows choices">${option('keep')}${option('refund')}</ul></fieldset>`
}

/** `showPayment` shows the payment, with why it can no longer settle anything. */
export const settle =
  (showPayment: (visit: Visit, fault: FormFault) => Promise<FastifyReply>) =>
  async (visit: Visit): Promise<FastifyReply> => {
    const params = { endToEndId: visit.params.id ?? '' }
    const { once, chargeId = '', difference } = visit.form
    // Without a charge the operation would keep the money.
    if (!chargeId) return askToSettle(visit)
    const body = { chargeId, ...(difference ? { difference } : {}) }
    const { fault } = await tryForm(() => visit.operate('acceptPayment', { params, body, once }))
    if (!fault) return visit.redirect(`/unmatched${here(visit)}`, 'settled')
    return fault.problem.code === 'payment_not_unmatched'
      ? showPayment(visit, fault)
      : askToSettle(visit, fault, chargeId)
  }
