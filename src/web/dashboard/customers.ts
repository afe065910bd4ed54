import { plainTaxId } from '../../pix/tax-id.ts'
import { field } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { showCustomer } from './customer.ts'
import {
  changedCustomerBody,
  customerFields,
  newCustomerBody,
  typedCustomer,
} from './customers-form.ts'
import { type ShownCustomer, searchCustomers } from './customers-search.ts'
import { CUSTOMERS } from './customers-texts.ts'
import { listedTaxId } from './masks.ts'
import { card, moment, notFound, nothing, pager, pill, table } from './parts.ts'
import { catalogRoutes } from './record-pages.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50

async function list(visit: Visit): Promise<Html> {
  const { language, query, url } = visit
  const texts = CUSTOMERS[language]
  const { fields } = texts
  const text = query.q?.trim() ?? ''
  const page = { limit: PAGE_SIZE, after: query.after }
  const { data, next, isCut } = await searchCustomers(visit, text, page)
  const found = table(
    texts.title,
    [
      {
        title: fields.name.label,
        kind: 'main',
        of: ({ id, name }) => html`<a href="${url(`/customers/${id}`)}">${name}</a>`,
      },
      {
        title: fields.taxId.label,
        of: ({ taxId }) => html`<span class="nowrap">${listedTaxId(plainTaxId(taxId))}</span>`,
      },
      { title: fields.email.label, of: ({ email }) => email ?? '–' },
      {
        title: fields.status.label,
        of: ({ status }) => pill(texts.statuses[status], status === 'ACTIVE' ? 'good' : 'calm'),
      },
      { title: texts.since, of: ({ createdAt }) => moment(createdAt) },
    ],
    data,
    text ? notFound(texts.noneFound(text)) : nothing(language, texts.none),
  )
  return card(
    null,
    html`${searchForm(visit, text)}${found}${isCut && html`<p class="soft">${texts.cut(PAGE_SIZE)}</p>`}${pager(visit, next)}`,
  )
}

function searchForm({ language, url }: Visit, text: string): Html {
  const texts = CUSTOMERS[language]
  const search = { name: 'q', label: texts.search, value: text, fault: null, wrong: '' }
  return html`<form method="get" action="${url('/customers')}" class="filters" role="search"><div class="search">${field({ ...search, isFilledIn: true }, false)}</div><button class="button quiet">${icon('search')}<span>${texts.searchButton}</span></button>${text && html`<a class="button quiet" href="${url('/customers')}">${texts.clear}</a>`}</form>`
}

export const customersRoutes: DashboardRoute[] = catalogRoutes<ShownCustomer>({
  here: 'customers',
  find: 'getCustomer',
  make: 'createCustomer',
  change: 'changeCustomer',
  remove: 'deleteCustomer',
  texts: CUSTOMERS,
  list,
  show: showCustomer,
  typed: (_visit, customer) => (customer ? typedCustomer(customer) : {}),
  fields: ({ language, company }, typed, fault, customer) =>
    customerFields(typed, fault, language, { company, customer }),
  body: (form, customer) =>
    customer ? changedCustomerBody(form, customer) : newCustomerBody(form),
})
