import type { FastifyReply } from 'fastify'
import { type Charge, receivedOf, refundableOf } from '../../core/charges/rules.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { readBalance } from '../../ledger/post.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { type Fact, facts } from '../parts.ts'
import { chargeOf, isRefundable, pathOf } from './charge.ts'
import { CHARGE } from './charge-texts.ts'
import { backLink, type FormFault, formButtons, tabs, tryForm } from './form-parts.ts'
import { card, heading, money, wholeTaxId } from './parts.ts'
import { REFUND, type RefundTexts } from './refund-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const MAX_COMMENT = 140
const PARTS = ['whole', 'half', 'other'] as const
type Part = (typeof PARTS)[number]

/** How much is to go back: a part that was chosen, or an amount that was typed. */
type Asked = { part: Part; typed: string; cents: number | null }

/** Half of an odd number of cents is rounded down. */
const AMOUNTS = { whole: (left: number) => left, half: (left: number) => Math.floor(left / 2) }

function askedOf({ query, form }: Visit, left: number): Asked {
  const typed = form.amount ?? query.amount ?? ''
  const part = PARTS.find((one) => one === query.part) ?? (typed ? 'other' : 'whole')
  if (part !== 'other') return { part, typed: '', cents: AMOUNTS[part](left) }
  const cents = readReais(typed)
  return { part, typed, cents: cents && cents <= left ? cents : null }
}

async function show(visit: Visit, fault: FormFault | null = null): Promise<FastifyReply> {
  const { language } = visit
  const texts = REFUND[language]
  const charge = await chargeOf(visit)
  if (!isRefundable(visit, charge) && !fault) return visit.redirect(pathOf(charge))
  const left = refundableOf(charge)
  const asked = askedOf(visit, left)
  const back = backLink(visit, pathOf(charge), CHARGE[language].title(formatReais(charge.amount)))
  const body = html`${back}${heading(texts.title)}${fault?.notice(language)}
<div class="columns">${card(null, html`${partTabs(visit, charge, asked)}${formsOf(visit, charge, asked, fault)}`)}${card(texts.about, await aboutOf(visit, charge))}</div>`
  const status = fault ? { status: fault.problem.status } : {}
  return visit.send({ title: texts.title, here: 'charges', body, ...status })
}

/** What was written before another amount was asked for. */
const commentIn = ({ form, query }: Visit): string => form.comment ?? query.comment ?? ''

/** Half of one cent cannot go back. */
function partTabs(visit: Visit, charge: Charge, { part }: Asked): Html {
  const texts = REFUND[visit.language]
  const left = refundableOf(charge)
  const labels: Record<Part, string> = {
    whole: texts.whole(formatReais(left)),
    half: texts.half(formatReais(AMOUNTS.half(left))),
    other: texts.other,
  }
  const shown = PARTS.filter((one) => one !== 'half' || left > 1).map((one) => ({
    label: labels[one],
    path: `${pathOf(charge)}/refund?part=${one}`,
    isHere: one === part,
  }))
  return tabs(visit, texts.parts, shown)
}

/** The form for another amount asks first, so that the button that pays back names its amount. */
function formsOf(visit: Visit, charge: Charge, asked: Asked, fault: FormFault | null): Html {
  const texts = REFUND[visit.language]
  const { part, typed, cents } = asked
  const amount = part === 'other' && amountForm(visit, charge, asked, fault)
  if (cents === null) return html`${amount}`
  const comment = fieldsOf([
    {
      name: 'comment',
      label: texts.reason,
      value: commentIn(visit),
      fault: fault?.isWrong('comment') ? texts.tooLong(MAX_COMMENT) : null,
      wrong: texts.tooLong(MAX_COMMENT),
      hint: texts.reasonHint,
      optional: texts.optional,
      maxlength: MAX_COMMENT,
    },
  ])
  const hidden = html`<input type="hidden" name="amount" value="${part === 'other' ? typed : formatReais(cents)}">`
  const button = html`<div class="actions form-buttons"><button class="button danger">${texts.button(formatReais(cents))}</button></div>`
  return html`${amount}<p>${texts.where}</p>${visit.formOf(
    visit.url(`${pathOf(charge)}/refund`),
    html`${hidden}${comment}${button}`,
    { kind: 'card-form' },
  )}`
}

function amountForm(
  visit: Visit,
  charge: Charge,
  { typed, cents }: Asked,
  fault: FormFault | null,
): Html {
  const { language, url, form } = visit
  const texts = REFUND[language]
  const comment = commentIn(visit)
  const wrong = texts.wrong(formatReais(refundableOf(charge)))
  const isWrong = fault?.isWrong('value') || (typed !== '' && cents === null)
  const fields = fieldsOf([
    {
      name: 'amount',
      label: texts.amount,
      value: typed,
      fault: isWrong || form.amount === '' ? wrong : null,
      wrong,
      inputmode: 'decimal',
      check: 'amount',
      min: 1,
      maxlength: 20,
    },
  ])
  return html`<form class="card-form" method="get" action="${url(`${pathOf(charge)}/refund`)}"><input type="hidden" name="part" value="other">${comment && html`<input type="hidden" name="comment" value="${comment}">`}${fields}${formButtons(texts.next)}</form>`
}

/** Who has paid what, what went back already, and what there is. */
async function aboutOf(visit: Visit, charge: Charge): Promise<Html> {
  const { app, company, language } = visit
  const texts = REFUND[language]
  return facts([
    ...payerFacts(visit, charge, texts),
    [texts.received, money(receivedOf(charge))],
    charge.refunded > 0 && [texts.refunded, money(charge.refunded)],
    [texts.left, money(refundableOf(charge))],
    ...(visit.can('balance:read') && charge.booked
      ? [balanceFact(await readBalance(app.db, company.id), charge, texts)]
      : []),
  ])
}

function payerFacts(visit: Visit, { payer, companyId }: Charge, texts: RefundTexts): Fact[] {
  if (!payer) return []
  const { taxId } = openPerson(visit.app.vault, companyId, payer)
  return [[texts.payer, html`<bdi>${payer.name}</bdi><br>${wholeTaxId(visit, taxId)}`]]
}

/** The account that the money is taken from. */
const balanceFact = (
  { available, pending }: { available: number; pending: number },
  { paymentStatus }: Charge,
  texts: RefundTexts,
): Fact =>
  paymentStatus === 'PAID' ? [texts.pending, money(pending)] : [texts.available, money(available)]

async function refund(visit: Visit): Promise<FastifyReply> {
  const charge = await chargeOf(visit)
  const { once, amount = '', comment = '' } = visit.form
  const params = { chargeId: toPublic('charge', charge.id) }
  const { fault } = await tryForm(async () => {
    const value = readReais(amount)
    if (!value) throw invalid('value: must be an amount')
    const body = { value, ...(comment.trim() ? { comment: comment.trim() } : {}) }
    return visit.operate('refundCharge', { params, body, once })
  })
  return fault ? show(visit, fault) : visit.redirect(pathOf(charge), 'refunded')
}

export const refundRoutes: DashboardRoute[] = [
  {
    method: 'GET',
    path: '/charges/:id/refund',
    needs: 'payments:write',
    handle: (visit) => show(visit),
  },
  {
    method: 'POST',
    path: '/charges/:id/refund',
    needs: 'payments:write',
    movesMoney: true,
    handle: refund,
  },
]
