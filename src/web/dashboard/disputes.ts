import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { MAX_FILES, MAX_TEXT, openFile } from '../../core/disputes/files.ts'
import { DISPUTE_STATES, type DisputeState } from '../../core/disputes/rules.ts'
import { countByState, findFile } from '../../core/disputes/store.ts'
import type { DisputeView } from '../../core/disputes/view.ts'
import { fromPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { type Fact, facts } from '../parts.ts'
import { secure } from '../security.ts'
import { DISPUTES } from './disputes-texts.ts'
import { backLink, confirmation, type FormFault, formButtons, tryForm } from './form-parts.ts'
import { statusTabs } from './list-parts.ts'
import {
  type Column,
  card,
  idText,
  moment,
  money,
  nothing,
  notice,
  pager,
  pill,
  rowLink,
  type Tone,
  table,
} from './parts.ts'
import { sendPage } from './record-pages.ts'
import { fileOf } from './uploads.ts'
import type { DashboardRoute, Visit } from './visit.ts'

type Shown = Static<typeof DisputeView>

const FRAME = { here: 'disputes' } as const
const PAGE_SIZE = '20'
/** A larger form is refused before it is read, so that it cannot fill the memory. */
const MAX_FORM_BYTES = 4 * 1024 * 1024

export const DISPUTE_TONES: Record<DisputeState, Tone> = {
  OPEN: 'warn',
  DEFENDED: 'warn',
  ACCEPTED: 'calm',
  WON: 'good',
  LOST: 'bad',
  CANCELED: 'calm',
}

const pathOf = ({ id }: Shown): string => `/disputes/${id}`

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, query } = visit
  const texts = DISPUTES[language]
  const status = DISPUTE_STATES.find((state) => state === query.status)
  const { data, next } = await visit.operate<Shown[]>('listDisputes', {
    query: {
      limit: PAGE_SIZE,
      ...(status && { status }),
      ...(query.after ? { after: query.after } : {}),
    },
  })
  const list =
    data.length > 0
      ? card(null, table(texts.title, columnsOf(visit), data))
      : card(null, nothing(language, texts.empty))
  const body = html`<p class="soft">${texts.intro}</p>${await stateTabs(visit, status)}${list}${pager(visit, next)}`
  return sendPage(visit, FRAME, { title: texts.title, done: texts.done, body })
}

async function stateTabs(visit: Visit, current: DisputeState | undefined): Promise<Html> {
  const { all, states: words, filter: label } = DISPUTES[visit.language]
  const counts = await countByState(visit.app.db, visit.company.id)
  const filters: Record<string, string> = current ? { status: current } : {}
  return statusTabs(visit, '/disputes', filters, { label, all, words, counts })
}

function columnsOf(visit: Visit): Column<Shown>[] {
  const { columns } = DISPUTES[visit.language]
  return [
    {
      title: columns.amount,
      kind: 'main',
      of: (dispute) => rowLink(visit.url(pathOf(dispute)), money(dispute.amount)),
    },
    { title: columns.status, kind: 'state', of: (dispute) => stateOf(visit, dispute) },
    { title: columns.deadline, of: ({ deadline }) => deadline && moment(deadline) },
    { title: columns.openedAt, kind: 'moment', of: ({ openedAt }) => moment(openedAt) },
  ]
}

const stateOf = ({ language }: Visit, { status }: Shown): Html =>
  pill(DISPUTES[language].states[status], DISPUTE_TONES[status])

const findOne = async (visit: Visit): Promise<Shown> =>
  (await visit.operate<Shown>('getDispute', { params: { id: visit.params.id! } })).data

async function show(visit: Visit, fault: FormFault | null = null): Promise<FastifyReply> {
  const texts = DISPUTES[visit.language]
  const dispute = await findOne(visit)
  const { status, reason, deadline } = dispute
  const until = deadline ? formatMoment(new Date(deadline)) : null
  const what = html`<p>${texts.reasons[reason]}</p><p>${texts.next[status](until)}</p>${facts(factsOf(visit, dispute))}`
  const body = html`<div class="columns">
${card(texts.what, what)}
${status === 'OPEN' && visit.can('payments:write') && decisionCard(visit, dispute)}
${dispute.defense && card(texts.defense, defenseOf(visit, dispute))}
</div>`
  return sendPage(visit, FRAME, {
    title: texts.disputeOf(formatReais(dispute.amount)),
    back: backLink(visit, '/disputes', texts.title),
    actions: stateOf(visit, dispute),
    done: texts.done,
    fault,
    body,
  })
}

