import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { tryPassword } from '../../core/people/sign-in.ts'
import { Problem } from '../../lib/problems.ts'
import { notice } from '../dashboard/parts.ts'
import { findSignedIn, safePath } from '../dashboard/signed-in.ts'
import { html } from '../html.ts'
import { languageOf } from '../layout.ts'
import type { Form, Site } from '../site.ts'
import { continueSignIn } from './factor.ts'
import {
  addressOf,
  emailField,
  formCard,
  formFields,
  nextOf,
  openForm,
  presentPasswordField,
  sendOpenPage,
  submit,
} from './parts.ts'
import { PASSKEY_SCRIPT, passkeySignIn } from './passkey.ts'
import { ACCOUNT } from './texts.ts'

/** Where people sign in with e-mail and password. */
export function registerSignIn(scope: FastifyInstance, site: Site): void {
  scope.get('/sign-in', async (request, reply) => {
    const next = nextOf(request)
    if (await findSignedIn(site, request, reply)) return reply.redirect(safePath(next), 303)
    return show(site, request, reply, { email: '', next })
  })
  // For somebody who goes on with another account than the one of this browser.
  scope.get('/sign-in/other', (request, reply) =>
    show(site, request, reply, { email: '', next: nextOf(request) }),
  )
  scope.post('/sign-in', async (request, reply) => {
    const { email = '', password = '', next } = (request.body ?? {}) as Form
    try {
      const person = await tryPassword(site.app, { email, password }, addressOf(request))
      if (person) return continueSignIn(site, request, reply, person, next)
      const { wrong } = ACCOUNT[languageOf(request)].signIn
      return show(site, request, reply, { email, next, fault: wrong, status: 401 })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return refuse(site, request, reply, error, { email, next })
    }
  })
}

type Shown = { email: string; next: string | undefined; fault?: string; status?: number }

/** Too many attempts, or too many people at once. It says the same for every e-mail. */
function refuse(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers }: Problem,
  shown: Shown,
): Promise<FastifyReply> {
  const { tooMany, busy } = ACCOUNT[languageOf(request)].signIn
  const minutes = Math.max(1, Math.ceil(Number(headers['Retry-After'] ?? 0) / 60))
  reply.headers(headers)
  const fault = status === 429 ? tooMany(minutes) : busy
  return show(site, request, reply, { ...shown, fault, status })
}

async function show(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { email, next, fault, status }: Shown,
): Promise<FastifyReply> {
  const language = languageOf(request)
  const { title, act, forgotten, noAccount } = ACCOUNT[language].signIn
  const fields = [emailField(language, email, null), presentPasswordField(language, null)]
  const form = openForm(
    '/sign-in',
    html`${next !== undefined && html`<input type="hidden" name="next" value="${safePath(next)}">`}${formFields(fields)}${submit(act)}`,
  )
  const body = formCard(
    title,
    html`${fault && notice(fault, 'bad')}${form}
${await passkeySignIn(site, request, language, next)}
<p><a href="/password">${forgotten}</a></p>
<p class="soft small">${noAccount}</p>`,
  )
  return sendOpenPage(site, request, reply, {
    title,
    language,
    body,
    scripts: ['actions.js', PASSKEY_SCRIPT],
    sameSiteReferrer: true,
    ...(status ? { status } : {}),
  })
}
