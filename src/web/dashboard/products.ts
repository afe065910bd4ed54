import { CATEGORIES, FREQUENCIES, type Frequency } from '../../core/products/rules.ts'
import type { ShownProduct } from '../../core/products/view.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { checkbox, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import type { Form } from '../site.ts'
import {
  type FieldPlan,
  type FieldTexts,
  type FormFault,
  fillFields,
  tabs,
  textOf,
} from './form-parts.ts'
import { listCard } from './list-parts.ts'
import { card, idText, money, notFound, nothing, pager, pill, rowLink, table } from './parts.ts'
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
        of: ({ id, name }) => rowLink(url(`/products/${id}`), name),
      },
      { title: texts.fields.type.label, of: (product) => kindOfProduct(product, language) },
      {
        title: texts.fields.status.label,
        kind: 'state',
        of: (product) => product.status !== 'ACTIVE' && statusOf(product, language),
      },
      { title: texts.price, kind: 'number', of: ({ price }) => money(price) },
    ],
    data,
    here ? notFound(texts.noneFound) : nothing(language, texts.none),
  )
  return html`${tabs(visit, texts.filters, filters)}
${listCard(html`${found}${pager(visit, next)}`)}`
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
    ['ID', idText(product.id, 'ID', language)],
  ])
  const { description } = product
  const about = description && html`<p class="about">${description}</p>`
  return { actions, body: card(texts.details, html`${about}${shown}`, 'narrow-card') }
}

const MAX_DESCRIPTION = 4096
const MAX_DAYS_DUE = 7
const LAST_DAY = 28

const numbers = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1)

const mainPlans = (language: Language): FieldPlan<ProductField>[] => {
  const { types } = PRODUCTS[language]
  return [
    { name: 'name', check: 'filled' },
    { name: 'price', check: 'amount', min: 0, width: 'half', inputmode: 'decimal' },
    { name: 'type', width: 'half', options: optionsOf(types) },
    { name: 'description', rows: 3, maxlength: MAX_DESCRIPTION, isOptional: true },
  ]
}

const optionsOf = (labels: Record<string, string>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }))

function subscriptionPlans(language: Language): FieldPlan<ProductField>[] {
  const { frequencies, noFrequency, days, anyDay, dayOfMonth } = PRODUCTS[language]
  const byFrequency = FREQUENCIES.map((value) => ({ value, label: frequencies[value] }))
  const toPay = numbers(MAX_DAYS_DUE).map((day) => ({ value: String(day), label: days(day) }))
  const ofMonth = numbers(LAST_DAY).map((day) => ({ value: String(day), label: dayOfMonth(day) }))
  return [
    {
      name: 'frequency',
      width: 'third',
      isFilledIn: true,
      options: [{ value: '', label: noFrequency }, ...byFrequency],
    },
    { name: 'dayDue', width: 'third', isFilledIn: true, options: toPay },
    {
      name: 'dayGenerateCharge',
      width: 'third',
      isFilledIn: true,
      options: [{ value: '', label: anyDay }, ...ofMonth],
    },
  ]
}

const otherPlans = (language: Language): FieldPlan<ProductField>[] => [
  { name: 'status', width: 'half', options: optionsOf(PRODUCTS[language].statuses) },
  { name: 'sku', width: 'half', isOptional: true },
  { name: 'imageUrl', check: 'url', inputmode: 'url', maxlength: 2048, isOptional: true },
]

const categoryName = (i: number): string => `category-${i}`

/** The fields of a product, with what was typed. */
function productFields(typed: Form, fault: FormFault | null, language: Language): Html {
  const texts = PRODUCTS[language]
  const filled = (plans: FieldPlan<ProductField>[]) =>
    fieldsOf(fillFields(plans, texts.fields, typed, fault, language))
  const categories = CATEGORIES.map((label, i) =>
    checkbox({ name: categoryName(i), label, isOn: typed[categoryName(i)] === 'yes' }),
  )
  const isOpen = otherPlans(language).some(({ name }) => fault?.isWrong(name))
  return html`${filled(mainPlans(language))}
<fieldset class="subscription-fields card-form"><legend>${texts.subscriptionTitle}</legend><p class="hint">${texts.subscriptionHint}</p>${filled(subscriptionPlans(language))}</fieldset>
<details class="more-fields"${isOpen && html` open`}><summary>${texts.more}</summary><div class="card-form">${filled(otherPlans(language))}
${checkbox({ name: 'needShipping', label: texts.needShipping, hint: texts.needShippingHint, isOn: typed.needShipping === 'yes' })}
<fieldset class="card-form"><legend>${texts.categories}</legend><div class="checks">${categories}</div></fieldset></div></details>`
}

