import type { FastifyReply } from 'fastify'
import type { Billing } from '../../core/billings/rules.ts'
import { listOfRecurrence, listOpen, listOpenOfMany } from '../../core/billings/store.ts'
import { checkoutUrl } from '../../core/charges/addresses.ts'
import { type Charge, asOf as chargeAsOf } from '../../core/charges/rules.ts'
import { findMany } from '../../core/charges/store.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import type { FoundIds } from '../../core/customers/search.ts'
import { find as findCustomer } from '../../core/customers/store.ts'
import { readSubscriptionFigures } from '../../core/figures/figures.ts'
import { findMessage } from '../../core/messages/commands.ts'
import { isPlayable } from '../../core/payments/rules.ts'
import { find as findProduct } from '../../core/products/store.ts'
import {
  asOf,
  END_REASONS,
  type EndReason,
  type Recurrence,
  upcomingDebits,
} from '../../core/recurrences/rules.ts'
import {
  countStates,
  find,
  type RecurrenceCount,
  type RecurrenceFilter,
  search,
  setEndReason,
} from '../../core/recurrences/store.ts'
import { subscriptionWord, whatHappened } from '../../core/recurrences/words.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { formatDay, formatMoment, type LocalDate, localDateOf } from '../../pix/local-time.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { bankPath, facts } from '../parts.ts'
import { SUBSCRIPTION } from '../subscription-texts.ts'
import { recordFile, sendCsv } from './csv.ts'
import { searchCustomers } from './customers.ts'
import { fileLink, slices } from './finance-parts.ts'
import { backLink, confirmation, type FormFault, tabs, tryForm } from './form-parts.ts'
import {
  type Count,
  chosenChips,
  countOf,
  countUpTo,
  cutNotice,
  findForm,
  listCard,
  listHead,
  MAX_COUNTED,
  toList,
} from './list-parts.ts'
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
  rowLink,
  table,
  wholeTaxId,
} from './parts.ts'
import { makeLink } from './record-pages.ts'
import { REPORTS } from './reports-texts.ts'
import { savedViews, viewsNotice } from './saved-views.ts'
import { SHARE, sharePart } from './share.ts'
import { chargePill, subscriptionPill } from './states.ts'
import { subscriptionWriter } from './subscription-file.ts'
import { type Choice, SUBSCRIPTIONS } from './subscriptions-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50

const FILTERS: Record<Choice, Pick<RecurrenceFilter, 'isTemplate' | 'authStatus' | 'late'>> = {
  all: { isTemplate: false, authStatus: null },
  approved: { isTemplate: false, authStatus: 'APPROVED' },
  overdue: { isTemplate: false, authStatus: null, late: 'overdue' },
  retrying: { isTemplate: false, authStatus: null, late: 'retrying' },
  created: { isTemplate: false, authStatus: 'CREATED' },
  rejected: { isTemplate: false, authStatus: 'REJECTED' },
  expired: { isTemplate: false, authStatus: 'EXPIRED' },
  canceled: { isTemplate: false, authStatus: 'CANCELED' },
  links: { isTemplate: true, authStatus: null },
}

