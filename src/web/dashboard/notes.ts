import type { FastifyReply } from 'fastify'
import {
  addNote,
  MAX_NOTE,
  mayRemove,
  type Note,
  type Noted,
  readNotes,
  removeNote,
} from '../../core/notes/commands.ts'
import type { NotedType } from '../../core/notes/store.ts'
import { fromPublic, idOfSuffix, suffixOf } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { commitOnce } from './commit-once.ts'
import { backLink, type FormFault, tryForm } from './form-parts.ts'
import { card, heading, moment } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const pt = {
  title: 'Notas da equipe',
  hint: 'Só a equipe da empresa lê. Não aparecem para o pagador.',
  label: 'Nova nota',
  wrong: `Escreva de 1 a ${MAX_NOTE} caracteres. Cada registro tem no máximo 100 notas.`,
  add: 'Adicionar nota',
  remove: 'Excluir nota',
  removeOf: (name: string) => `de ${name}`,
  backTo: { charge: 'Cobrança', customer: 'Cliente' },
}

const en: typeof pt = {
  title: 'Team notes',
  hint: 'Only people of the company read them. Payers never see them.',
  label: 'New note',
  wrong: `Write 1 to ${MAX_NOTE} characters. A record has at most 100 notes.`,
  add: 'Add note',
  remove: 'Delete note',
  removeOf: (name) => `by ${name}`,
  backTo: { charge: 'Charge', customer: 'Customer' },
}

const TEXTS = { pt, en }

/** A charge or a customer, whose page has notes. */
type OnPage = { recordType: NotedType; id: string }

const PREFIXES = { charge: 'charge', customer: 'clnt' } as const
const PATHS = { charge: 'charges', customer: 'customers' } as const

const pathOf = ({ recordType, id }: OnPage): string => `/${PATHS[recordType]}/${id}`

function notedOf({ company }: Visit, { recordType, id }: OnPage): Noted {
  const recordId = fromPublic(PREFIXES[recordType], id)
  if (!recordId) throw problem(`${recordType}_not_found`)
  return { companyId: company.id, recordType, recordId }
}

/** What the company's people have written down about a record, and the form for more. */
export async function notesCard(visit: Visit, on: OnPage): Promise<Html | false> {
  const texts = TEXTS[visit.language]
  const notes = await readNotes(visit.app, notedOf(visit, on))
  const mayWrite = visit.can('payments:write')
  if (notes.length === 0 && !mayWrite) return false
  const shown = notes.map((note) => noteItem(visit, on, note))
  return card(
    texts.title,
    html`<p class="soft small">${texts.hint}</p>${shown.length > 0 && html`<ul class="notes">${shown}</ul>`}${mayWrite && noteForm(visit, on)}`,
    'notes-card',
  )
}

function noteItem(visit: Visit, on: OnPage, note: Note): Html {
  const texts = TEXTS[visit.language]
  const path = `${pathOf(on)}/notes/${suffixOf(note.id)}/delete`
  const isOwner = visit.role === 'owner'
  const remove =
    visit.can('payments:write') &&
    mayRemove(note, visit.person.id, isOwner) &&
    visit.formOf(
      visit.url(path),
      html`<button class="plain small">${texts.remove}<span class="hide"> ${texts.removeOf(note.authorName)}</span></button>`,
    )
  return html`<li><p class="note-text"><bdi>${note.text}</bdi></p><p class="soft small note-of"><span>${note.authorName} · ${moment(note.createdAt)}</span>${remove}</p></li>`
}

function noteForm(visit: Visit, on: OnPage, fault: FormFault | null = null): Html {
  const texts = TEXTS[visit.language]
  const text = fieldsOf([
    {
      name: 'note',
      label: texts.label,
      value: fault ? (visit.form.note ?? '') : '',
      fault: fault?.isWrong('text') ? texts.wrong : null,
      wrong: texts.wrong,
      check: 'filled',
      rows: 2,
      maxlength: MAX_NOTE,
    },
  ])
  const content = html`${text}<div class="actions"><button class="button quiet slim">${texts.add}</button></div>`
  return visit.formOf(visit.url(`${pathOf(on)}/notes`), content, { kind: 'card-form' })
}

async function add(visit: Visit, on: OnPage): Promise<FastifyReply> {
  const { app, person, form } = visit
  const { note: text = '' } = form
  const { fault } = await tryForm(() =>
    commitOnce(visit, { text }, async (tx) => {
      const by = { id: person.id, name: person.name }
      const written = { text, now: app.clock.now() }
      await addNote(tx, app.vault, notedOf(visit, on), by, written)
      await visit.record(tx, 'note.add', { type: on.recordType, id: on.id })
      return null
    }),
  )
  return fault ? showRefused(visit, on, fault) : visit.redirect(pathOf(on), 'noted')
}

/** What was written is not lost. */
function showRefused(visit: Visit, on: OnPage, fault: FormFault): FastifyReply {
  const texts = TEXTS[visit.language]
  const back = backLink(visit, pathOf(on), texts.backTo[on.recordType])
  const body = html`${back}${heading(texts.label)}${fault.notice(visit.language)}${card(null, noteForm(visit, on, fault), 'narrow-card')}`
  const { status } = fault.problem
  return visit.send({ title: texts.label, here: PATHS[on.recordType], body, status })
}

async function remove(visit: Visit, on: OnPage): Promise<FastifyReply> {
  const { app, person, role, params } = visit
  const noted = notedOf(visit, on)
  await app.db.transaction(async (tx) => {
    const by = { personId: person.id, isOwner: role === 'owner' }
    await removeNote(tx, noted, idOfSuffix(params.note ?? ''), by)
    await visit.record(tx, 'note.delete', { type: on.recordType, id: on.id })
  })
  return visit.redirect(pathOf(on), 'note-deleted')
}

/** The forms for notes. `requireRecord` refuses a record that the company does not have. */
export function notesRoutes(
  recordType: NotedType,
  requireRecord: (visit: Visit) => Promise<unknown>,
): DashboardRoute[] {
  const path = `/${PATHS[recordType]}/:id/notes`
  const form = (
    at: string,
    act: (visit: Visit, on: OnPage) => Promise<FastifyReply>,
  ): DashboardRoute => ({
    method: 'POST',
    path: at,
    needs: 'payments:write',
    async handle(visit) {
      await requireRecord(visit)
      return act(visit, { recordType, id: visit.params.id ?? '' })
    },
  })
  return [form(path, add), form(`${path}/:note/delete`, remove)]
}
