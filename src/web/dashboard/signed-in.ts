import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Author } from '../../core/activity/rules.ts'
import { recordForPerson } from '../../core/people/activity.ts'
import { isConfirmed, type Person, type Session } from '../../core/people/rules.ts'
import { formTokenOf, isFormToken, useSession } from '../../core/people/sessions.ts'
import { newId, suffixOf } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { type Html, html } from '../html.ts'
import type { Form, Site } from '../site.ts'
import { readCookie } from './cookie.ts'
import type { FormOptions, SignedIn } from './visit.ts'

/** Who sends the request. If nobody is signed in, null. A form without its token is refused. */
export async function findSignedIn(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedIn | null> {
  const found = await peekSignedIn(site, request)
  return found && withForm(visitorOf(site, request, reply, found))
}

/** Somebody who asks for a page, before their form is read. */
export function visitorOf(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { person, session }: { person: Person; session: Session },
): SignedIn {
  const { app } = site
  const author = authorOf(person, request)
  const formToken = formTokenOf(app.vault, session)
  return {
    site,
    request,
    reply,
    person,
    session,
    author,
    recordOwn: (control, action, details) =>
      recordForPerson(control, app, person.id, author, action, details),
    language: person.language,
    form: {},
    params: request.params as Record<string, string>,
    query: firstValues(request.query as Record<string, string | string[]>),
    formOf: (action, content, options = {}) => formOf(action, content, options, formToken),
  }
}

/** The same with what their form has. A form without the token of their session is refused. */
export function withForm(visitor: SignedIn): SignedIn {
  const { request } = visitor
  if (request.method !== 'POST') return visitor
  const form = (request.body ?? {}) as Form
  requireToken(visitor, form.token)
  return { ...visitor, form }
}

/** A person at the address of a request, for the activity log. */
export const authorOf = (
  { id, email }: Pick<Person, 'id' | 'email'>,
  { ip }: FastifyRequest,
): Author => ({ kind: 'person', id, name: email, address: ip.replace(/^::ffff:/, '') })

/** Who the browser is signed in as, for a page that needs nobody to be signed in. */
export async function peekSignedIn(
  { app }: Site,
  request: FastifyRequest,
): Promise<{ person: Person; session: Session } | null> {
  const token = readCookie(app.publicUrl, request)
  return token ? useSession(app.db.control, app.vault, token, app.systemClock.now()) : null
}

/** If a name is repeated in the URL, the first value counts. */
const firstValues = (query: Record<string, string | string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat()[0]!]))

export function requireToken({ site, session }: SignedIn, given = ''): void {
  if (!isFormToken(site.app.vault, session, given))
    throw problem('invalid_value', 'token: the form is not of this session')
}

function formOf(
  action: string,
  content: Html,
  { kind, hasFile, isChecked }: FormOptions,
  token: string,
): Html {
  return html`<form method="post" action="${action}"${kind && html` class="${kind}"`}${hasFile && html` enctype="multipart/form-data"`}${isChecked && html` data-form`}>
<input type="hidden" name="token" value="${token}"><input type="hidden" name="once" value="${suffixOf(newId())}">
${content}</form>`
}

/** Whether the person has just proved who they are. */
export const hasConfirmed = ({ session, site }: SignedIn): boolean =>
  isConfirmed(session, site.app.systemClock.now())

/** Where a page goes on after somebody has signed in or proved who they are: only ours. */
export const safePath = (path: string | undefined): string =>
  path && /^\/(?:dashboard|operator|account)(?:[/?][\x21-\x7e]*)?$/.test(path) && !/[\\]/.test(path)
    ? path
    : '/dashboard'
