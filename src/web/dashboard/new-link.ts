import type { FastifyReply } from 'fastify'
import { linkDraft, requireTerms } from '../../core/charges/commands.ts'
import type { Draft } from '../../core/charges/drafts.ts'
import { LINK_LIFETIME_S } from '../../core/charges/rules.ts'
import { breakDown, sumOf } from '../../core/charges/view.ts'
import { type Cents, formatReais, readReais } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { checkbox, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon, type Page } from '../layout.ts'
import type { Form } from '../site.ts'
import { sharePath } from './charge-share.ts'
import { type FieldPlan, type FormFault, fillFields, textOf, tryForm } from './form-parts.ts'
import {
  type Around,
  amountPlan,
  aroundOf,
  commonBody,
  descriptionPlan,
  devModeField,
  dueFields,
  externalIdPlan,
  isStep,
  lifetimePlan,
  MAX_SELLABLE,
  payerBody,
  payerFields,
  previewCharge,
  productOptions,
  requireDue,
  sendNewForm,
} from './new-parts.ts'
import { NEW, type NewField } from './new-texts.ts'
import { splitBody, splitFields } from './split-parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const ROWS = 5
/** As many items as a link may have. */
const MAX_ROWS = 100

async function show(visit: Visit): Promise<FastifyReply> {
  const { product = '' } = visit.query
  const typed = { expiresIn: String(LINK_LIFETIME_S), 'product-0': product, 'quantity-0': '1' }
  return sendForm(visit, typed, await aroundOf(visit, 'ONE_TIME'))
}

const rowsOf = (form: Form): number => {
  const rows = Number(form.rows)
  return Number.isInteger(rows) ? Math.min(Math.max(rows, ROWS), MAX_ROWS) : ROWS
}

/** The rows in which a product is chosen, in the order in which the API gets them. */
const filledRows = (form: Form): number[] =>
  Array.from({ length: rowsOf(form) }, (_, row) => row).filter((row) => form[`product-${row}`])

/** What the form says of a link. What cannot be read is refused by the rules of the API. */
function bodyOf(form: Form, { payers }: Around): Record<string, unknown> {
  const items = filledRows(form).map((row) => ({
    productId: form[`product-${row}`],
    quantity: Number(form[`quantity-${row}`] || 1),
  }))
  const body: Record<string, unknown> = { ...commonBody(form), ...splitBody(form) }
  if (items.length > 0) body.items = items
  if (form.total?.trim()) body.total = readReais(form.total) ?? -1
  const isMailed = form.notifyCustomer === 'yes'
  if (payers.chosen) body.customerId = payers.chosen.id
  // A link that is mailed needs an address. What is no address is refused with all else.
  else body.customer = { ...(isMailed ? { email: '?' } : {}), ...payerBody(form, payers) }
  for (const name of ['successUrl', 'failedUrl']) {
    const text = textOf(form, name)
    if (text) body[name] = text
  }
  if (form.needShipping === 'yes') body.needShipping = true
  if (isMailed) body.notifyCustomer = true
  return body
}

async function make(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const around = await aroundOf(visit, 'ONE_TIME')
  if (isStep(visit, 'find')) return sendForm(visit, form, around)
  if (isStep(visit, 'rows')) {
    return sendForm(visit, { ...form, rows: String(rowsOf(form) + ROWS) }, around)
  }
  const drafted = await tryForm(() => draftOf(visit, around))
  const difference = drafted.done ? differenceOf(drafted.done) : null
  if (isStep(visit, 'preview')) {
    const preview = drafted.done && previewOf(visit, around, drafted.done)
    return sendForm(visit, form, around, { fault: drafted.fault, preview, difference })
  }
  if (difference && form.confirmed !== difference.name) {
    return sendForm(visit, form, around, { difference })
  }
  const { fault, done } = await tryForm(() => create(visit, around))
  if (fault) return sendForm(visit, form, around, { fault, difference })
  return visit.redirect(sharePath(done.data.id), 'link')
}

async function create(visit: Visit, around: Around) {
  const { form } = visit
  const { chosen } = around.payers
  if (form.notifyCustomer === 'yes' && chosen && !chosen.email) {
    throw invalid('customer.email: the link cannot be sent without an address')
  }
  return visit.operate<{ id: string }>('createPaymentLink', {
    body: bodyOf(form, around),
    once: form.once,
  })
}

/** The link as it would be created. Its payer may still be missing. */
async function draftOf(visit: Visit, around: Around): Promise<Draft> {
  const { app, company, form } = visit
  const body = bodyOf(form, around) as Parameters<typeof linkDraft>[2]
  const { total, items = [] } = body
  if (total === undefined ? items.length === 0 : total < MIN_CHARGE) {
    throw invalid('total: send it, or items to add up')
  }
  const wrong = items.findIndex(({ quantity }) => !(Number.isInteger(quantity) && quantity > 0))
  if (wrong >= 0) throw invalid(`items[${wrong}].quantity: must be a whole number`)
  requireDue(form)
  const payer = payerBody(form, around.payers)
  const known = { name: payer.name ?? '', taxId: payer.taxId ?? '' }
  // A preview shows no parts, and what is created is checked by the API.
  const { customerId: _id, split: _split, ...others } = body
  const sent = { ...others, customer: known }
  const draft = await linkDraft(app, company, sent, () => Buffer.alloc(0))
  requireTerms(draft, app.clock.now())
  return draft
}

