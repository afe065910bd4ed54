import { type Company, checksTaxIds } from '../../core/companies/rules.ts'
import type { Language } from '../../lib/language.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import type { Form } from '../site.ts'
import type { ShownCustomer } from './customers-search.ts'
import { CUSTOMERS, type CustomerField } from './customers-texts.ts'
import { type FieldPlan, fillFields, textOf } from './fields.ts'
import type { FormFault } from './form-faults.ts'

/** The fields by which a payer is known. */
export const personPlans = (company: Company): FieldPlan<CustomerField>[] => [
  { name: 'name', check: 'filled', autocomplete: 'off' },
  {
    name: 'taxId',
    check: checksTaxIds(company) ? 'tax-id' : 'tax-id-shape',
    width: 'half',
    autocomplete: 'off',
    maxlength: 20,
  },
  { name: 'phone', check: 'phone', width: 'half', autocomplete: 'off', inputmode: 'tel' },
  { name: 'email', check: 'email', autocomplete: 'off', inputmode: 'email' },
]

const ADDRESS: FieldPlan<CustomerField>[] = [
  {
    name: 'postalCode',
    check: 'postal-code',
    width: 'third',
    inputmode: 'numeric',
    maxlength: 9,
    isOptional: true,
  },
  { name: 'address', width: 'most', isOptional: true },
  { name: 'number', width: 'third', isOptional: true },
  { name: 'line1', width: 'most', isOptional: true },
  { name: 'district', isOptional: true },
]

/** The fields of a customer, with what was typed. */
export function customerFields(
  typed: Form,
  fault: FormFault | null,
  language: Language,
  { company, customer }: { company: Company; customer: ShownCustomer | null },
): Html {
  const texts = CUSTOMERS[language]
  const filled = (plans: FieldPlan<CustomerField>[]) =>
    fieldsOf(fillFields(plans, texts.fields, typed, fault, language))
  // Whom a charge has made may have neither address nor phone, and need not get one.
  const person = personPlans(company).map((plan) => {
    const mayBeMissing = plan.name === 'email' || plan.name === 'phone'
    const isOptional = mayBeMissing && customer !== null && customer[plan.name] === undefined
    return isOptional ? { ...plan, isOptional } : plan
  })
  const { ACTIVE, INACTIVE } = texts.statuses
  const status: FieldPlan<CustomerField> = {
    name: 'status',
    options: [
      { value: 'ACTIVE', label: ACTIVE },
      { value: 'INACTIVE', label: INACTIVE },
    ],
  }
  const isOpen = ADDRESS.some(({ name }) => typed[name] || fault?.isWrong(name))
  return html`${filled(customer ? [...person, status] : person)}
<details class="more-fields"${isOpen && html` open`}><summary>${texts.address}</summary><div class="card-form"><p class="hint">${texts.addressHint}</p>${filled(ADDRESS)}</div></details>`
}

const PRIVATE = ['email', 'phone', 'postalCode', 'address', 'number', 'line1', 'district'] as const

/** What the form of a known customer has at first. */
export function typedCustomer(customer: ShownCustomer): Form {
  const { name, taxId, status } = customer
  const typed: Form = { name, taxId, status }
  for (const field of PRIVATE) typed[field] = customer[field] ?? ''
  return typed
}

/** What the form says of a new customer. */
export function newCustomerBody(form: Form): object {
  const body: Record<string, string> = {
    name: textOf(form, 'name') ?? '',
    taxId: textOf(form, 'taxId') ?? '',
    email: textOf(form, 'email') ?? '',
    phone: textOf(form, 'phone') ?? '',
    status: 'ACTIVE',
  }
  for (const { name } of ADDRESS) {
    const text = textOf(form, name)
    if (text) body[name] = text
  }
  return body
}

/** What the form changes of a customer. An empty field of an address removes that part. */
export function changedCustomerBody(form: Form, customer: ShownCustomer): object {
  const body: Record<string, string | null> = {
    id: customer.id,
    name: textOf(form, 'name') ?? '',
    taxId: textOf(form, 'taxId') ?? '',
    status: form.status ?? '',
  }
  for (const name of ['email', 'phone'] as const) {
    const text = textOf(form, name)
    if (text !== undefined || customer[name] !== undefined) body[name] = text ?? ''
  }
  for (const { name } of ADDRESS) body[name] = textOf(form, name) ?? null
  return body
}