/** What the form of a new product has at first. */
const emptyProduct = (type: string | undefined): Form => ({
  type: type === 'RECURRING' ? type : 'ONE_TIME',
  frequency: type === 'RECURRING' ? 'MONTHLY' : '',
  dayDue: '3',
})

/** What the form of a known product has at first. */
function typedProduct(product: ShownProduct): Form {
  const typed: Form = {
    name: product.name,
    description: product.description,
    price: formatReais(product.price).slice(3),
    type: product.type,
    frequency: product.frequency ?? '',
    dayDue: String(product.dayDue ?? 3),
    dayGenerateCharge: String(product.dayGenerateCharge ?? ''),
    sku: product.sku ?? '',
    imageUrl: product.imageUrl ?? '',
    status: product.status,
    needShipping: product.needShipping ? 'yes' : '',
  }
  for (const [i, name] of CATEGORIES.entries()) {
    if (product.categories?.includes(name)) typed[categoryName(i)] = 'yes'
  }
  return typed
}

/** What the form says of a product. What cannot be read is refused by the rules of the API. */
function productBody(form: Form): object {
  const isRecurring = form.type === 'RECURRING'
  const day = (name: string) => (form[name] ? Number(form[name]) : null)
  const categories = CATEGORIES.filter((_, i) => form[categoryName(i)] === 'yes')
  return {
    name: textOf(form, 'name') ?? '',
    description: textOf(form, 'description') ?? '',
    price: readReais(form.price ?? '') ?? -1,
    type: form.type ?? '',
    frequency: isRecurring ? form.frequency || null : null,
    dayDue: isRecurring ? day('dayDue') : null,
    dayGenerateCharge: isRecurring ? day('dayGenerateCharge') : null,
    needShipping: form.needShipping === 'yes',
    sku: textOf(form, 'sku') ?? null,
    imageUrl: textOf(form, 'imageUrl') ?? null,
    categories: categories.length > 0 ? categories : null,
    status: form.status ?? 'ACTIVE',
  }
}

type ProductField =
  | 'name'
  | 'description'
  | 'price'
  | 'type'
  | 'frequency'
  | 'dayDue'
  | 'dayGenerateCharge'
  | 'sku'
  | 'imageUrl'
  | 'status'

const FIELDS_PT: Record<ProductField, FieldTexts> = {
  name: { label: 'Nome', wrong: 'Informe um nome com até 255 caracteres.' },
  description: {
    label: 'Descrição',
    wrong: 'A descrição pode ter até 4.096 caracteres.',
  },
  price: {
    label: 'Preço em reais',
    wrong: 'Informe o preço em reais, como 19,90.',
    hint: 'Por exemplo: 19,90',
  },
  type: { label: 'Tipo', wrong: 'Escolha um tipo.' },
  frequency: { label: 'Frequência', wrong: 'Escolha de quanto em quanto tempo cobrar.' },
  dayDue: { label: 'Prazo para pagar', wrong: 'Escolha de 1 a 7 dias.' },
  dayGenerateCharge: { label: 'Dia da cobrança', wrong: 'Escolha um dia de 1 a 28.' },
  sku: {
    label: 'Código interno (SKU)',
    wrong: 'O código pode ter até 255 caracteres.',
  },
  imageUrl: {
    label: 'Endereço da imagem',
    wrong: 'Informe um endereço que comece com https:// ou http://.',
  },
  status: { label: 'Situação', wrong: 'Escolha uma situação.' },
}

