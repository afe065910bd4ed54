import type { FastifyReply } from 'fastify'
import type { Billing } from '../../core/billings/rules.ts'
import { listOfRecurrence, listOpen } from '../../core/billings/store.ts'
import { checkoutUrl } from '../../core/charges/addresses.ts'
import { type Charge, asOf as chargeAsOf } from '../../core/charges/rules.ts'
import { findMany } from '../../core/charges/store.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { isPlayable } from '../../core/payments/rules.ts'
import { asOf, type Recurrence } from '../../core/recurrences/rules.ts'
import { search } from '../../core/recurrences/store.ts'
import { upcomingDebits } from '../../core/recurrences/upcoming.ts'
import { subscriptionWord, whatHappened } from '../../core/recurrences/words.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatDay, formatMoment, localDateOf } from '../../pix/local-time.ts'
import { copyButton } from '../developer.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { SUBSCRIPTION } from '../subscription-texts.ts'
import { backLink } from './form-parts.ts'
import { wholeTaxId } from './masks.ts'
import { card, doneNotice, heading, moment, money, nothing, pager, pill, table } from './parts.ts'
import { chargePill, subscriptionPill } from './states.ts'
import { SUBSCRIPTIONS } from './subscriptions-texts.ts'
import type { Visit } from './visit.ts'

const CHARGES_SHOWN = 20
const NEXT_SHOWN = 3
const FOLLOWERS_SHOWN = 20

/** The page of a subscription, or of a link through which payers subscribe. */
export async function showSubscriptionPage(
  visit: Visit,
  recurrence: Recurrence,
): Promise<FastifyReply> {
  const { language, url } = visit
  const texts = SUBSCRIPTIONS[language]
  const { isTemplate, status, payer, productName } = recurrence
  const title = isTemplate ? productName : `${payer!.name} · ${productName}`
  const path = `/subscriptions/${toPublic('rec', recurrence.id)}`
  const actions =
    visit.can('payments:write') &&
    status === 'OPEN' &&
    html`<a class="button quiet slim" href="${url(`${path}/cancel`)}">${isTemplate ? texts.closeLink : texts.cancel}</a>`
  const details = isTemplate ? await followers(visit, recurrence) : await charges(visit, recurrence)
  return visit.send({
    title,
    here: 'subscriptions',
    body: html`${backLink(visit, '/subscriptions', texts.title)}${heading(title, actions)}${doneNotice(visit, texts.done)}
<div class="columns">${agreementCard(visit, recurrence)}<div class="after">${shareCard(visit, recurrence)}${await nextCard(visit, recurrence)}</div></div>${details}`,
  })
}

function agreementCard(visit: Visit, recurrence: Recurrence): Html {
  const { language } = visit
  const texts = SUBSCRIPTIONS[language]
  const { authStatus, decidedAt, expiresAt, endReason, externalId } = recurrence
  const each = SUBSCRIPTION[language].each[recurrence.frequency]
  return card(
    texts.agreement,
    html`<p>${subscriptionPill(recurrence, language)}</p><p>${texts.explained[subscriptionWord(recurrence)]}</p>
${facts([
  [texts.value, html`${money(recurrence.value)} ${each}`, 'sum'],
  [texts.product, productLink(visit, recurrence)],
  [texts.customer, customerOf(visit, recurrence)],
  [texts.dayDue, texts.days(recurrence.dayDue)],
  [texts.madeAt, moment(recurrence.createdAt)],
  authStatus === 'CREATED' && expiresAt !== null && [texts.expiresAt, moment(expiresAt)],
  decidedAt !== null && [
    authStatus === 'APPROVED' ? texts.since : texts.endedAt,
    moment(decidedAt),
  ],
  endReason !== null && [texts.reason, texts.reasons[endReason]],
  externalId !== null && [texts.bankId, html`<code>${externalId}</code>`],
  ['ID', html`<code>${toPublic('rec', recurrence.id)}</code>`],
])}`,
  )
}

const productLink = ({ url }: Visit, { productId, productName }: Recurrence): Html =>
  html`<a href="${url(`/products/${toPublic('prod', productId)}`)}">${productName}</a>`

function customerOf(visit: Visit, { customerId, payer }: Recurrence): Html {
  const { language, url, app, company } = visit
  if (!payer || !customerId) return html`${SUBSCRIPTIONS[language].anybody}`
  const { taxId } = openPerson(app.vault, company.id, payer)
  return html`<a href="${url(`/customers/${toPublic('clnt', customerId)}`)}">${payer.name}</a><br><span class="soft small">${wholeTaxId(visit, taxId)}</span>`
}

