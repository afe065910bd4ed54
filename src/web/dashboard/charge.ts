import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { Author } from '../../core/activity/rules.ts'
import { disputedOf, type History, historyOf } from '../../core/charge-history/history.ts'
import { type Moment, momentsOf, whyUnpaid } from '../../core/charge-history/moments.ts'
import {
  arrivedText,
  authorText,
  mailText,
  payerBankOf,
  reminderText,
  titleOf,
} from '../../core/charge-history/words.ts'
import { checkoutUrl, pageToken } from '../../core/charges/addresses.ts'
import { findCharge } from '../../core/charges/commands.ts'
import { mailKindOf, sendChargeMail } from '../../core/charges/mails.ts'
import {
  asOf,
  type Charge,
  isSubscriptionLink,
  receivedOf,
  refundableOf,
} from '../../core/charges/rules.ts'
import { openShipping } from '../../core/charges/shipping.ts'
import type { ChargeView } from '../../core/charges/view.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { find as findCustomer } from '../../core/customers/store.ts'
import type { Delivery } from '../../core/deliveries/rules.ts'
import { deliveryIdOf } from '../../core/deliveries/view.ts'
import type { WrittenEvent } from '../../core/feed/store.ts'
import { isPlayable } from '../../core/payments/rules.ts'
import { REFUND_DAYS } from '../../core/refunds/rules.ts'
import type { StatementEntry } from '../../ledger/columns.ts'
import { ACCOUNTS } from '../../ledger/recipes.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { lastDayToPay } from '../../pix/due-amount.ts'
import { formatDay, formatMoment } from '../../pix/local-time.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import { chargeTxid } from '../../provider/txid.ts'
import { copyButton } from '../developer.ts'
import { stateNow } from '../found.ts'
import { type Html, html, type Shown } from '../html.ts'
import { bankPath, dueFacts, type Fact, facts, purchaseFacts } from '../parts.ts'
import { TRIAL_ADDRESS } from '../shipping-form.ts'
import { BALANCE } from './balance-texts.ts'
import { explainCard } from './charge-explain.ts'
import { chargeShare } from './charge-share.ts'
import { CHARGE, type ChargeTexts } from './charge-texts.ts'
import { stateOf } from './charges.ts'
import { CHARGES } from './charges-texts.ts'
import { commitOnce } from './commit-once.ts'
import { DISPUTE_TONES } from './disputes.ts'
import { DISPUTES } from './disputes-texts.ts'
import { EVENT_WORDS } from './event-texts.ts'
import { backLink, confirmation, tryForm } from './form-parts.ts'
import { notesCard, notesRoutes } from './notes.ts'
import {
  card,
  doneNotice,
  heading,
  idText,
  moment,
  moment as momentAt,
  money,
  notice,
  pill,
  type Tone,
  wholeEmail,
  wholePhone,
  wholeTaxId,
} from './parts.ts'
import { COMPACT_SHARE } from './share.ts'
import { splitCard } from './split-parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

async function show(visit: Visit, fault: Html | null = null, status = 200): Promise<FastifyReply> {
  const { language, params } = visit
  const texts = CHARGE[language]
  const charge = await chargeOf(visit)
  const history = await historyOf(visit.app, charge, visit.can)
  const title = texts.title(formatReais(charge.amount))
  const isLive = isLiveCharge(charge)
  const live = `/pay/${pageToken(visit.app.vault, charge)}`
  const found = { app: visit.app, company: visit.company, token: '', charge }
  return visit.send({
    title,
    here: 'charges',
    status,
    styles: COMPACT_SHARE.styles,
    scripts: [...COMPACT_SHARE.scripts, ...(isLive ? ['charge.js'] : [])],
    data: isLive ? { live, state: await stateNow(found) } : {},
    body: html`${backLink(visit, '/charges', texts.back)}
${heading(title, stateOf(visit, charge))}
${fault ?? doneNotice(visit, texts.done)}
${unpaidNotice(visit, history)}${waitingNotice(visit, history)}
${actionsOf(visit, charge)}${await chargeShare(visit, charge)}${isLive && liveNotice(visit)}
<div class="sides">${timeline(visit, history)}<div class="side">${summaryCard(visit, charge)}${await payerCard(visit, charge)}${await explainCard(visit, history)}${await notesCard(visit, { recordType: 'charge', id: params.id! })}${await splitCard(visit, charge)}${detailsCard(visit, charge)}</div></div>`,
  })
}

