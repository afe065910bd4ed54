import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { findLikely, type Suggestion } from '../../core/payments/find-likely.ts'
import { isPlayable, PAYMENT_STATES, type Payment } from '../../core/payments/rules.ts'
import { openPayer } from '../../core/payments/sealing.ts'
import { findUnmatched } from '../../core/payments/store.ts'
import { showUnmatched, type UnmatchedPayment } from '../../core/payments/view.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { maskBankTaxId } from '../../pix/masks.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { facts } from '../parts.ts'
import { CHARGES } from './charges-texts.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { tabs } from './form-parts.ts'
import { wholeTaxId } from './masks.ts'
import { card, doneNotice, heading, moment, money, nothing, pager, pill } from './parts.ts'
import { DASHBOARD } from './texts.ts'
import { UNMATCHED, type UnmatchedState } from './unmatched-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const STATES = PAYMENT_STATES.filter((state) => state !== 'MATCHED')
const PAGE_SIZE = '20'
const MAX_COMMENT = 140
const ID_FORM = /^[A-Za-z0-9]{1,64}$/

type ShownPayment = Static<typeof UnmatchedPayment>

const stateOf = ({ query }: Visit): UnmatchedState =>
  STATES.find((state) => state === query.status) ?? 'UNMATCHED'

async function suggestionsFor(visit: Visit, payments: Payment[]): Promise<Map<string, Suggestion>> {
  const { app, company } = visit
  const now = app.clock.now()
  return findLikely({ db: app.db, vault: app.vault, company, now }, payments)
}

async function showList(visit: Visit, fault: FormFault | null = null): Promise<FastifyReply> {
  const { language, app, company, query } = visit
  const texts = UNMATCHED[language]
  const status = stateOf(visit)
  const { data, next } = await visit.operate<ShownPayment[]>('listUnmatchedPayments', {
    query: { status, limit: PAGE_SIZE, ...(query.after ? { after: query.after } : {}) },
  })
  const ids = status === 'UNMATCHED' ? data.map(({ endToEndId }) => endToEndId) : []
  const suggestions = await suggestionsFor(visit, await findUnmatched(app.db, company.id, ids))
  const list =
    data.length > 0
      ? data.map((payment) => paymentCard(visit, payment, suggestions.get(payment.id)))
      : card(null, html`${nothing(language, texts.empty[status])}${sandboxHint(visit)}`)
  const body = html`${heading(texts.title)}
${fault ? fault.notice(language) : doneNotice(visit, texts.done)}
<p class="soft">${texts.intro}</p>${stateTabs(visit, status)}${list}${pager(visit, next)}`
  return visit.send({ title: texts.title, body, here: 'unmatched', ...statusOf(fault) })
}

const statusOf = (fault: FormFault | null) => (fault ? { status: fault.problem.status } : {})

function stateTabs(visit: Visit, current: UnmatchedState): Html {
  const { states, filter } = UNMATCHED[visit.language]
  const all = STATES.map((state) => ({
    label: states[state],
    path: state === 'UNMATCHED' ? '/unmatched' : `/unmatched?status=${state}`,
    isHere: state === current,
  }))
  return tabs(visit, filter, all)
}

function sandboxHint({ language, company, app }: Visit): Html | false {
  const texts = UNMATCHED[language]
  if (!isPlayable(app.config, company)) return false
  return html`<p class="center soft">${texts.trySandbox} <a href="/bank">${texts.bank}</a></p>`
}

/** A payment of the list, with what is needed to decide about it. */
function paymentCard(
  visit: Visit,
  payment: ShownPayment,
  suggestion: Suggestion | undefined,
): Html {
  const { language } = visit
  const texts = UNMATCHED[language]
  const { amount, reason, payer, receivedAt, endToEndId, status, returned } = payment
  const waits = status === 'UNMATCHED'
  const { name, taxId } = payer ?? {}
  // A name may have marks that change the direction of what follows.
  const who = [name && html`<bdi>${name}</bdi>`, name && taxId && ' · ', taxId]
  return html`<article class="card decision">
<div class="heading"><h2>${money(amount)}</h2>${pill(texts.reasons[reason].short, waits ? 'warn' : 'calm')}</div>
<p class="soft">${texts.reasons[reason].text}${returned && ` ${texts.returned(formatReais(returned))}`}</p>
<div class="columns">${facts([
    [texts.payer, name || taxId ? who : texts.unknownPayer],
    [texts.receivedAt, moment(receivedAt)],
  ])}
${waits && likelyPart(visit, amount, suggestion)}</div>
<div class="actions">${waits && decisions(visit, endToEndId)}<a class="button quiet slim" href="${visit.url(`/unmatched/${endToEndId}`)}">${texts.details}<span class="hide">: ${formatReais(amount)}</span></a></div>
</article>`
}

/** The charge that the payment probably belongs to, and why. */
function likelyPart(visit: Visit, amount: number, suggestion: Suggestion | undefined): Html {
  const { language } = visit
  const texts = UNMATCHED[language]
  if (!suggestion) {
    const search = new URLSearchParams({ q: formatReais(amount).slice(3) })
    return html`<p class="soft small">${texts.noLikely} <a href="${visit.url(`/charges?${search}`)}">${texts.search}</a></p>`
  }
  const { charge, signs } = suggestion
  const why =
    signs === 'named'
      ? texts.named
      : `${texts.why} ${signs.map((sign) => texts.signs[sign]).join(', ')}`
  const about = [charge.payer?.name, charge.description].filter((text) => !!text)
  return html`<div class="likely"><p class="soft small">${texts.likely}</p>
<p><a href="${visit.url(`/charges/${toPublic('charge', charge.id)}`)}"><strong>${texts.chargeOf(formatReais(charge.amount))}</strong></a> ${pill(CHARGES[language].statuses[charge.status], charge.status === 'COMPLETED' ? 'good' : 'calm')}</p>
${about.map((text) => html`<p><bdi>${text}</bdi></p>`)}
<p class="soft small">${texts.madeAt} ${moment(charge.createdAt)} · ${why}</p></div>`
}

