import type { Author } from '../../core/activity/rules.ts'
import type { History } from '../../core/charge-history/history.ts'
import { type Moment, momentsOf } from '../../core/charge-history/moments.ts'
import { authorText, mailText, payerBankOf, titleOf } from '../../core/charge-history/words.ts'
import type { Delivery } from '../../core/deliveries/rules.ts'
import { deliveryIdOf } from '../../core/deliveries/view.ts'
import type { WrittenEvent } from '../../core/feed/store.ts'
import { ACCOUNTS } from '../../ledger/recipes.ts'
import type { StatementEntry } from '../../ledger/statement.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { type Html, html, type Shown } from '../html.ts'
import { BALANCE } from './balance-texts.ts'
import { CHARGE, type ChargeTexts } from './charge-texts.ts'
import { EVENT_WORDS } from './event-texts.ts'
import { card, moment as momentAt, pill, type Tone } from './parts.ts'
import type { Visit } from './visit.ts'

/** What a moment says: a title, more about it, and how good or bad it is. */
type Words = { title: Shown; text?: Shown; tone?: Tone }

/** Everything that happened to a charge, the oldest first. */
export function timeline(visit: Visit, history: History): Html {
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

function plannedRelease({ charge }: History, texts: ChargeTexts): Html | false {
  const { paymentStatus, releaseAt } = charge
  if (paymentStatus !== 'PAID' || releaseAt === null) return false
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
    case 'paid':
      return { text: paymentText(visit, history, moment.by), tone: 'good' }
    case 'released':
      return { tone: 'good' }
    case 'canceled':
      return { text: authorText(moment.by, texts), tone: 'bad' }
    case 'expired':
      return { tone: 'bad' }
    case 'refund':
      return refundWords(moment, texts)
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
function paymentText(visit: Visit, { charge }: History, by: Author | null): Shown {
  const texts = CHARGE[visit.language]
  const name = payerBankOf(charge, visit.company, texts)
  return html`<code>${charge.endToEndId}</code><br>${texts.bank}: ${name}${
    charge.shortfall > 0 && html`<br>${texts.shortBy(formatReais(charge.shortfall))}`
  }${by && html`<br>${texts.simulated} ${authorText(by, texts)}`}`
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
function traces(visit: Visit, { deliveries }: History, { entries, events }: Moment): Html | false {
  if (entries.length + events.length === 0) return false
  const own = (event: WrittenEvent) => deliveries.filter(({ eventId }) => eventId === event.id)
  return html`<ul class="traces">${entries.map((entry) => entryTrace(visit, entry))}${events.map(
    (event) => eventTrace(visit, event, own(event)),
  )}</ul>`
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
