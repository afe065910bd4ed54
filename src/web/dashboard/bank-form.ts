import { type BankFault, needsAppKey, needsSecret } from '../../core/banks/given.ts'
import type { Profile } from '../../provider/bacen/profile.ts'
import { findProfile, PROFILE_NAMES } from '../../provider/bacen/profiles.ts'
import { CHECKOUT } from '../checkout-texts.ts'
import { type Field, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import type { Form } from '../site.ts'
import { BANK_FORM, type FieldName, type WebRule } from './bank-form-texts.ts'
import type { Visit } from './visit.ts'

/** What is wrong with a form, by field. */
export type Faults = Map<FieldName, WebRule>

/**
 * The banks that an owner may choose. Test environments move no money, and another address could be
 * anything that this server reaches: both are left to the operator.
 */
export const OFFERED: Profile[] = PROFILE_NAMES.filter((name) => !name.endsWith('-sandbox')).map(
  (name) => findProfile(name)!,
)

/** The first fault of each field counts. */
export const faultsOf = (faults: BankFault[]): Faults =>
  new Map(faults.toReversed().map(({ field, rule }) => [field as FieldName, rule]))

type Plan = Omit<Field, 'label' | 'value' | 'fault' | 'wrong' | 'hint' | 'optional'> & {
  name: FieldName
  isOptional?: boolean
}

const SECRET = { type: 'password', autocomplete: 'off', maxlength: 4096 } as const
const CERTIFICATE: Plan[] = [
  { name: 'certificate', accept: '.p12,.pfx,.pem,.crt,.cer,.der' },
  { name: 'key', accept: '.key,.pem', isOptional: true },
  { name: 'passphrase', ...SECRET, maxlength: 255, isOptional: true },
]

function show(visit: Visit, plans: Plan[], typed: Form, faults: Faults): Html {
  const { fields, rules } = BANK_FORM[visit.language]
  return fieldsOf(
    plans.map(({ name, isOptional, ...control }) => {
      const rule = faults.get(name)
      const { hint } = fields[name]
      return {
        ...control,
        name,
        label: fields[name].label,
        value: typed[name] ?? '',
        fault: rule ? rules[rule] : null,
        wrong: '',
        ...(hint ? { hint } : {}),
        ...(isOptional ? { optional: CHECKOUT[visit.language].optional } : {}),
      }
    }),
  )
}

const namesOf = (profiles: Profile[]): string => profiles.map(({ title }) => title).join(', ')

/** The form that connects a bank. Secrets and files are never sent back. */
export function connectFields(visit: Visit, typed: Form, faults: Faults): Html {
  const texts = BANK_FORM[visit.language]
  const { groups } = texts
  const group = (title: string, note: string | null, plans: Plan[]) =>
    html`<fieldset class="group"><legend>${title}</legend>${note && html`<p class="soft small">${note}</p>`}${show(visit, plans, typed, faults)}</fieldset>`
  const banks = OFFERED.map(({ name, title }) => ({ value: name, label: title }))
  const types = Object.entries(texts.accountTypes)
  const senders = Object.entries(texts.payouts)
  return html`${group(groups.bank, null, [
    { name: 'profile', options: [{ value: '', label: texts.choose }, ...banks] },
    { name: 'pixKey', maxlength: 77, autocomplete: 'off' },
  ])}
${group(
  groups.access,
  texts.accessNote(
    namesOf(OFFERED.filter((bank) => !needsSecret(bank))),
    namesOf(OFFERED.filter(needsAppKey)),
  ),
  [
    { name: 'clientId', autocomplete: 'off' },
    { name: 'clientSecret', ...SECRET, isOptional: true },
    { name: 'appKey', ...SECRET, isOptional: true },
  ],
)}
${group(groups.certificate, texts.certificateNote, CERTIFICATE)}
${group(groups.account, texts.accountNote, [
  { name: 'branch', width: 'half', inputmode: 'numeric', maxlength: 4, isOptional: true },
  { name: 'account', width: 'half', maxlength: 24, isOptional: true },
  {
    name: 'accountType',
    options: types.map(([value, label]) => ({ value, label })),
  },
])}
${group(
  groups.payouts,
  texts.payoutsNote(namesOf(OFFERED.filter((bank) => bank.payouts !== null))),
  [
    { name: 'payouts', options: senders.map(([value, label]) => ({ value, label })) },
    { name: 'payoutKey', maxlength: 77, autocomplete: 'off', isOptional: true },
  ],
)}`
}

/** The form that gives new credentials to the bank that is connected. */
export function renewFields(visit: Visit, typed: Form, faults: Faults, profile: Profile): Html {
  const texts = BANK_FORM[visit.language]
  const plans: Plan[] = [{ name: 'clientId', autocomplete: 'off', isOptional: true }]
  if (needsSecret(profile)) plans.push({ name: 'clientSecret', ...SECRET, isOptional: true })
  if (needsAppKey(profile)) plans.push({ name: 'appKey', ...SECRET, isOptional: true })
  return html`${show(visit, CERTIFICATE, typed, faults)}
<fieldset class="group"><legend>${texts.groups.access}</legend><p class="soft small">${texts.keepNote}</p>${show(visit, plans, typed, faults)}</fieldset>`
}
