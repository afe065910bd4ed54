import {
  CEPS,
  SHIPPING_FIELDS,
  type Shipping,
  type ShippingFault,
  type ShippingField,
  shippingFaults,
  stateOfPostalCode,
} from '../core/charges/shipping.ts'
import type { Language } from '../lib/language.ts'
import { CHECKOUT } from './checkout-texts.ts'
import { type Field, fieldsOf, type Option } from './forms.ts'
import { type Html, html } from './html.ts'
import { icon } from './layout.ts'
import type { Form } from './site.ts'

/** An address from the form, and what is wrong with it. */
export type ShippingGiven = {
  shipping: Shipping
  faults: Partial<Record<ShippingField, ShippingFault>>
}

export const hasFaults = ({ faults }: ShippingGiven): boolean => Object.keys(faults).length > 0

/** Reads an address. The CEP may have punctuation. If the state is empty, the CEP gives it. */
export function readShipping(form: Form): ShippingGiven {
  const text = (name: ShippingField) => (form[name] ?? '').replace(/\s+/g, ' ').trim()
  const postalCode = text('postalCode').replace(/[^0-9a-z]/gi, '')
  const state = text('state').toUpperCase() || (stateOfPostalCode(postalCode) ?? '')
  const shipping: Shipping = {
    postalCode,
    address: text('address'),
    number: text('number'),
    line1: text('line1'),
    district: text('district'),
    city: text('city'),
    state,
  }
  return { shipping, faults: shippingFaults(shipping) }
}

/** Where a trial without real money is sent. */
export const TRIAL_ADDRESS = {
  postalCode: '01310-100',
  address: 'Avenida Paulista',
  number: '1000',
  district: 'Bela Vista',
  city: 'São Paulo',
  state: 'SP',
} satisfies Partial<Record<ShippingField, string>>

const WIDTHS: Partial<Record<ShippingField, Field['width']>> = {
  postalCode: 'half',
  number: 'third',
  line1: 'most',
  city: 'half',
  state: 'half',
}

const AUTOCOMPLETE: Partial<Record<ShippingField, string>> = {
  postalCode: 'shipping postal-code',
  address: 'shipping address-line1',
  line1: 'shipping address-line2',
  district: 'shipping address-level3',
  city: 'shipping address-level2',
  state: 'shipping address-level1',
}

export function shippingForm(given: ShippingGiven | null, language: Language): Html {
  const texts = CHECKOUT[language]
  const fields = SHIPPING_FIELDS.map((name) => fieldOf(name, given, language))
  return html`<h2>${texts.shippingTitle}</h2>
<p class="hint">${texts.shippingHint}</p>
${
  given &&
  hasFaults(given) &&
  html`<p class="notice bad" role="alert">${icon('alert')}<span>${texts.check}</span></p>`
}
${fieldsOf(fields)}`
}

/** Formats a value for the form. A CEP gets its dash. */
function formatted(name: ShippingField, given: ShippingGiven | null): string {
  const value = given?.shipping[name] ?? ''
  return name === 'postalCode' ? value.replace(/^(\d{5})(\d{3})$/, '$1-$2') : value
}

/** All states with their postal codes, by which the browser selects one. */
const choices = (none: string): Option[] => [
  { value: '', label: none },
  ...Object.entries(CEPS).map(([state, ranges]) => ({
    value: state,
    label: state,
    ceps: ranges.map((range) => range.join('-')).join(' '),
  })),
]

function fieldOf(name: ShippingField, given: ShippingGiven | null, language: Language): Field {
  const texts = CHECKOUT[language]
  const fault = given?.faults[name]
  const isPostalCode = name === 'postalCode'
  const wrong = isPostalCode ? texts.badPostalCode : texts.faults.missing
  const message =
    fault === 'unknown' && isPostalCode ? texts.badPostalCode : fault && texts.faults[fault]
  return {
    name,
    label: texts.fields[name],
    value: formatted(name, given),
    fault: message ?? null,
    wrong,
    ...(name === 'line1'
      ? { optional: texts.optional }
      : { check: isPostalCode ? 'postal-code' : 'filled' }),
    ...(WIDTHS[name] ? { width: WIDTHS[name] } : {}),
    ...(AUTOCOMPLETE[name] ? { autocomplete: AUTOCOMPLETE[name] } : {}),
    ...(isPostalCode ? { inputmode: 'numeric', maxlength: 9 } : {}),
    ...(name === 'state' ? { options: choices(texts.chooseState), isFilledIn: true } : {}),
  }
}
