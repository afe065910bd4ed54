import type { Language } from '../../lib/language.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { DASHBOARD } from './texts.ts'
import type { Visit } from './visit.ts'

/** A link to the page that this one belongs to, above its title. */
export const backLink = ({ url }: Pick<Visit, 'url'>, path: string, label: string): Html =>
  html`<p class="back-link"><a href="${url(path)}">${icon('next')}<span>${label}</span></a></p>`

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
}

/** Asks once more before something is done that cannot be undone. */
export const confirmation = (
  { formOf, url, language }: Pick<Visit, 'formOf' | 'url'> & { language: Language },
  { title, text, action, button, back, fields }: Confirmation,
): Html =>
  html`<section class="card narrow-card"><h1>${title}</h1><p>${text}</p>
${formOf(
  url(action),
  html`${fields}<div class="actions form-buttons"><button class="button danger">${button}</button><a class="button quiet" href="${url(back)}">${DASHBOARD[language].back}</a></div>`,
  { kind: 'card-form' },
)}</section>`

/** A link to one of several lists, such as those with one status. */
export type Tab = { label: string; path: string; isHere: boolean }

export const tabs = ({ url }: Pick<Visit, 'url'>, label: string, shown: Tab[]): Html =>
  html`<nav class="tabs" aria-label="${label}">${shown.map(
    (tab) =>
      html`<a href="${url(tab.path)}"${tab.isHere && html` aria-current="true"`}>${tab.label}</a>`,
  )}</nav>`
