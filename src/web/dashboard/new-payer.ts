import { Problem } from '../../lib/problems.ts'
import { plainTaxId } from '../../pix/tax-id.ts'
import { field, fieldsOf } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import type { Form } from '../site.ts'
import { personPlans, type ShownCustomer, searchCustomers } from './customers.ts'
import { CUSTOMERS } from './customers-texts.ts'
import { fillFields, textOf } from './fields.ts'
import type { FormFault } from './form-faults.ts'
import { listedTaxId } from './masks.ts'
import { NEW } from './new-texts.ts'
import type { Visit } from './visit.ts'

/** How many customers a search shows. */
const MAX_FOUND = 10

/** The customers to choose from. Null: nobody was searched for. */
export type Payers = { found: ShownCustomer[] | null; chosen: ShownCustomer | null }

/** What the buttons of a form do that do not create anything. */
export const isStep = ({ form }: Visit, step: 'find' | 'rows' | 'preview'): boolean =>
  form.step === step

/** Finds the customer who was chosen, and those whom the search box names. */
export async function findPayers(visit: Visit): Promise<Payers> {
  const { form, query } = visit
  const id = form.customerId ?? query.customer
  const chosen = id ? await findCustomer(visit, id) : null
  const text = textOf(form, 'find')
  if (!isStep(visit, 'find') || !text) return { found: null, chosen }
  const { data } = await searchCustomers(visit, text, { limit: MAX_FOUND })
  return { found: data, chosen: data[0] ?? null }
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

export type PayerNeeds = {
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
