import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkoutUrl } from '../core/charges/addresses.ts'
import { forCompany, withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { itemsOf, type WholeLink } from '../core/links/commands.ts'
import {
  boundsOf,
  type LinkState,
  type Order,
  orderFaults,
  priceOf,
  type ReusableLink,
  remainingOf,
  SLUG_FORM,
  stateOf,
} from '../core/links/rules.ts'
import { noteLinkOpening, sell } from '../core/links/sales.ts'
import { findBySlug } from '../core/links/store.ts'
import { placeOf } from '../core/places/front.ts'
import { clientName } from '../lib/client-name.ts'
import { idOfSuffix, suffixOf } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import type { RateLimit } from '../lib/limits.ts'
import { formatReais, readReais } from '../lib/money.ts'
import { Problem, problem } from '../lib/problems.ts'
import { MAX_AMOUNT } from '../pix/amounts.ts'
import { addDays, formatDay, formatMoment, localDateOf, startOfDay } from '../pix/local-time.ts'
import { receiverTaxId } from '../pix/tax-id.ts'
import { CHECKOUT } from './checkout-texts.ts'
import { type Field, fieldsOf } from './forms.ts'
import { type Html, html } from './html.ts'
import { inLanguage, type PageLanguage, pageLanguageOf } from './language.ts'
import { icon, type Page, sendPage } from './layout.ts'
import { LINK } from './link-texts.ts'
import { contactOf, facts, party, result, testNotice } from './parts.ts'
import { type PayerGiven, payerForm, readPayer } from './payer-form.ts'
import { isPayer } from './payers.ts'
import { previewOf } from './preview.ts'
import { PREVIEW } from './preview-texts.ts'
import { hasFaults, readShipping, type ShippingGiven, shippingForm } from './shipping-form.ts'
import type { Form, Site } from './site.ts'

type Named = { Params: { company: string; slug: string } }

/** Sales of one link to one address, so that nobody reserves a whole stock without paying. */
const SALES = { perSecond: 1 / 60, burst: 10 }
const SLUG = new RegExp(SLUG_FORM)
/** If fewer are left, the page says how many. */
const FEW = 10
/** What a payer of a link need not give. */
const OPTIONAL = ['email', 'phone'] as const

/** A link as its page shows it. */
type Shop = WholeLink &
  PageLanguage & { app: FullApp; company: Company; path: string; state: LinkState | 'SUSPENDED' }

/** What a payer has typed, and what is wrong with it. */
type Given = {
  form: Form
  payer: PayerGiven
  shipping: ShippingGiven | null
  order: Order
  faults: (keyof Order)[]
  /** Whether it costs something else than the page has said. */
  isChanged: boolean
}

/** The page of a link that many payers use. Each fills in a form and gets a charge of their own. */
export function registerShopLinks(scope: FastifyInstance, site: Site): void {
  const { config, limits } = site.app
  const limit = config.rateLimit && limits.rate('sales of links', SALES.perSecond, SALES.burst)
  scope.get<Named>('/l/:company/:slug', async (request, reply) => {
    const shop = await lookUp(site.app, request)
    if (isMoved(shop, request)) return reply.redirect(inLanguage(shop.path, shop.chosen), 302)
    if (isPayer(site, request)) await noteLinkOpening(shop.app, shop.link, clientName(request.ip))
    return sendPage(request, reply, site.assets, linkPage(shop, null))
  })
  scope.post<Named>('/l/:company/:slug', async (request, reply) => {
    const shop = await lookUp(site.app, request)
    if (shop.state !== 'OPEN') return sendPage(request, reply, site.assets, linkPage(shop, null))
    const given = read(shop, (request.body ?? {}) as Form)
    if (isWrong(given)) return refuse(site, request, reply, shop, given)
    await requireRoom(limit, shop.link, clientName(request.ip))
    return buy(site, request, reply, shop, given)
  })
}

async function lookUp(front: FullFront, request: FastifyRequest<Named>): Promise<Shop> {
  const { company: suffix, slug } = request.params
  const id = idOfSuffix(suffix.toLowerCase())
  const app = await placeOf(front, id ?? undefined)
  const company = id && (await findCompany(app.db, id))
  // No other text is an address, and the database takes not every text.
  const isSlug = SLUG.test(slug.toLowerCase())
  const link = company && isSlug && (await findBySlug(app.db, company.id, slug.toLowerCase()))
  if (!company || !link) throw problem('link_not_found')
  const own = withCompanyClock(forCompany(app, company), company)
  const items = await itemsOf(own.db, company.id, link).catch((error) => {
    if (error instanceof Problem) return null
    throw error
  })
  return {
    app: own,
    company,
    link,
    items: items ?? [],
    path: `/l/${suffixOf(company.id)}/${link.slug}`,
    state: company.suspendedAt === null ? stateNow(own, link, items !== null) : 'SUSPENDED',
    ...pageLanguageOf(request, company.language),
  }
}

/** A link whose products are not sold any more sells nothing. */
const stateNow = ({ clock }: FullApp, link: ReusableLink, hasProducts: boolean): LinkState => {
  const state = stateOf(link, clock.now())
  return state === 'OPEN' && !hasProducts ? 'OFF' : state
}

const isMoved = ({ path }: Shop, { params }: FastifyRequest<Named>): boolean =>
  path !== `/l/${params.company}/${params.slug}`

async function requireRoom(
  limit: RateLimit | null | false,
  { id }: ReusableLink,
  address: string,
): Promise<void> {
  const wait_s = limit ? await limit.take(`${id} ${address}`) : 0
  if (wait_s === 0) return
  throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
}

/** What one costs, as the form says that it has shown it. */
const shownPrice = ({ link, items }: Shop): string => String(priceOf(link, items) ?? '')

function read(shop: Shop, form: Form): Given {
  const { link, company } = shop
  const isFixed = link.minQuantity === link.maxQuantity
  const typed = (form.quantity ?? '').trim()
  const order: Order = {
    quantity: isFixed ? link.minQuantity : /^\d{1,7}$/.test(typed) ? Number(typed) : 0,
    amount: link.openAmount === null ? null : readReais(form.amount ?? ''),
  }
  return {
    form,
    order,
    payer: readPayer(form, company, OPTIONAL),
    shipping: link.needShipping ? readShipping(form) : null,
    faults: orderFaults(link, order),
    isChanged: form.price !== shownPrice(shop),
  }
}

const isWrong = ({ payer, shipping, faults, isChanged }: Given): boolean =>
  isChanged || faults.length > 0 || payer.faults.length > 0 || (!!shipping && hasFaults(shipping))

const refuse = (
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  shop: Shop,
  given: Given,
): FastifyReply => sendPage(request, reply, site.assets, { ...linkPage(shop, given), status: 422 })

/** Makes the charge, and leads to its page. */
async function buy(
  site: Site,
  request: FastifyRequest<Named>,
  reply: FastifyReply,
  shop: Shop,
  given: Given,
): Promise<FastifyReply> {
  const { app, company, chosen } = shop
  const { order, payer, shipping, form } = given
  const { name, taxId, email, phone } = payer.person
  const person = { name, taxId, ...(email ? { email } : {}), ...(phone ? { phone } : {}) }
  const once = (form.once ?? '').slice(0, 64)
  try {
    const purchase = { ...order, person, shipping: shipping?.shipping ?? null, once }
    const charge = await sell(app, company, shop, purchase)
    return reply.redirect(inLanguage(new URL(checkoutUrl(app, charge)).pathname, chosen), 303)
  } catch (error) {
    const code = error instanceof Problem ? error.code : null
    if (code !== 'link_closed' && code !== 'link_changed') throw error
    // It was changed or sold meanwhile: the page shows what it is now.
    const now = await lookUp(site.app, request)
    return refuse(site, request, reply, now, { ...given, isChanged: code === 'link_changed' })
  }
}

function linkPage(shop: Shop, given: Given | null): Page {
  const { app, company, link, language, state, path } = shop
  const price = priceWords(shop)
  const owner = { ...shop, token: '' }
  return {
    title: link.title,
    language,
    brand: company,
    kind: 'pay',
    scripts: ['checkout.js', 'form.js'],
    styles: ['link.css'],
    data: { state: state === 'OPEN' ? 'shop' : 'closed' },
    preview: previewOf(owner, PREVIEW[language].link(price, company.name), undefined, path),
    body:
      state === 'OPEN'
        ? openBody(shop, given)
        : closedBody({ app, company, link, language, state }),
  }
}

/** What it costs, in words. Null: the payer decides. */
function priceWords({ link, items }: WholeLink): string | null {
  const price = priceOf(link, items)
  return price === null || price > MAX_AMOUNT ? null : formatReais(Number(price))
}

function openBody(shop: Shop, given: Given | null): Html {
  const { company, language } = shop
  const texts = LINK[language]
  const noCode = { devMode: false, brCode: null }
  return html`${testNotice(noCode, company, language, null)}${
    given?.isChanged &&
    html`<p class="notice warn all" role="alert">${icon('alert')}<span>${texts.changed}</span></p>`
  }
${goods(shop)}
${buyForm(shop, given)}
<section class="card" aria-labelledby="details"><h2 id="details">${CHECKOUT[language].details}</h2>
${facts([
  ...shop.items.map(({ product, quantity }): [string, string] => [
    CHECKOUT[language].quantity(quantity, product.name),
    formatReais(product.price * quantity),
  ]),
  [texts.sold, party(company.name, receiverTaxId(company.taxId))],
])}</section>`
}

/** The end of a day is told by the day. */
function endWords(endsAt: Date, language: Language): string {
  const day = localDateOf(endsAt)
  const isMidnight = startOfDay(day).getTime() === endsAt.getTime()
  return isMidnight ? formatDay(addDays(day, -1)) : CHECKOUT[language].moment(formatMoment(endsAt))
}

/** What is sold, what it costs, and for how long. */
function goods(shop: Shop): Html {
  const { link, language } = shop
  const texts = LINK[language]
  const price = priceWords(shop)
  const left = remainingOf(link)
  const isFew = left !== null && left <= FEW
  const end = link.endsAt && texts.until(endWords(link.endsAt, language))
  return html`<section class="card goods" aria-labelledby="goods">
<h1 id="goods">${link.title}</h1>
${price && html`<p><span class="amount">${price}</span>${link.maxQuantity > 1 && html` <span class="soft">${texts.each}</span>`}</p>`}
${isFew && html`<p class="pill deadline soon">${icon('alert')}<span>${texts.left(left)}</span></p>`}
${end && html`<p class="soft small">${end}</p>`}
${link.description && html`<p class="about">${link.description}</p>`}
</section>`
}

function buyForm(shop: Shop, given: Given | null): Html {
  const { company, link, language, chosen, path } = shop
  const texts = LINK[language]
  const once = given?.form.once ?? randomUUID()
  const order = orderFields(shop, given)
  return html`<section class="card beside"><form class="card-form" method="post" action="${inLanguage(path, chosen)}" data-form>
<input type="hidden" name="once" value="${once}"><input type="hidden" name="price" value="${shownPrice(shop)}">
${order.length > 0 && fieldsOf(order)}
${payerForm(given?.payer ?? null, company, language, OPTIONAL)}
${link.needShipping && shippingForm(given?.shipping ?? null, language)}
<button class="button">${texts.make}</button>
<p class="hint">${texts.makeHint}</p>
</form></section>`
}

/** The fields in which a payer says how many, or how much. */
function orderFields({ link, language }: Shop, given: Given | null): Field[] {
  const texts = LINK[language]
  const { minQuantity: least, maxQuantity: most, openAmount } = link
  const fields: Field[] = []
  if (openAmount) {
    const { min, max } = boundsOf(openAmount)
    const bounds = texts.between(
      formatReais(min),
      openAmount.max === null ? null : formatReais(max),
    )
    fields.push({
      name: 'amount',
      label: texts.openAmount,
      value: given?.form.amount ?? '',
      hint: bounds,
      wrong: texts.amountWrong(bounds),
      fault: given?.faults.includes('amount') ? texts.amountWrong(bounds) : null,
      check: 'amount',
      min,
      inputmode: 'decimal',
      maxlength: 20,
    })
  }
  if (most > least) {
    fields.push({
      name: 'quantity',
      label: texts.quantity,
      value: given?.form.quantity ?? String(least),
      hint: texts.quantityHint(least, most),
      wrong: texts.quantityWrong(least, most),
      fault: given?.faults.includes('quantity') ? texts.quantityWrong(least, most) : null,
      check: 'quantity',
      inputmode: 'numeric',
      maxlength: 7,
    })
  }
  return fields
}

type Closed = Pick<Shop, 'app' | 'company' | 'link' | 'language'> & {
  state: Exclude<Shop['state'], 'OPEN'>
}

/** Why a link sells nothing now, and how to reach the shop. */
function closedBody({ company, link, language, state }: Closed): Html {
  const texts = LINK[language]
  const isHeld = state === 'SOLD_OUT' && link.used > link.paid
  const words =
    state === 'SUSPENDED' ? CHECKOUT[language].unavailable : texts.closed[isHeld ? 'HELD' : state]
  return result(
    {
      kind: 'calm',
      icon: 'clock',
      ...words,
      facts: [
        [texts.product, link.title],
        [texts.sold, party(company.name, receiverTaxId(company.taxId))],
      ],
      more: contactOf(company, language) ?? html``,
    },
    language,
  )
}
