import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findLink, type LinkKind, type PersonLink, useLink } from '../../core/people/links.ts'
import { findPerson } from '../../core/people/store.ts'
import { html } from '../html.ts'
import { languageOf } from '../layout.ts'
import type { Site } from '../site.ts'
import { continueSignIn } from './factor.ts'
import { accept, showInvitation } from './invitation.ts'
import { ended, formCard, nextOf, openForm, sendOpenPage, submit } from './parts.ts'
import { choose, showChoice } from './password.ts'
import { ACCOUNT } from './texts.ts'

type Handle = (
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  link: PersonLink,
) => FastifyReply | Promise<FastifyReply>

const PAGES: { path: string; kind: LinkKind; show: Handle; use: Handle }[] = [
  { path: '/sign-in/link/:token', kind: 'sign-in', show: showSignIn, use: signIn },
  { path: '/invitation/:token', kind: 'invitation', show: showInvitation, use: accept },
  { path: '/password/:token', kind: 'password', show: showChoice, use: choose },
]

/**
 * The pages of links that work once. Programs that check mails open them, so only the form on the
 * page uses a link. The pages send no referrer, because their URLs have the token. A form without
 * an origin is accepted for the same reason as that of a payer.
 */
export function registerLinks(scope: FastifyInstance, site: Site): void {
  for (const { path, kind, show, use } of PAGES) {
    const handle = (act: Handle) => async (request: FastifyRequest, reply: FastifyReply) => {
      const { token } = request.params as { token: string }
      const { db, vault, systemClock } = site.app
      const link = await findLink(db.control, vault, kind, token, systemClock.now())
      return link ? act(site, request, reply, link) : ended(site, request, reply, kind)
    }
    scope.get(path, { exposeHeadRoute: false }, handle(show))
    scope.post(path, handle(use))
  }
}

async function showSignIn(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { personId, email }: PersonLink,
): Promise<FastifyReply> {
  const language = languageOf(request)
  const { title, text, act } = ACCOUNT[language].link
  const person = await findPerson(site.app.db.control, personId!)
  if (!person) return ended(site, request, reply, 'sign-in')
  const body = formCard(
    title,
    html`<p>${text(person.name, email)}</p>${openForm(request.url, submit(act))}`,
  )
  return sendOpenPage(site, request, reply, { title, language, body })
}

async function signIn(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  link: PersonLink,
): Promise<FastifyReply> {
  const { db, systemClock } = site.app
  const person = await findPerson(db.control, link.personId!)
  const isUsed = person !== null && (await useLink(db.control, link, systemClock.now()))
  if (!person || !isUsed) return ended(site, request, reply, 'sign-in')
  return continueSignIn(site, request, reply, person, nextOf(request), true)
}
