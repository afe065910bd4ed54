import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { isSettleable } from '../../core/charges/rules.ts'
import { nameWords } from '../../core/customers/rules.ts'
import { findLikely, type Suggestion } from '../../core/payments/likely-charge.ts'
import { reasonOf } from '../../core/payments/reasons.ts'
import { isPlayable, PAYMENT_STATES, type Payment, undecidedOf } from '../../core/payments/rules.ts'
import { openPayer } from '../../core/payments/sealing.ts'
import { findUnmatched, listUnmatched, sumUndecided } from '../../core/payments/store.ts'
import { MAX_SUGGESTIONS, showUnmatched, type UnmatchedPayment } from '../../core/payments/view.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { maskBankTaxId } from '../../pix/masks.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { type Fact, facts } from '../parts.ts'
import { CHARGES } from './charges-texts.ts'
import { laterChargeOf } from './entry-links.ts'
import { backLink, confirmation, type FormFault, tabs, tryForm } from './form-parts.ts'
import { countOf, findForm, listHead, toList } from './list-parts.ts'
import {
  card,
  doneNotice,
  heading,
  idText,
  moment,
  money,
  notFound,
  nothing,
  pager,
  pill,
  wholeTaxId,
} from './parts.ts'
import { askToSettle, here, ID_FORM, paymentOf, settle } from './settle-charge.ts'
import { UNMATCHED, type UnmatchedState } from './unmatched-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** What is disputed is shown among the disputes. */
const STATES = PAYMENT_STATES.filter((state) => state !== 'MATCHED' && state !== 'DISPUTED')
const PAGE_SIZE = '20'
const MAX_COMMENT = 140

type ShownPayment = Static<typeof UnmatchedPayment>

const stateOf = ({ query }: Visit): UnmatchedState =>
  STATES.find((state) => state === query.status) ?? 'UNMATCHED'

async function suggestionsFor(
  visit: Visit,
  payments: Payment[],
): Promise<Map<string, Suggestion[]>> {
  const { app, company } = visit
  const now = app.clock.now()
  return findLikely({ db: app.db, vault: app.vault, company, now }, payments)
}

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, app, company, query } = visit
  const texts = UNMATCHED[language]
  const status = stateOf(visit)
  const text = query.q?.trim() ?? ''
  const [{ data, next }, total] = await Promise.all([
    text ? searchPayments(visit, text, status) : pageOf(visit, status),
    sumUndecided(app.db, company.id, MAX_COUNTED + 1),
  ])
  const ids = status === 'UNMATCHED' ? data.map(({ endToEndId }) => endToEndId) : []
  const suggestions = await suggestionsFor(visit, await findUnmatched(app.db, company.id, ids))
  const list =
    data.length > 0
      ? data.map((payment) => paymentCard(visit, payment, suggestions.get(payment.id) ?? []))
      : card(
          null,
          text
            ? notFound(texts.noneFound(text))
            : html`${nothing(language, texts.empty[status])}${sandboxHint(visit)}`,
        )
  const body = html`${toList(visit)}${heading(texts.title)}
${doneNotice(visit, texts.done)}
<p class="soft">${texts.intro}</p>
${listHead(searchForm(visit, text, status), stateTabs(visit, status, total.count), status === 'UNMATCHED' && !text && totalLine(visit, total))}
<div class="stack" id="list" tabindex="-1">${list}</div>${pager(visit, next)}`
  return visit.send({ title: texts.title, body, here: 'unmatched' })
}

const pageOf = ({ operate, query }: Visit, status: UnmatchedState) =>
  operate<ShownPayment[]>('listUnmatchedPayments', {
    query: { status, limit: PAGE_SIZE, ...(query.after ? { after: query.after } : {}) },
  })

/** Up to so many payments are counted. More are called more. */
const MAX_COUNTED = 1000
/** So many of the newest payments are looked through, because their payers are sealed. */
const MAX_SEARCHED = 500
/** So many are shown of those that a search finds. */
const MAX_SHOWN = 50

/** The newest payments of a state that have a text: an amount, a name, a tax id or their own id. */
async function searchPayments({ app, company }: Visit, text: string, status: UnmatchedState) {
  const page = { limit: MAX_SEARCHED, after: null, status }
  const payments = await listUnmatched(app.db, company.id, page)
  const fits = finderOf(text)
  const found = payments.filter((payment) =>
    fits(payment, payment.payer ? openPayer(app.vault, payment, payment.payer) : {}),
  )
  const shown = found.slice(0, MAX_SHOWN).map((payment) => showUnmatched(app.vault, payment))
  return { data: shown, next: null }
}

