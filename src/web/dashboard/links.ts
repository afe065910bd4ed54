import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { ChargeView } from '../../core/charges/view.ts'
import {
  MAX_LIFETIME_S,
  MAX_QUANTITY,
  MAX_SLUG,
  MAX_TITLE,
  MIN_LIFETIME_S,
} from '../../core/links/rules.ts'
import { countLinks } from '../../core/links/store.ts'
import type { ShownReusableLink } from '../../core/links/view.ts'
import { findMessage } from '../../core/messages/commands.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais, readReais, toCents } from '../../lib/money.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { addDays, formatDay, isLocalDate, localDateOf, startOfDay } from '../../pix/local-time.ts'
import { copyButton } from '../developer.ts'
import { checkbox, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { type Fact, facts } from '../parts.ts'
import type { Form } from '../site.ts'
import { percentOf } from './comparison.ts'
import { type FieldPlan, type FormFault, fillFields, tabs, textOf } from './form-parts.ts'
import { LINKS, type LinkField } from './links-texts.ts'
import { countOf, listCard, listHead, MAX_COUNTED, toList } from './list-parts.ts'
import { listSellable, productOptions } from './new-parts.ts'
import {
  card,
  formatCount,
  idText,
  moment,
  money,
  notFound,
  nothing,
  pager,
  pill,
  rowLink,
  type Tone,
  table,
} from './parts.ts'
import { catalogRoutes } from './record-pages.ts'
import { SHARE, sharePart } from './share.ts'
import { chargePill } from './states.ts'
import type { DashboardRoute, Visit } from './visit.ts'

type Link = ShownReusableLink

const PAGE_SIZE = '50'
/** Charges on the page of a link. */
const FEW = '20'

const TONES: Record<Link['state'], Tone> = {
  OPEN: 'good',
  OFF: 'calm',
  ENDED: 'calm',
  SOLD_OUT: 'warn',
}

const stateOf = ({ state }: Link, language: Language): Html =>
  pill(LINKS[language].states[state], TONES[state])

/** What it costs, if it is one amount for everybody. */
const priceOf = ({ amount }: Link): string | null =>
  amount === undefined ? null : formatReais(amount)

function priceWords(link: Link, language: Language): string {
  const texts = LINKS[language]
  return priceOf(link) ?? (link.items ? texts.ofProducts : texts.open)
}

const soldOf = ({ paid, stock }: Link, language: Language): string =>
  stock === undefined
    ? formatCount(paid)
    : LINKS[language].soldOf(formatCount(paid), formatCount(stock))

const FILTERS = ['', 'enabled=true', 'enabled=false'] as const

async function list(visit: Visit): Promise<Html> {
  const { language, query, url } = visit
  const texts = LINKS[language]
  const { enabled, after } = query
  const { data, next } = await visit.operate<Link[]>('listReusableLinks', {
    query: { limit: PAGE_SIZE, ...(after && { after }), ...(enabled && { enabled }) },
  })
  const here = enabled ? `enabled=${enabled}` : ''
  const { on, off } = await countLinks(visit.app.db, visit.company.id, MAX_COUNTED + 1)
  const counted = Math.min(on + off, MAX_COUNTED)
  const filters = FILTERS.map((filter, i) => ({
    label: [texts.all, texts.on, texts.off][i]!,
    count: countOf({ count: [counted, on, off][i]!, isMore: on + off > MAX_COUNTED }),
    path: `/links${filter && `?${filter}`}`,
    isHere: filter === here,
  }))
  const found = table(
    texts.title,
    [
      {
        title: texts.name,
        kind: 'main',
        of: ({ id, title, slug }) => rowLink(url(`/links/${id}`), title, `/${slug}`),
      },
      { title: texts.address, of: (link) => copyButton(link.url, link.title, language) },
      { title: texts.state, kind: 'state', of: (link) => stateOf(link, language) },
      {
        title: texts.price,
        kind: 'number',
        isWide: true,
        of: (link) => priceWords(link, language),
      },
      { title: texts.linkMadeAt, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
      { title: texts.sold, kind: 'number', isWide: true, of: (link) => soldOf(link, language) },
      { title: texts.received, kind: 'number', of: ({ received }) => money(received) },
    ],
    data,
    here ? notFound(texts.noneFound) : nothing(language, texts.none),
  )
  return html`${toList(visit)}<p class="soft">${texts.about}</p>${listHead(tabs(visit, texts.filters, filters))}${listCard(html`${found}${pager(visit, next)}`)}`
}

async function show(visit: Visit, link: Link): Promise<{ body: Html; actions: Html }> {
  const { language, url } = visit
  const texts = LINKS[language]
  const shared = {
    address: link.url,
    title: link.title,
    amount: priceOf(link),
    text: await messageOf(visit, link),
  }
  const turn = link.enabled ? texts.turnOff : texts.turnOn
  const field = html`<input type="hidden" name="enabled" value="${link.enabled ? '' : 'yes'}">`
  const button = html`${field}<button class="button quiet slim">${turn}</button>`
  const actions = html`${stateOf(link, language)}${
    visit.can('payments:write') && visit.formOf(url(`/links/${link.id}/enabled`), button)
  }`
  return {
    actions,
    body: html`${sharePart(visit, shared)}
<div class="columns">${card(texts.figures, figures(link, language))}${card(texts.details, details(link, language))}</div>
${card(texts.charges, await chargesOf(visit, link))}`,
  }
}

function messageOf({ app, company }: Visit, { title, amount, endsAt, url }: Link): Promise<string> {
  const about = {
    company: company.name,
    payerName: null,
    product: title,
    amount: amount === undefined ? null : toCents(amount),
    until: endsAt ? formatDay(lastDayOf(endsAt)) : null,
    dueDate: null,
  }
  return findMessage(app, company, 'reusable', about, url)
}

function figures(link: Link, language: Language): Html {
  const texts = LINKS[language]
  const { opened, created, paid, received, remaining } = link
  return facts([
    [texts.received, money(received), 'sum'],
    [texts.opened, texts.times(formatCount(opened))],
    [texts.created, formatCount(created)],
    [texts.paid, formatCount(paid)],
    created > 0 && [
      texts.conversion,
      html`${percentOf(paid, created)}<br><span class="soft small">${texts.conversionHint}</span>`,
    ],
    remaining !== undefined && [texts.remaining, formatCount(remaining)],
  ])
}

async function chargesOf(visit: Visit, { id }: Link): Promise<Html> {
  const { language, query, url } = visit
  const texts = LINKS[language]
  const { data, next } = await visit.operate<Static<typeof ChargeView>[]>('listCharges', {
    query: { linkId: id, limit: FEW, ...(query.after && { after: query.after }) },
  })
  const found = table(
    texts.charges,
    [
      {
        title: texts.payer,
        kind: 'main',
        of: ({ id, customer }) => rowLink(url(`/charges/${id}`), customer?.name ?? id),
      },
      { title: texts.madeAt, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
      { title: texts.state, kind: 'state', of: (charge) => chargePill(charge, language) },
      { title: texts.price, kind: 'number', of: ({ total }) => money(total) },
    ],
    data,
    nothing(language, texts.noCharges),
  )
  return html`${found}${pager(visit, next)}`
}

function details(link: Link, language: Language): Html {
  const texts = LINKS[language]
  const { fields } = texts
  const { description, openAmount, minQuantity, maxQuantity, endsAt, successUrl } = link
  const optional = (name: LinkField, value: string | undefined): Fact | false =>
    value !== undefined && [fields[name].label, value]
  const about = description && html`<p class="about">${description}</p>`
  return html`${about}${facts([
    [texts.price, priceWords(link, language), 'sum'],
    optional('min', openAmount?.min === undefined ? undefined : formatReais(openAmount.min)),
    optional('max', openAmount?.max === undefined ? undefined : formatReais(openAmount.max)),
    minQuantity > 1 && [fields.minQuantity.label, formatCount(minQuantity)],
    maxQuantity > 1 && [fields.maxQuantity.label, formatCount(maxQuantity)],
    optional('lastDay', endsAt && formatDay(lastDayOf(endsAt))),
    link.stock !== undefined && [fields.stock.label, formatCount(link.stock)],
    [fields.expiresIn.label, lifetimeWords(link.expiresIn, language)],
    optional('successUrl', successUrl),
    [texts.linkMadeAt, moment(link.createdAt)],
    ['ID', idText(link.id, 'ID', language)],
  ])}<p><a href="${link.url}" target="_blank" rel="noopener">${texts.view}</a></p>`
}

const lifetimeWords = (seconds: number, language: Language): string =>
  (LINKS[language].lifetimes as Record<string, string>)[seconds] ?? LINKS[language].seconds(seconds)

/** The last day on which it sells, if it ends at midnight; otherwise the day of its end. */
const lastDayOf = (endsAt: string): string => localDateOf(new Date(new Date(endsAt).getTime() - 1))

/** Rows for products in the form, of which one is free. */
const rowsOf = (link: Link | null): number => Math.max(3, (link?.items?.length ?? 0) + 1)
const MAX_ROWS = 20

const mainPlans: FieldPlan<LinkField>[] = [
  { name: 'title', check: 'filled', maxlength: MAX_TITLE },
  {
    name: 'amount',
    width: 'half',
    inputmode: 'decimal',
    // A choice below can make up for it.
    isFilledIn: true,
  },
]

const QUANTITY = { check: 'quantity', width: 'half', inputmode: 'numeric', maxlength: 7 } as const
const AMOUNT = { check: 'amount', width: 'half', inputmode: 'decimal', min: MIN_CHARGE } as const

const openPlans: FieldPlan<LinkField>[] = [
  { name: 'min', path: 'openAmount.min', isOptional: true, ...AMOUNT },
  { name: 'max', path: 'openAmount.max', isOptional: true, ...AMOUNT },
]

const otherPlans = (language: Language, typed: Form): FieldPlan<LinkField>[] => {
  const { lifetimes } = LINKS[language]
  const all = { ...lifetimes, ...ownLifetime(typed, language) }
  const options = Object.entries(all).map(([value, label]) => ({ value, label }))
  return [
    { name: 'description', rows: 3, maxlength: 2000, isOptional: true },
    { name: 'minQuantity', isFilledIn: true, ...QUANTITY },
    { name: 'maxQuantity', isFilledIn: true, ...QUANTITY },
    { name: 'stock', inputmode: 'numeric', width: 'half', maxlength: 10, isOptional: true },
    { name: 'lastDay', path: 'endsAt', type: 'date', width: 'half', isOptional: true },
    { name: 'expiresIn', width: 'half', options },
    { name: 'slug', width: 'half', maxlength: MAX_SLUG, isOptional: true },
    { name: 'successUrl', check: 'url', inputmode: 'url', maxlength: 2048, isOptional: true },
  ]
}

/** A time that the API has set stays, although the form does not offer it. */
function ownLifetime({ expiresIn }: Form, language: Language): Record<string, string> {
  const seconds = Number(expiresIn)
  const isOwn = seconds >= MIN_LIFETIME_S && seconds <= MAX_LIFETIME_S
  return isOwn ? { [seconds]: lifetimeWords(seconds, language) } : {}
}

async function fields(
  visit: Visit,
  typed: Form,
  fault: FormFault | null,
  link: Link | null,
): Promise<Html> {
  const { language } = visit
  const texts = LINKS[language]
  const filled = (plans: FieldPlan<LinkField>[]) =>
    fieldsOf(fillFields(plans, texts.fields, typed, fault, language))
  const others = otherPlans(language, typed)
  const isOpen =
    typed.openAmount === 'yes' ||
    !!typed['product-0'] ||
    [...openPlans, ...others].some(({ name, path = name }) => fault?.isWrong(path))
  return html`${filled(mainPlans)}
<details class="more-fields"${isOpen && html` open`}><summary>${texts.more}</summary><div class="card-form">
${checkbox({ name: 'openAmount', label: texts.openAmount, isOn: typed.openAmount === 'yes' })}
${filled(openPlans)}
${await productFields(visit, typed, fault, link)}
${filled(others)}
${checkbox({ name: 'needShipping', label: texts.needShipping, isOn: typed.needShipping === 'yes' })}</div></details>`
}

async function productFields(
  visit: Visit,
  typed: Form,
  fault: FormFault | null,
  link: Link | null,
): Promise<Html> {
  const texts = LINKS[visit.language]
  const options = productOptions(await listSellable(visit, 'ONE_TIME'), texts.noProduct)
  const known = new Set(options.map(({ value }) => value))
  // A product that is sold no more stays chosen, so that the form does not drop it in silence.
  const gone = (link?.items ?? []).flatMap(({ productId }) =>
    known.has(productId) ? [] : [{ value: productId, label: productId }],
  )
  const rows = Array.from({ length: Math.min(rowsOf(link), MAX_ROWS) }, (_, row) =>
    fieldsOf([
      {
        name: `product-${row}`,
        label: texts.productRow(row + 1),
        value: typed[`product-${row}`] ?? '',
        fault: fault?.isWrong(`items[${row}]`) ? texts.fields.amount.wrong : null,
        wrong: '',
        isFilledIn: true,
        width: 'most',
        options: [...options, ...gone],
      },
      {
        name: `quantity-${row}`,
        label: texts.quantity,
        value: typed[`quantity-${row}`] ?? '1',
        fault: null,
        wrong: texts.fields.minQuantity.wrong,
        check: 'quantity',
        isFilledIn: true,
        width: 'third',
        inputmode: 'numeric',
        maxlength: 7,
      },
    ]),
  )
  return html`<fieldset class="card-form"><legend>${texts.products}</legend><p class="hint">${texts.productsHint}</p>${rows}</fieldset>`
}

const plainReais = (cents: number | undefined): string =>
  cents === undefined ? '' : formatReais(cents).slice(3)

/** What the form has at first. */
function typed(_visit: Visit, link: Link | null): Form {
  if (!link) return { minQuantity: '1', maxQuantity: '1', expiresIn: '1800' }
  const form: Form = {
    title: link.title,
    amount: plainReais(link.amount),
    openAmount: link.openAmount ? 'yes' : '',
    min: plainReais(link.openAmount?.min),
    max: plainReais(link.openAmount?.max),
    description: link.description ?? '',
    minQuantity: String(link.minQuantity),
    maxQuantity: String(link.maxQuantity),
    lastDay: link.endsAt ? lastDayOf(link.endsAt) : '',
    stock: String(link.stock ?? ''),
    slug: link.slug,
    expiresIn: String(link.expiresIn),
    successUrl: link.successUrl ?? '',
    needShipping: link.needShipping ? 'yes' : '',
  }
  for (const [row, { productId, quantity }] of (link.items ?? []).entries()) {
    form[`product-${row}`] = productId
    form[`quantity-${row}`] = String(quantity)
  }
  return form
}

const cents = (form: Form, name: string): number => readReais(form[name] ?? '') ?? -1
const whole = (text: string): number => (/^\d+$/.test(text.trim()) ? Number(text) : -1)

/** What the form says of the price, in the words of the API. */
function priceBody(form: Form): Record<string, unknown> {
  const items = Array.from({ length: MAX_ROWS }, (_, row) => row)
    .filter((row) => form[`product-${row}`])
    .map((row) => ({
      productId: form[`product-${row}`],
      quantity: whole(form[`quantity-${row}`] || '1'),
    }))
  if (form.openAmount === 'yes') {
    const bound = (name: 'min' | 'max') => (textOf(form, name) ? { [name]: cents(form, name) } : {})
    return { openAmount: { ...bound('min'), ...bound('max') } }
  }
  return items.length > 0 ? { items } : { amount: cents(form, 'amount') }
}

/** What the form says of a link. What cannot be read is refused by the rules of the API. */
function body(form: Form, link: Link | null): object {
  const none = link ? null : undefined
  const [least, stock] = [whole(form.minQuantity || '1'), textOf(form, 'stock')]
  const most = whole(form.maxQuantity || '1')
  const slug = textOf(form, 'slug')
  return {
    title: textOf(form, 'title') ?? '',
    ...priceBody(form),
    description: textOf(form, 'description') ?? none,
    minQuantity: Math.min(least, MAX_QUANTITY + 1),
    // Whoever only raises the least wants as many at most.
    maxQuantity: Math.min(most === 1 ? Math.max(least, most) : most, MAX_QUANTITY + 1),
    endsAt: endOf(form, link) ?? none,
    stock: stock === undefined ? none : whole(stock),
    expiresIn: Number(form.expiresIn || '1800'),
    needShipping: form.needShipping === 'yes',
    successUrl: textOf(form, 'successUrl') ?? none,
    ...(slug === undefined ? {} : { slug }),
  }
}

/** The end of the last day. An end that the API has set stays, if nobody changes its day. */
function endOf(form: Form, link: Link | null): string | undefined {
  const day = textOf(form, 'lastDay')
  if (day === undefined) return undefined
  if (link?.endsAt && lastDayOf(link.endsAt) === day) return link.endsAt
  return isLocalDate(day) ? startOfDay(addDays(day, 1)).toISOString() : '?'
}

/** Switches a link on or off. */
async function turn(visit: Visit): Promise<FastifyReply> {
  const { form, params } = visit
  const [id, enabled] = [params.id!, form.enabled === 'yes']
  await visit.operate('changeReusableLink', { params: { id }, body: { enabled }, once: form.once })
  return visit.redirect(`/links/${id}`, enabled ? 'on' : 'off')
}

export const linksRoutes: DashboardRoute[] = [
  ...catalogRoutes<Link>({
    here: 'links',
    scope: 'payments',
    find: 'getReusableLink',
    make: 'createReusableLink',
    change: 'changeReusableLink',
    texts: LINKS,
    nameOf: ({ title }) => title,
    assets: SHARE,
    list,
    show,
    typed,
    fields,
    body,
  }),
  { method: 'POST', path: '/links/:id/enabled', needs: 'payments:write', handle: turn },
]
