import type { FastifyInstance } from 'fastify'
import { deleteSession, setLanguage } from '../../core/people/store.ts'
import { problem } from '../../lib/problems.ts'
import { removeCookie } from '../dashboard/cookie.ts'
import { findSignedIn, safePath } from '../dashboard/signed-in.ts'
import type { Site } from '../site.ts'
import { registerOwnAccount } from './account.ts'
import { registerConfirm } from './confirm.ts'
import { registerFactor } from './factor.ts'
import { limitGuesses } from './guesses.ts'
import { registerWaitingInvitations } from './invitation.ts'
import { registerPasskeySignIn } from './passkey.ts'
import { registerForgottenPassword } from './password.ts'
import { registerSecurity } from './security.ts'
import { registerSignIn } from './sign-in.ts'

/** Second factors, passkeys, and where people prove again who they are. */
function registerFactors(scope: FastifyInstance, site: Site): void {
  const guesses = limitGuesses(site.app.limits)
  registerFactor(scope, site, guesses)
  registerPasskeySignIn(scope, site)
  registerConfirm(scope, site, guesses)
  registerSecurity(scope, site, guesses)
}

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
  scope.route({
    method: ['GET', 'POST'],
    url: '/account/*',
    exposeHeadRoute: false,
    handler: () => {
      throw problem('route_not_found')
    },
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
