import type { Static } from 'typebox'
import { type CustomerSum, sumByCustomer, sumOfCustomer } from '../../core/charges/customer-sums.ts'
import { searchCharges } from '../../core/charges/search.ts'
import type { ChargeView } from '../../core/charges/view.ts'
import { type Company, checksTaxIds } from '../../core/companies/rules.ts'
import { findPeople } from '../../core/customers/search.ts'
import { find, findByEmailOrIds } from '../../core/customers/store.ts'
import { type CustomerView, showCustomer } from '../../core/customers/view.ts'
import { asOf, type Recurrence } from '../../core/recurrences/rules.ts'
import { search as searchRecurrences } from '../../core/recurrences/store.ts'
import { isStopped } from '../../core/reminders/stops.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { EMAIL_FORM } from '../../lib/mailbox.ts'
import { formatDay, localDateOf } from '../../pix/local-time.ts'
import { plainTaxId } from '../../pix/tax-id.ts'
import { cleanTyped } from '../../pix/written.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import type { Form } from '../site.ts'
import { SUBSCRIPTION } from '../subscription-texts.ts'
import { searching } from './charge-filters.ts'
import { CUSTOMERS, type CustomerField } from './customers-texts.ts'
import { eraseLink, erasePayerRoutes } from './erase-payer.ts'
import { fileLink } from './finance-parts.ts'
import type { FormFault } from './form-parts.ts'
import { type FieldPlan, fillFields, textOf } from './form-parts.ts'
import { chosenChips, cutNotice, findForm, listCard, listHead, toList } from './list-parts.ts'
import { notesCard, notesRoutes } from './notes.ts'
import {
  type Column,
  card,
  idText,
  listedTaxId,
  moment,
  money,
  notFound,
  nothing,
  pager,
  pill,
  rowLink,
  table,
  wholeEmail,
  wholePhone,
  wholeTaxId,
} from './parts.ts'
import { catalogRoutes } from './record-pages.ts'
import { savedViews, viewsNotice } from './saved-views.ts'
import { chargePill, subscriptionPill } from './states.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50

async function list(visit: Visit): Promise<Html> {
  const { language, query, url } = visit
  const texts = CUSTOMERS[language]
  const { fields } = texts
  const text = query.q?.trim() ?? ''
  const page = { limit: PAGE_SIZE, after: query.after }
  const { data, next, isCut } = await searchCustomers(visit, text, page)
  const sums = visit.can('payments:read') ? await sumsOf(visit, data) : null
  const found = table(
    texts.title,
    [
      {
        title: fields.name.label,
        kind: 'main',
        of: ({ id, name }) => rowLink(url(`/customers/${id}`), name),
      },
      {
        title: fields.taxId.label,
        kind: 'state',
        of: ({ taxId, status }) =>
          html`<span class="nowrap">${listedTaxId(plainTaxId(taxId))}</span>${status !== 'ACTIVE' && html` ${pill(texts.statuses[status], 'calm')}`}`,
      },
      { title: fields.email.label, of: ({ email }) => (email ? wholeEmail(visit, email) : '–') },
      ...(sums ? paidColumns(visit, sums) : []),
    ],
    data,
    text ? notFound(texts.noneFound(text)) : nothing(language, texts.none),
  )
  return html`${toList(visit)}${viewsNotice(visit)}${await headOf(visit, text)}${listCard(
    html`${found}${isCut && cutNotice(visit, PAGE_SIZE)}${pager(visit, next)}`,
  )}`
}

/** What each customer of the page has paid. */
async function sumsOf({ app, company }: Visit, customers: ShownCustomer[]) {
  const ids = customers.map(({ id }) => fromPublic('clnt', id)!)
  const sums = await sumByCustomer(app.db, company.id, ids)
  return new Map(sums.map((sum) => [toPublic('clnt', sum.customerId), sum]))
}