const choiceOf = (text: string | undefined): Choice =>
  Object.hasOwn(FILTERS, text ?? '') ? (text as Choice) : 'all'

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, query, app, company } = visit
  const texts = SUBSCRIPTIONS[language]
  const choice = choiceOf(query.state)
  const text = query.q?.trim() ?? ''
  const payers = await payersIn(visit)
  const filter = { ...FILTERS[choice], customerId: null, customerIds: payers?.ids ?? null }
  const after = query.after ? fromPublic('rec', query.after) : null
  const now = app.clock.now()
  const page = { limit: PAGE_SIZE + 1, after }
  const [found, counts, mrr] = await Promise.all([
    search(app.db, company.id, filter, page, now),
    countChoices(visit),
    visit.can('balance:read') ? monthlyOf(visit, now) : null,
  ])
  const shown = found.slice(0, PAGE_SIZE).map((one) => asOf(one, now))
  const next = found.length > PAGE_SIZE ? toPublic('rec', shown.at(-1)!.id) : null
  const ids = shown.map(({ id }) => id)
  const open = await listOpenOfMany(app.db, company.id, ids)
  const make = visit.can('payments:write') && makeLink(visit, '/new/subscription', texts.make)
  const file = fileLink(visit, '/subscriptions.csv', urlFilters(visit), texts.csv)
  const none = choice === 'all' && !text ? nothing(language, texts.none) : notFound(texts.noneFound)
  return visit.send({
    title: texts.title,
    here: 'subscriptions',
    body: html`${toList(visit)}${heading(texts.title, html`${file}${make}`)}${doneNotice(visit, texts.done)}${viewsNotice(visit)}
${mrr !== null && mrr > 0 && html`<p><span class="soft">${REPORTS[language].mrr}</span> <strong>${money(mrr)}</strong></p>`}
${listHead(
  searchForm(visit, text),
  choiceTabs(visit, choice, counts),
  html`<div class="chip-row">${chosenChips(visit, [], text ? visit.url('/subscriptions') : null)}${await savedViews(visit, 'subscriptions', urlFilters(visit))}</div>`,
)}
${listCard(html`${payers?.isCut && cutNotice(visit, MAX_PAYERS)}${shown.length === 0 ? none : listOf(visit, shown, open)}${pager(visit, next)}`)}`,
  })
}

/** The figure of reports, for whoever may see those. */
async function monthlyOf({ app, company }: Visit, now: Date): Promise<number> {
  return (await readSubscriptionFigures(app, company, { from: now, to: now })).mrr
}

/** So many payers of a name are looked for. */
const MAX_PAYERS = 100

/** The payers whom the search box names. Null: it is empty. */
async function payersIn(visit: Visit): Promise<FoundIds | null> {
  const text = visit.query.q?.trim() ?? ''
  if (!text) return null
  const { data, isCut = false } = await searchCustomers(visit, text, { limit: MAX_PAYERS })
  return { ids: data.map(({ id }) => fromPublic('clnt', id)!), isCut }
}

const urlFilters = ({ query: { q, state } }: Visit): Record<string, string> => ({
  ...(q ? { q } : {}),
  ...(state ? { state } : {}),
})

/** How many subscriptions each tab has, whatever is searched for. */
async function countChoices({ app, company }: Visit): Promise<Record<Choice, Count>> {
  const { states, overdue, retrying } = await countStates(
    app.db,
    company.id,
    MAX_COUNTED + 1,
    app.clock.now(),
  )
  const of = (status: RecurrenceCount['authStatus']) =>
    states.find(({ authStatus }) => authStatus === status)?.count ?? 0
  const all = states.filter(({ authStatus }) => authStatus !== null)
  return {
    all: countUpTo(all.reduce((sum, { count }) => sum + count, 0)),
    approved: countUpTo(of('APPROVED')),
    overdue: countUpTo(overdue),
    retrying: countUpTo(retrying),
    created: countUpTo(of('CREATED')),
    rejected: countUpTo(of('REJECTED')),
    expired: countUpTo(of('EXPIRED')),
    canceled: countUpTo(of('CANCELED')),
    links: countUpTo(of(null)),
  }
}

function choiceTabs(visit: Visit, choice: Choice, counts: Record<Choice, Count>): Html {
  const texts = SUBSCRIPTIONS[visit.language]
  const { q } = urlFilters(visit)
  const pathOf = (name: Choice) => {
    const search = new URLSearchParams({ ...(q && { q }), ...(name !== 'all' && { state: name }) })
    return `/subscriptions${search.size > 0 ? `?${search}` : ''}`
  }
  const all = (Object.keys(FILTERS) as Choice[]).map((name) => ({
    label: texts.choices[name],
    // A search finds fewer than the tab has.
    ...(q ? {} : { count: countOf(counts[name]) }),
    path: pathOf(name),
    isHere: name === choice,
  }))
  return tabs(visit, texts.filters, all)
}