/** What was charged, what came, what went back, and what is left of it. */
function summaryCard({ language }: Visit, charge: Charge): Html | false {
  const { summary } = CHARGE[language]
  const { amount, refunded, status } = charge
  if (status !== 'COMPLETED') return false
  return card(
    null,
    facts([
      [summary.charged, money(amount)],
      [summary.received, money(receivedOf(charge))],
      refunded > 0 && [summary.refunded, money(refunded)],
      refunded > 0 && [summary.net, html`<strong>${money(refundableOf(charge))}</strong>`],
    ]),
  )
}

/** Why nobody has paid. */
function unpaidNotice({ language }: Visit, history: History): Html | false {
  const why = whyUnpaid(history)
  return why !== null && notice(CHARGE[language].unpaid[why], 'calm')
}

/** Money that named this charge waits for a decision. */
function waitingNotice(visit: Visit, { charge, unmatched }: History): Html | false {
  const texts = CHARGE[visit.language]
  const payment = unmatched.find(({ status }) => status === 'UNMATCHED')
  if (!payment) return false
  const { reason, endToEndId } = payment
  return notice(
    html`${arrivedText(charge, payment, texts)}. ${texts.reasons[reason!]} <a href="${visit.url(`/unmatched/${endToEndId}`)}">${texts.decide}</a>`,
    'warn',
  )
}

/** Without scripts a link asks for the page again. */
function liveNotice({ language, url, params }: Visit): Html {
  const texts = CHARGE[language]
  return html`<p class="waiting js" role="status">${texts.live}</p><noscript><p><a class="button quiet slim" href="${url(`/charges/${params.id}`)}">${texts.refresh}</a></p></noscript>`
}

/** The payer, whole for whoever may act on payments. */
async function payerCard(visit: Visit, charge: Charge): Promise<Html> {
  const { language, app, can } = visit
  const texts = CHARGE[language]
  const { payer, customerId, companyId } = charge
  if (!payer) {
    const unknown = charge.kind === 'STATIC' ? texts.noPayer : texts.unnamed
    const why = customerId === null ? unknown : texts.erased
    return card(texts.payer, html`<p class="soft">${why}</p>`)
  }
  const isWhole = can('payments:write')
  const isLinked = customerId !== null && can('catalog:read')
  const customer = isLinked && (await findCustomer(app.db, app.vault, companyId, customerId))
  const person = openPerson(app.vault, companyId, payer)
  const { email, phone } = person
  const shown = facts([
    [texts.facts.name, payer.name],
    [texts.facts.taxId, wholeTaxId(visit, person.taxId)],
    email !== undefined && [texts.facts.email, wholeEmail(visit, email)],
    phone !== undefined && [texts.facts.phone, wholePhone(visit, phone)],
    shippingFact(visit, charge),
  ])
  return card(
    texts.payer,
    html`${shown}${!isWhole && html`<p class="hint">${texts.masked}</p>`}${
      customer &&
      html`<p><a href="${visit.url(`/customers/${toPublic('clnt', customer.id)}`)}">${texts.facts.customer}</a></p>`
    }`,
  )
}

function shippingFact(visit: Visit, charge: Charge): Fact | false {
  if (charge.shipping === null) return false
  const to = openShipping(visit.app.vault, charge, charge.shipping)
  const city = `${to.city} – ${to.state}`
  const line = [`${to.address}, ${to.number}`, to.line1, to.district, city, to.postalCode]
  const isWhole = visit.can('payments:write')
  return [CHARGE[visit.language].facts.shipping, isWhole ? line.filter(Boolean).join(', ') : city]
}

function detailsCard({ language, app, url }: Visit, charge: Charge): Html {
  const texts = CHARGE[language]
  const { facts: names } = texts
  const { kind, status, brCode, endToEndId, shortfall, externalId, description, linkId } = charge
  const id = toPublic('charge', charge.id)
  const idOf = (text: string, what: string) => idText(text, what, language)
  const code = (text: string, what: string) =>
    html`<code>${text}</code>${copyButton(text, what, language)}`
  const hasPage = kind !== 'RECURRING' && kind !== 'STATIC'
  return card(
    texts.details,
    html`${facts([
      [names.id, idOf(id, names.id)],
      [names.kind, CHARGES[language].kinds[kind]],
      externalId !== null && [names.reference, externalId],
      description !== null && [names.description, description],
      linkId !== null && [
        names.soldBy,
        html`<a href="${url(`/links/${toPublic('link', linkId)}`)}">${names.link}</a>`,
      ],
      ...purchaseFacts(charge, language),
      ...dueFacts(charge, app.clock.now(), language),
      kind !== 'STATIC' && [
        names.expires,
        charge.due ? formatDay(lastDayToPay(charge.due.terms)) : moment(charge.expiresAt),
      ],
      shortfall > 0 && [names.shortfall, money(shortfall)],
      kind !== 'STATIC' && [names.txid, idOf(chargeTxid(charge.id), names.txid)],
      endToEndId !== null && [names.endToEndId, idOf(endToEndId, names.endToEndId)],
    ])}${
      hasPage &&
      status === 'OPEN' &&
      html`<div class="field"><span class="soft small">${names.link}</span>${code(checkoutUrl(app, charge), texts.copyLink)}</div>`
    }${
      brCode !== null &&
      status === 'OPEN' &&
      html`<p class="qr"><img src="${qrDataUrl(brCode)}" alt="${texts.qr}" width="256" height="256"></p>
<div class="field"><span class="soft small">${names.pixCode}</span>${code(brCode, texts.copyCode)}</div>`
    }`,
  )
}

