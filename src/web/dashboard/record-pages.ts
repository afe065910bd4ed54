import type { FastifyReply } from 'fastify'
import type { Language } from '../../lib/language.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import type { Form } from '../site.ts'
import { backLink, confirmation, type FormFault, formButtons, tryForm } from './form-parts.ts'
import { card, doneNotice, heading } from './parts.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardPage, DashboardRoute, Visit } from './visit.ts'

/** Where a page belongs: what the menu marks, and the links between the pages of its section. */
export type Frame = Pick<DashboardPage, 'here' | 'styles'> & { tabs?: Html }

export type RecordPage = Pick<DashboardPage, 'title' | 'body' | 'status' | 'scripts'> & {
  /** The title on the page, if the window has another one. Null: the body has it. */
  heading?: string | null
  /** The link to the page that this one belongs to, in place of the tabs. */
  back?: Html
  /** Buttons and links beside the title. */
  actions?: Shown
  /** Sentences about what a form has just done, by the name in the URL. */
  done?: Record<string, string>
  /** Why the form of the page was refused. */
  fault?: FormFault | null
}

/** Sends a page of a section: a list of records, one of them, a form or a question. */
export function sendPage(visit: Visit, { tabs, ...frame }: Frame, given: RecordPage): FastifyReply {
  const { heading: shown = given.title, back, actions, done, fault, body, ...page } = given
  const top = shown !== null && html`${back}${heading(shown, actions)}${!back && tabs}`
  return visit.send({
    ...page,
    ...frame,
    ...(fault ? { status: fault.problem.status } : {}),
    body: html`${top}${done && doneNotice(visit, done)}${fault?.notice(visit.language)}
${body}`,
  })
}

/** The link to the form for a new record. */
export const makeLink = ({ url }: Pick<Visit, 'url'>, path: string, label: string): Html =>
  html`<a class="button slim make" href="${url(path)}">${icon('plus')}<span>${label}</span></a>`

/** A form in a section with tabs. */
export const slimForm = (
  { formOf, url }: Pick<Visit, 'formOf' | 'url'>,
  action: string,
  content: Html,
  button: { label: string; kind?: 'quiet' },
): Html =>
  formOf(
    url(action),
    html`${content}<div class="actions"><button class="button ${button.kind} slim">${button.label}</button></div>`,
    { kind: 'card-form' },
  )

type CatalogTexts = {
  title: string
  make: string
  makeButton: string
  edit: string
  save: string
  /** If a record can be deleted. */
  remove?: string
  removeTitle?(name: string): string
  removeText?: string
  done: Record<string, string>
}

/** Records of a section: a list, and for each record a page, a form, and a question to delete. */
export type Catalog<T> = {
  here: 'customers' | 'products' | 'recipients' | 'links'
  /** What the menu marks, if it is not the section itself. */
  menu?: 'balance'
  /** If it is not the catalog: who may read and write, and whether they must prove who they are. */
  scope?: 'catalog' | 'balance' | 'payments'
  guard?: { confirmed: true }
  /** The operations of the API. */
  find: string
  make: string
  change: string
  /** If a record can be deleted. */
  remove?: string
  texts: Record<Language, CatalogTexts>
  /** What a record is called, if it has no name. */
  nameOf?(record: T): string
  /** What the page of a record loads. */
  assets?: Pick<DashboardPage, 'styles' | 'scripts'>
  /** What can be done with the whole list, beside a new record. */
  listActions?(visit: Visit): Html
  /** What the list shows below its title. */
  list(visit: Visit): Promise<Html>
  /** What the page of a record shows, and what can be done with it before a change and after it. */
  show(visit: Visit, record: T): Promise<{ body: Html; actions: Html; lastActions?: Shown }>
  /** What a form has at first. */
  typed(visit: Visit, record: T | null): Form
  fields(visit: Visit, typed: Form, fault: FormFault | null, record: T | null): Html | Promise<Html>
  /** What a form says of a record. What cannot be read is refused by the rules of the API. */
  body(form: Form, record: T | null): object
}

type Named = { id: string; name?: string }

const nameOf = <T extends Named>(catalog: Catalog<T>, record: T): string =>
  catalog.nameOf?.(record) ?? record.name ?? record.id

/** What the menu marks, and the scopes that the pages need. */
const frameOf = <T>({ here, menu, scope = 'catalog' }: Catalog<T>) => ({
  frame: { here: menu ?? (here as 'customers' | 'products' | 'links') },
  read: `${scope}:read` as const,
  write: `${scope}:write` as const,
})

async function sendList<T>(visit: Visit, catalog: Catalog<T>): Promise<FastifyReply> {
  const { here, menu, texts, list, listActions } = catalog
  const { frame, write } = frameOf(catalog)
  const { title, make, done } = texts[visit.language]
  const actions = html`${listActions?.(visit)}${visit.can(write) && makeLink(visit, `/${here}/new`, make)}`
  const { sections } = DASHBOARD[visit.language]
  const back = menu && backLink(visit, `/${menu}`, sections[menu])
  const body = await list(visit)
  return sendPage(visit, frame, { title, actions, done, body, ...(back ? { back } : {}) })
}