function paidColumns({ language }: Visit, sums: Map<string, CustomerSum>): Column<ShownCustomer>[] {
  const texts = CUSTOMERS[language]
  const paidOf = ({ paid, isMore }: CustomerSum) =>
    isMore ? html`<span title="${texts.newestOnly}">${money(paid)}+</span>` : money(paid)
  return [
    {
      title: texts.lastPaid,
      kind: 'moment',
      of: ({ id }) => {
        const at = sums.get(id)?.lastPaidAt
        return at ? formatDay(localDateOf(at)) : '–'
      },
    },
    {
      title: texts.paid,
      kind: 'number',
      of: ({ id }) => {
        const sum = sums.get(id)
        return sum && sum.paid > 0 ? paidOf(sum) : '–'
      },
    },
  ]
}

/** The search, the way back to all customers, and the person's views. */
async function headOf(visit: Visit, text: string): Promise<Html> {
  const { language, url } = visit
  const texts = CUSTOMERS[language]
  const box = {
    name: 'q',
    label: texts.search,
    hint: texts.search,
    value: text,
    find: texts.searchButton,
  }
  const filters: Record<string, string> = text ? { q: text } : {}
  return listHead(
    findForm(visit, url('/customers'), { box, kept: {}, fields: [], inUse: 0, isOpen: false }),
    html`<div class="chip-row">${chosenChips(visit, [], text ? url('/customers') : null)}${await savedViews(visit, 'customers', filters)}</div>`,
  )
}

type ShownCharge = Static<typeof ChargeView>

const CHARGES_SHOWN = 20
const SUBSCRIPTIONS_SHOWN = 20

/** The page of a customer: who they are, and everything they paid. */
async function show(visit: Visit, customer: ShownCustomer) {
  const { language, url } = visit
  const texts = CUSTOMERS[language]
  const { id } = customer
  const actions = html`${
    visit.can('payments:write') &&
    html`<a class="button slim" href="${url(`/new/charge?customer=${id}`)}">${texts.chargeThem}</a><a class="button quiet slim" href="${url(`/new/link?customer=${id}`)}">${texts.sendLink}</a>`
  }`
  const paid = visit.can('payments:read') && (await paidBy(visit, id))
  const wantsNone = await isStoppedFor(visit, id)
  const body = html`<div class="columns">${card(texts.details, details(visit, customer, wantsNone))}${paid}</div>
${await notesCard(visit, { recordType: 'customer', id })}
${visit.can('payments:read') && (await chargesOf(visit, id))}`
  return { body, actions, lastActions: eraseLink(visit, id) }
}

/** Whether the customer wants no reminders. Who is shown may have a masked address. */
async function isStoppedFor({ app, company }: Visit, id: string): Promise<boolean> {
  const customer = await find(app.db, app.vault, company.id, fromPublic('clnt', id)!)
  return customer?.email !== undefined && isStopped(app, company.id, customer.email)
}

function details(visit: Visit, customer: ShownCustomer, wantsNoReminders: boolean): Html {
  const { language } = visit
  const texts = CUSTOMERS[language]
  const { fields } = texts
  const { email, phone, status, createdAt } = customer
  const street = [customer.address, customer.number, customer.line1].filter(Boolean).join(', ')
  const isWhole = visit.can('payments:write')
  const address = isWhole ? [street, customer.district, customer.postalCode].filter(Boolean) : []
  return html`${facts([
    [fields.taxId.label, wholeTaxId(visit, plainTaxId(customer.taxId))],
    email !== undefined && [fields.email.label, wholeEmail(visit, email)],
    wantsNoReminders && [texts.reminders, texts.noReminders],
    phone !== undefined && [texts.phone, wholePhone(visit, phone)],
    address.length > 0 && [
      texts.address,
      address.map((line, i) => html`${i > 0 && html`<br>`}${line}`),
    ],
    [fields.status.label, pill(texts.statuses[status], status === 'ACTIVE' ? 'good' : 'calm')],
    [texts.since, moment(createdAt)],
    ['ID', idText(customer.id, 'ID', language)],
  ])}${!isWhole && html`<p class="hint">${texts.masked}</p>`}`
}

