import type { FastifyReply } from 'fastify'
import {
  deleteView,
  listViews,
  MAX_VIEW_NAME,
  MAX_VIEWS,
  type SavedView,
  saveView,
  type ViewedList,
} from '../../core/saved-views.ts'
import { idOfSuffix, suffixOf } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { type Html, html } from '../html.ts'
import { chips, withFilters } from './list-parts.ts'
import { doneNotice, notice } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const TEXTS = {
  pt: {
    views: 'Visões salvas',
    save: 'Salvar visão',
    name: 'Nome da visão',
    saveButton: 'Salvar',
    remove: 'Excluir visão',
    done: { 'view-saved': 'Visão salva. Só você a vê.', 'view-deleted': 'Visão excluída.' },
    refused: `A visão não foi salva. Você pode ter até ${MAX_VIEWS} visões, com nomes de até ${MAX_VIEW_NAME} letras.`,
  },
  en: {
    views: 'Saved views',
    save: 'Save view',
    name: 'Name of the view',
    saveButton: 'Save',
    remove: 'Delete view',
    done: { 'view-saved': 'View saved. Only you see it.', 'view-deleted': 'View deleted.' },
    refused: `The view was not saved. You can have up to ${MAX_VIEWS} views, with names of up to ${MAX_VIEW_NAME} letters.`,
  },
} as const

/** The lists, and the filters that a view of each may have. */
const LISTS: Record<ViewedList, readonly string[]> = {
  charges: 'q as status payment kind period by from to amount min max dev'.split(' '),
  customers: ['q'],
  subscriptions: ['q', 'state'],
}

const isList = (text: string | undefined): text is ViewedList => Object.hasOwn(LISTS, text ?? '')

const ownerOf = ({ app, company, person }: Visit) => ({
  db: app.db,
  vault: app.vault,
  companyId: company.id,
  personId: person.id,
})

/** The filters of a list among the values of a URL. The same filters make the same text. */
const filtersIn = (list: ViewedList, given: Record<string, string | undefined>) =>
  Object.fromEntries(LISTS[list].flatMap((name) => (given[name] ? [[name, given[name]]] : [])))

/**
 * The person's views of a list, and a form that saves what is filtered now or deletes the view that
 * is shown.
 */
export async function savedViews(
  visit: Visit,
  list: ViewedList,
  filters: Record<string, string>,
): Promise<Html> {
  const texts = TEXTS[visit.language]
  const views = await listViews(ownerOf(visit), list)
  const here = JSON.stringify(filtersIn(list, filters))
  const isHere = (view: SavedView) => JSON.stringify(filtersIn(list, view.filters)) === here
  const links = views.map((view) => ({
    label: view.name,
    href: withFilters(visit, `/${list}`, filtersIn(list, view.filters)),
    isHere: isHere(view),
  }))
  const shown = views.find(isHere)
  const form = shown
    ? deleteForm(visit, shown, list)
    : here !== '{}' && saveForm(visit, list, filters)
  return html`${chips(texts.views, links, visit.language)}${form}`
}

const deleteForm = (visit: Visit, { id }: SavedView, list: ViewedList): Html =>
  visit.formOf(
    visit.url(`/views/${suffixOf(id)}/delete`),
    html`<input type="hidden" name="list" value="${list}"><button class="chip danger">${TEXTS[visit.language].remove}</button>`,
  )

function saveForm(visit: Visit, list: ViewedList, filters: Record<string, string>): Html {
  const texts = TEXTS[visit.language]
  const hidden = Object.entries(filtersIn(list, filters)).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const form = visit.formOf(
    visit.url('/views'),
    html`<input type="hidden" name="list" value="${list}">${hidden}<label class="hide" for="view-name">${texts.name}</label><input id="view-name" name="name" required maxlength="${MAX_VIEW_NAME}" placeholder="${texts.name}"><button class="button slim">${texts.saveButton}</button>`,
    { kind: 'view-form' },
  )
  return html`<details class="save-view"><summary class="chip">${texts.save}</summary>${form}</details>`
}

/** What became of a view. */
export const viewsNotice = (visit: Pick<Visit, 'query' | 'language'>): Html | false => {
  const texts = TEXTS[visit.language]
  return visit.query.done === 'view-refused'
    ? notice(texts.refused, 'bad')
    : doneNotice(visit, texts.done)
}

/** A view is the person's own, so that it is in no activity log. */
async function save(visit: Visit): Promise<FastifyReply> {
  const { form, app } = visit
  const list = isList(form.list) ? form.list : 'charges'
  const filters = filtersIn(list, form)
  const name = (form.name ?? '').trim()
  const view = { name, filters }
  const isSaved = name !== '' && (await saveView(ownerOf(visit), list, view, app.clock.now()))
  const search = new URLSearchParams(filters).toString()
  return visit.redirect(
    `/${list}${search && `?${search}`}`,
    isSaved ? 'view-saved' : 'view-refused',
  )
}

async function remove(visit: Visit): Promise<FastifyReply> {
  const { form, params } = visit
  const id = idOfSuffix(params.id ?? '')
  if (!id || !(await deleteView(ownerOf(visit), id))) throw problem('route_not_found')
  return visit.redirect(`/${isList(form.list) ? form.list : 'charges'}`, 'view-deleted')
}

export const savedViewsRoutes: DashboardRoute[] = [
  { method: 'POST', path: '/views', needs: 'payments:read', handle: save },
  { method: 'POST', path: '/views/:id/delete', needs: 'payments:read', handle: remove },
]