/** The link for the payer, while there is something to do with it. */
function shareCard(visit: Visit, recurrence: Recurrence): Html | null {
  const { language, app, company } = visit
  const texts = SUBSCRIPTIONS[language]
  const word = subscriptionWord(recurrence)
  if (word !== 'link' && word !== 'created') return null
  const address = checkoutUrl(app, recurrence)
  const { brCode } = recurrence
  const bank =
    brCode !== null &&
    isPlayable(app.config, company) &&
    html`<a class="button quiet slim" href="/bank?${new URLSearchParams({ code: brCode }).toString()}" target="_blank" rel="noopener">${texts.bank}</a>`
  return card(
    texts.share,
    html`<p class="hint">${texts.shareHint[word]}</p><p class="code" translate="no">${address}</p>
<div class="actions">${copyButton(address, texts.copyLink, language)}<a class="button quiet slim" href="${new URL(address).pathname}" target="_blank" rel="noopener">${texts.openPage}</a>${bank}</div>`,
  )
}

/** What is charged next, and when. */
async function nextCard(visit: Visit, recurrence: Recurrence): Promise<Html | null> {
  const { language, app, company } = visit
  const texts = SUBSCRIPTIONS[language]
  if (recurrence.isTemplate || recurrence.authStatus !== 'APPROVED') return null
  const open = await listOpen(app.db, company.id, recurrence.id)
  const today = localDateOf(app.clock.now())
  const debits = upcomingDebits(recurrence, { agreement: recurrence, open }, today, NEXT_SHOWN)
  const row = ({ number, on, isRetry }: (typeof debits)[number]) => {
    const again = isRetry && html` ${pill(texts.retrying, 'warn')}`
    return html`<li><span>${texts.number(number)}${again}<br><time class="soft small" datetime="${on}">${formatDay(on)}</time></span>${money(recurrence.value)}</li>`
  }
  return card(
    texts.nextCharges,
    html`<ul class="dates">${debits.map(row)}</ul><p class="hint">${texts.nextHint}</p>`,
  )
}

type Billed = { billing: Billing; charge: Charge }

/** Every charge of the subscription, newest first, and what has become of it. */
async function charges(visit: Visit, recurrence: Recurrence): Promise<Html> {
  const { language, app, company, url, query } = visit
  const texts = SUBSCRIPTIONS[language]
  const before = /^\d{1,9}$/.test(query.after ?? '') ? Number(query.after) : null
  const page = { limit: CHARGES_SHOWN + 1, before }
  const found = await listOfRecurrence(app.db, company.id, recurrence.id, page)
  const billings = found.slice(0, CHARGES_SHOWN)
  const next = found.length > CHARGES_SHOWN ? String(billings.at(-1)!.cycle) : null
  const ids = billings.map(({ chargeId: id }) => ({ companyId: company.id, id }))
  const now = app.clock.now()
  const read = await findMany(app.db, ids)
  const billed = billings.map((billing, i) => ({ billing, charge: chargeAsOf(read[i]!, now) }))
  const list = table<Billed>(
    texts.charges,
    [
      {
        title: texts.charge,
        kind: 'main',
        of: ({ charge, billing }) =>
          html`<a class="nowrap" href="${url(`/charges/${toPublic('charge', charge.id)}`)}">${texts.number(billing.cycle + 1)}</a>`,
      },
      {
        title: texts.due,
        of: ({ billing }) => html`<span class="nowrap">${formatDay(billing.dueOn)}</span>`,
      },
      { title: texts.state, of: ({ charge }) => chargePill(charge, language) },
      {
        title: texts.what,
        of: ({ billing, charge }) => whatHappened(billing, charge, localDateOf(now), texts),
      },
      { title: texts.amount, kind: 'number', of: ({ charge }) => money(charge.amount) },
    ],
    billed,
    nothing(language, texts.noCharges),
  )
  return card(texts.charges, html`${list}${pager(visit, next)}`)
}

/** The subscriptions that were started through a link. */
async function followers(visit: Visit, { id }: Recurrence): Promise<Html> {
  const { language, app, company, url } = visit
  const texts = SUBSCRIPTIONS[language]
  const now = app.clock.now()
  const filter = { isTemplate: false, authStatus: null, customerId: null, originId: id }
  const page = { limit: FOLLOWERS_SHOWN, after: null }
  const found = await search(app.db, company.id, filter, page, now)
  const row = (one: Recurrence) =>
    html`<li><a class="row" href="${url(`/subscriptions/${toPublic('rec', one.id)}`)}"><span><strong>${one.payer!.name}</strong><span class="soft small">${formatMoment(one.createdAt)}</span></span>${subscriptionPill(asOf(one, now), language)}</a></li>`
  const list = html`<ul class="rows">${found.map(row)}</ul>`
  return card(texts.followers, found.length === 0 ? nothing(language, texts.noFollowers) : list)
}
