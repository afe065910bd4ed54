import type { FastifyReply } from 'fastify'
import { sealPerson } from '../../core/customers/sealing.ts'
import { find as findProduct } from '../../core/products/store.ts'
import { termsOf } from '../../core/recurrences/rules.ts'
import { fromPublic } from '../../lib/ids.ts'
import { invalid } from '../../lib/problems.ts'
import { fieldsOf } from '../forms.ts'
import { html } from '../html.ts'
import type { Page } from '../layout.ts'
import type { Form } from '../site.ts'
import { offerPage } from '../subscription.ts'
import type { ShownCustomer } from './customers.ts'
import { newCustomerBody } from './customers.ts'
import { backLink, type FormFault, fillFields, tryForm } from './form-parts.ts'
import {
  type Around,
  aroundOf,
  isStep,
  type Payers,
  payerBody,
  payerFields,
  productOptions,
  sendNewForm,
} from './new-parts.ts'
import { NEW } from './new-texts.ts'
import { card, heading, nothing } from './parts.ts'
import { SUBSCRIPTIONS } from './subscriptions-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

async function show(visit: Visit): Promise<FastifyReply> {
  const { product = '', customer } = visit.query
  return sendForm(
    visit,
    { product, who: customer ? 'one' : 'any' },
    await aroundOf(visit, 'RECURRING'),
  )
}

async function make(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const around = await aroundOf(visit, 'RECURRING')
  if (isStep(visit, 'find')) return sendForm(visit, form, around)
  if (isStep(visit, 'preview')) {
    const { fault, done } = await tryForm(() => previewOf(visit, around.payers))
    return sendForm(visit, form, around, fault, done)
  }
  const { fault, done } = await tryForm(() =>
    form.who === 'one' ? startOne(visit, around.payers) : makeLink(visit),
  )
  if (fault) return sendForm(visit, form, around, fault)
  return visit.redirect(`/subscriptions/${done.data.id}`, 'made')
}

/** Refuses a form without a product before a customer is created for it. */
function productIdOf({ form }: Visit): string {
  const id = form.product ?? ''
  if (fromPublic('prod', id) === null) throw invalid('productId: choose a product')
  return id
}

const makeLink = (visit: Visit) =>
  visit.operate<{ id: string }>('createRecurrenceTemplate', {
    body: { productId: productIdOf(visit) },
    once: visit.form.once,
  })

/** A subscription for one customer. If they are new, they are created first. */
async function startOne(visit: Visit, payers: Payers) {
  const { form } = visit
  const productId = productIdOf(visit)
  if (!payers.chosen) {
    const { data } = await visit.operate<ShownCustomer>('createCustomer', {
      body: newCustomerBody(form),
      once: form.once && `${form.once}-customer`,
    })
    // If the rest is refused, the form goes on with the customer.
    payers.chosen = data
  }
  return visit.operate<{ id: string }>('createRecurrence', {
    body: { productId, customerId: payers.chosen.id },
    once: form.once,
  })
}

/** The page on which the payer would subscribe. */
async function previewOf(visit: Visit, payers: Payers): Promise<Page> {
  const { app, company, form } = visit
  const id = fromPublic('prod', productIdOf(visit))!
  const product = await findProduct(app.db, company.id, id)
  if (!product) throw invalid('productId: the company has no such product')
  const person = payerBody(form, payers)
  const known = { name: person.name ?? '', taxId: person.taxId ?? '' }
  const isKnown = form.who === 'one' && known.name !== ''
  return offerPage(
    {
      app,
      company,
      token: 'preview',
      language: company.language,
      chosen: null,
      state: 'offer',
      terms: termsOf(product),
      description: product.description.trim(),
      payer: isKnown ? { name: known.name, ...sealPerson(app.vault, company.id, known) } : null,
      charge: null,
      started: null,
    },
    null,
  )
}

function sendForm(
  visit: Visit,
  typed: Form,
  around: Around,
  fault: FormFault | null = null,
  preview: Page | null = null,
): FastifyReply {
  const { language } = visit
  const texts = NEW[language]
  const { who } = SUBSCRIPTIONS[language]
  const { payers, products } = around
  if (products.length === 0) return sendNoProducts(visit)
  const options = productOptions(products, SUBSCRIPTIONS[language].chooseProduct)
  const plan = { name: 'product' as const, path: 'productId', check: 'filled' as const, options }
  const product = fieldsOf(fillFields([plan], texts.fields, typed, fault, language))
  const choice = (value: 'any' | 'one') =>
    html`<li class="check"><input type="radio" name="who" id="who-${value}" value="${value}"${(typed.who ?? 'any') === value && html` checked`}><label for="who-${value}">${who[value].title}<span class="soft small choice-note">${who[value].text}</span></label></li>`
  const fields = html`${product}<fieldset class="who"><legend>${who.title}</legend><ul class="rows choices">${choice('any')}${choice('one')}</ul></fieldset>
<div class="only-one">${payerFields(visit, payers, typed, fault, { path: '', isWhole: true })}</div>`
  return sendNewForm(visit, { kind: 'subscription', fields, fault, preview })
}

/** A subscription is to a product, so the first step is to create one. */
function sendNoProducts(visit: Visit): FastifyReply {
  const { language, url } = visit
  const { title } = NEW[language].kinds.subscription
  const texts = SUBSCRIPTIONS[language]
  const link =
    visit.can('catalog:write') &&
    html`<p><a class="button slim" href="${url('/products/new?type=RECURRING')}">${texts.makeProduct}</a></p>`
  return visit.send({
    title,
    here: 'new',
    body: html`${backLink(visit, '/new', NEW[language].title)}${heading(title)}${card(null, html`${nothing(language, texts.noProducts)}${link}`, 'narrow-card')}`,
  })
}

export const newSubscriptionRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/new/subscription', needs: 'payments:write', handle: show },
  { method: 'POST', path: '/new/subscription', needs: 'payments:write', handle: make },
]