async function sendOne<T extends Named>(visit: Visit, catalog: Catalog<T>): Promise<FastifyReply> {
  const record = await find(visit, catalog)
  const { here, show, texts } = catalog
  const { title, done, edit, remove } = texts[visit.language]
  const { body, actions, lastActions } = await show(visit, record)
  const link = (action: string, label: string, kind = 'quiet') =>
    html`<a class="button ${kind} slim" href="${visit.url(`/${here}/${record.id}/${action}`)}">${label}</a>`
  const { frame, write } = frameOf(catalog)
  const { styles = [], scripts = [] } = catalog.assets ?? {}
  return sendPage(
    visit,
    { ...frame, styles },
    {
      scripts,
      title: nameOf(catalog, record),
      back: backLink(visit, `/${here}`, title),
      actions: html`${actions}${visit.can(write) && html`${link('edit', edit)}${remove && link('delete', remove, 'quiet danger')}`}${lastActions}`,
      done,
      body,
    },
  )
}

const find = async <T>(visit: Visit, catalog: Catalog<T>): Promise<T> =>
  (await visit.operate<T>(catalog.find, { params: { id: visit.params.id! } })).data

async function sendForm<T extends Named>(
  visit: Visit,
  catalog: Catalog<T>,
  record: T | null,
  fault: FormFault | null = null,
): Promise<FastifyReply> {
  const { here } = catalog
  const texts = catalog.texts[visit.language]
  const path = record ? `/${here}/${record.id}` : `/${here}`
  const action = visit.url(record ? `${path}/edit` : `${path}/new`)
  const typed = fault ? visit.form : catalog.typed(visit, record)
  const fields = await catalog.fields(visit, typed, fault, record)
  const content = html`${fault?.notice(visit.language)}${fields}${formButtons(record ? texts.save : texts.makeButton)}`
  return sendPage(visit, frameOf(catalog).frame, {
    title: record ? nameOf(catalog, record) : texts.make,
    heading: record ? texts.edit : texts.make,
    back: backLink(visit, path, record ? nameOf(catalog, record) : texts.title),
    scripts: ['form.js'],
    status: fault?.problem.status ?? 200,
    body: card(
      null,
      visit.formOf(action, content, { kind: 'card-form', isChecked: true }),
      'narrow-card',
    ),
  })
}

async function make<T extends Named>(visit: Visit, catalog: Catalog<T>): Promise<FastifyReply> {
  const { form } = visit
  const input = { body: catalog.body(form, null), once: form.once }
  const { fault, done } = await tryForm(() => visit.operate<T>(catalog.make, input))
  if (fault) return sendForm(visit, catalog, null, fault)
  return visit.redirect(`/${catalog.here}/${done.data.id}`, 'made')
}

async function save<T extends Named>(visit: Visit, catalog: Catalog<T>): Promise<FastifyReply> {
  const { form } = visit
  const record = await find(visit, catalog)
  const { id } = record
  const input = { params: { id }, body: catalog.body(form, record), once: form.once }
  const { fault } = await tryForm(() => visit.operate(catalog.change, input))
  if (fault) return sendForm(visit, catalog, record, fault)
  return visit.redirect(`/${catalog.here}/${id}`, 'saved')
}

async function ask<T extends Named>(visit: Visit, catalog: Catalog<T>): Promise<FastifyReply> {
  const record = await find(visit, catalog)
  const [{ id }, name] = [record, nameOf(catalog, record)]
  const { here } = catalog
  const { removeTitle, removeText: text, remove: button } = catalog.texts[visit.language]
  const [title, back] = [removeTitle!(name), `/${here}/${id}`]
  const asked = { title, text: text!, button: button!, back, action: `${back}/delete` }
  const body = confirmation(visit, asked)
  return sendPage(visit, frameOf(catalog).frame, { title, heading: null, body })
}

async function remove<T>(visit: Visit, catalog: Catalog<T>): Promise<FastifyReply> {
  const params = { id: visit.params.id! }
  await visit.operate(catalog.remove!, { params, once: visit.form.once })
  return visit.redirect(`/${catalog.here}`, 'deleted')
}

/** The pages and forms of a catalog. */
export function catalogRoutes<T extends Named>(catalog: Catalog<T>): DashboardRoute[] {
  const all = `/${catalog.here}`
  const { read, write } = frameOf(catalog)
  const route = (
    method: 'GET' | 'POST',
    path: string,
    handle: (visit: Visit, catalog: Catalog<T>) => Promise<FastifyReply>,
    needs: typeof read | typeof write = write,
  ): DashboardRoute => ({
    method,
    path,
    needs,
    ...(needs === write ? catalog.guard : {}),
    handle: (visit) => handle(visit, catalog),
  })
  const edit = async (visit: Visit) => sendForm(visit, catalog, await find(visit, catalog))
  return [
    route('GET', all, sendList, read),
    route('GET', `${all}/new`, (visit) => sendForm(visit, catalog, null)),
    route('POST', `${all}/new`, make),
    route('GET', `${all}/:id`, sendOne, read),
    route('GET', `${all}/:id/edit`, edit),
    route('POST', `${all}/:id/edit`, save),
    ...(catalog.remove
      ? [route('GET', `${all}/:id/delete`, ask), route('POST', `${all}/:id/delete`, remove)]
      : []),
  ]
}
