import type { FastifyReply } from 'fastify'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { checkbox } from '../forms.ts'
import type { Html, Shown } from '../html.ts'
import { html } from '../html.ts'
import { type Page, pageText } from '../layout.ts'
import type { Form } from '../site.ts'
import type { FieldPlan } from './fields.ts'
import type { FormFault } from './form-faults.ts'
import { backLink, formButtons } from './form-parts.ts'
import { NEW, type NewField, type NewKind } from './new-texts.ts'
import { card, heading, notice } from './parts.ts'
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
  const body: Record<string, unknown> = {}
  if (description?.trim()) body.description = description.trim()
  if (externalId?.trim()) body.externalId = externalId.trim()
  if (expiresIn) body.expiresIn = Number(expiresIn)
  if (devMode === 'yes') body.devMode = true
  return body
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
