import type { FastifyReply } from 'fastify'
import type { ShownProduct } from '../../core/products/view.ts'
import type { Language } from '../../lib/language.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { facts } from '../parts.ts'
import type { Form } from '../site.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { backLink, confirmation, formButtons, tabs } from './form-parts.ts'
import { card, doneNotice, heading, money, notFound, nothing, pager, pill, table } from './parts.ts'
import { emptyProduct, productBody, productFields, typedProduct } from './products-form.ts'
import { PRODUCTS } from './products-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = '50'

const FILTERS = ['', 'type=ONE_TIME', 'type=RECURRING', 'status=INACTIVE'] as const

/** What a product is, in words: a one-time sale, or how often it is charged. */
export function kindOfProduct({ type, frequency }: ShownProduct, language: Language): string {
  const { types, frequencies } = PRODUCTS[language]
  if (type === 'ONE_TIME' || !frequency) return types[type]
  return `${types[type]} · ${frequencies[frequency]}`
}

const statusOf = ({ status }: ShownProduct, language: Language): Html =>
  pill(PRODUCTS[language].statuses[status], status === 'ACTIVE' ? 'good' : 'calm')

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, query, url } = visit
  const texts = PRODUCTS[language]
  const { type, status, after } = query
  const asked = { type, status, after, limit: PAGE_SIZE }
  const { data, next } = await visit.operate<ShownProduct[]>('listProducts', {
    query: Object.fromEntries(
      Object.entries(asked).filter((one): one is [string, string] => !!one[1]),
    ),
  })
  const labels = [texts.all, texts.types.ONE_TIME, texts.types.RECURRING, texts.statuses.INACTIVE]
  const here = type ? `type=${type}` : status ? `status=${status}` : ''
  const filters = FILTERS.map((filter, i) => ({
    label: labels[i]!,
    path: `/products${filter && `?${filter}`}`,
    isHere: filter === here,
  }))
  const list = table(
    texts.title,
    [
      {
        title: texts.fields.name.label,
        kind: 'main',
        of: ({ id, name }) => html`<a href="${url(`/products/${id}`)}">${name}</a>`,
      },
      { title: texts.fields.type.label, of: (product) => kindOfProduct(product, language) },
      { title: texts.fields.status.label, of: (product) => statusOf(product, language) },
      { title: texts.price, kind: 'number', of: ({ price }) => money(price) },
    ],
    data,
  )
  const isEmpty = data.length === 0
  const make =
    visit.can('catalog:write') &&
    html`<a class="button slim" href="${url('/products/new')}">${icon('plus')}<span>${texts.make}</span></a>`
  const empty = here ? notFound(texts.noneFound) : nothing(language, texts.none)
  return visit.send({
    title: texts.title,
    here: 'products',
    body: html`${heading(texts.title, make)}${doneNotice(visit, texts.done)}
${tabs(visit, texts.filters, filters)}
${card(null, html`${isEmpty ? empty : list}${pager(visit, next)}`)}`,
  })
}

const showNew = (visit: Visit): FastifyReply =>
  sendForm(visit, null, emptyProduct(visit.query.type), null)

async function make(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const { fault, done } = await tryForm(() =>
    visit.operate<ShownProduct>('createProduct', { body: productBody(form), once: form.once }),
  )
  if (fault) return sendForm(visit, null, form, fault)
  return visit.redirect(`/products/${done.data.id}`, 'made')
}

const find = async (visit: Visit): Promise<ShownProduct> =>
  (await visit.operate<ShownProduct>('getProduct', { params: { id: visit.params.id! } })).data

