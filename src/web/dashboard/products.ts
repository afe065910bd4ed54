import type { ShownProduct } from '../../core/products/view.ts'
import type { Language } from '../../lib/language.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { tabs } from './form-parts.ts'
import { card, money, notFound, nothing, pager, pill, table } from './parts.ts'
import { emptyProduct, productBody, productFields, typedProduct } from './products-form.ts'
import { PRODUCTS } from './products-texts.ts'
import { catalogRoutes } from './record-pages.ts'
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

async function list(visit: Visit): Promise<Html> {
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
  const found = table(
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
    here ? notFound(texts.noneFound) : nothing(language, texts.none),
  )
  return html`${tabs(visit, texts.filters, filters)}
${card(null, html`${found}${pager(visit, next)}`)}`
}

async function show(visit: Visit, product: ShownProduct): Promise<{ body: Html; actions: Html }> {
  const { language, url } = visit
  const texts = PRODUCTS[language]
  const { fields } = texts
  const isRecurring = product.type === 'RECURRING'
  const canSell = visit.can('payments:write') && product.status === 'ACTIVE'
  const sell = isRecurring ? `/new/subscription?product=` : '/new/link?product='
  const actions = html`${
    canSell &&
    html`<a class="button slim" href="${url(sell + product.id)}">${isRecurring ? texts.subscribe : texts.sell}</a>`
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
  const about = description && html`<p class="about">${description}</p>`
  return { actions, body: card(texts.details, html`${about}${shown}`, 'narrow-card') }
}

export const productsRoutes: DashboardRoute[] = catalogRoutes<ShownProduct>({
  here: 'products',
  find: 'getProduct',
  make: 'createProduct',
  change: 'changeProduct',
  remove: 'deleteProduct',
  texts: PRODUCTS,
  list,
  show,
  typed: ({ query }, product) => (product ? typedProduct(product) : emptyProduct(query.type)),
  fields: ({ language }, typed, fault) => productFields(typed, fault, language),
  body: productBody,
})