/** Whether a payment, of an opened payer, is meant by a text. */
function finderOf(text: string) {
  const [amount, words, sought] = [readReais(text), nameWords(text), plainTaxId(text)]
  return (payment: Payment, { name = '', taxId = '' }: { name?: string; taxId?: string }) => {
    const folded = nameWords(name).join(' ')
    return (
      payment.amount === amount ||
      payment.endToEndId.toLowerCase() === text.toLowerCase() ||
      (words.length > 0 && words.every((word) => folded.includes(word))) ||
      // Only a whole tax id, because who sees it masked must not find out its other digits.
      (isTaxIdShape(sought) && plainTaxId(taxId) === sought)
    )
  }
}

function searchForm(visit: Visit, text: string, status: UnmatchedState): Html {
  const texts = UNMATCHED[visit.language]
  const { searchButton: find, searchHint: hint, searchLabel: label } = texts
  const kept: Record<string, string> = status === 'UNMATCHED' ? {} : { status }
  const box = { name: 'q', label, hint, value: text, find }
  return findForm(visit, visit.url('/unmatched'), {
    box,
    kept,
    fields: [],
    inUse: 0,
    isOpen: false,
  })
}

/** How much money waits for a decision. */
function totalLine(
  { language }: Visit,
  { count, sum }: { count: number; sum: number },
): Html | false {
  const texts = UNMATCHED[language]
  const isMore = count > MAX_COUNTED
  const shown = countOf({ count: Math.min(count, MAX_COUNTED), isMore })
  return (
    count > 0 &&
    html`<p class="sums soft">${texts.total(shown, count)} <strong>${money(sum)}${isMore && '+'}</strong></p>`
  )
}

const statusOf = (fault: FormFault | null) => (fault ? { status: fault.problem.status } : {})