function searchForm(visit: Visit, text: string): Html {
  const texts = SUBSCRIPTIONS[visit.language]
  const { state } = visit.query
  const box = {
    name: 'q',
    label: texts.search,
    hint: texts.searchHint,
    value: text,
    find: texts.search,
  }
  const kept: Record<string, string> = state ? { state } : {}
  return findForm(visit, visit.url('/subscriptions'), {
    box,
    kept,
    fields: [],
    inUse: 0,
    isOpen: false,
  })
}

/** So many lines of a file are written before other requests are served. */
const SLICE = 100

/** All subscriptions or links that match, the newest first. */
async function sendList(visit: Visit): Promise<FastifyReply> {
  const { app, company } = visit
  const choice = choiceOf(visit.query.state)
  const now = app.clock.now()
  const payers = await payersIn(visit)
  // The list says what to do. A file would look as if it had all.
  if (payers?.isCut)
    return visit.redirect(`/subscriptions?${new URLSearchParams(urlFilters(visit))}`)
  const filter = { ...FILTERS[choice], customerId: null, customerIds: payers?.ids ?? null }
  const read = (after: Uuid | null) =>
    search(app.db, company.id, filter, { limit: SLICE, after }, now)
  const { heading, line } = subscriptionWriter(app.vault, visit.can('payments:write'))
  async function* pieces() {
    yield heading
    for await (const part of slices(SLICE, read, ({ id }: Recurrence) => id)) {
      yield part.map((one) => line(asOf(one, now))).join('')
    }
  }
  const { q } = urlFilters(visit)
  const chosen = { ...(choice !== 'all' && { state: choice }), ...(q && { q }) }
  await recordFile(visit, 'subscriptions', chosen)
  return sendCsv(visit, `assinaturas-${localDateOf(now)}.csv`, pieces())
}

function listOf({ language, url, app }: Visit, shown: Recurrence[], open: Billing[]): Html {
  const texts = SUBSCRIPTIONS[language]
  const today = localDateOf(app.clock.now())
  return table(
    texts.title,
    [
      {
        title: texts.customer,
        kind: 'main',
        of: ({ id, payer, productName }) =>
          rowLink(
            url(`/subscriptions/${toPublic('rec', id)}`),
            payer?.name ?? texts.anybody,
            productName,
          ),
      },
      { title: texts.state, kind: 'state', of: (one) => subscriptionPill(one, language) },
      { title: texts.next, kind: 'moment', of: (one) => nextOf(one, open, today, texts.retrying) },
      { title: texts.madeAt, of: ({ createdAt }) => moment(createdAt) },
      {
        title: texts.value,
        kind: 'number',
        of: ({ value, frequency }) =>
          html`${money(value)} <span class="soft small wide-only">${SUBSCRIPTION[language].each[frequency]}</span>`,
      },
    ],
    shown,
  )
}

/** The day of the next debit, and whether the bank tries one again. */
function nextOf(
  recurrence: Recurrence,
  billings: Billing[],
  today: LocalDate,
  retrying: string,
): Shown {
  if (recurrence.isTemplate || recurrence.authStatus !== 'APPROVED') return '–'
  const open = billings.filter(({ recurrenceId }) => recurrenceId === recurrence.id)
  const [debit] = upcomingDebits(recurrence, { agreement: recurrence, open }, today, 1)
  return html`<span><span class="nowrap">${formatDay(debit!.on)}</span>${debit!.isRetry && html` ${pill(retrying, 'warn')}`}</span>`
}

async function findOne({ app, company, params }: Visit): Promise<Recurrence> {
  const id = fromPublic('rec', params.id ?? '')
  const found = id && (await find(app.db, company.id, id))
  if (!found) throw problem('recurrence_not_found')
  return asOf(found, app.clock.now())
}

const showOne = async (visit: Visit): Promise<FastifyReply> =>
  showSubscriptionPage(visit, await findOne(visit))

const askToCancel = async (visit: Visit): Promise<FastifyReply> =>
  sendQuestion(visit, await findOne(visit), null)

