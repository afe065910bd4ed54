import type { Static } from 'typebox'
import type { Summary } from '../../core/charges/search-view.ts'
import type { ChargeView } from '../../core/charges/view.ts'
import { asOf, type Recurrence } from '../../core/recurrences/rules.ts'
import { search as searchRecurrences } from '../../core/recurrences/store.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { addDays, localDateOf } from '../../pix/local-time.ts'
import { plainTaxId } from '../../pix/tax-id.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { SUBSCRIPTION } from '../subscription-texts.ts'
import type { ShownCustomer } from './customers-search.ts'
import { CUSTOMERS } from './customers-texts.ts'
import { wholeTaxId } from './masks.ts'
import { card, formatPhone, moment, money, nothing, pager, pill, table } from './parts.ts'
import { chargePill, subscriptionPill } from './states.ts'
import type { Visit } from './visit.ts'

type ShownCharge = Static<typeof ChargeView>

const CHARGES_SHOWN = 20
const SUBSCRIPTIONS_SHOWN = 20
/** Days of the sum of what a customer has paid. */
const YEAR_DAYS = 365

/** The page of a customer: who they are, and everything they paid. */
export async function showCustomer(
  visit: Visit,
  customer: ShownCustomer,
): Promise<{ body: Html; actions: Html }> {
  const { language, url } = visit
  const texts = CUSTOMERS[language]
  const { id } = customer
  const actions = html`${
    visit.can('payments:write') &&
    html`<a class="button slim" href="${url(`/new/charge?customer=${id}`)}">${texts.chargeThem}</a><a class="button quiet slim" href="${url(`/new/link?customer=${id}`)}">${texts.sendLink}</a>`
  }`
  const paid = visit.can('payments:read') && (await paidBy(visit, id))
  const body = html`<div class="columns">${card(texts.details, details(visit, customer))}${paid}</div>
${visit.can('payments:read') && (await chargesOf(visit, id))}`
  return { body, actions }
}

function details(visit: Visit, customer: ShownCustomer): Html {
  const { language } = visit
  const texts = CUSTOMERS[language]
  const { fields } = texts
  const { email, phone, status, createdAt } = customer
  const street = [customer.address, customer.number, customer.line1].filter(Boolean).join(', ')
  const address = [street, customer.district, customer.postalCode].filter(Boolean)
  return html`${facts([
    [fields.taxId.label, wholeTaxId(visit, plainTaxId(customer.taxId))],
    email !== undefined && [fields.email.label, email],
    phone !== undefined && [texts.phone, formatPhone(phone)],
    address.length > 0 && [
      texts.address,
      address.map((line, i) => html`${i > 0 && html`<br>`}${line}`),
    ],
    [fields.status.label, pill(texts.statuses[status], status === 'ACTIVE' ? 'good' : 'calm')],
    [texts.since, moment(createdAt)],
    ['ID', html`<code>${customer.id}</code>`],
  ])}${!visit.can('payments:write') && html`<p class="hint">${texts.masked}</p>`}`
}

/** What the customer has paid in a year, and their subscriptions. */
async function paidBy(visit: Visit, id: string): Promise<Html> {
  const { language, app } = visit
  const texts = CUSTOMERS[language]
  const from = addDays(localDateOf(app.clock.now()), -YEAR_DAYS)
  const query = { customerId: id, status: 'COMPLETED', paidFrom: from }
  const [summary, subscriptions] = await Promise.all([
    visit.operate<Summary>('summarizeCharges', { query }),
    subscriptionsOf(visit, id),
  ])
  const { count, sum } = summary.data
  const figure = html`<div class="figure"><span class="soft">${texts.paidYear}</span><strong>${money(sum)}</strong><span class="soft small">${texts.paidCount(count)}</span></div>`
  return html`<div class="after">${card(null, figure)}${subscriptions}</div>`
}

async function subscriptionsOf(visit: Visit, id: string): Promise<Html | null> {
  const { language, app, company, url } = visit
  const texts = CUSTOMERS[language]
  const now = app.clock.now()
  const filter = { isTemplate: false, authStatus: null, customerId: fromPublic('clnt', id)! }
  const page = { limit: SUBSCRIPTIONS_SHOWN, after: null }
  const found = await searchRecurrences(app.db, company.id, filter, page, now)
  if (found.length === 0) return null
  const row = (recurrence: Recurrence) =>
    html`<li><a class="row" href="${url(`/subscriptions/${toPublic('rec', recurrence.id)}`)}"><span><strong>${recurrence.productName}</strong><span class="soft small">${money(recurrence.value)} ${SUBSCRIPTION[language].each[recurrence.frequency]}</span></span>${subscriptionPill(asOf(recurrence, now), language)}</a></li>`
  return card(texts.subscriptions, html`<ul class="rows">${found.map(row)}</ul>`)
}

async function chargesOf(visit: Visit, customerId: string): Promise<Html> {
  const { language, url, query } = visit
  const texts = CUSTOMERS[language]
  const { data, next } = await visit.operate<ShownCharge[]>('listCharges', {
    query: {
      customerId,
      limit: String(CHARGES_SHOWN),
      ...(query.after ? { after: query.after } : {}),
    },
  })
  const list = table(
    texts.charges,
    [
      {
        title: texts.charge,
        kind: 'main',
        of: ({ id, createdAt }) =>
          html`<a href="${url(`/charges/${id}`)}">${moment(createdAt)}</a>`,
      },
      { title: texts.description, of: ({ description }) => description ?? '–' },
      { title: texts.state, of: (charge) => chargePill(charge, language) },
      {
        title: texts.paidAt,
        of: ({ paymentDate }) => (paymentDate ? moment(paymentDate) : '–'),
      },
      { title: texts.amount, kind: 'number', of: ({ total }) => money(total) },
    ],
    data,
    nothing(language, texts.noCharges),
  )
  return card(texts.charges, html`${list}${pager(visit, next)}`)
}