/** What the customer has paid, and their subscriptions. */
async function paidBy(visit: Visit, id: string): Promise<Html> {
  const { language, app, company } = visit
  const texts = CUSTOMERS[language]
  const [{ count, paid, isMore }, subscriptions] = await Promise.all([
    sumOfCustomer(app.db, company.id, fromPublic('clnt', id)!),
    subscriptionsOf(visit, id),
  ])
  const note = texts.paidCount(count, isMore)
  const figure = html`<div class="figure"><span class="soft">${texts.paid}</span><strong>${money(paid)}</strong><span class="soft small">${note}</span></div>`
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
        of: ({ id, createdAt }) => rowLink(url(`/charges/${id}`), moment(createdAt)),
      },
      { title: texts.description, of: ({ description }) => description ?? '–' },
      { title: texts.state, kind: 'state', of: (charge) => chargePill(charge, language) },
      {
        title: texts.paidAt,
        kind: 'moment',
        of: ({ paymentDate }) => (paymentDate ? moment(paymentDate) : '–'),
      },
      { title: texts.amount, kind: 'number', of: ({ total }) => money(total) },
    ],
    data,
    nothing(language, texts.noCharges),
  )
  return card(texts.charges, html`${list}${pager(visit, next)}`)
}

/** The fields by which a payer is known. */
export const personPlans = (company: Company): FieldPlan<CustomerField>[] => [
  { name: 'name', check: 'filled', autocomplete: 'off' },
  {
    name: 'taxId',
    check: checksTaxIds(company) ? 'tax-id' : 'tax-id-shape',
    width: 'half',
    autocomplete: 'off',
    maxlength: 20,
  },
  { name: 'phone', check: 'phone', width: 'half', autocomplete: 'off', inputmode: 'tel' },
  { name: 'email', check: 'email', autocomplete: 'off', inputmode: 'email' },
]

const ADDRESS: FieldPlan<CustomerField>[] = [
  {
    name: 'postalCode',
    check: 'postal-code',
    width: 'third',
    inputmode: 'numeric',
    maxlength: 9,
    isOptional: true,
  },
  { name: 'address', width: 'most', isOptional: true },
  { name: 'number', width: 'third', isOptional: true },
  { name: 'line1', width: 'most', isOptional: true },
  { name: 'district', isOptional: true },
]

/** The fields of a customer, with what was typed. */
function customerFields(
  typed: Form,
  fault: FormFault | null,
  language: Language,
  { company, customer }: { company: Company; customer: ShownCustomer | null },
): Html {
  const texts = CUSTOMERS[language]
  const filled = (plans: FieldPlan<CustomerField>[]) =>
    fieldsOf(fillFields(plans, texts.fields, typed, fault, language))
  // Whom a charge has made may have neither address nor phone, and need not get one.
  const person = personPlans(company).map((plan) => {
    const mayBeMissing = plan.name === 'email' || plan.name === 'phone'
    const isOptional = mayBeMissing && customer !== null && customer[plan.name] === undefined
    return isOptional ? { ...plan, isOptional } : plan
  })
  const { ACTIVE, INACTIVE } = texts.statuses
  const status: FieldPlan<CustomerField> = {
    name: 'status',
    options: [
      { value: 'ACTIVE', label: ACTIVE },
      { value: 'INACTIVE', label: INACTIVE },
    ],
  }
  const isOpen = ADDRESS.some(({ name }) => typed[name] || fault?.isWrong(name))
  return html`${filled(customer ? [...person, status] : person)}
<details class="more-fields"${isOpen && html` open`}><summary>${texts.address}</summary><div class="card-form"><p class="hint">${texts.addressHint}</p>${filled(ADDRESS)}</div></details>`
}

const PRIVATE = ['email', 'phone', 'postalCode', 'address', 'number', 'line1', 'district'] as const

/** What the form of a known customer has at first. */
function typedCustomer(customer: ShownCustomer): Form {
  const { name, taxId, status } = customer
  const typed: Form = { name, taxId, status }
  for (const field of PRIVATE) typed[field] = customer[field] ?? ''
  return typed
}