const pt = {
  title: 'Produtos',
  one: 'Produto',
  make: 'Novo produto',
  makeButton: 'Criar produto',
  save: 'Salvar alterações',
  edit: 'Editar',
  remove: 'Excluir',
  removeTitle: (name: string) => `Excluir ${name}?`,
  removeText:
    'O produto sai do catálogo e não poderá mais ser vendido. As vendas já feitas e as assinaturas em andamento continuam como estão.',
  all: 'Todos',
  price: 'Preço',
  filters: 'Filtrar produtos',
  none: 'Cadastre o que você vende para montar links de pagamento e assinaturas.',
  noneFound: 'Nenhum produto com este filtro.',
  details: 'Dados do produto',
  more: 'Mais opções',
  sell: 'Criar link com este produto',
  subscribe: 'Criar link de assinatura',
  types: { ONE_TIME: 'Venda única', RECURRING: 'Assinatura' },
  statuses: { ACTIVE: 'Ativo', INACTIVE: 'Inativo' },
  frequencies: {
    WEEKLY: 'Semanal',
    MONTHLY: 'Mensal',
    SEMIANNUAL: 'Semestral',
    ANNUAL: 'Anual',
  } satisfies Record<Frequency, string>,
  noFrequency: 'Selecione',
  days: (days: number) => (days === 1 ? '1 dia' : `${days} dias`),
  anyDay: 'No dia da autorização',
  dayOfMonth: (day: number) => `Dia ${day}`,
  needShipping: 'Precisa de entrega',
  needShippingHint: 'Serve de lembrete para quem prepara os pedidos.',
  categories: 'Categorias',
  subscriptionTitle: 'Cobrança da assinatura',
  subscriptionHint: 'Preencha apenas se o produto for uma assinatura.',
  fields: FIELDS_PT,
  done: {
    made: 'Produto criado.',
    saved: 'Alterações salvas.',
    deleted: 'Produto excluído.',
  },
  yes: 'Sim',
  no: 'Não',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Products',
  one: 'Product',
  make: 'New product',
  makeButton: 'Create product',
  save: 'Save changes',
  edit: 'Edit',
  remove: 'Delete',
  removeTitle: (name) => `Delete ${name}?`,
  removeText:
    'The product leaves the catalog and can no longer be sold. Past sales and running subscriptions stay as they are.',
  all: 'All',
  price: 'Price',
  filters: 'Filter products',
  none: 'Add what you sell, to make payment links and subscriptions of it.',
  noneFound: 'No product matches this filter.',
  details: 'Product details',
  more: 'More options',
  sell: 'Create a link with this product',
  subscribe: 'Create a subscription link',
  types: { ONE_TIME: 'One-time', RECURRING: 'Subscription' },
  statuses: { ACTIVE: 'Active', INACTIVE: 'Inactive' },
  frequencies: {
    WEEKLY: 'Weekly',
    MONTHLY: 'Monthly',
    SEMIANNUAL: 'Half-yearly',
    ANNUAL: 'Yearly',
  },
  noFrequency: 'Choose',
  days: (days) => (days === 1 ? '1 day' : `${days} days`),
  anyDay: 'The day it is authorized',
  dayOfMonth: (day) => `Day ${day}`,
  needShipping: 'Needs shipping',
  needShippingHint: 'A reminder for whoever prepares the orders.',
  categories: 'Categories',
  subscriptionTitle: 'How the subscription is charged',
  subscriptionHint: 'Only for products that are subscriptions.',
  fields: {
    name: { label: 'Name', wrong: 'Enter a name of at most 255 characters.' },
    description: {
      label: 'Description',
      wrong: 'The description may have 4.096 characters.',
    },
    price: {
      label: 'Price in reais',
      wrong: 'Enter the price in reais, such as 19,90.',
      hint: 'For example: 19,90',
    },
    type: { label: 'Type', wrong: 'Choose a type.' },
    frequency: { label: 'Frequency', wrong: 'Choose how often it is charged.' },
    dayDue: { label: 'Time to pay', wrong: 'Choose 1 to 7 days.' },
    dayGenerateCharge: { label: 'Day of the charge', wrong: 'Choose a day from 1 to 28.' },
    sku: { label: 'Internal code (SKU)', wrong: 'The code may have 255 characters.' },
    imageUrl: {
      label: 'Address of the image',
      wrong: 'Enter an address that starts with https:// or http://.',
    },
    status: { label: 'Status', wrong: 'Choose a status.' },
  },
  done: {
    made: 'Product created.',
    saved: 'Changes saved.',
    deleted: 'Product deleted.',
  },
  yes: 'Yes',
  no: 'No',
}

const PRODUCTS: Record<Language, Texts> = { pt, en }

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
