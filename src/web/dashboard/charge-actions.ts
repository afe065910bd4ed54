import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { checkoutUrl } from '../../core/charges/addresses.ts'
import { findCharge } from '../../core/charges/commands.ts'
import { asOf, type Charge, isSubscriptionLink, refundableOf } from '../../core/charges/rules.ts'
import { mailKindOf, sendChargeMail } from '../../core/charges/send-mail.ts'
import type { ChargeView } from '../../core/charges/view.ts'
import { isPlayable } from '../../core/payments/rules.ts'
import { REFUND_DAYS } from '../../core/refunds/rules.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { CHARGE } from './charge-texts.ts'
import { commitOnce } from './commit-once.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { backLink, confirmation, formButtons } from './form-parts.ts'
import { heading } from './parts.ts'
import { DASHBOARD } from './texts.ts'
import type { Visit } from './visit.ts'

export const pathOf = ({ id }: Pick<Charge, 'id'>): string => `/charges/${toPublic('charge', id)}`

/** The charge that the URL names. Whoever asks for that of another company finds nothing. */
export async function chargeOf({ app, company, params }: Visit): Promise<Charge> {
  const charge = await findCharge(app, company.id, fromPublic('charge', params.id ?? ''))
  return asOf(charge, app.clock.now())
}

const DAY_MS = 86_400_000
const MAX_COMMENT = 140

/** Whether money of a charge can still go back. */
export const isRefundable = ({ app }: Visit, charge: Charge): boolean =>
  refundableOf(charge) > 0 &&
  app.clock.now().getTime() - charge.paymentDate!.getTime() <= REFUND_DAYS * DAY_MS

/** Whether a charge can be paid by somebody who tries the service out. */
const isSimulable = ({ devMode, status, kind }: Charge): boolean =>
  devMode && status === 'OPEN' && kind !== 'RECURRING'

/** Buttons for all that can be done with the charge now, by this person. */
export function actionsOf(visit: Visit, charge: Charge): Html {
  const { app, company, language, url } = visit
  const texts = CHARGE[language]
  const path = pathOf(charge)
  const isOpen = charge.status === 'OPEN'
  const page = checkoutUrl(app, charge)
  const hasPage = charge.kind !== 'RECURRING' && charge.kind !== 'STATIC'
  const bank = `/bank?${new URLSearchParams({ code: charge.brCode ?? '' })}`
  const isPayable =
    isOpen && !charge.devMode && charge.brCode !== null && isPlayable(app.config, company)
  const mail = mailKindOf(app, charge)
  const button = (action: string, label: string) =>
    visit.formOf(
      url(`${path}/${action}`),
      html`<button class="button quiet slim">${label}</button>`,
    )
  const link = (action: string, label: string, kind: Shown = ' quiet') =>
    html`<a class="button slim${kind}" href="${url(`${path}/${action}`)}">${label}</a>`
  const writes = html`${isRefundable(visit, charge) && link('refund', texts.refundButton, '')}${
    isSimulable(charge) && button('simulate', texts.simulate)
  }${mail && button('mail', mail === 'receipt' ? texts.mailReceipt : texts.mailLink)}${
    canDuplicate(charge) && button('duplicate', texts.duplicate)
  }${isOpen && link('cancel', texts.cancelButton)}`
  return html`<div class="actions">${visit.can('payments:write') && writes}${
    isPayable && html`<a class="button quiet slim" href="${bank}">${texts.payAtBank}</a>`
  }${isOpen && hasPage && copyLink(visit, page)}${
    hasPage && html`<a class="button quiet slim" href="${page}">${texts.openPage}</a>`
  }</div>`
}

/** Copies the link of a charge. Without scripts the link is below, among the details. */
const copyLink = ({ language }: Visit, link: string): Html =>
  html`<button type="button" class="button quiet slim js" data-copy="${link}" data-copied="${CHARGE[language].copied}">${icon('copy')}<span aria-live="polite"><span>${CHARGE[language].copyLinkButton}</span></span></button>`

/** A charge of a subscription and a sale of a static code are made by others. */
const canDuplicate = (charge: Charge): boolean =>
  (charge.kind === 'PIX' || charge.kind === 'LINK') && charge.payer !== null

