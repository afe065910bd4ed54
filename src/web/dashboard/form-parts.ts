import type { Language } from '../../lib/language.ts'
import { Problem } from '../../lib/problems.ts'
import { CHECKOUT } from '../checkout-texts.ts'
import type { Field } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import type { Form } from '../site.ts'
import { notice } from './parts.ts'
import { problemText } from './problem-texts.ts'
import { DASHBOARD } from './texts.ts'
import type { Visit } from './visit.ts'

/** A link to the page that this one belongs to, above its title. */
export const backLink = ({ url }: Pick<Visit, 'url'>, path: string, label: string): Html =>
  backTo(url(path), label)

/** The same to a page that is not of the company or the operators. */
export const backTo = (href: string, label: string): Html =>
  html`<p class="back-link"><a href="${href}">${icon('next')}<span>${label}</span></a></p>`

/** The button that sends a form, and beside it others and the way back. */
export const formButtons = (label: string, others: Shown = null): Html =>
  html`<div class="actions form-buttons"><button class="button">${label}</button>${others}</div>`

export type Confirmation = {
  title: string
  text: Shown
  /** Where the form goes. */
  action: string
  button: string
  /** Where somebody goes who does not want it. */
  back: string
  /** More fields of the form. */
  fields?: Shown
  /** Whether it destroys nothing, so that its button need not warn. */
  isHarmless?: boolean
}

/** Asks once more before something is done that cannot be undone. */
export const confirmation = (
  { formOf, url, language }: Pick<Visit, 'formOf' | 'url'> & { language: Language },
  { title, text, action, button, back, fields, isHarmless }: Confirmation,
): Html =>
  html`${backLink({ url }, back, DASHBOARD[language].back)}<section class="card narrow-card"><h1>${title}</h1><p>${text}</p>
${formOf(
  url(action),
  html`${fields}<div class="actions form-buttons"><button class="button${!isHarmless && ' danger'}">${button}</button></div>`,
  { kind: 'card-form' },
)}</section>`

/** A link to one of several lists, such as those with one status. */
export type Tab = {
  label: string
  /** How many records it leads to. */
  count?: string
  path: string
  isHere: boolean
}

export const tabs = ({ url }: Pick<Visit, 'url'>, label: string, shown: Tab[]): Html =>
  html`<nav class="tabs" aria-label="${label}">${shown.map(
    (tab) =>
      html`<a href="${url(tab.path)}"${tab.isHere && html` aria-current="true"`}>${tab.label}${tab.count && html` <span class="count">${tab.count}</span>`}</a>`,
  )}</nav>`

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
  | 'type'
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

/** Why a form was refused. */
export type FormFault = {
  problem: Problem
  /** Whether the field breaks its rule, by the name that the API has for it. */
  isWrong(field: string): boolean
  /** The sentence above the form. */
  notice(language: Language): Html
}

const faultOf = (problem: Problem): FormFault => {
  const paths =
    problem.code === 'invalid_value' || problem.code === 'unknown_placeholder'
      ? problem.items.map(({ description }) => description.split(':')[0]!)
      : []
  return {
    problem,
    isWrong: (field) =>
      paths.some(
        (path) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`),
      ),
    notice: (language) =>
      notice(
        paths.length > 0 ? DASHBOARD[language].check : problemText(problem.code, language),
        'bad',
      ),
  }
}

/**
 * Does what a form asks for. If it is refused for a reason that the person can change, returns that
 * reason, so that the form is shown again with what was typed. Anything else is thrown.
 */
export async function tryForm<T>(
  act: () => Promise<T>,
): Promise<{ fault: null; done: T } | { fault: FormFault; done: null }> {
  try {
    return { fault: null, done: await act() }
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 404 || error.code === 'internal_error') {
      throw error
    }
    return { fault: faultOf(error), done: null }
  }
}