/** Where the list goes on after a decision. */
const here = ({ query }: Visit): string =>
  query.after ? `?${new URLSearchParams({ after: query.after })}` : ''

function decisions(visit: Visit, endToEndId: string): Shown {
  const texts = UNMATCHED[visit.language]
  if (!visit.can('payments:write')) return null
  const form = (act: 'accept' | 'refund', kind: string) =>
    visit.formOf(
      visit.url(`/unmatched/${endToEndId}/${act}${here(visit)}`),
      html`<button class="button slim ${kind}">${texts[act]}</button>`,
    )
  return [form('accept', ''), form('refund', 'quiet')]
}

async function showPayment(
  visit: Visit,
  fault: FormFault | null = null,
  comment = '',
): Promise<FastifyReply> {
  const { language, app, company, params } = visit
  const texts = UNMATCHED[language]
  const id = params.id ?? ''
  const [payment] = ID_FORM.test(id) ? await findUnmatched(app.db, company.id, [id]) : []
  if (!payment) throw problem('payment_not_found')
  const { amount, receivedAt, endToEndId, status, reason, returned } = payment
  const waits = status === 'UNMATCHED'
  const suggestions = await suggestionsFor(visit, [payment])
  const title = texts.paymentOf(formatReais(amount))
  const shown = showUnmatched(app.vault, payment)
  const state = pill(texts.states[shown.status], waits ? 'warn' : 'calm')
  const back = html`<a href="${visit.url('/unmatched')}">${DASHBOARD[language].back}</a>`
  const body = html`${heading(title, state)}
${fault ? fault.notice(language) : doneNotice(visit, texts.done)}
<div class="columns">
${card(
  texts.reasons[reason!].short,
  html`<p class="soft">${texts.reasons[reason!].text}${returned > 0 && ` ${texts.returned(formatReais(returned))}`}</p>
${facts([
  [texts.amount, money(amount)],
  [texts.payer, wholePayer(visit, payment)],
  [texts.receivedAt, moment(receivedAt)],
  [texts.endToEndId, html`<code>${endToEndId}</code>`],
])}
${likelyPart(visit, amount, suggestions.get(payment.id))}`,
)}
${waits && visit.can('payments:write') && decisionCard(visit, endToEndId, fault, comment)}
</div><p>${back}</p>`
  return visit.send({ title, body, here: 'unmatched', ...statusOf(fault) })
}

function wholePayer(visit: Visit, payment: Payment): Shown {
  const texts = UNMATCHED[visit.language]
  const { name, taxId } = payment.payer ? openPayer(visit.app.vault, payment, payment.payer) : {}
  if (!name && !taxId) return texts.unknownPayer
  const plain = plainTaxId(taxId ?? '')
  const shown = isTaxIdShape(plain) ? wholeTaxId(visit, plain) : taxId && maskBankTaxId(taxId)
  return [name && html`<bdi>${name}</bdi>`, name && taxId && html`<br>`, shown]
}

function decisionCard(
  visit: Visit,
  endToEndId: string,
  fault: FormFault | null,
  comment: string,
): Html {
  const texts = UNMATCHED[visit.language]
  const action = (act: string) => visit.url(`/unmatched/${endToEndId}/${act}`)
  const fields = fieldsOf([
    {
      name: 'comment',
      label: texts.comment,
      value: comment,
      fault: fault?.isWrong('comment') ? texts.tooLong : null,
      wrong: texts.tooLong,
      hint: texts.commentHint,
      optional: texts.optional,
      maxlength: MAX_COMMENT,
    },
  ])
  const refund = html`${fields}<button class="button quiet">${texts.refund}</button>`
  return card(
    texts.decide,
    html`<p class="soft">${texts.effects}</p>
${visit.formOf(action('accept'), html`<button class="button">${texts.accept}</button>`)}
${visit.formOf(`${action('refund')}?from=payment`, refund, { kind: 'card-form' })}`,
  )
}

async function accept(visit: Visit): Promise<FastifyReply> {
  const params = { endToEndId: visit.params.id ?? '' }
  const { once } = visit.form
  const { fault } = await tryForm(() => visit.operate('acceptPayment', { params, once }))
  return fault ? showList(visit, fault) : visit.redirect(`/unmatched${here(visit)}`, 'accepted')
}

async function refund(visit: Visit): Promise<FastifyReply> {
  const params = { endToEndId: visit.params.id ?? '' }
  const { once, comment = '' } = visit.form
  const body = comment.trim() ? { comment: comment.trim() } : {}
  const { fault } = await tryForm(() => visit.operate('refundPayment', { params, body, once }))
  if (!fault) return visit.redirect(`/unmatched${here(visit)}`, 'refunded')
  return visit.query.from === 'payment'
    ? showPayment(visit, fault, comment)
    : showList(visit, fault)
}

export const unmatchedRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/unmatched', needs: 'payments:read', handle: (visit) => showList(visit) },
  {
    method: 'GET',
    path: '/unmatched/:id',
    needs: 'payments:read',
    handle: (visit) => showPayment(visit),
  },
  { method: 'POST', path: '/unmatched/:id/accept', needs: 'payments:write', handle: accept },
  {
    method: 'POST',
    path: '/unmatched/:id/refund',
    needs: 'payments:write',
    movesMoney: true,
    handle: refund,
  },
]