const WRITES = { needs: 'payments:write' } as const

export const pathOf = ({ id }: Pick<Charge, 'id'>): string => `/charges/${toPublic('charge', id)}`

/** The charge that the URL names. Whoever asks for that of another company finds nothing. */
export async function chargeOf({ app, company, params }: Visit): Promise<Charge> {
  const charge = await findCharge(app, company.id, fromPublic('charge', params.id ?? ''))
  return asOf(charge, app.clock.now())
}

const DAY_MS = 86_400_000

/** Whether money of a charge can still go back. */
export const isRefundable = ({ app }: Visit, charge: Charge): boolean =>
  refundableOf(charge) > 0 &&
  app.clock.now().getTime() - charge.paymentDate!.getTime() <= REFUND_DAYS * DAY_MS

/** Whether a charge can be paid by somebody who tries the service out. */
const isSimulable = ({ devMode, status, kind }: Charge): boolean =>
  devMode && status === 'OPEN' && kind !== 'RECURRING'

/** Buttons for all that can be done with the charge now, by this person. */
function actionsOf(visit: Visit, charge: Charge): Html {
  const { app, company, language, url } = visit
  const texts = CHARGE[language]
  const path = pathOf(charge)
  const isOpen = charge.status === 'OPEN'
  const page = checkoutUrl(app, charge)
  const hasPage = charge.kind !== 'RECURRING' && charge.kind !== 'STATIC'
  const mail = mailKindOf(app, charge)
  const button = (action: string, label: string) =>
    visit.formOf(
      url(`${path}/${action}`),
      html`<button class="button quiet slim">${label}</button>`,
    )
  const link = (action: string, label: string, kind: Shown = ' quiet') =>
    html`<a class="button slim${kind}" href="${url(`${path}/${action}`)}">${label}</a>`
  const writes = html`${isSimulable(charge) && button('simulate', texts.simulate)}${
    mail && button('mail', mail === 'receipt' ? texts.mailReceipt : texts.mailLink)
  }${canDuplicate(charge) && button('duplicate', texts.duplicate)}`
  // Those that take something away come last.
  const takes = html`${
    isRefundable(visit, charge) &&
    link('refund', texts.refundButton(formatReais(refundableOf(charge))))
  }${isOpen && link('cancel', texts.cancelButton, ' quiet danger')}`
  return html`<div class="actions">${visit.can('payments:write') && writes}${isOpen && !charge.devMode && isPlayable(app.config, company) && payAtBank(visit, charge)}${
    hasPage &&
    html`<a class="button quiet slim" href="${page}" target="_blank" rel="noopener">${texts.openPage}</a>`
  }${visit.can('payments:write') && takes}</div>`
}

/**
 * The way to the simulated bank. A link has no code before its payer asks for one, so its page is
 * asked for it, with an invented address if something is to be sent.
 */
