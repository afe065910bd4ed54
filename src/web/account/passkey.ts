import { isIP } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type Answer,
  askForPasskey,
  type Ceremony,
  type RelyingParty,
  usePasskey,
} from '../../core/people/passkeys.ts'
import type { Passkey } from '../../core/people/second-factors-store.ts'
import { endSession } from '../../core/people/sessions.ts'
import { findPerson } from '../../core/people/store.ts'
import type { Language } from '../../lib/language.ts'
import { readCookie } from '../dashboard/cookie.ts'
import { safePath } from '../dashboard/signed-in.ts'
import { type Html, html } from '../html.ts'
import { languageOf } from '../language.ts'
import { icon, sendPage } from '../layout.ts'
import type { Form, Site } from '../site.ts'
import { PASSKEY } from './passkey-texts.ts'
import { startSessionIn } from './session-start.ts'

/** The script of pages that ask for passkeys. */
export const PASSKEY_SCRIPT = 'passkeys.js'

const SIGN_IN = 'sign-in'
const BY_PASSKEY = { hasSecondFactor: true, byLink: false }

/**
 * The site that passkeys are made for. Null if it is an IP address, because browsers accept only
 * names. In local mode the machine can be opened as localhost as well.
 */
export function relyingParty({ app }: Site, request: FastifyRequest): RelyingParty | null {
  const { hostname, origin } = new URL(app.publicUrl)
  if (app.config.local && request.hostname === 'localhost') {
    return { id: 'localhost', origin: `http://${request.host}` }
  }
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { id: hostname, origin } : null
}

/** Where passkeys work on this machine. */
export function localhostUrl({ app }: Site): string {
  const url = new URL(app.publicUrl)
  url.hostname = 'localhost'
  return url.origin
}

/** What the form of a passkey has sent. */
export const answerOf = ({ response = '', state = '' }: Form): Answer => ({ response, state })

/** A button that asks the device for a passkey, inside a form. The script sends the form. */
export function passkeyButton(
  { options, state }: Ceremony,
  act: 'create' | 'get',
  label: string,
  language: Language,
  kind = '',
): Html {
  const texts = PASSKEY[language]
  return html`<div class="card-form js" data-passkey="${act}" data-options="${JSON.stringify(options)}">
<input type="hidden" name="state" value="${state}"><input type="hidden" name="response">
<button type="button" class="button ${kind}">${icon('key')}<span>${label}</span></button>
<p class="fault" role="alert" data-canceled="${texts.canceled}" data-unsupported="${texts.unsupported}" hidden></p>
</div><noscript><p class="hint">${texts.needsScripts}</p></noscript>`
}

/** A button that asks for one of these passkeys, for one use. Null if there is none to ask for. */
export async function askHere(
  site: Site,
  request: FastifyRequest,
  use: string,
  passkeys: Passkey[],
  language: Language,
): Promise<Html | null> {
  const rp = relyingParty(site, request)
  if (!rp || passkeys.length === 0) return null
  const ceremony = await askForPasskey(site.app, rp, use, passkeys)
  return passkeyButton(ceremony, 'get', PASSKEY[language].use, language, 'quiet')
}

/** Whose passkey has answered, or null. */
export async function checkPasskey(
  site: Site,
  request: FastifyRequest,
  use: string,
  form: Form,
): Promise<string | null> {
  const rp = relyingParty(site, request)
  return rp && usePasskey(site.app, rp, use, answerOf(form))
}

/**
 * The form that signs somebody in by a passkey alone. The page needs `PASSKEY_SCRIPT`. Null if
 * passkeys do not work at this address.
 */
export async function passkeySignIn(
  site: Site,
  request: FastifyRequest,
  language: Language,
  next: string | undefined,
): Promise<Html | null> {
  const rp = relyingParty(site, request)
  if (!rp) return null
  const ceremony = await askForPasskey(site.app, rp, SIGN_IN, null)
  return html`<form method="post" action="/sign-in/passkey"><input type="hidden" name="next" value="${safePath(next)}">
${passkeyButton(ceremony, 'get', PASSKEY[language].signIn, language, 'quiet')}</form>`
}

/** Signs somebody in by a passkey alone: it is on their device, and the device has checked them. */
export function registerPasskeySignIn(scope: FastifyInstance, site: Site): void {
  const { app } = site
  scope.post('/sign-in/passkey', async (request, reply) => {
    const form = request.body as Form
    const personId = await checkPasskey(site, request, SIGN_IN, form)
    const person = personId && (await findPerson(app.db.control, personId))
    if (!person) return refuse(site, request, reply, form.next)
    const former = readCookie(app.publicUrl, request)
    if (former) await endSession(app.db.control, app.vault, former)
    return startSessionIn(site, request, reply, person, BY_PASSKEY, form.next)
  })
  scope.get('/sign-in/passkey', (_request, reply) => reply.redirect('/sign-in', 303))
}

async function refuse(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  next: string | undefined,
): Promise<FastifyReply> {
  const language = languageOf(request)
  const texts = PASSKEY[language]
  const body = html`<section class="card">
<h1>${texts.refusedTitle}</h1>
<p class="notice bad" role="alert">${icon('alert')}<span>${texts.refused}</span></p>
${await passkeySignIn(site, request, language, next)}
<a class="button quiet" href="/sign-in">${texts.toSignIn}</a>
</section>`
  return sendPage(request, reply, site.assets, {
    title: texts.refusedTitle,
    language,
    body,
    status: 401,
    scripts: [PASSKEY_SCRIPT],
    styles: ['dashboard.css'],
    sameSiteReferrer: true,
  })
}