function factsOf(visit: Visit, dispute: Shown): Fact[] {
  const { facts: names } = DISPUTES[visit.language]
  const { amount, held, deadline, openedAt, closedAt, chargeId, endToEndId } = dispute
  const payment =
    chargeId === undefined
      ? html`<a class="id-link" title="${endToEndId}" href="${visit.url(`/unmatched/${endToEndId}`)}"><code>${endToEndId}</code></a>`
      : idText(endToEndId, names.payment, visit.language)
  return [
    [names.amount, money(amount)],
    ...(held ? [[names.held, money(held)] as Fact] : []),
    ...(deadline ? [[names.deadline, moment(deadline)] as Fact] : []),
    [names.openedAt, moment(openedAt)],
    ...(closedAt ? [[names.closedAt, moment(closedAt)] as Fact] : []),
    ...(chargeId
      ? [
          [
            names.charge,
            html`<a class="id-link" title="${chargeId}" href="${visit.url(`/charges/${chargeId}`)}"><code>${chargeId}</code></a>`,
          ] as Fact,
        ]
      : []),
    [names.payment, payment],
  ]
}

/** What can be done, and what each does. */
function decisionCard(visit: Visit, dispute: Shown): Html {
  const texts = DISPUTES[visit.language]
  const row = (act: string, effect: string) =>
    html`<li><strong>${act}</strong><span class="soft choice-note">${effect}</span></li>`
  const link = (act: string, label: string, kind: string) =>
    html`<a class="button slim ${kind}" href="${visit.url(`${pathOf(dispute)}/${act}`)}">${label}</a>`
  return card(
    texts.decide,
    html`<ul class="rows choices">${row(texts.defend, texts.defendEffect)}${row(texts.accept, texts.acceptEffect)}</ul>
<div class="actions">${link('defend', texts.defend, '')}${link('accept', texts.accept, 'quiet danger')}</div>`,
  )
}

function defenseOf(visit: Visit, dispute: Shown): Html {
  const texts = DISPUTES[visit.language]
  const { text, files, sentAt, failureReason } = dispute.defense!
  const state = failureReason
    ? notice(texts.refused(failureReason), 'bad')
    : html`<p class="soft">${sentAt ? texts.sentAt(formatMoment(new Date(sentAt))) : texts.notSent}</p>`
  const list = files.map(
    ({ size }, i) =>
      html`<li><a href="${visit.url(`${pathOf(dispute)}/files/${i + 1}`)}">${texts.download(i + 1, String(Math.ceil(size / 1024)))}</a></li>`,
  )
  return html`${state}<p class="as-written"><bdi>${text}</bdi></p>${files.length > 0 && html`<ul>${list}</ul><p class="soft small">${texts.fileNote}</p>`}`
}

async function askToAccept(visit: Visit): Promise<FastifyReply> {
  const texts = DISPUTES[visit.language]
  const dispute = await findOne(visit)
  const path = pathOf(dispute)
  if (dispute.status !== 'OPEN' && dispute.status !== 'DEFENDED') return visit.redirect(path)
  const body = confirmation(visit, {
    title: texts.acceptTitle,
    text: texts.acceptText(formatReais(dispute.held ?? 0)),
    action: `${path}/accept`,
    button: texts.accept,
    back: path,
  })
  return sendPage(visit, FRAME, { title: texts.acceptTitle, heading: null, body })
}

async function accept(visit: Visit): Promise<FastifyReply> {
  const id = visit.params.id!
  const { once } = visit.form
  const { fault } = await tryForm(() => visit.operate('acceptDispute', { params: { id }, once }))
  return fault ? show(visit, fault) : visit.redirect(`/disputes/${id}`, 'accepted')
}