/** What the form says of a new customer. */
export function newCustomerBody(form: Form): object {
  const body: Record<string, string> = {
    name: textOf(form, 'name') ?? '',
    taxId: textOf(form, 'taxId') ?? '',
    email: textOf(form, 'email') ?? '',
    phone: textOf(form, 'phone') ?? '',
    status: 'ACTIVE',
  }
  for (const { name } of ADDRESS) {
    const text = textOf(form, name)
    if (text) body[name] = text
  }
  return body
}

/** What the form changes of a customer. An empty field of an address removes that part. */
function changedCustomerBody(form: Form, customer: ShownCustomer): object {
  const body: Record<string, string | null> = {
    id: customer.id,
    name: textOf(form, 'name') ?? '',
    taxId: textOf(form, 'taxId') ?? '',
    status: form.status ?? '',
  }
  for (const name of ['email', 'phone'] as const) {
    const text = textOf(form, name)
    if (text !== undefined || customer[name] !== undefined) body[name] = text ?? ''
  }
  for (const { name } of ADDRESS) body[name] = textOf(form, name) ?? null
  return body
}

export type ShownCustomer = Static<typeof CustomerView>

/** So many of an address's newest charges are looked through for customers. */
const CHARGES_READ = 100

type FoundCustomers = {
  data: ShownCustomer[]
  next: string | null
  /** Whether there are more than are shown. */
  isCut?: boolean
}

/**
 * The customers whom a text means: by name, phone, tax id or e-mail address, or a part of one of
 * these. An empty text means all, page by page.
 */
export async function searchCustomers(
  visit: Visit,
  typed: string,
  page: { limit: number; after?: string | undefined },
): Promise<FoundCustomers> {
  const { limit, after } = page
  const text = cleanTyped(typed)
  if (text === '') {
    const query = { limit: String(limit), ...(after ? { after } : {}) }
    return visit.operate<ShownCustomer[]>('listCustomers', { query })
  }
  const withAddress = EMAIL_FORM.test(text) ? await findByEmail(visit, text, limit + 1) : []
  if (withAddress.length > 0) {
    return {
      data: withAddress.slice(0, limit),
      next: null,
      isCut: withAddress.length > limit,
    }
  }
  const { customers, isCut } = await findPeople(searching(visit), text, limit)
  return { data: customers.map(showCustomer), next: null, isCut }
}

async function findByEmail(visit: Visit, email: string, limit: number): Promise<ShownCustomer[]> {
  const where = searching(visit)
  const { db, vault, companyId } = where
  const charges = await searchCharges(where, { email }, { limit: CHARGES_READ, after: null })
  const ids = charges.flatMap(({ customerId }) => customerId ?? [])
  const wanted = { email, ids: [...new Set(ids)], limit }
  const found = await findByEmailOrIds(db, vault, companyId, wanted)
  return found.map(showCustomer)
}

const requireCustomer = (visit: Visit) =>
  visit.operate('getCustomer', { params: { id: visit.params.id! } })

const pages = catalogRoutes<ShownCustomer>({
  here: 'customers',
  find: 'getCustomer',
  make: 'createCustomer',
  change: 'changeCustomer',
  remove: 'deleteCustomer',
  texts: CUSTOMERS,
  listActions: (visit) => {
    const q = visit.query.q?.trim()
    return fileLink(visit, '/customers.csv', q ? { q } : {}, CUSTOMERS[visit.language].csv)
  },
  list,
  show,
  typed: (_visit, customer) => (customer ? typedCustomer(customer) : {}),
  fields: ({ language, company }, typed, fault, customer) =>
    customerFields(typed, fault, language, { company, customer }),
  body: (form, customer) =>
    customer ? changedCustomerBody(form, customer) : newCustomerBody(form),
})

export const customersRoutes: DashboardRoute[] = [
  ...pages,
  ...notesRoutes('customer', requireCustomer),
  ...erasePayerRoutes,
]
