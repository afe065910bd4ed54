import type { FastifyInstance } from 'fastify'
import { deleteSession, setLanguage } from '../../core/people/store.ts'
import { removeCookie } from '../dashboard/cookie.ts'
import { findSignedIn, safePath } from '../dashboard/signed-in.ts'
import type { Site } from '../site.ts'
import { registerOwnAccount } from './account.ts'
import { registerFactors } from './factors.ts'
import { registerWaitingInvitations } from './invitation.ts'
import { registerForgottenPassword } from './password.ts'
import { registerSignIn } from './sign-in.ts'

/** Where people sign in and out, and change what is theirs. */
export function registerAccount(scope: FastifyInstance, site: Site): void {
  const { app } = site
  registerFactors(scope, site)
  registerSignIn(scope, site)
  registerOwnAccount(scope, site)
  registerForgottenPassword(scope, site)
  registerWaitingInvitations(scope, site)
  scope.post('/sign-out', async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    if (visitor) await deleteSession(app.db.control, visitor.session.id)
    return removeCookie(reply, app.publicUrl).redirect('/sign-in', 303)
  })
  scope.post('/account/language', async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    if (!visitor) return reply.redirect('/sign-in', 303)
    const { person, form } = visitor
    const language = form.language === 'en' ? 'en' : 'pt'
    await setLanguage(app.db.control, person.id, language, app.systemClock.now())
    return reply.redirect(safePath(form.next), 303)
  })
}
