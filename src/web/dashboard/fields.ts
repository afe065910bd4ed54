import type { Language } from '../../lib/language.ts'
import { CHECKOUT } from '../checkout-texts.ts'
import type { Field } from '../forms.ts'
import type { Form } from '../site.ts'
import type { FormFault } from './form-faults.ts'

/** What people read at a field. `wrong` says what to type instead of what was refused. */
export type FieldTexts = { label: string; wrong: string; hint?: string }

/** A field of a form, without what depends on the language and on what was typed. */
export type FieldPlan<Name extends string> = Pick<
  Field,
  | 'check'
  | 'min'
  | 'unless'
  | 'width'
  | 'isFilledIn'
  | 'autocomplete'
  | 'inputmode'
  | 'maxlength'
  | 'rows'
  | 'options'
> & {
  name: Name
  /** The name that the API has for it, if it is another one. */
  path?: string
  isOptional?: boolean
}

/** Fields with their texts, what was typed, and what is wrong with it. */
export const fillFields = <Name extends string>(
  plans: FieldPlan<Name>[],
  texts: Record<Name, FieldTexts>,
  typed: Form,
  fault: FormFault | null,
  language: Language,
): Field[] =>
  plans.map(({ name, path = name, isOptional, ...control }) => ({
    ...control,
    ...texts[name],
    name,
    value: typed[name] ?? '',
    fault: fault?.isWrong(path) ? texts[name].wrong : null,
    ...(isOptional ? { optional: CHECKOUT[language].optional } : {}),
  }))

/** The text of a field without spaces around it, or undefined if it was left empty. */
export const textOf = (form: Form, name: string): string | undefined =>
  form[name]?.trim() || undefined
