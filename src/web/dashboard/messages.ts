import type { FastifyReply } from 'fastify'
import {
  type AboutMessage,
  composeMessage,
  FIRST_MESSAGES,
  MESSAGE_PLACEHOLDERS,
  MESSAGE_SORTS,
  type MessageSort,
} from '../../core/letters/messages.ts'
import { unknownPlaceholders } from '../../core/letters/placeholders.ts'
import { changeMessage } from '../../core/messages/commands.ts'
import { MAX_MESSAGE, requireMessage } from '../../core/messages/rules.ts'
import { findOwn } from '../../core/messages/store.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { addDays, formatDay, localDateOf } from '../../pix/local-time.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { commitOnce } from './commit-once.ts'
import { backLink, type FormFault, tryForm } from './form-parts.ts'
import { MESSAGES } from './messages-texts.ts'
import { card, pill } from './parts.ts'
import { sendSettings } from './settings.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PATH = '/settings/messages'

/** All messages, each as a payer would read it. */
async function list(visit: Visit): Promise<FastifyReply> {
  const { app, company, language, url } = visit
  const texts = MESSAGES[language]
  const own = await findOwn(app.db, company.id)
  const one = (sort: MessageSort): Html => {
    const isOwn = own[sort] !== undefined
    const state = pill(isOwn ? texts.own : texts.ours, isOwn ? 'good' : 'calm')
    const link =
      visit.can('company:write') &&
      html`<p><a class="button quiet slim" href="${url(`${PATH}/edit?message=${sort}`)}">${texts.change}<span class="hide"> · ${texts.sorts[sort].title}</span></a></p>`
    return card(
      texts.sorts[sort].title,
      html`<p class="soft">${texts.sorts[sort].when} ${state}</p>${sampleOf(visit, own[sort] ?? firstOf(visit, sort))}${link}`,
    )
  }
  return sendSettings(visit, '/messages', {
    title: texts.title,
    done: texts.done,
    body: html`<p class="soft">${texts.intro}</p><div class="columns">${MESSAGE_SORTS.map(one)}</div>`,
  })
}

const firstOf = ({ company }: Visit, sort: MessageSort): string =>
  FIRST_MESSAGES[company.language][sort]

/** A message with invented data. */
function sampleOf({ app, company }: Visit, text: string): Html {
  const today = localDateOf(app.clock.now())
  const about: AboutMessage = {
    company: company.name,
    payerName: 'Maria da Silva',
    product: MESSAGES[company.language].product,
    amount: toCents(15_000),
    until: formatDay(addDays(today, 7)),
    dueDate: addDays(today, -2),
  }
  const link = `${app.publicUrl}/pay/…`
  return html`<pre class="letter-text message-sample" tabindex="0">${composeMessage(text, about, link)}</pre>`
}

function sortOf({ query }: Visit): MessageSort {
  const named = query.message ?? MESSAGE_SORTS[0]
  const sort = MESSAGE_SORTS.find((one) => one === named)
  if (!sort) throw problem('route_not_found')
  return sort
}

async function show(visit: Visit): Promise<FastifyReply> {
  const sort = sortOf(visit)
  const own = await findOwn(visit.app.db, visit.company.id)
  return sendForm(visit, sort, own[sort] ?? firstOf(visit, sort), null)
}

function sendForm(
  visit: Visit,
  sort: MessageSort,
  text: string,
  fault: FormFault | null,
): FastifyReply {
  const texts = MESSAGES[visit.language]
  const known = MESSAGE_PLACEHOLDERS[sort]
  const unknown = unknownPlaceholders(text, known)
  const wrong = unknown.length > 0 ? texts.unknown(unknown, known) : texts.wrong(MAX_MESSAGE)
  const field = {
    name: 'text',
    label: texts.text,
    value: text,
    maxlength: MAX_MESSAGE,
    rows: 9,
    isFilledIn: true,
    hint: texts.placeholders(known),
    fault: fault?.isWrong('text') ? wrong : null,
    wrong,
  }
  const form = visit.formOf(
    visit.url(`${PATH}/edit?message=${sort}`),
    html`${fieldsOf([field])}
<div class="actions"><button class="button slim" name="act" value="save">${texts.save}</button><button class="button quiet slim" name="act" value="preview">${texts.preview}</button><button class="button quiet slim" name="act" value="reset">${texts.reset}</button></div>`,
    { kind: 'card-form' },
  )
  const { title, when } = texts.sorts[sort]
  return sendSettings(visit, '/messages', {
    title: `${texts.one}: ${title}`,
    back: backLink(visit, PATH, texts.title),
    fault,
    body: html`<div class="columns settings">${card(null, html`<p class="soft">${when}</p>${form}`)}${card(texts.previewTitle, sampleOf(visit, text))}</div>`,
  })
}

/** Lines of text. What nobody can type is left out. */
const plainText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(/[^\P{Cc}\n]/gu, '')
    .trim()

async function save(visit: Visit): Promise<FastifyReply> {
  const { form, company } = visit
  const sort = sortOf(visit)
  const typed = plainText(form.text ?? '')
  const isReset = form.act === 'reset'
  const { fault } = await tryForm(async () => {
    if (!isReset) requireMessage(sort, typed)
    if (form.act === 'preview') return
    await commitOnce(visit, { sort, typed, isReset }, async (tx) => {
      await changeMessage(tx, company, sort, isReset ? null : typed)
      const details = { message: sort, isReset }
      await visit.record(tx, 'company.change-message', null, details)
      return null
    })
  })
  if (fault || form.act === 'preview') return sendForm(visit, sort, typed, fault)
  return visit.redirect(PATH, isReset ? 'reset' : 'saved')
}

export const messagesRoutes: DashboardRoute[] = [
  { method: 'GET', path: PATH, needs: 'company:read', handle: list },
  { method: 'GET', path: `${PATH}/edit`, needs: 'company:write', handle: show },
  { method: 'POST', path: `${PATH}/edit`, needs: 'company:write', handle: save },
]
