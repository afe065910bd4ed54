import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LinkKind } from '../../core/people/links.ts'
import type { PasswordFault } from '../../core/people/passwords.ts'
import { clientName } from '../../lib/client-name.ts'
import type { Language } from '../../lib/language.ts'
import { type Field, fieldsOf } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon, languageOf, type Page, sendPage } from '../layout.ts'
import type { Site } from '../site.ts'
import { ACCOUNT } from './texts.ts'

export const addressOf = ({ ip }: FastifyRequest): string => clientName(ip)

/** Where to go on, as the URL has it. If it is repeated, the first counts. */
export const nextOf = ({ query }: FastifyRequest): string | undefined =>
  [(query as { next?: string | string[] }).next].flat()[0]

/** A page for somebody who is not signed in. */
export const sendOpenPage = (
  { assets }: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
): FastifyReply =>
  sendPage(request, reply, assets, { styles: ['dashboard.css'], scripts: ['actions.js'], ...page })

/** One card with a form, or with a text. */
export const formCard = (title: string, content: Shown): Html =>
  html`<section class="card"><h1>${title}</h1>${content}</section>`

/** A form that needs no session. */
export const openForm = (action: string, content: Html): Html =>
  html`<form class="card-form" method="post" action="${action}">${content}</form>`

export const submit = (text: string): Html => html`<button class="button">${text}</button>`

export const emailField = (language: Language, value: string, fault: string | null): Field => ({
  name: 'email',
  label: ACCOUNT[language].email,
  value,
  fault,
  wrong: ACCOUNT[language].fill.email,
  type: 'email',
  inputmode: 'email',
  autocomplete: 'username',
  maxlength: 254,
})

export const newPasswordField = (
  language: Language,
  fault: PasswordFault | null,
  label = ACCOUNT[language].newPassword,
): Field => ({
  name: 'password',
  label,
  value: '',
  fault: fault && ACCOUNT[language].passwordFaults[fault],
  wrong: ACCOUNT[language].fill.password,
  hint: ACCOUNT[language].passwordHint,
  type: 'password',
  autocomplete: 'new-password',
  maxlength: 256,
})

export const presentPasswordField = (language: Language, fault: string | null): Field => ({
  name: 'password',
  label: ACCOUNT[language].password,
  value: '',
  fault,
  wrong: ACCOUNT[language].fill.password,
  type: 'password',
  autocomplete: 'current-password',
  maxlength: 256,
})

export const formFields = fieldsOf

/** Says that a link no longer works. */
export function ended(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  kind: LinkKind,
): FastifyReply {
  const language = languageOf(request)
  const { title, text, act } = ACCOUNT[language].ended
  const href = kind === 'password' ? '/password' : '/sign-in'
  const body = html`<section class="card result">${icon('clock')}<h1>${title}</h1><p>${text[kind]}</p><a class="button" href="${href}">${act[kind]}</a></section>`
  return sendOpenPage(site, request, reply, { title, language, body, status: 410 })
}