export async function showRefund(
  visit: Visit,
  fault: FormFault | null = null,
): Promise<FastifyReply> {
  const { language, form } = visit
  const texts = CHARGE[language]
  const charge = await chargeOf(visit)
  if (!isRefundable(visit, charge) && !fault) return visit.redirect(pathOf(charge))
  const left = formatReais(refundableOf(charge))
  const fields = fieldsOf([
    {
      name: 'amount',
      label: texts.refundAmount,
      value: form.amount ?? left.slice(3),
      fault: fault?.isWrong('value') ? texts.refundWrong(left) : null,
      wrong: texts.refundWrong(left),
      check: 'filled',
      hint: texts.refundAmountHint,
      maxlength: 20,
    },
    {
      name: 'comment',
      label: texts.refundReason,
      value: form.comment ?? '',
      fault: null,
      wrong: '',
      hint: texts.refundReasonHint,
      optional: texts.optional,
      maxlength: MAX_COMMENT,
    },
  ])
  const back = html`<a class="button quiet" href="${visit.url(pathOf(charge))}">${DASHBOARD[language].back}</a>`
  const body = html`${backLink(visit, pathOf(charge), texts.title(formatReais(charge.amount)))}${heading(texts.refundTitle)}
${fault?.notice(language)}<section class="card narrow-card"><p>${texts.refundLeft(left)} ${texts.refundWhere}</p>
${visit.formOf(visit.url(`${pathOf(charge)}/refund`), html`${fields}${formButtons(texts.refundButton, back)}`, { kind: 'card-form' })}</section>`
  const status = fault ? { status: fault.problem.status } : {}
  return visit.send({ title: texts.refundTitle, here: 'charges', body, ...status })
}

export async function refund(visit: Visit): Promise<FastifyReply> {
  const charge = await chargeOf(visit)
  const { once, amount = '', comment = '' } = visit.form
  const params = { chargeId: toPublic('charge', charge.id) }
  const { fault } = await tryForm(async () => {
    const value = readReais(amount)
    if (!value) throw invalid('value: must be an amount')
    const body = { value, ...(comment.trim() ? { comment: comment.trim() } : {}) }
    return visit.operate('refundCharge', { params, body, once })
  })
  return fault ? showRefund(visit, fault) : visit.redirect(pathOf(charge), 'refunded')
}

export async function askToCancel(visit: Visit): Promise<FastifyReply> {
  const texts = CHARGE[visit.language]
  const charge = await chargeOf(visit)
  const path = pathOf(charge)
  if (charge.status !== 'OPEN') return visit.redirect(path)
  const body = confirmation(visit, {
    title: texts.cancelTitle,
    text: texts.cancelText(formatReais(charge.amount)),
    action: `${path}/cancel`,
    button: texts.cancelConfirm,
    back: path,
  })
  return visit.send({ title: texts.cancelTitle, here: 'charges', body })
}

/** Shows the charge again, with why a form of it was refused. */
export type ShowAgain = (visit: Visit, notice: Html, status: number) => Promise<FastifyReply>

const operateOn =
  (operationId: string, param: string, done: string) =>
  (showAgain: ShowAgain) =>
  async (visit: Visit): Promise<FastifyReply> => {
    const charge = await chargeOf(visit)
    const params = { [param]: toPublic('charge', charge.id) }
    const { once } = visit.form
    const { fault } = await tryForm(() => visit.operate(operationId, { params, once }))
    if (fault) return showAgain(visit, fault.notice(visit.language), fault.problem.status)
    return visit.redirect(pathOf(charge), done)
  }

export const cancel = operateOn('cancelCharge', 'id', 'canceled')
export const simulate = operateOn('simulatePayment', 'chargeId', 'simulated')

export const duplicate =
  (showAgain: ShowAgain) =>
  async (visit: Visit): Promise<FastifyReply> => {
    const charge = await chargeOf(visit)
    const params = { id: toPublic('charge', charge.id) }
    const { once } = visit.form
    const { fault, done } = await tryForm(() =>
      visit.operate<Static<typeof ChargeView>>('duplicateCharge', { params, body: {}, once }),
    )
    if (fault) return showAgain(visit, fault.notice(visit.language), fault.problem.status)
    return visit.redirect(`/charges/${done.data.id}`, 'duplicated')
  }

export const mail =
  (showAgain: ShowAgain) =>
  async (visit: Visit): Promise<FastifyReply> => {
    const { app, company } = visit
    const charge = await chargeOf(visit)
    const id = toPublic('charge', charge.id)
    const { fault } = await tryForm(() =>
      commitOnce(visit, { id }, async (tx) => {
        const kind = await sendChargeMail(tx, app, company, charge.id)
        await visit.record(tx, 'charge.send-mail', { type: 'charge', id }, { kind })
        return kind
      }),
    )
    if (!fault) return visit.redirect(pathOf(charge), 'mailed')
    return showAgain(visit, fault.notice(visit.language), fault.problem.status)
  }

export const isLive = (charge: Charge): boolean =>
  charge.status === 'OPEN' && !isSubscriptionLink(charge)
