import type { FastifyReply } from 'fastify'
import { type Charge, expiryOf, newCharge } from '../../core/charges/rules.ts'
import { sealPerson } from '../../core/customers/sealing.ts'
import type { ShownProduct } from '../../core/products/view.ts'
import { newId } from '../../lib/ids.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { invalid, Problem } from '../../lib/problems.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { isLocalDate } from '../../pix/local-time.ts'
import { plainTaxId } from '../../pix/tax-id.ts'
import { chargePage } from '../checkout.ts'
import { checkbox, field, fieldsOf, type Option } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon, type Page, pageText } from '../layout.ts'
import type { Form } from '../site.ts'
import { personPlans, type ShownCustomer, searchCustomers } from './customers.ts'
import { CUSTOMERS } from './customers-texts.ts'
import {
  backLink,
  type FieldPlan,
  type FormFault,
  fillFields,
  formButtons,
  textOf,
} from './form-parts.ts'
import { DUE_FIELDS, NEW, type NewField, type NewKind } from './new-texts.ts'
import { card, heading, listedTaxId, notice } from './parts.ts'
import { recipientOptions } from './split-parts.ts'
import type { Visit } from './visit.ts'

const MAX_DESCRIPTION = 140

export const amountPlan = {
  check: 'amount',
  min: MIN_CHARGE,
  inputmode: 'decimal',
  width: 'half',
} as const

export function lifetimePlan({ language }: Visit): FieldPlan<NewField> {
  const options = Object.entries(NEW[language].lifetimes).map(([value, label]) => ({
    value,
    label,
  }))
  return { name: 'expiresIn', width: 'half', options }
}

export const descriptionPlan: FieldPlan<NewField> = {
  name: 'description',
  maxlength: MAX_DESCRIPTION,
  isOptional: true,
}

export const externalIdPlan: FieldPlan<NewField> = { name: 'externalId', isOptional: true }

/** Only a live company needs it: everything in a sandbox is a test. */
export const devModeField = ({ company, language }: Visit, typed: Form): Html | false =>
  company.mode === 'live' &&
  checkbox({
    name: 'devMode',
    label: NEW[language].devMode,
    hint: NEW[language].devModeHint,
    isOn: typed.devMode === 'yes',
  })

/** The fields of a charge that are the same for all kinds. Empty ones are left out. */
export function commonBody(form: Form): Record<string, unknown> {
  const { description, externalId, expiresIn, devMode } = form
  const body: Record<string, unknown> = dueBody(form)
  if (description?.trim()) body.description = description.trim()
  if (externalId?.trim()) body.externalId = externalId.trim()
  if (expiresIn && body.dueDate === undefined) body.expiresIn = Number(expiresIn)
  if (devMode === 'yes') body.devMode = true
  return body
}

const WRITTEN = { isOptional: true, width: 'half' } as const
const DUE_PLANS: FieldPlan<NewField>[] = [
  { name: 'dueDate', type: 'date', ...WRITTEN },
  { name: 'daysAfterDue', inputmode: 'numeric', ...WRITTEN },
  { name: 'fine', inputmode: 'decimal', ...WRITTEN },
  { name: 'interest', inputmode: 'decimal', ...WRITTEN },
  { name: 'discount', path: 'discounts[0].value', inputmode: 'decimal', ...WRITTEN },
  { name: 'discountUntil', path: 'discounts[0].until', type: 'date', ...WRITTEN },
]

/** The due date and its terms, closed unless something was typed there. */
export function dueFields({ language }: Visit, typed: Form, fault: FormFault | null): Html {
  const texts = NEW[language]
  const isOpen = hasTerms(typed)
  const fields = fillFields(DUE_PLANS, texts.fields, typed, fault, language)
  return html`<details class="more-fields"${isOpen && html` open`}><summary>${texts.due}</summary>${fieldsOf(fields)}</details>`
}

