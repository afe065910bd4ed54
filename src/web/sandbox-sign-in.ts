import type { FastifyInstance } from 'fastify'
import { SANDBOX_PERSON } from '../core/people/sandbox.ts'
import { findPersonByEmail } from '../core/people/store.ts'
import { problem } from '../lib/problems.ts'
import { continueSignIn } from './account/factor.ts'
import { isLocalHost } from './developer.ts'
import type { Site } from './site.ts'

export const OPEN_PATH = '/sandbox/dashboard'

/** Signs in the person of the sandbox, in local mode. */
export function registerSandboxSignIn(scope: FastifyInstance, site: Site): void {
  scope.post(OPEN_PATH, async (request, reply) => {
    const person =
      isLocalHost(site, request) && site.sandbox() !== null
        ? await findPersonByEmail(site.app.db.control, SANDBOX_PERSON.email)
        : null
    if (!person) throw problem('route_not_found')
    // Whoever uses this computer reads the mails here too.
    return continueSignIn(site, request, reply, person, undefined, true)
  })
  // If the form failed, the browser shows this path, so a reload of it must give a page.
  scope.get(OPEN_PATH, (_request, reply) => reply.redirect('/', 303))
}
