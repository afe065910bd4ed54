import type { FastifyReply } from 'fastify'
import { plainTaxId } from '../../pix/tax-id.ts'
import { field } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import type { Form } from '../site.ts'
import { showCustomerPage } from './customer.ts'
import {
  changedCustomerBody,
  customerFields,
  newCustomerBody,
  typedCustomer,
} from './customers-form.ts'
import { type ShownCustomer, searchCustomers } from './customers-search.ts'
import { CUSTOMERS } from './customers-texts.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { backLink, confirmation, formButtons } from './form-parts.ts'
import { listedTaxId } from './masks.ts'
import {
  card,
  doneNotice,
  heading,
  moment,
  notFound,
  nothing,
  pager,
  pill,
  table,
} from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, query, url } = visit
  const texts = CUSTOMERS[language]
  const text = query.q?.trim() ?? ''
  const { data, next, isCut } = await searchCustomers(visit, text, {
    limit: PAGE_SIZE,
    after: query.after,
  })
  const { fields } = texts
  const list = table(
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
  )
  const make =
    visit.can('catalog:write') &&
    html`<a class="button slim" href="${url('/customers/new')}">${icon('plus')}<span>${texts.make}</span></a>`
  const isEmpty = data.length === 0
  const empty = text ? notFound(texts.noneFound(text)) : nothing(language, texts.none)
  return visit.send({
    title: texts.title,
    here: 'customers',
    body: html`${heading(texts.title, make)}${doneNotice(visit, texts.done)}
${card(null, html`${searchForm(visit, text)}${isEmpty ? empty : list}${isCut && html`<p class="soft">${texts.cut(PAGE_SIZE)}</p>`}${pager(visit, next)}`)}`,
  })
}

function searchForm({ language, url }: Visit, text: string): Html {
  const texts = CUSTOMERS[language]
  const search = { name: 'q', label: texts.search, value: text, fault: null, wrong: '' }
  return html`<form method="get" action="${url('/customers')}" class="filters" role="search"><div class="search">${field({ ...search, isFilledIn: true }, false)}</div><button class="button quiet">${icon('search')}<span>${texts.searchButton}</span></button>${text && html`<a class="button quiet" href="${url('/customers')}">${texts.clear}</a>`}</form>`
}

const find = async (visit: Visit): Promise<ShownCustomer> =>
  (await visit.operate<ShownCustomer>('getCustomer', { params: { id: visit.params.id! } })).data

const showOne = async (visit: Visit): Promise<FastifyReply> =>
  showCustomerPage(visit, await find(visit))

const showNew = (visit: Visit): FastifyReply => sendForm(visit, null, {}, null)

async function make(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const { fault, done } = await tryForm(() =>
    visit.operate<ShownCustomer>('createCustomer', {
      body: newCustomerBody(form),
      once: form.once,
    }),
  )
  if (fault) return sendForm(visit, null, form, fault)
  return visit.redirect(`/customers/${done.data.id}`, 'made')
}

async function showEdit(visit: Visit): Promise<FastifyReply> {
  const customer = await find(visit)
  return sendForm(visit, customer, typedCustomer(customer), null)
}

async function save(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const customer = await find(visit)
  const { fault } = await tryForm(() =>
    visit.operate('changeCustomer', {
      body: changedCustomerBody(form, customer),
      once: form.once,
    }),
  )
  if (fault) return sendForm(visit, customer, form, fault)
  return visit.redirect(`/customers/${customer.id}`, 'saved')
}

function sendForm(
  visit: Visit,
  customer: ShownCustomer | null,
  typed: Form,
  fault: FormFault | null,
): FastifyReply {
  const { language, url, company } = visit
  const texts = CUSTOMERS[language]
  const path = customer ? `/customers/${customer.id}` : '/customers'
  const action = url(customer ? `${path}/edit` : '/customers/new')
  const fields = customerFields(typed, fault, language, { company, customer })
  const button = formButtons(customer ? texts.save : texts.makeButton)
  const content = html`${fault?.notice(language)}${fields}${button}`
  return visit.send({
    title: customer?.name ?? texts.make,
    here: 'customers',
    scripts: ['form.js'],
    ...(fault ? { status: fault.problem.status } : {}),
    body: html`${backLink(visit, path, customer?.name ?? texts.title)}${heading(customer ? texts.edit : texts.make)}
${card(null, visit.formOf(action, content, { kind: 'card-form', isChecked: true }), 'narrow-card')}`,
  })
}

async function askToRemove(visit: Visit): Promise<FastifyReply> {
  const { id, name } = await find(visit)
  const texts = CUSTOMERS[visit.language]
  const title = texts.removeTitle(name)
  const asked = { title, text: texts.removeText, button: texts.remove, back: `/customers/${id}` }
  const body = confirmation(visit, { ...asked, action: `/customers/${id}/delete` })
  return visit.send({ title, here: 'customers', body })
}

async function remove(visit: Visit): Promise<FastifyReply> {
  await visit.operate('deleteCustomer', {
    params: { id: visit.params.id! },
    once: visit.form.once,
  })
  return visit.redirect('/customers', 'deleted')
}

export const customersRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/customers', needs: 'catalog:read', handle: showList },
  { method: 'GET', path: '/customers/new', needs: 'catalog:write', handle: showNew },
  { method: 'POST', path: '/customers/new', needs: 'catalog:write', handle: make },
  { method: 'GET', path: '/customers/:id', needs: 'catalog:read', handle: showOne },
  { method: 'GET', path: '/customers/:id/edit', needs: 'catalog:write', handle: showEdit },
  { method: 'POST', path: '/customers/:id/edit', needs: 'catalog:write', handle: save },
  { method: 'GET', path: '/customers/:id/delete', needs: 'catalog:write', handle: askToRemove },
  { method: 'POST', path: '/customers/:id/delete', needs: 'catalog:write', handle: remove },
]