const hasTerms = (form: Form): boolean => DUE_FIELDS.some((name) => textOf(form, name))

/** What a form says of a due date, in the words of the API. Percentages are written as amounts. */
function dueBody(form: Form): Record<string, unknown> {
  const text = (name: (typeof DUE_FIELDS)[number]) => textOf(form, name)
  const hundredths = (written: string) => readReais(written) ?? -1
  const [fine, interest, discount] = [text('fine'), text('interest'), text('discount')]
  const [dueDate, days, until] = [text('dueDate'), text('daysAfterDue'), text('discountUntil')]
  const body: Record<string, unknown> = {}
  // Terms without a due date are refused at the due date, which is what is missing.
  if (hasTerms(form)) body.dueDate = dueDate ?? '?'
  if (days) body.daysAfterDue = /^\d{1,3}$/.test(days) ? Number(days) : -1
  if (fine) body.fine = { type: 'PERCENT', value: hundredths(fine) }
  if (interest) body.interest = { type: 'PERCENT_PER_MONTH', value: hundredths(interest) }
  if (discount || until) {
    const value = hundredths(discount ?? '')
    body.discounts = [{ type: 'PERCENT', value, until: until ?? '' }]
  }
  return body
}

/** Refuses what a preview cannot be made of. What is created is checked by the API. */
export function requireDue(form: Form): void {
  const isPercent = (name: 'fine' | 'interest' | 'discount') =>
    (readReais(form[name] ?? '') ?? 0) > 0
  const isDay = (name: 'dueDate' | 'discountUntil') => isLocalDate(textOf(form, name) ?? '')
  const [hasDiscount, has] = [form.discount || form.discountUntil, (name: string) => form[name]]
  const faults = [
    hasTerms(form) && !isDay('dueDate') && 'dueDate: must be a day',
    !/^\d{0,3}$/.test(textOf(form, 'daysAfterDue') ?? '') && 'daysAfterDue: must be a number',
    has('fine') && !isPercent('fine') && 'fine: must be a percentage',
    has('interest') && !isPercent('interest') && 'interest: must be a percentage',
    hasDiscount && !isPercent('discount') && 'discounts[0].value: must be a percentage',
    hasDiscount && !isDay('discountUntil') && 'discounts[0].until: must be a day',
  ].filter((fault) => typeof fault === 'string' && fault !== '')
  const [first, ...others] = faults as string[]
  if (first) throw invalid(first, ...others)
}

export type NewForm = {
  kind: NewKind
  fields: Shown
  fault: FormFault | null
  /** The page that the payer would see. */
  preview?: Page | null
  scripts?: string[]
  /** Below the form. */
  more?: Shown
  hasPreview?: boolean
  /** What is probably a mistake. The next press of the button, whose label it has, creates it. */
  warning?: { text: string; make: string } | null
}

/** Sends the form of something new, with a preview of what the payer will see beside it. */
export function sendNewForm(visit: Visit, given: NewForm): FastifyReply {
  const { language, url } = visit
  const { kind, fields, fault, preview = null, hasPreview = true, warning = null } = given
  const texts = NEW[language]
  const { title, text } = texts.kinds[kind]
  const make = warning?.make ?? texts.kinds[kind].make
  const look = html`<button class="button quiet" name="step" value="preview" formnovalidate>${texts.preview}</button>`
  // Enter sends the form by its first button, which must be the one that creates.
  const content = html`<button class="hide" tabindex="-1" aria-hidden="true">${make}</button>${fault?.notice(language)}${warning && notice(warning.text, 'warn')}${fields}${formButtons(make, hasPreview && look)}`
  const form = visit.formOf(url(`/new/${kind}`), content, { kind: 'card-form', isChecked: true })
  return visit.send({
    title,
    here: 'new',
    scripts: ['form.js', ...(given.scripts ?? [])],
    ...(fault ? { status: fault.problem.status } : {}),
    body: html`${backLink(visit, '/new', texts.title)}${heading(title)}<p class="soft">${text}</p>
<div class="with-preview">${preview && previewCard(visit, preview)}${card(null, form, 'narrow-card')}</div>${given.more}`,
  })
}