function sendQuestion(visit: Visit, recurrence: Recurrence, fault: FormFault | null): FastifyReply {
  const texts = SUBSCRIPTIONS[visit.language]
  const { isTemplate, id } = recurrence
  const path = `/subscriptions/${toPublic('rec', id)}`
  const title = isTemplate ? texts.closeTitle : texts.cancelTitle
  const options = END_REASONS.map((value) => ({ value, label: texts.reasons[value] }))
  const reason = fieldsOf([
    {
      name: 'reason',
      label: texts.reason,
      value: visit.form.reason ?? '',
      fault: null,
      wrong: '',
      isFilledIn: true,
      options: [{ value: '', label: texts.noReason }, ...options],
    },
  ])
  const body = confirmation(visit, {
    title,
    text: isTemplate ? texts.closeText : texts.cancelText,
    action: `${path}/cancel`,
    button: isTemplate ? texts.closeLink : texts.cancel,
    back: path,
    fields: html`${fault?.notice(visit.language)}${!isTemplate && reason}`,
  })
  const status = fault ? { status: fault.problem.status } : {}
  return visit.send({ title, here: 'subscriptions', body, ...status })
}

const isReason = (text: string | undefined): text is EndReason =>
  END_REASONS.includes(text as EndReason)

async function cancel(visit: Visit): Promise<FastifyReply> {
  const { app, company, form } = visit
  const recurrence = await findOne(visit)
  const id = toPublic('rec', recurrence.id)
  const { fault } = await tryForm(() =>
    visit.operate('cancelRecurrence', { params: { id }, once: form.once }),
  )
  if (fault) return sendQuestion(visit, recurrence, fault)
  if (isReason(form.reason)) await setEndReason(app.db, company.id, recurrence.id, form.reason)
  return visit.redirect(`/subscriptions/${id}`, 'canceled')
}

const PATH = '/subscriptions/:id'

export const subscriptionsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/subscriptions', needs: 'payments:read', handle: showList },
  { method: 'GET', path: '/subscriptions.csv', needs: 'payments:read', handle: sendList },
  { method: 'GET', path: PATH, needs: 'payments:read', handle: showOne },
  { method: 'GET', path: `${PATH}/cancel`, needs: 'payments:write', handle: askToCancel },
  { method: 'POST', path: `${PATH}/cancel`, needs: 'payments:write', handle: cancel },
]

const CHARGES_SHOWN = 20
const NEXT_SHOWN = 3
const FOLLOWERS_SHOWN = 20

/** The page of a subscription, or of a link through which payers subscribe. */
async function showSubscriptionPage(visit: Visit, recurrence: Recurrence): Promise<FastifyReply> {
  const { language, url } = visit
  const texts = SUBSCRIPTIONS[language]
  const { isTemplate, status, payer, productName } = recurrence
  const title = isTemplate ? productName : `${payer!.name} · ${productName}`
  const path = `/subscriptions/${toPublic('rec', recurrence.id)}`
  const actions =
    visit.can('payments:write') &&
    status === 'OPEN' &&
    html`<a class="button quiet danger slim" href="${url(`${path}/cancel`)}">${isTemplate ? texts.closeLink : texts.cancel}</a>`
  const details = isTemplate ? await followers(visit, recurrence) : await charges(visit, recurrence)
  return visit.send({
    title,
    here: 'subscriptions',
    body: html`${backLink(visit, '/subscriptions', texts.title)}${heading(title, actions)}${doneNotice(visit, texts.done)}
${await shareCard(visit, recurrence)}<div class="columns">${await agreementCard(visit, recurrence)}${await nextCard(visit, recurrence)}</div>${details}`,
    ...SHARE,
  })
}

