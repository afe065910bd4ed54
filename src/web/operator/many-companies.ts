import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { companyFaults } from '../../core/companies/rules.ts'
import { makeCompany, suspendCompanies, type WantedCompany } from '../../core/operator-companies.ts'
import { isUuid, newId, suffixOf, type Uuid } from '../../lib/ids.ts'
import { plainTaxId } from '../../pix/tax-id.ts'
import { backLink, confirmation, formButtons } from '../dashboard/form-parts.ts'
import { card, heading, notice } from '../dashboard/parts.ts'
import { field } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { companyList, findPicked, idsField, MOST, pickedIds, type Shown, showKeys } from './keys.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

const LIST = '/companies'
const NEW = '/companies/new'
const MAX_TEXT = 40_000

type Action = 'suspend' | 'resume'

/** The box before a company of the list. It belongs to the form below the list. */
export const pickBox = (
  { language }: OperatorVisit,
  { id, name }: { id: Uuid; name: string },
): Html =>
  html`<input type="checkbox" form="picked" name="id" value="${suffixOf(id)}" aria-label="${OPERATOR[language].many.pick(name)}">`

/** What can be done with the companies that are picked. It asks on a page of its own. */
export function pickBar({ language, url }: OperatorVisit): Html {
  const texts = OPERATOR[language]
  const { many } = texts
  return html`<form id="picked" class="pick-bar" method="get" action="${url(`${LIST}/picked/resume`)}"><label class="pick-all js"><input type="checkbox" data-pick-all><span>${many.all}</span></label><span class="picked-count" aria-live="polite" data-one="${many.one}" data-many="${many.several}">${many.picked}</span><span class="actions"><button class="button quiet slim" formaction="${url(`${LIST}/picked/keys`)}">${texts.keys.makeMany}</button><button class="button quiet slim">${texts.companies.resume.button}</button><button class="button quiet danger slim" formaction="${url(`${LIST}/picked/suspend`)}">${texts.companies.suspend.button}</button></span></form>`
}

const ask = (action: Action) => async (visit: OperatorVisit) => {
  const { companies: texts, many } = OPERATOR[visit.language]
  const picked = await findPicked(visit)
  if (picked.length === 0) return visit.redirect(LIST, 'none')
  const title = many.title[action](picked.length)
  const body = html`${confirmation(visit, {
    title,
    text: texts[action].text,
    action: `${LIST}/picked/${action}`,
    button: texts[action].button,
    isHarmless: action === 'resume',
    back: LIST,
    fields: idsField(picked),
  })}${companyList(visit, picked)}`
  return visit.send({ title, here: 'companies', body, styles: ['developers.css'] })
}

const act = (action: Action) => async (visit: OperatorVisit) => {
  await suspendCompanies(visit.app, pickedIds(visit), action === 'suspend', visit.author)
  return visit.redirect(LIST, `${action}-many`)
}

/** What was done with several companies, above the list. */
export function manyNotice({ language, query }: OperatorVisit): Html | false {
  const { done } = OPERATOR[language].many
  const text = Object.hasOwn(done, query.done ?? '') && done[query.done as keyof typeof done]
  return text ? notice(text, query.done === 'none' ? 'warn' : 'good') : false
}

type FieldName = 'name' | 'taxId' | 'email' | 'pixKey'

/** A line of the form, and which of its fields are wrong. */
type Line = { number: number; company: WantedCompany; faults: FieldName[] }

/**
 * Reads a company from each line: name; tax id; e-mail; and, if it is live, its Pix key. The id is
 * made of the form and the line, so that the same form makes no company twice.
 */
function readLines({ form }: OperatorVisit): Line[] {
  const lines = (form.companies ?? '').split('\n').map((text) => text.trim())
  return lines.flatMap((text, i) => {
    if (text === '') return []
    const [name = '', taxId = '', email = '', pixKey = ''] = text
      .split(';')
      .map((one) => one.trim())
    const fields = { name, taxId: plainTaxId(taxId), email }
    const company = pixKey
      ? { ...fields, mode: 'live' as const, pixKey }
      : { ...fields, mode: 'sandbox' as const }
    const items = companyFaults(company)?.items ?? []
    const faults = items.map(({ description }) => description.split(':')[0] as FieldName)
    return [{ number: i + 1, company: { ...company, id: idOf(form.batch ?? '', text) }, faults }]
  })
}

/** A UUID of what was typed. It begins with the time of the form: lists are in that order. */
function idOf(batch: string, line: string): Uuid {
  const hex = createHash('sha256').update(`${batch} ${line}`).digest('hex')
  const rest = hex.replace(/^(.{3})(.{3})(.{12}).*$/, '8$1-8$2-$3')
  return `${(isUuid(batch) ? batch : newId()).slice(0, 14)}${rest}`
}

function showForm(visit: OperatorVisit, fault: string | null = null): FastifyReply {
  const { language, form, formOf, url } = visit
  const { many, sections } = OPERATOR[language]
  const control = field(
    {
      name: 'companies',
      label: many.lines,
      hint: many.hint,
      wrong: many.empty,
      value: form.companies ?? '',
      fault,
      rows: 10,
      maxlength: MAX_TEXT,
    },
    fault !== null,
  )
  const batch = html`<input type="hidden" name="batch" value="${form.batch || newId()}">`
  const content = html`${batch}${control}${formButtons(many.make)}`
  const body = html`${backLink(visit, LIST, sections.companies)}${heading(many.newTitle)}
${card(null, formOf(url(NEW), content, { kind: 'card-form' }))}`
  return visit.send({
    title: many.newTitle,
    here: 'companies',
    body,
    ...(fault === null ? {} : { status: 400 }),
  })
}

/** Nothing is made if a line is wrong. */
async function make(visit: OperatorVisit): Promise<FastifyReply> {
  const { many } = OPERATOR[visit.language]
  const lines = readLines(visit)
  if (lines.length === 0 || lines.length > MOST) return showForm(visit, many.empty)
  const wrong = lines.filter(({ faults }) => faults.length > 0)
  const faults = wrong.map(({ number, faults }) =>
    many.lineFault(number, faults.map((name) => many.faults[name]).join(', ')),
  )
  if (faults.length > 0) return showForm(visit, faults.join(' '))
  const made: Shown[] = []
  for (const { company } of lines) {
    const { key } = await makeCompany(visit.app, company, visit.author)
    made.push({ companyId: company.id, company: company.name, text: key?.text ?? null })
  }
  return showKeys(visit, many.madeTitle, made)
}

const pickedRoutes = (action: Action): OperatorRoute[] => {
  const path = `${LIST}/picked/${action}`
  return [
    { method: 'GET', path, confirmed: true, handle: ask(action) },
    { method: 'POST', path, confirmed: true, handle: act(action) },
  ]
}

export const manyCompaniesRoutes: OperatorRoute[] = [
  { method: 'GET', path: NEW, confirmed: true, handle: (visit) => showForm(visit) },
  { method: 'POST', path: NEW, confirmed: true, handle: make },
  ...pickedRoutes('suspend'),
  ...pickedRoutes('resume'),
]