/** The payer's page in a frame in which nothing can be sent. It is made for this answer only. */
function previewCard({ request, site, language }: Visit, page: Page): Html {
  const texts = NEW[language]
  const styles = [...(page.styles ?? []), 'preview.css']
  const shown = { ...page, styles, scripts: [], refresh_s: null }
  const text = pageText(request, site.assets, shown)
  return html`<section class="card preview" id="preview" aria-labelledby="preview-title"><h2 id="preview-title" tabindex="-1" autofocus>${texts.previewTitle}</h2><p class="hint">${texts.previewHint}</p>
<iframe class="preview-frame" title="${texts.previewFrame}" sandbox="allow-same-origin" srcdoc="${text}"></iframe></section>`
}

/** How many customers a search shows. */
const MAX_FOUND = 10

/** The customers to choose from. Null: nobody was searched for. */
export type Payers = {
  found: ShownCustomer[] | null
  chosen: ShownCustomer | null
  /** The recipients that it can be split with. */
  recipients: Option[]
}

/** What the buttons of a form do that do not create anything. */
export const isStep = ({ form }: Visit, step: 'find' | 'rows' | 'preview'): boolean =>
  form.step === step

/** Finds the customer who was chosen, and those whom the search box names. */
export async function findPayers(visit: Visit): Promise<Payers> {
  const { form, query } = visit
  const id = form.customerId ?? query.customer
  const chosen = id ? await findCustomer(visit, id) : null
  const recipients = await recipientOptions(visit)
  const text = textOf(form, 'find')
  if (!isStep(visit, 'find') || !text) return { found: null, chosen, recipients }
  const { data } = await searchCustomers(visit, text, { limit: MAX_FOUND })
  return { found: data, chosen: data[0] ?? null, recipients }
}

async function findCustomer(visit: Visit, id: string): Promise<ShownCustomer | null> {
  try {
    return (await visit.operate<ShownCustomer>('getCustomer', { params: { id } })).data
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null
    throw error
  }
}

/** The payer as a charge names them: the chosen customer, or what was typed. */
export function payerBody(form: Form, { chosen }: Payers): Record<string, string> {
  if (!chosen) {
    const typed = ['email', 'phone'].flatMap((name) => {
      const text = textOf(form, name)
      return text ? [[name, text]] : []
    })
    const known = { name: textOf(form, 'name') ?? '', taxId: textOf(form, 'taxId') ?? '' }
    return { ...known, ...Object.fromEntries(typed) }
  }
  const { id: _id, companyId, status, createdAt, updatedAt, ...person } = chosen
  return person
}

type PayerNeeds = {
  /** The name that the API has for the payer, before those of the fields. */
  path: string
  /** Whether e-mail address and phone must be given. */
  isWhole?: boolean
}

/** The part of a form that says who pays: a customer, found by a search, or somebody new. */
export function payerFields(
  visit: Visit,
  payers: Payers,
  typed: Form,
  fault: FormFault | null,
  { path, isWhole = false }: PayerNeeds,
): Html {
  const { language, company } = visit
  const texts = NEW[language]
  const isOptional = (name: string) => !isWhole && (name === 'email' || name === 'phone')
  const plans = personPlans(company).map((plan) => ({
    ...plan,
    path: `${path}${plan.name}`,
    // A browser must not ask for the fields while a customer is chosen instead.
    isFilledIn: true,
    isOptional: isOptional(plan.name),
    // A subscription may be for whoever has the link, and then it needs nobody.
    ...(isWhole || isOptional(plan.name) ? {} : { unless: 'customerId' }),
  }))
  const fields = fillFields(plans, CUSTOMERS[language].fields, typed, fault, language)
  const search = {
    name: 'find',
    label: texts.find,
    value: typed.find ?? '',
    fault: null,
    wrong: '',
  }
  return html`<fieldset class="card-form payer"><legend>${texts.payer}</legend>
<div class="filters"><div class="search">${field({ ...search, isFilledIn: true }, false)}</div><button class="button quiet" name="step" value="find" formnovalidate>${icon('search')}<span>${texts.findButton}</span></button></div>
${choices(visit, payers)}
<div class="new-payer">${fieldsOf(fields)}</div></fieldset>`
}