function previewOf(visit: Visit, { payers }: Around, draft: Draft): Page {
  const { amount, description, link, devMode, lifetime_s, due } = draft
  const payer = payerBody(visit.form, payers)
  const kind = 'LINK'
  return previewCharge(visit, { kind, amount, description, link, devMode, lifetime_s, due, payer })
}

/** A total that differs from its products. The name tells whether this one was confirmed. */
type Difference = { name: string; total: Cents; sum: bigint }

function differenceOf({ amount: total, link }: Draft): Difference | null {
  const { lines, difference } = breakDown(total, link?.items ?? [])
  const sum = sumOf(lines)
  return difference === 0n ? null : { name: `${total} ${sum}`, total, sum }
}

type Answered = {
  fault?: FormFault | null
  preview?: Page | null
  difference?: Difference | null
}

function sendForm(
  visit: Visit,
  typed: Form,
  around: Around,
  { fault = null, preview = null, difference = null }: Answered = {},
): FastifyReply {
  const { language } = visit
  const texts = NEW[language]
  const warning = difference && {
    text: texts.totalDiffers(formatReais(difference.total), formatReais(difference.sum)),
    make: texts.makeWithTotal,
  }
  const filled = (plans: FieldPlan<NewField>[]) =>
    fieldsOf(fillFields(plans, texts.fields, typed, fault, language))
  const total = filled([
    { name: 'total', ...amountPlan, isOptional: true },
    lifetimePlan(visit),
    descriptionPlan,
  ])
  const returns: FieldPlan<NewField>[] = (['successUrl', 'failedUrl'] as const).map((name) => ({
    name,
    check: 'url',
    inputmode: 'url',
    maxlength: 2048,
    isOptional: true,
  }))
  const isOn = (name: string) => typed[name] === 'yes'
  const isOpen = ['externalId', 'successUrl', 'failedUrl'].some((name) => typed[name])
  const confirmed =
    difference && html`<input type="hidden" name="confirmed" value="${difference.name}">`
  const fields = html`${confirmed}<fieldset class="card-form"><legend>${texts.products}</legend>${productRows(visit, typed, around, fault)}</fieldset>
${total}
${dueFields(visit, typed, fault)}
${splitFields(visit, around.payers.recipients, typed, fault)}
${payerFields(visit, around.payers, typed, fault, { path: 'customer.' })}
${checkbox({ name: 'notifyCustomer', label: texts.notify, hint: texts.notifyHint, isOn: isOn('notifyCustomer') })}
${checkbox({ name: 'needShipping', label: texts.needShipping, hint: texts.needShippingHint, isOn: isOn('needShipping') })}
${devModeField(visit, typed)}
<details class="more-fields"${isOpen && html` open`}><summary>${texts.more}</summary>${filled([externalIdPlan, ...returns])}</details>`
  return sendNewForm(visit, { kind: 'link', fields, fault, preview, warning, scripts: ['rows.js'] })
}

/** Rows of products. A script hides those that are empty until more are asked for. */
function productRows(
  { language }: Visit,
  typed: Form,
  { products }: Around,
  fault: FormFault | null,
): Html {
  const texts = NEW[language]
  const filled = filledRows(typed)
  const options = productOptions(products, texts.noProduct)
  const rows = Array.from({ length: rowsOf(typed) }, (_, row) => {
    const position = filled.indexOf(row)
    const isWrong = position >= 0 && fault?.isWrong(`items[${position}]`)
    const [product, quantity] = [`product-${row}`, `quantity-${row}`]
    return html`<div data-row>${fieldsOf([
      {
        name: product,
        label: texts.productRow(row + 1),
        value: typed[product] ?? '',
        fault: null,
        wrong: '',
        isFilledIn: true,
        width: 'most',
        options,
      },
      {
        name: quantity,
        label: texts.quantity,
        value: typed[quantity] ?? '1',
        fault: isWrong ? texts.wrongQuantity : null,
        wrong: texts.wrongQuantity,
        check: 'quantity',
        isFilledIn: true,
        width: 'third',
        inputmode: 'numeric',
        maxlength: 7,
      },
    ])}</div>`
  })
  return html`<p class="hint">${texts.productsHint}</p><input type="hidden" name="rows" value="${rowsOf(typed)}">
<div class="card-form" data-rows>${rows}</div>
<p><button class="button quiet slim" name="step" value="rows" formnovalidate>${icon('plus')}<span>${texts.addRows}</span></button></p>
${products.length >= MAX_SELLABLE && html`<p class="hint">${texts.newestProducts(MAX_SELLABLE)}</p>`}`
}

export const newLinkRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/new/link', needs: 'payments:write', handle: show },
  { method: 'POST', path: '/new/link', needs: 'payments:write', handle: make },
]