async function agreementCard(visit: Visit, recurrence: Recurrence): Promise<Html> {
  const { language } = visit
  const texts = SUBSCRIPTIONS[language]
  const { authStatus, decidedAt, expiresAt, endReason, externalId } = recurrence
  const each = SUBSCRIPTION[language].each[recurrence.frequency]
  return card(
    texts.agreement,
    html`<p>${subscriptionPill(recurrence, language)}</p><p>${texts.explained[subscriptionWord(recurrence)]}</p>
${facts([
  [texts.value, html`${money(recurrence.value)} ${each}`, 'sum'],
  [texts.product, await productOf(visit, recurrence)],
  [texts.customer, await customerOf(visit, recurrence)],
  [texts.dayDue, texts.days(recurrence.dayDue)],
  [texts.madeAt, moment(recurrence.createdAt)],
  authStatus === 'CREATED' && expiresAt !== null && [texts.expiresAt, moment(expiresAt)],
  decidedAt !== null && [
    authStatus === 'APPROVED' ? texts.since : texts.endedAt,
    moment(decidedAt),
  ],
  endReason !== null && [texts.reason, texts.reasons[endReason]],
  externalId !== null && [texts.bankId, idText(externalId, texts.bankId, language)],
  ['ID', idText(toPublic('rec', recurrence.id), 'ID', language)],
])}`,
  )
}

/** A link, unless the product was deleted. */
async function productOf(visit: Visit, { productId, productName }: Recurrence): Promise<Html> {
  const { app, company, url } = visit
  if (!(await findProduct(app.db, company.id, productId))) return html`${productName}`
  return html`<a href="${url(`/products/${toPublic('prod', productId)}`)}">${productName}</a>`
}

/** A link, unless the customer was deleted. Of a payer who was erased nothing is left. */
async function customerOf(visit: Visit, { customerId, payer }: Recurrence): Promise<Html> {
  const { language, url, app, company } = visit
  if (!payer || !customerId) return html`${SUBSCRIPTIONS[language].anybody}`
  const { taxId } = openPerson(app.vault, company.id, payer)
  if (taxId === '') return html`${payer.name}`
  const customer = await findCustomer(app.db, app.vault, company.id, customerId)
  const path = url(`/customers/${toPublic('clnt', customerId)}`)
  const name = customer ? html`<a href="${path}">${payer.name}</a>` : payer.name
  return html`${name}<br><span class="soft small">${wholeTaxId(visit, taxId)}</span>`
}

/** The link for the payer, while there is something to do with it. */
async function shareCard(visit: Visit, recurrence: Recurrence): Promise<Html | null> {
  const { language, app, company, can } = visit
  const texts = SUBSCRIPTIONS[language]
  const word = subscriptionWord(recurrence)
  if (word !== 'link' && word !== 'created') return null
  const address = checkoutUrl(app, recurrence)
  const { brCode, payer, productName, value, expiresAt } = recurrence
  const about = {
    company: company.name,
    payerName: payer?.name ?? null,
    product: productName,
    amount: value,
    until: expiresAt && formatMoment(expiresAt),
    dueDate: null,
  }
  const known = payer && can('payments:write') ? openPerson(app.vault, company.id, payer) : null
  const bank =
    brCode !== null &&
    isPlayable(app.config, company) &&
    html`<a class="button quiet" href="${bankPath(brCode)}" target="_blank" rel="noopener">${texts.bank}</a>`
  const page = html`<a class="button quiet" href="${new URL(address).pathname}" target="_blank" rel="noopener">${texts.openPage}</a>`
  return sharePart(visit, {
    address,
    title: `${company.name}: ${productName}`,
    amount: formatReais(value),
    text: await findMessage(app, company, 'subscription', about, address),
    more: html`${page}${bank}`,
    ...(known && { to: { phone: known.phone, email: known.email } }),
  })
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
          rowLink(
            url(`/charges/${toPublic('charge', charge.id)}`),
            texts.number(billing.cycle + 1),
          ),
      },
      {
        title: texts.due,
        kind: 'moment',
        of: ({ billing }) => html`<span class="nowrap">${formatDay(billing.dueOn)}</span>`,
      },
      { title: texts.state, kind: 'state', of: ({ charge }) => chargePill(charge, language) },
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
