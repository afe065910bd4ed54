import { type Company, checksTaxIds, taxIdFault } from '../core/companies/rules.ts'
import type { Person } from '../core/customers/rules.ts'
import type { Language } from '../lib/language.ts'
import { EMAIL_FORM } from '../lib/mailbox.ts'
import { punctuatePhone } from '../pix/masks.ts'
import { isTaxIdShape, punctuateTaxId } from '../pix/tax-id.ts'
import { CHECKOUT } from './checkout-texts.ts'
import { type Field, fieldsOf } from './forms.ts'
import { type Html, html } from './html.ts'
import { icon } from './layout.ts'
import type { Form } from './site.ts'
import { type PayerField, SUBSCRIPTION } from './subscription-texts.ts'

/** A payer from a form, and which fields are wrong. */
export type PayerGiven = { person: Required<Pick<Person, PayerField>>; faults: PayerField[] }

/** Reads the payer from the form, without punctuation. Fields that are optional may be empty. */
export function readPayer(
  form: Form,
  company: Company,
  optional: readonly PayerField[] = [],
): PayerGiven {
  const text = (name: PayerField) => (form[name] ?? '').replace(/\s+/g, ' ').trim()
  const person = {
    name: text('name'),
    taxId: text('taxId')
      .replace(/[^0-9a-z]/gi, '')
      .toUpperCase(),
    email: text('email'),
    phone: text('phone')
      .replace(/\D/g, '')
      .replace(/^0*(55)?(?=\d{10,11}$)/, ''),
  }
  const isRight: Record<PayerField, boolean> = {
    name: person.name !== '' && person.name.length <= 255,
    taxId: taxIdFault(checksTaxIds(company), person.taxId) === null,
    email: person.email.length <= 254 && EMAIL_FORM.test(person.email),
    phone: /^[0-9]{10,11}$/.test(person.phone),
  }
  const isLeftOut = (name: PayerField) => optional.includes(name) && person[name] === ''
  return { person, faults: FIELDS.filter((name) => !isRight[name] && !isLeftOut(name)) }
}

const FIELDS: PayerField[] = ['name', 'taxId', 'email', 'phone']

/** Formats a value for the form. If it is wrong, it is shown as it was read. */
function formatted(name: PayerField, value: string): string {
  if (name === 'taxId') return isTaxIdShape(value) ? punctuateTaxId(value) : value
  if (name === 'phone') return punctuatePhone(value)
  return value
}

const CONTROLS: Record<PayerField, Pick<Field, 'check' | 'autocomplete' | 'inputmode'>> = {
  name: { check: 'filled', autocomplete: 'name' },
  taxId: { check: 'tax-id', autocomplete: 'off' },
  email: { check: 'email', autocomplete: 'email', inputmode: 'email' },
  phone: { check: 'phone', autocomplete: 'tel-national', inputmode: 'tel' },
}

export function payerForm(
  given: PayerGiven | null,
  company: Company,
  language: Language,
  optional: readonly PayerField[] = [],
): Html {
  const texts = SUBSCRIPTION[language]
  const fields = FIELDS.map((name): Field => {
    const control = CONTROLS[name]
    const check = name === 'taxId' && !checksTaxIds(company) ? 'tax-id-shape' : control.check!
    return {
      ...control,
      check,
      name,
      label: texts.fields[name],
      value: formatted(name, given?.person[name] ?? ''),
      fault: given?.faults.includes(name) ? texts.faults[name] : null,
      wrong: texts.faults[name],
      ...(optional.includes(name) ? { optional: CHECKOUT[language].optional } : {}),
      ...(name === 'taxId' ? { hint: texts.taxIdHint, maxlength: 20 } : {}),
    }
  })
  const isWrong = given !== null && given.faults.length > 0
  return html`<h2>${texts.formTitle}</h2>
<p class="hint">${texts.formHint}</p>
${isWrong && html`<p class="notice bad" role="alert">${icon('alert')}<span>${CHECKOUT[language].check}</span></p>`}
${fieldsOf(fields)}`
}