function choices({ language }: Visit, { found, chosen }: Payers): Shown {
  const texts = NEW[language]
  if (found?.length === 0) return html`<p class="notice" role="status">${texts.nobodyFound}</p>`
  const shown = found ?? (chosen ? [chosen] : [])
  if (shown.length === 0) return null
  const isOn = (id: string | null) => (chosen?.id ?? null) === id && html` checked`
  const rows = shown.map(
    ({ id, name, taxId, email }, i) =>
      html`<li class="check"><input type="radio" name="customerId" id="customer-${i}" value="${id}"${isOn(id)}><label for="customer-${i}">${name}<span class="soft small choice-note">${listedTaxId(plainTaxId(taxId))}${email && ` · ${email}`}</span></label></li>`,
  )
  return html`<fieldset><legend class="hide">${texts.chooseWho}</legend><ul class="rows choices">${rows}<li class="check"><input type="radio" name="customerId" id="customer-new" value=""${isOn(null)}><label for="customer-new">${texts.somebodyNew}</label></li></ul></fieldset>`
}

/** How many products a form offers: the newest, and the one that it was opened for. */
export const MAX_SELLABLE = 100

/** The newest products that can be sold, and the one with the given id. */
export async function listSellable(
  visit: Visit,
  type: ShownProduct['type'],
  id?: string,
): Promise<ShownProduct[]> {
  const query = { type, status: 'ACTIVE', limit: String(MAX_SELLABLE) }
  const { data } = await visit.operate<ShownProduct[]>('listProducts', { query })
  if (!id || data.some((product) => product.id === id)) return data
  try {
    const asked = await visit.operate<ShownProduct>('getProduct', { params: { id } })
    return [asked.data, ...data]
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return data
    throw error
  }
}

/** What a form that sells products is shown with, beside what was typed. */
export type Around = { payers: Payers; products: ShownProduct[] }

export async function aroundOf(visit: Visit, type: ShownProduct['type']): Promise<Around> {
  const [payers, products] = await Promise.all([
    findPayers(visit),
    listSellable(visit, type, visit.query.product),
  ])
  return { payers, products }
}

export const productOptions = (products: ShownProduct[], none: string): Option[] => [
  { value: '', label: none },
  ...products.map(({ id, name, price }) => ({
    value: id,
    label: `${name} · ${formatReais(price)}`,
  })),
]

/** What a charge that is not made would have. */
type Planned = Pick<Charge, 'kind' | 'amount' | 'description' | 'link' | 'devMode' | 'due'> & {
  lifetime_s: number
  payer: Record<string, string>
}

/** The page of a charge that is not made: of the same parts, and stored nowhere. */
export function previewCharge({ app, company }: Visit, planned: Planned): Page {
  const { lifetime_s: _, payer, kind, ...fields } = planned
  const language = company.language
  const createdAt = app.clock.now()
  const person = { name: payer.name ?? '', taxId: payer.taxId ?? '' }
  const charge = newCharge({
    ...fields,
    companyId: company.id,
    id: newId(),
    kind,
    createdAt,
    expiresAt: expiryOf(planned, createdAt),
    payer: person.name ? { name: person.name, ...sealPerson(app.vault, company.id, person) } : null,
    brCode: kind === 'PIX' ? NEW[language].sampleCode : null,
  })
  return chargePage({
    app,
    company,
    token: 'preview',
    language,
    chosen: null,
    charge,
    collection: null,
  })
}