function payAtBank({ app, language, can }: Visit, charge: Charge): Html | false {
  const { payAtBank: label } = CHARGE[language]
  const { kind, brCode, link } = charge
  if (brCode !== null)
    return html`<a class="button quiet slim" href="${bankPath(brCode)}">${label}</a>`
  if (kind !== 'LINK' || isSubscriptionLink(charge) || !can('payments:write')) return false
  const address = link!.needShipping ? TRIAL_ADDRESS : {}
  const fields = Object.entries({ ...address, bank: 'yes' }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const { pathname } = new URL(checkoutUrl(app, charge))
  return html`<form method="post" action="${pathname}">${fields}<button class="button quiet slim">${label}</button></form>`
}

/** A charge of a subscription and a sale of a static code are made by others. */
const canDuplicate = (charge: Charge): boolean =>
  (charge.kind === 'PIX' || charge.kind === 'LINK') && charge.payer !== null

async function askToCancel(visit: Visit): Promise<FastifyReply> {
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
type ShowAgain = (visit: Visit, notice: Html, status: number) => Promise<FastifyReply>

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

const cancel = operateOn('cancelCharge', 'id', 'canceled')
const simulate = operateOn('simulatePayment', 'chargeId', 'simulated')

const duplicate =
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

const mail =
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

const isLiveCharge = (charge: Charge): boolean =>
  charge.status === 'OPEN' && !isSubscriptionLink(charge)

export const chargeRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/charges/:id', needs: 'payments:read', handle: (visit) => show(visit) },
  { method: 'GET', path: '/charges/:id/cancel', ...WRITES, handle: askToCancel },
  { method: 'POST', path: '/charges/:id/cancel', ...WRITES, handle: cancel(show) },
  { method: 'POST', path: '/charges/:id/duplicate', ...WRITES, handle: duplicate(show) },
  { method: 'POST', path: '/charges/:id/mail', ...WRITES, handle: mail(show) },
  { method: 'POST', path: '/charges/:id/simulate', ...WRITES, handle: simulate(show) },
  ...notesRoutes('charge', chargeOf),
]

/** What a moment says: a title, more about it, and how good or bad it is. */
type Words = { title: Shown; text?: Shown; tone?: Tone }

/** Everything that happened to a charge, the oldest first. */
function timeline(visit: Visit, history: History): Html {
  const texts = CHARGE[visit.language]
  const item = (moment: Moment) => {
    const { title, text, tone = 'calm' } = wordsOf(visit, history, moment)
    return html`<li class="tone-${tone}"><p class="what"><strong>${title}</strong> ${momentAt(moment.at)}</p>
${text && html`<p class="soft">${text}</p>`}${traces(visit, history, moment)}</li>`
  }
  return card(
    texts.timeline,
    html`<ol class="timeline">${momentsOf(history).map(item)}</ol>${plannedRelease(history, texts)}`,
  )
}

function plannedRelease(history: History, texts: ChargeTexts): Html | false {
  const { charge } = history
  const { paymentStatus, releaseAt } = charge
  if (paymentStatus !== 'PAID' || releaseAt === null) return false
  // What is disputed waits for that to end.
  if (disputedOf(history) >= refundableOf(charge)) return false
  return html`<p class="soft">${texts.releaseAt(formatMoment(releaseAt))}</p>`
}

function wordsOf(visit: Visit, history: History, moment: Moment): Words {
  const { language } = visit
  const title = titleOf(
    history.charge,
    moment,
    CHARGE[language],
    (type) => EVENT_WORDS[language][type],
  )
  return { title, ...moreOf(visit, history, moment) }
}

function moreOf(visit: Visit, history: History, moment: Moment): Omit<Words, 'title'> {
  const texts = CHARGE[visit.language]
  switch (moment.kind) {
    case 'made':
      return { text: originOf(visit, history, moment.by) }
    case 'mail':
      return { text: mailText(moment.mail, texts) }
    case 'unsent':
      return { text: mailText(moment.mail, texts), tone: 'bad' }
    case 'reminder':
      return { text: reminderText(moment.reminder, texts) }
    case 'paid':
      return { text: paymentText(visit, history, moment), tone: 'good' }
    case 'released':
      return { tone: 'good' }
    case 'canceled':
      return { text: authorText(moment.by, texts), tone: 'bad' }
    case 'expired':
      return { tone: 'bad' }
    case 'refund':
      return refundWords(moment, texts)
    case 'dispute':
      return disputeWords(visit, moment.dispute)
    case 'unmatched':
      return unmatchedWords(visit, moment.payment)
    default:
      return {}
  }
}

/** Who has made a charge, if that is known. */
function originOf(visit: Visit, { charge }: History, by: Author | null): Shown {
  const texts = CHARGE[visit.language]
  if (charge.kind === 'STATIC') return texts.sale
  if (charge.recurrenceId === null) return authorText(by, texts)
  const id = toPublic('rec', charge.recurrenceId)
  return html`<a href="${visit.url(`/subscriptions/${id}`)}">${texts.subscription}</a>`
}

/** The scheme's id of a payment, and the bank that it came from. */
function paymentText(
  visit: Visit,
  { charge }: History,
  { by, settled }: Moment & { kind: 'paid' },
): Shown {
  const texts = CHARGE[visit.language]
  const name = payerBankOf(charge, visit.company, texts)
  return html`<code>${charge.endToEndId}</code><br>${texts.bank}: ${name}${
    charge.shortfall > 0 && html`<br>${texts.shortBy(formatReais(charge.shortfall))}`
  }${by && html`<br>${texts.simulated} ${authorText(by, texts)}`}${settled === 'by rule' && html`<br>${texts.byRule}`}`
}

const REFUND_TONES = { PROCESSING: 'warn', COMPLETED: 'good', FAILED: 'bad' } as const

function refundWords(
  { refund, by }: Moment & { kind: 'refund' },
  texts: ChargeTexts,
): Omit<Words, 'title'> {
  const { bankReason, status, finishedAt } = refund
  const tone = REFUND_TONES[status]
  const author = authorText(by, texts)
  const why = bankReason ? texts.bankReasons[bankReason] : refund.comment
  return {
    tone,
    text: html`${pill(texts.refundStates[status], tone)} ${finishedAt && momentAt(finishedAt)}${author && html`<br>${author}`}${why && html`<br>${why}`}${refund.failure && html`<br>${refund.failure}`}`,
  }
}

function disputeWords(
  { language, url }: Visit,
  { id, status }: History['disputes'][number],
): Omit<Words, 'title'> {
  const { states, open } = DISPUTES[language]
  const link = html`<a href="${url(`/disputes/${toPublic('dispute', id)}`)}">${open}</a>`
  return { tone: 'warn', text: html`${pill(states[status], DISPUTE_TONES[status])}<br>${link}` }
}

function unmatchedWords(visit: Visit, payment: History['unmatched'][number]): Omit<Words, 'title'> {
  const texts = CHARGE[visit.language]
  const { endToEndId, reason, status } = payment
  const waits = status === 'UNMATCHED'
  return {
    tone: 'warn',
    text: html`${texts.reasons[reason!]} ${pill(texts.paymentStates[status], waits ? 'warn' : 'calm')}<br><code>${endToEndId}</code><br><a href="${visit.url(`/unmatched/${endToEndId}`)}">${waits ? texts.decide : BALANCE[visit.language].payment}</a>`,
  }
}

/** What a moment has left behind: entries of the ledger, and events with their deliveries. */
function traces(visit: Visit, { deliveries }: History, { entries, events }: Moment): Html {
  const own = (event: WrittenEvent) => deliveries.filter(({ eventId }) => eventId === event.id)
  return html`${
    entries.length > 0 &&
    html`<ul class="traces">${entries.map((entry) => entryTrace(visit, entry))}</ul>`
  }${events.length > 0 && eventTraces(visit, events, own)}`
}

/** Most people need no events, so they are folded, unless one did not arrive. */
function eventTraces(
  visit: Visit,
  events: WrittenEvent[],
  deliveriesOf: (event: WrittenEvent) => Delivery[],
): Html {
  const hasFailed = events.some((event) =>
    deliveriesOf(event).some(({ status }) => status === 'FAILED'),
  )
  return html`<details${hasFailed && html` open`}><summary class="soft small">${CHARGE[visit.language].events(events.length)}</summary><ul class="traces">${events.map(
    (event) => eventTrace(visit, event, deliveriesOf(event)),
  )}</ul></details>`
}

/** An entry, with the balances that it has changed as they were after it. */
function entryTrace({ language }: Visit, entry: StatementEntry): Html {
  const { kinds, accounts } = BALANCE[language]
  const { debit, credit, balance, amount, kind } = entry
  const sign = debit === 'bank' ? '+ ' : credit === 'bank' ? '− ' : ''
  const after = ACCOUNTS.filter((account) => account === debit || account === credit).map(
    (account) =>
      html` · ${accounts[account]} <span class="nowrap">${formatReais(balance[account])}</span>`,
  )
  return html`<li>${CHARGE[language].entry(entry.entry)}: ${kinds[kind]} <span class="money">${sign}${formatReais(amount)}</span><span class="soft">${after}</span></li>`
}

const TONES: Record<Delivery['status'], Tone> = {
  PENDING: 'warn',
  DELIVERED: 'good',
  FAILED: 'bad',
}

function eventTrace(visit: Visit, { type }: WrittenEvent, deliveries: Delivery[]): Html {
  const texts = CHARGE[visit.language]
  const words = { PENDING: texts.waiting, DELIVERED: texts.delivered, FAILED: texts.failed }
  const link = (delivery: Delivery) =>
    html` <a href="${visit.url(`/developers/deliveries/${deliveryIdOf(delivery)}`)}">${pill(words[delivery.status], TONES[delivery.status])}</a>`
  return html`<li>${texts.event} <code>${type}</code>${deliveries.map(link)}${
    deliveries.length === 0 && html`<span class="soft"> · ${texts.noDelivery}</span>`
  }</li>`
}
