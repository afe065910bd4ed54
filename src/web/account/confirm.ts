import type { FastifyInstance, FastifyReply } from 'fastify'
import { confirmSession } from '../../core/people/second-factors-store.ts'
import { problem } from '../../lib/problems.ts'
import { findSignedIn, safePath } from '../dashboard/signed-in.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import { isLocalHost } from '../developer.ts'
import { type Html, html } from '../html.ts'
import type { Site } from '../site.ts'
import { CONFIRM } from './confirm-texts.ts'
import { sendAccountPage } from './shell.ts'

const PATH = '/account/confirm'

/** Where somebody who is signed in proves again who they are. */
export function registerConfirm(scope: FastifyInstance, site: Site): void {
  scope.get(PATH, async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    if (!visitor) return reply.redirect('/sign-in', 303)
    return showConfirm(visitor, safePath(visitor.query.next))
  })
  scope.post(PATH, async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    if (!visitor) return reply.redirect('/sign-in', 303)
    const next = safePath(visitor.form.next)
    if (!isLocalHost(site, request)) throw problem('route_not_found')
    const { app } = site
    await confirmSession(app.db, visitor.session.id, false, app.systemClock.now())
    return reply.redirect(next, 303)
  })
}

function showConfirm(visitor: SignedIn, next: string): FastifyReply {
  const texts = CONFIRM[visitor.language]
  const body = html`<section class="card">
<h1>${texts.title}</h1>
<p class="soft">${texts.intro}</p>
${ways(visitor, next)}
<p class="small"><a href="/dashboard">${texts.cancel}</a></p>
</section>`
  return sendAccountPage(visitor, { title: texts.title, body })
}

/**
 * If somebody has nothing to prove it with, a password must come by mail, because a browser that
 * was left signed in is not enough. In local mode whoever uses the computer reads the mails too.
 */
function ways(visitor: SignedIn, next: string): Html {
  const texts = CONFIRM[visitor.language]
  if (!isLocalHost(visitor.site, visitor.request)) {
    return html`<p>${texts.mail}</p><a class="button" href="/sign-in/forgotten">${texts.mailLink}</a>`
  }
  return visitor.formOf(
    PATH,
    html`<input type="hidden" name="next" value="${next}"><p>${texts.local}</p><button class="button">${texts.continue}</button>`,
    { kind: 'card-form' },
  )
}