async function showOne(visit: Visit): Promise<FastifyReply> {
  const product = await find(visit)
  const { language, url } = visit
  const texts = PRODUCTS[language]
  const { fields } = texts
  const isRecurring = product.type === 'RECURRING'
  const canSell = visit.can('payments:write') && product.status === 'ACTIVE'
  const sell = isRecurring ? `/new/subscription?product=` : '/new/link?product='
  const actions = html`${
    canSell &&
    html`<a class="button slim" href="${url(sell + product.id)}">${isRecurring ? texts.subscribe : texts.sell}</a>`
  }${
    visit.can('catalog:write') &&
    html`<a class="button quiet slim" href="${url(`/products/${product.id}/edit`)}">${texts.edit}</a><a class="button quiet slim" href="${url(`/products/${product.id}/delete`)}">${texts.remove}</a>`
  }`
  const days = product.dayGenerateCharge
  const shown = facts([
    [texts.price, money(product.price), 'sum'],
    [fields.type.label, kindOfProduct(product, language)],
    isRecurring && [fields.dayDue.label, texts.days(product.dayDue ?? 3)],
    isRecurring && [fields.dayGenerateCharge.label, days ? texts.dayOfMonth(days) : texts.anyDay],
    [fields.status.label, statusOf(product, language)],
    [texts.needShipping, product.needShipping ? texts.yes : texts.no],
    product.sku !== undefined && [fields.sku.label, product.sku],
    product.imageUrl !== undefined && [fields.imageUrl.label, product.imageUrl],
    product.categories !== undefined && [texts.categories, product.categories.join(', ')],
    ['ID', html`<code>${product.id}</code>`],
  ])
  const { description } = product
  return visit.send({
    title: product.name,
    here: 'products',
    body: html`${backLink(visit, '/products', texts.title)}${heading(product.name, actions)}${doneNotice(visit, texts.done)}
${card(texts.details, html`${description && html`<p class="about">${description}</p>`}${shown}`, 'narrow-card')}`,
  })
}

async function showEdit(visit: Visit): Promise<FastifyReply> {
  const product = await find(visit)
  return sendForm(visit, product, typedProduct(product), null)
}

async function save(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const product = await find(visit)
  const { fault } = await tryForm(() =>
    visit.operate('changeProduct', {
      params: { id: product.id },
      body: productBody(form),
      once: form.once,
    }),
  )
  if (fault) return sendForm(visit, product, form, fault)
  return visit.redirect(`/products/${product.id}`, 'saved')
}

function sendForm(
  visit: Visit,
  product: ShownProduct | null,
  typed: Form,
  fault: FormFault | null,
): FastifyReply {
  const { language, url } = visit
  const texts = PRODUCTS[language]
  const title = product?.name ?? texts.make
  const path = product ? `/products/${product.id}` : '/products'
  const action = url(product ? `${path}/edit` : '/products/new')
  const content = html`${fault?.notice(language)}${productFields(typed, fault, language)}${formButtons(product ? texts.save : texts.makeButton)}`
  return visit.send({
    title,
    here: 'products',
    scripts: ['form.js'],
    ...(fault ? { status: fault.problem.status } : {}),
    body: html`${backLink(visit, path, product ? title : texts.title)}${heading(product ? texts.edit : title)}
${card(null, visit.formOf(action, content, { kind: 'card-form', isChecked: true }), 'narrow-card')}`,
  })
}

async function askToRemove(visit: Visit): Promise<FastifyReply> {
  const { id, name } = await find(visit)
  const texts = PRODUCTS[visit.language]
  const title = texts.removeTitle(name)
  const asked = { title, text: texts.removeText, button: texts.remove, back: `/products/${id}` }
  const body = confirmation(visit, { ...asked, action: `/products/${id}/delete` })
  return visit.send({ title, here: 'products', body })
}

async function remove(visit: Visit): Promise<FastifyReply> {
  await visit.operate('deleteProduct', {
    params: { id: visit.params.id! },
    once: visit.form.once,
  })
  return visit.redirect('/products', 'deleted')
}

export const productsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/products', needs: 'catalog:read', handle: showList },
  { method: 'GET', path: '/products/new', needs: 'catalog:write', handle: showNew },
  { method: 'POST', path: '/products/new', needs: 'catalog:write', handle: make },
  { method: 'GET', path: '/products/:id', needs: 'catalog:read', handle: showOne },
  { method: 'GET', path: '/products/:id/edit', needs: 'catalog:write', handle: showEdit },
  { method: 'POST', path: '/products/:id/edit', needs: 'catalog:write', handle: save },
  { method: 'GET', path: '/products/:id/delete', needs: 'catalog:write', handle: askToRemove },
  { method: 'POST', path: '/products/:id/delete', needs: 'catalog:write', handle: remove },
]
