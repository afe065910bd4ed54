import type { FastifyReply } from 'fastify'
import { SCOPES, type Scope } from '../../core/companies/rules.ts'
import {
  type ApiKey,
  findCompanies,
  findWorkingKeys,
  listWorkingFirst,
} from '../../core/companies/store.ts'
import { type MadeKey, makeKey, revokeKeys } from '../../core/operator-companies.ts'
import { askAll } from '../../core/places/across.ts'
import { placeOf } from '../../core/places/front.ts'
import { idOfSuffix, suffixOf, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { formGuard } from '../dashboard/commit-once.ts'
import { backLink, confirmation, formButtons } from '../dashboard/form-parts.ts'
import { KEYS, scopesInWords } from '../dashboard/keys.ts'
import { card, heading, moment, nothing, notice, pager, pill, table } from '../dashboard/parts.ts'
import { boxesOf, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { byId, momentOrNever, pageOf, partOf } from './parts.ts'
import { companyLink } from './shell.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorRoute, OperatorVisit } from './visit.ts'

/** So many keys are made or revoked by one form. */
export const MOST = 100
const MAX_NAME = 255
const STYLES = ['developers.css']
const NEW = '/companies/picked/keys'
const REVOKE = '/companies/:company/keys/revoke'

/** What was ticked: ids in the query of a page, or in the field of the form that it shows. */
export function pickedIds({ request, form }: OperatorVisit): Uuid[] {
  const { id = [] } = request.query as { id?: string | string[] }
  const texts = request.method === 'POST' ? (form.ids ?? '').split(' ') : [id].flat()
  return texts.slice(0, MOST).flatMap((text) => idOfSuffix(text) ?? [])
}

/** The companies that were picked, in their order. What is no id of ours is left out. */
export async function findPicked(visit: OperatorVisit) {
  const ids = pickedIds(visit)
  const found = await askAll(visit.app, (db) => findCompanies(db, ids))
  const known = new Map(found.flatMap((companies) => [...companies]))
  return ids.flatMap((id) => known.get(id) ?? [])
}

export const idsField = (records: { id: Uuid }[]): Html =>
  html`<input type="hidden" name="ids" value="${records.map(({ id }) => suffixOf(id)).join(' ')}">`

export const companyList = (visit: OperatorVisit, companies: { id: Uuid; name: string }[]): Html =>
  card(
    null,
    html`<ul class="plain-list">${companies.map(({ id, name }) => html`<li>${companyLink(visit, id, name)}</li>`)}</ul>`,
  )

const revokePath = (companyId: Uuid): string => REVOKE.replace(':company', suffixOf(companyId))

/** The keys of a company, with boxes before those that work, and what can be done with them. */
export async function keysCard(visit: OperatorVisit, companyId: Uuid): Promise<Html> {
  const { language, url } = visit
  const { keys: texts, many, never } = OPERATOR[language]
  const words = KEYS[language]
  const { db } = await placeOf(visit.app, companyId)
  const { shown: keys, next } = pageOf(await listWorkingFirst(db, companyId, partOf(visit)), byId)
  const box = ({ id, name }: ApiKey) =>
    html`<input type="checkbox" form="picked" name="id" value="${suffixOf(id)}" aria-label="${many.pick(name)}">`
  const list = table(
    words.list,
    [
      {
        title: html`<span class="hide">${texts.picked}</span>`,
        kind: 'pick',
        of: (key: ApiKey) => !key.revokedAt && box(key),
      },
      { title: words.name, kind: 'main', of: ({ name }) => name },
      { title: words.scopes, of: ({ scopes }) => scopesInWords(visit, scopes) },
      {
        title: words.lastUsed,
        of: ({ lastUsedAt }) => (lastUsedAt ? momentOrNever(lastUsedAt, language) : never),
      },
      { title: words.created, of: ({ createdAt }) => moment(createdAt) },
      {
        title: words.state,
        of: ({ revokedAt }) =>
          revokedAt
            ? html`${pill(words.revoked, 'calm')} <span class="small soft">${moment(revokedAt)}</span>`
            : pill(words.active, 'good'),
      },
    ],
    keys,
    nothing(language, texts.none),
  )
  const bar = html`<form id="picked" class="pick-bar" method="get" action="${url(revokePath(companyId))}"><label class="pick-all js"><input type="checkbox" data-pick-all><span>${texts.all}</span></label><span class="picked-count" aria-live="polite" data-one="${many.one}" data-many="${many.several}">${texts.picked}</span><span class="actions"><button class="button quiet danger slim">${words.revoke}</button></span></form>`
  const create = html`<a class="button quiet slim" href="${url(NEW)}?id=${suffixOf(companyId)}">${words.create}</a>`
  const isPickable = keys.some(({ revokedAt }) => !revokedAt)
  const title = html`<div class="heading"><h2>${words.title}</h2>${create}</div>`
  return card(
    null,
    html`${title}${list}${isPickable && bar}${pager(visit, next)}`,
    isPickable ? 'list-card' : '',
  )
}

type Fault = { name: boolean; scopes: boolean }

/** The form for a key of each company that is picked. */
async function showForm(visit: OperatorVisit, fault: Fault | null = null): Promise<FastifyReply> {
  const { language, form, formOf, url, request } = visit
  const { keys: texts, sections } = OPERATOR[language]
  const words = KEYS[language]
  const picked = await findPicked(visit)
  if (picked.length === 0) return visit.redirect('/companies', 'none')
  const isFirst = request.method === 'GET'
  const name = {
    name: 'name',
    label: words.name,
    value: form.name ?? '',
    fault: fault?.name ? words.nameWrong : null,
    wrong: words.nameWrong,
    hint: words.nameHint,
    autocomplete: 'off' as const,
    maxlength: MAX_NAME,
  }
  const scopes = {
    name: 'scopes',
    title: words.scopes,
    hint: texts.scopesHint,
    fault: fault?.scopes ? words.scopesWrong : null,
    boxes: SCOPES.map((scope) => ({
      name: scope,
      label: words.words[scope],
      note: scope,
      isChecked: isFirst ? scope.startsWith('payments:') : form[scope] !== undefined,
    })),
  }
  const content = html`${idsField(picked)}${fieldsOf([name])}${boxesOf(scopes)}${formButtons(words.create)}`
  const title = texts.newTitle(picked.length)
  const body = html`${backLink(visit, '/companies', sections.companies)}${heading(title)}
${card(null, formOf(url(NEW), content, { kind: 'card-form' }))}${companyList(visit, picked)}`
  return visit.send({ title, here: 'companies', body, styles: STYLES, status: fault ? 400 : 200 })
}

async function make(visit: OperatorVisit): Promise<FastifyReply> {
  const name = (visit.form.name ?? '').trim()
  const scopes: Scope[] = SCOPES.filter((scope) => visit.form[scope] !== undefined)
  const fault = { name: name === '' || name.length > MAX_NAME, scopes: scopes.length === 0 }
  if (fault.name || fault.scopes) return showForm(visit, fault)
  const picked = await findPicked(visit)
  const once = formGuard(visit, [picked.map(({ id }) => id), name, scopes])
  const made: Shown[] = []
  for (const { id, name: company } of picked) {
    const key = await makeKey(visit.app, { companyId: id, name, scopes }, visit.author, once)
    made.push({ companyId: id, company, text: textOf(key) })
  }
  if (made.length === 0) return visit.redirect('/companies', 'none')
  return showKeys(visit, OPERATOR[visit.language].keys.madeTitle(made.length), made)
}

const textOf = (key: MadeKey): string | null => (key.status === 'created' ? key.text : null)

/** A key as it is shown this once; without a text, the company has one that is shown no more. */
export type Shown = { companyId: Uuid; company: string; text: string | null }

export function showKeys(visit: OperatorVisit, title: string, keys: Shown[]): FastifyReply {
  const { company, many, sections } = OPERATOR[visit.language]
  const list = table(
    title,
    [
      {
        title: company,
        kind: 'main',
        of: (one: Shown) => companyLink(visit, one.companyId, one.company),
      },
      { title: 'ID', of: ({ companyId }) => html`<code>${companyId}</code>` },
      { title: many.key, of: ({ text }) => (text ? html`<code>${text}</code>` : many.known) },
    ],
    keys,
  )
  const body = html`${backLink(visit, '/companies', sections.companies)}${heading(title)}
${notice(many.keysOnce, 'warn')}
${card(null, list)}`
  return visit.send({ title, here: 'companies', body, styles: STYLES })
}

/** The company of the URL, and its keys that are picked and still work. */
async function findKeys(visit: OperatorVisit) {
  const id = idOfSuffix(visit.params.company ?? '')
  if (!id) throw problem('route_not_found')
  const { db } = await placeOf(visit.app, id)
  const company = (await findCompanies(db, [id])).get(id)
  if (!company) throw problem('route_not_found')
  return { company, keys: await findWorkingKeys(db, id, pickedIds(visit)) }
}

async function askToRevoke(visit: OperatorVisit): Promise<FastifyReply> {
  const { company, keys } = await findKeys(visit)
  const back = `/companies/${suffixOf(company.id)}`
  if (keys.length === 0) return visit.redirect(back, 'no-key')
  const words = KEYS[visit.language]
  const title = OPERATOR[visit.language].keys.revokeTitle(keys.length, company.name)
  const body = html`${confirmation(visit, {
    title,
    text: words.revokeText,
    action: revokePath(company.id),
    button: words.revoke,
    back,
    fields: idsField(keys),
  })}${card(null, html`<ul class="plain-list">${keys.map(({ name }) => html`<li>${name}</li>`)}</ul>`)}`
  return visit.send({ title, here: 'companies', body, styles: STYLES })
}

async function revoke(visit: OperatorVisit): Promise<FastifyReply> {
  const { company, keys } = await findKeys(visit)
  const named = keys.map(({ id }) => ({ companyId: company.id, id }))
  await revokeKeys(visit.app, named, visit.author)
  return visit.redirect(
    `/companies/${suffixOf(company.id)}`,
    keys.length === 0 ? 'no-key' : 'revoke',
  )
}

export const operatorKeysRoutes: OperatorRoute[] = [
  { method: 'GET', path: NEW, confirmed: true, handle: (visit) => showForm(visit) },
  { method: 'POST', path: NEW, confirmed: true, handle: make },
  { method: 'GET', path: REVOKE, confirmed: true, handle: askToRevoke },
  { method: 'POST', path: REVOKE, confirmed: true, handle: revoke },
]