async function askToDefend(visit: Visit, fault: FormFault | null = null): Promise<FastifyReply> {
  const texts = DISPUTES[visit.language]
  const dispute = await findOne(visit)
  if (dispute.status !== 'OPEN') return visit.redirect(pathOf(dispute))
  const text = {
    name: 'text',
    label: texts.text,
    value: fault ? (visit.form.text ?? '') : '',
    fault: fault?.isWrong('text') ? texts.textWrong : null,
    wrong: texts.textWrong,
    hint: texts.textHint,
    maxlength: MAX_TEXT,
    rows: 8,
  }
  const files = FILE_NAMES.map((name, i) => ({
    name,
    label: texts.file(i + 1),
    value: '',
    fault: fault?.isWrong(`files[${i}].content`) ? texts.fileWrong : null,
    wrong: texts.fileWrong,
    ...(i === 0 && { hint: texts.fileHint }),
    optional: texts.optional,
    accept: '.pdf,.png,.jpg,.jpeg',
  }))
  const content = html`<p>${texts.defendIntro}</p>${fieldsOf([text, ...files])}${formButtons(texts.defend)}`
  const action = visit.url(`${pathOf(dispute)}/defend`)
  const body = card(
    null,
    visit.formOf(action, content, { kind: 'card-form', hasFile: true }),
    'narrow-card',
  )
  return sendPage(visit, FRAME, {
    title: texts.defendTitle,
    back: backLink(visit, pathOf(dispute), texts.disputeOf(formatReais(dispute.amount))),
    fault,
    body,
  })
}

const FILE_NAMES = Array.from({ length: MAX_FILES }, (_, i) => `file${i + 1}`)

async function defend(visit: Visit): Promise<FastifyReply> {
  const id = visit.params.id!
  const { once, text = '' } = visit.form
  const sent = FILE_NAMES.map((name) => fileOf(visit.request, name)).filter(
    (file) => file !== null && file.length > 0,
  )
  const files = sent.map((file, i) => ({
    name: `${DISPUTES.pt.file(i + 1)}`,
    content: file!.toString('base64'),
  }))
  const body = { text: text.trim(), ...(files.length > 0 ? { files } : {}) }
  const { fault } = await tryForm(() =>
    visit.operate('defendDispute', { params: { id }, body, once }),
  )
  if (!fault) return visit.redirect(`/disputes/${id}`, 'defended')
  return fault.problem.status === 400 ? askToDefend(visit, fault) : show(visit, fault)
}

const EXTENSIONS: Record<string, string> = {
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
}

/** Sends a file of a defense. It is only ever saved, never shown by the browser. */
async function download(visit: Visit): Promise<FastifyReply> {
  const { app, company, params, reply } = visit
  const id = fromPublic('dispute', params.id ?? '')
  const position = Number(params.number)
  const isNumber = Number.isInteger(position) && position >= 1 && position <= MAX_FILES
  const file = id && isNumber ? await findFile(app.db, company.id, id, position) : null
  if (!file) throw problem('dispute_not_found')
  const name = `comprovante-${position}.${EXTENSIONS[file.type]}`
  return secure(reply, null)
    .header('Content-Disposition', `attachment; filename="${name}"`)
    .type(file.type)
    .send(openFile(app.vault, file).content)
}

const WRITES = { needs: 'payments:write' } as const

export const disputesRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/disputes', needs: 'payments:read', handle: showList },
  { method: 'GET', path: '/disputes/:id', needs: 'payments:read', handle: (visit) => show(visit) },
  { method: 'GET', path: '/disputes/:id/files/:number', needs: 'payments:read', handle: download },
  { method: 'GET', path: '/disputes/:id/accept', ...WRITES, handle: askToAccept },
  { method: 'POST', path: '/disputes/:id/accept', ...WRITES, movesMoney: true, handle: accept },
  { method: 'GET', path: '/disputes/:id/defend', ...WRITES, handle: (visit) => askToDefend(visit) },
  {
    method: 'POST',
    path: '/disputes/:id/defend',
    ...WRITES,
    bodyBytes: MAX_FORM_BYTES,
    handle: defend,
  },
]
