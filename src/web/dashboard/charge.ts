import type { FastifyReply } from 'fastify'
import { type History, historyOf } from '../../core/charge-history/history.ts'
import { whyUnpaid } from '../../core/charge-history/moments.ts'
import { arrivedText } from '../../core/charge-history/words.ts'
import { checkoutUrl, pageToken } from '../../core/charges/addresses.ts'
import { type Charge, receivedOf, refundableOf } from '../../core/charges/rules.ts'
import { openShipping } from '../../core/charges/shipping.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { maskEmail, maskPhone } from '../../pix/masks.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import { chargeTxid } from '../../provider/txid.ts'
import { copyButton } from '../developer.ts'
import { stateOf as pageStateOf } from '../found.ts'
import { type Html, html } from '../html.ts'
import { type Fact, facts, purchaseFacts } from '../parts.ts'
import * as actions from './charge-actions.ts'
import { CHARGE } from './charge-texts.ts'
import { timeline } from './charge-timeline.ts'
import { stateOf } from './charges.ts'
import { CHARGES } from './charges-texts.ts'
import { backLink } from './form-parts.ts'
import { wholeTaxId } from './masks.ts'
import { card, doneNotice, formatPhone, heading, moment, money, notice } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

async function show(visit: Visit, fault: Html | null = null, status = 200): Promise<FastifyReply> {
  const { language } = visit
  const texts = CHARGE[language]
  const charge = await actions.chargeOf(visit)
  const history = await historyOf(visit.app, charge, visit.can)
  const title = texts.title(formatReais(charge.amount))
  const isLive = actions.isLive(charge)
  const live = `/pay/${pageToken(visit.app.vault, charge)}`
  const found = { app: visit.app, company: visit.company, token: '', charge }
  return visit.send({
    title,
    here: 'charges',
    status,
    scripts: isLive ? ['charge.js'] : [],
    data: isLive ? { live, state: pageStateOf(found) } : {},
    body: html`${backLink(visit, '/charges', texts.back)}
${heading(title, stateOf(visit, charge))}
${fault ?? doneNotice(visit, texts.done)}
${unpaidNotice(visit, history)}${waitingNotice(visit, history)}
${actions.actionsOf(visit, charge)}${isLive && liveNotice(visit)}
<div class="sides">${timeline(visit, history)}<div class="side">${payerCard(visit, charge)}${detailsCard(visit, charge)}</div></div>`,
  })
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
function payerCard(visit: Visit, charge: Charge): Html {
  const { language, app, can } = visit
  const texts = CHARGE[language]
  const { payer, customerId, companyId } = charge
  if (!payer) return card(texts.payer, html`<p class="soft">${texts.noPayer}</p>`)
  const isWhole = can('payments:write')
  const person = openPerson(app.vault, companyId, payer)
  const { email, phone } = person
  const shown = facts([
    [texts.facts.name, payer.name],
    [texts.facts.taxId, wholeTaxId(visit, person.taxId)],
    email !== undefined && [texts.facts.email, isWhole ? email : maskEmail(email)],
    phone !== undefined && [texts.facts.phone, isWhole ? formatPhone(phone) : maskPhone(phone)],
    shippingFact(visit, charge),
  ])
  return card(
    texts.payer,
    html`${shown}${!isWhole && html`<p class="hint">${texts.masked}</p>`}${
      customerId !== null &&
      can('catalog:read') &&
      html`<p><a href="${visit.url(`/customers/${toPublic('clnt', customerId)}`)}">${texts.facts.customer}</a></p>`
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

function detailsCard({ language, app }: Visit, charge: Charge): Html {
  const texts = CHARGE[language]
  const { facts: names } = texts
  const { kind, status, brCode, endToEndId, refunded, shortfall, externalId, description } = charge
  const id = toPublic('charge', charge.id)
  const code = (text: string, what: string) =>
    html`<code>${text}</code>${copyButton(text, what, language)}`
  const hasPage = kind !== 'RECURRING' && kind !== 'STATIC'
  return card(
    texts.details,
    html`${facts([
      [names.id, code(id, names.id)],
      [names.kind, CHARGES[language].kinds[kind]],
      externalId !== null && [names.reference, externalId],
      description !== null && [names.description, description],
      ...purchaseFacts(charge, language),
      kind !== 'STATIC' && [names.expires, moment(charge.expiresAt)],
      shortfall > 0 && [names.received, money(receivedOf(charge))],
      shortfall > 0 && [names.shortfall, money(shortfall)],
      refunded > 0 && [names.refunded, money(refunded)],
      refunded > 0 && refundableOf(charge) > 0 && [names.left, money(refundableOf(charge))],
      kind !== 'STATIC' && [names.txid, html`<code>${chargeTxid(charge.id)}</code>`],
      endToEndId !== null && [names.endToEndId, html`<code>${endToEndId}</code>`],
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

export const chargeRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/charges/:id', needs: 'payments:read', handle: (visit) => show(visit) },
  {
    method: 'GET',
    path: '/charges/:id/refund',
    needs: 'payments:write',
    handle: (visit) => actions.showRefund(visit),
  },
  {
    method: 'POST',
    path: '/charges/:id/refund',
    needs: 'payments:write',
    movesMoney: true,
    handle: actions.refund,
  },
  { method: 'GET', path: '/charges/:id/cancel', ...WRITES, handle: actions.askToCancel },
  { method: 'POST', path: '/charges/:id/cancel', ...WRITES, handle: actions.cancel(show) },
  { method: 'POST', path: '/charges/:id/duplicate', ...WRITES, handle: actions.duplicate(show) },
  { method: 'POST', path: '/charges/:id/mail', ...WRITES, handle: actions.mail(show) },
  { method: 'POST', path: '/charges/:id/simulate', ...WRITES, handle: actions.simulate(show) },
]