function stateTabs(visit: Visit, current: UnmatchedState, waiting: number): Html {
  const { states, filter } = UNMATCHED[visit.language]
  const all = STATES.map((state) => ({
    label: states[state],
    ...(state === 'UNMATCHED' && {
      count: countOf({ count: Math.min(waiting, MAX_COUNTED), isMore: waiting > MAX_COUNTED }),
    }),
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
function paymentCard(visit: Visit, payment: ShownPayment, suggestions: Suggestion[]): Html {
  const { language } = visit
  const texts = UNMATCHED[language]
  const { amount, reason, payer, receivedAt, endToEndId, status, returned } = payment
  const waits = status === 'UNMATCHED'
  const { name, taxId } = payer ?? {}
  // A name may have marks that change the direction of what follows.
  const who = [
    name && html`<bdi>${name}</bdi>`,
    name && taxId && ' · ',
    taxId && html`<span class="nowrap">${taxId}</span>`,
  ]
  return html`<article class="card decision">
<div class="heading"><h2>${money(amount)}</h2>${pill(texts.reasons[reason].short, waits ? 'warn' : 'calm')}</div>
<p class="soft">${texts.reasons[reason].text}${returned && ` ${texts.returned(formatReais(returned))}`}</p>
<div class="columns">${facts([
    [texts.payer, name || taxId ? who : texts.unknownPayer],
    [texts.receivedAt, moment(receivedAt)],
  ])}
${waits && likelyPart(visit, payment, suggestions)}</div>
<div class="actions"><a class="button quiet slim" href="${visit.url(`/unmatched/${endToEndId}`)}">${texts.details}<span class="hide">: ${formatReais(amount)}</span></a>${waits && decisions(visit, payment, suggestions)}</div>
</article>`
}

/** The charges that the payment may belong to, and why. */
function likelyPart(visit: Visit, payment: ShownPayment, suggestions: Suggestion[]): Html {
  const texts = UNMATCHED[visit.language]
  if (suggestions.length === 0) {
    const search = new URLSearchParams({ q: formatReais(payment.amount).slice(3) })
    return html`<p class="soft small">${texts.noLikely} <a href="${visit.url(`/charges?${search}`)}">${texts.search}</a></p>`
  }
  const shown = suggestions.slice(0, MAX_SUGGESTIONS)
  return html`<div class="stack">${shown.map((one) => suggestionPart(visit, payment, one))}</div>`
}

function suggestionPart(visit: Visit, payment: ShownPayment, suggestion: Suggestion): Html {
  const { language } = visit
  const texts = UNMATCHED[language]
  const { charge, signs, isProbable, asked } = suggestion
  const id = toPublic('charge', charge.id)
  const about = [charge.payer?.name, charge.description].filter((text) => !!text)
  // A charge of another amount is found because of its payer alone.
  const title =
    isProbable || signs.includes('named')
      ? texts.likely
      : signs.includes('amount')
        ? texts.sameAmount
        : texts.samePayer
  return html`<div class="likely"><p class="soft small">${title}</p>
<p><a href="${visit.url(`/charges/${id}`)}"><strong>${texts.chargeOf(formatReais(asked))}</strong></a> ${pill(CHARGES[language].statuses[charge.status], charge.status === 'COMPLETED' ? 'good' : 'calm')}</p>
${about.map((text) => html`<p><bdi>${text}</bdi></p>`)}
<p class="soft small">${texts.madeAt} ${moment(charge.createdAt)} · ${texts.why} ${reasonOf(suggestion, language)}</p>
${isAtOnce(visit, payment, suggestion) && settleAtOnce(visit, payment, id)}</div>`
}

/** Whether there is nothing to ask before a charge is settled: amount and payer fit. */
const isAtOnce = (
  { can }: Visit,
  { settled, status }: ShownPayment,
  { charge, isProbable, signs }: Suggestion,
): boolean =>
  can('payments:write') &&
  status === 'UNMATCHED' &&
  !settled &&
  isSettleable(charge) &&
  isProbable &&
  signs.includes('amount')

const settleAtOnce = (visit: Visit, { endToEndId }: ShownPayment, chargeId: string): Html =>
  visit.formOf(
    visit.url(`/unmatched/${endToEndId}/settle${here(visit)}`),
    html`<input type="hidden" name="chargeId" value="${chargeId}"><button class="button slim">${UNMATCHED[visit.language].settle}</button>`,
  )

const CALM = 'button slim quiet'

/** Links to the pages that ask once more. Only what is most likely right stands out. */
function decisions(visit: Visit, payment: ShownPayment, suggestions: Suggestion[]): Shown {
  const texts = UNMATCHED[visit.language]
  if (!visit.can('payments:write')) return null
  const link = (act: string, label: string, kind = CALM) =>
    html`<a class="${kind}" href="${visit.url(`/unmatched/${payment.endToEndId}/${act}`)}">${label}</a>`
  const settle = payment.settled ? null : settleLink(visit, payment, suggestions, link)
  return [
    settle,
    link(`accept${here(visit)}`, texts.accept),
    link(`refund${here(visit)}`, texts.refund),
  ]
}

/** The first suggestion that is settled on its own page, if none is settled at once. */
function toAskAbout(
  visit: Visit,
  payment: ShownPayment,
  suggestions: Suggestion[],
): Suggestion | undefined {
  if (suggestions.some((one) => isAtOnce(visit, payment, one))) return undefined
  return suggestions.find(({ charge }) => isSettleable(charge))
}

/** Without a charge that fits, one has to be found first. */
function settleLink(
  visit: Visit,
  payment: ShownPayment,
  suggestions: Suggestion[],
  link: (act: string, label: string, kind?: string) => Html,
): Html {
  const texts = UNMATCHED[visit.language]
  const from = here(visit)
  const suggestion = toAskAbout(visit, payment, suggestions)
  if (!suggestion) return link(`settle${from}`, texts.settleOther)
  const query = new URLSearchParams(from)
  query.set('q', toPublic('charge', suggestion.charge.id))
  return link(`settle?${query}`, texts.settle, suggestion.isProbable ? 'button slim' : CALM)
}

async function showPayment(visit: Visit, fault: FormFault | null = null): Promise<FastifyReply> {
  const { language, app } = visit
  const texts = UNMATCHED[language]
  const payment = await paymentOf(visit)
  const { amount, receivedAt, endToEndId, status, reason, returned } = payment
  const waits = status === 'UNMATCHED'
  const suggestions = (await suggestionsFor(visit, [payment])).get(payment.id) ?? []
  const title = texts.paymentOf(formatReais(amount))
  const shown = showUnmatched(app.vault, payment)
  const state = pill(texts.states[shown.status], waits ? 'warn' : 'calm')
  const back = backLink(visit, '/unmatched', texts.title)
  const body = html`${back}${heading(title, state)}
${fault ? fault.notice(language) : doneNotice(visit, texts.done)}
<div class="columns">
${card(
  texts.reasons[reason!].short,
  html`<p class="soft">${texts.reasons[reason!].text}${returned > 0 && ` ${texts.returned(formatReais(returned))}`}</p>
${facts([
  [texts.amount, money(amount)],
  [texts.payer, wholePayer(visit, payment)],
  [texts.receivedAt, moment(receivedAt)],
  [texts.endToEndId, idText(endToEndId, texts.endToEndId, language)],
  ...settledFacts(visit, payment),
])}
${payment.settled === null && likelyPart(visit, shown, suggestions)}`,
)}
${waits && visit.can('payments:write') && decisionCard(visit, shown, suggestions)}
</div>`
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

/** The charge that the payment has settled, and what is missing or left. */
function settledFacts({ language, url }: Visit, payment: Payment): Fact[] {
  const texts = UNMATCHED[language]
  const { settled, status } = payment
  if (settled === null) return []
  const id = toPublic('charge', settled.chargeId)
  const charge = html`<a href="${url(`/charges/${id}`)}"><code>${id}</code></a><br>${money(settled.amount)}`
  const rest = status === 'UNMATCHED' && html`<br>${texts.rest(formatReais(undecidedOf(payment)))}`
  return [
    [texts.settledFact, html`${charge}${rest}`],
    ...(settled.shortfall > 0 ? [[texts.shortfall, money(settled.shortfall)] as Fact] : []),
  ]
}

/** What can be done, and what each does. */
function decisionCard(visit: Visit, payment: ShownPayment, suggestions: Suggestion[]): Html {
  const texts = UNMATCHED[visit.language]
  const { effects } = texts
  const isKnown = suggestions.some(({ charge }) => isSettleable(charge))
  const settle = isKnown ? texts.settle : texts.settleOther
  const row = (act: string, effect: string) =>
    html`<li><strong>${act}</strong><span class="soft choice-note">${effect}</span></li>`
  return card(
    texts.decide,
    html`<ul class="rows choices">${!payment.settled && row(settle, effects.settle)}${row(texts.accept, effects.accept)}${row(texts.refund, effects.refund)}</ul>
<div class="actions">${decisions(visit, payment, suggestions)}</div>`,
  )
}

const pathOf = ({ endToEndId }: Payment): string => `/unmatched/${endToEndId}`

async function askToAccept(visit: Visit): Promise<FastifyReply> {
  const texts = UNMATCHED[visit.language]
  const payment = await paymentOf(visit)
  if (payment.status !== 'UNMATCHED') return visit.redirect(pathOf(payment))
  const body = confirmation(visit, {
    title: texts.acceptTitle,
    text: texts.acceptText(formatReais(undecidedOf(payment))),
    action: `${pathOf(payment)}/accept${here(visit)}`,
    button: texts.accept,
    back: pathOf(payment),
  })
  return visit.send({ title: texts.acceptTitle, here: 'unmatched', body })
}

async function askToRefund(
  visit: Visit,
  fault: FormFault | null = null,
  comment = '',
): Promise<FastifyReply> {
  const texts = UNMATCHED[visit.language]
  const payment = await paymentOf(visit)
  if (payment.status !== 'UNMATCHED') return visit.redirect(pathOf(payment))
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
  const body = html`${fault?.notice(visit.language)}${confirmation(visit, {
    title: texts.refundTitle,
    text: texts.refundText(formatReais(undecidedOf(payment))),
    action: `${pathOf(payment)}/refund${here(visit)}`,
    button: texts.refund,
    back: pathOf(payment),
    fields,
  })}`
  return visit.send({ title: texts.refundTitle, here: 'unmatched', body, ...statusOf(fault) })
}

async function accept(visit: Visit): Promise<FastifyReply> {
  const params = { endToEndId: visit.params.id ?? '' }
  const { once } = visit.form
  const { fault } = await tryForm(() => visit.operate('acceptPayment', { params, body: {}, once }))
  return fault ? showPayment(visit, fault) : visit.redirect(`/unmatched${here(visit)}`, 'accepted')
}

async function refund(visit: Visit): Promise<FastifyReply> {
  const params = { endToEndId: visit.params.id ?? '' }
  const { once, comment = '' } = visit.form
  const body = comment.trim() ? { comment: comment.trim() } : {}
  const { fault } = await tryForm(() => visit.operate('refundPayment', { params, body, once }))
  if (!fault) return visit.redirect(`/unmatched${here(visit)}`, 'refunded')
  return fault.isWrong('comment') ? askToRefund(visit, fault, comment) : showPayment(visit, fault)
}

const WRITES = { needs: 'payments:write' } as const

export const unmatchedRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/unmatched', needs: 'payments:read', handle: showList },
  {
    method: 'GET',
    path: '/unmatched/:id',
    needs: 'payments:read',
    handle: async (visit) => {
      const { id = '' } = visit.params
      const later = ID_FORM.test(id) && (await laterChargeOf(visit, id))
      return later ? visit.redirect(later) : showPayment(visit)
    },
  },
  {
    method: 'GET',
    path: '/unmatched/:id/settle',
    ...WRITES,
    handle: (visit) => askToSettle(visit),
  },
  {
    method: 'POST',
    path: '/unmatched/:id/settle',
    ...WRITES,
    movesMoney: true,
    handle: settle(showPayment),
  },
  { method: 'GET', path: '/unmatched/:id/accept', ...WRITES, handle: askToAccept },
  { method: 'POST', path: '/unmatched/:id/accept', ...WRITES, handle: accept },
  {
    method: 'GET',
    path: '/unmatched/:id/refund',
    ...WRITES,
    handle: (visit) => askToRefund(visit),
  },
  { method: 'POST', path: '/unmatched/:id/refund', ...WRITES, movesMoney: true, handle: refund },
]
